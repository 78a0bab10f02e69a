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
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from llmask.errors import GrammarError, LimitExceeded
from llmask.frontends.lark.attributes import attributes_of, lazy_terminal, said_of, same_text
from llmask.frontends.lark.definitions import Defined, Definitions, Scope, read_settings
from llmask.frontends.lark.inside import NamedGrammars, check_inside, json_inside
from llmask.frontends.lark.terminals import Terminals
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
    Attributes,
    Call,
    Conditional,
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
from llmask.grammar.late import lower
from llmask.grammar.token_ranges import read_tokens

if TYPE_CHECKING:
    from llmask.frontends.lark.definitions import Folder
    from llmask.limits import Limits
    from llmask.regex.nodes import RegexNodes

MAX_INSTANCES = 2000  # templates with their arguments
Inside = Callable[["Nested | Json | Token"], Expression]  # what a grammar or schema inside the grammar derives


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
    directory: Folder | None,
    ties: str | None,
    named: NamedGrammars | None = None,
    is_exact: bool = False,
) -> ReadGrammar:
    """Read a grammar; see `llmask.Compiler.lark` for the arguments and errors, `is_exact` is its `lexer`."""
    definitions = Definitions(directory)
    definitions.load(statements)
    settings = read_settings(definitions.settings)
    ties = ties or ("first" if settings is None else "all")
    warnings: list[str] = []
    known = NamedGrammars({}) if named is None else named

    def nested(spot: Spot, inner: tuple[Statement, ...], directory: Folder | None, text: str | None) -> Expression:
        read = read_grammar(nodes, inner, limits, "start", directory, ties, known, is_exact)
        check_inside(spot, read.grammar)
        lowered = lower(nodes, read.grammar)
        label = text or "%lark"
        warnings.extend(f"{label} at {spot.short()}: {warning}" for warning in read.warnings + lowered.warnings)
        part = Inclusion(lowered.rules, text or f"%lark {{\n{read.shown}\n}}", is_greedy=not is_exact)
        return optional(part) if derives_nothing_too(lowered.rules) else part

    def inside(node: Nested | Json | Token) -> Expression:
        if isinstance(node, Json):
            return json_inside(nodes, node, limits, warnings)
        if isinstance(node, Nested):
            return nested(node.spot, node.statements, directory, None)
        return known.find(
            node,
            lambda inner: nested(node.spot, inner, None, node.text),
            lambda schema: json_inside(nodes, Json(node.spot, schema), limits, warnings),
        )

    writer = GrammarWriter(nodes, definitions, inside)
    grammar = writer.grammar(start)
    if settings is not None and settings.ignores_once:
        grammar = replace(grammar, ignores_once=True)
    shown = with_lexemes(grammar, writer.by_priority())
    ranked = with_lexemes(grammar, writer.ranked()) if ties == "first" else shown
    return ReadGrammar(ranked, shown, warnings + writer.warnings + [*writer.terminals.warnings])


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
    attributes : what is said of them.
    parametric : those with a parameter.
    warnings : what the author should know.
    """

    def __init__(self, nodes: RegexNodes, definitions: Definitions, inside: Inside) -> None:
        self.nodes = nodes
        self.definitions = definitions
        self.terminals = Terminals(nodes, definitions)
        self.inside = inside
        self.rules: dict[str, Expression] = {}
        self.places: dict[str, str] = {}
        self.attributes: dict[str, Attributes] = {}
        self.parametric: set[str] = set()
        self._has_parameter = False  # the rule that is being written
        self.warnings: list[str] = []
        self._waiting: list[tuple[str, Defined, dict[str, Expression]]] = []
        self._instances: dict[tuple[str, tuple[Expression, ...]], str] = {}
        self._included: dict[Spot, Expression] = {}

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
            self.rules[name] = self._body(name, defined, arguments)
        if self._stop_of(Name(known[start].spot, start), Scope(), {}) is not None:
            self._refuse_stop(Name(known[start].spot, start))
        ignored = [self._ignored(body, scope) for _, body, scope in self.definitions.ignored]
        return Grammar(
            *(self.rules, start, tuple(dict.fromkeys(ignored)), self.places),
            attributes=self.attributes,
            parametric=frozenset(self.parametric),
        )

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

    def _body(self, name: str, defined: Defined, arguments: dict[str, Expression]) -> Expression:
        assert defined.body is not None
        assert defined.definition is not None
        given = attributes_of(defined)
        self._has_parameter = defined.definition.is_parametric
        if self._has_parameter:
            self.parametric.add(name)
            for attribute in given.values():
                attribute.spot.refuse("attributes are not for rules with a parameter", "give them to a rule around it")
        ending = None
        if given.keys() & {"lazy", "suffix", "stop"}:
            found, ending = lazy_terminal(self.terminals, defined, given)
        else:
            found = self._expression(defined.body, defined.scope, arguments)
        said = said_of(self.nodes, defined.definition.name, found, given, ending)
        if said != Attributes():
            self.attributes[name] = said
        return found

    # --- expressions

    def _expression(self, node: Node, scope: Scope, arguments: dict[str, Expression]) -> Expression:
        if isinstance(node, Row):
            found = sequence(self._row(node, scope, arguments))
            if node.condition is None:
                return found
            if not self._has_parameter:
                node.spot.refuse("a condition stands in a rule that has no parameter", "define the rule as name::_")
            return Conditional(node.condition, found)
        if isinstance(node, Called):
            return self._called(node, scope)
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
            return self._tokens(node)
        if node.spot not in self._included:
            self._included[node.spot] = self.inside(node)
        return self._included[node.spot]

    def _row(self, node: Row, scope: Scope, arguments: dict[str, Expression]) -> list[Expression]:
        """The parts of a row; what stops a rule is read by that rule and left out behind it."""
        found: list[Expression] = []
        stop: Node | None = None
        for n, part in enumerate(node.parts):
            if stop is not None:
                stop = None
                continue
            stop = self._stop_of(part, scope, arguments)
            if stop is not None and (n + 1 == len(node.parts) or not same_text(node.parts[n + 1], stop)):
                self._refuse_stop(part)
            found.append(self._expression(part, scope, arguments) if stop is None else self._call(part, scope))
        return found

    def _stop_of(self, node: Node, scope: Scope, arguments: dict[str, Expression]) -> Node | None:
        """What stops the rule that a node names, if something does."""
        if not isinstance(node, Name) or node.is_terminal or node.name in arguments:
            return None
        defined = self.definitions.known.get(scope.name(node.name))
        attributes = defined.definition.attributes if defined is not None and defined.definition is not None else ()
        found = next((attribute.value for attribute in attributes if attribute.name == "stop"), None)
        return found if isinstance(found, tuple) and found != Text(found[0], "", False) else None

    def _refuse_stop(self, node: Node) -> NoReturn:
        node.spot.refuse(
            "what stops this rule is not part of it, and no sampler takes back what it has written",
            "let the same text follow wherever the rule is used, or write suffix=... instead of stop=...",
        )

    def _tokens(self, node: Token) -> Expression:
        table = self.nodes.table
        if node.text.startswith("@"):
            return self.inside(node)
        assert table is not None, "grammars are compiled for a vocabulary"
        try:
            return read_tokens(table, node.text)
        except GrammarError as error:
            node.spot.refuse(error.message, error.help or "name another one")

    def _name(self, node: Name, scope: Scope, arguments: dict[str, Expression]) -> Expression:
        if node.name in arguments:
            return arguments[node.name]
        if node.is_terminal:
            return self.terminals.named(node, scope)
        if self._stop_of(node, scope, arguments) is not None:
            self._refuse_stop(node)
        return self._call(node, scope)

    def _called(self, node: Called, scope: Scope) -> Expression:
        """A rule with a parameter."""
        full, defined = self.definitions.find(Name(node.spot, node.name), scope)
        assert defined.definition is not None
        if not defined.definition.is_parametric:
            node.spot.refuse(f'"{node.name}" has no parameter', f"write {node.name}, or define it as {node.name}::_")
        if node.change.function != "value" and not self._has_parameter:
            node.spot.refuse(
                f"there is no parameter here from which {node.change.text} could be computed",
                f"give a number: {node.name}::0",
            )
        self._rule(full, defined)
        return Call(full, node.change)

    def _call(self, node: Node, scope: Scope) -> Expression:
        """The rule that a node names."""
        assert isinstance(node, Name)
        full, defined = self.definitions.find(node, scope)
        assert defined.definition is not None
        if defined.definition.is_parametric:
            node.spot.refuse(f'"{node.name}" has a parameter', f"give it one: {node.name}::0")
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
        name = self._instances.get((full, tuple(given)))
        if name is None:
            name = f"{full}{{{', '.join(written(argument) for argument in given)}}}"
            if name in self.rules:  # what is different may be written alike: `%regex {...}`
                name += f" {len(self._instances)}"
            self._instances[full, tuple(given)] = name
            if len(self._instances) > MAX_INSTANCES or len(name) > 100 * MAX_INSTANCES:
                raise LimitExceeded(
                    f"templates are used with more than {MAX_INSTANCES} lists of arguments",
                    node.spot.shown(),
                    "does a template use itself with a longer argument?",
                )
        return self._rule(name, defined, dict(zip(parameters, given, strict=True)))
