"""What a caller may choose when a schema is compiled, and what compiling it gives.

In: settings, checked once. Out: `SchemaOptions`; `SchemaGrammar`, the rules with what they enforce. Cost: none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from llmask.errors import GrammarError
from llmask.grammar.rules import Rules
from llmask.limits import Limits

LedgerEntry = tuple[str, str, str]

CHOICES = {
    "whitespace": ("flexible", "compact"),
    "format": ("assert", "annotate"),
    "unsupported": ("error", "ignore"),
    "property_order": ("schema",),
}


@dataclass(frozen=True)
class SchemaOptions:
    """How a schema becomes a grammar.

    Attributes
    ----------
    whitespace : "flexible", JSON's white space between any two lexemes, or "compact", none at all.
    max_whitespace : bytes in one run of white space.
    format : "assert" enforces the formats that the specification defines, "annotate" none.
    formats : pattern (ECMA-262, a search as in `pattern`) of further formats by name; they go before the known ones.
    unsupported : "error" refuses a schema with a keyword that is not enforced; "ignore" lists it in the warnings.
    property_order : "schema": declared properties in their order, then the other required ones, then free ones.
    registry : a `referencing.Registry` of the documents that references may lead to; nothing else is looked up.
    limits : budgets.
    """

    whitespace: str = "flexible"
    max_whitespace: int = 64
    format: str = "assert"
    formats: Mapping[str, str] = field(default_factory=dict)
    unsupported: str = "error"
    property_order: str = "schema"
    registry: Any = None
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            value = getattr(self, name)
            if value not in choices:
                listed = " or ".join(f'"{choice}"' for choice in choices)
                raise GrammarError(f"the option {name} must be {listed}, not {value!r}")
        if type(self.max_whitespace) is not int or self.max_whitespace < 0:
            raise GrammarError(f"the option max_whitespace must be a number of bytes, not {self.max_whitespace!r}")


@dataclass
class SchemaGrammar:
    """A compiled schema.

    Attributes
    ----------
    rules : what the parser reads.
    warnings : what is not enforced although the schema says it, one sentence each with its JSON pointer.
    """

    rules: Rules
    warnings: list[str]
    make_ledger: Callable[[], list[LedgerEntry]]

    @cached_property
    def ledger(self) -> list[LedgerEntry]:
        """(JSON pointer of the schema, keyword, what became of it), made when first asked for.

        What became of it: "enforced", "annotation" (nothing is asked of it), or "ignored: " and the reason.
        """
        return self.make_ledger()
