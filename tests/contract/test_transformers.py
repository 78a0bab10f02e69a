"""transformers' generate with the grammar's processor: every way of decoding gives valid documents."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, ClassVar

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")

from llmask import Compiler, Reasoning, Tokenizer
from llmask.cli import main
from llmask.compiling.compiled_grammar import CompiledGrammar
from llmask.errors import LlmaskError, VocabularyError
from llmask.integrations.transformers import GrammarLogitsProcessor
from llmask.matching.batch import Batch
from tests.contract import conformance
from tests.contract.event_conformance import EventConformance
from tests.contract.tiny_models import MAX_TOKENS, SCHEMA, is_valid, make_hf_model

PROMPTS = ["a", "write a person", "{", "", "write 8 documents", "x y z", '{"name":', "one more"]


@pytest.fixture(scope="module")
def model(hf_tokenizer: Any) -> Any:
    return make_hf_model(hf_tokenizer)


@pytest.fixture(scope="module")
def compiler(hf_tokenizer: Any) -> Compiler:
    return Compiler(Tokenizer.from_huggingface(hf_tokenizer))


def encode(hf_tokenizer: Any, prompts: list[str]) -> dict[str, Any]:
    """Prompts of different lengths as a batch, padded on the left; the empty one is the start of sequence."""
    batch = hf_tokenizer([prompt or hf_tokenizer.bos_token for prompt in prompts], return_tensors="pt", padding=True)
    return {"input_ids": batch.input_ids, "attention_mask": batch.attention_mask}


def generate(model: Any, hf_tokenizer: Any, prompts: list[str], grammar: Any, **options: Any) -> list[str]:
    """The constrained texts; every one must end within MAX_TOKENS, since all documents of the grammar do."""
    inputs = encode(hf_tokenizer, prompts)
    start = inputs["input_ids"].shape[1]
    output = model.generate(
        **inputs,
        max_new_tokens=MAX_TOKENS,
        logits_processor=[GrammarLogitsProcessor(grammar, max_tokens=math.inf)],
        **options,
    )
    return [hf_tokenizer.decode(row[start:], skip_special_tokens=True) for row in output]


@pytest.mark.parametrize("seed", range(3))
def test_every_row_of_a_sampled_batch_of_eight_is_valid(model: Any, hf_tokenizer: Any, grammar: Any, seed: int) -> None:
    torch.manual_seed(seed)
    texts = generate(model, hf_tokenizer, PROMPTS, grammar, do_sample=True, top_k=0)
    assert len(texts) == 8
    assert [text for text in texts if not is_valid(text)] == []
    assert len(set(texts)) > 1


def test_every_returned_beam_is_valid(model: Any, hf_tokenizer: Any, grammar: Any) -> None:
    texts = generate(model, hf_tokenizer, PROMPTS[:3], grammar, do_sample=False, num_beams=4, num_return_sequences=4)
    assert len(texts) == 12
    assert [text for text in texts if not is_valid(text)] == []


def test_beams_that_outnumber_the_continuations_do_not_disturb_the_others(
    model: Any, hf_tokenizer: Any, compiler: Compiler
) -> None:
    """After the first character only one continuation is left, so three of four beams carry refused tokens."""
    text = generate(model, hf_tokenizer, ["a"], compiler.regex("[ab]xyz"), do_sample=False, num_beams=4)
    assert text[0] in ("axyz", "bxyz")


@pytest.mark.parametrize("options", [{}, {"num_beams": 3}, {"do_sample": True}, {"prompt_lookup_num_tokens": 3}])
def test_masks_that_are_read_ahead_are_the_same(
    model: Any, hf_tokenizer: Any, compiler: Compiler, options: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    n_asked = []
    read_ahead = Batch.read_ahead
    monkeypatch.setattr(Batch, "read_ahead", lambda batch: n_asked.append(read_ahead(batch)))
    prompts = ["write", "a"] if "prompt_lookup_num_tokens" not in options else ['{"name":"ann"} {"name":']
    inputs = encode(hf_tokenizer, prompts)
    outputs = []
    for reads in (False, True):
        grammar = Compiler(compiler.tokenizer, cache_bytes=0).json_schema(SCHEMA, whitespace="compact")
        processor = GrammarLogitsProcessor(grammar, max_tokens=math.inf)
        criteria = [processor.read_ahead] if reads else []
        torch.manual_seed(0)
        outputs.append(
            model.generate(
                **inputs,
                max_new_tokens=MAX_TOKENS,
                logits_processor=[processor],
                stopping_criteria=criteria,
                **{"do_sample": False, **options},
            )
        )
        assert (sum(n_asked) > 0) == (reads and "num_beams" not in options), "beams have other rows each time"
    assert torch.equal(*outputs)


def test_rows_that_do_not_go_on_are_not_read_ahead(grammar: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Batch, "read_ahead", lambda batch: pytest.fail("no next step"))
    processor = GrammarLogitsProcessor(grammar, max_tokens=math.inf)
    ids = torch.tensor([[3, 4]])
    assert processor.read_ahead(ids, None).tolist() == [False]
    processor(ids, torch.zeros(1, grammar.tokenizer.vocab_size))
    for other in ([[3, 4]], [[3, 4, 5, 6]], [[3, 9, 5]], [[3, 4, 5], [3, 4, 5]]):
        assert processor.read_ahead(torch.tensor(other), None).tolist() == [False] * len(other)


@pytest.mark.parametrize("do_sample", [False, True])
def test_assisted_decoding_is_valid(model: Any, hf_tokenizer: Any, grammar: Any, do_sample: bool) -> None:
    assistant = make_hf_model(hf_tokenizer, seed=1)
    torch.manual_seed(0)
    texts = generate(model, hf_tokenizer, ["write"], grammar, do_sample=do_sample, assistant_model=assistant)
    assert is_valid(texts[0])
    if not do_sample:
        assert texts == generate(model, hf_tokenizer, ["write"], grammar, do_sample=False)


def test_prompt_lookup_gives_what_greedy_search_gives(model: Any, hf_tokenizer: Any, grammar: Any) -> None:
    """It hands the same score tensor to the processor several times, so masks must not be written into it."""
    prompt = '{"name":"ann","age":12,"tags":["red","red"]} {"name":"ann","age":12,'
    texts = generate(model, hf_tokenizer, [prompt], grammar, do_sample=False, prompt_lookup_num_tokens=4)
    assert is_valid(texts[0])
    assert texts == generate(model, hf_tokenizer, [prompt], grammar, do_sample=False)


def test_each_prompt_may_have_its_own_grammar(model: Any, hf_tokenizer: Any, compiler: Compiler, grammar: Any) -> None:
    torch.manual_seed(0)
    grammars = [compiler.choice(["yes", "no"]), grammar]
    texts = generate(model, hf_tokenizer, ["a", "b"], grammars, do_sample=True, num_return_sequences=3)
    assert set(texts[:3]) <= {"yes", "no"}
    assert all(is_valid(text) for text in texts[3:])


def test_the_grammar_wins_against_processors_that_leave_nothing(
    model: Any, hf_tokenizer: Any, compiler: Compiler
) -> None:
    """min_new_tokens refuses the end of sequence, and after "no" the grammar refuses everything else."""
    texts = generate(model, hf_tokenizer, ["a"], compiler.choice(["no"]), do_sample=True, min_new_tokens=20)
    assert texts == ["no"]


def test_a_text_that_was_begun_is_continued(model: Any, hf_tokenizer: Any, compiler: Compiler) -> None:
    inputs = encode(hf_tokenizer, ["a"])
    start = inputs["input_ids"].shape[1]
    begun = torch.tensor([hf_tokenizer("yes, in", add_special_tokens=False).input_ids])
    ids = torch.cat([inputs["input_ids"], begun], dim=1)
    processor = GrammarLogitsProcessor(compiler.choice(["yes, indeed", "no"]), prompt_length=start, max_tokens=math.inf)
    output = model.generate(
        input_ids=ids, attention_mask=torch.ones_like(ids), max_new_tokens=20, logits_processor=[processor]
    )
    assert hf_tokenizer.decode(output[0, start:], skip_special_tokens=True) == "yes, indeed"


def test_scores_are_copied_and_those_beyond_the_vocabulary_refused(hf_tokenizer: Any, compiler: Compiler) -> None:
    processor = GrammarLogitsProcessor(compiler.choice(["yes"]), max_tokens=math.inf)
    scores = torch.zeros(1, len(hf_tokenizer) + 13, dtype=torch.bfloat16)
    masked = processor(torch.tensor([[5, 6]]), scores)
    assert not scores.any()
    assert masked.dtype == torch.bfloat16
    assert masked[0, len(hf_tokenizer) :].isneginf().all()
    spelled = [hf_tokenizer.decode([token]) for token in masked[0].isfinite().nonzero().flatten().tolist()]
    assert all("yes".startswith(text) for text in spelled)
    assert "y" in spelled


def test_a_model_with_too_few_logits_is_an_error(hf_tokenizer: Any, compiler: Compiler) -> None:
    processor = GrammarLogitsProcessor(compiler.choice(["yes"]), max_tokens=math.inf)
    with pytest.raises(VocabularyError, match="and the model has 10 logits"):
        processor(torch.tensor([[5, 6]]), torch.zeros(1, 10))
    with pytest.raises(VocabularyError) as caught:
        processor(torch.tensor([[5, 6]]), torch.zeros(1, len(hf_tokenizer) - 250))
    assert str(caught.value) == (
        f"every token that the grammar allows lies beyond the model's {len(hf_tokenizer) - 250} logits\n"
        "  at row 0, token 2\n"
        "  compile the grammar for the tokenizer of this model"
    )


def test_without_max_tokens_a_warning_says_so(compiler: Compiler) -> None:
    with pytest.warns(UserWarning, match="max_tokens=math.inf if that is meant") as caught:
        GrammarLogitsProcessor(compiler.choice(["yes"]))
    assert [warning.filename for warning in caught] == [__file__]


def test_the_command_line_runs_a_model_folder(
    model: Any, hf_tokenizer: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for part in (model, hf_tokenizer):
        part.save_pretrained(tmp_path / "model")
    schema = tmp_path / "schema.json"
    schema.write_text(json.dumps(SCHEMA))
    capfd.readouterr()
    arguments = ["generate", "--model", str(tmp_path / "model"), "--schema", str(schema)]
    for prompt in ("", "write"):
        assert main([*arguments, "--prompt", prompt, "--n", "5", "--seed", "1", "--max-tokens", str(MAX_TOKENS)]) == 0
        lines = capfd.readouterr().out.splitlines()
        assert len(set(lines)) == 5
        assert [line for line in lines if not is_valid(line)] == []


@pytest.fixture(scope="module")
def free_grammar() -> Any:
    """Allows each of its vocabulary's three tokens, always."""
    tokenizer = Tokenizer.from_bytes([b"a", b"b", b""], eos=2)
    return Compiler(tokenizer).regex("[ab]*")


