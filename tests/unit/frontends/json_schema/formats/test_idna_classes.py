"""Properties of IDNA against the tables of the package `idna`, as far as its version of Unicode is Python's."""

from __future__ import annotations

import unicodedata

import pytest

from llmask.frontends.json_schema.formats import idna_classes
from llmask.regex.code_points import CodePointSet

idnadata = pytest.importorskip("idna.idnadata", reason="the package idna is absent")


def tabled(ranges: tuple[int, ...]) -> set[int]:
    """The code points of a table of the package: starts and ends packed in one number each."""
    return {c for packed in ranges for c in range(packed >> 32, packed & 0xFFFFFFFF)}


def assigned(members: set[int]) -> set[int]:
    return {c for c in members if unicodedata.category(chr(c)) != "Cn"}


def test_permitted_code_points_are_those_of_the_tables() -> None:
    classes = idnadata.codepoint_classes
    expected = set().union(*(tabled(classes[name]) for name in ("PVALID", "CONTEXTJ", "CONTEXTO")))
    expected = {c for c in assigned(expected) if c >= 0x80}
    found = set(idna_classes.permitted())
    assert found - expected == set()
    # letters whose case folding or normalization is younger than this Python's tables may differ
    assert len(expected - found) < 20


def test_letters_by_name_are_letters_of_the_script() -> None:
    for name, prefix in [
        ("Greek", "GREEK "),
        ("Hebrew", "HEBREW "),
        ("Hiragana", "HIRAGANA "),
        ("Katakana", "KATAKANA "),
    ]:
        members = set(idna_classes.letters_named(prefix))
        assert members
        assert members <= tabled(idnadata.scripts[name]), name
    assert assigned(set(idna_classes.IDEOGRAPHS) & set(idna_classes.permitted())) <= tabled(idnadata.scripts["Han"])


def test_letters_join_as_the_tables_say() -> None:
    both, right = idna_classes.joining()
    assert len(both) > 40
    assert len(right) > len(both) + 15
    assert set(both) <= tabled(idnadata.joining_types["D"])
    # U+06BA joins on both sides and has no form that shows it
    assert set(right) <= tabled(idnadata.joining_types["D"]) | tabled(idnadata.joining_types["R"])


def test_composing_marks_are_those_that_normalization_swallows() -> None:
    found = idna_classes.composing()
    assert found["\u09be"] == "\u09c7"
    for mark, starters in found.items():
        assert all(len(unicodedata.normalize("NFC", starter + mark)) == 1 for starter in starters)
    ascii_with_acute = "".join(c for c in found["\u0301"] if c.isascii())
    assert set("aeiouyAEIOUY") <= set(ascii_with_acute)
    assert "q" not in ascii_with_acute


def test_a_property_is_asked_of_permitted_code_points_only() -> None:
    viramas = idna_classes.where(unicodedata.combining, 9)
    assert 0x94D in viramas
    assert isinstance(viramas, CodePointSet)
    assert set(viramas) <= set(idna_classes.permitted())
