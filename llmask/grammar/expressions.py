r"""The form of a grammar that every text frontend writes: named rules over lexemes, as values that never change.

    Lexeme      bytes that the lexer recognises as one terminal: a regex node, how it is written, its name, its priority
    TokenSet    one token of a set, by its id: a terminal besides the lexer, which never sees it
    Reference   a rule, by name
    Sequence    one part after the other
    Choice      one of the options
    Repeat      a part `low` to `high` times (None: without end)
    Inclusion   what other rules derive, as of a JSON schema, with white space of their own
    Call        a rule for a value of its parameter, and
    Conditional a part where a condition on the parameter holds; both are written out for one value (late.py)
    EMPTY       the empty string: a sequence without parts

`Attributes` are what a grammar says of a rule besides what it derives: its name in captures, how it is sampled, when it
is closed.

Left, right and mutual recursion, nullable rules and cycles are all right. `lowering.py` turns a grammar into `Rules`,
the automata that the parser reads; and finds the rules that derive nothing. `str(grammar)` writes it in a
normal form of Lark's notation, the start rule first and every terminal that has a name once, after the rules:

    start: "[" (value ("," value)*)? "]"
    value: start | NUMBER

    NUMBER: /[0-9]+/
    %ignore WS

Values are compared by what they are, so equal parts written twice are equal. Nodes are numbers of one store
(llmask/regex/nodes.py): grammars of different stores cannot be put together.

In: calls of a frontend. Out: a `Grammar`. Cost: about a microsecond a part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from llmask.grammar.rules import MakeLate, Rules


class Ending(NamedTuple):
    """A terminal that ends with a part which is not captured: `[suffix=...]`.

    body     node of what is captured
    suffix   node of what ends it
    capture  name under which the suffix is captured, or None
    """

    body: int
    suffix: int
    capture: str | None = None


class Attributes(NamedTuple):
    """Of one rule; None: nothing was said.

    capture      the bytes that it derives are captured under this name
    temperature  of the sampler, while tokens of its terminal are written
    max_tokens   its terminal is closed after this number of tokens
    ending       how its terminal ends
    """

    capture: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    ending: Ending | None = None

    def __str__(self) -> str:
        said = {"capture": self.capture, "temperature": self.temperature, "max_tokens": self.max_tokens}
        parts = [
            f'{name}="{value}"' if name == "capture" else f"{name}={value}"
            for name, value in said.items()
            if value is not None
        ]
        return f"[{', '.join(parts)}]" if parts else ""


# What is computed of a rule's parameter: the parameters of the rules that it uses, and conditions. `[x:y]` are the bits
# from x to below y, as a number; `_` means all of them. Counting up or down stops at the ends. Source: llguidance,
# docs/parametric.md, "Function reference".
#   changes     set_bit(k)  clear_bit(k)  bit_and(v)  bit_or(v)  incr([x:y])  decr([x:y])  _  v
#   conditions  true  bit_set(k)  bit_clear(k)  is_ones([x:y])  is_zeros([x:y])  and(c, c)  or(c, c)  not(c)
#               eq  ne  lt  le  gt  ge ([x:y], v)     bit_count_eq  ... ge ([x:y], k)
N_BITS = 64
ALL_BITS = 2**N_BITS - 1
COMPARED = {"eq": int.__eq__, "ne": int.__ne__, "lt": int.__lt__, "le": int.__le__, "gt": int.__gt__, "ge": int.__ge__}


class Bits(NamedTuple):
    """The bits from `low` to below `high`."""

    low: int
    high: int

    def of(self, parameter: int) -> int:
        """Their number."""
        return parameter >> self.low & self.most

    @property
    def most(self) -> int:
        """The number where all are set."""
        return (1 << self.high - self.low) - 1


class Change(NamedTuple):
    """The parameter of a rule that is used, computed from that of the rule that uses it.

    function  as above, "_" or "value"
    number    k or v
    bits      [x:y]
    text      how it is written
    """

    function: str
    number: int
    bits: Bits
    text: str

    def of(self, parameter: int) -> int:
        """The new parameter."""
        return CHANGES[self.function](parameter, self.number, self.bits)


CHANGES: dict[str, Callable[[int, int, Bits], int]] = {
    "value": lambda parameter, number, bits: number,
    "set_bit": lambda parameter, number, bits: parameter | 1 << number,
    "clear_bit": lambda parameter, number, bits: parameter & ~(1 << number),
    "bit_and": lambda parameter, number, bits: parameter & number,
    "bit_or": lambda parameter, number, bits: parameter | number,
    "incr": lambda parameter, number, bits: parameter + (bits.of(parameter) != bits.most) * (1 << bits.low),
    "decr": lambda parameter, number, bits: parameter - (bits.of(parameter) != 0) * (1 << bits.low),
    "_": lambda parameter, number, bits: parameter,
}


class Condition(NamedTuple):
    """What has to hold of a parameter.

    function  as above
    number    k or v
    bits      [x:y]
    inner     conditions that it combines
    text      how it is written
    """

    function: str
    number: int
    bits: Bits
    inner: tuple[Condition, ...]
    text: str

    def holds(self, parameter: int) -> bool:
        """Whether it holds."""
        function = self.function
        if function in ("and", "or"):
            together = all if function == "and" else any
            return together(condition.holds(parameter) for condition in self.inner)
        if function == "not":
            return not self.inner[0].holds(parameter)
        if function == "true":
            return True
        if function in ("bit_set", "bit_clear"):
            return (parameter >> self.number & 1 == 1) == (function == "bit_set")
        found = self.bits.of(parameter)
        if function in ("is_ones", "is_zeros"):
            return found == (self.bits.most if function == "is_ones" else 0)
        if function.startswith("bit_count_"):
            found = found.bit_count()
        return COMPARED[function[-2:]](found, self.number)


@dataclass(frozen=True)
class Lexeme:
    """Bytes that the lexer recognises as one terminal.

    Parameters
    ----------
    node : what it matches. Where that holds the empty string, the lexeme is optional.
    text : how it is written: `"if"` or `/[0-9]+/`.
    name : the terminal's name, where it has one.
    priority : where several lexemes end at the same byte, the lexemes of the highest priority are taken.
    is_longest : in exact lexing, too, it is as long as it can be.
    """

    node: int
    text: str
    name: str | None = None
    priority: int = 0
    is_longest: bool = False


@dataclass(frozen=True)
class TokenSet:
    """One token, by its id; most such tokens are special ones, which have no text.

    A token that has text is taken by its id here, as this part of the grammar and not as its text: where its text could
    be read at the same place, too, it is not read.

    Parameters
    ----------
    ranges : first and last id of each range, in their order, apart from each other; see `token_ranges.py`.
    text : how it is written: `<|eot_id|>`, `<[10,20-30]>`.
    is_excluded : any other token of the vocabulary is meant, ends of sequence left aside.
    """

    ranges: tuple[tuple[int, int], ...]
    text: str
    is_excluded: bool = False


@dataclass(frozen=True)
class Reference:
    """What the rule of this name derives."""

    name: str


@dataclass(frozen=True)
class Sequence:
    """One part after the other; see `sequence`."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True)
