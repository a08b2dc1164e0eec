"""Showing: the dashboard."""
