"""Skills: texts that are found as tools are, on the same index, and attached instead of executed."""
