"""A grammar of vLLM's, by itself: what its manager relies on, and errors that may not leave it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import llmask
from llmask import Compiler, LimitExceeded, VocabularyError
from llmask.integrations.vllm import backend
from llmask.integrations.vllm.backend import Backend, Grammar, rows_at_once, write_rows
from llmask.integrations.vllm.requests import matcher_of

END = 256  # of byte_tokenizer, where token id = byte


@pytest.fixture
def grammar(compiler: Compiler) -> Grammar:
    return Grammar(matcher_of(compiler.regex("a(b|c)d*"), {END, ord("!")}))


class Tensor:
    """What of a torch tensor is looked at."""

    def __init__(self, n_rows: int, n_words: int = 9) -> None:
        self.words = np.full((n_rows, n_words), -1, np.int32)

    def numpy(self) -> Any:
        return self.words


def mask(grammar: Grammar, n_words: int = 9) -> str:
    tensor = Tensor(3, n_words)
    grammar.fill_bitmask(tensor, 1)  # type: ignore[arg-type]
    assert (tensor.words[[0, 2]] == -1).all()
    bits = np.unpackbits(tensor.words[1].view(np.uint8), bitorder="little")
    return "".join("." if token == END else chr(token) for token in np.flatnonzero(bits))


def ids(text: str) -> list[int]:
    return [END if letter == "." else ord(letter) for letter in text]


def test_masks_follow_tokens_and_words_beyond_the_vocabulary_are_empty(grammar: Grammar) -> None:
    assert mask(grammar, n_words=12) == "a"
    assert grammar.accept_tokens("r", ids("ab"))
    assert mask(grammar) == "!d."
    assert not grammar.is_terminated()


def test_tokens_are_taken_all_or_none(grammar: Grammar) -> None:
    assert not grammar.accept_tokens("r", ids("abx"))
    assert mask(grammar) == "a"
    assert grammar.accept_tokens("r", [])


def test_validating_changes_nothing_and_stops_at_the_end_and_at_padding(grammar: Grammar) -> None:
    assert grammar.validate_tokens(ids("abdx")) == ids("abd")
    assert grammar.validate_tokens([*ids("ab"), -1, *ids("d")]) == ids("ab")
    assert grammar.validate_tokens(ids("ab.d")) == ids("ab.")
    assert grammar.validate_tokens(ids("ab!d")) == ids("ab!")
    assert grammar.validate_tokens([-1]) == grammar.validate_tokens([]) == grammar.validate_tokens([10**9]) == []
    assert mask(grammar) == "a"


@pytest.mark.parametrize("end", [".", "!"])
def test_rolling_back_across_the_end_takes_back_what_was_ignored_first(grammar: Grammar, end: str) -> None:
    assert grammar.accept_tokens("r", ids(f"ab{end}zz"))
    assert grammar.is_terminated()
    assert grammar.accept_tokens("r", ids("z"))
    grammar.rollback(3)
    assert grammar.is_terminated()
    grammar.rollback(1)
    assert not grammar.is_terminated()
    assert mask(grammar) == "!d."
    grammar.rollback(0)
    grammar.rollback(2)
    assert mask(grammar) == "a"


def test_padding_ends_what_is_accepted(grammar: Grammar) -> None:
    assert grammar.accept_tokens("r", [*ids("a"), -1, *ids("x")])
    assert mask(grammar) == "bc"


def test_resetting_begins_again(grammar: Grammar) -> None:
    assert grammar.accept_tokens("r", ids("ab.z"))
    grammar.reset()
    assert not grammar.is_terminated()
    assert mask(grammar) == "a"
    assert grammar.n_ignored == 0


@pytest.mark.parametrize("error", [LimitExceeded("too much"), VocabularyError("no token")])
def test_where_no_mask_can_be_made_the_text_may_only_end(
    grammar: Grammar, monkeypatch: Any, caplog: Any, error: Exception
) -> None:
    def fails(*_: Any) -> bool:
        raise error

    assert grammar.accept_tokens("r", ids("a"))
    monkeypatch.setattr(type(grammar.matcher), "fill_bitmask", fails)
    assert mask(grammar) == mask(grammar) == "!."
    assert caplog.text.count("a request is ended") == 1
    assert not grammar.accept_tokens("r", [END])  # so vLLM ends the request with an error


def test_a_token_that_takes_too_much_work_ends_the_request(grammar: Grammar, monkeypatch: Any) -> None:
    right = type(grammar.matcher).accept

    def fails(self: Any, token: int) -> bool:
        if token == ord("d"):
            raise LimitExceeded("too much")
        return right(self, token)

    monkeypatch.setattr(type(grammar.matcher), "accept", fails)
    assert not grammar.accept_tokens("r", ids("abd"))
    assert mask(grammar) == "a"
    assert grammar.validate_tokens(ids("abd")) == []


def test_a_bitmask_of_fewer_logits_than_tokens(compiler: Compiler, caplog: Any) -> None:
    grammar = Grammar(matcher_of(compiler.regex("[A-z]!?")))
    assert mask(grammar, n_words=3) == "".join(chr(code) for code in range(65, 96))
    assert grammar.accept_tokens("r", ids("z!"))
    assert mask(grammar, n_words=3) == ""  # the end has no logit, either
    assert "no logits" in caplog.text


def test_the_backend_compiles_for_its_model(byte_tokenizer: Any, compiler: Compiler, monkeypatch: Any) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    monkeypatch.setattr(backend, "compiler_for", lambda tokenizer, model_config: compiler)
    outputs = SimpleNamespace(disable_any_whitespace=True)
    config = SimpleNamespace(model_config=None, structured_outputs_config=outputs)
    made = Backend(config, tokenizer=None, vocab_size=257)
    tensor = made.allocate_token_bitmask(2)
    assert tensor.shape == (2, 9)
    assert tensor.dtype == torch.int32
    assert (tensor == -1).all()
    grammar = made.compile_grammar(SimpleNamespace(name="JSON_OBJECT"), "", {END})
    grammar.fill_bitmask(tensor, 1)
    assert mask(grammar) == "{"  # no white space before it
    assert (tensor[0] == -1).all()
    made.destroy()


@pytest.fixture(autouse=True)
def together(monkeypatch: Any) -> None:
    monkeypatch.setattr("llmask.integrations.vllm.backend.FEW_ROWS", 0)


def grammars(compiler: llmask.Compiler) -> list[Grammar]:
    """One at its beginning, one further on, one that has ended, one on its own grammar."""
    found = [Grammar(compiler.regex(pattern).matcher()) for pattern in ("ab", "ab", "a", "[0-9]+")]
    assert found[1].accept_tokens("1", [97])
    assert found[2].accept_tokens("2", [97, 256])
    return found


def expected(compiler: llmask.Compiler, made: list[Grammar]) -> Any:
    words = llmask.allocate_bitmask(len(made), compiler.tokenizer.vocab_size)
    for row, grammar in enumerate(made):
        if grammar.is_terminated():
            words[row] = -1
        else:
            grammar.matcher.fill_bitmask(words, row)
    return words


def test_rows_are_those_of_each_grammar(compiler: llmask.Compiler) -> None:
    made = grammars(compiler)
    words = np.full_like(expected(compiler, made), 7)
    write_rows(words, made)
    np.testing.assert_array_equal(words, expected(compiler, made))
    before = words.copy()
    write_rows(words[:, :8], made)  # the model has fewer logits
    np.testing.assert_array_equal(words[:, :8], before[:, :8])


def test_a_row_that_cannot_be_filled_keeps_no_other(compiler: llmask.Compiler, monkeypatch: Any) -> None:
    made = grammars(compiler)
    right = llmask.Matcher.fill_bitmask

    def fails(self: Any, bitmask: Any, row: int = 0, budget: int | None = None) -> bool:
        if self is made[3].matcher:
            raise llmask.LimitExceeded("too much work")
        return right(self, bitmask, row, budget)

    monkeypatch.setattr(llmask.Matcher, "fill_bitmask", fails)
    monkeypatch.setattr(llmask.Batch, "fill", lambda batch, *_: batch._matchers[-1].fill_bitmask(None))
    words = np.zeros_like(expected(compiler, made[:3]), shape=(4, 9))
    write_rows(words, made)
    np.testing.assert_array_equal(words[:3], expected(compiler, made[:3]))
    assert words[3].tolist() == [0] * 8 + [1]  # it may only end


def manager_of(compiler: llmask.Compiler, made: list[Grammar], **changes: Any) -> tuple[Any, Any, list[list[str]]]:
    """A manager, its requests, and the names that vLLM's own call was asked for."""
    asked: list[list[str]] = []
    backend = Backend(None, None, compiler.tokenizer.vocab_size)
    words = llmask.allocate_bitmask(len(made), compiler.tokenizer.vocab_size)
    parts = {"reasoner_cls": None, "enable_in_reasoning": False, "backend": backend}
    config = SimpleNamespace(num_speculative_tokens=0)
    bitmask = SimpleNamespace(numpy=lambda: words)
    manager = SimpleNamespace(**{"vllm_config": config, "_grammar_bitmask": bitmask, **parts, **changes})
    requests = {
        str(n): SimpleNamespace(structured_output_request=SimpleNamespace(_grammar=grammar, reasoning_ended=n != 1))
        for n, grammar in enumerate(made)
    }

    def own(self: Any, requests: Any, names: list[str], drafts: Any) -> Any:
        asked.append(names)
        words[0] = 5
        return words[: len(names)]

    call = rows_at_once(own)
    return (lambda: call(manager, requests, list(requests), {})), words, asked


