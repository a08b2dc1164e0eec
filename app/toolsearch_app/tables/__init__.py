"""What is shown in numbers, a module for each page: pure functions that give DataFrames; none knows the dashboard."""
