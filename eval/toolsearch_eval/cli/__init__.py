"""The command line: one file a verb; parsing and printing live here and nowhere else."""
