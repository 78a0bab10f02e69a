"""Words that are tokens whatever the merges say: what merging would make of them is no encoding of a whole word."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import llmask
from llmask.canonical import chains
from llmask.canonical.neighbours import LONE
from llmask.canonical.states import SplitStates, split_states_of
from llmask.kernels.canonical.positions import BEFORE_BITS, SPLIT_BITS
from llmask.kernels.canonical.slots import CANON, REFUSED_SPLIT
from llmask.vocabulary.strings import make_table
from llmask.vocabulary.vocabulary import EncoderData, from_bytes
from tests.properties.test_healing import SPACED
from tests.reference.definition import read_mask

END = "<end>"


def test_vocabularies_without_words_that_are_tokens_have_no_chains() -> None:
    states = SplitStates(llmask.Tokenizer.default())
    assert llmask.Tokenizer.default()._parts.vocabulary.encoder.ignore_merges
    assert not (states.uses == LONE).any()


def chained(choices: list[str]) -> Any:
    """A matcher of a vocabulary in which "abc" is a token that merging does not make."""
    merges = make_table([b"a b"])
    data = EncoderData(kind="bpe", merges=merges, patterns=(r"[a-z]+|[^a-z]+",), ignore_merges=True)
    tokens = [b"a", b"b", b"c", b"ab", b"abc", b" "]
    tokenizer = llmask.Tokenizer(from_bytes([*tokens, b"<end>"], eos=6, encoder=data))
    assert tokenizer.encode("abc") == [4]
    assert tokenizer.encode("abcc") == [3, 2, 2]
    return llmask.Compiler(tokenizer, canonical=True).choice(choices).matcher()


def test_a_word_that_is_a_token_is_not_spelled_otherwise() -> None:
    """Merging makes "ab" + "c" of "abc", which is a token: the two must be followed by more of the word."""
    matcher = chained(["abc", "abcc", "abc a"])
    assert read_mask(matcher, 7) == {3, 4}
    matcher.accept_token(3)
    assert read_mask(matcher, 7) == {2}
    matcher.accept_token(2)
    assert read_mask(matcher, 7) == {2}
    assert not matcher.is_accepting()
    matcher.rollback(2)
    matcher.accept_token(4)
    assert read_mask(matcher, 7) == {5, 6}


def test_the_look_ahead_knows_words_that_are_tokens() -> None:
    """Behind "ab" only "c" and the end of the word could follow: "ab" is refused two tokens before that."""
    matcher = chained(["abc", "abc a"])
    assert read_mask(matcher, 7) == {4}
    assert matcher.grammar.n_cut == 0


def test_a_word_that_is_a_token_is_no_part_of_another_word() -> None:
    """Both "abc" and "ab" are letters to the splitter, but no word has "abc" inside: such tokens are kinds apart."""
    matcher = chained(["cabc", "ab"])
    matcher.accept_token(2)
    assert read_mask(matcher, 7) == {3}
    states = split_states_of(matcher.grammar.tokenizer)
    assert (states.uses[states.kinds.samples[states.kinds.of_token]] == states.uses).all()


def tokenizer_of(merges: list[str], tokens: list[str], patterns: tuple[str, ...]) -> llmask.Tokenizer:
    """A tokenizer that takes words that are tokens whatever the merges say."""
    table = make_table([merge.replace("_", "Ġ").encode() for merge in merges])
    data = EncoderData(kind="bpe", merges=table, patterns=patterns, ignore_merges=True)
    spelled = [token.encode() for token in tokens]
    return llmask.Tokenizer(from_bytes([*spelled, END.encode()], eos=len(tokens), encoder=data))


def masks(tokenizer: llmask.Tokenizer, choices: list[str]) -> dict[tuple[str, ...], set[str]]:
    """Of every sequence that masks let come the mask behind it."""
    matcher = llmask.Compiler(tokenizer, canonical=True).choice(choices).matcher()
    found: dict[tuple[str, ...], set[str]] = {}
    waiting: list[list[int]] = [[]]
    while waiting:
        ids = waiting.pop()
        matcher.reset()
        for token in ids:
            matcher.accept_token(token)
        if matcher.is_terminated():
            continue
        allowed = read_mask(matcher, tokenizer.vocab_size)
        spelled = {token: tokenizer.token_bytes(token).decode() or END for token in {*ids, *allowed}}
        found[tuple(spelled[token] for token in ids)] = {spelled[token] for token in allowed}
        waiting += [[*ids, token] for token in allowed]
    assert matcher.grammar.n_cut == 0
    return found


def encodings(tokenizer: llmask.Tokenizer, choices: list[str]) -> dict[tuple[str, ...], set[str]]:
    """The same by encoding each text."""
    found: dict[tuple[str, ...], set[str]] = {}
    for text in choices:
        pieces = [*(tokenizer.token_bytes(token).decode() for token in tokenizer.encode(text)), END]
        for n, piece in enumerate(pieces):
            found.setdefault(tuple(pieces[:n]), set()).add(piece)
    return found


# " ab" is a token that merging spells " ", "ab"; of blanks before a word the last one belongs to it
BLANKS = tokenizer_of(["_ _", "a b"], [" ", "  ", "a", "b", "ab", " ab"], SPACED)


def test_a_word_may_begin_with_the_last_of_some_blanks() -> None:
    choices = ["   ab", "   abb", "   b", "    ", " ab", " abb"]
    assert BLANKS.encode("   abb") == [1, 0, 4, 3]
    assert BLANKS.encode("   ab") == [1, 5]
    assert masks(BLANKS, choices) == encodings(BLANKS, choices)


def test_a_word_that_is_a_token_is_refused_behind_more_blanks() -> None:
    """Behind two blanks and a third "ab" could come only if the word went on."""
    assert masks(BLANKS, ["   ab"]) == {(): {"  "}, ("  ",): {" ab"}, ("  ", " ab"): {END}}


@pytest.mark.parametrize("patterns", [SPACED, (r"aab|1", r"\s+(?!\S)|\s+|b1?")])
def test_blanks_that_would_be_a_token_may_be_two_words(patterns: tuple[str, ...]) -> None:
    """Three blanks are a token that merging does not make; before a letter two of them are a word, and one is."""
    tokenizer = tokenizer_of(["_ _", "1 a"], [" ", "  ", "   ", "1", "a", "b", "1a"], patterns)
    choices = ["   a1a", "   b", "   ", "    ", "     1", "  1  ", " ab 1baa"]
    assert ("  ", " ") in encodings(tokenizer, ["   a1a"])
    assert masks(tokenizer, choices) == encodings(tokenizer, choices)


def test_a_word_may_be_a_token_that_is_no_word_as_a_text() -> None:
    """The text " a " is two words, as blanks at its end are one; before a digit it is one word, a token."""
    tokenizer = tokenizer_of(["_ a"], [" ", "a", "1", " a", " a "], (r"\s+$", r"[0-9]+"))
    assert tokenizer.encode(" a ") == [3, 0]
    assert tokenizer.encode(" a 1") == [4, 2]
    choices = ["1 a 1", " a ", " a 1", " a a"]
    assert masks(tokenizer, choices) == encodings(tokenizer, choices)


def test_chains_of_a_word_are_merged_as_one_word() -> None:
    """As a text "ab" would be split at its end, so merging its words spells it otherwise than merging it."""
    tokenizer = tokenizer_of(["b c", "a bc"], ["a", "b", "c", "1", "bc", "abc", "abcb"], (r"b$", r"[0-9]+"))
    assert tokenizer.encode("abcb1") == [6, 3]
    choices = ["abcb1", "abcb", "abcbc1", "abcbb1"]
    assert masks(tokenizer, choices) == encodings(tokenizer, choices)


def test_a_word_that_nothing_else_spells() -> None:
    """The word "xy" is a token, and "x" is none."""
    tokenizer = tokenizer_of(["a b"], ["a", "b", " ", "ab", "xy"], SPACED)
    choices = ["xy", "ab  b", "ab xy"]
    assert masks(tokenizer, choices[:2]) == encodings(tokenizer, choices[:2])
    with pytest.raises(llmask.VocabularyError):
        tokenizer.encode(choices[2])  # " xy" is a word
    assert masks(tokenizer, choices) == masks(tokenizer, choices[:2])


def test_a_token_behind_which_no_word_could_end_is_refused() -> None:
    """With token 3 the chains (1, 2, 3) and (2, 3) are complete, and in no word that begins so may more come."""
    after = {  # states after the tokens 1, 2, 3 if they fit, break and are inside; -1: refused
        1: [(2, 2, -1), (-1, -1, -1), (-1, -1, -1)],
        2: [(-1, -1, -1), (5, 3, 4), (-1, -1, -1)],
        3: [(-1, -1, -1), (-1, -1, -1), (7, -1, 7)],
        4: [(-1, -1, -1), (-1, -1, -1), (6, -1, 6)],
        5: [(-1, -1, -1), (-1, -1, -1), (8, -1, 8)],
    }
    left = {(8, 6): 9, (8, 7): 10, (9, 7): 0, (10, 6): 0}
    automaton: Any = SimpleNamespace(
        rows=[0, 0], row_going_on=lambda row, part: left[row, part], find_rows=lambda: None
    )
    tree: Any = SimpleNamespace(below=[{1: 1, 2: 4}, {2: 2}, {3: 3}, {}, {3: 5}, {}], ends={3, 5})
    found = chains.Chains(tree, automaton, lambda state, tokens: np.array(after[state]).T)
    forks = found.slots(4, lambda state: state)[CANON.forks]
    parts = 6 * 2  # the first number behind those of the nodes
    key = (1 * 2 << BEFORE_BITS | 2) << SPLIT_BITS | 2
    assert forks.tolist() == [
        [key, parts << SPLIT_BITS | 5],
        [(parts << BEFORE_BITS | 3) << SPLIT_BITS | 5, REFUSED_SPLIT],
    ]


def test_too_many_places_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chains, "MOST_PLACES", 1)
    with pytest.raises(llmask.LlmaskError, match="whatever the merges say"):
        SplitStates(BLANKS)
    monkeypatch.undo()
    monkeypatch.setattr(chains, "MOST_NODES", 1)
    with pytest.raises(llmask.LlmaskError, match="by merging"):
        SplitStates(BLANKS)


def test_words_of_llama_3_that_are_tokens(llama3_tokenizer: llmask.Tokenizer) -> None:
    slots = split_states_of(llama3_tokenizer)._slots
    assert len(slots[CANON.chain_next]) < 3000
    choices = ["   ulaş", "   ulaşma", "   ula", "\n   ortalama", "   ortalam", "    "]
    assert masks(llama3_tokenizer, choices) == encodings(llama3_tokenizer, choices)
