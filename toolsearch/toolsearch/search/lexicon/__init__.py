"""Words that may stand for other words: the built-in lexicon, its reader, and spelling."""
