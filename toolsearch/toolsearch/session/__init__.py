"""One conversation: its mode, what is announced, recommended and discovered, its requests and its calls.

```
session          what a host uses; reads as one turn: request, reply, calls, handle, results
core             its parts put together
settings, mode   what the operator sets; whether tools are deferred, and why
window, array    what the conversation sees of the catalog; which tools stand in its requests
announcements    which names the model is told
prefetch, recommendations   which tools it is shown before it asks
discovered, memory, state   what is remembered, and its saved form
calls, raw_calls            who answers a call
attachments, providers      what requests are made of
```
"""
