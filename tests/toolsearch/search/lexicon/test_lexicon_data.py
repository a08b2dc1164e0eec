from __future__ import annotations

import re

import pytest

from toolsearch.search.analysis.standard import joined_key
from toolsearch.search.lexicon.reader import ENGLISH, LANGUAGES, STEMMED, STOP, UNSPACED, file_text, shipped_rows
from toolsearch.search.lexicon.tables import english_key, foreign_key

SHIPPED = [language for language in LANGUAGES if file_text(language)]
SCRIPTS = {
    "en": r"[a-z0-9 .+#&'/-]+",
    "zh": r"[\u3400-\u9fff]+",
    "ja": r"[\u3040-\u30ff\u3400-\u9fff\u3005]+",
    "ko": r"[\uac00-\ud7af]+",
    "ru": r"[\u0400-\u04ff -]+",
}
LATIN = r"[a-z\u00df-\u00ff\u0153 '-]+"


@pytest.mark.parametrize("language", SHIPPED)
def test_every_row_of_a_shipped_file_has_the_form_of_its_language(language: str) -> None:
    """Reading a shipped file finds nothing wrong, and there is something in it."""
    assert shipped_rows(language)


@pytest.mark.parametrize("language", SHIPPED)
def test_rows_are_sorted_and_no_row_stands_twice(language: str) -> None:
    """Rows stand in the order of their characters below the comments, so that two people's changes meet in one place."""
    lines = file_text(language).splitlines()
    rows = [line for line in lines if not line.startswith("#")]
    assert lines == [line for line in lines if line.startswith("#")] + rows
    assert rows == sorted(set(rows))


@pytest.mark.parametrize("language", SHIPPED)
def test_terms_are_written_in_the_script_of_their_language(language: str) -> None:
    """A term has only letters that its language is written with; glosses are English."""
    script = re.compile(SCRIPTS.get(language, LATIN))
    for row in shipped_rows(language):
        assert [term for term in row.terms if not script.fullmatch(term)] == []
        assert [gloss for gloss in row.glosses if not re.fullmatch(SCRIPTS["en"], gloss)] == []


def test_no_english_group_has_two_forms_of_one_word() -> None:
    """What the stemmer or the joining of neighbours brings together already is not listed again."""
    for row in shipped_rows(ENGLISH):
        keys = [english_key(term) for term in row.terms]
        closed = [joined_key(term) for term in row.terms]
        assert len(set(keys)) == len(keys), row
        assert len(set(closed)) == len(closed), row


@pytest.mark.parametrize("language", [language for language in SHIPPED if language != ENGLISH])
def test_every_gloss_can_be_looked_for(language: str) -> None:
    """A term has a key by which a query finds it, and its glosses hold more than stop words."""
    for row in shipped_rows(language):
        if language in STEMMED and row.relation != STOP:
            assert all(foreign_key(language, term) for term in row.terms)
        assert all(english_key(gloss) for gloss in row.glosses)


@pytest.mark.parametrize("language", [language for language in SHIPPED if language in UNSPACED])
def test_no_term_is_both_a_word_and_a_stop_word(language: str) -> None:
    """A stop word has no meaning of its own, so it has no glosses elsewhere in the file."""
    rows = shipped_rows(language)
    stops = {term for row in rows if row.relation == STOP for term in row.terms}
    assert stops & {term for row in rows if row.relation != STOP for term in row.terms} == set()
