"""Masks by prefix: rows may be permuted, repeated, shortened, padded or refused, and each gets the mask of its text."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from llmask import Compiler, Reasoning, allocate_bitmask
from llmask.errors import BudgetError, LlmaskError
from llmask.mask.apply import id_mask
from llmask.samplers.prefixes import BatchMasks, PrefixMasks, PrefixTable, allows_any, check_width, checked_max_tokens

END = 256  # end of sequence of byte_tokenizer, where token id = byte


@pytest.fixture(scope="module")
def grammar(compiler: Compiler) -> Any:
    return compiler.regex("(ab|ac|b)*d?")


def rows(*texts: str, prompt: str = "PP") -> np.ndarray:
    """Token ids of the prompt and each text; `.` is the end of sequence, `_` padding after it."""
    table = {".": END, "_": 0}
    ids = [[table.get(letter, ord(letter)) for letter in prompt + text] for text in texts]
    return np.array(ids, np.int64)


def allowed(mask: np.ndarray) -> list[str]:
    """Each row's allowed tokens as a string, `.` for the end of sequence."""
    bits = np.unpackbits(mask.view(np.uint8), axis=-1, bitorder="little")
    return ["".join(chr(token) if token != END else "." for token in np.flatnonzero(row)) for row in bits]


def misuse(call: Callable[[], Any]) -> str:
    with pytest.raises(LlmaskError) as caught:
        call()
    return str(caught.value)


def test_rows_are_permuted_and_repeated_as_beams_do(grammar: Any) -> None:
    masks = BatchMasks(grammar)
    masks.fill(rows("", "", ""))
    assert allowed(masks.fill(rows("a", "b", "d"))) == ["bc", "abd.", "."]
    assert allowed(masks.fill(rows("bd", "ab", "ac"))) == [".", "abd.", "abd."]
    assert allowed(masks.fill(rows("aba", "aba", "ac."))) == ["bc", "bc", "."]


def test_shorter_prefixes_are_asked_again_as_assisted_decoding_does(grammar: Any) -> None:
    masks = BatchMasks(grammar)
    for text in ("", "a", "ab", "aba", "a", "ab", "abb", "abbd", "a", "", "b"):
        mask = allowed(masks.fill(rows(text), is_same=True))
        assert mask == {"a": ["bc"], "aba": ["bc"], "abbd": ["."]}.get(text, ["abd."])


def test_a_finished_row_keeps_the_end_of_sequence_whatever_pads_it(grammar: Any) -> None:
    masks = BatchMasks(grammar)
    for text, other in (("", ""), ("b", "a"), ("b.", "ab"), ("b._", "aba"), ("b.__", "abac"), ("b.___", "abacb")):
        mask = allowed(masks.fill(rows(text, other)))
    assert mask == [".", "abd."]


def test_a_refused_row_may_only_end_and_stays_refused(grammar: Any) -> None:
    masks = BatchMasks(grammar)
    masks.fill(rows("", ""))
    assert allowed(masks.fill(rows("x", "a"))) == [".", "bc"]
    assert allowed(masks.fill(rows("xb", "ab"))) == [".", "abd."]


def test_each_prompt_has_its_own_grammar_and_its_own_beams(compiler: Compiler, grammar: Any) -> None:
    masks = BatchMasks([grammar, compiler.regex("x+")])
    prompts = np.concatenate([rows("", "", prompt="PP"), rows("", "", prompt="QQ")])
    assert allowed(masks.fill(prompts)) == ["abd.", "abd.", "x", "x"]
    longer = np.concatenate([rows("a", "x", prompt="PP"), rows("a", "x", prompt="QQ")])
    assert allowed(masks.fill(longer)) == ["bc", ".", ".", "x."]


