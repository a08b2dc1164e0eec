"""From a ranker's name to the ranker."""

from __future__ import annotations

from toolsearch.config import EXTRA_PROFILES, PROFILES, SearchConfig, load_profile
from toolsearch.errors import UnknownNameError, UsageError
from toolsearch.search.dictionary.chinese import warnings_of
from toolsearch.search.semantic.arm import MODELS
from toolsearch_eval.rankers.bm25f import PlainBM25F
from toolsearch_eval.rankers.own import own_ranker
from toolsearch_eval.rankers.peers import PEERS, make_peer
from toolsearch_eval.rankers.peers_regex import RegexRanker
from toolsearch_eval.rankers.peers_vectors import PREFIX, load_vectors
from toolsearch_eval.rankers.profiles import ProfileRanker
from toolsearch_eval.rankers.protocol import Ranker

_ARMS = {"keyword": "weight_tfidf", "tfidf": "weight_keyword"}
"""Each arm, and the weight that is 0 where it stands alone."""
SHIPPED = (*PROFILES, *(f"{profile}:{arm}" for profile in PROFILES for arm in _ARMS), "bm25f", "regex")
"""The rankers that need nothing installed."""
KNOWN = (*SHIPPED, *PEERS)
"""What is judged and pooled unasked; those of `PEERS` need the extra `peers`."""
_NAMED = (*KNOWN, *EXTRA_PROFILES)
"""Every ranker with a name."""

EVERY = (*PROFILES, "bm25f", "regex", *PEERS)
"""What `all` stands for where many are judged: every ranker but the single arms."""


def resolve_ranker(spec: str) -> Ranker:
    """A ranker by name, by profile file (`….toml`), as one arm (`default:keyword`), `st:NAME|PATH` or `module:factory`.

    Raises:
        UnknownNameError: There is no such ranker; near names are given.
        UsageError: A module that can't be imported or holds no ranker, or the ranker's library is not installed
            or can't load its model.
        ConfigError: The profile's file is not valid.
    """
    if spec == "bm25f":
        return PlainBM25F()
    if spec == "regex":
        return RegexRanker()
    if spec in PEERS:
        return make_peer(spec)
    if spec.startswith(PREFIX):
        return load_vectors(spec)
    if spec in PROFILES or spec in EXTRA_PROFILES or spec.endswith(".toml"):
        return _profile(spec, load_profile(spec))
    head, colon, tail = spec.rpartition(":")
    profile = head in PROFILES or head in EXTRA_PROFILES or head.endswith(".toml")
    if tail in _ARMS and profile:
        return _profile(spec, load_profile(head).replace(**{_ARMS[tail]: 0.0}))
    if not colon or not head or profile:
        raise UnknownNameError("ranker", spec, _NAMED, "Also: a profile's file.toml, st:MODEL, or module:factory.")
    return own_ranker(spec, _NAMED)


def _profile(name: str, config: SearchConfig) -> ProfileRanker:
    """The ranker of a profile; without the packages of an extra it would be judged under a name that is not its own.

    Raises:
        UsageError: Such a package is missing.
    """
    told = (*warnings_of(config), *MODELS.warnings_of(config))
    if told:
        raise UsageError(told[0])
    return ProfileRanker(name, config)
