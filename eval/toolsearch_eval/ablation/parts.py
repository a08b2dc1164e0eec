"""The parts of a ranking, and how a profile is written without one of them.

A part is left out by the settings that the search itself reads, so there is no second scoring path: a profile without a
part is a profile like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from toolsearch.config import FIELDS, SearchConfig
from toolsearch.errors import UsageError
from toolsearch_eval.tuning.parameters import parameter_names, parameter_value, with_parameters

Settings = Mapping[str, float]
"""Numbers of a profile by the names of `tuning.parameters`."""

LINEAR = 1e4
"""The saturation times so much bends no count that occurs; with the arm's weight times as much the arms keep their
ratio. Scores have nine digits: more would leave too few of them to tell tools apart."""
PRESENCE = 1e-6
"""With so small a saturation a term that stands anywhere in a tool gives all that it can."""
NO_CAP = 1e9
"""Longer than any text."""

BARE_FIELDS = ("name", "description")
"""What a bare ranker reads."""

STANDARD, REFERENCE = "standard", "reference"
_BOTH = (STANDARD, REFERENCE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part of a ranking.

    Attributes:
        key: How it is called in JSON and CSV.
        title: How it is called in tables.
        without: From a profile to the settings that leave the part out.
        rankings: The kinds of ranking that have it.
        restores: The settings that bring it alone into a bare profile; None takes those that leave it out.
        of_bare: A bare profile has it too: without it nothing would rank.
        alone: Whether it can stand alone in a bare profile; what works on something that a bare one has not, can't.
        unites: Keys of the parts that this one leaves out together.
    """

    key: str
    title: str
    without: Callable[[SearchConfig], Settings]
    rankings: tuple[str, ...] = (STANDARD,)
    restores: tuple[str, ...] | None = None
    of_bare: bool = False
    alone: bool = True
    unites: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A profile that differs in one part from the one that it is put beside.

    Attributes:
        part: The part.
        settings: What is other than in that profile, by name: before and after.
        config: The profile.
    """

    part: Part
    settings: Mapping[str, tuple[float, float]] = field(hash=False)
    config: SearchConfig


def _to(**settings: float) -> Callable[[SearchConfig], Settings]:
    return lambda _: settings


def _no_field(*names: str) -> Callable[[SearchConfig], Settings]:
    """No occurrence in these fields counts, in no arm."""
    settings = {f"{group}.{name}": 0.0 for name in names for group in ("field_weights", "keyword_points")}
    return lambda _: settings


def _alike(group: str) -> Callable[[SearchConfig], Settings]:
    """Every field that counts, counts as much as they do on average."""

    def without(config: SearchConfig) -> Settings:
        counting = {f"{group}.{name}": parameter_value(config, f"{group}.{name}") for name in FIELDS}
        counting = {name: value for name, value in counting.items() if value > 0}
        return dict.fromkeys(counting, sum(counting.values()) / max(1, len(counting)))

    return without


def _linear(config: SearchConfig) -> Settings:
    """Each further occurrence counts as much as the first one."""
    return {"saturation": config.saturation * LINEAR, "weight_tfidf": config.weight_tfidf * LINEAR}


def _no_name(_: SearchConfig) -> Settings:
    # For `reference` a term inside of a name's part is an occurrence in the name too.
    return {"field_weights.name": 0.0, "keyword_points.name": 0.0, "keyword_substring_points": 0.0}


_POINTS_OF_BARE = tuple(f"keyword_points.{name}" for name in BARE_FIELDS)
_LEXICON = {"synonym_weight": 0.0, "near_synonym_weight": 0.0, "abbreviation_weight": 0.0}
_TRANSLATIONS = {"translation_weight": 0.0, "loose_translation_weight": 0.0}
_PARAMETERS = ("parameter_names", "parameter_descriptions")
_NO_LENGTH = {f"length_normalisation.{name}": 0.0 for name in FIELDS}

PARTS: tuple[Part, ...] = (
    Part(
        key="keyword-arm",
        title="keyword arm",
        without=_to(weight_keyword=0.0),
        rankings=_BOTH,
        restores=("weight_keyword", *_POINTS_OF_BARE, "keyword_idf_power", "keyword_substring_points"),
    ),
    Part(key="tfidf-arm", title="TF-IDF arm", without=_to(weight_tfidf=0.0), rankings=_BOTH, of_bare=True),
    Part(key="semantic-arm", title="semantic arm", without=_to(weight_semantic=0.0)),
    Part(key="field-name", title="field: name", without=_no_name, rankings=_BOTH, of_bare=True),
    Part(key="field-server", title="field: server", without=_no_field("server")),
    Part(key="field-hint", title="field: search hint", without=_no_field("hint"), rankings=_BOTH),
    Part(
        key="field-description",
        title="field: description",
        without=_no_field("description"),
        rankings=_BOTH,
        of_bare=True,
    ),
    Part(
        key="field-parameter-names",
        title="field: parameter names",
        without=_no_field("parameter_names"),
    ),
    Part(
        key="field-parameter-descriptions",
        title="field: parameter descriptions and enum values",
        without=_no_field("parameter_descriptions"),
    ),
    Part(
        key="fields-parameters",
        title="both parameter fields",
        without=_no_field(*_PARAMETERS),
        unites=("field-parameter-names", "field-parameter-descriptions"),
    ),
    Part(
        key="field-weighting",
        title="fields of different weight (TF-IDF arm)",
        without=_alike("field_weights"),
        rankings=_BOTH,
        restores=tuple(f"field_weights.{name}" for name in BARE_FIELDS),
    ),
    Part(
        key="evidence-points",
        title="fields of different points (keyword arm)",
        without=_alike("keyword_points"),
        rankings=_BOTH,
        alone=False,
    ),
    Part(
        key="substring-points",
        title="points for a part of a name (keyword arm)",
        without=_to(keyword_substring_points=0.0),
        rankings=(REFERENCE,),
        alone=False,
    ),
    Part(
        key="rare-words",
        title="rare words count more (keyword arm)",
        without=_to(keyword_idf_power=0.0),
        alone=False,
    ),
    Part(key="saturation", title="saturation of repeated terms", without=_linear),
    Part(
        key="counts",
        title="how often and where a term stands (TF-IDF arm)",
        without=_to(saturation=PRESENCE),
        of_bare=True,
    ),
    Part(key="length", title="length normalisation", without=_to(**_NO_LENGTH)),
    Part(key="length-cap", title="cap on lengths and counts", without=_to(length_cap=NO_CAP)),
    Part(key="joined", title="closed and open forms (web page / webpage)", without=_to(joined_weight=0.0)),
    Part(key="name-stop-words", title="stop words of names count a little", without=_to(stop_word_weight=0.0)),
    Part(
        key="stop-words-less",
        title="stop words of names count less than other words",
        without=_to(stop_word_weight=1.0),
        of_bare=True,
    ),
    Part(key="characters", title="single characters beside pairs (Han, kana, …)", without=_to(character_weight=0.0)),
    Part(key="fillers", title="words around a request count less", without=_to(filler_weight=1.0)),
    Part(key="numbers", title="numbers count less", without=_to(number_weight=1.0)),
    Part(
        key="words-around",
        title="words around a request and numbers count less",
        without=_to(filler_weight=1.0, number_weight=1.0),
        unites=("fillers", "numbers"),
    ),
    Part(key="synonyms", title="synonyms (create / add)", without=_to(synonym_weight=0.0)),
    Part(key="near-synonyms", title="near synonyms (list / show)", without=_to(near_synonym_weight=0.0)),
    Part(key="abbreviations", title="abbreviations (k8s / kubernetes)", without=_to(abbreviation_weight=0.0)),
    Part(
        key="english-lexicon",
        title="English lexicon: all three",
        without=_to(**_LEXICON),
        unites=("synonyms", "near-synonyms", "abbreviations"),
    ),
    Part(key="translations", title="built-in translations", without=_to(translation_weight=0.0)),
    Part(
        key="loose-translations",
        title="built-in translations: looser ones",
        without=_to(loose_translation_weight=0.0),
    ),
    Part(
        key="all-translations",
        title="built-in translations: both",
        without=_to(**_TRANSLATIONS),
        unites=("translations", "loose-translations"),
    ),
    Part(key="dictionary", title="translations from a dictionary", without=_to(dictionary_weight=0.0)),
    Part(key="spelling", title="corrected spellings", without=_to(spelling_weight=0.0)),
    Part(key="related", title="related words by their vectors (flight / airport)", without=_to(related_weight=0.0)),
    Part(
        key="expansion-rarity",
        title="what a term stands for makes it less rare",
        without=_to(expansion_frequency=0.0),
        alone=False,
    ),
    Part(
        key="server-share",
        title="a tool gains by the best tool of its server",
        without=_to(server_share=0.0),
    ),
    Part(
        key="cosine-bound",
        title="least cosine of what is listed",
        without=_to(confidence_bound=0.0),
        rankings=(REFERENCE,),
    ),
)
"""Every part that a profile can leave out, in the order of the tables."""

NO_PARTS: Mapping[str, str] = {
    "confidence_bound": "only flags an answer as doubtful; it changes no ranking of `standard`",
    "semantic_floor": "says how the semantic arm reads a cosine; it goes with the arm",
    "semantic_ceiling": "says how the semantic arm reads a cosine; it goes with the arm",
    "semantic_reach": "says what the semantic arm finds by itself; it goes with the arm",
}
"""Numbers of a profile that are no part of a ranking, and why."""

NO_SWITCH: tuple[str, ...] = (
    "names cut into words (sendMessage, send_message)",
    "stems of English words",
    "a term that the query repeats counts at most 1.4 times",
    "tools and servers that the query names stand first, and required words (+word) are required",
)
"""What every profile of the ranking `standard` does, so that no table can say what it is worth."""


def left_out(config: SearchConfig) -> tuple[Variant, ...]:
    """The profile without each part that it has; parts that are off, or that it can't be without, don't occur."""
    found = []
    for part in _parts_of(config):
        changes = _effective(config, part.without(config))
        if changes and not _without_an_arm(config, changes):
            found.append(_variant(config, part, changes))
    return tuple(found)


def bare(config: SearchConfig) -> SearchConfig:
    """The profile without all that it can be without: words of names and descriptions, by their count and rarity.

    What ranks is the TF-IDF arm over two fields that count alike; all else is left out.

    Raises:
        UsageError: The profile reads neither names nor descriptions in its TF-IDF arm, so there is no bare one.
    """
    if not any(parameter_value(config, f"field_weights.{name}") > 0 for name in BARE_FIELDS):
        raise UsageError(
            f"profile {config.name!r} gives neither name nor description a field weight above 0; a bare profile ranks "
            "by these two. Give at least one of them a weight."
        )
    stripped = with_parameters(config, {"weight_tfidf": config.weight_tfidf or 1.0})
    for part in _parts_of(config):
        if not part.of_bare:
            stripped = with_parameters(stripped, _effective(stripped, part.without(stripped)))
    return stripped


def added(config: SearchConfig) -> tuple[Variant, ...]:
    """The bare profile with each part that the profile has and that can stand alone."""
    stripped = bare(config)
    found = []
    for variant in left_out(config):
        part = variant.part
        if part.alone and not part.of_bare:
            names = part.restores if part.restores is not None else tuple(variant.settings)
            changes = _effective(stripped, {name: parameter_value(config, name) for name in names})
            if changes:
                found.append(_variant(stripped, part, changes))
    return tuple(found)


def _parts_of(config: SearchConfig) -> list[Part]:
    return [part for part in PARTS if config.ranking in part.rankings]


def _effective(config: SearchConfig, settings: Settings) -> dict[str, float]:
    """Those that the profile knows and that are other than its own."""
    known = set(parameter_names(config))
    return {name: value for name, value in settings.items() if name in known and parameter_value(config, name) != value}


def _without_an_arm(config: SearchConfig, changes: Settings) -> bool:
    weights = (changes.get(name, parameter_value(config, name)) for name in ("weight_keyword", "weight_tfidf"))
    return not any(weights)


def _variant(config: SearchConfig, part: Part, changes: Settings) -> Variant:
    settings = {name: (parameter_value(config, name), value) for name, value in changes.items()}
    return Variant(part=part, settings=settings, config=with_parameters(config, changes))
