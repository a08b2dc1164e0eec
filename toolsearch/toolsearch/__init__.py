"""Tool search for LLM agents: a small core of tools stays loaded, the rest is found when it is needed."""
