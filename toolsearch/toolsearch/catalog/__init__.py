"""Which tools exist."""
