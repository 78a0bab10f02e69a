r"""Exact lexing: what a grammar derives byte by byte, with as few and as large lexemes as that allows.

A grammar without a notion of tokens means what it derives: where a lexeme could end or go on, both are followed. The
lexer follows the longest match only, which is the same where no lexeme may go on with a byte that may follow one that
ends there (overlaps.py). Lexemes of one byte each always fulfil it. They are the bottom; on the way there

    fuse    every part of the grammar that is regular (without recursion) becomes one lexeme, as large as can be
    look    which lexemes may go on where others end and what follows begins with that byte?
    split   those become their parts (a row its elements, a choice its options, a name its rule, a lexeme that has no
            parts its bytes), and look again

so strings, numbers, comments and white space are lexemes, whose masks the store shares and slices serve, and a keyword
that a name may begin with is spelled out letter by letter. Every step makes lexemes smaller, so it ends; a grammar that
is too large for the look has lexemes of one byte. A grammar that is regular as a whole is one lexeme.

Direct recursion at the ends of a rule is repetition (`as_repetition`). What is ignored may be a lexeme that is as long
as it can be (`ignored`): that it goes on with what follows it is no overlap.

In: a `Grammar`. Out: `Rules` for the greedy lexer that derive exactly the same. Cost: some ms for a grammar of a
hundred parts.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from llmask.errors import GrammarError, LimitExceeded
from llmask.grammar.expressions import (
    EMPTY,
    Choice,
    Expression,
    Grammar,
    Inclusion,
    Lexeme,
    Lowered,
    Reference,
    Repeat,
    Sequence,
    TokenSet,
    choice,
    leaves,
    parts_of,
    rebuilt,
    sequence,
)
from llmask.grammar.kinds import SCAN
from llmask.grammar.late import lower
from llmask.grammar.lowering import as_repetition, folded
from llmask.grammar.overlaps import overlaps
from llmask.grammar.rules import Rules, each_edge
from llmask.grammar.tails import chain, components, join_tails
from llmask.regex.code_points import TEXT
from llmask.regex.utf8 import literal_word, utf8_char
from llmask.regex.word_lists import literals_node, note_stems, stems_of

if TYPE_CHECKING:
    from llmask.regex.nodes import RegexNodes

MOST_STATES = 1000  # of the automaton of a lexeme that is spelled out


class Spelled(NamedTuple):
    """A lexeme byte by byte; it may be the empty string. Names of rules have blanks, which names of frontends lack."""

    start: Expression
    rules: dict[str, Expression]


def spelled(nodes: RegexNodes, node: int) -> Spelled:
    """What a node matches, byte by byte: its automaton as rules over lexemes of one byte.

        "if"        "i" "f"
        /a*b/       rule: "a" rule | "b"

    States with one way on are written in a row, others are rules; a rule that ends with itself is a loop (tails.py).

    Raises
    ------
    LimitExceeded : its automaton has more than MOST_STATES states.
    """
    key = (__name__, node)
    found: Spelled | None = nodes.memo.get(key)
    if found is None:
        found = nodes.memo[key] = _spell(nodes, node)
    return found


def _spell(nodes: RegexNodes, root: int) -> Spelled:
    ways: dict[int, dict[int, int]] = {}  # for each state, the bytes that lead to each next one
    entered = {root: 2}  # how many states lead to each, two at least for those that become rules
    waiting = [root]
    while waiting:
        node = waiting.pop()
        ways[node] = _ways(nodes, node)
        for target in ways[node]:
            entered[target] = entered.get(target, 0) + 1
            if entered[target] == 1:
                waiting.append(target)
        if len(entered) > MOST_STATES:
            raise LimitExceeded(
                f"a lexeme that may be mistaken for another one has more than {MOST_STATES} states",
                help="shorten its repetitions, or keep the two apart by a separator",
            )
    names = {
        node: f"{root} {number}"
        for number, node in enumerate(ways)
        if (entered[node] > 1 or len(ways[node]) != 1 or nodes.is_nullable(node))
        and (node != root or entered[root] > 2)
    }
    rules = {name: _expression(nodes, ways, names, node) for node, name in names.items() if ways[node]}
    return Spelled(Reference(names[root]) if root in names else _expression(nodes, ways, names, root), rules)


def _ways(nodes: RegexNodes, node: int) -> dict[int, int]:
    found: dict[int, int] = {}
    first = nodes.first_bytes(node)
    for byte in range(256):
        if first >> byte & 1:
            target = nodes.derivative(node, byte)
            if not nodes.is_empty(target):
                found[target] = found.get(target, 0) | 1 << byte
    return found


def _expression(nodes: RegexNodes, ways: dict[int, dict[int, int]], names: dict[int, str], node: int) -> Expression:
    """What a state matches, with the names of states that have one."""
    options: list[Expression] = [EMPTY] if nodes.is_nullable(node) else []
    for target, mask in ways[node].items():
        row: list[Expression] = [_one_byte(nodes, mask)]
        here = target
        while here not in names:
            ((target_of_here, mask),) = ways[here].items()
            row.append(_one_byte(nodes, mask))
            here = target_of_here
        if ways[here]:  # else nothing is left
            row.append(Reference(names[here]))
        options.append(sequence(row))
    return choice(options) if options else EMPTY


def _one_byte(nodes: RegexNodes, mask: int) -> Lexeme:
    return Lexeme(nodes.byte_set(mask), f"{mask:x}")


MOST_PARTS = 5000  # of a lexeme, rules that it uses twice counted twice: what its node takes to be made
MOST_COPIES = 10_000  # of what is repeated in repetitions: its derivatives count in as many ways at once
FEW_PARTS = 100  # a list of words counts as this number at most: its node is small (regex/word_lists.py)
MOST_ROUNDS = 8  # of looking and splitting, before lexemes are split into all their parts
SEAM = (
    "where grammars meet, a lexeme of one may go on with what follows the other, and takes it: some texts are lost; "
    "put a separator between them"
)
LAZY_SEAM = (
    "a lazy rule ends where it can, and where grammars meet it ends what the others expect, too: some of their texts "
    "may be lost; put a separator between them"
)
FUSED = "several parts"  # how lexemes are written that nobody reads

IGNORED = "what is ignored"  # names of rules; the names that frontends give have no blanks
DOCUMENT = "the whole document"


class Part(NamedTuple):
    """A regular part of the grammar as one lexeme.

    node     what it matches
    n_parts  how many parts it was made of
    words    its texts, where it is one or a choice of them
    n_copies how often what is repeated is in it, repetitions in repetitions multiplied
    """

    node: int
    n_parts: int
    words: tuple[bytes, ...] | None = None
    n_copies: int = 1


def exact_rules(nodes: RegexNodes, grammar: Grammar) -> Lowered:
    """Rules that derive what a grammar does, byte by byte.

    Grammars that it includes keep their lexemes; the lexemes around them are split where the longest match would change
    something. Inside an included grammar that is greedy the longest match still decides, and where such a grammar meets
    others, a warning says what is lost. In and between included grammars that are not greedy, it is an error.

    Parameters
    ----------
    grammar : priorities have no meaning, as all derivations count. What is ignored may follow every lexeme, and
        at the beginning.

    Raises
    ------
    GrammarError : a rule refers to one that is not defined, uses a lazy lexeme, or includes other rules whose lexemes
        would have to be split.
    UnsatisfiableSchema : the start rule derives nothing.
    LimitExceeded : a lexeme is too large to be spelled out.
    """
    warnings = lower(nodes, grammar).warnings
    _refuse_lazy(nodes, grammar)
    fusion, n_steps = _Fusion(nodes, woven(nodes, grammar)), 0
    greedy = {id(part.rules): part.rules for part in fusion.included if part.is_greedy}.values()
    own = set().union(*(overlaps(nodes, rules)[0] or () for rules in greedy))
    if any(nodes.is_lazy(lexeme) for rules in greedy for lexeme in _scanned(rules)):
        warnings.append(LAZY_SEAM)
    while True:
        rules = join_tails(lower(nodes, fusion.grammar()).rules)
        found, n_steps = overlaps(nodes, rules, n_steps) if fusion.fuse else (set(), n_steps)
        if found is not None:
            found -= own | fusion.longest
        if found is None:
            if fusion.included:
                raise LimitExceeded(
                    "the grammar, with those inside it, is too large to tell where their lexemes meet",
                    help="use fewer or smaller parts",
                )
            fusion.fuse = False  # too large to look at
        elif not found:
            return Lowered(chain(rules), warnings, is_exact=True)
        elif not fusion.split({longer for _, longer in found}):
            return Lowered(chain(rules), [*warnings, SEAM], is_exact=True)


class _Fusion:
    """One grammar on its way to lexemes.

    Attributes
    ----------
    fuse : False where all lexemes are to be single bytes.
    included : other rules in it, which stay as they are.
    n_rounds : how often lexemes were split.
    apart : nodes that must not be lexemes.
    rules : the grammar's, with recursion at their ends made repetition.
    longest : pairs of a lexeme that is as long as it can be and itself, which is no overlap.
    """

    def __init__(self, nodes: RegexNodes, grammar: Grammar) -> None:
        self.nodes = nodes
        self.fuse = True
        self.n_rounds = 0
        self.apart: set[int] = set()
        self.start = grammar.start
        self.rules = {name: folded(as_repetition(name, expression)) for name, expression in grammar.rules.items()}
        every = [leaf for rule in self.rules.values() for leaf in leaves(rule)]
        self.included = [leaf for leaf in every if isinstance(leaf, Inclusion)]
        self.longest = {(leaf.node, leaf.node) for leaf in every if isinstance(leaf, Lexeme) and leaf.is_longest}
        self._parts: dict[str, Part | None] = {}
        self._known: dict[Expression, Part | None] = {}
        self._spelled: dict[str, Expression] = {}
        for name in _innermost_first(self.rules):
            self._parts[name] = self._part(self.rules[name])  # rules in a circle are met before one of them is known

    def grammar(self) -> Grammar:
        """The grammar of lexemes, as far as it is used."""
        found: dict[str, Expression] = {}
        waiting = [self.start]
        while waiting:
            name = waiting.pop()
            if name in found:
                continue
            found[name] = self._spelled[name] if name in self._spelled else self._fused(self.rules[name])
            waiting += [leaf.name for leaf in leaves(found[name]) if isinstance(leaf, Reference)]
        return Grammar(found, self.start)

    def split(self, found: set[int]) -> bool:
        """Keep the parts of these lexemes apart from now on; after some rounds, rows and choices in them, too.

        False where nothing is left to be split, as the lexemes belong to grammars that are greedy.

        Where something is counted, lexemes that may be empty were written without their empty string.
        """
        expressions: dict[int, list[Expression]] = {}
        for expression, part in self._known.items():
            if part is not None:
                expressions.setdefault(part.node, []).append(expression)
        for rule in self.rules.values():
            for leaf in leaves(rule):
                if isinstance(leaf, Lexeme):
                    expressions.setdefault(leaf.node, [])
        new = found & expressions.keys()
        if found - expressions.keys():
            not_empty = self.nodes.complement(self.nodes.EPSILON)
            nullable = [node for node in expressions if self.nodes.is_nullable(node)]
            new |= {node for node in nullable if self.nodes.intersect([node, not_empty]) in found}
        if self.included and not new - self.apart:
            if any(part.is_greedy for part in self.included):
                return False
            raise GrammarError(
                "a grammar inside this one has lexemes that may go on with what follows it, which exact lexing cannot "
                "split",
                help='put a separator after it (a number may go on with a digit), or use lexer="greedy"',
            )
        assert new - self.apart, "nothing is left to be split"
        self.n_rounds += 1
        if self.n_rounds > MOST_ROUNDS:
            new = self._with_parts(new, expressions)
        self.apart |= new
        return True

    def _with_parts(self, nodes: set[int], expressions: dict[int, list[Expression]]) -> set[int]:
        """These lexemes, and the rows, choices and names that they are made of."""
        found = set(nodes)
        waiting = [expression for node in nodes for expression in expressions[node]]
        while waiting:
            for part in parts_of(waiting.pop()):
                inner = self.rules[part.name] if isinstance(part, Reference) else part
                lexeme = self._part(inner)
                if isinstance(inner, (Sequence, Choice, Reference)) and lexeme and lexeme.node not in found:
                    found.add(lexeme.node)
                    waiting.append(inner)
        return found

    # --- regular parts

    def _part(self, expression: Expression) -> Part | None:
        """An expression as one lexeme; None where it is not regular, or too large."""
        if isinstance(expression, Lexeme):
            if expression.is_longest:
                return None
            word = literal_word(self.nodes, expression.node)
            return Part(expression.node, 1, None if word is None else (word,))
        if isinstance(expression, Reference):
            return self._parts.get(expression.name)
        if expression not in self._known:
            self._known[expression] = self._made(expression)
        return self._known[expression]

    def _made(self, expression: Expression) -> Part | None:
        assert not isinstance(expression, (Lexeme, Reference))
        if isinstance(expression, (TokenSet, Inclusion)):
            return None
        if isinstance(expression, Repeat):
            part = self._part(expression.part)
            if part is None:
                return None
            n_copies = part.n_copies * max(expression.low, expression.high or 1, 1)
            if part.n_copies > 1 and n_copies > MOST_COPIES:
                return None
            node = self.nodes.repeat(part.node, expression.low, expression.high)
            return Part(node, part.n_parts + 1, n_copies=n_copies)
        assert isinstance(expression, (Sequence, Choice)), "calls and conditions are for the greedy lexer"
        parts = [self._part(part) for part in parts_of(expression)]
        known = [part for part in parts if part is not None]
        n_parts = sum(part.n_parts for part in known) + 1
        words = [word for part in known for word in part.words or ()]
        if isinstance(expression, Choice) and len(known) == len(parts) and all(part.words for part in known):
            node = literals_node(self.nodes, words)
            self.nodes.put_extensions_of_words(node, words)
            return Part(node, min(n_parts, FEW_PARTS), tuple(words))
        if len(known) < len(parts) or n_parts > MOST_PARTS:
            return None
        together = self.nodes.concat if isinstance(expression, Sequence) else self.nodes.union
        n_copies = max((part.n_copies for part in known), default=1)
        node = together([part.node for part in known])
        if isinstance(expression, Sequence) and known:
            note_stems(self.nodes, node, stems_of(self.nodes, known[0].node))
        return Part(node, n_parts, n_copies=n_copies)

    # --- lexemes

    def _fused(self, expression: Expression) -> Expression:
        """An expression with its regular parts as lexemes, except those that are apart."""
        part = self._part(expression) if self.fuse else None
        if part is not None and part.node not in self.apart:
            return EMPTY if part.node == self.nodes.EPSILON else Lexeme(part.node, FUSED)
        if isinstance(expression, Lexeme):
            is_whole = self.fuse and expression.is_longest and expression.node not in self.apart
            if is_whole:
                return expression
            found = spelled(self.nodes, expression.node)
            self._spelled.update(found.rules)
            return found.start
        if isinstance(expression, (TokenSet, Reference, Inclusion)):
            return expression
        if isinstance(expression, Repeat):
            return Repeat(self._fused(expression.part), expression.low, expression.high)
        if isinstance(expression, Sequence):
            return sequence(self._fused_row(expression))
        assert isinstance(expression, Choice), "calls and conditions are for the greedy lexer"
        together = [option for option in expression.options if self._part(option) is not None]
        if self.fuse and 1 < len(together) < len(expression.options):
            others = [option for option in expression.options if self._part(option) is None]
            return choice([self._fused(choice(together)), *(self._fused(option) for option in others)])
        return choice(self._fused(option) for option in expression.options)

    def _fused_row(self, expression: Sequence) -> list[Expression]:
        """The parts of a row, regular ones that stand side by side as one."""
        found: list[Expression] = []
        for is_regular, parts in groupby(expression.parts, lambda part: self.fuse and self._part(part) is not None):
            row = [*parts]
            is_joined = is_regular and 1 < len(row) < len(expression.parts)
            found += [self._fused(sequence(row))] if is_joined else [self._fused(part) for part in row]
        return found


def woven(nodes: RegexNodes, grammar: Grammar) -> Grammar:
    """A grammar that ignores nothing, with what was ignored after every lexeme and at the beginning.

    After a lexeme that is the empty string nothing is ignored: what may come once would come there again.
    """
    if not grammar.ignored:
        return grammar

    def weave(expression: Expression) -> Expression:
        if isinstance(expression, Lexeme) and nodes.is_nullable(expression.node):
            node = nodes.without(expression.node, [nodes.EPSILON])
            return Repeat(sequence([replace(expression, node=node), Reference(IGNORED)]), 0, 1)
        if isinstance(expression, (Lexeme, Inclusion, TokenSet)):
            return sequence([expression, Reference(IGNORED)])
        return rebuilt(expression, weave)

    rules = {name: weave(expression) for name, expression in grammar.rules.items()}
    rules[IGNORED] = Repeat(choice(ignored(nodes, grammar)), 0, 1 if grammar.ignores_once else None)
    return Grammar({**rules, DOCUMENT: sequence([Reference(IGNORED), Reference(grammar.start)])}, DOCUMENT)


def ignored(nodes: RegexNodes, grammar: Grammar) -> list[Lexeme]:
    """What is ignored; what goes on with what may follow it, other than itself, is as long as it can be, as in lark.

    Where it may end, one character more tells whether it goes on: else it could not go back to that end.
    """
    read = [node for rule in grammar.rules.values() for leaf in leaves(rule) for node in _lexemes(leaf)]
    character, found = utf8_char(nodes, TEXT), []
    for lexeme in grammar.ignored:
        node = lexeme.node
        longer = nodes.without(nodes.concat([node, character]), [node])
        is_told = nodes.is_empty(nodes.intersect([node, nodes.concat([longer, nodes.ALL])]))
        repeats = nodes.is_empty(nodes.without(nodes.concat([node, node]), [node]))
        others = {*read, *(one.node for one in grammar.ignored)} - ({node} if repeats else set())
        goes_on = nodes.extensions(node, node)[0] if is_told else 0
        found.append(replace(lexeme, is_longest=any(goes_on & nodes.first_bytes(other) for other in others)))
    return found


def _refuse_lazy(nodes: RegexNodes, grammar: Grammar) -> None:
    for name, rule in grammar.rules.items():
        for leaf in leaves(rule):
            if any(nodes.is_lazy(lexeme) for lexeme in _lexemes(leaf)):
                raise GrammarError(
                    f'rule "{name}" is lazy: it ends where it can, and exact lexing also goes on',
                    grammar.places.get(name),
                    'say what it must not hold instead, or use lexer="greedy"',
                )


def _lexemes(leaf: Expression) -> list[int]:
    """The lexemes of a part that is exact."""
    if isinstance(leaf, Inclusion):
        return [] if leaf.is_greedy else _scanned(leaf.rules)
    return [leaf.node] if isinstance(leaf, Lexeme) else []


def _scanned(rules: Rules) -> list[int]:
    return [symbol for _, kind, symbol, _, _ in each_edge(rules.edges) if kind == SCAN]


def _innermost_first(rules: dict[str, Expression]) -> list[str]:
    """Names of rules, each after those that it refers to, circles aside."""
    names = list(rules)
    numbers = {name: number for number, name in enumerate(names)}
    named = [[leaf.name for leaf in leaves(rule) if isinstance(leaf, Reference)] for rule in rules.values()]
    uses = [sorted({numbers[name] for name in found}) for found in named]
    return [names[number] for members in components(uses) for number in members]
