"""Search spaces: what is read, what is refused and how values are rounded."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolsearch.config import DEFAULT, PROFILES, SEMANTIC, SearchConfig
from toolsearch.errors import DataError, UnknownNameError
from toolsearch_eval.tuning.parameters import parameter_names, parameter_value, with_parameters
from toolsearch_eval.tuning.space import Parameter, load_space, read_space


def _faults(text: str) -> list[tuple[int, str, str]]:
    with pytest.raises(DataError) as caught:
        read_space(text, path="space.toml")
    return [(problem.line, problem.field, problem.message) for problem in caught.value.problems]


@pytest.mark.parametrize("config", [*PROFILES.values(), SEMANTIC], ids=lambda config: config.name)
def test_a_space_ships_for_each_profile_and_holds_it(config: SearchConfig) -> None:
    """The shipped space of each profile is valid, begins at the profile and narrows to at most three parameters."""
    space = load_space(None, config.name)
    assert space.profile == config
    assert space.config(space.shipped) == config
    assert space.distance(space.shipped) == 0.0
    assert 1 <= len(space.narrowed().parameters) <= 3


def test_a_profile_without_a_space_of_its_own_has_that_of_its_origin() -> None:
    """`default+translate` moves what `default` moves; `default+semantic` has its third arm to move."""
    names = {each.name for each in load_space(None, "default").parameters}
    assert {each.name for each in load_space(None, "default+translate").parameters} == names
    assert "weight_semantic" not in names
    assert "weight_semantic" in {each.name for each in load_space(None, "default+semantic").parameters}


def test_every_number_of_a_profile_can_be_named_and_set() -> None:
    """Each parameter's name reads the number that setting it has changed."""
    for name in parameter_names(DEFAULT):
        halved = parameter_value(DEFAULT, name) / 2 or 0.5
        if name == "length_cap":
            halved = 2.0
        assert parameter_value(with_parameters(DEFAULT, {name: halved}), name) == halved


def test_a_parameter_is_read_with_its_scale_and_bounds() -> None:
    """A row of the file becomes a parameter; those that are not named stay where they are."""
    space = read_space('profile = "default"\n[parameters]\nsaturation = { low = 0.5, high = 2.0, log = true }\n')
    assert space.parameters == (Parameter(name="saturation", low=0.5, high=2.0, log=True),)
    assert space.shipped == {"saturation": 1.2}
    assert space.distance({"saturation": 2.4}) == pytest.approx(0.5)  # one doubling of the two between 0.5 and 2


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("saturation = { low = 2.0, high = 1.0 }", "low must be below high"),
        ("saturation = { low = 0.5 }", "high is missing"),
        ("saturation = { low = nan, high = 2.0 }", "low is nan; it must be a finite number"),
        ("saturation = { low = true, high = 2.0 }", "low is True; it must be a finite number"),
        ('saturation = { low = "a", high = 2.0 }', "low is 'a'; it must be a finite number"),
        ("saturation = { low = 0.5, high = 2.0, log = 1 }", "log is 1; it must be true or false"),
        ("joined_weight = { low = 0.0, high = 1.0, log = true }", "needs a low above 0"),
        ("joined_weight = { low = 0.0, high = 1.5 }", "joined_weight is 1.5; it must be at least 0, at most 1"),
        ("saturation = { low = 0.0, high = 2.0 }", "saturation is 0.0; it must be above 0"),
        ("saturation = { low = 2.0, high = 3.0 }", "own value 1.2 lies outside 2 to 3"),
        ("saturation = { low = 0.5, high = 2.0, log = true, step = 0.1 }", "step and log can't both be given"),
        ("saturation = { low = 0.2, high = 2.2, step = 0.0 }", "step is 0; it must be above 0"),
        ("saturation = { low = 0.2, high = 2.2, step = 0.3 }", "a whole number of steps above low"),
        ("saturation = { low = 0.5, high = 2.0, lgo = true }", "unknown setting 'lgo'. Did you mean 'low', 'log'"),
        ("saturation = 1.0", "must be a table such as"),
        ("satturation = { low = 0.5, high = 2.0 }", "unknown parameter 'satturation'. Did you mean 'saturation'"),
        ("field_weights.name = { low = 0.5, high = 2.0 }", "A name with a dot stands in quotes"),
        ('"field_weights.nam" = { low = 0.5, high = 2.0 }', "Did you mean 'field_weights.name'"),
        ("confidence_bound = { low = 0.1, high = 0.9 }", "changes no ranking of default"),
    ],
)
def test_a_faulty_row_is_refused_with_its_place(row: str, message: str) -> None:
    """Each fault of a row is told with the line and the name of the parameter."""
    faults = _faults(f"[parameters]\n{row}\n")
    assert any(message in text for _, _, text in faults), faults
    assert all(line in (1, 2) for line, _, _ in faults)


