"""The architecture: which folder of llmask/ makes what, from a grammar and a tokenizer to the mask of a token.

In: names of folders, which `tests/house/test_pictures.py` looks for in the tree. Out: the picture. Cost: none.
"""

from __future__ import annotations

from typing import NamedTuple

from .svg import WIDTH, Picture

LEFT = 28
COLUMN = 132  # three of them, inside of the frame
GAP = 16
STEP = COLUMN + GAP
PADDING = 8
INSET = 12  # of boxes inside of the frame
ALL = 3 * COLUMN + 2 * GAP
assert LEFT + ALL + INSET < WIDTH


class Box(NamedTuple):
    """Folders side by side with others, and what is there."""

    column: int
    n_columns: int
    role: str
    folders: tuple[str, ...]
    texts: tuple[str, ...]


NOTATIONS = ("JSON Schema, regex, Lark, GBNF, EBNF,", "structural tags, tools: read into rules")
READ = (
    Box(0, 2, "given", ("frontends/",), NOTATIONS),
    Box(2, 1, "given", ("vocabulary/", "tokenizer/"), ("token id → bytes",)),
)
BUILT = (
    Box(0, 1, "fixed", ("grammar/",), ("rules, as networks", "of states")),
    Box(1, 1, "fixed", ("regex/",), ("regexes over bytes,", "one a lexeme")),
    Box(2, 1, "fixed", ("trie/",), ("bytes of all tokens,", "flat, depth-first")),
)
ENGINE = (
    Box(0, 1, "lazy", ("kernels/parser/",), ("row: a set of Earley", "items, interned;", "row × lexeme → row")),
    Box(1, 1, "lazy", ("kernels/lexer/",), ("state: a derivative", "of each live lexeme;", "state × byte → state")),
    Box(2, 1, "lazy", ("kernels/", "lexeme_masks/"), ("in-lexeme mask of a", "state: slices, trie")),
)
USED = (
    Box(0, 1, "mask", ("matching/",), ("a sequence: the list", "of its configurations;", "accept, rollback")),
    Box(1, 1, "mask", ("mask/",), ("bitmask, one bit a", "token; logits of the", "refused become −∞")),
    Box(2, 1, "given", ("samplers/", "integrations/"), ("transformers, vLLM,", "SGLang, your loop")),
)
LEGEND = (
    ("given", "from and to others"),
    ("fixed", "built once"),
    ("lazy", "built when needed"),
    ("mask", "each step"),
)


def drawn() -> str:
    """The picture."""
    picture = Picture(
        "From a grammar and a tokenizer to a mask",
        "Folders of llmask/, from the top down. frontends/ reads JSON Schema, regex, Lark, GBNF, EBNF, structural tags "
        "and tools into rules, grammar/, and regexes, regex/. vocabulary/ and tokenizer/ give the bytes of tokens, "
        "trie/ holds them. kernels/ is compiled and builds what is first needed: rows of the parser from the rules, "
        "states of the lexer from the regexes, and from states and the trie the tokens that stay in a lexeme. A row "
        "and a lexer state make a configuration. Its mask is the tokens that stay in the lexeme and those that cross "
        "its end. matching/ keeps the configurations of a sequence, mask/ applies the bitmask to logits, samplers/ "
        "and integrations/ do so in frameworks and servers.",
    )
    top = _row(picture, READ, 16, 62)
    _down(picture, top, (0, 1, 2))
    top = _row(picture, BUILT, top + GAP, 62)
    frame_top = top + 8
    _down(picture, top, (0, 1, 2), 8 + INSET)
    engine_top = frame_top + INSET
    engine_end = _row(picture, ENGINE, engine_top, 76)
    _down(picture, engine_end, (0, 1))
    middle = engine_top + 38
    picture.arrow((LEFT + STEP, middle), (LEFT + COLUMN + 2, middle))
    picture.arrow((LEFT + STEP + COLUMN, middle), (LEFT + 2 * STEP - 2, middle))

    mask_top = _configuration(picture, engine_end + GAP) + GAP
    _down(picture, mask_top - GAP, (0,))
    _down(picture, engine_end, (2,), mask_top - engine_end)
    frame_end = _mask(picture, mask_top) + 28
    picture.frame(LEFT - INSET, frame_top, ALL + 2 * INSET, frame_end - frame_top, "lazy", 8, is_dashed=True)
    picture.text(LEFT + PADDING, frame_end - 10, "store/", is_mono=True, is_bold=True)
    kept = "keeps what compiled kernels build, when it is first needed"
    picture.text(LEFT + PADDING + 53, frame_end - 10, kept, size=11.5)

    _down(picture, frame_end, (0, 1))
    top = _row(picture, USED, frame_end + GAP, 78)
    middle = top - 39
    picture.arrow((LEFT + COLUMN, middle), (LEFT + STEP - 2, middle))
    picture.arrow((LEFT + STEP + COLUMN, middle), (LEFT + 2 * STEP - 2, middle))
    for (role, text), x in zip(LEGEND, (0, 140, 227, 364), strict=True):
        picture.box(LEFT + x, top + 13, 11, 11, role, role, radius=2)
        picture.text(LEFT + x + 16, top + 23, text, "soft", 11.5)
    return picture.written(top + 36)


def _row(picture: Picture, boxes: tuple[Box, ...], top: float, height: float) -> float:
    """Draws boxes side by side; where they end."""
    for box in boxes:
        left, width = LEFT + box.column * STEP, (box.n_columns - 1) * STEP + COLUMN
        picture.box(left, top, width, height, box.role, box.role)
        room = width - PADDING
        for number, folder in enumerate(box.folders):
            picture.text(left + PADDING, top + 18 + 15 * number, folder, is_mono=True, is_bold=True, room=room)
        picture.lines(left + PADDING, top + 20 + 15 * len(box.folders), box.texts, room, size=11.5)
    return top + height


def _configuration(picture: Picture, top: float) -> float:
    picture.box(LEFT, top, STEP + COLUMN, 46, "lazy", "lazy")
    picture.text(LEFT + PADDING, top + 19, "configuration: a row and a lexer state", is_bold=True)
    picture.text(LEFT + PADDING, top + 36, "the mask is a function of it, kept with it", size=11.5)
    return top + 46


def _mask(picture: Picture, top: float) -> float:
    picture.box(LEFT, top, ALL, 46, "lazy", "lazy")
    picture.text(LEFT + PADDING, top + 18, "kernels/mask/", is_mono=True, is_bold=True)
    picture.text(LEFT + PADDING + 106, top + 18, "tokens that stay in the lexeme", size=11.5)
    crossing = "+ tokens that cross its end: on through the trie, from row to row"
    picture.text(LEFT + PADDING, top + 36, crossing, size=11.5)
    return top + 46


def _down(picture: Picture, top: float, columns: tuple[int, ...], length: float = GAP) -> None:
    """Arrows downwards, in the middle of columns."""
    for column in columns:
        x = LEFT + column * STEP + COLUMN / 2
        picture.arrow((x, top), (x, top + length - 2))
