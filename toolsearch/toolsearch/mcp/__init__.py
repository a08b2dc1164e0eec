"""Servers of the Model Context Protocol: their configuration, connections to them, their tools (extra `mcp`).

This package's own file imports nothing: whoever only wants to read a configuration doesn't load the protocol's library.
"""
