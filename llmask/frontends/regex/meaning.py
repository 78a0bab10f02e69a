r"""From the tree of a pattern to a node.

Without anchors and look-arounds a tree is its node, part by part. A tree that looks around is built from its end,
with what follows at hand (the *tails*, one a state of the text on the left): x(?=y)z is x . ((y ALL) & z) once z is
known, and (?!y) intersects with the complement. Lookbehinds, `^` and `\b` choose the tail by the state. Both are
exact, in any place and any nesting; only loops around them (`equations`) and atomic groups (`atomic`) need more.

After a look-around any bytes may follow, not only text: no character is the start of another's spelling, so within
the tail both say the same, and once (?!y) is broken nothing is left, x & not(ALL), which needs no search to be known.

Complements are sound in JSON strings too: every tail consists of whole spelled characters, and a node for a set of
texts holds every spelling of each of them, so whether not(X) holds depends on the text and not on its spelling.

*Atomic groups* and possessive quantifiers: the first match counts, and no other. `re` tries the ways to match in an
order, and `(?>X)` keeps the first that succeeds: `(?>a|ab)c` never matches "abc". So for each part of X two things are
kept, one a state of the text on the left: before which rests of the text the part and all after it in the group
*succeed*, S, and before which of them the first way to succeed leads to a match of the whole pattern, R.

    after the group    S = ALL          R = what may follow
    character c         c S              c R
    A B                 of B, then of A
    A|B                 S_A | S_B        R_A | (R_B - S_A)
    A* = A A*|()        the same, with an equation for R; a lazy loop is ()|A A*

A loop whose body may match nothing has no such order (`re` leaves it after an empty round), so parsers refuse it in a
group. Lost: single characters, `a*+`, as `a*(?!a)`: it is what comes out here, for them alone.
Source: M. Berglund, B. van der Merwe, B. Watson, N. Weideman, "On the Semantics of Atomic Subgroups in Practical
Regular Expressions", CIAA 2017; CPython Modules/_sre/sre_lib.h for the order.

In: a tree. Out: a node. Cost: a few calls on `nodes` a part, bounded by STEPS.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence as Items
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from llmask.frontends.regex.equations import Alphabet, Budget, Equations, Kind, LeftContext, Spelling, Tail
from llmask.frontends.regex.shapes import (
    ANY_TEXT,
    Alternatives,
    Atomic,
    Boundary,
    Chars,
    Edge,
    Lazy,
    Look,
    Repeated,
    Sequence,
    Tree,
    character_sets,
    looks_ahead,
    may_be_empty,
    parts_of,
    rounds_in,
    single_character,
    takes_one_character,
    without_inner_counter,
)
from llmask.regex.code_points import TEXT, CodePointSet

if TYPE_CHECKING:
    from llmask.regex.nodes import RegexNodes

STEPS = Kind(  # visits of a part in a state; loops that look around are visited as often as they repeat
    30_000,
    "the pattern's anchors and look-arounds take more than {} steps",
    "Shorten the repetitions around them, or move them out of repetitions.",
)
MANY_ROUNDS = 16  # fewer are written out
# Rounds that may be left out are all alive at once, each of them in the node of each other one; 1,000 take 3 s a mask.
EMPTY_ROUNDS = 10  # pairs of them that count as a step
START = object()  # key of the language {empty text}; a set of characters is the key of "ends in one of these"


def tree_node(nodes: RegexNodes, spelling: Spelling, tree: Tree) -> int:
    """Node of the texts that `tree` matches as a whole."""
    found = Meaning(nodes, spelling, tree).tails_before(tree, None)[0]
    assert isinstance(found, int)
    return found


class Meaning:
    """One tree while it is turned into a node.

    Attributes
    ----------
    left : states of the text on the left.
    languages : number of each left language in `left`, by key: START, a set of characters, or a lookbehind's id.
    budget : what the pattern may spend, lookbehinds included.
    alphabet : classes of all characters in the tree, once a loop needs them.
    """

    def __init__(self, nodes: RegexNodes, spelling: Spelling, tree: Tree, equations: Equations | None = None) -> None:
        self.nodes = nodes
        self.spelling = spelling
        self.any_text = nodes.repeat(spelling.char(nodes, TEXT), 0, None)
        self.equations = equations or Equations(nodes, self.any_text, Budget())
        self.budget = self.equations.budget
        self._looks_memo: dict[int, bool] = {}
        self._made: list[Tree] = []
        self._looks_ahead: dict[int, list[Tail]] = {}
        self._nodes: dict[int, int] = {}
        self._words: dict[tuple[int, frozenset[int]], int] = {}
        self.languages: dict[object, int] = {}
        left_languages: list[Tail] = []
        told_apart: list[CodePointSet] = []
        for key, node, sets in self._left_languages(tree) if self._looks(tree) else ():
            if key not in self.languages:
                self.languages[key] = len(left_languages)
                left_languages.append(node)
                told_apart += sets
        self.left = LeftContext(Alphabet(nodes, spelling, told_apart, self.budget), left_languages, self.equations)
        self.alphabet: Alphabet | None = None
        self.tree = tree
        self.states = range(len(self.left.states))

    # --- what looks around

    def _looks(self, tree: Tree) -> bool:
        """Whether an anchor, look-around or atomic group is inside."""
        found = self._looks_memo.get(id(tree))
        if found is None:
            found = isinstance(tree, (Edge, Boundary, Look, Atomic)) or any(
                self._looks(part) for part in parts_of(tree)
            )
            self._looks_memo[id(tree)] = found
        return found

    def _left_languages(self, tree: Tree) -> list[tuple[object, Tail, list[CodePointSet]]]:
        """(key, language, characters to tell apart) of each language that the tree asks the text on the left about."""
        found: list[tuple[object, Tail, list[CodePointSet]]] = []
        if isinstance(tree, Edge) and not tree.is_end:
            found.append((START, self.nodes.EPSILON, []))
            if tree.terminators.bounds:
                found.append(self._ends_in(tree.terminators))
        elif isinstance(tree, Boundary):
            found += [(START, self.nodes.EPSILON, []), self._ends_in(tree.words)]
        elif isinstance(tree, Look) and tree.is_lookbehind:
            single = single_character(tree.inner)
            if single is not None:
                found.append(self._ends_in(single))
            else:
                found.append((id(tree), self._texts_ending_in(tree.inner), character_sets(tree.inner)))
        elif self._looks(tree):
            for part in parts_of(tree):
                found += self._left_languages(part)
        return found

    def _texts_ending_in(self, tree: Tree) -> Tail:
        """The texts that end in a match of `tree`; with HERE at their end when that depends on what follows."""
        so_far = Sequence((ANY_TEXT, tree))
        meaning = Meaning(self.nodes, self.spelling, so_far, self.equations)
        end = self.equations.here() if looks_ahead(tree) else self.nodes.EPSILON
        return meaning.tails_before(so_far, [end for _ in meaning.states])[0]

    def _ends_in(self, members: CodePointSet) -> tuple[object, int, list[CodePointSet]]:
        return members, self.nodes.concat([self.any_text, self.spelling.char(self.nodes, members)]), [members]

    def _holds(self, key: object, state: int) -> bool:
        return self.left.rests(self.languages[key], state) == self.nodes.ALL

    # --- trees that do not look around

    def _node(self, tree: Tree) -> int:
        if isinstance(tree, Chars):
            return self.spelling.char(self.nodes, tree.members)
        found = self._nodes.get(id(tree))
        if found is None:
            found = self._nodes[id(tree)] = self._compound_node(tree)
        return found

    def _compound_node(self, tree: Alternatives | Sequence | Repeated) -> int:
        if isinstance(tree, Repeated):
            tree = without_inner_counter(tree)
            return self.nodes.repeat(self._node(tree.base), tree.min, tree.max)
        if isinstance(tree, Sequence):
            return self.nodes.concat(self._row(tree.parts))
        single = single_character(tree)
        if single is not None:
            return self.spelling.char(self.nodes, single)
        assert isinstance(tree, Alternatives)
        return self.nodes.union([self._node(option) for option in tree.options])

    def _row(self, parts: Items[Tree]) -> list[int]:
        """Nodes of parts in a row; what is there many times in turn is counted."""
        row = [_only_character(part) or self._node(part) for part in parts]
        found: list[int] = []
        for first, end, n in rounds_in(row):
            piece = self._joined(row[first:end])
            found += piece if n == 1 else [self.nodes.repeat(self.nodes.concat(piece), n, n)]
        return found

    def _joined(self, row: Items[str | int]) -> list[int]:
        """Characters side by side are one literal, which nodes step through faster."""
        found: list[int] = []
        for is_text, group in groupby(row, lambda part: isinstance(part, str)):
            members = list(group)
            found += [self.spelling.literal(self.nodes, "".join(map(str, members)))] if is_text else map(int, members)
        return found

    # --- trees that do, from the end

    def tails_before(self, tree: Tree, tails: Items[Tail] | None) -> list[Tail]:
        """What may follow before `tree`, a state each, when `tails` may follow after it (None: the end)."""
        if tails is None:
            tails = [self.nodes.EPSILON for _ in self.states]
        self.budget.spend(STEPS, len(tails))
        if not self._looks(tree):
            return [self._plain_before(tree, state, tails) for state in self.states]
        if isinstance(tree, Sequence):
            for part in reversed(tree.parts):
                tails = self.tails_before(part, tails)
            return list(tails)
        if isinstance(tree, Alternatives):
            columns = [self.tails_before(option, tails) for option in tree.options]
            return [self.equations.union([column[state] for column in columns]) for state in self.states]
        if isinstance(tree, Repeated):
            return self._loop_before(tree, tails)
        if isinstance(tree, Atomic):
            return _before(self, tree.inner, Ways(_anything(self), list(tails))).tails
        return [self._guarded(tree, state, tails[state]) for state in self.states]

    def _plain_before(self, tree: Tree, state: int, tails: Items[Tail]) -> Tail:
        if len(set(tails)) == 1:
            return self.equations.concat(self._node(tree), tails[0])
        if isinstance(tree, Chars):
            parts = self.left.split(tree.members, state)
            spelled = {goal: self.spelling.char(self.nodes, members) for goal, members in parts.items()}
            return self.equations.union([self.equations.concat(node, tails[goal]) for goal, node in spelled.items()])
        node = self._node(tree)
        choices = []
        for tail in dict.fromkeys(tails):
            if tail == self.nodes.EMPTY:
                continue
            words = self._words_to(state, frozenset(goal for goal in self.states if tails[goal] == tail))
            node_to_goals = words if node == self.any_text else self.nodes.intersect([node, words])
            choices.append(self.equations.concat(node_to_goals, tail))
        return self.equations.union(choices)

    def _words_to(self, state: int, goals: frozenset[int]) -> int:
        found = self._words.get((state, goals))
        if found is None:
            found = self._words[state, goals] = self.left.words(state, goals)
        return found

    def _loop_before(self, tree: Repeated, tails: Items[Tail]) -> list[Tail]:
        ends = self.nodes.EMPTY, self.nodes.EPSILON
        is_long = max(tree.min, tree.max or 0) > MANY_ROUNDS
        if is_long and takes_one_character(tree.base) and all(tail in ends for tail in tails):
            # rounds are characters, and nothing follows that has some of its own
            rounds = self.nodes.repeat(self.spelling.char(self.nodes, TEXT), tree.min, tree.max)
            return [self.only(rounds, tail) for tail in self._endless_loop_before(tree.base, tails)]
        n_rounds = tree.min if tree.max is None else tree.max
        if may_be_empty(tree.base):
            self.budget.spend(STEPS, n_rounds * n_rounds // EMPTY_ROUNDS)
        ahead = list(tails)
        if tree.max is None:
            ahead = self._endless_loop_before(tree.base, tails)
        for _ in range(0 if tree.max is None else tree.max - tree.min):
            longer = self.tails_before(tree.base, ahead)
            ahead = [self.equations.union([tails[state], longer[state]]) for state in self.states]
        for _ in range(tree.min):
            ahead = self.tails_before(tree.base, ahead)
        return ahead

    def _endless_loop_before(self, body: Tree, tails: Items[Tail]) -> list[Tail]:
        def choose(variables: Items[Tail]) -> list[Tail]:
            again = self.tails_before(body, variables)
            return [self.equations.union([tails[state], again[state]]) for state in self.states]

        return self.fixed_point(tails, choose)

    def fixed_point(self, tails: Items[Tail], choose: Callable[[Items[Tail]], list[Tail]]) -> list[Tail]:
        """The smallest solution of X = choose(X), a loop before `tails`."""
        variables = [self.equations.variable() for _ in self.states]
        for variable, tail in zip(variables, choose(variables), strict=True):
            self.equations.define(variable, tail)
        if all(isinstance(tail, int) for tail in tails):
            if self.alphabet is None:
                self.alphabet = Alphabet(self.nodes, self.spelling, character_sets(self.tree), self.budget)
            return [self.equations.solve(variable, self.alphabet) for variable in variables]
        return list(variables)

    # --- anchors and look-arounds

    def _guarded(self, tree: Tree, state: int, tail: Tail) -> Tail:
        """The part of `tail` that may follow where `tree`, which takes nothing, holds."""
        if isinstance(tree, Edge) and not tree.is_end:
            held = self._holds(START, state)
            held = held or (tree.terminators.bounds != () and self._holds(tree.terminators, state))
            return tail if held else self.nodes.EMPTY
        if isinstance(tree, Look) and tree.is_lookbehind:
            single = single_character(tree.inner)
            rests = self.left.rests(self.languages[id(tree) if single is None else single], state)
            return self.only(self.nodes.complement(rests) if tree.is_negated else rests, tail)
        return self.only(self._rest(tree, state), tail)

    def _rest(self, tree: Tree, state: int) -> int:
        """Node of every rest of the text before which `tree` holds."""
        if isinstance(tree, Edge):
            rests = [self.nodes.EPSILON, self.spelling.char(self.nodes, tree.may_follow), self.starts(tree.terminators)]
            return self.nodes.union(rests)
        if isinstance(tree, Boundary):
            if self._holds(tree.words, state) == tree.is_negated:
                return self.starts(tree.words)
            others = self.starts(tree.words.complement())
            is_end_allowed = not tree.is_negated or tree.on_empty_text or not self._holds(START, state)
            return self.nodes.union([self.nodes.EPSILON, others]) if is_end_allowed else others
        assert isinstance(tree, Look)
        bodies = self._looks_ahead.get(id(tree))
        if bodies is None:
            bodies = self.before_anything(tree.inner)
            self._looks_ahead[id(tree)] = bodies
        body = bodies[state]
        assert isinstance(body, int)
        return self.nodes.complement(body) if tree.is_negated else body

    def before_anything(self, tree: Tree) -> list[Tail]:
        """Tails before `tree` with any bytes after it, unions outside and (a|ab) ALL, a{2,9} ALL cut short.

        Only so are they ALL as soon as nothing else is asked, and their complement empty.
        """
        anything: list[Tail] = [self.nodes.ALL for _ in self.states]
        if isinstance(tree, Sequence):
            nparts_of, tails = len(tree.parts), anything
            while nparts_of and tails == anything:
                nparts_of -= 1
                tails = self.before_anything(tree.parts[nparts_of])
            return self.tails_before(self.kept(Sequence(tree.parts[:nparts_of])), tails) if nparts_of else tails
        if isinstance(tree, Alternatives):
            columns = [self.before_anything(option) for option in tree.options]
            return [self.equations.union([column[state] for column in columns]) for state in self.states]
        if isinstance(tree, Repeated):
            if tree.min == 0:
                return anything
            tails = self.before_anything(tree.base)
            n_more = tree.min - 1
            return self.tails_before(self.kept(Repeated(tree.base, n_more, n_more)), tails) if n_more else tails
        if isinstance(tree, Atomic):
            return self.before_anything(tree.inner)
        return self.tails_before(tree, anything)

    def kept(self, tree: Tree) -> Tree:
        """A tree made here; what is remembered of trees goes by their `id`, so they live as long."""
        self._made.append(tree)
        return tree

    def starts(self, members: CodePointSet) -> int:
        """Node of a character of `members`, and any bytes."""
        return self.nodes.concat([self.spelling.char(self.nodes, members), self.nodes.ALL])

    def only(self, rest: int, tail: Tail) -> Tail:
        """Intersect; the shortcuts keep ordinary patterns free of intersections."""
        nodes = self.nodes
        if tail in (nodes.EMPTY, nodes.EPSILON):
            return tail if nodes.is_nullable(rest) else nodes.EMPTY
        if rest == nodes.EPSILON and isinstance(tail, int):
            return nodes.EPSILON if nodes.is_nullable(tail) else nodes.EMPTY
        return self.equations.intersect(rest, tail)


def _only_character(tree: Tree) -> str | None:
    if isinstance(tree, Chars) and len(tree.members) == 1:
        return chr(tree.members.bounds[0])
    return None


class Ways(NamedTuple):
    """What the ways to match come to from a place on, a state each.

    succeeds  S: the rests of the text before which one of them succeeds
    tails     R: those before which the first that succeeds leads to a match of the whole pattern
    """

    succeeds: list[Tail]
    tails: list[Tail]


def has_empty_loop(tree: Tree) -> bool:
    """Whether a loop is inside whose body may match nothing, so that the order of its matches is not defined."""
    if isinstance(tree, Repeated):
        is_loop = tree.max is None or tree.max - tree.min > 1
        return (is_loop and may_be_empty(tree.base)) or has_empty_loop(tree.base)
    return any(has_empty_loop(part) for part in _choices(tree))


def has_one_way(tree: Tree) -> bool:
    """Whether a text begins with one match of `tree` at most, so that there is nothing to choose."""
    if isinstance(tree, Repeated):
        return tree.min == tree.max and has_one_way(tree.base)
    return (not isinstance(tree, Alternatives) or len(tree.options) == 1) and all(map(has_one_way, _choices(tree)))


def _choices(tree: Tree) -> Items[Tree]:
    """Parts whose ways to match are ways of the tree."""
    return () if isinstance(tree, (Look, Atomic)) else parts_of(tree)


def _anything(meaning: Meaning) -> list[Tail]:
    return [meaning.nodes.ALL for _ in meaning.states]


def _before(meaning: Meaning, tree: Tree, ways: Ways) -> Ways:
    if has_one_way(tree):
        return Ways(_success_before(meaning, tree, ways.succeeds), meaning.tails_before(tree, ways.tails))
    if isinstance(tree, Sequence):
        for part in reversed(tree.parts):
            ways = _before(meaning, part, ways)
        return ways
    if isinstance(tree, Alternatives):
        *others, found = [_before(meaning, option, ways) for option in tree.options]
        for other in reversed(others):
            found = _rather(meaning, other, found)
        return found
    assert isinstance(tree, Repeated)
    return _repetition_before(meaning, tree, ways)


def _rather(meaning: Meaning, first: Ways, second: Ways) -> Ways:
    """The first where it succeeds, else the second."""
    nodes, union = meaning.nodes, meaning.equations.union
    succeeds, tails = [], []
    for state in meaning.states:
        tried = first.succeeds[state]
        assert isinstance(tried, int)
        left_over = meaning.only(nodes.complement(tried), second.tails[state])
        tails.append(union([first.tails[state], left_over]))
        succeeds.append(union([tried, second.succeeds[state]]))
    return Ways(succeeds, tails)


def _repetition_before(meaning: Meaning, tree: Repeated, ways: Ways) -> Ways:
    is_lazy = isinstance(tree, Lazy)
    is_end = ways.succeeds == _anything(meaning)
    if is_end and is_lazy:
        pass  # no more rounds than there must be
    elif is_end and isinstance(tree.base, Chars):
        return _run_before(meaning, tree.base, tree, ways)
    elif tree.max is None:
        ways = _endless_before(meaning, tree.base, is_lazy, ways)
    else:
        after = ways
        for _ in range(tree.max - tree.min):
            longer = _before(meaning, tree.base, ways)
            ways = _rather(meaning, after, longer) if is_lazy else _rather(meaning, longer, after)
    for _ in range(tree.min):
        ways = _before(meaning, tree.base, ways)
    return ways


def _endless_before(meaning: Meaning, body: Tree, is_lazy: bool, after: Ways) -> Ways:
    succeeds = _success_before(meaning, meaning.kept(Repeated(body, 0, None)), after.succeeds)

    def choose(variables: Items[Tail]) -> list[Tail]:
        longer = _before(meaning, body, Ways(succeeds, list(variables)))
        first, second = (after, longer) if is_lazy else (longer, after)
        return _rather(meaning, first, second).tails

    return Ways(succeeds, meaning.fixed_point(after.tails, choose))


def _run_before(meaning: Meaning, character: Chars, tree: Repeated, ways: Ways) -> Ways:
    """As many characters of a class as there are: what follows does not start with one, unless `max` are taken."""
    other = meaning.nodes.complement(meaning.starts(character.members))
    stops = [meaning.only(other, tail) for tail in ways.tails]
    if tree.max is None:
        tails = meaning.tails_before(meaning.kept(Repeated(character, tree.min, None)), stops)
    else:
        tails = meaning.tails_before(meaning.kept(Repeated(character, tree.max, tree.max)), ways.tails)
        if tree.min < tree.max:
            fewer = meaning.tails_before(meaning.kept(Repeated(character, tree.min, tree.max - 1)), stops)
            tails = [meaning.equations.union([tails[state], fewer[state]]) for state in meaning.states]
    return Ways(_success_before(meaning, tree, ways.succeeds), tails)


def _success_before(meaning: Meaning, tree: Tree, succeeds: list[Tail]) -> list[Tail]:
    return meaning.before_anything(tree) if succeeds == _anything(meaning) else meaning.tails_before(tree, succeeds)
