"""llama-cpp-python with the grammar's processor, on a GGUF file with random weights."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

llama_cpp = pytest.importorskip("llama_cpp", reason="llama-cpp-python is not installed")

from llmask import Compiler, Tokenizer
from llmask.cli import main
from llmask.compiling.compiled_grammar import CompiledGrammar
from llmask.errors import LimitExceeded, LlmaskError
from llmask.integrations.llama_cpp import GrammarLogitsProcessor
from tests.contract import conformance
from tests.contract.event_conformance import EventConformance
from tests.contract.tiny_models import MAX_TOKENS, SCHEMA, is_valid, write_gguf


@pytest.fixture(scope="module")
def model_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_gguf(tmp_path_factory.mktemp("model") / "tiny.gguf")


@pytest.fixture(scope="module")
def llama(model_path: Path) -> Any:
    return llama_cpp.Llama(str(model_path), n_ctx=512, verbose=False)


@pytest.fixture(scope="module")
def compiler(model_path: Path) -> Compiler:
    return Compiler(Tokenizer.from_gguf(str(model_path)))


def complete(llama: Any, processor: GrammarLogitsProcessor, prompt: Any = "write", **options: Any) -> dict[str, Any]:
    """One completion: its text and why it finished."""
    processors = llama_cpp.LogitsProcessorList([processor])
    choice = llama(prompt, max_tokens=MAX_TOKENS, logits_processor=processors, **options)["choices"][0]
    return {"text": choice["text"], "finish_reason": choice["finish_reason"]}


def test_two_hundred_documents(llama: Any, compiler: Compiler) -> None:
    grammar = compiler.json_schema(SCHEMA, whitespace="compact")
    texts = []
    for seed in range(200):
        processor = GrammarLogitsProcessor(grammar, max_tokens=math.inf)
        result = complete(llama, processor, seed=seed, top_k=0, top_p=1.0, min_p=0.0, temperature=1.5)
        processor.raise_if_failed()
        assert result["finish_reason"] == "stop"
        texts.append(result["text"])
    assert [text for text in texts if not is_valid(text)] == []
    assert len(set(texts)) > 100


def test_a_processor_serves_the_same_prompt_again(llama: Any, compiler: Compiler) -> None:
    processor = GrammarLogitsProcessor(compiler.choice(["yes", "no"]), max_tokens=math.inf)
    assert complete(llama, processor)["text"] in ("yes", "no")
    assert complete(llama, processor)["text"] in ("yes", "no")
    processor.raise_if_failed()


def fail_at_the_fourth_mask(processor: GrammarLogitsProcessor, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the processor fail in the middle of a text, as a limit would."""
    fill, calls = processor._masks.fill, []

    def fill_or_fail(ids: Any) -> Any:
        calls.append(ids)
        if len(calls) > 3:
            raise LimitExceeded("the grammar needs more than 2 rows (limits.max_rows)")
        return fill(ids)

    monkeypatch.setattr(processor._masks, "fill", fill_or_fail)


