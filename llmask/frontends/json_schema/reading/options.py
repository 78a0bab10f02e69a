"""What a caller may choose when a schema is compiled, and what compiling it gives.

In: settings, checked once. Out: `SchemaOptions`; `SchemaGrammar`, the rules with what they enforce. Cost: none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any

from llmask.arguments import as_list
from llmask.errors import GrammarError, LlmaskError
from llmask.forks import cached_property
from llmask.frontends.regex import compile_pattern
from llmask.frontends.regex.json_strings import ESCAPES, StringStyle
from llmask.grammar.rules import MakeVariant, Rules
from llmask.limits import Limits
from llmask.regex.nodes import RegexNodes

from .registries import Taken

LedgerEntry = tuple[str, str, str]

CHOICES: dict[str, tuple[Any, ...]] = {
    "format": ("assert", "annotate"),
    "unsupported": ("error", "ignore"),
    "property_order": ("schema", "any", "any_or_schema"),
    "numbers": ("json", "typed", "plain"),
    "literals": ("json", "any"),
    "unique_keys": (False, True),
    "closed": (False, True),
    "dialect": (None, "openapi-3.0"),
}
WHITE_SPACE = " \t\n\r"
MOST_KNOWN = 16  # options that are remembered
MAX_INDENT = 64  # blanks of one level
LEAVE_OUT = "leave it out for the default"
NAMED_ESCAPES = {"free": ESCAPES, "all": ESCAPES, "minimal": ""}


@dataclass(frozen=True)
class SchemaOptions:
    r"""How a schema becomes a grammar.

    Attributes
    ----------
    whitespace : "flexible", JSON's white space between any two lexemes; "compact", none at all; or a pattern (Python's
        syntax) that all white space between two lexemes matches. Where it does not match the empty text, white space
        is between any two lexemes.
    max_whitespace : bytes in one run of white space; `indent` writes as many as it needs.
    indent : None, or the document is written exactly as `json.dumps(indent=indent)` does: a line a member, indented
        by that many blanks, or copies of that text, a level. Depth is followed exactly in what the schema writes out,
        and in what it refers to down to a depth of `spacing.MAX_DEPTH`; below that, lines may be indented by any
        number of levels from that depth on to its double.
    format : "assert" enforces the formats that the specification defines, "annotate" none.
    formats : pattern (ECMA-262, a search as in `pattern`) of further formats by name; they go before the known ones.
    unsupported : "error" refuses a schema with a keyword that is not enforced; "ignore" lists it in the warnings.
    property_order : "schema": declared properties in their order, then the other required ones, then free ones. "any":
        every order, each declared key once. "any_or_schema": so, but for objects of more properties than are
        remembered (`limits.max_tracked_names`), which are written in the order of the schema, with a warning.
    unique_keys : False: a key without a schema of its own may be written twice, as JSON allows, where that cannot make
        the object invalid.
    numbers : "json": every writing, but where a keyword constrains the number an exponent only from 1e16 on and below
        1e-4, as in 1e+16 and 1.5e-05; integers without exponent, where `const` and `enum` do not list them; 1.0 is the
        integer 1.
        "typed": as "json", but integers never with a fraction, as types of Python read them.
        "plain": never an exponent, integers never with a fraction, listed numbers in their shortest spelling.
    escapes : escapes in strings: "free", all of them, and in those with a pattern or a format none of a letter, digit
        or sign that no program escapes; "all"; "minimal", those without which JSON cannot write a character, as
        `json.dumps(ensure_ascii=False)` does; or the letters that may follow a backslash (of `"/\bfnrtu`). A character
        that must be escaped and that none of the letters spells is written as in "minimal".
    literals : declared keys and the strings of `const` and `enum` have one spelling, that of
        `json.dumps(ensure_ascii=False)`, with "json", and every spelling that `escapes` allows with "any".
    closed : objects whose schemas declare keys, and say nothing of others, take no others, see `meaning/evaluated.py`.
    registry : other documents that references may name, a `referencing.Registry`.
    dialect : None: the draft that the schema declares. "openapi-3.0": a Schema Object of OpenAPI 3.0, which is draft 4
        (bounds are exclusive by booleans, beside `$ref` nothing counts) with `nullable`, which adds null to the `type`
        beside it; documents of the registry are read so, too, where they declare no draft.
    limits : budgets.
    """

    whitespace: str = "flexible"
    max_whitespace: int = 64
    indent: int | str | None = None
    format: str = "assert"
    formats: Mapping[str, str] = field(default_factory=dict)
    unsupported: str = "error"
    property_order: str = "schema"
    unique_keys: bool = False
    numbers: str = "json"
    escapes: str | Iterable[str] = "free"
    literals: str = "json"
    closed: bool = False
    registry: Any = None
    dialect: str | None = None
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            value = getattr(self, name)
            if type(value) not in map(type, choices) or value not in choices:
                listed = " or ".join(f'"{choice}"' if type(choice) is str else str(choice) for choice in choices)
                raise GrammarError(f"the option {name} must be {listed}, not {value!r}", help=LEAVE_OUT)
        if type(self.whitespace) is not str:
            raise GrammarError(
                f'the option whitespace must be "flexible", "compact" or a pattern, not {self.whitespace!r}',
                help=LEAVE_OUT,
            )
        if type(self.max_whitespace) is not int or self.max_whitespace < 0:
            raise GrammarError(
                f"the option max_whitespace must be a number of bytes, not {self.max_whitespace!r}", help=LEAVE_OUT
            )
        if self.indent is not None:
            self._check_indent()
        if not isinstance(self.formats, Mapping) or not all(
            isinstance(text, str) for pair in self.formats.items() for text in pair
        ):
            raise GrammarError(
                "formats are a dict from names to patterns, both str", help='for example {"zip": "[0-9]{5}"}'
            )
        object.__setattr__(self, "formats", dict(self.formats))  # the caller's may change
        if type(self.escapes) is not str or self.escapes not in NAMED_ESCAPES:
            object.__setattr__(self, "escapes", _checked_letters(self.escapes))

    def _check_indent(self) -> None:
        indent = self.indent
        is_count = type(indent) is int and 0 <= indent <= MAX_INDENT
        is_blank = type(indent) is str and len(indent) <= MAX_INDENT and not indent.strip(WHITE_SPACE)
        if not is_count and not is_blank:
            raise GrammarError(
                f"the option indent must be None, a number from 0 to {MAX_INDENT} or as many blanks, not {indent!r}",
                help=LEAVE_OUT,
            )
        if self.whitespace != "flexible":
            raise GrammarError(
                "the options indent and whitespace exclude each other", help="leave one of them at its default"
            )

    @cached_property
    def style(self) -> StringStyle:
        """How strings are written."""
        return StringStyle(NAMED_ESCAPES.get(str(self.escapes), str(self.escapes)), self.literals)

    @property
    def key(self) -> tuple[Any, ...]:
        """What two equal choices share and two different ones do not, the limits left out."""
        formats = tuple(sorted(self.formats.items())) if self.formats else ()
        registry = None if self.registry is None else SameObject(self.registry)
        # 1 equals True and 1.0, so types that are checked above need no place here; an indent is an int or a str
        return (
            *(self.whitespace, self.max_whitespace, self.indent, self.format, formats, self.unsupported),
            *(self.property_order, self.unique_keys, self.numbers, self.style, registry, self.dialect),
            *(self.closed, self.escapes == "free"),
        )


def options_within(limits: Limits) -> Callable[..., SchemaOptions]:
    """Who makes options with these limits, checked: one object of the same plain values, however often they come."""
    known = lru_cache(MOST_KNOWN, typed=True)(partial(SchemaOptions, limits=limits))

    def options(formats: Mapping[str, str] | None, registry: Any, **chosen: Any) -> SchemaOptions:
        if formats is None and registry is None and type(chosen["escapes"]) is str:
            try:
                return known(**chosen)
            except TypeError:  # a value without a hash: it is refused below
                pass
        return SchemaOptions(formats={} if formats is None else formats, registry=registry, limits=limits, **chosen)

    return options


def _checked_letters(escapes: Any) -> str:
    """Letters of escapes in their order.

    Raises
    ------
    GrammarError
        When it is something else.
    """
    letters = as_list(escapes)
    if not all(type(letter) is str and len(letter) == 1 and letter in ESCAPES for letter in letters):
        raise GrammarError(
            f'the option escapes must be "free", "all", "minimal" or letters of {ESCAPES}, not {escapes!r}',
            help='for example {"n", "t"} for line breaks and tabs as \\n and \\t only',
        )
    return "".join(sorted(set(letters)))


def check_formats(nodes: RegexNodes, formats: Mapping[str, str]) -> None:
    """Compile the patterns of formats, used or not.

    Raises
    ------
    GrammarError
        When one is malformed, with the name of its format. LimitExceeded when it is too large.
    """
    for name, pattern in formats.items():
        try:
            compile_pattern(nodes, pattern, dialect="ecma", json_string=True)
        except LlmaskError as error:
            raise type(error)(f'the format "{name}": {error.message}', error.where, error.help) from None


class SameObject:
    """A key for one object, whatever it finds itself equal to; keeps it alive, so that no other takes its place."""

    __slots__ = ("_object",)

    def __init__(self, kept: object) -> None:
        self._object = kept

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SameObject) and self._object is other._object

    def __hash__(self) -> int:
        return hash(id(self._object))


@dataclass
class SchemaGrammar:
    """A compiled schema.

    Attributes
    ----------
    rules : what the parser reads.
    warnings : what is not enforced although the schema says it, one sentence each with its JSON pointer.
    make_variant : writes rules without some values when a sequence needs them; None where none does.
    documents : what was taken from the caller's registry.
    count_stricter : how many variants so far allow less than they could.
    """

    rules: Rules
    warnings: list[str]
    make_ledger: Callable[[], list[LedgerEntry]]
    make_variant: MakeVariant | None = None
    documents: Sequence[Taken] = ()
    count_stricter: Callable[[], int] = int

    @cached_property
    def ledger(self) -> list[LedgerEntry]:
        """(JSON pointer of the schema, keyword, what became of it), made when first asked for.

        What became of it: "enforced"; "enforced: " and the form that values are written in, where the keyword alone
        would allow others; "annotation", with a reason where it could be more; or "ignored: " and the reason.
        """
        return self.make_ledger()
