"""Text of tokens as they come, never half a character.

A token may end inside of a character; what is not complete waits for the next token. All texts together are
`Tokenizer.decode` of all tokens.

In: ids, one at a time. Out: text. Cost: 0.5 us a token.
"""

from __future__ import annotations

import codecs

from ..arguments import as_flag, check_type
from ..errors import VocabularyError
from .tokenizer import Tokenizer


class StreamDecoder:
    r"""Decodes the tokens of one text in order.

    Parameters
    ----------
    tokenizer : whose ids will come.
    continues : the tokens continue a prompt, so a leading blank belongs to the text; False: it is dropped where
        `Tokenizer.decode` drops it.
    skip_special : as that of `Tokenizer.decode`: special tokens are left out; False: their names are in the text.

    Raises
    ------
    VocabularyError : not a `Tokenizer`.

    Examples
    --------
    >>> tok = Tokenizer.from_bytes([b"<end>", b"a\xc3", b"\xa9"], eos=0)
    >>> decoder = StreamDecoder(tok)
    >>> decoder.push(1), decoder.push(2), decoder.finish()
    ('a', 'é', '')
    """

    def __init__(self, tokenizer: Tokenizer, continues: bool = False, skip_special: bool = True) -> None:
        check_type(tokenizer, Tokenizer, "a Tokenizer is wanted", "give a llmask.Tokenizer", VocabularyError)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        parts = tokenizer._parts
        self._bytes_of = tokenizer.token_bytes if as_flag(skip_special, "skip_special") else parts.bytes_or_name
        self._drops_blank = not as_flag(continues, "continues") and parts.decode_drops_blank

    def push(self, token: int) -> str:
        """The text that is complete with this token; may be empty.

        Raises
        ------
        VocabularyError : no such id.
        """
        data = self._bytes_of(token)
        if self._drops_blank and data:
            data = data.removeprefix(b" ")
            self._drops_blank = False
        return self._decoder.decode(data)

    def finish(self) -> str:
        """What is left: U+FFFD when the last character is not complete. The decoder may be used for a new text then."""
        return self._decoder.decode(b"", final=True)
