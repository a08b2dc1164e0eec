"""Our data sets in the forms of others, a file for each form; `toolsearch_eval.importers` reads them back."""
