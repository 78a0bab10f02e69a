r"""The syntax of Lark grammars, read by lark: tokens become statements.

Lark reads its own grammars with its own LALR parser, and so are they read here, with the parser of the same package
and a grammar for the dialect: Lark's, and llguidance's additions (`%json`, `%regex`, `%lark`, `&`, `~`, `{m,n}`,
attributes of rules, special tokens). What the parser did not expect becomes an error with its place.
Source: lark 1.3, load_grammar.py, `RULES`; llguidance, docs/syntax.md.

In: a source. Out: statements. Cost: 0.2 s once, then about 30 us a token.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NoReturn

from llmask.frontends.lark.tokens import Token, tokens_of
from llmask.frontends.lark.tree import (
    Attribute,
    Both,
    Called,
    Declare,
    Definition,
    Ignore,
    Import,
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
    Settings,
    Statement,
    Structured,
    Text,
    Usage,
)
from llmask.frontends.lark.tree import Token as Special
from llmask.frontends.lark.values import read_string
from llmask.frontends.places import Source, Spot

GRAMMAR = r"""
    start: (_statement NEWLINE)*
    _statement: definition | override | extend | ignore | import | declare | LLGUIDANCE
    definition: name [PARAMETER] [parameters] [DOT NUMBER] [attributes] COLON options
    parameters: OPEN_BRACE name (COMMA name)* CLOSE_BRACE
    attributes: OPEN_MAYBE [attribute (COMMA attribute)*] CLOSE_MAYBE
    attribute: RULE [EQUALS (NUMBER | value)]
    override: OVERRIDE definition
    extend: EXTEND definition
    ignore: IGNORE options
    import: IMPORT [DOT] name (DOT name)* [ARROW name | OPEN name (COMMA name)* CLOSE]
    declare: DECLARE name+
    options: row (OR row)*
    row: expressions (AND expressions)* [IF] [ARROW RULE]
    expressions: expression*
    expression: atom [OPERATOR | COUNTS]
    atom: NOT atom | OPEN options CLOSE | OPEN_MAYBE options CLOSE_MAYBE | value
    value: name | called | STRING | REGEXP | STRING DOTS STRING | usage | JSON | REGEX | LARK start CLOSE_BRACE
         | SPECIAL | GRAMMAR
    usage: name OPEN_BRACE value (COMMA value)* CLOSE_BRACE
    called: name PARAMETER
    name: RULE | TERMINAL
    %declare NEWLINE LLGUIDANCE DOT NUMBER COLON OPEN_BRACE CLOSE_BRACE COMMA OPEN_MAYBE CLOSE_MAYBE EQUALS
    %declare OVERRIDE EXTEND IGNORE IMPORT DECLARE ARROW OPEN CLOSE OR AND OPERATOR COUNTS NOT STRING REGEXP DOTS
    %declare JSON REGEX LARK SPECIAL GRAMMAR RULE TERMINAL PARAMETER IF
