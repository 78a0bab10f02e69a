"""Continuous batching of transformers with a grammar a request: by its real manager, and by the suite of adapters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")
requests = pytest.importorskip(
    "transformers.generation.continuous_batching.requests", reason="transformers has no continuous batching"
)

from llmask import Compiler, Tokenizer
from llmask.compiling.compiled_grammar import CompiledGrammar
from llmask.errors import LlmaskError
from llmask.integrations import transformers as integration
from llmask.integrations.transformers import ContinuousBatchingGrammars, constrain
from tests.contract.conformance import AdapterConformance, Allowed, Driver, Row, kept, random_scores
from tests.contract.tiny_models import MAX_TOKENS, SCHEMA, is_valid, make_hf_model

PROMPTS = ["a", "write a person", "{", "write 8 documents", "x y z", '{"name":', "one more"]


@pytest.fixture(scope="module")
def compiler(hf_tokenizer: Any) -> Compiler:
    return Compiler(Tokenizer.from_huggingface(hf_tokenizer))


def new_manager(hf_tokenizer: Any, n_sequences: int = 1, **options: Any) -> Any:
    config = {"num_blocks": 64, "page_size": 32, "max_batch_tokens": 256, "use_async_batching": False}
    return make_hf_model(hf_tokenizer).init_continuous_batching(
        generation_config=transformers.GenerationConfig(
            max_new_tokens=MAX_TOKENS,
            do_sample=True,
            eos_token_id=hf_tokenizer.eos_token_id,
            pad_token_id=0,
            num_return_sequences=n_sequences,
        ),
        continuous_batching_config=transformers.ContinuousBatchingConfig(**config | options),
    )


@pytest.fixture
def manager(hf_tokenizer: Any) -> Iterator[Any]:
    manager = new_manager(hf_tokenizer)
    yield manager
    if manager.is_running():
        manager.stop(block=True)


def collect(manager: Any, names: list[str]) -> dict[str, Any]:
    """The outputs of requests, by their names."""
    outputs = {}
    while len(outputs) < len(names):
        output = manager.get_result(timeout=20)
        assert output is not None, "the manager has died"
        if output.is_finished():
            outputs[output.request_id] = output
    return outputs


def test_two_hundred_documents(manager: Any, hf_tokenizer: Any, compiler: Compiler, grammar: CompiledGrammar) -> None:
    """Requests with two grammars, and without any, come and go in one batch."""
    constrain(manager)
    manager.start()
    torch.manual_seed(0)
    answers = compiler.choice(["yes", "no"])
    names = {"document": [], "answer": [], "free": []}
    for number in range(200):
        ids = hf_tokenizer(PROMPTS[number % len(PROMPTS)]).input_ids
        names["document"].append(manager.add_request(ids, max_new_tokens=MAX_TOKENS, grammar=grammar))
        if number % 10 == 0:
            names["answer"].append(manager.add_request(ids, max_new_tokens=9, grammar=answers))
            names["free"].append(manager.add_request(ids, max_new_tokens=9))
    outputs = collect(manager, [name for given in names.values() for name in given])
    texts = {
        kind: [hf_tokenizer.decode(outputs[name].generated_tokens, skip_special_tokens=True) for name in given]
        for kind, given in names.items()
    }
    assert len(texts["document"]) == 200
    assert [text for text in texts["document"] if not is_valid(text)] == []
    assert len(set(texts["document"])) > 100
    assert set(texts["answer"]) == {"yes", "no"}
    assert not set(texts["free"]) & {"yes", "no"}
    assert {output.error for output in outputs.values()} == {None}


def test_documents_end_within_the_tokens_of_their_request(
    manager: Any, hf_tokenizer: Any, grammar: CompiledGrammar
) -> None:
    constrain(manager)
    manager.start()
    names = [manager.add_request([5, 6], max_new_tokens=n, grammar=grammar) for n in (30, 35, 40)]
    for output in collect(manager, names).values():
        assert is_valid(hf_tokenizer.decode(output.generated_tokens, skip_special_tokens=True))


def test_a_request_that_fails_does_so_alone(manager: Any, hf_tokenizer: Any, grammar: CompiledGrammar) -> None:
    constrain(manager)
    manager.start()
    other = Compiler(Tokenizer.default()).choice(["yes"])
    # as many tokens more than logits as padding explains, and what the grammar wants is among these
    wide = Compiler(Tokenizer.from_bytes([b"x"] * 400 + [b"y", b""], eos=401)).choice(["y"])
    names = {
        "wide": manager.add_request([5, 6], max_new_tokens=9, grammar=wide),
        "short": manager.add_request([5, 6], max_new_tokens=3, grammar=grammar),
        "other": manager.add_request([5, 6], max_new_tokens=9, grammar=other),
        "schema": manager.add_request([5, 6], max_new_tokens=9, grammar=SCHEMA),
        "good": manager.add_request([5, 6], max_new_tokens=MAX_TOKENS, grammar=grammar),
    }
    outputs = collect(manager, list(names.values()))
    errors = {kind: outputs[name].error for kind, name in names.items()}
    assert "3 tokens" in errors["short"]
    assert "the model has" in errors["other"]
    assert "lies beyond the model's 310 logits" in errors["wide"]
    assert "expected CompiledGrammar" in errors["schema"]
    assert errors["good"] is None
    assert is_valid(hf_tokenizer.decode(outputs[names["good"]].generated_tokens, skip_special_tokens=True))


def test_requests_that_are_begun_again_go_on_with_their_text(
    hf_tokenizer: Any, grammar: CompiledGrammar, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without room for all, requests lose their place, and what they have written becomes part of their prompt."""
    again, begun = requests.RequestState.create_equivalent_initial_request, []
    monkeypatch.setattr(
        requests.RequestState, "create_equivalent_initial_request", lambda state: begun.append(state) or again(state)
    )
    manager = new_manager(hf_tokenizer, num_blocks=12, page_size=16)
    constrain(manager)
    manager.start()
    names = [manager.add_request([5 + n, 6], max_new_tokens=MAX_TOKENS, grammar=grammar) for n in range(12)]
    outputs = collect(manager, names)
    manager.stop(block=True)
    texts = [hf_tokenizer.decode(outputs[name].generated_tokens, skip_special_tokens=True) for name in names]
    assert [text for text in texts if not is_valid(text)] == []
    assert any(state.generated_tokens for state in begun)