def test_masks_of_random_visits_equal_those_of_a_fresh_matcher(
    rng: random.Random, scaled: Callable[[int], int], grammar: Any, byte_tokenizer: Any
) -> None:
    masks = BatchMasks(grammar, prompt_length=2)
    for _ in range(scaled(300)):
        length = rng.randrange(8)
        texts = ["".join(rng.choice("abcd") for _ in range(length)) for _ in range(3)]
        given = masks.fill(rows(*texts), is_same=True).copy()
        for text, words in zip(texts, given, strict=True):
            matcher = grammar.matcher()
            expected = allocate_bitmask(1, byte_tokenizer.vocab_size)
            if matcher.validate_tokens([ord(letter) for letter in text]) < length:
                assert allowed(words[None]) == ["."]
                continue
            matcher.accept_tokens([ord(letter) for letter in text])
            matcher.fill_bitmask(expected)
            assert words.tolist() == expected[0].tolist()


def test_the_table_forgets_the_oldest_prefixes_and_replays_them(grammar: Any) -> None:
    table = PrefixTable(grammar)
    table.capacity = 5
    ids = rows("abacbabab", prompt="")[0]
    for length in [*range(10), *range(10)]:
        matcher = table.after(ids[:length].tobytes())
        assert matcher is not None
        assert len(table) <= 5
        assert matcher.is_accepting() == (length not in (1, 3, 6, 8))
    table.clear()
    assert len(table) == 0


@pytest.mark.parametrize(
    "another",
    [
        rows("", prompt="QQ"),  # as long as the last one, and as the last rows
        rows("", prompt="QQQ"),
        rows("", prompt="QQQQ"),  # one longer than the last rows
        rows("", prompt="P"),
        rows("", prompt="PPx"),
        rows("", prompt="PPx" * 9),
        rows("ab.", prompt="PP")[:, :5],
        rows("a.Q", prompt="PP"),  # the next turn: the answer has ended, and there is more
        rows("aQQ", prompt="PP"),  # the next turn: the answer was cut off, and another text goes on
        rows("", "", prompt="PP"),
    ],
)
def test_rows_that_cannot_come_next_begin_another_generation(grammar: Any, another: np.ndarray) -> None:
    masks = BatchMasks(grammar)
    masks.fill(rows(""))
    masks.fill(rows("b"))
    first = masks.generation
    assert set(allowed(masks.fill(another))) == {"abd."}
    assert masks.generation is not first
    after = np.concatenate([another, np.full((len(another), 1), ord("a"))], axis=1)
    assert set(allowed(masks.fill(after))) == {"bc"}


def test_a_long_prompt_is_known_by_its_end(grammar: Any) -> None:
    masks = BatchMasks(grammar, max_tokens=9)
    prompt = "".join(chr(97 + number % 26) for number in range(1000))
    masks.fill(rows("", prompt=prompt))
    assert allowed(masks.fill(rows("a", prompt=prompt))) == ["bc"]
    assert allowed(masks.fill(rows("ab", prompt=prompt))) == ["abd."]
    assert allowed(masks.fill(rows("a", prompt="x" + prompt[1:-1] + "x"))) == ["abd."]
    assert allowed(masks.fill(rows("a", prompt=prompt[:300]))) == ["abd."]
    assert allowed(masks.fill(rows("aa", prompt=prompt[:300]))) == ["bc"]


def test_where_rows_may_be_of_either_generation_it_is_an_error_and_nothing_changes(grammar: Any) -> None:
    masks = BatchMasks(grammar)
    for text in ("", "a", "ab", "aba"):
        masks.fill(rows(text))
    help = "for another generation make a new processor, or call its reset() before"
    assert misuse(lambda: masks.fill(rows("abacba"))) == (
        "the rows went from 5 to 8 tokens between two calls, and may be of another generation\n"
        "  at token 5\n"
        f"  {help}; drafts have to be asked about token by token: llama-cpp-python's draft_model does not"
    )
    for repeated in ("a", "ab", "aba"):  # a prompt with the answer's beginning, or with all of it
        assert misuse(lambda repeated=repeated: masks.fill(rows(repeated))) == (
            f"the rows went from 5 to {2 + len(repeated)} tokens between two calls, and may be of another generation\n"
            f"  at token {2 + len(repeated)}\n"
            f"  {help}"
        )
    assert misuse(lambda: masks.fill(rows("abax"))) == (
        "the grammar refuses the last tokens of every row, which its masks did not allow\n"
        "  at token 5\n"
        f"  {help}; let no other processor or loop write tokens in the middle of a text"
    )
    assert allowed(masks.fill(rows("abab"))) == ["abd."]
    assert misuse(lambda: masks.fill(rows("abab."))) == (
        "every row has ended, and is to be continued\n"
        "  at token 6\n"
        f"  {help}; a generation ends with the end of sequence: give it to the model as eos_token_id; "
        "more beams than the grammar has texts need prompt_length="
    )
    assert allowed(masks.fill(rows("ababa"))) == ["bc"]
    masks.reset()
    assert allowed(masks.fill(rows("abab."))) == ["abd."]


