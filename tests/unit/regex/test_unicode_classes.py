"""Classes of characters against `re` and `unicodedata` over all code points."""

from __future__ import annotations

import subprocess
import sys
import unicodedata

import pytest

from llmask.regex import unicode_classes
from llmask.regex.code_points import MAX_CODE_POINT, TEXT, CodePointSet
from tests.reference.every_code_point import members_by_re


@pytest.mark.parametrize(
    ("letter", "members"),
    [("d", unicode_classes.digits), ("w", unicode_classes.words), ("s", unicode_classes.spaces)],
)
def test_classes_are_those_of_re_for_every_code_point(letter: str, members: object) -> None:
    assert callable(members)
    assert members() == members_by_re(rf"\{letter}")


def test_ascii_classes_are_those_of_the_flag_a() -> None:
    assert members_by_re(r"\d", "(?a)") == unicode_classes.ASCII_DIGITS
    assert members_by_re(r"\w", "(?a)") == unicode_classes.ASCII_WORDS
    assert members_by_re(r"\s", "(?a)") == unicode_classes.ASCII_SPACES


@pytest.mark.long
@pytest.mark.parametrize("name", ["L", "Lu", "LC", "Nd", "P", "Cn", "Zs", "Cc"])
def test_categories_are_those_of_unicodedata(name: str) -> None:
    names = {"LC": ("Lu", "Ll", "Lt")}.get(name, (name,))
    expected = {c for c in TEXT if unicodedata.category(chr(c)).startswith(names)}
    found = unicode_classes.category(name)
    assert found is not None
    assert set(found) == expected


def test_categories_have_long_names_and_unknown_ones_are_none() -> None:
    assert unicode_classes.category("Uppercase_Letter") == unicode_classes.category("Lu")
    assert unicode_classes.category("digit") == unicode_classes.category("Nd")
    assert unicode_classes.category("Lx") is None
    assert unicode_classes.category("") is None
    surrogates = unicode_classes.category("Cs")
    assert surrogates is not None
    assert len(surrogates) == 0


def test_beyond_plane_one_no_character_has_case() -> None:
    """`without_case` looks at two planes only; this is the reason why it may."""
    first = (unicode_classes.LAST_PLANE_WITH_CASE + 1) << 16
    assert all(c.lower() == c == c.upper() for c in map(chr, range(first, MAX_CODE_POINT + 1)))


@pytest.mark.long
@pytest.mark.parametrize(
    "members", ["k", "K", "s", "i", "\u0131", "\u0130", "ß", "ẞ", "σ", "µ", "\u01c5", "a-z", "À-ÿ"]
)
def test_case_is_ignored_as_re_ignores_it(members: str) -> None:
    low, _, high = members.partition("-")
    plain = CodePointSet.from_ranges([(ord(low), ord(high or low))])
    assert unicode_classes.without_case(plain) == members_by_re(f"[{members}]", "(?i)")


@pytest.mark.long
def test_single_characters_have_the_cases_that_re_gives_them() -> None:
    cased = [chr(c) for c in range(0x250) if chr(c).lower() != chr(c).upper()]
    for character in cased[::9]:
        assert unicode_classes.without_case(CodePointSet.of(character)) == members_by_re(character, "(?i)")


def test_importing_scans_nothing() -> None:
    code = (
        "from llmask.regex import unicode_classes as u;"
        "print(sum(f.cache_info().currsize for f in (u.digits, u.words, u.spaces, u._categories, u._cased)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "0\n"


def test_what_is_assigned_is_in_no_category_of_unassigned_ones() -> None:
    unassigned = unicode_classes.category("Cn")
    assert unassigned is not None
    assert unicode_classes.binary_property("Assigned") == unassigned.complement()


def test_a_category_and_what_is_not_in_it_are_made_once() -> None:
    # each use took milliseconds: 19 KB of them 3 s
    found = unicode_classes.category("Lu")
    assert found is not None
    assert unicode_classes.category("Lu") is found
    assert found.complement() is found.complement()
