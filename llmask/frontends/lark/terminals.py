r"""Terminals as lexemes: each is one regular expression, put together from the expressions that it names.

What is made of strings, patterns, ranges and other terminals is put together as a *tree*, because a lookbehind in one
part sees the part before it (`ESCAPED_STRING: "\"" /.*?/ /(?<!\\)(\\\\)*?/ "\""`). What `&`, `~` and `%regex` make has
no tree; besides them every part is a node of its own.

A lazy quantifier makes its alternative of the terminal end at the first place where it can: its node is R without every
string that begins with a shorter one of R. In a repetition that ends the terminal each turn is an alternative. Lark,
whose patterns try one way after the other, says the same where what follows the quantifier cannot be matched in two
lengths; other patterns are refused. A rule that is `lazy` also ends all terminals that are expected at the same place.

In: trees of terminals, names looked up in the definitions. Out: `Lexeme`s. Cost: that of compiling their patterns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from llmask.errors import LimitExceeded
from llmask.frontends.lark.definitions import Definitions, Scope
from llmask.frontends.lark.tree import (
    Both,
    Called,
    Json,
    Name,
    Negated,
    Nested,
    Node,
    Options,
    Pattern,
    Range,
    Repeated,
    Row,
    Structured,
    Text,
    Token,
    Usage,
    without_rows,
)
from llmask.frontends.lark.values import Value, escaped, pattern_value, range_value, structured_node, text_value
from llmask.frontends.places import Spot
from llmask.frontends.regex.contradictions import posix_class
from llmask.frontends.regex.equations import Spelling
from llmask.frontends.regex.meaning import tree_node
from llmask.frontends.regex.shapes import (
    Alternatives,
    Sequence,
    Tree,
    has_lazy,
    last_loop,
    lazy_cases,
    lazy_tails,
    looks_outside,
    width,
)
from llmask.frontends.regex.shapes import Repeated as RepeatedTree
from llmask.grammar.expressions import EMPTY, Expression, Lexeme
from llmask.regex.code_points import TEXT
from llmask.regex.utf8 import utf8_char, utf8_literal
from llmask.work import spend

if TYPE_CHECKING:
    from llmask.regex.nodes import RegexNodes

MAX_CHAIN = 50  # terminals that refer to each other, one inside the other
FREE_CHARACTERS = 1000  # that number, in all terminals of a grammar, takes little time
CHARACTER_WORK = 2  # units for each further one
MAX_WRITTEN = 2**20  # characters of all terminals, those that they name written out
SPELLING = Spelling(utf8_char, utf8_literal, str.encode)


class Terminal(NamedTuple):
    """A terminal that is used: what decides between it and others that end at the same byte."""

    lexeme: Lexeme
    priority: int
    is_string: bool
    width: int
    length: int


class Terminals:
    """The terminals of one grammar.

    Attributes
    ----------
    used : every lexeme that was asked for.
    warnings : what the author should know.
    """

    def __init__(self, nodes: RegexNodes, definitions: Definitions) -> None:
        self.nodes = nodes
        self.definitions = definitions
        self.used: dict[Lexeme, Terminal] = {}
        self._values: dict[str, Value] = {}
        self._lengths: dict[str, int] = {}
        self._n_written = 0
        self._named: dict[str, Lexeme] = {}
        self.warnings: dict[str, None] = {}  # each once, in order
        self._in_progress: list[str] = []
        self._by_text: dict[tuple[str, object, object], str] | None = None

    # --- lexemes

    def check(self, name: Name) -> None:
        """Refuse a terminal that cannot be read, used or not."""
        self._value_of(name.name, name)

    def named(self, name: Name, scope: Scope) -> Lexeme:
        """The lexeme of a terminal with a name."""
        full, _ = self.definitions.find(name, scope)
        return self._of_name(full, name)

    def _of_name(self, full: str, name: Name) -> Lexeme:
        found = self._named.get(full)
        if found is None:
            defined = self.definitions.known[full]
            assert defined.definition is not None
            value = self._value_of(full, name)
            found = self._named[full] = self._lexeme(value, defined.spot, full, defined.definition.priority)
        return found

    def anonymous(self, node: Node, scope: Scope) -> Lexeme:
        """The lexeme of a string or pattern in a rule; if a terminal says the same, the lexeme of this terminal."""
        full = self._terminal_of(node)
        if full is not None:
            return self._of_name(full, Name(node.spot, full))
        return self._lexeme(self.value(node, scope), node.spot, None, 0)

    def lazy(self, node: Node, scope: Scope) -> Expression:
        """A terminal that ends where it first can, and so do all beside it; nothing, if it may be empty."""
        value = self.value(node, scope)
        whole = self.closed(value, node.spot, is_lazy=True)
        if self.nodes.is_nullable(whole):
            return EMPTY
        return self._keep(Lexeme(self.nodes.lazy(whole), f"/(?:{value.regexp})(lazy)/"), value, 0)

    def _lexeme(self, value: Value, spot: Spot, name: str | None, priority: int) -> Lexeme:
        text = value.regexp if value.is_string else f"/{value.regexp}/"
        return self._keep(Lexeme(self.closed(value, spot), text, name), value, priority)

    def _keep(self, lexeme: Lexeme, value: Value, priority: int) -> Lexeme:
        most = width(value.tree)[1] if value.tree is not None else 0
        self.used[lexeme] = Terminal(lexeme, priority, value.is_string, most, len(value.regexp))
        return lexeme

    def _terminal_of(self, node: Node) -> str | None:
        """A terminal that is defined as exactly this string or pattern."""
        if self._by_text is None:
            self._by_text = {}
            for full, defined in self.definitions.known.items():
                body = defined.body and without_rows(defined.body)
                if isinstance(body, (Text, Pattern)) and Name(body.spot, full).is_terminal:
                    self._by_text.setdefault(_key(body), full)
        return self._by_text.get(_key(node)) if isinstance(node, (Text, Pattern)) else None

    # --- values

    def _value_of(self, full: str, name: Name) -> Value:
        found = self._values.get(full)
        if found is not None:
            return found
        if full in self._in_progress:
            name.spot.refuse(
                f'the terminal "{name.name}" refers to itself',
                "a terminal is a regular expression; write what is recursive as a rule, in small letters",
            )
        if len(self._in_progress) >= MAX_CHAIN:
            raise LimitExceeded(
                f"more than {MAX_CHAIN} terminals refer to each other in a row",
                name.spot.shown(),
                "make some of them one",
            )
        defined = self.definitions.known[full]
        assert defined.body is not None
        assert defined.definition is not None
        if defined.definition.parameters:
            defined.spot.refuse("a terminal cannot be a template", "write a rule, in small letters")
        if defined.definition.attributes:
            defined.definition.attributes[0].spot.refuse("attributes go after the names of rules", "write a rule")
        self._in_progress.append(full)
        n_before = self._n_written
        found = self._values[full] = self.value(defined.body, defined.scope)
        self._lengths[full] = self._n_written - n_before
        self._in_progress.pop()
        return found

    def _count(self, n_written: int, spot: Spot) -> None:
        """Refuse terminals that double with every name: `A: B B`, `B: C C`, ..."""
        self._n_written += n_written
        if self._n_written > FREE_CHARACTERS:
            spend(CHARACTER_WORK * n_written)
        if self._n_written > MAX_WRITTEN:
            raise LimitExceeded(
                f"the terminals have more than {MAX_WRITTEN} characters when those that they name are written out",
                spot.shown(),
                "write what is repeated with a count, as in A{100}, or make some terminals rules, in small letters",
            )

    def value(self, node: Node, scope: Scope) -> Value:
        """What a part of a terminal matches.

        Raises
        ------
        GrammarError : it holds something that is no part of a terminal.
        LimitExceeded : its terminals nest too deep, or are too long when they are written out.
        """
        self._count(1 + node.spot.end - node.spot.begin if isinstance(node, (Text, Pattern)) else 1, node.spot)
        if isinstance(node, Text):
            return text_value(node)
        if isinstance(node, Pattern):
            hint = posix_class(node.pattern)
            if hint is not None:
                self.warnings[f"the pattern at {node.spot.short()} {hint}"] = None
            return pattern_value(node)
        if isinstance(node, Range):
            return range_value(node)
        if isinstance(node, Name):
            if not node.is_terminal:
                node.spot.refuse(
                    f'"{node.name}" is a rule, and a terminal is made of terminals',
                    "write the terminal as a rule, in small letters",
                )
            full, _ = self.definitions.find(node, scope)
            self._count(self._lengths.get(full, 0), node.spot)
            return self._value_of(full, node)
        if isinstance(node, Row):
            return self._row(node, scope)
        if isinstance(node, Options):
            return self._options(node, scope)
        if isinstance(node, Repeated):
            return self._repeated(node, scope)
        if isinstance(node, Structured):
            return Value(None, structured_node(self.nodes, node.value, node.spot), "%regex {...}")
        if isinstance(node, Both):
            parts = [self.value(part, scope) for part in node.parts]
            both = self.nodes.intersect([self.closed(part, node.spot) for part in parts])
            return Value(None, both, "&".join(f"(?:{part.regexp})" for part in parts))
        if isinstance(node, Negated):
            part = self.value(node.part, scope)
            others = self.nodes.without(self._texts(), [self.closed(part, node.spot)])
            return Value(None, others, f"~(?:{part.regexp})")
        return _refuse_part(node)

    def _row(self, node: Row, scope: Scope) -> Value:
        if node.alias is not None:
            node.alias.refuse("a terminal has no alias", "take it out")
        values = [self.value(part, scope) for part in node.parts]
        if len(values) == 1:
            return values[0]
        regexp = "".join(value.regexp if not value.is_string else escaped(value) for value in values)
        if all(value.tree is not None for value in values):
            return Value(Sequence(tuple(_tree(value) for value in values)), -1, regexp)
        return Value(None, self.nodes.concat(self._all_closed(values, node.parts)), regexp)

    def _options(self, node: Options, scope: Scope) -> Value:
        values = [self.value(option, scope) for option in node.options]
        regexp = f"(?:{'|'.join(value.regexp if not value.is_string else escaped(value) for value in values)})"
        if all(value.tree is not None for value in values):
            return Value(Alternatives(tuple(Sequence((_tree(value),)) for value in values)), -1, regexp)
        return Value(None, self.nodes.union(self._all_closed(values, node.options)), regexp)

    def _repeated(self, node: Repeated, scope: Scope) -> Value:
        value = self.value(node.part, scope)
        counts = f"{{{node.low},{'' if node.high is None else node.high}}}"
        sign = {(0, 1): "?", (0, None): "*", (1, None): "+"}.get((node.low, node.high), counts)
        regexp = f"(?:{escaped(value) if value.is_string else value.regexp}){sign}"
        if value.tree is not None:
            return Value(RepeatedTree(value.tree, node.low, node.high), -1, regexp)
        return Value(None, self.nodes.repeat(value.node, node.low, node.high), regexp)

    def _all_closed(self, values: list[Value], parts: tuple[Node, ...]) -> list[int]:
        return [self.closed(value, part.spot) for value, part in zip(values, parts, strict=True)]

    # --- nodes

    def closed(self, value: Value, spot: Spot, is_lazy: bool = False) -> int:
        """Node of a value, once nothing is put beside it any more; lazy quantifiers have their meaning."""
        if value.tree is None:
            return value.node
        outside = looks_outside(value.tree)
        if outside is not None:
            spot.refuse(
                f"{outside} sees the text around the terminal, which is not known here",
                "take it out; terminals take as much as they can, and a keyword goes before a name that is as long",
            )
        return self._node(value.tree, spot) if is_lazy else self._ended(value.tree, spot)

    def _ended(self, tree: Tree, spot: Spot) -> int:
        """Node of a tree; lazy quantifiers have their meaning."""
        if not has_lazy(tree):
            return self._node(tree, spot)
        nodes = []
        for case in self._lazy_cases(tree, spot):
            before, loop = last_loop(case)
            if loop is not None:  # each turn ends by itself: after it nothing is needed that could make it longer
                turns = self.nodes.repeat(self._ended(loop.base, spot), loop.min, loop.max)
                nodes.append(self.nodes.concat([self._node(before, spot), turns]))
                continue
            node = self._node(case, spot)
            if has_lazy(case):
                self._check_lazy(list(lazy_tails(case)), spot)
                # of its strings those that do not begin with a shorter one
                node = self.nodes.without(node, [self.nodes.concat([node, self._any_bytes()])])
            nodes.append(node)
        return self.nodes.union(nodes)

    @staticmethod
    def _lazy_cases(tree: Tree, spot: Spot) -> list[Tree]:
        try:
            return lazy_cases(tree)
        except LimitExceeded as error:
            raise LimitExceeded(error.message, spot.shown(), error.help) from None

    def _check_lazy(self, tails: list[tuple[Tree, ...] | None], spot: Spot) -> None:
        if None in tails:
            spot.refuse(
                "a lazy quantifier inside a repetition has no first end",
                'write what must not be in it, as in [^"]*, or make the repetition a rule',
            )
        last = [tail for tail in tails if tail is not None and not has_lazy(Sequence(tail))]
        for tail in last:
            if width(Sequence(tail))[0] == 0:
                spot.refuse(
                    "nothing must follow the lazy quantifier, so it would take as little as it can",
                    "write what ends it, or take the question mark off",
                )
            end = Sequence(tail)
            if looks_outside(end) is None:
                node = self._node(end, spot)
                longer = self.nodes.concat([node, self._any_bytes()])
                if not self.nodes.is_empty(self.nodes.intersect([node, longer])):
                    spot.refuse(
                        "what follows the lazy quantifier may end in several places",
                        "make what comes after its first end a terminal of its own",
                    )

    def _node(self, tree: Tree, spot: Spot) -> int:
        try:
            return tree_node(self.nodes, SPELLING, tree)
        except LimitExceeded as error:
            raise LimitExceeded(error.message, error.where or spot.shown(), error.help) from None

    def _texts(self) -> int:
        """Everything that is text: `~` does not match bytes that are not UTF-8."""
        return self.nodes.repeat(utf8_char(self.nodes, TEXT), 0, None)

    def _any_bytes(self) -> int:
        return self.nodes.concat([self.nodes.byte_set(2**256 - 1), self.nodes.ALL])


def _tree(value: Value) -> Tree:
    assert value.tree is not None
    return value.tree


def _key(node: Text | Pattern) -> tuple[str, object, object]:
    if isinstance(node, Text):
        return "string", node.text, node.ignores_case
    return "pattern", node.pattern, frozenset(node.flags)


def _refuse_part(node: Node) -> Value:
    if isinstance(node, Usage):
        node.spot.refuse("a terminal cannot use a template", "write a rule, in small letters")
    if isinstance(node, Token):
        node.spot.refuse("tokens cannot stand in a terminal", "write a rule, in small letters")
    what = {Json: "%json", Nested: "%lark", Called: "a rule with a parameter"}[type(node)]
    node.spot.refuse(f"{what} cannot stand in a terminal", "write a rule, in small letters")
    raise AssertionError
