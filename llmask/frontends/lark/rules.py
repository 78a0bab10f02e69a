"""From definitions to a `Grammar`: rules become expressions, templates are written out, terminals get their ranks.

    rule{a, b}   with its arguments is a rule of its own for each list of arguments
    aliases, ?rule, !rule, rule.2   are about trees, and change no text
    a ~ 2..3, a{2,3}, [a], a? ...   repetitions

In brackets after a rule's name are its attributes:

    capture, capture="x"  what the rule derives is captured under its name, or another one
    lazy                  its terminal ends where it first can
    suffix="x"            so does its terminal followed by x, which is no part of the capture
    stop="x"              as suffix, and the text "x" has to follow the rule wherever it is used, and is that x:
                          elsewhere x would have to be taken back, which no sampler can do with what it has written
    stop_capture="y"      what matched the suffix or stop is captured under this name
    temperature=0.7       of the sampler while the terminal is written (`Matcher.temperature`)
    max_tokens=10         the terminal is closed after 10 tokens (llmask/matching/max_tokens.py)

The last two are for rules that are one terminal; a temperature also for one schema or grammar that is put in.

Where several terminals end at the same byte, Lark takes one, and so do ranks: the higher priority, then strings before
patterns, then the pattern that can match more, then the longer one. llguidance takes all of them, which is what
`ties="all"` means.
Source: lark 1.3, load_grammar.py and lexer.py (`BasicLexer`, sort of `terminals`; `_create_unless`); llguidance,
docs/syntax.md, "Lexeme options".

In: definitions. Out: a `Grammar` and warnings. Cost: about 10 us a part; up to 0.1 s to see that a
terminal with `max_tokens` may end everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from llmask.errors import GrammarError, LimitExceeded
from llmask.frontends.lark.definitions import Defined, Definitions, Scope, read_settings
from llmask.frontends.lark.inside import NamedGrammars, check_inside, json_inside
from llmask.frontends.lark.terminals import Terminals
from llmask.frontends.lark.tree import (
    Attribute,
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
    without_rows,
)
from llmask.frontends.places import Spot, similar
from llmask.grammar.expressions import (
    EMPTY,
    Attributes,
    Call,
    Conditional,
    Ending,
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

KNOWN = ("capture", "lazy", "max_tokens", "stop", "stop_capture", "suffix", "temperature")
MOST_TOKENS = 2**31 - 1
MOST_STATES = 200  # of a terminal that is looked through
MAX_INSTANCES = 2000  # templates with their arguments
Inside = Callable[["Nested | Json | Token"], Expression]  # what a grammar or schema inside the grammar derives


def attributes_of(defined: Defined) -> dict[str, Attribute]:
    """The attributes of a definition by name.

    Raises
    ------
    GrammarError : one is not known, has a value that it cannot have, or is given with another one that excludes it.
    """
    assert defined.definition is not None
    found: dict[str, Attribute] = {}
    for attribute in defined.definition.attributes:
        name = attribute.name
        if name not in KNOWN:
            attribute.spot.refuse(
                f'the attribute "{name}" is not known', similar(name, KNOWN, f"known are {', '.join(KNOWN)}")
            )
        if name in found:
            attribute.spot.refuse(f"{name} is here twice", "take one of them out")
        _check_value(attribute)
        found[name] = attribute
    if "stop" in found and "suffix" in found:
        found["stop"].spot.refuse("stop and suffix cannot stand together", "take one of them out")
    if "stop_capture" in found and not found.keys() & {"stop", "suffix"}:
        found["stop_capture"].spot.refuse(
            "stop_capture captures what matched stop or suffix, and there is neither", "add one, or take it out"
        )
    return found


def _check_value(attribute: Attribute) -> None:
    name, value, spot = attribute.name, attribute.value, attribute.spot
    if name == "lazy" and value is not None:
        spot.refuse("lazy takes no value", "write [lazy]")
    if name == "capture" and value is not None and not (isinstance(value, Text) and value.text):
        spot.refuse("capture takes a name in quotes, or nothing", 'for example capture="answer"')
    if name == "stop_capture" and not (isinstance(value, Text) and value.text):
        spot.refuse("stop_capture takes a name in quotes", 'for example stop_capture="end"')
    if name in ("stop", "suffix") and not isinstance(value, (Name, Text, Pattern)):
        spot.refuse(f"{name} is a string, a pattern or a terminal", f'for example {name}="</think>"')
    if name in ("stop", "suffix") and isinstance(value, Text) and not value.text:
        spot.refuse(
            f'{name}="" waits for the end of the sequence, after which nothing is read', "take it out, or give a text"
        )
    if name == "temperature" and not (isinstance(value, float) and 0 <= value < float("inf")):
        spot.refuse("temperature is a number from 0 on", "for example temperature=0.7")
    if name == "max_tokens" and not (isinstance(value, float) and value.is_integer() and 1 <= value <= MOST_TOKENS):
        spot.refuse("max_tokens is a whole number from 1 on", "for example max_tokens=100")


def lazy_terminal(
    terminals: Terminals, defined: Defined, given: dict[str, Attribute]
) -> tuple[Expression, Ending | None]:
    """The terminal of a rule with `lazy`, `suffix` or `stop`, and how it ends."""
    body = defined.body
    assert body is not None
    ending = given.get("suffix") or given.get("stop")
    if ending is None:
        return terminals.lazy(body, defined.scope), None
    suffix = ending.value
    assert isinstance(suffix, (Name, Text, Pattern))
    whole = terminals.lazy(Row(body.spot, (body, suffix)), defined.scope)
    nodes = [terminals.closed(terminals.value(part, defined.scope), part.spot, is_lazy=True) for part in (body, suffix)]
    capture = given.get("stop_capture")
    return whole, Ending(nodes[0], nodes[1], _name(capture) if capture is not None else None)


def said_of(
    nodes: RegexNodes, name: str, expression: Expression, given: dict[str, Attribute], ending: Ending | None
) -> Attributes:
    """What attributes say of a rule that derives an expression.

    Raises
    ------
    GrammarError : an attribute has no meaning for this rule.
    """
    temperature, most = given.get("temperature"), given.get("max_tokens")
    if temperature is not None and not isinstance(expression, (Lexeme, Inclusion)):
        temperature.spot.refuse("temperature is for rules that are one terminal", "give it to the rules that are")
    if most is not None:
        if not isinstance(expression, Lexeme):
            most.spot.refuse("max_tokens is for rules that are one terminal", "give it to the rules that are")
        if not _may_end_everywhere(nodes, expression.node):
            most.spot.refuse(
                "max_tokens can close a terminal anywhere, and this one may not end everywhere",
                "write a terminal such as /.*/, without suffix or lazy, and what ends it after the rule",
            )
    capture = given.get("capture")
    return Attributes(
        None if capture is None else name if capture.value is None else _name(capture),
        temperature.value if temperature is not None and isinstance(temperature.value, float) else None,
        int(most.value) if most is not None and isinstance(most.value, float) else None,
        ending,
    )


def _name(attribute: Attribute) -> str:
    assert isinstance(attribute.value, Text)
    return attribute.value.text


def _may_end_everywhere(nodes: RegexNodes, node: int) -> bool:
    """Whether a terminal may end after every character; of large ones not all is looked at."""
    waiting = [(node, 0)]  # what is left, and how many bytes of a character are still to come
    seen = set(waiting)
    while waiting and len(seen) < MOST_STATES:
        left, n_open = waiting.pop(0)
        for byte in range(256):
            after = nodes.derivative(left, byte)
            if after == nodes.EMPTY or nodes.is_empty(after):
                continue
            n_left = n_open - 1 if n_open else (byte >= 0xC0) + (byte >= 0xE0) + (byte >= 0xF0)
            if n_left == 0 and not nodes.is_nullable(after):
                return False
            if (after, n_left) not in seen:
                seen.add((after, n_left))
                waiting.append((after, n_left))
    return True


def same_text(one: Node, other: Node) -> bool:
    """Whether two terminals are written alike."""
    one = without_rows(one)
    return type(one) is type(other) and isinstance(one, (Name, Text, Pattern)) and one[1:] == other[1:]


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
        GrammarError : something is not defined, or is not what it has to be in its place.
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
        body = without_rows(body)
        named, anonymous = self.terminals.named, self.terminals.anonymous
        return named(body, scope) if isinstance(body, Name) else anonymous(body, scope)

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
                node.spot.refuse("a condition is in a rule that has no parameter", "define the rule as name::_")
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
        """The parts of a row; what stops a rule is read by that rule and left out after it."""
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
