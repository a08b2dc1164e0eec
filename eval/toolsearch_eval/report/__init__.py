"""Reports: rows that say what is to be seen, pictures that draw rows, and documents in Markdown and HTML."""
