"""mlx-lm with the grammar's processor, on a model with random weights: one sequence, a batch, drafts."""

from __future__ import annotations

import json
import math
from typing import Any, ClassVar

import numpy as np
import pytest

mx = pytest.importorskip("mlx.core", reason="mlx is not installed")
pytest.importorskip("mlx_lm", reason="mlx-lm is not installed")

from mlx_lm.generate import BatchGenerator, generate_step, speculative_generate_step, stream_generate
from mlx_lm.models import llama
from mlx_lm.sample_utils import make_sampler

from llmask import Compiler, Tokenizer, allocate_bitmask
from llmask.compiling.compiled_grammar import CompiledGrammar
from llmask.errors import BudgetError, LlmaskError, VocabularyError
from llmask.integrations.mlx import GrammarLogitsProcessor, apply_bitmask
from tests.contract import conformance
from tests.contract.event_conformance import EventConformance
from tests.contract.tiny_models import MAX_TOKENS, is_valid


def make_model(hf_tokenizer: Any, seed: int) -> Any:
    """Logits are 13 wider than the vocabulary, as padding makes them."""
    mx.random.seed(seed)
    arguments = llama.ModelArgs(
        model_type="llama",
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=2,
        rms_norm_eps=1e-5,
        vocab_size=len(hf_tokenizer) + 13,
        tie_word_embeddings=True,
        rope_theta=1e4,
    )
    model = llama.Model(arguments)
    mx.eval(model.parameters())
    return model


@pytest.fixture(scope="module")
def model(hf_tokenizer: Any) -> Any:
    return make_model(hf_tokenizer, 0)


@pytest.fixture(scope="module")
def draft_model(hf_tokenizer: Any) -> Any:
    return make_model(hf_tokenizer, 1)


@pytest.fixture(scope="module")
def compiler(hf_tokenizer: Any) -> Compiler:
    return Compiler(Tokenizer.from_huggingface(hf_tokenizer))


def processor(grammar: CompiledGrammar) -> GrammarLogitsProcessor:
    return GrammarLogitsProcessor(grammar, max_tokens=MAX_TOKENS)


def text_of(hf_tokenizer: Any, tokens: list[int]) -> str:
    end = tokens.index(hf_tokenizer.eos_token_id)
    return hf_tokenizer.decode(tokens[:end])


def test_two_hundred_documents(model: Any, draft_model: Any, hf_tokenizer: Any, grammar: CompiledGrammar) -> None:
    """Step by step, streamed, in batches that are as long as their longest text, and with drafts."""
    sampler = make_sampler(temp=1.0)
    prompts = [hf_tokenizer(f"write {number}").input_ids for number in range(170)]
    texts = []
    for number, prompt in enumerate(prompts[:10]):
        options = {"max_tokens": MAX_TOKENS, "sampler": sampler, "logits_processors": [processor(grammar)]}
        parts = stream_generate(model, hf_tokenizer, prompt, **options)
        texts.append("".join(part.text for part in parts))
        options["logits_processors"] = [processor(grammar)]
        texts.append(until_end(hf_tokenizer, generate_step(mx.array(prompt), model, **options)))
        options["logits_processors"] = [processor(grammar)]
        drafted = speculative_generate_step(
            mx.array(prompt), model, (draft_model, model)[number % 2], num_draft_tokens=1 + number % 4, **options
        )
        texts.append(until_end(hf_tokenizer, drafted))
    batch = BatchGenerator(model, max_tokens=MAX_TOKENS, sampler=sampler, stop_tokens=[[hf_tokenizer.eos_token_id]])
    texts += run_batch(hf_tokenizer, batch, prompts, [[processor(grammar)] for _ in prompts])
    assert len(texts) == 200
    assert [text for text in texts if not is_valid(text)] == []
    assert len(set(texts)) > 100


def until_end(hf_tokenizer: Any, steps: Any) -> str:
    tokens: list[int] = []
    for token, *_ in steps:
        tokens.append(int(token))
        if tokens[-1] == hf_tokenizer.eos_token_id:
            break
    return text_of(hf_tokenizer, tokens)


def run_batch(hf_tokenizer: Any, batch: Any, prompts: list[Any], processors: list[Any]) -> list[str]:
    names = batch.insert(prompts, logits_processors=processors)
    written: dict[int, list[int]] = {name: [] for name in names}
    is_going = set(names)
    while is_going:
        for answer in batch.next_generated():
            written[answer.uid].append(answer.token)
            if answer.finish_reason is not None:
                is_going.discard(answer.uid)
    batch.close()
    return [hf_tokenizer.decode(written[name], skip_special_tokens=True) for name in names]


def test_sequences_of_a_batch_have_their_own_grammar_or_none(
    model: Any, hf_tokenizer: Any, compiler: Compiler, grammar: CompiledGrammar
) -> None:
    batch = BatchGenerator(model, max_tokens=MAX_TOKENS, stop_tokens=[[hf_tokenizer.eos_token_id]])
    processors = [[processor(compiler.choice(["yes", "no"]))], [processor(grammar)], []]
    texts = run_batch(hf_tokenizer, batch, [[5, 6], [7], [8, 9, 10]], processors)
    assert texts[0] in ("yes", "no")
    assert is_valid(texts[1])
    assert not is_valid(texts[2])


