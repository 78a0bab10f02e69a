"""SentencePiece ids equal those that llama.cpp gives; bytes, unknown characters, special names."""

from __future__ import annotations

import pickle
import re
import time
from itertools import pairwise

import numpy as np
import pytest

from llmask.encoders.spm import SpmEncoder, UnigramEncoder
from llmask.errors import VocabularyError
from llmask.tokenizer.tokenizer import Tokenizer
from llmask.vocabulary.strings import make_table, read_charsmap
from llmask.vocabulary.vocabulary import EncoderData, TokenType, find_special, freeze_vocabulary, from_bytes
from tests.reference.sentencepiece_models import cuts, merge, merge_long, score
from tests.unit.encoders.samples import llama_cpp_samples
from tests.unit.vocabulary.charsmap_files import charsmap_bytes


@pytest.mark.parametrize("name", ["llama-spm", "phi-3"])
def test_ids_equal_those_of_llama_cpp(shared_dir, name):
    tok = Tokenizer.from_gguf(shared_dir / "data" / "vocab" / f"{name}.gguf")
    assert tok.encoder_name == "spm"
    for text, expected in llama_cpp_samples(shared_dir, name):
        assert tok.encode(text) == expected, text
        assert tok.decode(expected) == text


def test_special_names_stay_text(llama_spm_tokenizer):
    assert 2 not in llama_spm_tokenizer.encode("a</s>")
    assert llama_spm_tokenizer.encode("a</s>b", parse_special=True)[1] == 2


def encoder(tokens: list[bytes], scores: list[float], unknown_id: int = -1) -> SpmEncoder:
    data = EncoderData(kind="spm", scores=np.array([*scores, 0.0], np.float32), unknown_id=unknown_id)
    return SpmEncoder(from_bytes([*tokens, b"<end>"], eos=len(tokens), encoder=data))


def test_what_no_token_spells_is_unknown_or_an_error():
    assert encoder([b"a", b"?"], [0, 0], unknown_id=1).encode("aé") == [0, 1]
    with pytest.raises(VocabularyError) as error:
        encoder([b"a"], [0]).encode("aé")
    assert str(error.value) == (
        "no token spells '\xe9', so the text cannot be encoded\n"
        "  at character 1 of the text\n"
        "  take it out of the text, or use a vocabulary with a token for every byte"
    )


def test_merging_equals_the_definition(rng, scaled):
    for _ in range(scaled(200)):
        letters = rng.choice(["ab", "abc ", "aé日"])
        names = {"".join(rng.choices(letters, k=rng.randrange(2, 6))) for _ in range(rng.randrange(1, 12))}
        tokens = {name: -float(rng.randrange(8)) for name in [*letters, *sorted(names - {*letters})]}
        model = encoder([name.encode() for name in tokens], [*tokens.values()])
        for length in (3, 10, 30, 70):  # short words are merged in another way than long ones
            text = "".join(rng.choices(letters, k=length))
            assert [[*tokens][token] for token in model.encode(text)] == merge(text, tokens), (text, tokens)


def test_words_of_thousands_of_characters_are_merged_as_the_definition_says(rng, scaled):
    # up to 4,096 symbols all pairs wait in one heap, of longer words those that come in order in lists
    for _ in range(scaled(12)):
        letters = rng.choice(["ab", "abc", "aé日x"])
        names = {"".join(rng.choices(letters, k=rng.randrange(2, 7))) for _ in range(rng.randrange(3, 60))}
        n_scores = rng.choice([1, 8, 1000])
        tokens = {name: -float(rng.randrange(n_scores)) for name in [*letters, *sorted(names - {*letters})]}
        model = encoder([name.encode() for name in tokens], [*tokens.values()])
        parts = ["".join(rng.choices(letters, k=rng.randrange(1, 9))) for _ in range(5)]
        for length in (1000, 4000, 4200, 9000):
            text = "".join(rng.choices(rng.choice([letters, parts, parts[:2]]), k=length))[:length]
            assert merge(text[:60], tokens) == merge_long(text[:60], tokens)
            assert [[*tokens][token] for token in model.encode(text)] == merge_long(text, tokens), tokens


