"""Chinese words and their English, out of the packages of the extra `translate`."""
