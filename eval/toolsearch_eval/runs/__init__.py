"""Evaluations that last: run folders, TREC runs, rankings kept from one evaluation to the next, many processes."""