def test_vllm_is_not_asked_for_what_is_known(compiler: llmask.Compiler) -> None:
    made = grammars(compiler)
    call, _, asked = manager_of(compiler, made)
    np.testing.assert_array_equal(call(), expected(compiler, made))
    assert asked == []


def test_rows_that_think_are_vllms_own(compiler: llmask.Compiler) -> None:
    made = grammars(compiler)
    call, _, asked = manager_of(compiler, made, reasoner_cls=object)
    found = call()
    assert asked == [["1"]]
    assert set(found[1].tolist()) == {5}
    np.testing.assert_array_equal(np.delete(found, 1, 0), np.delete(expected(compiler, made), 1, 0))


@pytest.mark.parametrize(
    "changes",
    [{"backend": None}, {"_grammar_bitmask": None}, {"vllm_config": SimpleNamespace(num_speculative_tokens=2)}],
)
def test_what_is_not_known_is_left_to_vllm(compiler: llmask.Compiler, changes: Any) -> None:
    call, _, asked = manager_of(compiler, grammars(compiler), **changes)
    call()
    assert asked == [["0", "1", "2", "3"]]


def test_a_manager_without_the_parts_is_left_to_vllm(compiler: llmask.Compiler) -> None:
    made = grammars(compiler)
    asked: list[Any] = []
    call = rows_at_once(lambda self, requests, names, drafts: asked.append(names))
    backend = Backend(None, None, compiler.tokenizer.vocab_size)
    config = SimpleNamespace(num_speculative_tokens=0)
    call(SimpleNamespace(backend=backend, vllm_config=config), dict.fromkeys("ab", made), ["a", "b"], {})
    assert asked == [["a", "b"]]
