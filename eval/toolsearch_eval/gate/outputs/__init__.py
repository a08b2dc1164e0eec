"""A verdict in the forms that people and machines read; text from data is escaped for each of them."""
