"""Unigram encoding: the best cut by definition, unknown runs, byte tokens, blanks, user-defined tokens, long texts."""

from __future__ import annotations

import pickle
import time

import numpy as np
import pytest

from llmask.encoders.unigram import UnigramEncoder
from llmask.errors import VocabularyError
from llmask.tokenizer.tokenizer import Tokenizer
from llmask.vocabulary.charsmap import read_charsmap
from llmask.vocabulary.strings import make_table
from llmask.vocabulary.vocabulary import EncoderData, TokenType, find_special, freeze_vocabulary
from tests.reference.sentencepiece_models import cuts, score
from tests.unit.vocabulary.charsmap_files import charsmap_bytes

END = 0


def encoder(tokens: dict[str, float], types: dict[str, int] | None = None, **fields: object) -> UnigramEncoder:
    """Encoder whose token 0 ends sequences and whose token 1 is the unknown one, unless `unknown_id` says otherwise."""
    texts = [b"</s>", b"<unk>", *(token.encode() for token in tokens)]
    kinds = np.full(len(texts), TokenType.NORMAL, np.uint8)
    kinds[:2] = TokenType.CONTROL, TokenType.UNKNOWN
    for text, kind in (types or {}).items():
        kinds[texts.index(text.encode())] = kind
    is_special = find_special(kinds, [END])
    strings = [b"" if hidden else text for text, hidden in zip(texts, is_special, strict=True)]
    for byte, token in enumerate(np.flatnonzero(kinds == TokenType.BYTE)):
        strings[token] = bytes([byte])
    data = EncoderData(
        **{"kind": "ugm", "scores": np.array([0, 0, *tokens.values()], np.float32), "unknown_id": 1, **fields}
    )
    return UnigramEncoder(freeze_vocabulary(make_table(strings), make_table(texts), kinds, is_special, (END,), data))


def test_the_cut_of_highest_score_is_found(rng, scaled):
    for _ in range(scaled(300)):
        letters = rng.choice(["ab", "abc", "aé日"])
        names = {"".join(rng.choices(letters, k=rng.randrange(1, 5))) for _ in range(rng.randrange(1, 9))}
        # powers of two: no two cuts have sums that differ by rounding only
        tokens = {name: -float(rng.randrange(1, 64)) / 8 for name in sorted(names)}
        model = encoder(tokens)
        texts = [b"", b"", *(token.encode() for token in tokens)]
        for _ in range(6):
            text = "".join(rng.choices(letters, k=rng.randrange(1, 9)))
            got = [texts[token].decode() for token in model.encode(text)]
            best = max(score(cut, tokens) for cut in cuts(text, tokens))
            assert best in {score(cut, tokens) for cut in cuts(text, tokens) if merged(cut, tokens) == got}, text


def merged(cut: list[str], tokens: dict[str, float]) -> list[str]:
    """A cut with each run of unknown characters as one empty string."""
    out: list[str] = []
    for piece in cut:
        name = piece if piece in tokens else ""
        if name or out[-1:] != [""]:
            out.append(name)
    return out


def best_cut(text: str, tokens: dict[str, float]) -> list[str]:
    """The cut of highest score as a plain table over places; of equals the one whose last token begins first."""
    longest, unknown = max(map(len, tokens)), min(tokens.values()) - 10.0
    scores, starts = [0.0] + [-np.inf] * len(text), [0] * (len(text) + 1)
    for start in range(len(text)):
        for end in range(start + 1, min(start + longest, len(text)) + 1):
            name = text[start:end]
            if name in tokens or end == start + 1:
                total = scores[start] + tokens.get(name, unknown)
                if total > scores[end]:
                    scores[end], starts[end] = total, start
    cut, end = [], len(text)
    while end > 0:
        cut.append(text[starts[end] : end])
        end = starts[end]
    return cut[::-1]