class Choice:
    """One of the options; there is at least one. See `choice`."""

    options: tuple[Expression, ...]


@dataclass(frozen=True)
class Repeat:
    """`part`, `low` to `high` times; without end where `high` is None."""

    part: Expression
    low: int = 0
    high: int | None = None

    def __post_init__(self) -> None:
        high = self.low if self.high is None else self.high
        assert 0 <= self.low <= high, "frontends say where bounds are wrong"


@dataclass(frozen=True)
class Inclusion:
    """What other rules derive (`inclusion.py`), the empty string aside.

    Parameters
    ----------
    rules : over nodes of the same store; compared by identity.
    text : how they are written.
    is_whole : what the rules ignore at their ends may stand there; else what is around them decides.
    is_greedy : their lexemes are as long as they can be, even where that loses texts.
    is_prefix_code : of two lexemes that they expect at one place none is the beginning of the other.
    """

    rules: Rules
    text: str
    is_whole: bool = False
    is_greedy: bool = False
    is_prefix_code: bool = False


@dataclass(frozen=True)
class Call:
    """What a rule derives for the value that a change makes of the parameter."""

    name: str
    change: Change


@dataclass(frozen=True)
class Conditional:
    """`part` where a condition holds of the parameter, else nothing at all."""

    condition: Condition
    part: Expression


