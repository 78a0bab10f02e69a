"""The inside of JSON strings, against `json.loads`."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from llmask.errors import GrammarError
from llmask.frontends.regex import compile_pattern
from llmask.frontends.regex.json_strings import (
    DEFAULT_STYLE,
    ESCAPES,
    StringStyle,
    json_char,
    json_literal_any_spelling,
    json_string_body,
    spell_json,
    style_of,
)
from llmask.regex.code_points import TEXT, CodePointSet
from tests.reference.json_spellings import spellings

SAMPLES = 'aZ09 "\\/\b\f\n\r\t\x00\x1f\x7f\x80é\u07ff\u0800\u2028\ud7ff\ue000\uffff\U00010000😀\U0010ffff'


@pytest.mark.parametrize("character", SAMPLES)
def test_every_spelling_of_a_character_is_accepted_and_means_it(nodes: Any, character: str) -> None:
    node = json_char(nodes, CodePointSet.of(character))
    for data in spellings(character):
        assert json.loads(b'"' + data + b'"') == character
        assert nodes.matches(node, data)
        assert nodes.matches(json_char(nodes, TEXT), data)
        assert not nodes.matches(json_char(nodes, CodePointSet.of(character).complement()), data)


def test_spellings_are_words_of_one_prefix_code(nodes: Any, rng: random.Random) -> None:
    # what `mark_units` claims, proved: no spelling begins another, and every set's spellings are among all
    whole = json_char(nodes, TEXT)
    more = nodes.intersect([nodes.ALL, nodes.complement(nodes.EPSILON)])
    assert nodes.is_empty(nodes.intersect([whole, nodes.concat([whole, more])]))
    assert nodes.derivative(whole, 0x22) == nodes.EMPTY
    for _ in range(10):
        part = json_char(nodes, CodePointSet.of("".join(rng.sample(SAMPLES, rng.randint(1, 6)))))
        for members in (part, json_char(nodes, TEXT.subtract(CodePointSet.of(rng.choice(SAMPLES))))):
            assert nodes.is_empty(nodes.intersect([members, nodes.complement(whole)]))


def test_repetitions_of_spellings_meet_by_counting(nodes: Any) -> None:
    whole, part = json_char(nodes, TEXT), json_char(nodes, CodePointSet.of("ab\n"))
    for low, high, other_low, other_high in [
        (0, None, 2, 5),
        (3, 9, 0, 4),
        (0, 3, 4, 8),
        (1, 1, 0, 7),
        (2, 2, 0, None),
    ]:
        one, other = nodes.repeat(part, low, high), nodes.repeat(whole, other_low, other_high)
        met = nodes.intersect([one, other])
        for n in range(10):
            for word in (b"a" * n, b"a\\u0062" * (n // 2) + b"\\n" * (n % 2)):
                assert nodes.matches(met, word) == (nodes.matches(one, word) and nodes.matches(other, word)), word
        assert nodes.intersect([nodes.complement(met), one, other]) == nodes.EMPTY or nodes.is_empty(
            nodes.intersect([nodes.complement(met), one, other])
        )


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b'"', b"\\", b"\n", b"\x7f", b"\\x", b"\\u12", b"\\u12g4", b"\\ud83d", b"\\ude00", b"\\ud83d\\u0041"),
        *(b"\\ude00\\ud83d", b"\\U0041", b"ab", b"\xed\xa0\x80"),
    ],
)
def test_what_is_no_single_character_is_refused(nodes: Any, data: bytes) -> None:
    assert not nodes.matches(json_char(nodes, TEXT), data)


def test_random_bodies_are_accepted_exactly_when_json_loads_them(
    nodes: Any, rng: random.Random, scaled: Callable[[int], int]
) -> None:
    body = json_string_body(nodes)
    pieces = [
        *(s for c in SAMPLES for s in spellings(c)),
        b"\\",
        b"u",
        b"d83d",
        b"\\ud83d",
        b"\\uDE00",
        b"0",
        b'"',
        b"\x1f",
    ]
    for _ in range(scaled(600)):
        data = b"".join(rng.choice(pieces) for _ in range(rng.randrange(6)))
        try:
            value = json.loads(b'"' + data + b'"')
            value.encode()
            expected = "\x7f" not in data.decode()
        except (ValueError, UnicodeEncodeError):
            expected = False
        assert nodes.matches(body, data) == expected, data


def test_lengths_count_code_points_however_they_are_written(nodes: Any, rng: random.Random) -> None:
    body = json_string_body(nodes, 2, 3)
    for length in range(6):
        data = b"".join(rng.choice(spellings(rng.choice(SAMPLES))) for _ in range(length))
        assert nodes.matches(body, data) == (2 <= length <= 3)


def test_a_free_body_is_one_repetition_of_one_shared_character(nodes: Any) -> None:
    """The mask engine recognises string bodies by this shape."""
    assert json_string_body(nodes) == nodes.repeat(json_char(nodes, TEXT), 0, None)
    assert json_string_body(nodes, 1, 5) == nodes.repeat(json_char(nodes, TEXT), 1, 5)


def test_a_literal_in_any_spelling_accepts_all_of_them(nodes: Any) -> None:
    node = json_literal_any_spelling(nodes, "/é😀")
    for one in spellings("/"):
        for two in spellings("é"):
            for three in spellings("😀"):
                assert nodes.matches(node, one + two + three)
    assert not nodes.matches(node, "/é".encode())


def test_a_lone_surrogate_is_refused(nodes: Any) -> None:
    with pytest.raises(GrammarError) as caught:
        json_literal_any_spelling(nodes, "ab\ud83d")
    assert str(caught.value) == (
        "the string holds the lone surrogate U+D83D, which is no text\n"
        "  at character 2\n"
        "  Write the code point itself, or both halves of its pair."
    )


# --- styles

STYLES = ["", "n", "/", "u", '"\\', "bfnrt", "nu", '"/\\bfnrt', ESCAPES]


def styled(character: str, letters: str) -> set[bytes]:
    """Spellings that a style leaves: raw, the chosen escapes, and that of `json.dumps` where nothing else is left."""
    chosen = {data for data in spellings(character) if data[:1] != b"\\" or data[1:2].decode() in letters}
    if chosen:
        return chosen
    return {json.dumps(character)[1:-1].replace("\x7f", "\\u007f").encode()}


@pytest.mark.long
@pytest.mark.parametrize("letters", STYLES)
def test_a_style_keeps_the_chosen_escapes_and_at_least_one_spelling(nodes: Any, letters: str) -> None:
    variant = nodes.variant(StringStyle(letters))
    for character in SAMPLES:
        node = json_char(variant, CodePointSet.of(character))
        left = styled(character, letters)
        for data in spellings(character):
            assert nodes.matches(node, data) == (data in left), (character, data)
            assert nodes.matches(json_char(variant, TEXT), data) == (data in left)
            assert not nodes.matches(json_char(variant, CodePointSet.of(character).complement()), data)
        assert spell_json(variant, character) in left
        assert nodes.matches(json_literal_any_spelling(variant, character), spell_json(variant, character))
    assert not nodes.matches(json_string_body(variant), spell_json(variant, "\ud800"))


def test_the_minimal_style_is_that_of_json_dumps(nodes: Any) -> None:
    variant = nodes.variant(StringStyle(""))
    for character in SAMPLES:
        if character != "\x7f":
            assert styled(character, "") == {json.dumps(character, ensure_ascii=False)[1:-1].encode()}
        assert spell_json(variant, character) == styled(character, "").pop()


@pytest.mark.long
@pytest.mark.parametrize("letters", STYLES)
def test_patterns_mean_the_same_in_every_style(nodes: Any, letters: str) -> None:
    variant = nodes.variant(StringStyle(letters))
    for pattern in ("^[^a]\\\\$", "\\n|é", '^(?!.*").{2}$', "^[\\x00-\\x1f/]+$", "\\bZ"):
        here = compile_pattern(variant, pattern, dialect="ecma", json_string=True)
        default = compile_pattern(nodes, pattern, dialect="ecma", json_string=True)
        for one in SAMPLES:
            for text in (one, one + "\\", "Z" + one):
                assert nodes.matches(here, spell_json(variant, text)) == nodes.matches(default, spell_json(nodes, text))


def test_styles_share_nodes_but_nothing_remembered(nodes: Any) -> None:
    one, other = nodes.variant(StringStyle("u")), nodes.variant(StringStyle("n"))
    assert (style_of(nodes), style_of(one)) == (DEFAULT_STYLE, StringStyle("u"))
    assert len({json_char(variant, TEXT) for variant in (nodes, one, other)}) == 3
    assert json_char(nodes.variant(StringStyle("u")), TEXT) == json_char(one, TEXT)
    assert one.literal(b"abc") == other.literal(b"abc") == nodes.literal(b"abc")