@pytest.mark.parametrize("rules", ["llama.cpp", "sentencepiece"])
def test_texts_without_a_place_to_cut(rules, rng, costly):
    for _ in range(costly(4)):
        letters = rng.choice(["ab", "abc", "a\u00e9\u65e5"])
        names = {"".join(rng.choices(letters, k=rng.choice((1, 2, 3, 4, 30)))) for _ in range(rng.randrange(2, 9))}
        # sums of eighths are exact, and pairs of all letters are in a token: nothing cuts the text
        names.add("".join(left + right for left in letters for right in letters))
        tokens = {name: -float(rng.randrange(1, 64)) / 8 for name in sorted(names)}
        model = encoder(tokens, rules=rules)
        texts = [b"", b"", *(token.encode() for token in tokens)]
        n = rng.randrange(2_000, 10_000)
        # ways through the first kind never meet, or late; those through the second do
        part = "".join(rng.choices(letters, k=rng.randrange(1, 5)))
        for text in (
            part * (n // len(part)),
            "".join(rng.choices(letters, k=n)),
            part * n + letters * n + "\u8a9e" + part,
        ):
            assert [texts[token].decode() for token in model.encode(text)] == merged(best_cut(text, tokens), tokens)


def test_a_run_of_unknown_characters_is_one_unknown_token():
    assert encoder({"a": -1.0}).encode("a日本a語") == [2, 1, 2, 1]


def test_unknown_characters_are_spelled_in_bytes_where_all_bytes_are_tokens():
    bytes_ = {f"<0x{byte:02X}>": 0.0 for byte in range(256)}
    model = encoder({"a": -1.0} | bytes_, dict.fromkeys(bytes_, int(TokenType.BYTE)))
    assert model.encode("aé") == [2, 3 + 0xC3, 3 + 0xA9]
    # a blank is U+2581 in normalized text
    assert model.encode("a ") == [2, 3 + 0xE2, 3 + 0x96, 3 + 0x81]


def test_what_no_token_spells_is_an_error_without_an_unknown_token():
    with pytest.raises(VocabularyError) as error:
        encoder({"a": -1.0}, unknown_id=-1).encode("aé")
    assert str(error.value) == (
        "no token spells '\xe9', so the text cannot be encoded\n"
        "  at character 1 of the text\n"
        "  take it out of the text, or use a vocabulary with a token for every byte"
    )


def test_blanks():
    tokens = {"a": -1.0, " a": -1.0, " ": -3.0}
    assert encoder(tokens).encode(" a  a") == [3, 4, 3]
    assert encoder(tokens, remove_extra_whitespaces=True).encode("  a   a ") == [2, 3]
    assert encoder(tokens, add_space_prefix=True).encode("a") == [3]
    assert encoder(tokens, add_space_prefix=True).encode("") == []
    suffix = encoder({"a ": -1.0, "a": -1.0, " ": -3.0}, add_space_prefix=True, space_is_suffix=True)
    assert suffix.encode("a") == [2]
    assert encoder(tokens).encode("\u2581a") == [3]  # the mark is the blank


def test_tokens_stop_at_blanks_where_words_are_encoded_one_by_one():
    tokens = {"a": -1.0, " a": -1.0, "a a": -1.0}
    assert encoder(tokens).encode("a a") == [4]
    assert encoder(tokens, stops_at_spaces=True).encode("a a") == [2, 3]


def test_user_defined_tokens_win_inside_of_the_text_under_the_rules_of_sentencepiece():
    tokens = {"a": -1.0, "b": -1.0, "ab": -0.5, "bc": -9.0, "c": -1.0}
    assert encoder(tokens).encode("abc") == [4, 6]
    user = encoder(tokens, {"bc": TokenType.USER_DEFINED}, rules="sentencepiece")
    assert user.encode("abc") == [2, 5]


def test_rules_that_blow_a_text_up_are_refused():
    model = encoder({"b": -1.0}, charsmap=read_charsmap(charsmap_bytes({b"a": b"b" * 4000})))
    assert model.encode("aa") == [2] * 8000
    with pytest.raises(VocabularyError) as error:
        model.encode("a" * 100_000)
    assert str(error.value) == ("the character map makes the text more than 32 times as long\n  encode it in parts")


def test_an_encoder_in_use_can_be_pickled():
    model = encoder({"a": -1.0})
    assert pickle.loads(pickle.dumps(model)).encode("a") == model.encode("a") == [2]


def test_time_grows_with_the_length_and_no_faster():
    model = encoder({"a" * n: -1.0 / n for n in range(1, 17)})

    def seconds(n: int) -> float:
        started = time.thread_time()
        model.encode("a" * n)
        return time.thread_time() - started

    seconds(10)
    assert min(seconds(400_000) for _ in range(3)) < 30 * min(seconds(40_000) for _ in range(3))


def test_250048_tokens_are_ready_within_a_second(shared_dir):
    path = shared_dir / "data" / "vocab" / "nomic-bert-moe.gguf"
    Tokenizer.from_gguf(path).encode("a")
    started = time.process_time()
    assert Tokenizer.from_gguf(path).encode("Hello, ｗｏｒｌｄ") == [35378, 4, 8999]
    assert time.process_time() - started < 1.0
