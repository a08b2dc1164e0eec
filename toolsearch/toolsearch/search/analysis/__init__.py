"""Text in, terms out: one module for each analysis."""