def test_a_failure_ends_the_text_and_is_not_lost(
    llama: Any, compiler: Compiler, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """llama-cpp-python drops exceptions of a processor and goes on unconstrained."""
    processor = GrammarLogitsProcessor(compiler.regex("a{40}"), max_tokens=math.inf)
    fail_at_the_fourth_mask(processor, monkeypatch)
    result = complete(llama, processor)
    assert result == {"text": "aaa", "finish_reason": "stop"}
    reason = "the grammar needs more than 2 rows (limits.max_rows)"
    message = f"llmask: the grammar can no longer be followed and the text ends here: {reason}\n"
    assert capfd.readouterr().err == message
    assert isinstance(processor.error, LimitExceeded)
    with pytest.raises(LimitExceeded, match="max_rows"):
        processor.raise_if_failed()
    processor.reset()
    processor.raise_if_failed()


def test_the_stopping_criterion_raises_the_failure_at_once(
    llama: Any, compiler: Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    processor = GrammarLogitsProcessor(compiler.regex("a{40}"), max_tokens=math.inf)
    fail_at_the_fourth_mask(processor, monkeypatch)
    criteria = llama_cpp.StoppingCriteriaList([processor.stop_if_failed])
    with pytest.raises(LimitExceeded, match="max_rows"):
        complete(llama, processor, stopping_criteria=criteria)


def ids_of(llama: Any, text: str, add_bos: bool = False) -> list[int]:
    return llama.tokenize(text.encode(), add_bos=add_bos)


def test_a_processor_used_again_begins_another_text(llama: Any, compiler: Compiler) -> None:
    """Another prompt, the same one, a longer and a shorter one, and the next turn of a chat."""
    processor = GrammarLogitsProcessor(compiler.json_schema(SCHEMA, whitespace="compact"), max_tokens=MAX_TOKENS)
    prompt = "write"
    for turn, prompt in enumerate(("write", "another", "another", "another one", "anot", "x", "x")):
        text = complete(llama, processor, prompt, seed=turn)["text"]
        assert is_valid(text)
        processor.raise_if_failed()
    ids = ids_of(llama, "write", add_bos=True)
    for turn in range(3):
        answer = ids_of(llama, complete(llama, processor, ids, seed=turn)["text"])
        processor.raise_if_failed()
        ids = [*ids, *answer, llama.token_eos(), *ids_of(llama, "and once more")]
        assert is_valid(complete(llama, processor, ids, seed=turn)["text"])
        processor.raise_if_failed()


def test_a_prompt_that_may_as_well_be_a_draft_is_a_failure(
    llama: Any, compiler: Compiler, capfd: pytest.CaptureFixture[str]
) -> None:
    processor = GrammarLogitsProcessor(compiler.regex("a{40}"), max_tokens=math.inf)
    ids = ids_of(llama, "write", add_bos=True)
    a = llama.tokenize(b"xa", add_bos=False)[-1]
    llama.create_completion(ids, max_tokens=5, logits_processor=llama_cpp.LogitsProcessorList([processor]))
    processor.raise_if_failed()
    assert complete(llama, processor, [*ids, *[a] * 9])["text"] == ""
    with pytest.raises(LlmaskError, match="may be of another generation"):
        processor.raise_if_failed()
    assert "the text ends here" in capfd.readouterr().err


def test_drafts_are_a_failure(model_path: Path, compiler: Compiler, capfd: pytest.CaptureFixture[str]) -> None:
    """With a draft model the processor is shown the whole draft at every position, not the prefix of that position."""
    from llama_cpp.llama_speculative import LlamaPromptLookupDecoding

    llama = llama_cpp.Llama(
        str(model_path), n_ctx=512, verbose=False, draft_model=LlamaPromptLookupDecoding(num_pred_tokens=4)
    )
    processor = GrammarLogitsProcessor(compiler.regex("(name){8}"), max_tokens=math.inf)
    text = complete(llama, processor, prompt="namenamename")["text"]
    assert ("name" * 8).startswith(text)
    with pytest.raises(LlmaskError, match="may be of another generation"):
        processor.raise_if_failed()
    assert "draft_model does not" in capfd.readouterr().err


def test_the_grammar_wins_against_a_processor_that_leaves_nothing(llama: Any, compiler: Compiler) -> None:
    def refuse_all(ids: Any, scores: Any) -> Any:
        scores[:] = -np.inf
        return scores

    processor = GrammarLogitsProcessor(compiler.choice(["no"]), max_tokens=math.inf)
    processors = llama_cpp.LogitsProcessorList([refuse_all, processor])
    result = llama("write", max_tokens=9, logits_processor=processors)
    processor.raise_if_failed()
    assert result["choices"][0]["text"] == "no"


def test_the_command_line_runs_a_model_file(
    model_path: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    schema = tmp_path / "schema.json"
    schema.write_text(json.dumps(SCHEMA))
    arguments = ["generate", "--model", str(model_path), "--schema", str(schema), "--prompt", "write"]
    assert main([*arguments, "--n", "5", "--seed", "1", "--max-tokens", str(MAX_TOKENS)]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert len(set(lines)) == 5
    assert [line for line in lines if not is_valid(line)] == []


def test_a_completion_that_drops_the_processor_is_a_failure(llama: Any, compiler: Compiler) -> None:
    """llama-cpp-python extends a list by the bias and keeps what `extend` returns: None."""
    processor = GrammarLogitsProcessor(compiler.choice(["yes"]), max_tokens=math.inf)
    assert complete(llama, processor, logit_bias={5: 1.0})["text"] != "yes"
    with pytest.raises(LlmaskError, match="has not called the processor, so that the text follows no grammar"):
        processor.raise_if_failed()
    processor = GrammarLogitsProcessor(compiler.choice(["yes"]), max_tokens=math.inf)
    criteria = llama_cpp.StoppingCriteriaList([processor.stop_if_failed])
    with pytest.raises(LlmaskError, match="where logit_bias is given"):
        complete(llama, processor, logit_bias={5: 1.0}, stopping_criteria=criteria)


def test_the_old_name_is_the_same_class() -> None:
    from llmask.samplers import llama_cpp as before

    assert before.GrammarLogitsProcessor is GrammarLogitsProcessor


# --- the suite of adapters


class Completions(conformance.Driver):
    """Ids as completions bring them, a processor a row: llama-cpp-python has batches of one."""

    layouts = conformance.LAYOUTS
    cannot: ClassVar[dict[str, str]] = {
        **dict.fromkeys(
            ["a_prefix_is_asked_again", "prefixes_shrink", "several_tokens_come_at_once"],
            "may be of another generation",
        ),
        **dict.fromkeys(["drafts_are_illegal", "drafts_are_padded_with_minus_one"], "refuses the last tokens of every"),
    }
    never: ClassVar[dict[str, str]] = {
        **dict.fromkeys(
            ["beams_permute_and_repeat_rows", "beams_without_a_continuation_carry_refused_tokens"], "it has no beams"
        ),
        **dict.fromkeys(["a_call_comes_after_the_last_end", "the_end_is_taken_back"], "it stops at the end"),
        "drafts_are_asked_about_and_verified": "its drafts come as a whole: test_drafts_are_a_failure",
    }

    def begin(self, grammars: list[CompiledGrammar | None], n_logits: int) -> None:
        self.processors = [grammar and GrammarLogitsProcessor(grammar, max_tokens=math.inf) for grammar in grammars]
        self.n_logits = n_logits

    def allowed(self, rows: list[conformance.Row]) -> conformance.Allowed:
        masked = conformance.random_scores(len(rows), self.n_logits, self.layout)
        before = masked.copy()
        for number, (processor, row) in enumerate(zip(self.processors, rows, strict=True)):
            if has_ended(row):  # nothing is asked about it
                masked[number] = -np.inf
                masked[number, 1] = before[number, 1]
            elif processor is not None:
                assert np.shares_memory(processor(np.array([1, 5, *row], np.intc), masked[number]), masked)
                processor.raise_if_failed()
        return conformance.kept(before, masked)


def has_ended(row: conformance.Row) -> bool:
    return 1 in row


class TestCompletions(conformance.AdapterConformance):
    kind = Completions


class TestEvents(EventConformance):
    n_rows = 1

    def make(self, grammar: CompiledGrammar, **callbacks: Any) -> GrammarLogitsProcessor:
        return GrammarLogitsProcessor(grammar, max_tokens=math.inf, **callbacks)

    def ask(self, processor: Any, rows: list[conformance.Row]) -> None:
        processor(np.array([1, 5, *rows[0]], np.intc), np.zeros(320, np.single))
        processor.raise_if_failed()


def test_a_model_tells_what_it_writes(llama: Any, compiler: Compiler) -> None:
    """One processor for one text after another; the end of what is no JSON is told by `finish` alone."""
    calls: list[tuple[int, Any]] = []
    on_event = {"on_event": lambda number, event: calls.append((number, event))}
    sampled = {"top_k": 0, "top_p": 1.0, "min_p": 0.0, "temperature": 1.5}
    processor = GrammarLogitsProcessor(
        compiler.json_schema(SCHEMA, whitespace="compact"), max_tokens=math.inf, **on_event
    )
    for seed in range(10):
        calls.clear()
        text = complete(llama, processor, seed=seed, **sampled)["text"]
        assert calls[-1] == (0, ("end", "", json.loads(text)))
        n_calls = len(calls)
        processor.finish()
        assert len(calls) == n_calls
        assert [event.value for _, event in calls if event.kind == "value"] == list(json.loads(text).values())
    calls.clear()
    processor = GrammarLogitsProcessor(compiler.regex("(yes|no){2}"), max_tokens=math.inf, **on_event)
    text = complete(llama, processor)["text"]
    assert calls == []
    processor.finish()
    assert calls == [(0, ("end", "", text))]


def test_what_a_callback_raises_ends_the_text(
    llama: Any, compiler: Compiler, capfd: pytest.CaptureFixture[str]
) -> None:
    def stop(number: int, value: Any) -> None:
        if len(value) == 3:
            raise InterruptedError("seen enough")

    processor = GrammarLogitsProcessor(compiler.regex("a{40}"), max_tokens=math.inf, on_value=stop)
    assert complete(llama, processor) == {"text": "aaa", "finish_reason": "stop"}
    assert "seen enough" in capfd.readouterr().err
    for call in (processor.raise_if_failed, processor.finish):
        with pytest.raises(InterruptedError, match="seen enough"):
            call()