def test_listed_merges_go_by_their_rank_and_make_tokens():
    tokens = [b"a", b"b", b"c", b"ab", b"bc"]
    for merges, expected in (([b"a b", b"b c"], [3, 2]), ([b"b c", b"a b"], [0, 4]), ([b"b c"], [0, 4])):
        data = EncoderData(kind="spm", merges=make_table(merges))
        assert SpmEncoder(from_bytes([*tokens, b"<end>"], eos=5, encoder=data)).encode("abc") == expected
    data = EncoderData(kind="spm", merges=make_table([b"a c"]))
    with pytest.raises(VocabularyError, match="merge 0, b'a c', makes what is no token"):
        SpmEncoder(from_bytes([*tokens, b"<end>"], eos=5, encoder=data)).encode("abc")


def test_a_megabyte_without_a_cut_takes_little_more_than_many_short_texts(llama_spm_tokenizer):
    text = "ab" * 500_000
    llama_spm_tokenizer.encode(text[:1000])
    started = time.perf_counter()
    ids = llama_spm_tokenizer.encode(text)
    assert time.perf_counter() - started < 5.0
    assert llama_spm_tokenizer.decode(ids) == text


def split_and_merge(text: str, tokens: list[str], merges: list[tuple[str, str]]) -> list[str]:
    """Pieces of Gemma 4: runs of line breaks and what is between them, each merged by rank; bytes as <0xNN>."""
    ranks = {pair: rank for rank, pair in reversed([*enumerate(merges)])}
    pieces: list[str] = []
    for word in re.findall("\n+|[^\n]+", text):
        symbols = [word] if word in tokens and word[0] == "\n" else [*word]
        while True:
            found = [(ranks[pair], i) for i, pair in enumerate(pairwise(symbols)) if pair in ranks]
            if not found:
                break
            place = min(found)[1]
            symbols[place : place + 2] = [symbols[place] + symbols[place + 1]]
        for symbol in symbols:
            pieces += [symbol] if symbol in tokens else [f"<0x{byte:02X}>" for byte in symbol.encode()]
    return pieces


def test_gemma_merges_characters_between_runs_of_line_breaks(rng, scaled):
    for _ in range(scaled(60)):
        tokens, merges = ["a", "b", "\u2581", "\n"], []
        for _ in range(rng.randrange(1, 14)):
            left, right = rng.choice(tokens), rng.choice(tokens)
            merges.append((left, right))
            if left + right not in tokens:
                tokens.append(left + right)
        tokens += [run for run in ("\n" * 3, "\n" * 5) if run not in tokens]  # merges need not make them
        bytes_ = [f"<0x{byte:02X}>" for byte in range(256)]
        texts = make_table([text.encode() for text in ["</s>", *bytes_, *tokens]])
        types = np.array([TokenType.CONTROL] + [TokenType.BYTE] * 256 + [TokenType.NORMAL] * len(tokens), np.uint8)
        strings = [b"", *(bytes([byte]) for byte in range(256)), *(t.replace("\u2581", " ").encode() for t in tokens)]
        listed = make_table([f"{left} {right}".encode() for left, right in merges])
        data = EncoderData(kind="spm", pretokenizer="gemma4", merges=listed)
        model = SpmEncoder(freeze_vocabulary(make_table(strings), texts, types, types == TokenType.CONTROL, (0,), data))
        for _ in range(8):
            text = "".join(rng.choices("aab \n\n\n\u00e9", k=rng.randrange(30)))
            expected = split_and_merge(text.replace(" ", "\u2581"), tokens, merges)
            assert [texts.get(token).decode() for token in model.encode(text)] == expected, (text, merges)


END = 0


def unigram_encoder(tokens: dict[str, float], types: dict[str, int] | None = None, **fields: object) -> UnigramEncoder:
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
        model = unigram_encoder(tokens)
        texts = [b"", b"", *(token.encode() for token in tokens)]
        for _ in range(6):
            text = "".join(rng.choices(letters, k=rng.randrange(1, 9)))
            got = [texts[token].decode() for token in model.encode(text)]
            best = max(score(cut, tokens) for cut in cuts(text, tokens))
            assert best in {score(cut, tokens) for cut in cuts(text, tokens) if merged(cut, tokens) == got}, text