def test_drafts_are_verified_from_where_they_began_and_the_next_step_is_beyond(grammar: Any) -> None:
    masks = BatchMasks(grammar)
    for text in ("", "a", "ab", "abx", "abxy"):
        masks.fill(rows(text), is_same=True)
    for text in ("a", "ab", "abx"):  # drafts are right to their end, or up to another token
        assert misuse(lambda text=text: masks.fill(rows(text))).startswith("the rows went from 6 to")
    assert allowed(masks.fill(rows("ac"))) == ["abd."]  # the first of the drafts was right
    for text in ("ac.", "ac._", "ac._x"):
        masks.fill(rows(text), is_same=True)
    assert allowed(masks.fill(rows("acb"))) == ["abd."]
    assert masks.generation is not None
    assert masks.generation.start == 2


def test_a_text_that_was_begun_is_refused_where_the_grammar_refuses_it(grammar: Any) -> None:
    assert allowed(BatchMasks(grammar, prompt_length=2).fill(rows("ab"))) == ["abd."]
    assert misuse(lambda: BatchMasks(grammar, prompt_length=2).fill(rows("ax"))).startswith("the grammar refuses")
    assert misuse(lambda: BatchMasks(grammar, prompt_length=2).fill(rows("d."))).startswith("every row has ended")


def test_arguments_that_do_not_fit_are_refused(compiler: Compiler, grammar: Any, tiny_tokenizer: Any) -> None:
    assert misuse(lambda: BatchMasks(grammar, prompt_length=3).fill(rows(""))) == (
        "the rows have 2 tokens, fewer than prompt_length = 3\n"
        "  leave prompt_length out to take what the first call brings"
    )
    assert misuse(lambda: BatchMasks([grammar, grammar]).fill(rows("", "", ""))) == (
        "3 rows cannot be shared out among 2 grammars\n"
        "  pass one grammar for all rows, or one for each prompt in the batch"
    )
    assert misuse(lambda: BatchMasks([grammar, Compiler(tiny_tokenizer).regex("a")])) == (
        "the grammars of one batch were compiled for different tokenizers\n  compile them with one llmask.Compiler"
    )


def test_rows_end_within_max_tokens_behind_the_prompt(compiler: Compiler) -> None:
    masks = BatchMasks(compiler.regex("a(b|cd)*e"), max_tokens=4)
    assert allowed(masks.fill(rows("", ""))) == ["a", "a"]
    assert allowed(masks.fill(rows("a", "a"))) == ["be", "be"]
    assert allowed(masks.fill(rows("ab", "ae"))) == ["e", "."]
    assert allowed(masks.fill(rows("abe", "ae."))) == [".", "."]
    masks = BatchMasks(compiler.regex("a(b|cd)*e"), max_tokens=2)
    with pytest.raises(BudgetError, match="takes 3 tokens"):
        masks.fill(rows(""))
    with pytest.raises(LlmaskError, match="a budget is at least 1, not 0"):
        BatchMasks(compiler.regex("a"), max_tokens=0)


def test_max_tokens_that_are_not_given_are_warned_of_unless_that_is_meant() -> None:
    with pytest.warns(UserWarning, match="cut off in the middle") as caught:
        assert checked_max_tokens(None) is None
    assert len(caught) == 1
    assert checked_max_tokens(math.inf) is None
    assert checked_max_tokens(12) == 12
    for wrong in (0, 12.5, True):
        with pytest.raises(LlmaskError, match="a budget is"):
            checked_max_tokens(wrong)


