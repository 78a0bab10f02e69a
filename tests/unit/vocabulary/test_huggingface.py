"""tokenizer.json files of all kinds; ids compared with the tokenizers library where an exact encoder is claimed."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from llmask.errors import VocabularyError
from llmask.tokenizer.tokenizer import Tokenizer
from llmask.vocabulary.huggingface import Steps, parts_of, read_huggingface, read_steps
from llmask.vocabulary.patterns import LLAMA3
from llmask.vocabulary.strings import DAMAGED
from tests.unit.vocabulary.charsmap_files import charsmap_bytes

tokenizers = pytest.importorskip("tokenizers", reason="the judge of token ids is not installed")

TEXTS = (
    "Hello world",
    "  two blanks, 12345 numbers!\n\n\tit's JOSÉ's", '{"name": "Zoë", "age": 42, "list": [1.5e-3, null]}',
    "日本語 😀 e\u0301", "", " ", "def f(x):\n    return x  # why?\n", "<tool>inside</tool> <|endoftext|>",
)  # fmt: skip


def added(token: int, content: str, special: bool) -> dict[str, object]:
    return {
        "id": token, "content": content, "special": special,
        "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
    }  # fmt: skip


def byte_level_document(tok: Tokenizer, pre_tokenizer: dict) -> dict:
    """The default tokenizer as tokenizer.json, with two more tokens and a hole before them."""
    texts = [tok.token_name(token) for token in range(tok.vocab_size)]
    merges = [merge.decode() for merge in tok._parts.vocabulary.encoder.merges.strings()]
    end = tok.vocab_size - 1
    return {
        "version": "1.0",
        "added_tokens": [added(end, "<|endoftext|>", True), added(end + 3, "<tool>", False)],
        "normalizer": None,
        "pre_tokenizer": pre_tokenizer,
        "post_processor": None,
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {
            "type": "BPE", "merges": merges,
            "vocab": {**{text: token for token, text in enumerate(texts)}, "<tool>": end + 3},
            "ignore_merges": True, "fuse_unk": False, "byte_fallback": False,
            "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None,
        },
    }  # fmt: skip


BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
SPLITS = {
    "llama-3": {
        "type": "Sequence",
        "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": LLAMA3}, "behavior": "Isolated", "invert": False},
            BYTE_LEVEL,
        ],
    },
    "gpt-2": {**BYTE_LEVEL, "use_regex": True},
    "digits": {
        "type": "Sequence",
        "pretokenizers": [{"type": "Digits", "individual_digits": True}, {**BYTE_LEVEL, "use_regex": True}],
    },
    "prefix": {**BYTE_LEVEL, "use_regex": True, "add_prefix_space": True},
}


@pytest.mark.long
@pytest.mark.parametrize("split", SPLITS)
def test_byte_level_ids_equal_those_of_tokenizers(default_tokenizer, tmp_path, split):
    document = byte_level_document(default_tokenizer, SPLITS[split])
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(document), "utf-8")
    judge = tokenizers.Tokenizer.from_file(str(path))
    tok = Tokenizer.from_huggingface(tmp_path)
    assert tok.encoder_name == "bpe"
    assert tok.vocab_size == default_tokenizer.vocab_size + 3
    end = default_tokenizer.vocab_size - 1
    assert tok.eos_ids == [end]
    assert tok.special_ids == [end, end + 1, end + 2]  # the hole is never produced
    assert tok.token_bytes(end + 3) == b"<tool>"
    assert tok.token_bytes(300) == default_tokenizer.token_bytes(300)
    for text in TEXTS:
        if split == "prefix" and not text:
            continue
        expected = judge.encode(text, add_special_tokens=False).ids
        assert tok.encode(text, parse_special=True) == expected, text
    assert Tokenizer.from_huggingface(judge).encode(TEXTS[1]) == tok.encode(TEXTS[1])


def test_an_unknown_split_falls_back_to_longest_match(default_tokenizer):
    split = {"type": "Split", "pattern": {"Regex": r"(?<="}, "behavior": "Isolated", "invert": False}
    document = byte_level_document(default_tokenizer, {"type": "Sequence", "pretokenizers": [split, BYTE_LEVEL]})
    tok = Tokenizer(read_huggingface(Wrapped(document)))
    assert tok.encoder_name == "greedy"
    assert tok.decode(tok.encode(TEXTS[1])) == TEXTS[1]


class Wrapped:
    """Looks like a fast tokenizer."""

    def __init__(self, document: dict, eos_token_id: int | None = None) -> None:
        self._document = document
        self.eos_token_id = eos_token_id

    def to_str(self) -> str:
        return json.dumps(self._document)


SPM_MODEL = {
    "type": "BPE", "unk_token": "<unk>", "byte_fallback": True, "fuse_unk": True, "dropout": None,
    "continuing_subword_prefix": None, "end_of_word_suffix": None,
    "vocab": {"<unk>": 0, "</s>": 1, **{f"<0x{byte:02X}>": 2 + byte for byte in range(256)},
              "▁": 258, "a": 259, "b": 260, "▁a": 261, "ab": 262, "▁ab": 263, "▁▁": 264, "é": 265},
    "merges": ["▁ a", "a b", "▁a b", "▁ ▁", "▁ ab"],
}  # fmt: skip


def test_byte_fallback_is_sentencepiece():
    document = {
        "added_tokens": [added(0, "<unk>", True), added(1, "</s>", True)],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Prepend", "prepend": "▁"},
                {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
            ],
        },
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": None,
        "model": SPM_MODEL,
    }
    judge = tokenizers.Tokenizer.from_str(json.dumps(document))
    tok = Tokenizer.from_huggingface(judge)
    assert tok.encoder_name == "spm"
    assert tok.special_ids == [0, 1]
    assert [tok.token_bytes(t) for t in (2, 259, 263, 264, 265)] == [b"\0", b"a", b" ab", b"  ", "é".encode()]
    assert tok.eos_ids == [1]
    for text in ("ab", "aab ab  b", "é~日 a", "   a", "abababab bb"):
        assert tok.encode(text) == judge.encode(text, add_special_tokens=False).ids, text
        assert tok.decode(tok.encode(text)) == text


def test_added_space_marks_are_blanks_and_added_names_are_text():
    document = {
        "added_tokens": [added(1, "</s>", True), added(264, "▁▁", False), added(266, "<a>", False)],
        "model": SPM_MODEL,
    }
    tok = Tokenizer.from_huggingface(Wrapped(document))
    assert tok.token_bytes(264) == b"  "
    assert tok.token_bytes(266) == b"<a>"
    assert 266 in tok.encode("b<a>b")


def test_unigram_is_read_and_encoded_by_scores():
    vocab = [["<unk>", 0.0], ["</s>", 0.0], ["▁", -1.0], ["▁ab", -2.0], ["a", -1.5], ["b", -1.0]]
    model = {"type": "Unigram", "unk_id": 0, "vocab": vocab, "byte_fallback": False}
    metaspace = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
    document = {"added_tokens": [added(1, "</s>", True)], "pre_tokenizer": metaspace, "model": model}
    tok = Tokenizer.from_huggingface(Wrapped(document))
    judge = tokenizers.Tokenizer.from_str(json.dumps(document))
    assert tok.encoder_name == "ugm"
    assert tok.token_bytes(3) == b" ab"
    assert tok.special_ids == [0, 1]
    for text in ("ab b", "ab  ", " ab", "", "xyab", "b▁ab"):
        assert tok.encode(text) == judge.encode(text, add_special_tokens=False).ids, text


def test_wordpiece_ids_equal_those_of_tokenizers():
    pieces = ["[PAD]", "[UNK]", "[SEP]", "the", "##s", "cat", "un", "##able", ",", "##e", "z", "##o", "日"]
    document = {
        "added_tokens": [added(i, pieces[i], True) for i in range(3)],
        "normalizer": {
            "type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": None,
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {
            "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": {piece: i for i, piece in enumerate(pieces)},
        },
    }  # fmt: skip
    judge = tokenizers.Tokenizer.from_str(json.dumps(document))
    tok = Tokenizer.from_huggingface(Wrapped(document, eos_token_id=2))
    assert tok.encoder_name == "wpm"
    assert tok.token_bytes(3) == b" the"
    assert tok.token_bytes(4) == b"s"
    for text in ("The cats, unable", "Zoë", "dog the", "日the日", ""):
        assert tok.encode(text) == judge.encode(text, add_special_tokens=False).ids, text


def small_document(**changes: object) -> dict:
    model = {"type": "BPE", "vocab": {"a": 0, "b": 1, "</s>": 2}, "merges": []}
    return {"added_tokens": [added(2, "</s>", True)], "model": {**model, **changes}}


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, [2]),
        ({"tokenizer_config.json": {"eos_token": "b"}}, [1, 2]),
        ({"tokenizer_config.json": {"eos_token": {"content": "b"}}}, [1, 2]),
        ({"generation_config.json": {"eos_token_id": [1, 2]}}, [1, 2]),
        ({"config.json": {"eos_token_id": 0}, "generation_config.json": {"eos_token_id": 1}}, [1, 0, 2]),
        ({"tokenizer_config.json": {"eos_token": "missing"}, "config.json": "not an object"}, [2]),
    ],
)
def test_end_tokens_are_declared_beside_the_file(tmp_path: Path, files, expected):
    (tmp_path / "tokenizer.json").write_text(json.dumps(small_document()), "utf-8")
    for name, content in files.items():
        (tmp_path / name).write_text(json.dumps(content), "utf-8")
    assert Tokenizer.from_huggingface(tmp_path).eos_ids == expected
    assert Tokenizer.from_huggingface(tmp_path / "tokenizer.json").eos_ids == expected
    assert Tokenizer.from_huggingface(str(tmp_path), eos=0).eos_ids == [0]


BAD_SOURCES = [
    (3, "int is neither a path nor a fast tokenizer\n"
        "  pass a tokenizer.json, its folder, or AutoTokenizer.from_pretrained(..., use_fast=True)"),
    (Wrapped([]), 'tokenizer object is not a tokenizer.json: it has no object "model"\n'
        "  give the tokenizer.json of a model, or the folder that it is in"),
    (Wrapped(small_document(type="WordLevel")),
     'the tokenizer model "WordLevel" is not supported\n  supported: BPE, Unigram, WordPiece'),
    (Wrapped(small_document(end_of_word_suffix="</w>")), 'tokens end words with "</w>", which is not supported\n'
        "  use another tokenizer, or give its tokens as bytes: Tokenizer.from_bytes"),
    (Wrapped(small_document(vocab={"a": -1})), "the tokenizer contains -1, but token ids are 0 to 2097149\n"
        "  give an id in this range"),
    (Wrapped(small_document(vocab={"a": 2**40})),
     "the tokenizer contains 1099511627776, but token ids are 0 to 2097149\n"
        "  give an id in this range"),
    (Wrapped(small_document(vocab={"a": 0.5})), "the tokenizer contains 0.5, which is not a token id\n"
        "  give the id of the token, an int"),
    (Wrapped({**small_document(), "added_tokens": []}, eos_token_id=9),
     "eos_token_id contains 9, but token ids are 0 to 2\n"
        "  give an id in this range"),
    (Wrapped({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}}),
     "the tokenizer names no end-of-sequence token\n  pass eos=ID or eos=[ID, ...]"),
    (Wrapped({"model": {"type": "BPE", "vocab": {}, "merges": []}}), "the tokenizer has no tokens\n"
        "  give at least one"),
    (Wrapped({"model": {"type": "BPE"}}),
     "the tokenizer file has an unexpected form (KeyError: 'vocab')\n"
     "  save it again with a recent version of the tokenizers library"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "message"), BAD_SOURCES, ids=range(len(BAD_SOURCES)))
def test_bad_sources_are_named(source, message):
    with pytest.raises(VocabularyError) as error:
        read_huggingface(source)
    assert str(error.value) == message


def test_a_file_that_is_not_json_is_named(tmp_path):
    path = tmp_path / "tokenizer.json"
    path.write_text("{", "utf-8")
    with pytest.raises(VocabularyError) as error:
        read_huggingface(path)
    assert str(error.value) == (
        f"{path} is not JSON: Expecting property name enclosed in double quotes\n  at line 1, column 2\n  {DAMAGED}"
    )
    with pytest.raises(FileNotFoundError):
        read_huggingface(tmp_path / "missing")


def test_added_tokens_take_white_space_with_them_as_in_tokenizers(default_tokenizer, rng):
    document = byte_level_document(default_tokenizer, SPLITS["llama-3"])
    end = default_tokenizer.vocab_size - 1
    document["added_tokens"] = [
        added(end, "<|endoftext|>", True),
        added(end + 1, "<left>", False) | {"lstrip": True},
        added(end + 2, "<right>", True) | {"rstrip": True},
        added(end + 3, "<both>", False) | {"lstrip": True, "rstrip": True},
        added(end + 4, "word", False) | {"single_word": True},
    ]
    document["model"]["vocab"].pop("<tool>")
    judge = tokenizers.Tokenizer.from_str(json.dumps(document))
    tok = Tokenizer.from_huggingface(judge)
    pieces = ["<left>", "<right>", "<both>", "word", " word ", "words", "a", " ", "  \n", "\u3000", ".", "_", "é", "1"]
    for _ in range(300):
        text = "".join(rng.choice(pieces) for _ in range(rng.randrange(9)))
        assert tok.encode(text, parse_special=True) == judge.encode(text, add_special_tokens=False).ids, text


@pytest.mark.long
@pytest.mark.parametrize("kind", ["template", "roberta", "sequence"])
def test_tokens_around_a_text_are_those_of_the_post_processor(default_tokenizer, kind):
    document = byte_level_document(default_tokenizer, SPLITS["llama-3"])
    end = default_tokenizer.vocab_size - 1
    first = {"SpecialToken": {"id": "<tool>", "type_id": 0}}
    last = {"SpecialToken": {"id": "<|endoftext|>", "type_id": 0}}
    template = {
        "type": "TemplateProcessing",
        "single": [first, {"Sequence": {"id": "A", "type_id": 0}}, last],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
        "special_tokens": {
            "<tool>": {"id": "<tool>", "ids": [end + 3], "tokens": ["<tool>"]},
            "<|endoftext|>": {"id": "<|endoftext|>", "ids": [end], "tokens": ["<|endoftext|>"]},
        },
    }
    roberta = {
        "type": "RobertaProcessing", "sep": ["<|endoftext|>", end], "cls": ["<tool>", end + 3],
        "trim_offsets": True, "add_prefix_space": False,
    }  # fmt: skip
    level = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False, "use_regex": True}
    document["post_processor"] = {
        "template": template, "roberta": roberta, "sequence": {"type": "Sequence", "processors": [level, template]}
    }[kind]  # fmt: skip
    judge = tokenizers.Tokenizer.from_str(json.dumps(document))
    tok = Tokenizer.from_huggingface(judge)
    for text in TEXTS:
        assert tok.encode(text, parse_special=True, add_special=True) == judge.encode(text).ids
    assert tok.encode("a") == judge.encode("a", add_special_tokens=False).ids


@pytest.mark.parametrize(
    ("kind", "steps"),
    [
        # each was encoded as if the part that is not known were not there
        ("Unigram", {"pre_tokenizer": {"type": "Whitespace"}}),
        ("Unigram", {"pre_tokenizer": {"type": "Punctuation", "behavior": "Isolated"}}),
        ("Unigram", {"pre_tokenizer": None}),  # blanks stay blanks
        ("BPE", {"pre_tokenizer": {"type": "Digits", "individual_digits": True}}),
        ("BPE", {"fuse_unk": False}),
    ],
)
def test_what_no_encoder_does_is_encoded_by_longest_match(kind, steps):
    mark = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}
    texts = ["<unk>", "</s>", "\u2581", "a", "b"]
    if kind == "Unigram":
        model = {"type": kind, "unk_id": 0, "vocab": [[text, -1.0] for text in texts]}
    else:
        model = {"type": kind, "vocab": {text: i for i, text in enumerate(texts)}, "merges": [], "unk_token": "<unk>"}
        model["fuse_unk"] = steps.get("fuse_unk", True)
    document = {"added_tokens": [added(1, "</s>", True)], "pre_tokenizer": mark, "model": model}
    if "fuse_unk" not in steps:
        assert Tokenizer(read_huggingface(Wrapped(document))).encoder_name in ("ugm", "spm")
    tok = Tokenizer(read_huggingface(Wrapped({**document, **steps})))
    assert tok.encoder_name == "greedy"
    assert tok.encode("ab?")[-3:] == [3, 4, 0]  # what no token spells is the unknown one there, too


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
