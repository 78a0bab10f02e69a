"""Normalizers and pre-tokenizers of tokenizer.json become steps that the encoders know, or are not known."""

from __future__ import annotations

import base64

import pytest

from llmask.errors import VocabularyError
from llmask.vocabulary.huggingface_steps import Steps, parts_of, read_steps

from .charsmap_files import charsmap_bytes

CHARSMAP = charsmap_bytes({b"A": b"a"})
PRECOMPILED = {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(CHARSMAP).decode()}
STRIP = {"type": "Strip", "strip_left": False, "strip_right": True}
MERGE = {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": "▁"}
MARK = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
METASPACE = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
WHITESPACE = {"type": "WhitespaceSplit"}
LEVEL = {"type": "ByteLevel", "add_prefix_space": True, "use_regex": True}
DIGITS = {"type": "Digits", "individual_digits": True}
BERT = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": False, "lowercase": True}


def steps(*normalizers: dict, pre: tuple[dict, ...] = ()) -> Steps:
    return read_steps(
        {
            "normalizer": {"type": "Sequence", "normalizers": list(normalizers)} if normalizers else None,
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": list(pre)} if pre else None,
        }
    )


def test_known_steps():
    assert steps() == Steps()
    assert steps({"type": "NFC"}) == Steps(normalization="NFC")
    assert steps({"type": "Prepend", "prepend": "▁"}, MARK) == Steps(add_space_prefix=True, marks_blanks=True)
    metaspace = Steps(add_space_prefix=True, space_prefix_once=True, stops_at_spaces=True, marks_blanks=True)
    assert steps(pre=(METASPACE,)) == metaspace
    never = METASPACE | {"prepend_scheme": "never", "split": False}
    assert steps(pre=(never,)) == Steps(space_prefix_once=True, marks_blanks=True)
    t5 = steps(PRECOMPILED, STRIP, MERGE, pre=(METASPACE,))
    assert t5.charsmap.to_bytes() == CHARSMAP
    assert t5 == Steps(
        charsmap=t5.charsmap, add_space_prefix=True, remove_extra_whitespaces=True, stops_at_spaces=True,
        marks_blanks=True,
    )  # fmt: skip
    xlmr = steps(PRECOMPILED, pre=(WHITESPACE, METASPACE))
    assert xlmr == Steps(
        charsmap=xlmr.charsmap, add_space_prefix=True, remove_extra_whitespaces=True, stops_at_spaces=True,
        marks_blanks=True,
    )  # fmt: skip
    # with a blank put in front of all texts, another one is put in front of none
    assert steps({"type": "Prepend", "prepend": "▁"}, MARK, pre=(METASPACE | {"prepend_scheme": "first"},)) == Steps(
        add_space_prefix=True, stops_at_spaces=True, marks_blanks=True
    )
    assert steps(pre=(LEVEL,)) == Steps(
        add_space_prefix=True, space_prefix_once=True, splits_pieces=True, spells_bytes=True
    )
    gemma = {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False}
    assert steps(MARK, pre=(gemma,)) == Steps(marks_blanks=True)  # there are no blanks any more
    assert steps(pre=(gemma,)).splits_pieces
    assert steps(BERT).bert_options == ("clean_text", "lowercase", "strip_accents")
    assert steps(BERT | {"strip_accents": False}).bert_options == ("clean_text", "lowercase")


@pytest.mark.parametrize(
    ("normalizers", "pre"),
    [
        (({"type": "Lowercase"},), ()),
        (({"type": "NFC"}, {"type": "NFD"}), ()),
        ((MERGE,), (METASPACE,)),
        ((), (WHITESPACE, METASPACE)),
        ((PRECOMPILED,), (WHITESPACE,)),
        ((PRECOMPILED, PRECOMPILED), ()),
        (({"type": "Replace", "pattern": {"String": "a"}, "content": "▁"},), ()),
        ((BERT,), (WHITESPACE,)),
        ((BERT,), (METASPACE,)),
        ((), (METASPACE, METASPACE)),
        ((PRECOMPILED,), (METASPACE, WHITESPACE)),
        ((), (DIGITS, LEVEL)),  # a blank in front of every word
        (({"type": "Prepend", "prepend": "▁"},), (LEVEL,)),
    ],
)
def test_what_is_not_known_says_so(normalizers, pre):
    assert not steps(*normalizers, pre=pre).is_known


def test_a_map_that_is_not_base64_is_refused():
    with pytest.raises(VocabularyError, match="precompiled_charsmap is not base64"):
        steps(PRECOMPILED | {"precompiled_charsmap": "?"})


def test_sequences_are_taken_apart():
    inner = {"type": "Sequence", "decoders": [{"type": "a"}, {"type": "b"}]}
    assert [part["type"] for part in parts_of({"type": "Sequence", "decoders": [inner, {"type": "c"}]})] == [*"abc"]
    assert [*parts_of(None)] == []