Expression = Lexeme | TokenSet | Reference | Sequence | Choice | Repeat | Inclusion | Call | Conditional
EMPTY = Sequence(())


def sequence(parts: Iterable[Expression]) -> Expression:
    """Parts in a row, without sequences inside sequences."""
    flat: list[Expression] = []
    for part in parts:
        flat += part.parts if isinstance(part, Sequence) else (part,)
    return flat[0] if len(flat) == 1 else Sequence(tuple(flat))


def choice(options: Iterable[Expression]) -> Expression:
    """One of several options, each written once, without choices inside choices."""
    flat: dict[Expression, None] = {}
    for option in options:
        flat.update(dict.fromkeys(option.options if isinstance(option, Choice) else (option,)))
    assert flat, "nothing to choose from"
    return next(iter(flat)) if len(flat) == 1 else Choice(tuple(flat))


def optional(part: Expression) -> Expression:
    """`part`, or nothing."""
    return Repeat(part, 0, 1)


def parts_of(expression: Expression) -> tuple[Expression, ...]:
    """The expressions that one is made of, one level down."""
    if isinstance(expression, Sequence):
        return expression.parts
    if isinstance(expression, Choice):
        return expression.options
    return (expression.part,) if isinstance(expression, (Repeat, Conditional)) else ()


def leaves(expression: Expression) -> Iterator[Lexeme | TokenSet | Reference | Inclusion | Call]:
    """Every lexeme, token set, reference, inclusion and call in an expression, from left to right."""
    waiting = [expression]
    while waiting:
        found = waiting.pop()
        if isinstance(found, (Lexeme, TokenSet, Reference, Inclusion, Call)):
            yield found
        else:
            waiting += reversed(parts_of(found))


