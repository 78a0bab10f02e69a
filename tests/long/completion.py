"""From any point of a document to its end: what shows that a mask leads to no dead end.

The engine is asked for a way to an end (`Matcher.finishing_tokens`), which is read token by token. Where it has none,
configurations are searched breadth first, by tokens of one byte that the mask allows: what may follow a configuration
does not depend on how it was reached, so where few can be reached, an end is found or proved not to be there. That the
engine's ends are the shortest is for tests/exhaustive/test_budgets.py.

In: a matcher. Out: the document's last bytes. Cost: as the engine's; 0.1 ms a byte that is tried.
"""

from __future__ import annotations

import llmask
from llmask.matching.matcher import Matcher

MOST = 3000  # configurations that are looked at


class DeadEnd(Exception):
    """A mask without tokens, or a prefix of no document."""


def told(matcher: Matcher) -> bytes | None:
    """An end that the engine itself knows, read to see that it is one; None where it knows none."""
    reader = matcher.fork()
    try:
        ids = reader.finishing_tokens()
    except llmask.LlmaskError:
        return None
    for token in ids:
        if reader.validate_tokens([token]) == 0:
            raise DeadEnd(
                f"token {token}, which the engine calls the way to an end, is refused after {reader.text()!r}"
            )
        reader.accept_token(token)
    if not reader.is_accepting():
        raise DeadEnd(f"the engine calls {reader.text()!r} an end, where the document may not end")
    return reader.text()[len(matcher.text()) :]


class Completion:
    """Ends of documents, for one vocabulary.

    Parameters
    ----------
    tokenizer : with a token for every byte.
    """

    def __init__(self, tokenizer: llmask.Tokenizer) -> None:
        special = {*tokenizer.special_ids, *tokenizer.eos_ids}
        spelled = {tokenizer.token_bytes(token): token for token in range(tokenizer.vocab_size) if token not in special}
        self.bitmask = llmask.allocate_bitmask(1, tokenizer.vocab_size)
        self._token_of = [spelled[bytes([byte])] for byte in range(256)]

    def choices(self, matcher: Matcher) -> list[int]:
        """The tokens of one byte that the mask allows.

        Raises
        ------
        DeadEnd : the mask is empty.
        """
        try:
            matcher.fill_bitmask(self.bitmask)
        except llmask.VocabularyError as error:
            raise DeadEnd(f"{error} after {matcher.text()!r}") from None
        if not self.bitmask.any():
            raise DeadEnd("the mask is empty")
        return [token for token in self._token_of if self.bitmask[0, token >> 5] >> (token & 31) & 1]

    def ending(self, matcher: Matcher) -> bytes | None:
        """Bytes after which the document may end; the matcher is left as it was. None where the search gave up.

        Raises
        ------
        DeadEnd : there are none, or a mask on the way is empty.
        """
        known = told(matcher)
        return self.searched(matcher) if known is None else known

    def searched(self, matcher: Matcher) -> bytes | None:
        """The same without what the engine knows of ends."""
        waiting, seen = [matcher], {matcher._sequence.configuration}
        for here in waiting:  # which grows
            if here.is_accepting():
                return here.text()[len(matcher.text()) :]
            if len(waiting) > MOST:
                return None
            for token in self.choices(here):
                after = here.fork()
                if not after.try_accept_tokens([token]):
                    raise DeadEnd(f"the mask allows token {token}, refused after {here.text()!r}")
                if after._sequence.configuration not in seen:
                    seen.add(after._sequence.configuration)
                    waiting.append(after)
        raise DeadEnd(f"no document begins with {matcher.text()!r}")