def test_scores_of_which_none_is_refused_are_not_copied(free_grammar: Any) -> None:
    scores = torch.tensor([[-torch.inf, 1.0, torch.nan], [0.0, -torch.inf, -torch.inf]])
    processor = GrammarLogitsProcessor(free_grammar, max_tokens=math.inf)
    assert processor(torch.tensor([[0], [0]]), scores) is scores
    wider = torch.zeros(2, 5)
    assert GrammarLogitsProcessor(free_grammar, max_tokens=math.inf)(torch.tensor([[0], [0]]), wider).isfinite().sum(
        1
    ).tolist() == [3, 3]
    assert wider.isfinite().all()


def test_rows_that_other_processors_emptied_are_free_again(free_grammar: Any) -> None:
    scores = torch.full((2, 3), -torch.inf)
    scores[1, 1] = 5.0
    masked = GrammarLogitsProcessor(free_grammar, max_tokens=math.inf)(torch.tensor([[0], [0]]), scores)
    assert masked.tolist() == [[0.0, 0.0, 0.0], [-torch.inf, 5.0, -torch.inf]]
    assert scores[0].isneginf().all()


def test_only_the_emptied_row_is_made_equally_likely(free_grammar: Any) -> None:
    grammar = Compiler(free_grammar.tokenizer).regex("ab")
    scores = torch.tensor([[-torch.inf, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0]], dtype=torch.bfloat16)
    masked = GrammarLogitsProcessor(grammar, max_tokens=math.inf)(torch.tensor([[0], [0]]), scores)
    assert masked.tolist() == [[0.0, *[-torch.inf] * 3], [1.0, *[-torch.inf] * 3]]


