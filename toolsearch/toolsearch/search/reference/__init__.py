"""The observed ranking, to the letter: the baseline that every improvement is measured against."""
