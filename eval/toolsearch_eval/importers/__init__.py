"""Data sets of others, read in their raw forms and turned into our own: a file for each form.

```
forms      the names of the forms, and what each reads
draft      what a form fills in: tools, queries and labels, with every fault and every decision that was taken
same_tool  when two tools of one name are one
reading    files of JSON, of JSON a line and of cells, where each value knows its line
schemas    parameters as they were written down elsewhere, as JSON Schema
```
"""
