"""The third arm: how near a tool's text is to the query in meaning, by the vectors of a sentence encoder."""
