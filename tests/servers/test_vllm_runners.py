"""vLLM's own loaders and runners take llmask's processors and its source of drafts."""

from __future__ import annotations

import inspect
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

import llmask.integrations.vllm as integration

from .vllm_world import N_LOGITS, World, model_config, vllm_config

torch = pytest.importorskip("torch", reason="torch is not installed")

V1 = "llmask.integrations.vllm:V1Processor"
V2 = "llmask.integrations.vllm:V2Processor"


@pytest.fixture
def world(monkeypatch: Any) -> World:
    world = World(monkeypatch, backend="auto")
    monkeypatch.setattr("vllm.tokenizers.cached_tokenizer_from_config", lambda model_config: world.tokenizer)
    return world


def parameters(world: World, **options: Any) -> Any:
    """Sampling parameters with a grammar for a processor, as the front end lets them through."""
    from vllm.sampling_params import SamplingParams

    made = SamplingParams(extra_args={"llmask": options} if options else None)
    made._validate_structured_outputs(
        world.config.model_config, world.config.structured_outputs_config, world.tokenizer
    )
    made.update_from_generation_config({}, world.tokenizer.eos_token_id)
    return made


def left(world: World, row: Any) -> set[str]:
    return world.texts(set(torch.isfinite(row).nonzero().ravel().tolist()))


def test_the_runner_v1_takes_its_processor(world: World, monkeypatch: Any) -> None:
    from vllm.v1.sample.logits_processor import (
        MoveDirectionality,
        build_logitsprocs,
        validate_logits_processors_parameters,
    )
    from vllm.v1.sample.logits_processor.state import BatchUpdateBuilder

    for name, value in (("PIN_MEMORY", False), ("is_pin_memory_available", lambda: False)):  # of 0.33, of 0.32
        monkeypatch.setattr(f"vllm.utils.torch_utils.{name}", value, raising=False)  # a GPU would have it
    wanted = parameters(world, choice=["abc", "12"])
    validate_logits_processors_parameters([V1], wanted)
    config = vllm_config(backend="auto")
    config.speculative_config = None
    config.scheduler_config.max_num_seqs = 8
    config.model_config = model_config()
    built = build_logitsprocs(config, torch.device("cpu"), False, False, [V1])
    processor = next(one for one in built.all if type(one).__name__ == "V1Processor")
    assert processor in built.non_argmax_invariant
    written: list[int] = []
    update = BatchUpdateBuilder()
    update.added += [(0, parameters(world), [1], []), (1, wanted, [1], written)]
    processor.update_state(update.get_and_reset(2))
    free, row = processor.apply(torch.zeros(2, N_LOGITS))
    assert torch.isfinite(free).all()
    assert left(world, row) == {"a", "ab", "abc", "1", "12"}
    written += world.ids("ab")
    update.removed_append(0)
    processor.update_state(update.get_and_reset(1))
    update.moved.append((1, 0, MoveDirectionality.UNIDIRECTIONAL))
    processor.update_state(update.get_and_reset(1))
    assert left(world, processor.apply(torch.zeros(1, N_LOGITS))[0]) == {"c"}


def test_the_runner_v2_takes_its_processor(world: World) -> None:
    from vllm.v1.worker.gpu.sample.logits_processor import (
        LogitsProcessor,
        build_custom_logits_processors_params_validator,
    )
    from vllm.v1.worker.gpu.sample.logits_processor.loader import _load_v2_logitsprocs

    build_custom_logits_processors_params_validator([V2])(parameters(world, regex="a+"))
    (found,) = _load_v2_logitsprocs([V2])
    assert found is integration.V2Processor
    assert issubclass(found, LogitsProcessor)
    for name in LogitsProcessor.__abstractmethods__ | {
        "validate_params",
        "add_request",
        "apply_staged_writes",
        "apply",
    }:
        assert callable(getattr(found, name))


@pytest.mark.parametrize("name", [V1, V2])
def test_bad_options_are_errors_of_the_request(world: World, name: str) -> None:
    from vllm.exceptions import VLLMValidationError
    from vllm.sampling_params import SamplingParams
    from vllm.v1.sample.logits_processor import validate_logits_processors_parameters
    from vllm.v1.worker.gpu.sample.logits_processor import build_custom_logits_processors_params_validator

    wrong = SamplingParams(extra_args={"llmask": {"jsn": {}}})
    judge = {
        V1: partial(validate_logits_processors_parameters, [V1]),
        V2: build_custom_logits_processors_params_validator([V2]),
    }
    with pytest.raises(VLLMValidationError, match="one of json"):
        judge[name](wrong)
    with pytest.raises(VLLMValidationError, match="#/type"):
        parameters(world, json={"type": "thing"})


def test_the_other_runner_refuses_it_by_name() -> None:
    from vllm.v1.worker.gpu.sample.logits_processor.loader import _load_v2_logitsprocs

    with pytest.raises(ValueError, match="V1Processor is not a subclass"):
        _load_v2_logitsprocs([V1])


def test_drafts_come_from_the_requests_of_the_runner(monkeypatch: Any) -> None:
    """The drafter is made by the loader; the runner is a stand-in with real states of requests and the real method."""
    from vllm.sampling_params import SamplingParams, StructuredOutputsParams
    from vllm.v1.spec_decode.custom_class_proposer import create_custom_proposer
    from vllm.v1.worker.gpu_input_batch import CachedRequestState
    from vllm.v1.worker.gpu_model_runner import GPUModelRunner

    world = World(monkeypatch, n_drafts=3)
    monkeypatch.setattr("vllm.tokenizers.cached_tokenizer_from_config", lambda model_config: world.tokenizer)
    world.config.speculative_config.model = "llmask.integrations.vllm.ForcedTokens"
    world.config.speculative_config.method = "custom_class"
    drafter = create_custom_proposer(world.config)
    prompt, written = world.ids("p"), world.ids('{"')
    states = {}
    for name, outputs in (("one", {"choice": ['{"abc":true}']}), ("free", {})):
        request = SamplingParams(structured_outputs=StructuredOutputsParams(**outputs) if outputs else None)
        request._validate_structured_outputs(
            world.config.model_config, world.config.structured_outputs_config, world.tokenizer
        )
        states[name] = CachedRequestState(
            req_id=name, prompt_token_ids=prompt, mm_features=[], sampling_params=request, generator=None,
            block_ids=([],), num_computed_tokens=0, output_token_ids=written,
        )  # fmt: skip
    tokens = torch.zeros(4, 32, dtype=torch.int32).numpy()
    tokens[:2, : len(prompt + written)] = prompt + written
    lengths = torch.full((4,), len(prompt + written)).numpy()
    runner = SimpleNamespace(
        drafter=drafter,
        requests=states,
        speculative_config=world.config.speculative_config,
        input_batch=SimpleNamespace(req_ids=["free", "one"], num_tokens_no_spec=lengths, token_ids_cpu=tokens),
    )
    propose = GPUModelRunner.propose_draft_token_ids
    arguments: dict[str, Any] = dict.fromkeys(list(inspect.signature(propose).parameters)[1:])
    arguments["scheduler_output"] = SimpleNamespace(total_num_scheduled_tokens=2, num_spec_tokens_to_schedule=3)
    arguments["sampled_token_ids"] = [written[-1:], written[-1:]]
    drafts = propose(runner, **arguments)
    assert drafts == [[], world.ids('{"abc":true}')[1:4]]
    request = SimpleNamespace()
    request = world.add("scheduler", choice=['{"abc":true}'])
    assert world.accept("scheduler", written)
    assert world.manager.validate_tokens(request, drafts[1]) == drafts[1]  # the scheduler takes them
