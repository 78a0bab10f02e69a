r"""The tokens of a text that no later text can change: what may be kept of a prompt, and what may be forced.

Only two things reach back from later text: a token that begins in the text and ends after it (a merge over the end),
and a splitter that decides late (`\s+(?!\S)` gives the last blank of a run to the next word). Both show with a short
continuation, so the continuations that are tried are

    the rest of every token that begins with an end of the text: "na" is the end of "na|me", "nation|al", ...
    the same and some characters, where the token ends with one that may go to the next word
    every character that the splitter tells from others, and two of them
    one for each way in which the words so far may end (guesses.py)

and a token is certain when it is there, at its place, with each of them. In byte-pair encoding that is exact for
merges: neighbours decide, so a later text can change a token only where some token over the end fits after what is
before it, and then the rest of that token alone is a text that does it.

Words that are final already (kernels/encoders/bpe_incremental.py) are not looked at again.

In: an encoder, bytes. Out: token ids. Cost: encoding the continuations that are possible, 1 us each; none to some
thousands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache

import numpy as np

from ..kernels.machine.constants import (
    MAX_TOKEN_BYTES,
    TRIE_BYTE_MASK,
    TRIE_DEPTH_MASK,
    TRIE_DEPTH_SHIFT,
    TRIE_END_MASK,
    TRIE_END_SHIFT,
    TRIE_TOKEN_SHIFT,
)
from ..trie.layout import TokenTrie
from .bpe import BpeEncoder, unfinished
from .categories import N_CODE_POINTS
from .guesses import LaterWords, code_points_of, first_characters, later_words
from .pretokenize import Splitter
from .tables import address_of

Encode = Callable[[list[bytes]], list[list[int]]]
LONGEST_OPEN_WORD = 4096  # bytes; of a longer word nothing is certain
MOST_BYTES = 2**21  # of all continuations, the word before each included; beyond, nothing is certain of the word
FOLLOWERS = (b"a", b"e", b"l", b"1", b" ", b"\n", b'"', b",", b"'", "\u4e00".encode())
FEW = 16  # where no more ASCII characters are spelled than this, all are followers
LATE = b" \t\r\n'"  # a character that may go to the next word, or make a contraction: followers decide
_ROW_WIDTH, _END, _RESTART = 4, 0, 3  # of a row, see llmask/kernels/encoders/bpe_incremental.py


def certain_tokens(
    encoder: BpeEncoder,
    trie: TokenTrie,
    data: bytes,
    names: Sequence[bytes] = (),
    encode: Encode | None = None,
    may_end: bool = True,
    first_bytes: np.ndarray | None = None,
    allows: Callable[[bytes], bool] | None = None,
) -> list[int]:
    """Token ids that the encoding of every text that begins with `data` begins with.

    Parameters
    ----------
    trie : of the vocabulary's tokens.
    data : UTF-8, which may end inside of a character.
    names : texts that are cut out before anything else.
    encode : encodes texts, with names cut out; None: `encoder.encode_parts`.
    may_end : `data` may be the whole text.
    first_bytes : bool[256], with which bytes the text may go on; None: any.
    allows : whether the text may go on with some bytes; None: always.

    Raises
    ------
    VocabularyError : a byte that is no token.
    """
    encode = encode or encoder.encode_parts
    ids = encode([data[: len(data) - len(unfinished(data))]])[0]
    first, end = _between_names(encoder, ids, frozenset(names), len(data) - max(map(len, names), default=0))
    start = first + last_restart(encoder, data[first:end])
    before = _first_ids(encoder, ids, start)
    word = data[start:]
    if len(word) > LONGEST_OPEN_WORD:
        return before
    cut_off = unfinished(word)
    ends = [name[n:] for name in names for n in range(1, len(name)) if word.endswith(name[:n])]
    first_bytes = np.ones(256, bool) if first_bytes is None else first_bytes
    spelled = np.flatnonzero(encoder.tables.byte_tokens >= 0).astype(np.uint8).tobytes()
    followers = _followers(spelled)
    others = _all_probes(encoder.splitter, followers) if not cut_off else _probes(encoder.splitter, followers, cut_off)
    possible = [rest for rest in (*others, *ends, *names) if first_bytes[rest[0]]]
    over = dict.fromkeys(_rests(trie, word, first_bytes, _late_followers(spelled)))
    candidates = dict.fromkeys([*over, *possible])
    possible = [rest for rest in candidates if not rest.translate(None, spelled)]
    late: list[bytes] = []
    ways = None
    if encoder.splitter.automaton is not None:
        ways = later_words(encoder.splitter, spelled)
        if ways is None:
            return before
        late = ways.rests(word, cut_off, first_bytes)
    if not cut_off.isascii():
        possible = [rest for rest in possible if _is_text(cut_off + rest)]
    possible = late + possible
    if len(possible) * len(word) > MOST_BYTES:
        return before
    # a character may be completed by a token of its own, whatever the completions that are tried merge to
    certain: list[int] | None = encode([word])[0] if may_end or cut_off else None
    for rest, ids in zip(possible, encode([word + rest for rest in possible]), strict=True):
        if certain is not None and ids[: len(certain)] == certain:
            continue
        if allows is not None and rest not in late and not allows(rest):
            continue  # in place of one of `late` another text may be allowed that shows the same
        certain = _common(encoder, ids if certain is None else certain, ids, len(word))
        if not certain:
            break
    if certain and ways is not None and allows is not None:
        # only some texts were tried after tokens over the end that end late, and these need not be allowed
        for rest in dict.fromkeys(possible):
            if rest in over and rest[-1] in LATE and allows(rest):
                certain = _certain_after(encoder, ways, encode, allows, word, rest, certain)
    return before + (certain or [])


def _certain_after(
    encoder: BpeEncoder,
    ways: LaterWords,
    encode: Encode,
    allows: Callable[[bytes], bool],
    word: bytes,
    rest: bytes,
    certain: list[int],
) -> list[int]:
    """The tokens of a word that stay, however words may end after the rest of a token."""
    cut_off = unfinished(word + rest)
    every = np.ones(256, bool)
    for more in ways.rests(word + rest, cut_off, every):
        if encode([word + rest + more])[0][: len(certain)] != certain:
            allowed = np.array([allows(rest + bytes([byte])) for byte in range(256)])
            for likely in ways.rests(word + rest, cut_off, allowed):
                certain = _common(encoder, certain, encode([word + rest + likely])[0], len(word))
            break
    return certain


def last_restart(encoder: BpeEncoder, data: bytes) -> int:
    """Where the last word begins that later text might change."""
    if encoder.splitter.automaton is None:
        return 0
    rows = np.empty((len(data) + 2, _ROW_WIDTH), np.int32)
    tables = encoder.tables
    n_rows = tables.doors.measure_words(tables.address, address_of(data), len(data), 1, rows.ctypes.data, 0, len(rows))
    final = np.flatnonzero(rows[: max(n_rows, 0), _RESTART])
    return int(rows[final[-1], _END]) if len(final) else 0


def _between_names(encoder: BpeEncoder, ids: list[int], names: frozenset[bytes], settled: int) -> tuple[int, int]:
    """The last stretch without a name of the first bytes, which no name has a part of that is not complete yet."""
    first = spelled = 0
    for token in ids if names else ():
        spelling = encoder.spelling(token)
        spelled += len(spelling)
        if spelling in names:
            if spelled > settled:
                return first, max(min(settled, spelled - len(spelling)), first)
            first = spelled
    return first, max(settled, first)


def _first_ids(encoder: BpeEncoder, ids: list[int], n_bytes: int) -> list[int]:
    r"""The ids that spell the first bytes of a text, which end with a word that is final.

    Those bytes alone may be split otherwise: of " \n\n:" the last line end is a word, " \n\n" is one by itself.
    """
    n = spelled = 0
    while spelled < n_bytes and n < len(ids):
        spelled += len(encoder.spelling(ids[n]))
        n += 1
    return ids[:n]


def _common(encoder: BpeEncoder, left: list[int], right: list[int], n_bytes: int) -> list[int]:
    """The first ids that two lists share, as far as they spell the first `n_bytes`."""
    n, spelled = 0, 0
    for one, other in zip(left, right, strict=False):
        spelled += len(encoder.spelling(one))
        if one != other or spelled > n_bytes:
            break
        n += 1
    return left[:n]


def _is_text(data: bytes) -> bool:
    """Whether some text begins with these bytes."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.end == len(data) and error.reason == "unexpected end of data"
    return True


