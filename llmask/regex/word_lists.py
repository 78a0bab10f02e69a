"""Long lists of words as a prefix tree of small nodes.

    do, dog, dot, cat:      d o ( "" | [gt] )  |  c a t

A union of 50,000 literals is one node, and each byte asks every literal for its derivative: 60 ms for one mask, and
again at each byte of a prefix that all share. Here words that begin alike share what they begin with, so a node has at
most one member a letter, and letters that the same rest follows become one set; equal rests are one node, so
`item-000000` to `item-999999` take seven. A minimal automaton (J. Daciuk et al., "Incremental construction of minimal
acyclic finite-state automata", Computational Linguistics 26, 2000) would share a little more, and its table would
have a row for every byte of every word that is like no other.

In: words, sorted. Out: a node. Cost: about 1 us a word of bytes, which kernels read; 6 us one of letters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from llmask.regex.utf8 import literal_word

if TYPE_CHECKING:
    from llmask.regex.nodes import RegexNodes

Word = TypeVar("Word", str, bytes)
FEW = 64  # words that a plain union serves as well


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
    nodes: RegexNodes,
    rests: dict[Any, list[Word]],
    spell: Callable[[Word], int],
    one_of: Callable[[list[Word]], int],
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
