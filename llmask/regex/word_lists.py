"""Long lists of words as nodes, and text that ends where one of some words is complete, as before a tool call.

A list is a prefix tree of small nodes:

    do, dog, dot, cat:      d o ( "" | [gt] )  |  c a t

A union of 50,000 literals is one node, and each byte asks every literal for its derivative: 60 ms for one mask, and
again at each byte of a prefix that all share. Here words that begin alike share what they begin with, so a node has at
most one member a letter, and letters that the same rest follows become one set; equal rests are one node, so
`item-000000` to `item-999999` take seven. A minimal automaton (J. Daciuk et al., "Incremental construction of minimal
acyclic finite-state automata", Computational Linguistics 26, 2000) would share a little more, and its table would
have a row for every byte of every word that is like no other.

In text the strings are found by the automaton of A. Aho and M. Corasick ("Efficient string matching: an aid to
bibliographic search", Communications of the ACM 18, 1975), run together with one that reads well-formed UTF-8 only. For
triggers t and excluded strings x:

    text        no t and no x is in it
    until[t]    ends with t, which begins before any trigger is complete; no x is in it

So a text that could be the beginning of a trigger may go on as one or as text, and a trigger that is complete ends it.
Where triggers overlap:

    "ab", "xab"     complete together: `xab` ends until["xab"] only, the longer one
    "ab", "abc"     until["ab"] ends at `ab`; until["abc"] may go on there, and text may not
    "bc", "abcd"    likewise: at `abc`, until["bc"] ends, and until["abcd"] may still be reached

In: strings. Out: nodes. Cost: about 1 us a word of bytes, which kernels read, 6 us one of letters; of text 0.2 us a
state and byte class, remembered in `nodes.memo`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from llmask.errors import LimitExceeded
from llmask.regex.utf8 import literal_word
from llmask.work import spend

if TYPE_CHECKING:
    from llmask.regex.nodes import RegexNodes

Word = TypeVar("Word", str, bytes)
FEW = 64  # words that a plain union serves as well
MOST_ENTRIES = 2**22  # of all tables together, 4 bytes each
NOTHING = -1  # no trigger; no state

# Well-formed UTF-8: for each state, ranges of bytes and where they lead. State 0 is the end of a character.
# Source: The Unicode Standard 16.0, section 3.9, table 3-7.
UTF8 = (
    (
        *((0x00, 0x7F, 0), (0xC2, 0xDF, 1), (0xE0, 0xE0, 4), (0xE1, 0xEC, 2), (0xED, 0xED, 5), (0xEE, 0xEF, 2)),
        *((0xF0, 0xF0, 6), (0xF1, 0xF3, 3), (0xF4, 0xF4, 7)),
    ),
    ((0x80, 0xBF, 0),),
    ((0x80, 0xBF, 1),),
    ((0x80, 0xBF, 2),),
    ((0xA0, 0xBF, 1),),
    ((0x80, 0x9F, 1),),
    ((0x90, 0xBF, 2),),
    ((0x80, 0x8F, 2),),
)
BORDERS = {bound for ways in UTF8 for low, high, _ in ways for bound in (low, high + 1)}
KINDS = [sum(byte >= border for border in BORDERS) for byte in range(256)]  # of bytes that UTF-8 does not tell apart
FEW_WORK = 300  # units for the automaton of a few words


def literals_node(nodes: RegexNodes, words: Sequence[bytes]) -> int:
    """Node of the byte strings `words`, in any order.

    Examples
    --------
    >>> node = literals_node(nodes, [b"do", b"dog", b"dot", b"cat"])
    >>> nodes.matches(node, b"dog"), nodes.matches(node, b"dogt")
    (True, False)
    """
    if len(words) == 1:
        return nodes.literal(words[0])
    key = (__name__, *words)  # large schemas repeat their lists
    found = nodes.memo.get(key)
    if found is None:
        if len(words) <= FEW:
            found = nodes.union([nodes.literal(word) for word in words])
            note_stems(nodes, found, words)
        else:
            found = nodes.words(sorted(set(words)))
        nodes.memo[key] = found
    return int(found)


def note_stems(nodes: RegexNodes, node: int, stems: Sequence[bytes]) -> None:
    """Remember a few texts; each text of the node begins with one of them."""
    nodes.memo[__name__, "stems", node] = stems


def stems_of(nodes: RegexNodes, node: int) -> Sequence[bytes]:
    """What `note_stems` was told, or the text of a literal; else nothing."""
    word = literal_word(nodes, node)
    return nodes.memo.get((__name__, "stems", node), ()) if word is None else (word,)


def words_node(
    nodes: RegexNodes, words: Sequence[Word], spell: Callable[[Word], int], one_of: Callable[[list[Word]], int]
) -> int:
    """Node of every spelling of each of `words`, as `RegexNodes.words` makes that of the words themselves.

    Parameters
    ----------
    words : distinct, ascending, at least one.
    spell : node of a piece of a word, letter after letter.
    one_of : node of any of some letters.
    """
    # A branch is a place where words part: its depth in letters, and for each rest the letters that lead to it. A
    # rest is what is left of one word (None after its last letter), or a piece and the node of what several have left
    # after it. Open branches lie on the path to the word at hand, the deepest last.
    branches: list[tuple[int, dict[Any, list[Word]]]] = []
    made: dict[Any, int] = {}  # branches that are alike are made once
    last = len(words) - 1
    before = 0
    for at, word in enumerate(words):
        beyond = n_common(word, words[at + 1]) if at < last else 0
        depth = before if before > beyond else beyond
        if not branches or branches[-1][0] < depth:
            branches.append((depth, {}))
        branches[-1][1].setdefault(word[depth + 1 :] if len(word) > depth else None, []).append(word[depth : depth + 1])
        while branches[-1][0] > beyond:
            depth, rests = branches.pop()
            if not branches or branches[-1][0] < beyond:
                branches.append((beyond, {}))
            above, others = branches[-1]
            rest = word[above + 1 : depth], _branch(nodes, rests, spell, one_of, made)
            others.setdefault(rest, []).append(word[above : above + 1])
        before = beyond
    return _branch(nodes, branches[0][1], spell, one_of, made)


def _branch(
    nodes: RegexNodes,
    rests: dict[Any, list[Word]],
    spell: Callable[[Word], int],
    one_of: Callable[[list[Word]], int],
    made: dict[Any, int],
) -> int:
    key = *rests, *map(tuple, rests.values())
    found = made.get(key)
    if found is None:
        found = made[key] = _new_branch(nodes, rests, spell, one_of)
    return found


def _new_branch(
    nodes: RegexNodes, rests: dict[Any, list[Word]], spell: Callable[[Word], int], one_of: Callable[[list[Word]], int]
) -> int:
    members = []
    for rest, letters in rests.items():
        if rest is None:
            members.append(nodes.EPSILON)
            continue
        piece, node = rest if type(rest) is tuple else (rest, nodes.EPSILON)
        if len(letters) == 1:
            first = spell(letters[0] + piece)
            members.append(nodes.concat([first, node]) if node != nodes.EPSILON else first)
        else:
            members.append(nodes.concat([one_of(letters), spell(piece), node]))
    return nodes.union(members) if len(members) > 1 else members[0]


def n_common(one: Word, other: Word) -> int:
    """Letters that two words begin with alike."""
    low, high = 0, min(len(one), len(other))
    if one[:high] == other[:high]:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle
    return low


class FreeText(NamedTuple):
    """Nodes: of text, and of what ends with each trigger, `EMPTY` for one that is never complete."""

    text: int
    until: tuple[int, ...]


def free_text(nodes: RegexNodes, triggers: Sequence[bytes], excluded: Sequence[bytes] = ()) -> FreeText:
    """Nodes of text around triggers; see the module.

    Parameters
    ----------
    triggers : different strings of UTF-8, none of them empty.
    excluded : strings that stand nowhere in it, none of them empty. A trigger that holds one is never complete.

    Raises
    ------
    LimitExceeded : the strings are too many or too long.

    Examples
    --------
    >>> found = free_text(nodes, [b"<f="])
    >>> nodes.matches(found.text, b"a <f b"), nodes.matches(found.until[0], b"a <f<f=")
    (True, True)
    """
    key = (__name__, tuple(triggers), tuple(excluded))
    found: FreeText | None = nodes.memo.get(key)
    if found is None:
        found = nodes.memo[key] = _made(nodes, triggers, excluded)
    return found


def _made(nodes: RegexNodes, triggers: Sequence[bytes], excluded: Sequence[bytes]) -> FreeText:
    assert all((*triggers, *excluded)), "frontends refuse these"
    assert len(set(triggers)) == len(triggers), "whoever calls puts together what shares a trigger"
    words = _Words(triggers, excluded)
    n_entries = (len(triggers) + 1) * len(words.complete) * words.n_classes
    if n_entries > MOST_ENTRIES:
        raise LimitExceeded(
            f"{len(triggers)} triggers and {len(excluded)} excluded strings of "
            f"{sum(map(len, (*triggers, *excluded)))} bytes take a table of {n_entries} entries, more than "
            f"{MOST_ENTRIES}",
            help="let the tags share a trigger: a shorter one that they all begin with",
        )
    spend(FEW_WORK + n_entries // 16 + len(words.complete) * words.n_classes // 4)
    table, ends, is_text = words.automaton()
    return FreeText(
        nodes.dfa(words.class_of_byte, table, is_text),
        tuple(nodes.dfa(words.class_of_byte, table, ends == number) for number in range(len(triggers))),
    )


class _Words:
    """The automaton of some strings.

    Attributes
    ----------
    children : of each beginning of a string, by byte; the empty one is 0.
    class_of_byte, n_classes : bytes that are in no string and that UTF-8 does not tell apart are in one class.
    follows : for each beginning and class, the longest beginning that a text ends with after such a byte.
    complete : the longest trigger that a beginning ends with, or NOTHING.
    depth : bytes of a beginning.
    is_refused : whether it ends with an excluded string.
    """

    def __init__(self, triggers: Sequence[bytes], excluded: Sequence[bytes]) -> None:
        self.children: list[dict[int, int]] = [{}]
        self.complete = [NOTHING]
        self.depth = [0]
        self.is_refused = [False]
        self.lengths = [len(word) for word in triggers]
        for number, word in enumerate(triggers):
            self.complete[self._enter(word)] = number
        for word in excluded:
            self.is_refused[self._enter(word)] = True
        used = {byte for children in self.children for byte in children}
        kinds = [(byte if byte in used else NOTHING, kind) for byte, kind in enumerate(KINDS)]
        numbers = {kind: number for number, kind in enumerate(dict.fromkeys(kinds))}
        self.class_of_byte = np.array([numbers[kind] for kind in kinds], np.uint8)
        self.n_classes = len(numbers)
        self._link()

    def _enter(self, word: bytes) -> int:
        at = 0
        for byte in word:
            if byte not in self.children[at]:
                self.children[at][byte] = len(self.children)
                self.children.append({})
                self.complete.append(NOTHING)
                self.depth.append(self.depth[at] + 1)
                self.is_refused.append(False)
            at = self.children[at][byte]
        return at

    def _link(self) -> None:
        self.follows = np.zeros((len(self.children), self.n_classes), np.int32)
        shorter = [0] * len(self.children)  # the longest other beginning that one ends with
        order = [0]
        for at in order:
            if at:
                self.follows[at] = self.follows[shorter[at]]
                self.is_refused[at] |= self.is_refused[shorter[at]]
                if self.complete[at] == NOTHING:
                    self.complete[at] = self.complete[shorter[at]]
            for byte, child in self.children[at].items():
                letter = self.class_of_byte[byte]
                shorter[child] = int(self.follows[at, letter])
                self.follows[at, letter] = child
                order.append(child)

    def automaton(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.bool_]]:
        """Next states by class, the trigger that is complete in each state, and whether text may end there.

        A state is a beginning, a state of UTF-8, and how many bytes ago a trigger was complete for the first time, or
        NOTHING: a beginning that is not longer than that began too late.
        """
        examples = {int(letter): byte for byte, letter in enumerate(self.class_of_byte)}
        utf8 = [
            [next((to for low, high, to in ways if low <= byte <= high), NOTHING) for byte in examples.values()]
            for ways in UTF8
        ]
        letters = list(examples)
        start = (0, 0, NOTHING)
        numbers = {start: 0}
        ends, rows = [NOTHING], []
        order = [start]
        for at, place, ago in order:
            row = [NOTHING] * self.n_classes
            rows.append(row)
            for letter, to in zip(letters, utf8[place], strict=True):
                target = int(self.follows[at, letter])
                since = NOTHING if ago == NOTHING else ago + 1
                if to == NOTHING or self.is_refused[target] or self.depth[target] <= since:
                    continue
                end = self.complete[target]
                if end != NOTHING and self.lengths[end] <= since:
                    end = NOTHING
                if end != NOTHING and since == NOTHING:
                    since = 0
                state = (target, to, since)
                if state not in numbers:
                    numbers[state] = len(numbers)
                    ends.append(end)
                    order.append(state)
                row[letter] = numbers[state]
        is_text = np.array([place == 0 and ago == NOTHING for _, place, ago in order])
        return np.array(rows, np.int32), np.array(ends, np.int32), is_text