@cache
def _followers(spelled: bytes) -> tuple[bytes, ...]:
    """Characters that may follow others: of many some will do, where few are spelled each may have a reason."""
    return tuple(dict.fromkeys((*FOLLOWERS, *(bytes([byte]) for byte in spelled if byte < 0x80 and _is_few(spelled)))))


def _is_few(spelled: bytes) -> bool:
    return sum(byte < 0x80 for byte in spelled) <= FEW


@cache
def _late_followers(spelled: bytes) -> tuple[bytes, ...]:
    r"""What may follow a token that ends late: a character, or blanks and a character.

    Before a single character the last blank of the token may go elsewhere, whatever it is: it merges with the
    character, or is taken into the character's word, or is cut off (`\s+$`), because the character is a word that is
    cut out before, or a name. A second blank keeps the first one where it is; where few characters are spelled, that
    blank may merge with each of them, and it takes a third one.
    """
    most_blanks = 2 if _is_few(spelled) else 1
    return tuple(b" " * n + character for n in range(most_blanks + 1) for character in _followers(spelled))


def _rests(trie: TokenTrie, word: bytes, first_bytes: np.ndarray, followers: Sequence[bytes]) -> Iterator[bytes]:
    """What is missing of every token that begins with an end of the word and goes on with one of some bytes."""
    for first in range(max(0, len(word) - MAX_TOKEN_BYTES), len(word)):
        node = find_node(trie, word[first:])
        if node < 0:
            continue
        for child in range(int(trie.child_first[node]), int(trie.child_first[node + 1])):
            if first_bytes[trie.child_byte[child]]:
                for rest in _spellings(trie, int(trie.child_node[child])):
                    yield rest
                    if rest[-1] in LATE or b"'" in rest:
                        yield from (rest + follower for follower in followers)


