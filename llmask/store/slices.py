"""The slices of a tokenizer: families of tokens whose masks are computed once.

JSON's slices hold the tokens of 1 to k code points that may be unescaped in a string, for a few k. A string body
with room for k more code points copies the mask of the largest slice that fits and walks the trie of the other tokens
only. A string of a bounded length takes the mask without a bound, less the tokens that are longer than its room.

The others are for what is not JSON: text without the characters that triggers, ends of strings and comments, and
escapes begin with. Of 274,520 nodes of the trie of Llama 3 they leave to the walk

    FREE_TEXT       4,700   without `<[{` and control characters: free text before most triggers
    PLAIN_TEXT     17,500   nor quotes, asterisks, ends of lines, ...: comments, string literals, Markdown
    ASCII_TEXT     82,800   of those only ASCII: string literals of C; most of what is left dies at its first byte
    WORDS          63,100   no punctuation of ASCII at all
    NO_CAPITALS    99,500   free text in which a word is excluded (STOP), or a trigger ("Action:")
    NAMES         216,300   letters and digits of ASCII only: patterns of names; what begins with a blank dies at once

so that the trie is walked as a whole only where a trigger or an excluded word begins with a small letter, once for each
such text (tests/properties/test_free_text.py counts). Users may add more: speed changes, and no bit.

In: a tokenizer, the nodes of a store. Out: arrays and a table. Cost: see `bench/startup.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from ..errors import GrammarError
from ..frontends.regex import compile_pattern
from ..kernels.tables.operations import Operation
from ..kernels.tables.store_layout import STORE
from ..regex.code_points import TEXT, CodePointSet
from ..regex.nodes import UNBOUNDED
from ..regex.utf8 import utf8_char

if TYPE_CHECKING:
    from ..regex.nodes import RegexNodes
    from ..tokenizer.tokenizer import Tokenizer

Run = Callable[..., int]

# without U+2028 and U+2029, which the dot of a pattern refuses: a bounded `.{0,200}` walked the whole trie
JSON_RAW = CodePointSet.from_ranges(
    [(0x20, 0x21), (0x23, 0x5B), (0x5D, 0x7E), (0x80, 0x2027), (0x202A, 0xD7FF), (0xE000, 0x10FFFF)]
)
MOST_CODE_POINTS = (UNBOUNDED, 30, 10, 6)
JSON_TEXT = JSON_RAW.subtract(CodePointSet.of("<["))
CONTROLS = CodePointSet.from_ranges([(0, 8), (11, 12), (14, 31)])
FREE_TEXT = TEXT.subtract(CONTROLS).subtract(CodePointSet.of("<[{"))
PLAIN_TEXT = FREE_TEXT.subtract(CodePointSet.of("\"'`\\*#$\n\r/]|}>&%~^@"))
NO_CAPITALS = FREE_TEXT.subtract(CodePointSet.from_ranges([(0x41, 0x5A)]))
ASCII_TEXT = PLAIN_TEXT.subtract(CodePointSet.from_ranges([(0, 31), (127, 0x10FFFF)]))
WORDS = PLAIN_TEXT.subtract(CodePointSet.of("!()+,-.:;=?_\t"))
NAMES = CodePointSet.from_ranges([(0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)])
WRITTEN = r"(?P<char>(?s:.+?))(?:\+|\{1,(?P<most>[0-9]{1,9})\})"
# characters of the tokens of a slice, and how many of them at most
SLICES = (
    *((JSON_RAW, most) for most in MOST_CODE_POINTS),
    *((JSON_TEXT, most) for most in MOST_CODE_POINTS[:3]),
    *((members, UNBOUNDED) for members in (FREE_TEXT, PLAIN_TEXT, ASCII_TEXT, WORDS, NO_CAPITALS, NAMES)),
)


class SliceArrays(NamedTuple):
    """One slice; it depends on the vocabulary only and is shared by all stores of a tokenizer.

    most    code points of a token, at most; UNBOUNDED for no bound
    mask    uint8[4 * n_words], bits of its tokens
    n_tokens
    rest    int64[n], trie words of all other tokens
    main    int32[n], the same nodes in the whole trie
    lengths int32[2 + longest], code points of the longest token, then how many tokens have more than 0, 1, ...
    longer  int32[n_tokens], its tokens, the longest first; of the first slice, empty in others
    """

    most: int
    mask: npt.NDArray[np.uint8]
    n_tokens: int
    rest: npt.NDArray[np.int64]
    main: npt.NDArray[np.int32]
    lengths: npt.NDArray[np.int32]
    longer: npt.NDArray[np.int32]


_NONE = np.zeros(0, np.int32)
_made: WeakKeyDictionary[Tokenizer, dict[tuple[str, ...], list[SliceArrays]]] = WeakKeyDictionary()


def slices_of(
    tokenizer: Tokenizer, nodes: RegexNodes, run: Run, others: tuple[str, ...] = ()
) -> tuple[list[SliceArrays], npt.NDArray[np.int64]]:
    """The slices of a tokenizer, and the table by which kernels find them: int64[n_slices, SLICE_FIELDS].

    Parameters
    ----------
    run : runs an operation of `kernels.engine.build` on the store, see `store.Builder.run`.
    others : slices besides the ones of this module, as `read_slice` reads them.

    Raises
    ------
    GrammarError : one of them is malformed.
    """
    wanted = [(utf8_char(nodes, members), most) for members, most in SLICES]
    wanted += [read_slice(nodes, text) for text in others]
    nodes.mark_units(wanted[0][0], False)
    nodes.mark_units(utf8_char(nodes, JSON_TEXT), False)
    made = _made.setdefault(tokenizer, {})
    if others not in made:
        made[others] = _make(tokenizer, run, wanted)
    table = np.array(
        [
            (
                *(char, part.most, part.mask.ctypes.data, part.n_tokens, part.rest.ctypes.data, len(part.rest)),
                *(array.ctypes.data for array in (part.main, part.lengths, part.longer)),
            )
            for (char, _), part in zip(wanted, made[others], strict=True)
        ],
        np.int64,
    )
    assert table.shape[1] == STORE.record("slices").n_fields
    return made[others], table


def read_slice(nodes: RegexNodes, text: str) -> tuple[int, int]:
    r"""The node of one character, and how many there may be, of a slice such as `[^*\n]+` or `[a-z]{1,10}`.

    Raises
    ------
    GrammarError : it is not one class of characters and their number.
    """
    found = re.fullmatch(WRITTEN, text) if isinstance(text, str) else None
    if found is None:
        raise GrammarError(f"{text!r} is no slice", help="write a class of characters and + or {1,n}: [^*]+")
    char = compile_pattern(nodes, found["char"])
    if nodes.is_empty(char) or not nodes.is_empty(
        nodes.without(char, [utf8_char(nodes, TEXT)])
    ):  # words of a prefix code: kernels/lexeme_masks/slice_choice.py follows one after the other
        raise GrammarError(f"{found['char']!r} is not one character", help="write a class of characters: [^*]")
    most = int(found["most"] or UNBOUNDED)
    if not 0 < most <= UNBOUNDED:
        raise GrammarError(f"a slice cannot have {most} characters", help="write a number from 1")
    return char, most


def _make(tokenizer: Tokenizer, run: Run, wanted: list[tuple[int, int]]) -> list[SliceArrays]:
    """Slices, by the node of their character and the most of them; the rest of a small one has that of larger ones."""
    # by character: its strings in each token that is nothing else, 0 for others
    counts = {char: np.zeros(tokenizer.vocab_size, np.int32) for char, _ in wanted}
    for char, found in counts.items():
        run(Operation.COUNT_CHARACTERS, char, data=found)
    chosen = [(counts[char] > 0) & (counts[char] <= most) for char, most in wanted]
    sizes = [int(np.count_nonzero(tokens)) for tokens in chosen]
    masks = [np.packbits(np.pad(tokens, (0, -len(tokens) % 32)), bitorder="little") for tokens in chosen]
    trie = tokenizer._parts.trie
    rest, main = np.empty(trie.n_nodes, np.int64), np.empty(trie.n_nodes, np.int32)
    made: dict[int, tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]] = {}
    for i in sorted(range(len(wanted)), key=lambda i: sizes[i]):
        held = [made[other] for other in made if not (masks[other] & ~masks[i]).any()]
        words, nodes = min(held or [(trie.node, np.arange(trie.n_nodes, dtype=np.int32))], key=lambda one: len(one[0]))
        addresses = [array.ctypes.data for array in (rest, main, words, nodes)]
        numbers = np.array([*addresses, len(words)], np.int64)
        n_rest = run(Operation.WRITE_REST, numbers.ctypes.data, data=masks[i].view(np.int32))
        made[i] = rest[:n_rest].copy(), main[:n_rest].copy()
    by_length = [_by_length(counts[wanted[0][0]]), *[(_NONE, _NONE)] * (len(wanted) - 1)]
    return [SliceArrays(most, masks[i], sizes[i], *made[i], *by_length[i]) for i, (_, most) in enumerate(wanted)]


def _by_length(counts: npt.NDArray[np.int32]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """`lengths` and `longer` of the tokens that have any of the characters that were counted."""
    longest = int(counts.max(initial=0))
    n_of_length = np.bincount(counts, minlength=longest + 1)[1:]
    n_longer = np.append(n_of_length[::-1].cumsum()[::-1], 0)
    tokens = np.argsort(-counts, kind="stable")[: int(n_longer[0])]
    return np.array([longest, *n_longer], np.int32), tokens.astype(np.int32)