"""
WRITTEN = {
    "NEWLINE": "the end of the line",
    "NUMBER": "a number",
    "COLON": '":"',
    "COMMA": '","',
    "DOT": '"."',
    "OPEN_BRACE": '"{"',
    "CLOSE_BRACE": '"}"',
    "OPEN_MAYBE": '"["',
    "CLOSE_MAYBE": '"]"',
    "OPEN": '"("',
    "CLOSE": '")"',
    "EQUALS": '"="',
    "ARROW": '"->"',
    "OR": '"|"',
    "RULE": "the name of a rule",
    "TERMINAL": "the name of a terminal",
    "DOTS": '".."',
    "STRING": "a string",
}
OPERATORS: dict[str, tuple[int, int | None]] = {"?": (0, 1), "*": (0, None), "+": (1, None)}
NUMBERS = re.compile(r"[+-]?[0-9]+")
MAX_COUNT = 2**31 - 2  # counters are 32-bit
MAX_DIGITS = 12


def statements_of(source: Source) -> tuple[Statement, ...]:
    """Statements of a grammar.

    Raises
    ------
    GrammarError : it is not well formed; the message has the place.
    LimitExceeded : it nests too deep.
    """
    return _Reader().statements(_parsed(source))


@lru_cache(1)
def _parser() -> Any:
    import lark.lexer
    from lark import Lark
    from lark.lexer import Lexer

    class NoLexer(Lexer):
        """Tokens are fed to the parser one by one."""

        def __init__(self, lexer_conf: Any) -> None:
            pass

        def lex(self, lexer_state: Any, parser_state: Any) -> Any:
            raise AssertionError

    # Beside interegular lark looks for overlapping terminals, in the grammar of grammars too, and only logs them: half
    # of the time that the first grammar takes.
    has_interegular, lark.lexer.has_interegular = lark.lexer.has_interegular, False
    try:
        return Lark(GRAMMAR, parser="lalr", lexer=NoLexer, maybe_placeholders=True)
    finally:
        lark.lexer.has_interegular = has_interegular


def _parsed(source: Source) -> Any:
    from lark import Token as LarkToken
    from lark import UnexpectedToken

    parser = _parser().parse_interactive()
    last = "NEWLINE"
    end = len(source.text)
    for token in (*tokens_of(source), Token("$END", "the end of the grammar", Spot(source, end, end))):
        try:
            fed = LarkToken(token.kind, "")
            fed.value = token  # not given at once, because lark would make a str of it
            tree = parser.feed_token(fed)
        except UnexpectedToken:
            break
        last = token.kind
    else:
        return tree
    return _refuse(token, last, parser.accepts())


def _refuse(token: Token, before: str, expected: set[str]) -> NoReturn:
    """Say what is wrong at a token that the parser did not expect."""
    spot = token.spot
    here = token.text if token.kind in ("NEWLINE", "$END") else f"`{token.text[:40]}`"
    if before == "NEWLINE" and token.kind in ("OR", "STRING", "REGEXP", "OPEN", "OPEN_MAYBE", "OPERATOR"):
        help = "a rule goes on in the next line only after |, or inside parentheses"
    elif token.kind in ("OPERATOR", "COUNTS"):
        help = "put it after what it repeats; for the character itself, quote it"
    elif token.kind == "NEWLINE" and "COLON" in expected:
        help = "a statement is a rule (name: ...), a terminal (NAME: ...) or a directive such as %ignore"
    elif token.kind == "COLON":
        help = "each rule begins in a line of its own; for the character, quote it"
    elif token.kind in ("EQUALS",) or token.text in ("::", ":="):
        help = "a rule is written name: ..."
    elif token.text == "{":
        help = "write (...)* for what may come any number of times, and {2,5} after it for a number of times"
    elif token.text == ",":
        help = 'take it out: parts follow each other without a sign; for the character, quote it: ","'
    else:
        names = [WRITTEN[kind] for kind in WRITTEN if kind in expected]
        help = f"here {_listed(names)} may stand" if names else "take it out"
    spot.refuse(f"{here} cannot stand here", help)


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


class _Reader:
    """From lark's trees to ours."""

    def statements(self, tree: Any) -> tuple[Statement, ...]:
        found: list[Statement] = []
        for child in tree.children:
            if not hasattr(child, "data"):
                if child.type == "LLGUIDANCE":
                    found.append(Settings(child.value.spot, child.value.value))
            else:
                read: Callable[[Any], Statement] = getattr(self, f"_{child.data}")
                found.append(read(child))
        return tuple(found)

    # --- statements

    def _definition(self, tree: Any, how: str = "") -> Definition:
        name, parameter, parameters, _, number, attributes, _, options = tree.children
        found = self._name(name)
        if parameter is not None and (parameter.value.value.function != "_" or found.is_terminal):
            parameter.value.spot.refuse(
                f'"{parameter.value.text}" cannot stand after a name that is defined',
                "a rule with a parameter is defined as name::_",
            )
        priority = 0
        if number is not None:
            priority = self._integer(number.value.text, number.value.spot)
        words = [] if parameters is None else [self._name(child) for child in _trees(parameters)]
        return Definition(
            *(found.spot, found.name, tuple(self._parameters(words)), priority),
            () if attributes is None else self._attributes(attributes),
            self._options(options),
            how,
            parameter is not None,
        )

    @staticmethod
    def _parameters(words: list[Name]) -> list[str]:
        names: list[str] = []
        for word in words:
            if word.name in names:
                word.spot.refuse(f'the parameter "{word.name}" is here twice', "give one of them another name")
            if word.is_terminal:
                word.spot.refuse("parameters of templates are written as rules are", f'write "{word.name.lower()}"')
            names.append(word.name)
        return names

    def _override(self, tree: Any) -> Definition:
        return self._definition(tree.children[1], "override")

    def _extend(self, tree: Any) -> Definition:
        return self._definition(tree.children[1], "extend")

    def _ignore(self, tree: Any) -> Ignore:
        return Ignore(tree.children[0].value.spot, self._options(tree.children[1]))

    def _declare(self, tree: Any) -> Declare:
        return Declare(tree.children[0].value.spot, tuple(self._name(child) for child in tree.children[1:]))

    def _import(self, tree: Any) -> Import:
        path: list[Name] = []
        names: list[tuple[Name, str]] = []
        mode = "path"
        is_relative = False
        for child in tree.children:
            if child is None:
                continue
            if hasattr(child, "data"):
                word = self._name(child)
                if mode == "path":
                    path.append(word)
                elif mode == "alias":
                    names.append((path.pop(), word.name))
                    if word.is_terminal != names[-1][0].is_terminal:
                        word.spot.refuse(
                            "a rule stays a rule, and a terminal one", "write the new name in the same case"
                        )
                else:
                    names.append((word, word.name))
            elif child.type == "DOT":
                is_relative |= not path
            elif child.type in ("ARROW", "OPEN"):
                mode = "alias" if child.type == "ARROW" else "list"
        if mode == "path":
            names.append((path[-1], path[-1].name))
            path.pop()
        spot = tree.children[0].value.spot
        if not path:
            spot.refuse("%import takes a file and a name in it", "for example %import common.NUMBER")
        return Import(spot, tuple(word.name for word in path), is_relative, tuple(names))

    def _attributes(self, tree: Any) -> tuple[Attribute, ...]:
        found = []
        for child in _trees(tree):
            name, _, value = (*child.children, None, None)[:3]
            read: Node | float | None = None
            if hasattr(value, "data"):
                read = self._value(value)
            elif value is not None:
                read = float(value.value.text)
            found.append(Attribute(name.value.spot, name.value.text, read))
        return tuple(found)

    # --- expressions

    def _options(self, tree: Any) -> Node:
        rows = [self._row(child) for child in _trees(tree)]
        return rows[0] if len(rows) == 1 else Options(_span(rows), tuple(rows))

    def _row(self, tree: Any) -> Node:
        rows = [self._expressions(part) for part in _trees(tree)]
        tokens = [child.value for child in tree.children if child is not None and not hasattr(child, "data")]
        alias = next((token.spot for token in tokens if token.kind == "RULE"), None)
        condition = next((token.value for token in tokens if token.kind == "IF"), None)
        if len(rows) > 1:
            for row, sign in zip(rows, [tokens[0], *tokens], strict=False):
                if not row.parts:
                    sign.spot.refuse('"&" needs something on both sides', "add what is missing, or take it out")
            return Row(rows[0].spot, (Both(tokens[0].spot, tuple(rows)),), alias, condition)
        return rows[0]._replace(alias=alias, condition=condition)

    def _expressions(self, tree: Any) -> Row:
        parts = tuple(self._expression(child) for child in tree.children)
        return Row(_span(parts), parts)

    def _expression(self, tree: Any) -> Node:
        atom, counts = tree.children
        part = self._atom(atom)
        if counts is None:
            return part
        token = counts.value
        low, high = OPERATORS.get(token.text) or self._counts(token)
        return Repeated(token.spot, part, low, high)

    def _counts(self, token: Token) -> tuple[int, int | None]:
        text = token.text
        numbers = [self._integer(found, token.spot) for found in NUMBERS.findall(text)]
        if text.startswith("~") or "," not in text:
            low, high = (numbers * 2)[:2]
        else:
            before, after = text.strip("{}").split(",")
            low = numbers[0] if before.strip() else 0
            if not after.strip():
                return low, None
            high = numbers[-1]
        if low > high or low < 0:
            token.spot.refuse(
                f"a repetition of at least {low} and at most {high} cannot be",
                "the first number is the smaller one, and neither is below 0",
            )
        return low, high

    @staticmethod
    def _integer(text: str, spot: Spot) -> int:
        if len(text) > MAX_DIGITS or not NUMBERS.fullmatch(text) or abs(int(text)) > MAX_COUNT:
            spot.refuse(
                f"{text[:40]} is no whole number up to {MAX_COUNT}", "write a smaller one; {m,} has no upper bound"
            )
        return int(text)

    def _atom(self, tree: Any) -> Node:
        first, *rest = tree.children
        if hasattr(first, "data"):
            return self._value(first)
        if first.type == "NOT":
            return Negated(first.value.spot, self._atom(rest[0]))
        inner = self._options(rest[0])
        return inner if first.type == "OPEN" else Repeated(first.value.spot, inner, 0, 1)

    def _value(self, tree: Any) -> Node:
        first, *rest = tree.children
        if hasattr(first, "data"):
            if first.data == "called":
                found = self._name(first.children[0])
                return Called(found.spot, found.name, first.children[1].value.value)
            return self._name(first) if first.data == "name" else self._usage(first)
        token: Token = first.value
        spot = token.spot
        if first.type == "STRING" and rest:
            last = rest[1].value
            return Range(
                Spot(spot.source, spot.begin, last.spot.end), self._end_of_range(token), self._end_of_range(last)
            )
        if first.type == "STRING":
            return self._string(token)
        if first.type == "REGEXP":
            end = token.text.rindex("/")
            return Pattern(spot, token.text[1:end], token.text[end + 1 :])
        if first.type == "JSON":
            return Json(spot, token.text)
        if first.type == "REGEX":
            return Structured(spot, token.value)
        if first.type == "LARK":
            return Nested(spot, self.statements(rest[0]))
        return Special(spot, token.text)

    def _usage(self, tree: Any) -> Usage:
        found = self._name(tree.children[0])
        return Usage(found.spot, found.name, tuple(self._value(child) for child in _trees(tree)[1:]))

    @staticmethod
    def _name(tree: Any) -> Name:
        token = tree.children[0].value
        return Name(token.spot, token.text)

    @staticmethod
    def _string(token: Token) -> Text:
        ignores_case = token.text.endswith("i")
        return Text(token.spot, read_string(token.text[1 : -2 if ignores_case else -1], token.spot), ignores_case)

    def _end_of_range(self, token: Token) -> str:
        found = self._string(token)
        if len(found.text) != 1 or found.ignores_case:
            token.spot.refuse("the ends of a range are single characters", 'for example "a".."z"')
        return found.text


def _trees(tree: Any) -> list[Any]:
    """The children of a tree that are no tokens."""
    return [child for child in tree.children if hasattr(child, "data")]


def _span(nodes: Any) -> Spot:
    """From the first node to the last; nowhere, if there are no nodes."""
    if not nodes:
        return Spot.nowhere()
    first, last = nodes[0].spot, nodes[-1].spot
    return Spot(first.source, first.begin, max(first.end, last.end))
