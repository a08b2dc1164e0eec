"""What each part of a ranking is worth: the profile without it, and a bare one with it alone.

`parts` says what the parts are and how a profile is written without one, `measure` ranks and compares, `forms` gives
JSON and CSV, `document` the tables that are read.
"""