def test_sequences_of_one_prompt_have_its_grammar(hf_tokenizer: Any, grammar: CompiledGrammar) -> None:
    """The request is forked, with a copy of what came with it."""
    manager = new_manager(hf_tokenizer, n_sequences=3)
    constrain(manager)
    manager.start()
    name = manager.add_request([5, 6, 7], max_new_tokens=MAX_TOKENS, grammar=grammar)
    outputs = collect(manager, [name, *(f"{name}__child#{n}" for n in range(2))])
    manager.stop(block=True)
    texts = [hf_tokenizer.decode(output.generated_tokens, skip_special_tokens=True) for output in outputs.values()]
    assert all(map(is_valid, texts))
    assert len(set(texts)) == 3


def test_it_is_put_in_once(manager: Any) -> None:
    processor = constrain(manager)
    assert constrain(manager) is processor
    assert manager.logit_processor.tensors_required == 1
    assert next(iter(manager.logit_processor.logits_processor)) is processor


def refusal(manager: Any) -> str:
    with pytest.raises(LlmaskError) as caught:
        constrain(manager)
    return str(caught.value)


def test_a_manager_that_runs_is_refused(manager: Any) -> None:
    manager.start()
    assert "between model.init_continuous_batching(...) and manager.start()" in refusal(manager)


def test_tokens_that_are_not_known_yet_are_refused(hf_tokenizer: Any) -> None:
    assert "use_async_batching=False" in refusal(new_manager(hf_tokenizer, use_async_batching=True))


def test_another_form_is_refused(manager: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "object is no manager" in refusal(object())
    del manager.logit_processor.tensors_required
    assert f"tested with transformers {integration.TESTED}" in refusal(manager)
    manager.logit_processor.tensors_required = 0
    monkeypatch.delitem(requests.RequestState.__dataclass_fields__, "logit_processor_kwargs")
    assert "takes no grammars in a way that is known" in refusal(manager)


# --- the suite of adapters


class Requests(Driver):
    """A request a row. Every other one has been begun again: what it had written is in its prompt."""

    layouts = ("contiguous", "wider rows", "every third", "columns")

    def begin(self, grammars: list[CompiledGrammar | None], n_logits: int) -> None:
        self.processor = ContinuousBatchingGrammars(n_logits)
        self.grammars = grammars
        self.n_logits = n_logits

    def allowed(self, rows: list[Row]) -> Allowed:
        states = []
        for number, (row, grammar) in enumerate(zip(rows, self.grammars, strict=True)):
            n_before = len(row) // 2 if number % 2 else 0
            states.append(
                requests.FutureRequestState(
                    requests.RequestState(
                        request_id=str(number),
                        initial_tokens=[5, 6, *row[:n_before]],
                        max_new_tokens=None,
                        generated_tokens=row[n_before:],
                        logit_processor_kwargs={} if grammar is None else {"grammar": grammar},
                        _true_initial_tokens=2 if n_before else 0,
                    ),
                    has_new_token=True,
                    complete_blocks={},
                    query_length=1,
                )
            )
        defaults = torch.empty(len(rows) + 2, dtype=torch.int32)
        self.processor.fill_defaults(defaults)
        defaults[: len(rows)] = self.processor.prepare_tensor_args(states)
        scores = torch.from_numpy(random_scores(len(rows) + 2, self.n_logits, self.layout))  # two rows are padding
        before = scores.clone()
        return kept(before, self.processor(scores, defaults))[: len(rows)]


class TestRequests(AdapterConformance):
    kind = Requests