def rebuilt(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """An expression with each of its parts, one level down, changed."""
    if isinstance(expression, Sequence):
        return sequence(map(change, expression.parts))
    if isinstance(expression, Choice):
        return choice(map(change, expression.options))
    if isinstance(expression, Repeat):
        return Repeat(change(expression.part), expression.low, expression.high)
    if isinstance(expression, Conditional):
        return Conditional(expression.condition, change(expression.part))
    return expression


def kept(expression: Expression, leaf: Callable[[Expression], Expression | None]) -> Expression | None:
    """An expression with its leaves, and its conditions, as a function has them; None: that part is left out.

    With it go the rows that need it; None where nothing is left.
    """
    if isinstance(expression, Repeat):
        part = kept(expression.part, leaf)
        if part is None:
            return EMPTY if expression.low == 0 else None
        return Repeat(part, expression.low, expression.high)
    if not isinstance(expression, (Sequence, Choice)):
        return leaf(expression)
    inner = parts_of(expression)
    left = [part for one in inner if (part := kept(one, leaf)) is not None]
    if isinstance(expression, Sequence):
        return sequence(left) if len(left) == len(inner) else None
    return choice(left) if left else None


def mapped(expression: Expression, lexemes: Mapping[Lexeme, Lexeme]) -> Expression:
    """An expression with other lexemes in the places of some."""
    if isinstance(expression, Lexeme):
        return lexemes.get(expression, expression)
    return rebuilt(expression, lambda part: mapped(part, lexemes))


def renamed(expression: Expression, names: Mapping[str, str]) -> Expression:
    """An expression that refers to rules by other names."""
    if isinstance(expression, Reference):
        return Reference(names.get(expression.name, expression.name))
    return rebuilt(expression, lambda part: renamed(part, names))


@dataclass(frozen=True)
class Grammar:
    """Named rules and where to start.

    Parameters
    ----------
    rules : what each rule derives.
    start : the rule that derives whole documents.
    ignored : may stand between any two lexemes, before the first and after the last, any number of times.
    ignores_once : it is not matched twice in a row.
    attributes : what is said of rules besides what they derive.
    parametric : rules that have a parameter.
    places : where rules are defined, for errors ("line 3, column 1", and lines that show it) and warnings (the first).
    """

    rules: Mapping[str, Expression]
    start: str = "start"
    ignored: tuple[Lexeme, ...] = ()
    places: Mapping[str, str] = field(default_factory=dict, compare=False)
    ignores_once: bool = False
    attributes: Mapping[str, Attributes] = field(default_factory=dict)
    parametric: frozenset[str] = frozenset()

    def terminals(self) -> dict[str, Lexeme]:
        """The lexemes that have a name, in the order in which the rules use them."""
        found = {leaf.name: leaf for rule in self.rules.values() for leaf in leaves(rule) if isinstance(leaf, Lexeme)}
        found.update((lexeme.name, lexeme) for lexeme in self.ignored)
        return {name: lexeme for name, lexeme in found.items() if name is not None}

    def __str__(self) -> str:
        names = sorted(self.rules, key=lambda name: name != self.start)
        lines = [
            f"{name}{'::_' * (name in self.parametric)}{self.attributes.get(name, '')}: {written(self.rules[name])}"
            for name in names
        ]
        terminals = [
            f"{name}{f'.{lexeme.priority}' if lexeme.priority else ''}: {lexeme.text}"
            for name, lexeme in self.terminals().items()
        ]
        ignored = [f"%ignore {written(lexeme)}" for lexeme in self.ignored]
        return "\n".join([*lines, *([""] if terminals or ignored else []), *terminals, *ignored])


class Lowered(NamedTuple):
    """What a grammar in text is made into: rules, what their author should know, and the grammar that they were.

    regions   attributes of the rules whose terminals are sampled or closed in a way of their own
    is_exact  the rules are for exact lexing (exact/fusing.py)
    make_late writes the states that late skips lead to, where there are some
    """

    rules: Rules
    warnings: list[str]
    grammar: Grammar | None = None
    regions: Mapping[int, Attributes] = MappingProxyType({})
    is_exact: bool = False
    make_late: MakeLate | None = None


ANYTHING, NO_CHOICE, ONE_PART = range(3)  # what may stand somewhere without parentheses
SIGNS = {(0, 1): "?", (0, None): "*", (1, None): "+"}


def written(expression: Expression, allowed: int = ANYTHING) -> str:
    """An expression in Lark's notation, in parentheses where it is more than what is allowed without them."""
    if isinstance(expression, Lexeme):
        return expression.name or expression.text
    if isinstance(expression, Reference):
        return expression.name
    if isinstance(expression, Call):
        return f"{expression.name}::{expression.change.text}"
    if isinstance(expression, (TokenSet, Inclusion)):
        return expression.text
    if isinstance(expression, Repeat):
        low, high = expression.low, expression.high
        bounds = str(low) if low == high else f"{low},{'' if high is None else high}"
        text = written(expression.part, ONE_PART) + (SIGNS.get((low, high)) or f"{{{bounds}}}")
        is_allowed = allowed != ONE_PART
    elif isinstance(expression, Conditional):
        text = f"{written(expression.part, NO_CHOICE)} %if {expression.condition.text}"
        is_allowed = allowed == ANYTHING
    elif isinstance(expression, Sequence):
        text = " ".join(written(part, NO_CHOICE) for part in expression.parts)
        is_allowed = allowed != ONE_PART if text else allowed == ANYTHING
    else:
        text = " | ".join(
            written(option, ANYTHING if isinstance(option, Conditional) else NO_CHOICE) for option in expression.options
        )
        is_allowed = allowed == ANYTHING
    return text if is_allowed else f"({text})"
