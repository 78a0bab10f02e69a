"""The way of one token, byte by byte, through trie, lexer states and rows to its bit in the mask.

All of it is read from llmask: the trie of its tokenizer, and what `llmask.debug` tells of a matcher after each byte.

In: llmask and its tokenizer. Out: the picture. Cost: half a second.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import llmask
from llmask import debug

from .svg import MARGIN, WIDTH, Picture, width_of

TEXT = b'{"name": "Ada'
TOKEN = b'","'
SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
WORD = 32  # bits of a word of the bitmask
GAP = 12
PADDING = 7
COLUMN = (WIDTH - 2 * MARGIN - 3 * GAP) / 4  # the place before the token, then one for each of its bytes


class Place(NamedTuple):
    """What is known before the token, or after one of its bytes.

    node, token, n_below   of the trie: the node, the token that ends there (None: none does), nodes below
    row, scans             of the parser: its number, the lexeme that it waits for
    lexeme, left           of the lexer: the lexeme in hand and what is left of it; "" before a lexeme
    """

    node: int
    token: int | None
    n_below: int
    row: int
    scans: str
    lexeme: str
    left: str


class Way(NamedTuple):
    """All places, and the mask before the token."""

    places: list[Place]
    rule: str
    token: int
    n_inside: int
    n_crossing: int
    bits: list[bool]  # of the word that the token's bit is in


def way() -> Way:
    """What llmask tells of the token."""
    tokenizer = llmask.Tokenizer.default()
    matcher = llmask.Compiler(tokenizer).json_schema(SCHEMA).matcher()
    trie = tokenizer._parts.trie
    mask = llmask.allocate_bitmask(1, tokenizer.vocab_size)
    matcher.accept_bytes(TEXT)
    matcher.fill_bitmask(mask)
    tokens = debug.configuration(matcher).mask
    [token] = tokenizer.encode(TOKEN.decode())
    assert tokens is not None
    assert token in tokens.crossing
    node, places = 0, []
    for position in range(len(TOKEN) + 1):
        if position > 0:
            byte = TOKEN[position - 1]
            children = slice(trie.child_first[node], trie.child_first[node + 1])
            node = int(trie.child_node[children][trie.child_byte[children] == byte][0])
            matcher.accept_bytes(bytes([byte]))
        row, state = debug.row(matcher), debug.lexer_state(matcher)
        [(scans, _)] = row.scans
        lexeme, left = ("", "") if state.is_start else (state.lexemes[0].lexeme, state.lexemes[0].left)
        ending = int(trie.token[node])
        n_below = int(trie.subtree_end[node]) - node - 1
        places.append(Place(node, ending if ending >= 0 else None, n_below, row.number, scans, lexeme, left))
    first = token // WORD * WORD
    bits = np.unpackbits(mask.view(np.uint8), bitorder="little")[first : first + WORD].astype(bool).tolist()
    rule = debug.rules(matcher).splitlines()[0]
    return Way(places, rule, token, len(tokens.inside), len(tokens.crossing), bits)


def drawn() -> str:
    """The picture."""
    known = way()
    shown = TOKEN.decode()
    word, bit = divmod(known.token, WORD)
    first, last = known.places[0].row, known.places[-1].row
    picture = Picture(
        f"The way of the token {shown} through trie, lexer and rows to the mask",
        f"After {TEXT.decode()} the token {shown} ends a string, is a comma and begins the next key. In the trie it is "
        f"a path of {len(TOKEN)} nodes. The lexer ends STRING, ends the comma, begins the key. The parser goes from "
        f"row {first} to row {last}. It is allowed: one of {known.n_crossing} tokens that cross the end of the "
        f"lexeme, beside {known.n_inside:,} that stay in it, and bit {bit} of word {word} of the mask is 1.",
    )
    picture.text(MARGIN, 28, TEXT.decode(), size=13, is_mono=True)
    x = MARGIN + width_of(TEXT.decode(), 13, is_mono=True)
    picture.box(x, 15, width_of(shown, 13, is_mono=True) + 4, 18, "piece1", radius=3)
    picture.text(x + 2, 28, shown, size=13, is_mono=True, is_bold=True)
    picture.text(x + 40, 28, "one token, parts of three lexemes", "soft")

    top = 42.0
    picture.text(_left(0) + PADDING, top + 14, "before it", "soft", 11.5)
    for number, byte in enumerate(shown, 1):
        picture.text(_left(number) + PADDING, top + 14, "after", "soft", 11.5)
        picture.box(_left(number) + 41, top, 16, 18, "piece1", radius=3)
        picture.text(_left(number) + 49, top + 14, byte, size=13, anchor="middle", is_mono=True, is_bold=True)
    texts = [("the root", f"{known.places[0].n_below:,} below")]
    texts += [(f"token {one.token}", f"{one.n_below} below") for one in known.places[1:]]
    top = _band(
        picture, top + 24, "trie/", "a byte leads to a child; refused, it skips all nodes below", "fixed", texts
    )
    texts = [_of_lexer(known.places, number) for number in range(len(known.places))]
    top = _band(picture, top, "kernels/lexer/", "what is left of the lexeme in hand", "lazy", texts)
    texts = [(f"row {one.row}", f"scans {one.scans}") for one in known.places]
    top = _band(picture, top, "kernels/parser/", "a lexeme that ends leads to another row", "lazy", texts)
    picture.text(MARGIN, top + 5, known.rule, "soft", 11.5, is_mono=True)
    return picture.written(_mask(picture, top + 17, known) + MARGIN)


def _left(column: int) -> float:
    return MARGIN + column * (COLUMN + GAP)


def _of_lexer(places: list[Place], number: int) -> tuple[str, str]:
    """The lexeme in hand, or the one that has just ended, and what comes after."""
    place = places[number]
    if place.lexeme:
        return place.lexeme, f"left {place.left}"
    return f"{places[number - 1].scans} ends", f"next {place.scans}"


def _title(picture: Picture, top: float, folder: str, text: str) -> None:
    picture.text(MARGIN, top + 16, folder, is_mono=True, is_bold=True)
    picture.text(MARGIN + width_of(folder, 12, is_mono=True) + 10, top + 16, text, "soft", 11.5)


def _band(picture: Picture, top: float, folder: str, text: str, role: str, texts: list[tuple[str, str]]) -> float:
    """One stage: a box for each place. Where the next one begins."""
    _title(picture, top, folder, text)
    for column, (head, below) in enumerate(texts):
        left = _left(column)
        picture.box(left, top + 23, COLUMN, 40, role, role)
        picture.text(left + PADDING, top + 39, head, is_bold=True, room=COLUMN - PADDING)
        picture.text(left + PADDING, top + 55, below, size=11.5, room=COLUMN - PADDING)
        if column > 0:
            picture.arrow((left - GAP, top + 43), (left - 1, top + 43))
    return top + 75


def _mask(picture: Picture, top: float, known: Way) -> float:
    """The bitmask's word with the token's bit. Where it ends."""
    word, bit = divmod(known.token, WORD)
    crosses = f"{TOKEN.decode()} is one of {known.n_crossing} tokens that cross the lexeme's end,"
    _title(picture, top, "kernels/mask/", crosses)
    stays = f"beside {known.n_inside:,} that stay in it: bit {bit} of word {word} of the bitmask is 1"
    picture.text(MARGIN, top + 32, stays, "soft", 11.5)
    side = (WIDTH - 2 * MARGIN) / WORD
    for number, is_allowed in enumerate(known.bits):
        left = MARGIN + number * side
        picture.box(left + 1, top + 42, side - 2, 18, "bar" if is_allowed else "empty", radius=2)
    x = MARGIN + (bit + 0.5) * side
    picture.frame(x - side / 2 - 1, top + 40, side + 2, 22, "ink", radius=3)
    first = known.token - bit
    picture.text(MARGIN, top + 77, f"token {first}", "soft", 11.5)
    picture.text(x, top + 77, str(known.token), size=11.5, anchor="middle", is_bold=True)
    picture.text(WIDTH - MARGIN, top + 77, str(first + WORD - 1), "soft", 11.5, anchor="end")
    return top + 77
