"""Vocabularies from lists of bytes, and the messages of wrong lists."""

from __future__ import annotations

import dataclasses
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.sentencepiece_files import model_bytes
from llmask import Compiler, Tokenizer, allocate_bitmask
from llmask.errors import GrammarError, VocabularyError
from llmask.kernels.machine.constants import MAX_VOCAB_SIZE
from llmask.vocabulary.vocabulary import (
    CONTROL_END_NAMES,
    END_NAMES,
    EncoderData,
    TokenType,
    Vocabulary,
    check_ids,
    count_ids,
    find_end_ids,
    find_special,
    from_bytes,
    resize,
    token_digest,
    whole_digest,
)
from tests.unit.vocabulary.gguf_files import CONTROL, NORMAL, write_gguf


def test_holes_between_ids_are_few():
    assert count_ids([0, 7], "it") == 8
    for ids, message in (
        ([], "it has no tokens\n  give at least one"),
        (
            [3, 100_003],
            "it has 2 tokens, but one of them has the id 100003\n"
            "  mend this id: ids count from 0, with few between them that are unused",
        ),
        ([-1], "it contains -1, but token ids are 0 to 2097149\n  give an id in this range"),
    ):
        with pytest.raises(VocabularyError) as error:
            count_ids(ids, "it")
        assert str(error.value) == message


def test_special_tokens_have_names_but_no_bytes():
    vocabulary = from_bytes([b"<end>", b"a", b"<s>", b"b", b"<end2>"], eos=[4, 0], special=[2])
    assert list(vocabulary.tokens.strings()) == [b"", b"a", b"", b"b", b""]
    assert vocabulary.texts.get(2) == b"<s>"
    assert vocabulary.eos_ids == (4, 0)
    assert vocabulary.special_ids.tolist() == [0, 2, 4]
    assert vocabulary.types.tolist() == [3, 1, 3, 1, 3]


def test_ids_may_be_numpy_numbers_and_repeat():
    vocabulary = from_bytes([b"a", b"b"], eos=np.int64(1), special=np.array([1, 1]))
    assert vocabulary.eos_ids == (1,)
    assert vocabulary.special_ids.tolist() == [1]


def test_types_that_text_never_produces():
    types = np.arange(7, dtype=np.uint8)
    special = [TokenType(i).name for i in np.flatnonzero(find_special(types, []))]
    assert special == ["UNKNOWN", "CONTROL", "UNUSED"]


