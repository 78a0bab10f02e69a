"""What the normalizer and the pre-tokenizer of a tokenizer.json do, as far as our encoders can do it too.

    Precompiled                       character map of SentencePiece; tokenizers looks at whole graphemes first, here
                                      the longest rule counts, as in SentencePiece itself
    NFC, NFD, NFKC, NFKD              Unicode form
    Prepend, Replace " " by U+2581    blanks as SentencePiece marks them
    Strip and Replace " {2,}"         extra blanks go
    WhitespaceSplit                   words; each gets its blank; where a character map makes all white space blanks
    Metaspace                         a blank in front, unless there is one; words where it splits
    BertNormalizer, BertPreTokenizer  see `llmask/encoders/bert_characters.py`
    ByteLevel and what splits for it  see `llmask/vocabulary/huggingface.py`; a blank in front, unless there is one

Any other part, and these in another order, makes the steps unknown: the vocabulary is encoded by longest match then.

In: the parsed file. Out: `Steps`. Cost: none.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..errors import VocabularyError
from .charsmap import CharsMap, read_charsmap
from .strings import DAMAGED
from .vocabulary import NORMALIZATIONS, Normalization

Json = dict[str, Any]
MARK = "\u2581"
BERT_FLAGS = ("clean_text", "handle_chinese_chars", "lowercase")


@dataclass
class Steps:
    """What happens to a text before the model; `is_known` says whether that is all of it.

    splits_pieces : parts that cut words otherwise than at blanks, which is for byte-level vocabularies.
    spells_bytes : the byte alphabet of byte-level vocabularies.
    marks_blanks : U+2581 in place of blanks, as in SentencePiece.
    """

    normalization: Normalization = ""
    charsmap: CharsMap | None = None
    add_space_prefix: bool = False
    space_prefix_once: bool = False
    remove_extra_whitespaces: bool = False
    stops_at_spaces: bool = False
    bert_options: tuple[str, ...] | None = None
    splits_pieces: bool = False
    spells_bytes: bool = False
    marks_blanks: bool = False
    is_known: bool = True

    @property
    def has_pieces(self) -> bool:
        """Whether blanks or rules of SentencePiece are among the steps."""
        return self.charsmap is not None or self.remove_extra_whitespaces or self.stops_at_spaces


def parts_of(part: Json | None) -> Iterator[Json]:
    """A pre-tokenizer, normalizer or decoder, with sequences taken apart."""
    if not part:
        return
    inner = part.get("pretokenizers") or part.get("normalizers") or part.get("decoders")
    if part.get("type") == "Sequence" and inner is not None:
        for entry in inner:
            yield from parts_of(entry)
    else:
        yield part


def read_steps(document: Json) -> Steps:
    """Steps of a tokenizer.json.

    Raises
    ------
    VocabularyError : a character map that is corrupt.
    """
    steps = Steps()
    strips = merges = prepends = False
    for part in parts_of(document.get("normalizer")):
        name = part.get("type")
        pattern = part.get("pattern") or {}
        if name in NORMALIZATIONS and not steps.normalization:
            steps.normalization = NORMALIZATIONS[name]
        elif name == "Precompiled" and steps.charsmap is None:
            steps.charsmap = _charsmap(part.get("precompiled_charsmap"))
        elif name == "Prepend" and part.get("prepend") == MARK:
            steps.add_space_prefix = prepends = True
        elif name == "Replace" and pattern.get("Regex") == " {2,}" and part.get("content") in (" ", MARK):
            merges = True
        elif name == "Strip" and part.get("strip_right", part.get("right")):
            strips = True
        elif name == "BertNormalizer":
            steps.bert_options = _bert_options(part)
        elif name == "Replace" and part.get("content") == MARK and pattern.get("String") == " ":
            steps.marks_blanks = True
        else:
            steps.is_known = False
    splits_words = has_metaspace = False
    for place, part in enumerate(parts_of(document.get("pre_tokenizer"))):
        name = part.get("type")
        if name == "WhitespaceSplit":
            splits_words = True
            steps.is_known &= not has_metaspace
        elif name == "Metaspace":
            steps.is_known &= not has_metaspace and steps.bert_options is None
            scheme = part.get("prepend_scheme", "always" if part.get("add_prefix_space", True) else "never")
            if not prepends:  # after which there is a blank in front
                steps.add_space_prefix = scheme != "never"
                steps.space_prefix_once = True
            steps.stops_at_spaces = part.get("split", True) is not False
            has_metaspace = steps.marks_blanks = True
        elif name == "BertPreTokenizer":
            steps.splits_pieces |= steps.bert_options is None  # else its words are those of the table of characters
        elif name == "ByteLevel":
            steps.splits_pieces = steps.spells_bytes = True
            steps.is_known &= not prepends
            if part.get("add_prefix_space"):
                steps.add_space_prefix = steps.space_prefix_once = True
                steps.is_known &= place == 0  # elsewhere every word gets a blank
        elif not steps.marks_blanks or name != "Split" or (part.get("pattern") or {}).get("String") != " ":
            steps.splits_pieces = True  # Gemma splits at blanks, which were replaced
    if splits_words or (strips and merges):
        steps.remove_extra_whitespaces = True
        # other white space is a blank for a character map only
        is_blank = steps.charsmap is not None or not splits_words
        steps.is_known = steps.is_known and steps.add_space_prefix and is_blank
        steps.stops_at_spaces |= splits_words
        steps.space_prefix_once = False
    elif strips or merges:
        steps.is_known = False
    return steps


def _charsmap(text: Any) -> CharsMap | None:
    try:
        return read_charsmap(base64.b64decode(text or "", validate=True))
    except (binascii.Error, TypeError, ValueError):
        raise VocabularyError("precompiled_charsmap is not base64", help=DAMAGED) from None


def _bert_options(part: Json) -> tuple[str, ...]:
    options = [name for name in BERT_FLAGS if part.get(name, True)]
    strips = part.get("strip_accents")
    if strips is None:
        strips = "lowercase" in options
    return (*options, "strip_accents") if strips else tuple(options)