def test_all_faults_of_a_file_come_at_once() -> None:
    """One reading shows everything there is to mend."""
    faults = _faults(
        'prfile = "default"\nnarrow = ["gone"]\n[parameters]\nsaturation = { low = 3, high = 2 }\nnever = { low = 0, high = 1 }\n'
    )
    assert [(line, field) for line, field, _ in faults] == [
        (1, "prfile"),
        (4, "saturation"),
        (4, "saturation"),
        (5, "never"),
        (2, "narrow"),
    ]


@pytest.mark.parametrize(
    ("profile", "names", "told"),
    [
        ("default", ("weight_keyword", "weight_tfidf"), "the arms' weights"),
        ("reference", ("field_weights.name", "field_weights.hint", "field_weights.description"), "the fields' weights"),
        (
            "reference",
            ("keyword_points.name", "keyword_points.hint", "keyword_points.description", "keyword_substring_points"),
            "the keyword points",
        ),
    ],
)
def test_numbers_of_which_only_ratios_matter_need_a_pinned_one(profile: str, names: tuple[str, ...], told: str) -> None:
    """Where all numbers of such a group move, one has to be left out; with one left out the space is fine."""
    rows = [f'"{name}" = {{ low = 0.01, high = 30.0 }}' for name in names]
    head = f'profile = "{profile}"\n[parameters]\n'
    [(_, _, message)] = _faults(head + "\n".join(rows))
    assert message.startswith(f"only the ratios of {told} matter")
    assert len(read_space(head + "\n".join(rows[1:])).parameters) == len(names) - 1


def test_a_file_that_is_no_toml_is_refused() -> None:
    """Text that is not TOML is one fault, not a traceback."""
    [(_, _, message)] = _faults("[parameters\n")
    assert message.startswith("is not valid TOML")


def test_an_unknown_profile_is_refused_with_near_names() -> None:
    """A wrong profile is told with those that are near, in the file and as an argument."""
    [(line, field, message)] = _faults('profile = "defalt"\n[parameters]\nsaturation = { low = 1, high = 2 }\n')
    assert (line, field) == (1, "profile")
    assert "Did you mean 'default'" in message
    with pytest.raises(UnknownNameError):
        load_space(None, "defalt")


@given(st.floats(0.3, 4.0))
def test_canonical_values_stay_inside_and_are_stable(value: float) -> None:
    """Rounding keeps to the bounds, moves by less than a thousandth, and rounding again changes nothing."""
    parameter = Parameter(name="saturation", low=0.3, high=4.0, log=True)
    rounded = parameter.canonical(value)
    assert 0.3 <= rounded <= 4.0
    assert math.isclose(rounded, value, rel_tol=1e-3)
    assert parameter.canonical(rounded) == rounded


@given(st.floats(0.0, 1.0))
def test_canonical_values_lie_on_the_steps(value: float) -> None:
    """With a step the value is a whole number of steps above the lowest."""
    parameter = Parameter(name="joined_weight", low=0.0, high=1.0, step=0.05)
    rounded = parameter.canonical(value)
    assert abs(rounded / 0.05 - round(rounded / 0.05)) < 1e-9
    assert abs(rounded - value) <= 0.025 + 1e-9


def test_the_fingerprint_tells_spaces_apart_and_not_their_layout() -> None:
    """A bound, a scale or the profile's numbers change the fingerprint; the order of the rows does not."""
    rows = ["saturation = { low = 0.5, high = 2.0 }", "joined_weight = { low = 0.0, high = 1.0 }"]
    first = read_space("[parameters]\n" + "\n".join(rows))
    assert read_space("[parameters]\n" + "\n".join(reversed(rows))).fingerprint == first.fingerprint
    others = [
        read_space("[parameters]\n" + "\n".join(rows).replace("2.0", "2.5")),
        read_space("[parameters]\n" + "\n".join(rows).replace("high = 2.0", "high = 2.0, log = true")),
        read_space("[parameters]\n" + rows[0]),
        read_space("[parameters]\n" + "\n".join(rows), profile=DEFAULT.replace(length_cap=20.0)),
    ]
    assert len({first.fingerprint, *(each.fingerprint for each in others)}) == 5