def _spellings(trie: TokenTrie, root: int) -> Iterator[bytes]:
    """Bytes from the edge into a node on, of every token at or below it."""
    end = int(trie.node[root]) >> TRIE_END_SHIFT & TRIE_END_MASK
    words = trie.node[root:end]
    token_bytes = (words & TRIE_BYTE_MASK).tolist()
    depths = (words >> TRIE_DEPTH_SHIFT & TRIE_DEPTH_MASK).tolist()
    is_token = (words >> TRIE_TOKEN_SHIFT != 0).tolist()
    path = bytearray()
    for byte, depth, is_end in zip(token_bytes, depths, is_token, strict=True):
        del path[depth - depths[0] :]
        path.append(byte)
        if is_end:
            yield bytes(path)


def find_node(trie: TokenTrie, data: bytes) -> int:
    """Node of the trie that some bytes lead to, -1 where they leave the trie."""
    nodes = trie.path(data)
    return nodes[-1] if len(nodes) > len(data) else -1


@cache
def _all_probes(splitter: Splitter, followers: tuple[bytes, ...]) -> list[bytes]:
    return _probes(splitter, followers, b"")


def _probes(splitter: Splitter, followers: tuple[bytes, ...], cut_off: bytes) -> list[bytes]:
    """Characters that begin with some bytes, without these: one of each class; and what may follow them."""
    if not cut_off:
        found = [bytes([byte]) for byte in range(128)]
        low, high = 128, N_CODE_POINTS
    else:
        found = []
        low, high = code_points_of(cut_off)
    if splitter.automaton is not None:
        found += [chr(code_point).encode()[len(cut_off) :] for code_point in first_characters(splitter, low, high)]
    return found + [character + follower for character in found for follower in followers]
