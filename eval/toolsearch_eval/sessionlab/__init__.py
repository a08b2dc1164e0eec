"""Conversations replayed through the real session code: what is sent, what a provider's cache keeps, what it costs.

```
providers, profiles/   whose cache and prices: data with sources and dates
strategies             how tools reach the model; the sessions that do it
replies, script        what the scripted model answers
replay                 a conversation under a strategy, request by request
blocks                 a request as the pieces that a provider caches
prefix, cache          what stayed the same, what broke it; what is read from the cache, written and new
accounting             every request with its tokens and its money
recommended            precision and recall of the recommendations
lab                    all conversations under all strategies; their totals
scaling, advise, prefetch_tuning, statements   questions that are answered by it
rows, pictures, report, tables                 what is shown, and how it is written
```
"""
