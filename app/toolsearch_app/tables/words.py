"""Names of the system's parts as they are read."""

from __future__ import annotations

from typing import Final

ARMS: Final = {"keyword": "keyword arm", "tfidf": "TF-IDF arm", "semantic": "semantic arm"}
FIELDS: Final = {
    "name": "name",
    "server": "server",
    "hint": "search hint",
    "description": "description",
    "parameter_names": "parameters",
    "parameter_descriptions": "parameter texts",
    "": "whole tool",
}
LED: Final = "server's best"
"""What a tool gains by the best tool of its server; that is no word that stands in a field of its own."""
REASONS: Final = {
    "exact_name": "named exactly",
    "leaf_name": "named without its server",
    "named": "named in the query",
    "server": "its server is named",
    "score": "",
}
"""Why a result stands where it stands; its score alone needs no word."""