@pytest.mark.parametrize(("rules", "expected"), [("llama.cpp", [2, 3]), ("sentencepiece", [4])])
def test_sums_of_scores_are_rounded_as_the_library_of_the_model_rounds_them(rules, expected):
    one, other = np.float32(-0.1), np.float32(-0.2)
    both = one + other
    assert float(one) + float(other) > float(both)  # so "a", "b" are better by less than a float32 shows
    assert unigram_encoder({"a": one, "b": other, "ab": both}, rules=rules).encode("ab") == expected


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
def test_texts_without_a_place_to_cut_are_written_bit_by_bit(rules, rng, costly):
    for _ in range(costly(4)):
        letters = rng.choice(["ab", "abc", "a\u00e9\u65e5"])
        names = {"".join(rng.choices(letters, k=rng.choice((1, 2, 3, 4, 30)))) for _ in range(rng.randrange(2, 9))}
        # sums of eighths are exact, and pairs of all letters are in a token: nothing cuts the text
        names.add("".join(left + right for left in letters for right in letters))
        tokens = {name: -float(rng.randrange(1, 64)) / 8 for name in sorted(names)}
        model = unigram_encoder(tokens, rules=rules)
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


def test_unknown_characters_are_spelled_in_bytes_where_all_bytes_are_tokens():
    bytes_ = {f"<0x{byte:02X}>": 0.0 for byte in range(256)}
    model = unigram_encoder({"a": -1.0} | bytes_, dict.fromkeys(bytes_, int(TokenType.BYTE)))
    assert model.encode("aé") == [2, 3 + 0xC3, 3 + 0xA9]
    # a blank is U+2581 in normalized text
    assert model.encode("a ") == [2, 3 + 0xE2, 3 + 0x96, 3 + 0x81]


def test_what_no_token_spells_is_an_error_without_an_unknown_token():
    with pytest.raises(VocabularyError) as error:
        unigram_encoder({"a": -1.0}, unknown_id=-1).encode("aé")
    assert str(error.value) == (
        "no token spells '\xe9', so the text cannot be encoded\n"
        "  at character 1 of the text\n"
        "  take it out of the text, or use a vocabulary with a token for every byte"
    )


def test_blanks():
    tokens = {"a": -1.0, " a": -1.0, " ": -3.0}
    assert unigram_encoder(tokens).encode(" a  a") == [3, 4, 3]
    assert unigram_encoder(tokens, remove_extra_whitespaces=True).encode("  a   a ") == [2, 3]
    assert unigram_encoder(tokens, add_space_prefix=True).encode("a") == [3]
    assert unigram_encoder(tokens, add_space_prefix=True).encode("") == []
    suffix = unigram_encoder({"a ": -1.0, "a": -1.0, " ": -3.0}, add_space_prefix=True, space_is_suffix=True)
    assert suffix.encode("a") == [2]
    assert unigram_encoder(tokens).encode("\u2581a") == [3]  # the mark is the blank


def test_tokens_stop_at_blanks_where_words_are_encoded_one_by_one():
    tokens = {"a": -1.0, " a": -1.0, "a a": -1.0}
    assert unigram_encoder(tokens).encode("a a") == [4]
    assert unigram_encoder(tokens, stops_at_spaces=True).encode("a a") == [2, 3]


def test_user_defined_tokens_win_inside_of_the_text_under_the_rules_of_sentencepiece():
    tokens = {"a": -1.0, "b": -1.0, "ab": -0.5, "bc": -9.0, "c": -1.0}
    assert unigram_encoder(tokens).encode("abc") == [4, 6]
    user = unigram_encoder(tokens, {"bc": TokenType.USER_DEFINED}, rules="sentencepiece")
    assert user.encode("abc") == [2, 5]


def test_rules_that_blow_a_text_up_are_refused():
    model = unigram_encoder({"b": -1.0}, charsmap=read_charsmap(charsmap_bytes({b"a": b"b" * 4000})))
    assert model.encode("aa") == [2] * 8000
    with pytest.raises(VocabularyError) as error:
        model.encode("a" * 100_000)
    assert str(error.value) == ("the character map makes the text more than 32 times as long\n  encode it in parts")


def test_an_encoder_in_use_can_be_pickled():
    model = unigram_encoder({"a": -1.0})
    assert pickle.loads(pickle.dumps(model)).encode("a") == model.encode("a") == [2]


def test_time_grows_with_the_length_and_no_faster():
    model = unigram_encoder({"a" * n: -1.0 / n for n in range(1, 17)})

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