def test_a_model_may_lack_some_logits_and_not_many(compiler: Compiler, grammar: Any) -> None:
    vocab_size = compiler.tokenizer.vocab_size
    for n_logits in (vocab_size + 128, vocab_size, vocab_size - 256):
        check_width(compiler.tokenizer, n_logits)
    with pytest.warns(UserWarning, match=f"the mask is for {vocab_size} tokens and the model has {vocab_size + 9999}"):
        check_width(compiler.tokenizer, vocab_size + 9999)
    assert misuse(lambda: check_width(compiler.tokenizer, vocab_size - 257)) == (
        f"the grammar was compiled for {vocab_size} tokens, and the model has {vocab_size - 257} logits\n"
        "  compile the grammar for the tokenizer of this model; if tokens were added to it, "
        "model.resize_token_embeddings(len(tokenizer)) gives each a logit"
    )


def written(*texts: str) -> list[bytes]:
    return [row.tobytes() for text in texts for row in rows(text, prompt="")]


def test_masks_are_a_function_of_what_is_after_the_prompt(grammar: Any, compiler: Compiler) -> None:
    """In any order, of rows of any length, with a grammar for each half of the rows."""
    masks = PrefixMasks([grammar, compiler.choice(["x"])])
    texts = ["a", "abab", "x", ""]
    assert allowed(masks.fill_after(masks.after(written(*texts)), [1, 4, 1, 0])) == ["bc", "abd.", ".", "x"]
    assert allowed(masks.fill_after(masks.after(written("abab", "aa", "y", "x.")), [4, 2, 1, 2])) == ["abd.", *"..."]
    assert masks.restricts
    assert "3 rows cannot be shared out among 2 grammars" in misuse(lambda: masks.check_rows(3))


def test_each_row_has_the_budget_of_its_own_length(compiler: Compiler) -> None:
    masks = PrefixMasks(compiler.regex("a*"), max_tokens=3)
    matchers = masks.after(written("", "a", "aa", "aaa"))
    assert allowed(masks.fill_after(matchers, [0, 1, 2, 3])) == ["a.", "a.", ".", "."]


def test_rows_without_a_grammar_are_free(grammar: Any) -> None:
    masks = BatchMasks([grammar, None])
    for text, wanted in (("", "abd."), ("a", "bc"), ("ab", "abd."), ("ab.", "."), ("ab._", ".")):
        mask = masks.fill(rows(text, "qqqq"[: len(text)]))
        assert allowed(mask[:1]) == [wanted]
        assert (mask[1] == -1).all()
    assert "not NoneType" in misuse(lambda: BatchMasks(None))
    assert "no grammar was given" in misuse(lambda: BatchMasks([None]))
    assert "no grammar was given" in misuse(lambda: BatchMasks([]))


def test_rows_think_before_the_grammar_begins(grammar: Any) -> None:
    thinking = Reasoning(grammar, end=[ord("!")], budget=3)
    masks = BatchMasks([thinking, grammar], max_tokens=6)
    anything = "".join(map(chr, range(END)))  # no end of sequence
    assert allowed(masks.fill(rows("", ""))) == [anything, "abd."]
    assert allowed(masks.fill(rows("x", "b"))) == [anything, "abd."]
    assert allowed(masks.fill(rows("xy", "bb"))) == ["!", "abd."]  # the budget
    assert allowed(masks.fill(rows("xy!", "bbb"))) == ["abd.", "abd."]
    assert allowed(masks.fill(rows("xy!b", "bbbd"))) == ["bd.", "."]


def test_thoughts_are_taken_back_as_drafts_are(grammar: Any) -> None:
    masks = PrefixMasks(Reasoning(grammar, end=[ord("!")]))
    anything = [chr(token) for token in range(END)]  # no end of sequence
    for text, expected in (("x!a", "bc"), ("x!", "abd."), ("x", anything), ("!", "abd."), ("!z", "."), ("", anything)):
        tokens = rows(text, prompt="")
        matchers = masks.after([tokens.tobytes()])
        assert allowed(masks.fill_after(matchers, [len(text)]))[0] == "".join(expected)


def test_whether_a_row_allows_any_of_the_first_tokens() -> None:
    for token in (0, 31, 32, 63, 69):
        row = id_mask([token], 3)
        assert [n for n in range(100) if allows_any(row, n)] == list(range(token + 1, 100))
