"""Binary properties: fixed code points, the package `regex` over all that it knows, and the maker of the file."""

from __future__ import annotations

import subprocess
import sys
import unicodedata
from functools import cache
from pathlib import Path

import pytest

from llmask.regex import unicode_classes
from llmask.regex.code_points import MAX_CODE_POINT, TEXT, CodePointSet
from llmask.regex.unicode_classes import binary_property, members
from tests.reference.every_code_point import members_by_re
from tests.reference.unicode_properties import FILES, SCRIPTS, SHORT_NAMES, make

OTHER_IN_REGEX = ("IDC", "VS")  # there blocks: Ideographic_Description_Characters, Variation_Selectors
UNKNOWN_TO_REGEX = ("Changes_When_NFKC_Casefolded", "CWKCF")
ALONE = ["Khmer", "Lao"]  # nothing is shared with them


@pytest.mark.parametrize(
    ("name", "inside", "outside"),
    [
        ("Emoji", "😀❤0#", "a漢"),
        ("Emoji_Component", "🏽🇦0\u200d", "😀"),
        ("Emoji_Presentation", "😀⌚", "❤0"),
        ("Emoji_Modifier", "🏻🏿", "👍"),
        ("EBase", "👍", "🏻"),
        ("Extended_Pictographic", "😀❤", "0🏻"),
        ("Alphabetic", "aß漢\u0345ⓐ", "1_\u0301"),
        ("ID_Start", "a漢℘", "1_"),
        ("ID_Continue", "a1_·", "-"),
        ("XID_Start", "a", "\u037a"),
        ("Changes_When_NFKC_Casefolded", "Aª\u00ad", "a"),
        ("Lower", "aª\u0345", "A"),
        ("Noncharacter_Code_Point", "\ufffe\U0010ffff", "a"),
    ],
)
def test_characters_have_their_properties(name: str, inside: str, outside: str) -> None:
    found = binary_property(name)
    assert found is not None
    assert [c for c in inside if ord(c) not in found] + [c for c in outside if ord(c) in found] == []


@pytest.mark.long
def test_properties_are_those_of_the_package_regex() -> None:
    regex = pytest.importorskip("regex", reason="the package regex is absent")
    # a release of it may know another Unicode than the file: what both call assigned
    known = set(regex.findall(r"\P{Cn}", "".join(map(chr, TEXT))))
    text = "".join(c for c in map(chr, TEXT) if c in known and unicodedata.category(c) != "Cn")
    apart = {*OTHER_IN_REGEX, *UNKNOWN_TO_REGEX}
    for name in {*SHORT_NAMES, *SHORT_NAMES.values(), "Any", "ASCII", "Assigned"} - apart:
        found = binary_property(name)
        assert found is not None
        assert {c for c in text if ord(c) in found} == set(regex.findall(rf"\p{{{name}}}", text)), name


def test_long_and_short_names_are_the_same_and_others_are_unknown() -> None:
    found = {long: (members(long), members(short)) for long, short in SHORT_NAMES.items()}
    assert [name for name, (own, same) in found.items() if own is None or not own.bounds or own != same] == []
    assert members("Alpha") == members("Alphabetic")
    assert members("alphabetic") is None
    assert members("RGI_Emoji") is None  # of strings


def test_the_file_is_made_from_the_text_of_the_database(tmp_path: Path) -> None:
    texts = dict.fromkeys(FILES, "# @missing: 0000..10FFFF; No\n")
    texts |= dict.fromkeys(("Scripts.txt", "ScriptExtensions.txt"), "# scripts\n")
    texts["Scripts.txt"] += "0370..0373    ; Greek # L&   [4] GREEK CAPITAL LETTER HETA..\n1F600 ; Common\n"
    texts["ScriptExtensions.txt"] += "0342          ; Cyrl Grek # Mn       COMBINING GREEK PERISPOMENI\n"
    texts["PropList.txt"] += "0009..000D    ; White_Space # Cc   [5] <control-0009>..\n002D  ; Dash # Pd  HYPHEN\n"
    texts["emoji/emoji-data.txt"] += "0023          ; Emoji                # E0.0   [1] (#️)\n1F600..1F602 ; Emoji\n"
    texts["extracted/DerivedBinaryProperties.txt"] += "0028..0029 ; Bidi_Mirrored\n10FFFF ; Bidi_Mirrored\n"
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    file = tmp_path / "made.npz"
    make(tmp_path, file)
    assert members("Dash", file) == CodePointSet.of("-")
    assert members("Emoji", file) == CodePointSet.of("#😀😁😂")
    assert members("Bidi_M", file) == CodePointSet.of("()\U0010ffff")
    assert members("space", file) == CodePointSet.of("\t\n\v\f\r")
    assert members("Alphabetic", file) == members("scx=Thai", file) == members("sc=Cyrillic", file) == CodePointSet(())
    assert members("sc=Grek", file) == CodePointSet.of("ͰͱͲͳ")
    assert members("scx=Greek", file) == CodePointSet.of("ͰͱͲͳ\u0342")
    assert members("scx=Cyrillic", file) == CodePointSet.of("\u0342")
    assert members("sc=Common", file) is None


# --- scripts


@cache
def assigned() -> str:
    """Every character that Python's Unicode knows."""
    return "".join(chr(c) for c in TEXT if unicodedata.category(chr(c)) not in ("Cn", "Co"))


@pytest.mark.long
@pytest.mark.parametrize("name", [*SCRIPTS, *SCRIPTS.values()])
def test_scripts_are_those_of_the_package_regex(name: str) -> None:
    regex = pytest.importorskip("regex", reason="the package regex is absent")
    found = members(f"sc={name}")
    assert found is not None
    assert {c for c in assigned() if ord(c) in found} == set(regex.findall(rf"\p{{Script={name}}}", assigned()))


def test_extensions_add_what_several_scripts_share() -> None:
    alone = []
    for name in SCRIPTS:
        plain, extended = members(f"sc={name}"), members(f"scx={name}")
        assert plain is not None
        assert extended is not None
        assert not plain.subtract(extended).bounds
        alone += [] if extended.subtract(plain).bounds else [name]
    assert alone == ALONE
    kana, devanagari = members("scx=Katakana"), members("scx=Devanagari")
    assert kana is not None
    assert devanagari is not None
    assert ord("ー") in kana
    assert 0x964 in devanagari


def test_names_are_long_or_short_and_others_are_unknown() -> None:
    assert members("sc=Grek") == members("sc=Greek") != members("scx=Greek")
    assert members("sc=Common") is None
    assert members("sc=") is None
    assert members("Greek") is None


@pytest.mark.parametrize("letter", "dws")
def test_classes_are_those_of_re_for_every_code_point(letter: str) -> None:
    assert unicode_classes.named_class(letter, False) == members_by_re(rf"\{letter}")
    assert unicode_classes.named_class(letter, True) == members_by_re(rf"\{letter}", "(?a)")


def test_ascii_classes_are_those_of_the_flag_a() -> None:
    assert members_by_re(r"\d", "(?a)") == unicode_classes.ASCII_DIGITS
    assert members_by_re(r"\w", "(?a)") == unicode_classes.ASCII_WORDS


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
        "print(sum(f.cache_info().currsize for f in (u.named_class, u._categories, u._cased)))"
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
