"""Binary properties: fixed code points, the package `regex` over all that it knows, and the maker of the file."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from llmask.regex.code_points import TEXT, CodePointSet
from llmask.regex.unicode_classes import FIXED_PROPERTIES, binary_property
from llmask.regex.unicode_properties import BITS, SHORT_NAMES, members, script, scripts
from tests.reference.unicode_properties import FILES, make

OTHER_IN_REGEX = ("IDC", "VS")  # there blocks: Ideographic_Description_Characters, Variation_Selectors
UNKNOWN_TO_REGEX = ("Changes_When_NFKC_Casefolded", "CWKCF")


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
    for name in {*BITS, *FIXED_PROPERTIES, "Assigned"} - {*OTHER_IN_REGEX, *UNKNOWN_TO_REGEX}:
        found = binary_property(name)
        assert found is not None
        assert {c for c in text if ord(c) in found} == set(regex.findall(rf"\p{{{name}}}", text)), name


def test_long_and_short_names_are_the_same_and_others_are_unknown() -> None:
    assert len(BITS) == sum(len({*names}) for names in SHORT_NAMES.items())
    assert members("Alpha") == members("Alphabetic")
    assert members("alphabetic") is None
    assert members("RGI_Emoji") is None  # of strings


def test_the_file_is_made_from_the_text_of_the_database(tmp_path: Path) -> None:
    texts = dict.fromkeys(FILES, "# @missing: 0000..10FFFF; No\n")
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
    assert members("Alphabetic", file) == CodePointSet(())


# --- scripts

ASSIGNED = "".join(chr(c) for c in TEXT if unicodedata.category(chr(c)) not in ("Cn", "Co"))


@pytest.mark.long
@pytest.mark.parametrize("name", scripts())
def test_scripts_are_those_of_the_package_regex(name: str) -> None:
    regex = pytest.importorskip("regex", reason="the package regex is absent")
    found = script(name, False)
    assert found is not None
    assert {c for c in ASSIGNED if ord(c) in found} == set(regex.findall(rf"\p{{Script={name}}}", ASSIGNED))


def test_extensions_add_what_several_scripts_share() -> None:
    for name in (name for name, (_, more) in scripts().items() if more):
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
    assert len(scripts()) == 59  # thirty scripts; Thai is short and long
    assert script("Grek", False) == script("Greek", False)
    assert script("Common", False) is None
    assert script("", False) is None
