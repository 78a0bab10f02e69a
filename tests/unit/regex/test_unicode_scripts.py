"""Scripts against the package `regex`, over all code points that its Unicode and the table's both know."""

from __future__ import annotations

import unicodedata
from functools import cache

import pytest

from llmask.regex.code_points import TEXT
from llmask.regex.unicode_scripts import EXTENSIONS, SCRIPTS, SHORT_NAMES, script


@cache
def assigned() -> str:
    """Every character that Python's Unicode knows."""
    return "".join(chr(c) for c in TEXT if unicodedata.category(chr(c)) not in ("Cn", "Co"))


@pytest.mark.long
@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_are_those_of_the_package_regex(name: str) -> None:
    regex = pytest.importorskip("regex", reason="the package regex is absent")
    found = script(name, False)
    assert found is not None
    assert {c for c in assigned() if ord(c) in found} == set(regex.findall(rf"\p{{Script={name}}}", assigned()))


def test_extensions_add_what_several_scripts_share() -> None:
    for name in EXTENSIONS:
        plain, extended = script(name, False), script(name, True)
        assert plain is not None
        assert extended is not None
        assert not plain.subtract(extended).bounds
        assert extended.subtract(plain).bounds
    kana, devanagari = script("Katakana", True), script("Devanagari", True)
    assert kana is not None
    assert devanagari is not None
    assert ord("ー") in kana
    assert 0x964 in devanagari


def test_names_are_long_or_short_and_others_are_unknown() -> None:
    assert set(SHORT_NAMES.values()) == set(SCRIPTS)
    assert script("Grek", False) == script("Greek", False)
    assert script("Common", False) is None
    assert script("", False) is None
