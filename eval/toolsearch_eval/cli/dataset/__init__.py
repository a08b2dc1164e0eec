"""The actions of `toolsearch dataset`: one module each, with `add_parser` and `run`."""
