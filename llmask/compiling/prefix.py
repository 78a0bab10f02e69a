"""A prefix before the document of a canonical grammar: both are read as one grammar.

What is canonical behind a prefix depends on how the prefix was split, and a token may cross its end. So the tokens that
spell it are looked ahead of like all others: the document's grammar is put behind the text
(llmask/compiling/algebra.py), and a matcher of that is a canonical one like any other. A matcher that makes masks
inside of the prefix itself, as llmask/matching/healing.py does, would have to search behind some ten thousand tokens
that cross its end.

In: a grammar, bytes. Out: a grammar. Cost: that of compiling the grammar; the last prefixes are remembered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import GrammarError, LlmaskError
from .algebra import choice_text, lexeme_grammar

if TYPE_CHECKING:
    from .compiled import CompiledGrammar

MOST_REMEMBERED = 16


def behind(prefix: bytes, grammar: CompiledGrammar) -> CompiledGrammar:
    """The grammar of a prefix and a document behind it.

    Raises
    ------
    LlmaskError : the grammar cannot be put behind anything.
    LimitExceeded : it is too large for that.
    """
    known = grammar.behind_prefixes  # several threads may be here: what one remembers another may drop
    joined = known.get(prefix)
    if joined is None:
        node = grammar.store.nodes.literal(prefix)
        text = lexeme_grammar(grammar.store, node, lambda: choice_text([prefix.decode("utf-8", "replace")]))
        try:
            joined = text.concat(grammar)
        except GrammarError as error:
            raise LlmaskError(
                f"this canonical grammar takes no prefix: {error.message}",
                help="compile without canonical=True, or drop the prefix",
            ) from error
        for oldest in list(known)[: max(len(known) + 1 - MOST_REMEMBERED, 0)]:
            known.pop(oldest, None)
        known[prefix] = joined
    return joined
