"""One conversation: its mode, what is announced, recommended and discovered, its requests and its calls."""
