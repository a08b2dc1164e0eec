"""Judging: data sets, measures, statistics, rankers, the command line."""