# --- the suite of adapters

PROMPT = [5, 6, 7]
NO_JUMPS = {"several_tokens_come_at_once": "may be of another generation"}


class Steps(conformance.Driver):
    """Token ids as sampling and beams bring them: a tensor of its own at each step."""

    layouts = ("contiguous", "wider rows", "every third", "columns")  # torch has no negative strides
    cannot = NO_JUMPS | {"a_call_comes_after_the_last_end": "every row has ended"}
    never = dict.fromkeys(
        [
            *("a_prefix_is_asked_again", "prefixes_shrink", "drafts_are_asked_about_and_verified"),
            *("drafts_are_illegal", "drafts_are_padded_with_minus_one", "the_end_is_taken_back"),
        ],
        "drafts are prefixes of one tensor",
    )

    def begin(self, grammars: list[CompiledGrammar | None], n_logits: int) -> None:
        given: Any = grammars if any(grammar is not grammars[0] for grammar in grammars) else grammars[0]
        self.processor = GrammarLogitsProcessor(given, max_tokens=math.inf)
        self.n_logits = n_logits

    def ids(self, rows: list[conformance.Row]) -> Any:
        return torch.tensor([PROMPT + row for row in rows])

    def allowed(self, rows: list[conformance.Row]) -> conformance.Allowed:
        scores = torch.from_numpy(conformance.random_scores(len(rows), self.n_logits, self.layout))
        return conformance.kept(scores.clone(), self.processor(self.ids(rows), scores))


