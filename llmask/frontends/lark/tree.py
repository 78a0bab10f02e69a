"""What the text of a Lark grammar is made of, as it is written: names are not looked up, files not imported yet.

In: nothing. Out: the classes of the tree. Cost: none.
"""

from __future__ import annotations

from typing import NamedTuple, Union

from llmask.frontends.places import Spot
from llmask.grammar.expressions import Change, Condition


class Name(NamedTuple):
    """A rule, a terminal, or a parameter of a template."""

    spot: Spot
    name: str

    @property
    def is_terminal(self) -> bool:
        """Names of terminals are in upper case."""
        return is_terminal(self.name)


def is_terminal(name: str) -> bool:
    """Whether a name is one of a terminal: its first letter is a capital."""
    return name.lstrip("_")[:1].isupper()


class Text(NamedTuple):
    """A string: exactly these characters, in any case where `ignores_case`."""

    spot: Spot
    text: str
    ignores_case: bool


class Pattern(NamedTuple):
    """A regular expression between slashes, in Python's syntax, and the letters after it."""

    spot: Spot
    pattern: str
    flags: str


class Range(NamedTuple):
    """One character from `first` to `last`."""

    spot: Spot
    first: str
    last: str


class Usage(NamedTuple):
    """A template with its arguments."""

    spot: Spot
    name: str
    arguments: tuple[Node, ...]


class Called(NamedTuple):
    """A rule with a parameter, `name::set_bit(2)`."""

    spot: Spot
    name: str
    change: Change


class Row(NamedTuple):
    """Parts in a row, where a condition holds; `alias` is a name for the tree, which changes no text."""

    spot: Spot
    parts: tuple[Node, ...]
    alias: Spot | None = None
    condition: Condition | None = None


def without_rows(node: Node) -> Node:
    """What a row of one part, or a row of such a row, consists of."""
    while isinstance(node, Row) and len(node.parts) == 1:
        node = node.parts[0]
    return node


class Options(NamedTuple):
    """One of several."""

    spot: Spot
    options: tuple[Node, ...]


class Repeated(NamedTuple):
    """A part `low` to `high` times, without end where `high` is None."""

    spot: Spot
    part: Node
    low: int
    high: int | None


class Both(NamedTuple):
    """What all parts match."""

    spot: Spot
    parts: tuple[Node, ...]


class Negated(NamedTuple):
    """What the part does not match."""

    spot: Spot
    part: Node


class Json(NamedTuple):
    """A JSON schema, as text."""

    spot: Spot
    schema: str


class Structured(NamedTuple):
    """`%regex {...}`: a regular expression given as JSON."""

    spot: Spot
    value: object


class Nested(NamedTuple):
    """`%lark {...}`: a grammar inside the grammar."""

    spot: Spot
    statements: tuple[Statement, ...]


class Token(NamedTuple):
    """`<...>`: a special token, or ids of tokens."""

    spot: Spot
    text: str


class Attribute(NamedTuple):
    """What is in brackets after a rule's name."""

    spot: Spot
    name: str
    value: Node | float | None


Node = Union[  # noqa: UP007 (runtime on 3.10)
    Name, Text, Pattern, Range, Usage, Row, Options, Repeated, Both, Negated, Json, Structured, Nested, Token, Called
]


class Definition(NamedTuple):
    """A rule, a template or a terminal.

    how       "", "override" or "extend"
    spot      its name
    parameters  of a template
    is_parametric  it has a parameter: `name::_`
    """

    spot: Spot
    name: str
    parameters: tuple[str, ...]
    priority: int
    attributes: tuple[Attribute, ...]
    body: Node
    how: str = ""
    is_parametric: bool = False


class Ignore(NamedTuple):
    """`%ignore`."""

    spot: Spot
    body: Node


class Import(NamedTuple):
    """`%import`: names from another file, each with the name that it has here."""

    spot: Spot
    path: tuple[str, ...]
    is_relative: bool
    names: tuple[tuple[Name, str], ...]


class Declare(NamedTuple):
    """`%declare`."""

    spot: Spot
    names: tuple[Name, ...]


class Settings(NamedTuple):
    """`%llguidance {...}`."""

    spot: Spot
    value: object


Statement = Union[Definition, Ignore, Import, Declare, Settings]  # noqa: UP007