BAD_LISTS = [
    (([b"a"], -1), "eos contains -1, but token ids are 0 to 0\n  give an id in this range"),
    (([b"a"], True), "eos contains True, which is not a token id\n  give the id of the token, an int"),
    (([b"a"], [0, "x"]), "eos contains 'x', which is not a token id\n  give the id of the token, an int"),
    (([b"a"], 0.5), "eos is float, not an id or a list of ids\n  give an int, or a list of ints"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD_LISTS, ids=range(len(BAD_LISTS)))
def test_bad_lists_are_named(arguments, message):
    with pytest.raises(VocabularyError) as error:
        from_bytes(*arguments)
    assert str(error.value) == message


def test_check_ids_keeps_the_order_and_drops_repeats():
    assert check_ids([3, 1, 3], 4, "ids") == (3, 1)


def find(tokens: list[bytes], declared: list[int] = (), kind: TokenType = TokenType.CONTROL) -> tuple[int, ...]:
    return find_end_ids(declared, lambda text: tokens.index(text) if text in tokens else -1, np.full(len(tokens), kind))


def test_declared_ids_come_first_and_once():
    assert find([b"a", b"<|eot_id|>", b"b"], [2, 1]) == (2, 1)


def test_every_well_known_name_is_found():
    for name in END_NAMES:
        assert find([b"a", name], kind=TokenType.NORMAL) == (1,)
    for name in CONTROL_END_NAMES:
        assert find([b"a", name]) == (1,)
        assert find([b"a", name], kind=TokenType.USER_DEFINED) == ()


def test_end_of_message_does_not_end_a_gpt_oss_turn():
    assert find([b"<|end|>", b"<|call|>", b"<|return|>"]) == (2, 1)
    assert find([b"<|end|>", b"<|call|>"]) == (0, 1)


TOKENS = [b"a", b"bc", b"<s>", b"</s>", b"b", b"c"]


def vocabulary(tokens: Any = TOKENS, eos: Any = 3, special: Any = (2,), encoder: Any = None) -> Vocabulary:
    return from_bytes(tokens, eos, special, encoder)


OTHERS = {
    "another token": vocabulary([b"A", *TOKENS[1:]]),
    "bytes that lie in another token": vocabulary([b"ab", b"c", *TOKENS[2:]]),
    "another order": vocabulary([b"bc", b"a", *TOKENS[2:]]),
    "another name of a special token": vocabulary([*TOKENS[:2], b"<t>", *TOKENS[3:]]),
    "no special token": vocabulary(special=()),
    "another end of sequence": vocabulary(eos=2, special=(3,)),
    "two ends of sequence": vocabulary(eos=(3, 2)),
    "a token more": vocabulary([*TOKENS, b""]),
}


@pytest.mark.parametrize("name", OTHERS)
def test_whatever_changes_a_mask_changes_the_digests(name: str) -> None:
    assert token_digest(OTHERS[name]) != token_digest(vocabulary())
    assert whole_digest(OTHERS[name]) != whole_digest(vocabulary())


def test_ids_that_no_token_has_are_told_from_special_ones() -> None:
    types = np.full(len(TOKENS), TokenType.NORMAL, np.uint8)
    types[[2, 3]] = TokenType.UNUSED, TokenType.CONTROL
    unused = dataclasses.replace(vocabulary(), types=types)
    assert token_digest(unused) != token_digest(vocabulary())


def test_the_encoder_is_no_matter_of_grammars() -> None:
    other = vocabulary(encoder=EncoderData(kind="ranks", patterns=("a+",)))
    assert token_digest(other) == token_digest(vocabulary())
    assert whole_digest(other) != whole_digest(vocabulary())
    assert whole_digest(vocabulary(encoder=EncoderData(patterns=("a", "b")))) != whole_digest(
        vocabulary(encoder=EncoderData(patterns=("a', 'b",)))
    )


def test_the_order_of_the_ends_is_no_matter_of_grammars() -> None:
    assert token_digest(vocabulary(eos=(3, 2))) == token_digest(vocabulary(eos=(2, 3)))


def test_digests_are_the_same_in_another_process(project_root: Any) -> None:
    script = (
        "from tests.unit.vocabulary.test_vocabulary import *\n"
        "print(token_digest(vocabulary()), whole_digest(vocabulary()))"
    )
    found = subprocess.run([sys.executable, "-c", script], cwd=project_root, capture_output=True, text=True, check=True)
    assert found.stdout.split() == [token_digest(vocabulary()), whole_digest(vocabulary())]
    assert all(len(digest) == 64 for digest in found.stdout.split())


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_vocabulary_is_read_only_where_it_arrives(default_tokenizer: Any, protocol: int) -> None:
    # arrays come out of a pickle writable, and compiled code reads them by their addresses
    twin = pickle.loads(pickle.dumps(default_tokenizer._parts.vocabulary, protocol))
    assert whole_digest(twin) == whole_digest(default_tokenizer._parts.vocabulary)
    for table in (twin.tokens, twin.texts, twin.encoder.merges, (twin.types, twin.special_ids)):
        assert not any(array.flags.writeable for array in table)


RESIZED = [b"<end>", b"a", b"b", b"ab"]


def allowed(tokenizer: Tokenizer, grammar: str) -> list[int]:
    mask = allocate_bitmask(1, tokenizer.vocab_size)
    Compiler(tokenizer).lark(grammar).matcher().fill_bitmask(mask)
    bits = np.unpackbits(mask.view(np.uint8), bitorder="little")
    assert not bits[tokenizer.vocab_size :].any()
    return np.flatnonzero(bits).tolist()


def test_the_number_of_tokens_changes_nothing():
    vocabulary = from_bytes(RESIZED, 0)
    assert resize(vocabulary, None) is vocabulary
    assert resize(vocabulary, 4) is vocabulary
    assert resize(vocabulary, np.int64(4)) is vocabulary


def test_padding_stands_for_nothing():
    padded = resize(from_bytes(RESIZED, 0), 7)
    assert [*padded.tokens.strings()] == [b"", b"a", b"b", b"ab", b"", b"", b""]
    assert [*padded.texts.strings()] == [*RESIZED, b"", b"", b""]
    assert padded.types.tolist() == [3, 1, 1, 1] + [TokenType.UNUSED] * 3
    assert padded.special_ids.tolist() == [0, 4, 5, 6]
    assert padded.eos_ids == (0,)
    assert not any(array.flags.writeable for array in (padded.types, padded.special_ids, *padded.tokens, *padded.texts))


def test_no_mask_allows_padding():
    plain, padded = (Tokenizer.from_bytes(RESIZED, eos=0, vocab_size=size) for size in (None, 70))
    for grammar in ("start: /[ab]*/", "start: <[*]>*", "start: <[^1]> | <[2-3]>", "start: <[0-3]>"):
        assert allowed(padded, grammar) == allowed(plain, grammar)
    assert allowed(padded, "start: <[3-69]>") == [3]
    with pytest.raises(GrammarError, match="no token of the vocabulary has an id of <\\[4-69\\]>"):
        Compiler(padded).lark("start: <[4-69]>")


def test_padding_is_decoded_as_special_tokens_are():
    padded = Tokenizer.from_bytes(RESIZED, eos=0, vocab_size=6)
    assert padded.decode([1, 5, 2]) == "ab"
    assert padded.decode([0, 1, 5, 2], skip_special=False) == "<end>ab"
    assert (padded.token_bytes(5), padded.token_name(5)) == (b"", "")
    with pytest.raises(VocabularyError, match="token ids are 0 to 5"):
        padded.decode([6])


def test_cut_tokens_are_never_written():
    cut = Tokenizer.from_bytes(RESIZED, eos=0, vocab_size=3)
    assert cut.vocab_size == 3
    assert cut.encode("abab") == [1, 2, 1, 2]
    assert allowed(cut, "start: /[ab]+/") == [1, 2]
    with pytest.raises(VocabularyError, match="token ids are 0 to 2"):
        cut.token_bytes(3)


def test_merges_go_with_the_tokens_that_they_make(tmp_path: Path):
    merges = ["a b", "ab c", "abc d", "b c"]
    tokens = [b"<end>", b"a", b"b", b"c", b"d", b"ab", b"bc", b"abcd", b"abc"]
    types = [CONTROL] + [NORMAL] * 8
    path = write_gguf(tmp_path / "v.gguf", "gpt2", tokens, types, merges=merges, pre="gpt-2", eos_token_id=0)
    assert Tokenizer.from_gguf(path).encode("abcd abc"[:4]) == [7]
    cut = Tokenizer.from_gguf(path, vocab_size=8)
    assert [*cut._parts.vocabulary.encoder.merges.strings()] == [b"a b", b"b c"]  # "abcd" has a part that is gone
    assert cut.encode("abcd") == cut.encode("abcd", method="heap") == [5, 3, 4]
    assert cut.encode("abcd", method="greedy") == [7]  # still a token


def test_merges_over_space_marks_are_cut_too(tmp_path: Path):
    tokens = ["<eos>", "\u2581", "a", "b", "\u2581a", "ab", "\u2581ab"]
    fields = {"merges": ["\u2581 a", "a b", "\u2581a b"], "eos_token_id": 0, "bos_token_id": 0}
    encoded = [text.encode() for text in tokens]
    path = write_gguf(tmp_path / "v.gguf", "gemma4", encoded, [CONTROL] + [NORMAL] * 6, **fields)
    assert Tokenizer.from_gguf(path).encode(" ab") == [6]
    assert Tokenizer.from_gguf(path, vocab_size=6).encode(" ab") == [4, 3]


def test_scores_keep_to_their_tokens(tmp_path: Path):
    pieces = [("<unk>", 0.0, 2), ("</s>", 0.0, 3), ("\u2581", -2.0, 1), ("a", -1.0, 1), ("\u2581a", -1.5, 1)]
    path = tmp_path / "m.model"
    path.write_bytes(model_bytes([(text.encode(), score, kind) for text, score, kind in pieces]))
    for size, ids in ((None, [4]), (9, [4]), (4, [2, 3])):
        tokenizer = Tokenizer.from_sentencepiece(path, vocab_size=size)
        assert tokenizer.encode("a") == ids
        assert len(tokenizer._parts.vocabulary.encoder.scores) == tokenizer.vocab_size == (size or 5)


@pytest.mark.long
@pytest.mark.parametrize("size", [32_500, 40_000])
def test_a_saved_file_has_the_size(tmp_path: Path, size: int):
    path = tmp_path / "v.gguf"
    whole = Tokenizer.default()
    resized = Tokenizer.from_gguf(_with_end(whole, tmp_path), vocab_size=size)
    resized.save_gguf(path)
    again = Tokenizer.from_gguf(path)
    assert again.vocab_size == size
    assert again._parts.absent_ids == resized._parts.absent_ids
    text = "What is encoded by the resized vocabulary, and by the file; naïve Zürich, 1234."
    assert again.encode(text) == resized.encode(text)
    assert max(resized.encode(text)) < size
    assert again.decode(again.encode(text)) == text
    assert (resized.encode(text) == whole.encode(text)) == (size > whole.vocab_size or max(whole.encode(text)) < size)


def _with_end(tokenizer: Tokenizer, folder: Path) -> Path:
    """The tokenizer's tokens with an end of sequence that no cut takes."""
    path = folder / "whole.gguf"
    texts = [*tokenizer._parts.vocabulary.texts.strings()]
    types = tokenizer._parts.vocabulary.types.tolist()
    texts[0], types[0] = b"<|endoftext|>", CONTROL
    texts[-1], types[-1] = "\u0100\u0100\u0100".encode(), NORMAL  # three zero bytes
    merges = [*tokenizer._parts.vocabulary.encoder.merges.strings()]
    return write_gguf(path, "gpt2", texts, types, merges=merges, pre="llama-bpe", eos_token_id=0)


def test_what_strips_blanks_is_cut_without_a_word(tmp_path: Path):
    data = from_bytes(RESIZED, 0)
    object.__setattr__(data.encoder, "whole_words", (1, 3))
    assert resize(data, 3).encoder.whole_words == (1,)
    assert resize(data, 9).encoder.whole_words == (1, 3)


LOST = [
    ({"eos": [1, 4]}, 4, 'vocab_size=4 cuts token 4, "<tool>", which ends a sequence\n  at token 4 of 6'),
    ({"eos": 0}, 5, 'vocab_size=5 cuts token 5, "<s>", which is special\n  at token 5 of 6'),
]
MEND = "\n  give at least 6, or leave it out: a mask may be wider than the logits it is applied to"


@pytest.mark.parametrize(("arguments", "size", "message"), LOST, ids=["eos", "special"])
def test_what_is_not_just_text_is_never_cut(arguments: dict, size: int, message: str):
    tokens = [b"<end>", b"a", b"b", b"ab", b"<tool>", b"<s>"]
    with pytest.raises(VocabularyError) as caught:
        Tokenizer.from_bytes(tokens, special=[5], vocab_size=size, **arguments)
    assert str(caught.value) == message + MEND


def test_the_unknown_and_what_belongs_to_every_text_stay(tmp_path: Path):
    tokens, types = [b"</s>", b"a", b"b", b"<unk>"], [CONTROL, NORMAL, NORMAL, NORMAL]
    scores = [0.0] * 4
    path = write_gguf(tmp_path / "u.gguf", "llama", tokens, types, scores=scores, eos_token_id=0, unknown_token_id=3)
    with pytest.raises(VocabularyError, match='cuts token 3, "<unk>", which is the unknown token'):
        Tokenizer.from_gguf(path, vocab_size=3)
    path = write_gguf(tmp_path / "b.gguf", "llama", tokens, types, scores=scores, eos_token_id=0, bos_token_id=3)
    with pytest.raises(VocabularyError, match='cuts token 3, "<unk>", which belongs to every text'):
        Tokenizer.from_gguf(path, vocab_size=3)


ADVICE = "\n  give the number of the model's logits, or leave it out"


@pytest.mark.parametrize(
    ("size", "message"),
    [
        (0, f"vocab_size=0 is not between 1 and {MAX_VOCAB_SIZE}"),
        (-3, f"vocab_size=-3 is not between 1 and {MAX_VOCAB_SIZE}"),
        (2**40, f"vocab_size={2**40} is not between 1 and {MAX_VOCAB_SIZE}"),
        (-(1 << 20_000), f"vocab_size is not between 1 and {MAX_VOCAB_SIZE}"),
        (True, "vocab_size is an integer, not bool"),
        (False, "vocab_size is an integer, not bool"),
        ("7", "vocab_size is an integer, not str"),
        (7.0, "vocab_size is an integer, not float"),
    ],
    ids=["zero", "negative", "huge", "too long to write", "true", "false", "str", "float"],
)
def test_what_is_no_size_is_refused(size: object, message: str):
    with pytest.raises(VocabularyError) as caught:
        Tokenizer.from_bytes(RESIZED, eos=0, vocab_size=size)
    assert str(caught.value) == message + ADVICE
