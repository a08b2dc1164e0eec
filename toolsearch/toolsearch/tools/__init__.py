"""What the model calls: search for tools, run one that was found, hand over a final answer."""