class Drafts(Steps):
    """As assisted decoding brings them: prefixes of one tensor."""

    cannot = NO_JUMPS
    never: ClassVar[dict[str, str]] = {}

    def begin(self, grammars: list[CompiledGrammar | None], n_logits: int) -> None:
        super().begin(grammars, n_logits)
        self.buffer = torch.zeros(len(grammars), 200, dtype=torch.int64)

    def ids(self, rows: list[conformance.Row]) -> Any:
        length = len(PROMPT) + len(rows[0])
        self.buffer[:, :length] = super().ids(rows)
        return self.buffer[:, :length]


class TestSteps(conformance.AdapterConformance):
    kind = Steps


class TestDrafts(conformance.AdapterConformance):
    kind = Drafts


class TestEvents(EventConformance):
    def make(self, grammar: CompiledGrammar, **callbacks: Any) -> GrammarLogitsProcessor:
        return GrammarLogitsProcessor(grammar, max_tokens=math.inf, **callbacks)

    def ask(self, processor: Any, rows: list[conformance.Row]) -> None:
        processor(torch.tensor([PROMPT + row for row in rows]), torch.zeros(len(rows), 320))

    def finish(self, processor: Any, rows: list[conformance.Row]) -> None:
        processor.finish(torch.tensor([PROMPT + row for row in rows]))

    def test_rows_that_are_permuted_are_an_error(self) -> None:
        a, b = 3 + ord("a"), 3 + ord("b")
        processor = self.make(conformance.made_compiler().regex("[ab]{9}"), on_event=lambda number, event: None)
        for rows in ([[], []], [[a], [b]], [[a, a], [b, a]]):
            self.ask(processor, rows)
        with pytest.raises(LlmaskError, match="rows do not go on as they were"):
            self.ask(processor, [[b, a, a], [a, a, a]])


def test_a_model_tells_what_it_writes(model: Any, hf_tokenizer: Any, grammar: Any) -> None:
    """Sampled rows, each of which ends on its own; the document of its events is the one of its tokens."""
    torch.manual_seed(3)
    inputs = encode(hf_tokenizer, PROMPTS)
    n_prompt = inputs["input_ids"].shape[1]
    events: list[tuple[int, Any]] = []
    values: dict[int, Any] = {}
    processor = GrammarLogitsProcessor(
        grammar,
        max_tokens=MAX_TOKENS,
        on_event=lambda number, event: events.append((number, event)),
        on_value=lambda number, value: values.update({number: value}),
    )
    options = {"do_sample": True, "top_k": 0, "num_return_sequences": 2}
    output = model.generate(**inputs, max_new_tokens=MAX_TOKENS, logits_processor=[processor], **options)
    processor.finish(output)
    assert len(output) == 2 * len(PROMPTS)
    for number, row in enumerate(output[:, n_prompt:]):
        document = json.loads(hf_tokenizer.decode(row, skip_special_tokens=True))
        own = [event for where, event in events if where == number]
        assert own[-1] == ("end", "", document) == ("end", "", values[number])
        assert [event.value for event in own if event.kind == "value"] == list(document.values())
        assert [event.kind for event in own].count("end") == 1