def test_drafts_give_what_greedy_search_gives(
    model: Any, draft_model: Any, hf_tokenizer: Any, grammar: CompiledGrammar
) -> None:
    prompt = mx.array([5, 6, 7])
    plain = until_end(hf_tokenizer, generate_step(prompt, model, logits_processors=[processor(grammar)]))
    for drafting in (model, draft_model):
        drafted = speculative_generate_step(prompt, model, drafting, logits_processors=[processor(grammar)])
        assert until_end(hf_tokenizer, drafted) == plain


def test_one_processor_for_two_sequences_is_an_error(model: Any, hf_tokenizer: Any, grammar: CompiledGrammar) -> None:
    shared = processor(grammar)
    batch = BatchGenerator(model, max_tokens=9, stop_tokens=[[hf_tokenizer.eos_token_id]])
    with pytest.raises(LlmaskError, match="a processor of its own, also in a batch"):
        run_batch(hf_tokenizer, batch, [[5, 6], [7]], [[shared], [shared]])
    with pytest.raises(LlmaskError, match=r"not \(2, 400\)"):
        shared(mx.array([1, 2]), mx.zeros((2, 400)))


def test_another_text_needs_a_reset(grammar: CompiledGrammar, hf_tokenizer: Any) -> None:
    again = processor(grammar)
    logits = mx.zeros((1, len(hf_tokenizer)))
    first = again(mx.array([5, 6]), logits)
    assert mx.array_equal(again(mx.array([5, 6]), logits), first)
    with pytest.raises(LlmaskError, match="do not go on with the text"):
        again(mx.array([7, 8, 9]), logits)
    again.reset()
    assert mx.array_equal(again(mx.array([7, 8, 9]), logits), first)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_the_grammar_wins_against_processors_that_leave_nothing(compiler: Compiler, dtype: str) -> None:
    n_logits = compiler.tokenizer.vocab_size + 5
    logits = mx.full((1, n_logits), -math.inf, dtype=getattr(mx, dtype))
    masked = processor(compiler.choice(["no"]))(mx.array([5]), logits)
    assert masked.dtype == logits.dtype
    assert masked.shape == logits.shape
    values = np.array(masked.astype(mx.float32))[0]
    allowed = [compiler.tokenizer.token_bytes(token) for token in np.flatnonzero(values == 0)]
    assert set(allowed) <= {b"n", b"no"}
    assert b"n" in allowed
    assert np.isneginf(values[values != 0]).all()


def test_a_model_with_too_few_logits_is_an_error(compiler: Compiler) -> None:
    with pytest.raises(VocabularyError, match="and the model has 10 logits"):
        processor(compiler.choice(["yes"]))(mx.array([5]), mx.zeros((1, 10)))
    with pytest.raises(VocabularyError, match="lies beyond the model's"):
        processor(compiler.choice(["yes"]))(mx.array([5]), mx.zeros((1, compiler.tokenizer.vocab_size - 250)))


def test_a_budget_that_no_document_keeps_is_an_error(grammar: CompiledGrammar) -> None:
    with pytest.raises(BudgetError):
        GrammarLogitsProcessor(grammar, max_tokens=3)(mx.array([5]), mx.zeros((1, 400)))


# --- masks for a loop of one's own


@pytest.mark.parametrize("n_logits", [1, 31, 32, 33, 64, 70])
@pytest.mark.parametrize("leading", [(), (3,), (2, 3)])
def test_bits_are_those_of_the_mask(n_logits: int, leading: tuple[int, ...]) -> None:
    mask = np.random.default_rng(n_logits).integers(-(2**31), 2**31, (*leading, 2)).astype(np.int32)
    logits = np.random.default_rng(0).normal(size=(*leading, n_logits)).astype(np.float32)
    wanted = conformance.spread(mask.reshape(-1, 2), n_logits).reshape(logits.shape)
    for given in (mask, mx.array(mask)):
        assert (conformance.kept(logits, apply_bitmask(mx.array(logits), given)) == wanted).all()


def test_one_mask_for_all_rows_and_masks_that_do_not_fit() -> None:
    logits = mx.zeros((2, 3, 40))
    assert apply_bitmask(logits, np.zeros(2, np.int32)).shape == (2, 3, 40)
    for shape, dtype, words in (((2, 1), np.int32, "does not fit"), ((1, 2, 3, 2), np.int32, "does not fit")):
        with pytest.raises(LlmaskError, match=words):
            apply_bitmask(logits, np.zeros(shape, dtype))
    with pytest.raises(LlmaskError, match="int32, not int64"):
        apply_bitmask(logits, np.zeros(2, np.int64))


def test_a_mask_may_be_written_again_at_once() -> None:
    """MLX computes later, and must not see what the next step writes."""
    mask = allocate_bitmask(1, 64)
    masked = apply_bitmask(mx.zeros((1, 64)), mask)
    mask[:] = 0
    assert mx.all(masked == 0).item()


