r"""Patterns as text to nodes over bytes: for `Compiler.regex`, and "pattern" and "format" of JSON schemas.

    text -- python_syntax | ecma_syntax --> tree -- ends, meaning (left_context, equations, atomic) --> node

Two dialects: Python's `re` with the meaning of `re.fullmatch` or of `re.search`, and "ecma", the pattern language of
JSON Schema, which searches. Either speaks about raw UTF-8 or, with `json_string`, about the inside of a JSON string in
all its spellings.

In: a pattern. Out: a node id. Cost: 50-100 us for an ordinary pattern; remembered in `nodes.memo`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal

from llmask.errors import LimitExceeded, LlmaskError
from llmask.frontends.regex.json_strings import json_char, json_literal_any_spelling, spell_json
from llmask.regex.utf8 import utf8_char, utf8_literal
from llmask.work import spend

if TYPE_CHECKING:
    from llmask.regex.nodes import RegexNodes

__all__ = ["compile_pattern"]

MAX_PATTERN_LENGTH = 2**18  # the longest of a thousand real ones has 3,000 characters
SHORT = 3000  # characters; each further one takes 4 units


def compile_pattern(
    nodes: RegexNodes,
    pattern: str | tuple[str, ...],
    dialect: Literal["python", "ecma"] = "python",
    json_string: bool = False,
    is_negated: bool = False,
    is_search: bool = False,
) -> int:
    r"""Node of the texts that a pattern matches.

    Parameters
    ----------
    nodes : where the node is made.
    pattern : the pattern; of several, the texts that one of them matches. They become one search, `.*(a|b).*`, where
        they do not look around: of a union of 300 searches each byte asked each for its derivative.
    dialect : "python": the texts that `re.fullmatch` matches; "ecma": those in which ECMA-262 (flag u) finds one.
    is_search : with "python", the texts in which `re.search` finds a match.
    json_string : the node is of the texts' JSON spellings, without the quotes, instead of their UTF-8.
    is_negated : the node is of all other texts. Their complement within all text says the same, but is found to be
        empty beside others only after a search of all states, where this is empty once the pattern was found.

    Raises
    ------
    GrammarError
        With the column, when the pattern is malformed or no regular language can express it (backreferences).
    LimitExceeded
        When the pattern is too long, nests too deep, or its look-arounds need too many states.

    Examples
    --------
    >>> node = compile_pattern(nodes, r"\d{4}-\d{2}")
    >>> nodes.matches(node, b"2024-05")
    True
    """
    is_search = is_search or dialect == "ecma"
    key = (__name__, pattern, dialect, json_string, is_negated, is_search)
    found = nodes.memo.get(key)
    if found is None:
        patterns = (pattern,) if isinstance(pattern, str) else pattern
        found = nodes.memo[key] = _compile(nodes, patterns, dialect, json_string, is_negated, is_search)
    return int(found)


def _compile(
    nodes: RegexNodes,
    patterns: tuple[str, ...],
    dialect: str,
    json_string: bool,
    is_negated: bool,
    is_search: bool,
) -> int:
    from llmask.frontends.regex.ecma_syntax import EcmaParser
    from llmask.frontends.regex.equations import Spelling
    from llmask.frontends.regex.meaning import tree_node
    from llmask.frontends.regex.python_syntax import PythonParser
    from llmask.frontends.regex.shapes import absent, alternatives_of, search, whole_match

    quoted = Spelling(json_char, json_literal_any_spelling, partial(spell_json, nodes))
    assert dialect in ("python", "ecma"), dialect
    spelling = quoted if json_string else Spelling(utf8_char, utf8_literal, str.encode)
    parsed = []
    pattern = ""
    try:
        for pattern in patterns:
            if len(pattern) > MAX_PATTERN_LENGTH:
                raise LimitExceeded(
                    f"the pattern has {len(pattern)} characters, more than {MAX_PATTERN_LENGTH}",
                    help="Shorten it, or raise the limit.",
                )
            spend(len(pattern) + 3 * max(len(pattern) - SHORT, 0))
            parsed.append((PythonParser if dialect == "python" else EcmaParser)(pattern).parse())
        trees = [search(one) if is_search else whole_match(one) for one in alternatives_of(parsed)]
        assert len(trees) == 1 or not is_negated, "what one pattern is not is no part of what others are"
        return nodes.union([tree_node(nodes, spelling, absent(one) if is_negated else one) for one in trees])
    except RecursionError:
        raise LimitExceeded(
            "the pattern nests deeper than what is left of Python's stack",
            f"the pattern {shorten(pattern)}",
            "Flatten its groups, or compile it from fewer nested calls.",
        ) from None
    except LlmaskError as error:
        if error.where is None:
            raise type(error)(error.message, f"the pattern {shorten(pattern)}", error.help) from error
        raise


def shorten(pattern: str) -> str:
    """A pattern as it is shown in an error."""
    return pattern if len(pattern) <= 80 else pattern[:77] + "..."
