"""The gate: fails when search quality falls below a blessed baseline."""
