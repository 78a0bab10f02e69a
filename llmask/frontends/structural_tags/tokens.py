"""Formats of single tokens, by id or by their text in the vocabulary.

In: a format with its place. Out: an expression of `TokenSet`s. Cost: 1 ms a name for 128,256 tokens.
"""

from __future__ import annotations

from collections.abc import Iterable

from llmask.errors import GrammarError
from llmask.frontends.structural_tags.formats import Ends, Entry, Formats
from llmask.frontends.structural_tags.places import Place
from llmask.grammar.expressions import Expression, Repeat, TokenSet
from llmask.grammar.token_ranges import token_named, tokens_of


def is_token(place: Place) -> bool:
    """Whether a token stands where a string may stand, too."""
    return isinstance(place.value, dict)


def token_set(formats: Formats, place: Place) -> TokenSet:
    """The set of the one token of a format "token"."""
    place.check_fields(("token",), ("type",), "a token")
    if place.has("type") and place.value["type"] != "token":
        place.below("type").refuse("a token is needed here", 'write "token"')
    return tokens_only([token_id(formats, place.below("token"))])


def token_id(formats: Formats, place: Place) -> int:
    """The id of a token that is given by its id or its text."""
    table = formats.nodes.table
    assert table is not None, "structural tags are compiled for a vocabulary"
    if isinstance(place.value, str):
        try:
            return token_named(table, place.text(False))
        except GrammarError as error:
            place.refuse(error.message, error.help or "name another one")
    if type(place.value) is not int or not 0 <= place.value < table.vocab_size:
        place.refuse(
            f"this is {place.value!r}, where a token is needed", f"write its text, or an id below {table.vocab_size}"
        )
    return int(place.value)


def tokens_only(ids: Iterable[int]) -> TokenSet:
    """Any of some tokens."""
    listed = sorted(set(ids))
    return tokens_of(listed, f"<[{','.join(map(str, listed))}]>")


def tokens_but(ids: Iterable[int]) -> TokenSet:
    """Any token but some, and but ends of sequence."""
    listed = sorted(set(ids))
    return tokens_of(listed, f"<[^{','.join(map(str, listed))}]>" if listed else "<[*]>", True)


def excluded_tokens(formats: Formats, place: Place, ends: Ends) -> list[int]:
    """The tokens in the field `exclude_tokens`, and those that end the tag around a format."""
    listed = place.below("exclude_tokens").elements() if place.has("exclude_tokens") else ()
    return [*(token_id(formats, one) for one in listed), *ends.tokens]


def _token(formats: Formats, place: Place, ends: Ends) -> Expression:
    return token_set(formats, place)


def _exclude_token(formats: Formats, place: Place, ends: Ends) -> Expression:
    return tokens_but(excluded_tokens(formats, place, ends))


def _any_tokens(formats: Formats, place: Place, ends: Ends) -> Expression:
    most = place.count("max_tokens") if place.has("max_tokens") else None
    return Repeat(tokens_but(excluded_tokens(formats, place, ends)), 0, most)


TOKEN_FORMATS = {
    "token": Entry(("token",), (), _token),
    "exclude_token": Entry((), ("exclude_tokens",), _exclude_token),
    "any_tokens": Entry((), ("exclude_tokens", "max_tokens"), _any_tokens),
}
