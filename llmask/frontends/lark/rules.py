"""From definitions to a `Grammar`: rules become expressions, templates are written out, terminals get their ranks.

    rule{a, b}   with its arguments is a rule of its own for each list of arguments
    aliases, ?rule, !rule, rule.2   are about trees, and change no text
    a ~ 2..3, a{2,3}, [a], a? ...   repetitions

Where several terminals end at the same byte, Lark takes one, and so do ranks: the higher priority, then strings before
patterns, then the pattern that can match more, then the longer one. llguidance takes all of them, which is what
`ties="all"` means.
Source: lark 1.3, load_grammar.py and lexer.py (`BasicLexer`, sort of `terminals`; `_create_unless`).

In: definitions. Out: a `Grammar` and warnings. Cost: about 10 us a part.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from llmask.errors import LimitExceeded
from llmask.frontends.lark.definitions import Defined, Definitions, Scope
from llmask.frontends.lark.inside import json_inside
from llmask.frontends.lark.settings import read_settings
from llmask.frontends.lark.terminals import Terminals
from llmask.frontends.lark.tree import (
    Attribute,
    Both,
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
    Statement,
    Structured,
    Text,
    Token,
    Usage,
    is_terminal,
)
from llmask.frontends.places import Spot, similar
from llmask.grammar.expressions import (
    EMPTY,
    Expression,
    Grammar,
    Inclusion,
    Lexeme,
    Reference,
    Repeat,
    choice,
    mapped,
    optional,
    sequence,
    written,
)
from llmask.grammar.inclusion import derives_nothing_too
from llmask.grammar.lowering import lower

if TYPE_CHECKING:
    from pathlib import Path

    from llmask.derivatives.nodes import RegexNodes
    from llmask.limits import Limits

MAX_INSTANCES = 2000  # templates with their arguments
Inside = Callable[["Nested | Json"], Expression]  # what a grammar or schema inside the grammar derives
NOT_ENFORCED = {
    "capture": "captures are not recorded yet",
    "temperature": "the sampler has to see to it",
}
ATTRIBUTES = ("capture", "lazy", "max_tokens", "stop", "stop_capture", "suffix", "temperature")


class ReadGrammar(NamedTuple):
    """A grammar, the same with the priorities that its author gave, for people, and what the author should know."""

    grammar: Grammar
    shown: Grammar
    warnings: list[str]


def read_grammar(
    nodes: RegexNodes,
    statements: tuple[Statement, ...],
    limits: Limits,
    start: str,
    directory: Path | None,
    ties: str | None,
) -> ReadGrammar:
    """Read a grammar; see `llmask.Compiler.lark` for the arguments and errors."""
    definitions = Definitions(directory)
    definitions.load(statements)
    settings = read_settings(definitions.settings)
    ties = ties or ("first" if settings is None else "all")
    warnings: list[str] = []

    def inside(node: Nested | Json) -> Expression:
        if isinstance(node, Json):
            return json_inside(nodes, node, limits, warnings)
        read = read_grammar(nodes, node.statements, limits, "start", directory, ties)
        lowered = lower(nodes, read.grammar)
        warnings.extend(f"%lark at {node.spot.short()}: {warning}" for warning in read.warnings + lowered.warnings)
        part = Inclusion(lowered.rules, f"%lark {{\n{read.shown}\n}}", is_greedy=True)
        return optional(part) if derives_nothing_too(lowered.rules) else part

    writer = GrammarWriter(nodes, definitions, inside)
    grammar = writer.grammar(start)
    if settings is not None and settings.ignores_once:
        grammar = replace(grammar, ignores_once=True)
    shown = with_lexemes(grammar, writer.by_priority())
    ranked = with_lexemes(grammar, writer.ranked()) if ties == "first" else shown
    return ReadGrammar(ranked, shown, warnings + writer.warnings)


def with_lexemes(grammar: Grammar, lexemes: dict[Lexeme, Lexeme]) -> Grammar:
    """A grammar with other lexemes in the places of some."""
    return replace(grammar, rules={name: mapped(rule, lexemes) for name, rule in grammar.rules.items()})


class GrammarWriter:
    """The rules of one grammar.

    Parameters
    ----------
    inside : see `Inside`.

    Attributes
    ----------
    rules : expressions of the rules that are written.
    warnings : what the author should know.
    """

    def __init__(self, nodes: RegexNodes, definitions: Definitions, inside: Inside) -> None:
        self.definitions = definitions
        self.terminals = Terminals(nodes, definitions)
        self.inside = inside
        self.rules: dict[str, Expression] = {}
        self.places: dict[str, str] = {}
        self.warnings: list[str] = []
        self._waiting: list[tuple[str, Defined, dict[str, Expression]]] = []
        self._n_instances = 0

    def grammar(self, start: str) -> Grammar:
        """Write everything that the grammar's own text defines, and what that uses.

        Raises
        ------
        GrammarError : something is not defined, or is not what it has to be where it stands.
        LimitExceeded : templates have too many instances.
        """
        known = self.definitions.known
        if start not in known or known[start].definition is None:
            rules = [name for name in known if not is_terminal(name)]
            (known[self.definitions.main[0]].spot if self.definitions.main else Spot.nowhere()).refuse(
                f'there is no rule "{start}" to begin with', similar(start, rules, f"name the first rule {start}")
            )
        for name in self.definitions.main:
            defined = known[name]
            if is_terminal(name):
                if defined.body is not None:
                    self.terminals.check(Name(defined.spot, name))
            elif defined.definition is not None and not defined.definition.parameters:
                self._rule(name, defined)
            elif defined.definition is None:
                self.definitions.find(Name(defined.spot, name), Scope())
        for name, defined, arguments in self._waiting:  # it grows on the way
            self.rules[name] = self._body(defined, arguments)
        ignored = [self._ignored(body, scope) for _, body, scope in self.definitions.ignored]
        return Grammar(self.rules, start, tuple(dict.fromkeys(ignored)), self.places)

    def _ignored(self, body: Node, scope: Scope) -> Lexeme:
        while isinstance(body, Row) and len(body.parts) == 1:
            body = body.parts[0]
        if isinstance(body, Name):
            return self.terminals.named(body, scope)
        return self.terminals.anonymous(body, scope)

    # --- ranks

    def ranked(self) -> dict[Lexeme, Lexeme]:
        """Lexemes with Lark's order as their priorities; equal ones of different names stay equal."""
        used = self.terminals.used.values()
        keys = {(t.priority, t.is_string, t.width, t.length) for t in used}
        ranks = {key: rank for rank, key in enumerate(sorted(keys))}
        return {t.lexeme: replace(t.lexeme, priority=ranks[t.priority, t.is_string, t.width, t.length]) for t in used}

    def by_priority(self) -> dict[Lexeme, Lexeme]:
        """Lexemes with the priorities that their definitions give them."""
        return {t.lexeme: replace(t.lexeme, priority=t.priority) for t in self.terminals.used.values()}

    # --- rules

    def _rule(self, name: str, defined: Defined, arguments: dict[str, Expression] | None = None) -> Reference:
        if name not in self.rules:
            self.rules[name] = EMPTY  # known from here on
            self.places[name] = defined.spot.shown()
            self._waiting.append((name, defined, arguments or {}))
        return Reference(name)

    def _body(self, defined: Defined, arguments: dict[str, Expression]) -> Expression:
        assert defined.body is not None
        assert defined.definition is not None
        attributes = {attribute.name: attribute for attribute in defined.definition.attributes}
        for name, attribute in attributes.items():
            self._check_attribute(name, attribute, defined)
        if "lazy" in attributes or "suffix" in attributes:
            return self._lazy(defined, attributes)
        return self._expression(defined.body, defined.scope, arguments)

    def _check_attribute(self, name: str, attribute: Attribute, defined: Defined) -> None:
        if name not in ATTRIBUTES:
            attribute.spot.refuse(
                f'the attribute "{name}" is not known', similar(name, ATTRIBUTES, f"known are {', '.join(ATTRIBUTES)}")
            )
        if name == "max_tokens":
            attribute.spot.refuse(
                "max_tokens is not supported", "bound the text instead, for example /(.|\\n){0,1000}/"
            )
        if name == "stop":
            attribute.spot.refuse(
                "stop takes back what was written, which is not supported", "write suffix=..., or lazy"
            )
        if name == "stop_capture":
            attribute.spot.refuse("stop_capture is not supported", "take it out")
        if name in NOT_ENFORCED:
            self.warnings.append(
                f'{name} of rule "{defined.spot.source.text[defined.spot.begin : defined.spot.end]}" '
                f"({attribute.spot.short()}): {NOT_ENFORCED[name]}"
            )

    def _lazy(self, defined: Defined, attributes: dict[str, Attribute]) -> Expression:
        assert defined.body is not None
        assert defined.definition is not None
        body = defined.body
        if "suffix" in attributes:
            suffix = attributes["suffix"].value
            if not isinstance(suffix, (Name, Text, Pattern)):
                attributes["suffix"].spot.refuse(
                    "suffix is a string, a pattern or a terminal", 'for example suffix="</think>"'
                )
            body = Row(body.spot, (body, suffix))
        return self.terminals.lazy(body, defined.scope)

    # --- expressions

    def _expression(self, node: Node, scope: Scope, arguments: dict[str, Expression]) -> Expression:
        if isinstance(node, Row):
            return sequence(self._expression(part, scope, arguments) for part in node.parts)
        if isinstance(node, Options):
            return choice(self._expression(option, scope, arguments) for option in node.options)
        if isinstance(node, Repeated):
            return Repeat(self._expression(node.part, scope, arguments), node.low, node.high)
        if isinstance(node, Name):
            return self._name(node, scope, arguments)
        if isinstance(node, Usage):
            return self._usage(node, scope, arguments)
        if isinstance(node, Text) and not node.text:
            return EMPTY
        if isinstance(node, (Text, Pattern, Range, Structured)):
            return self.terminals.anonymous(node, scope)
        if isinstance(node, (Both, Negated)):
            sign = "&" if isinstance(node, Both) else "~"
            node.spot.refuse(f'"{sign}" is for terminals', "give what it is about a name in capitals, and use that")
        if isinstance(node, Token):
            what = "other grammars cannot be named" if node.text.startswith("@") else "tokens cannot be named yet"
            node.spot.refuse(f"{what}: {node.text}", "write the text that stands there")
        return self.inside(node)

    def _name(self, node: Name, scope: Scope, arguments: dict[str, Expression]) -> Expression:
        if node.name in arguments:
            return arguments[node.name]
        if node.is_terminal:
            return self.terminals.named(node, scope)
        full, defined = self.definitions.find(node, scope)
        assert defined.definition is not None
        if defined.definition.parameters:
            node.spot.refuse(
                f'"{node.name}" is a template',
                f"give its arguments: {node.name}{{{', '.join(defined.definition.parameters)}}}",
            )
        return self._rule(full, defined)

    def _usage(self, node: Usage, scope: Scope, arguments: dict[str, Expression]) -> Expression:
        full, defined = self.definitions.find(Name(node.spot, node.name), scope)
        assert defined.definition is not None
        parameters = defined.definition.parameters
        if len(parameters) != len(node.arguments):
            has = f"takes {len(parameters)} argument{'s' * (len(parameters) != 1)}" if parameters else "is no template"
            node.spot.refuse(
                f'"{node.name}" {has}, and here it has {len(node.arguments)}',
                f"write {node.name}{f'{{{chr(44).join(parameters)}}}' if parameters else ''}",
            )
        given = [self._expression(argument, scope, arguments) for argument in node.arguments]
        name = f"{full}{{{', '.join(written(argument) for argument in given)}}}"
        if name not in self.rules:
            self._n_instances += 1
            if self._n_instances > MAX_INSTANCES or len(name) > 100 * MAX_INSTANCES:
                raise LimitExceeded(
                    f"templates are used with more than {MAX_INSTANCES} lists of arguments",
                    node.spot.shown(),
                    "does a template use itself with a longer argument?",
                )
        return self._rule(name, defined, dict(zip(parameters, given, strict=True)))
