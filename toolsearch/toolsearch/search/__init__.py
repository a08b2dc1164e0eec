"""Query in, ranked tools out."""
