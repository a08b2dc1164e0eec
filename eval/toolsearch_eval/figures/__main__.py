"""`python -m toolsearch_eval.figures`; arguments are read and texts printed in the command line's folder alone."""

from __future__ import annotations

import sys

from toolsearch_eval.cli.figures_entry import main

if __name__ == "__main__":
    sys.exit(main())