@pytest.mark.parametrize(
    "options", [{"num_beams": 3}, {"prompt_lookup_num_tokens": 4}, {"assistant_model": None}], ids=str
)
def test_beams_and_drafts_are_told_nothing(
    model: Any, hf_tokenizer: Any, grammar: Any, options: dict[str, Any]
) -> None:
    if "assistant_model" in options:
        options = {"assistant_model": make_hf_model(hf_tokenizer, seed=1)}
    processor = GrammarLogitsProcessor(grammar, max_tokens=MAX_TOKENS, on_event=lambda number, event: None)
    inputs = encode(hf_tokenizer, PROMPTS[:1])
    with pytest.raises(LlmaskError, match="rows do not go on as they were"):
        model.generate(**inputs, max_new_tokens=MAX_TOKENS, logits_processor=[processor], do_sample=False, **options)


def test_two_hundred_documents(model: Any, hf_tokenizer: Any, grammar: Any) -> None:
    """Sampled, by beams, with drafts of another model and of the prompt."""
    assistant = make_hf_model(hf_tokenizer, seed=1)
    texts = []
    for seed in range(3):
        torch.manual_seed(seed)
        sampled = {"do_sample": True, "top_k": 0}
        texts += generate(model, hf_tokenizer, PROMPTS, grammar, num_return_sequences=5, **sampled)
        texts += generate(model, hf_tokenizer, PROMPTS[seed : seed + 4], grammar, num_beams=4, num_return_sequences=4)
        for prompt in PROMPTS:
            texts += generate(model, hf_tokenizer, [prompt], grammar, assistant_model=assistant, **sampled)
    for number in range(10):
        prompt = f"{number} {texts[number]} " + texts[number + 10][:20]
        texts += generate(model, hf_tokenizer, [prompt], grammar, do_sample=False, prompt_lookup_num_tokens=4)
    assert len(texts) >= 200
    assert [text for text in texts if not is_valid(text)] == []


@pytest.mark.parametrize("options", [{"do_sample": True, "top_k": 0}, {"do_sample": False, "num_beams": 3}], ids=str)
def test_models_think_before_the_grammar_begins(
    model: Any, hf_tokenizer: Any, grammar: Any, options: dict[str, Any]
) -> None:
    torch.manual_seed(2)
    end = hf_tokenizer.encode("}]", add_special_tokens=False)
    inputs = encode(hf_tokenizer, PROMPTS)
    n_prompt, most = inputs["input_ids"].shape[1], MAX_TOKENS + 20
    processor = GrammarLogitsProcessor(Reasoning(grammar, end, budget=20), max_tokens=most)
    output = model.generate(**inputs, max_new_tokens=most, logits_processor=[processor], **options)
    for row in output[:, n_prompt:].tolist():
        begin = next(n for n in range(len(row)) if row[n - len(end) : n] == end)
        assert begin <= 20
        assert is_valid(hf_tokenizer.decode(row[begin:], skip_special_tokens=True))


def test_continuous_batching_drops_the_processor_of_generate(grammar: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be shown the last token of each row alone, and mask by that; transformers reads the attribute."""
    from transformers.generation.continuous_batching.cb_logits_processors import ContinuousBatchingLogitsProcessorList

    processor = GrammarLogitsProcessor(grammar, max_tokens=9)
    given = transformers.LogitsProcessorList([processor])
    assert list(ContinuousBatchingLogitsProcessorList(given).logits_processor) == []
    monkeypatch.delattr(GrammarLogitsProcessor, "supports_continuous_batching")
    assert list(ContinuousBatchingLogitsProcessorList(given).logits_processor) == [processor]


def test_the_old_name_is_the_same_class() -> None:
    from llmask.samplers import transformers as before

    assert before.GrammarLogitsProcessor is GrammarLogitsProcessor
