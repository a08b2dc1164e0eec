"""Which tools exist: tools, their files, the registry that holds them, and the core set."""