# --- the suite of adapters


def laid_out(values: np.ndarray, layout: str) -> Any:
    """As `conformance.laid_out`, by operations of MLX: it keeps no strides of NumPy."""
    if layout == "columns":
        return mx.array(values.T.copy()).T
    if layout == "reversed":
        return mx.array(values[::-1].copy())[::-1]
    if layout == "every third":
        return mx.array(np.repeat(values, 3, axis=1))[:, ::3]
    return mx.array(np.pad(values, ((0, 0), (2, 3))))[:, 2:-3] if layout == "wider rows" else mx.array(values)


class Sequences(conformance.Driver):
    """A processor a row, as mlx-lm calls them."""

    layouts = conformance.LAYOUTS
    cannot: ClassVar[dict[str, str]] = {"several_tokens_come_at_once": "may be of another generation"}
    never: ClassVar[dict[str, str]] = dict.fromkeys(
        ["beams_permute_and_repeat_rows", "beams_without_a_continuation_carry_refused_tokens"], "it has no beams"
    )

    def begin(self, grammars: list[CompiledGrammar | None], n_logits: int) -> None:
        self.processors = [grammar and GrammarLogitsProcessor(grammar, max_tokens=math.inf) for grammar in grammars]
        self.n_logits = n_logits

    def allowed(self, rows: list[conformance.Row]) -> conformance.Allowed:
        before = conformance.random_scores(len(rows), self.n_logits)
        scores = laid_out(before, self.layout)
        after = []
        for number, (given, row) in enumerate(zip(self.processors, rows, strict=True)):
            logits = scores[number : number + 1]
            after.append(logits if given is None else given(mx.array([5, 6, *row]), logits))
        return conformance.kept(before, mx.concatenate(after))


class TestSequences(conformance.AdapterConformance):
    kind = Sequences


class TestEvents(EventConformance):
    n_rows = 1

    def make(self, grammar: CompiledGrammar, **callbacks: Any) -> GrammarLogitsProcessor:
        return GrammarLogitsProcessor(grammar, max_tokens=math.inf, **callbacks)

    def ask(self, processor: Any, rows: list[conformance.Row]) -> None:
        processor(mx.array([5, 6, *rows[0]]), mx.zeros(320))

    def test_tokens_that_are_taken_back_are_an_error(self) -> None:
        a, b = 3 + ord("a"), 3 + ord("b")
        processor = self.make(conformance.made_compiler().regex("[ab]{9}"), on_event=lambda number, event: None)
        for row in ([], [a], [a, a]):
            self.ask(processor, [row])
        for row in ([a], [a, b]):
            with pytest.raises(LlmaskError, match="rows do not go on as they were"):
                self.ask(processor, [row])


def test_a_model_tells_what_it_writes(model: Any, hf_tokenizer: Any, grammar: CompiledGrammar) -> None:
    events: list[Any] = []
    given = GrammarLogitsProcessor(grammar, max_tokens=MAX_TOKENS, on_event=lambda _, event: events.append(event))
    for number in range(5):
        prompt = hf_tokenizer(f"write {number}").input_ids
        options: dict[str, Any] = {"max_tokens": MAX_TOKENS, "sampler": make_sampler(temp=1.0)}
        text = until_end(hf_tokenizer, generate_step(mx.array(prompt), model, logits_processors=[given], **options))
        given.finish()
        assert events[-1] == ("end", "", json.loads(text))
        assert [event.kind for event in events].count("end") == 1
        given.reset()
        events.clear()


def test_a_draft_model_tells_nothing(model: Any, draft_model: Any, hf_tokenizer: Any, grammar: CompiledGrammar) -> None:
    given = GrammarLogitsProcessor(grammar, max_tokens=MAX_TOKENS, on_event=lambda number, event: None)
    prompt = mx.array(hf_tokenizer("write").input_ids)
    with pytest.raises(LlmaskError, match="rows do not go on as they were"):
        list(speculative_generate_step(prompt, model, draft_model, max_tokens=MAX_TOKENS, logits_processors=[given]))


def test_a_text_that_was_cut_off_is_finished_with_its_tokens(compiler: Compiler) -> None:
    seen: list[Any] = []
    events: list[Any] = []
    given = GrammarLogitsProcessor(
        compiler.json_schema({"type": "array", "items": {"type": "integer"}}, whitespace="compact"),
        max_tokens=math.inf,
        on_event=lambda _, event: events.append(event),
        on_value=lambda _, value: seen.append(value),
    )
    ids = [5, *compiler.tokenizer.encode("[1,22,3")]
    for n in range(1, len(ids)):
        given(mx.array(ids[:n]), mx.zeros(compiler.tokenizer.vocab_size))
    for wrong in (mx.array(ids)[None], mx.array(ids[:2]), "x"):
        with pytest.raises(LlmaskError, match=r"an array of token ids|not the last generation's"):
            given.finish(wrong)
    given.finish(mx.array([*ids, *compiler.tokenizer.encode(",")]))
    assert [event.value for event in events] == [1, 22, 3]
    assert seen[-1] == [1, 22, 3]
