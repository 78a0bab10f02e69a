"""Tokens that grammars name: by name, by ids, all but some; and their terminal.

    <|eot_id|>          the token that is written so in the vocabulary
    <[10,20-30]>        ids and ranges of ids, ends included
    <[^10,20-30]>       all others, ends of sequence left aside: after them nothing is ever read
    <[*]>               all of them, ends of sequence left aside

Ids that no token has, as those that pad a vocabulary to a model's logits, are in no set.

In: names, ids, the tokens of a vocabulary. Out: `TokenSet`s, nodes for `Rules.scan`. Cost: 1 ms a name for 128,256
tokens, about 10 us a set.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from llmask.errors import GrammarError
from llmask.grammar.expressions import TokenSet
from llmask.work import spend

if TYPE_CHECKING:
    from llmask.regex.nodes import RegexNodes
    from llmask.tokenizer.tokenizer import Tokenizer

Ranges = tuple[tuple[int, int], ...]
LISTED = re.compile(r"<\[(\^?)([0-9]+(?:-[0-9]+)?(?:,[0-9]+(?:-[0-9]+)?)*)\]>")
WILDCARD = "<[*]>"
MOST_DIGITS = 9
TOKENS_A_UNIT = 128  # of a vocabulary that is searched for a name


def ranges_of(pairs: Iterable[tuple[int, int]]) -> Ranges:
    """Ranges in their order, those that touch as one."""
    found: list[tuple[int, int]] = []
    for low, high in sorted(pairs):
        if found and low <= found[-1][1] + 1:
            found[-1] = found[-1][0], max(high, found[-1][1])
        else:
            found.append((low, high))
    return tuple(found)


def tokens_of(ids: Iterable[int], text: str, is_excluded: bool = False) -> TokenSet:
    """The set of some tokens, or of all others; see `TokenSet`."""
    return TokenSet(ranges_of((token, token) for token in ids), text, is_excluded)


def read_tokens(table: Tokenizer, text: str) -> TokenSet:
    """What a grammar writes `<...>`.

    Raises
    ------
    GrammarError : there is no such token; without a place.
    """
    if text == WILDCARD:
        return TokenSet((), text, True)
    if text.startswith("<["):
        found = LISTED.fullmatch(text)
        if found is None:
            raise GrammarError(f"{text} names no tokens", help="for example <[10]>, <[10,20-30]>, <[^10]> or <[*]>")
        pairs = [_pair(table, part) for part in found[2].split(",")]
        return TokenSet(ranges_of(pairs), text, bool(found[1]))
    return tokens_of([token_named(table, text)], text)


def token_named(table: Tokenizer, name: str) -> int:
    """The id of the token that is written so in the vocabulary.

    Raises
    ------
    GrammarError : there is no such token; the message names similar ones.
    """
    spend(table.vocab_size // TOKENS_A_UNIT)
    spelled = name.encode("utf-8", "surrogatepass")
    token = table._parts.vocabulary.texts.find(spelled)
    if token < 0:
        token = table._parts.vocabulary.tokens.find(spelled)
    if token < 0:
        names = [table.token_name(special) for special in table.special_ids]
        from difflib import get_close_matches  # late: errors only

        close = get_close_matches(name[:100], names, 1)
        raise GrammarError(
            f"the vocabulary has no token {name}",
            help=f"did you mean {close[0]}?" if close else "name one of its tokens, or give its id: <[10]>",
        )
    return token


def _pair(table: Tokenizer, part: str) -> tuple[int, int]:
    """The ends of `10` or `20-30`."""
    if max(map(len, part.split("-"))) > MOST_DIGITS:
        raise GrammarError(f"{part} is no token id", help=f"ids are below {table.vocab_size}")
    ends = [int(end) for end in part.split("-")]
    low, high = ends[0], ends[-1]
    if low > high:
        raise GrammarError(f"the range {part} is empty", help=f"write {high}-{low}")
    if high >= table.vocab_size:
        raise GrammarError(
            f"token {high} is not in the vocabulary of {table.vocab_size} tokens",
            help=f"ids are below {table.vocab_size}",
        )
    return low, high


def included(table: Tokenizer, tokens: TokenSet) -> Ranges:
    """The ranges of the tokens that a set has."""
    if not tokens.is_excluded:
        return _without(tokens.ranges, table._parts.absent_ids)
    left_out = ranges_of([*tokens.ranges, *table._parts.absent_ids, *((token, token) for token in table.eos_ids)])
    return _without(((0, table.vocab_size - 1),), left_out)


def _without(ranges: Ranges, left_out: Ranges) -> Ranges:
    """What ranges have and others do not; both are in order and do not overlap."""
    found = []
    for first, last in ranges:
        for low, high in left_out:
            if high < first or low > last:
                continue
            if first < low:
                found.append((first, low - 1))
            first = high + 1
        if first <= last:
            found.append((first, last))
    return tuple(found)


def token_node(nodes: RegexNodes, tokens: TokenSet) -> int:
    """The terminal of a set, for `Rules.scan`.

    Raises
    ------
    GrammarError : no token is in the set.
    """
    table = nodes.table
    assert table is not None, "grammars with tokens are read for a vocabulary"
    ranges = included(table, tokens)
    if not ranges:
        if not tokens.is_excluded:
            raise GrammarError(
                f"no token of the vocabulary has an id of {tokens.text}", help="name the ids of tokens that it has"
            )
        raise GrammarError(f"{tokens.text} leaves no token of the vocabulary", help="name fewer tokens in it")
    offsets = table._parts.token_offsets
    has_text = any(offsets[high + 1] > offsets[low] for low, high in ranges)
    return nodes.tokens(ranges, bool(has_text))
