"""Speed, side by side: synthetic catalogs, cases, and their report. Nothing here decides whether a test passes."""
