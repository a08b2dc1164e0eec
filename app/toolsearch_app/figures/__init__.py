"""What is drawn, a module for each page: pure functions from rows to a `Picture`; none of them knows the dashboard."""
