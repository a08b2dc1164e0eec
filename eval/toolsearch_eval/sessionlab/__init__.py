"""Conversations replayed through the real session code: what is sent, what a provider's cache keeps, what it costs.

```
providers, profiles/   whose cache and prices: data with sources and dates
strategies             how tools reach the model; the sessions that do it
replies, scripted_model   what the scripted model asks and answers
agent, happenings      an agent at work; what happened between its requests, and which of it broke the prefix
replay, replayed       a conversation under a strategy, request by request
blocks                 a request as the pieces that a provider caches
prefix, cache          what stayed the same, what broke it; what is read from the cache, written and new
accounting             every request with its tokens and its money
recommended            precision and recall of the recommendations
lab                    all conversations under all strategies; their totals
scaling                the same over catalogs of other sizes; from which size on a strategy pays
session_length         from which turn or request on a strategy pays
shown, pictures, report   what is shown, and how it is written
tool_use, usage_file, observe, advise, pin_effect   which tools to pin, and what pins would have saved
prefetch_tuning        settings of the recommendations, chosen on dev and looked at on test
```
"""
