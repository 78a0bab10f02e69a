"""SGLang where it is installed, else the tests that import this are skipped; what its tests share.

Its package is imported without the kernels that an engine needs. It asks for torchvision, whose wheels are made for
another build of torch than the one for CPUs: the two operators that it looks for are declared in its place.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: .ci/run sglang")
if find_spec("sglang") is None:
    pytest.skip("SGLang is not installed: .ci/run sglang", allow_module_level=True)
try:
    import torchvision  # noqa: F401
except RuntimeError:
    _OPERATORS = torch.library.Library("torchvision", "DEF")
    for _name in ("nms", "qnms"):
        _OPERATORS.define(f"{_name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of quantization that needs a GPU, and of others' packages
    from sglang.srt.constrained.base_grammar_backend import (
        BaseGrammarObject,
        GrammarRow,
        InvalidGrammarObject,
        create_grammar_backend,
    )
    from sglang.srt.constrained.grammar_manager import GrammarManager
    from sglang.srt.constrained.reasoner_grammar_backend import ReasonerGrammarBackend, ReasonerGrammarObject
    from sglang.srt.runtime_context import get_context, get_resources
    from sglang.srt.sampling.sampling_batch_info import SamplingBatchInfo
    from sglang.srt.speculative.spec_utils import generate_token_bitmask, traverse_tree

from llmask.integrations.sglang import register
from tests.contract.tiny_models import make_hf_tokenizer

__all__ = [
    "BaseGrammarObject",
    "GrammarRow",
    "InvalidGrammarObject",
    "ReasonerGrammarBackend",
    "ReasonerGrammarObject",
    "allowed",
    "batch_of",
    "bits",
    "compiled",
    "create_grammar_backend",
    "generate_token_bitmask",
    "get_context",
    "get_resources",
    "manager_of",
    "register",
    "request",
    "served",
    "torch",
    "traverse_tree",
]

N_BEYOND = 13  # logits that the model has more than its tokenizer has tokens


def hf_tokenizer() -> Any:
    """A small tokenizer of transformers, with special marks of thinking and an attribute of SGLang."""
    tokenizer = make_hf_tokenizer()
    marks = ["<think>", "</think>", "<tool_call>", "</tool_call>", "<|im_end|>", "<|endoftext|>", "<|call|>"]
    tokenizer.add_special_tokens({"additional_special_tokens": marks})
    tokenizer.additional_stop_token_ids = None
    return tokenizer


@contextmanager
def served(
    tokenizer: Any = None, eos: Any = None, think_end_ids: Any = None, n_logits: int | None = None, **arguments: Any
) -> Iterator[Any]:
    """A backend as a scheduler makes it, with arguments of the server."""
    register()
    tokenizer = hf_tokenizer() if tokenizer is None else tokenizer
    with get_context().override_server_args(grammar_backend="llmask", **arguments) as server_args:
        ends = {tokenizer.eos_token_id} if eos is None else eos
        n_logits = len(tokenizer) + N_BEYOND if n_logits is None else n_logits
        yield create_grammar_backend(server_args, tokenizer, n_logits, ends, think_end_ids)


@contextmanager
def manager_of(tokenizer: Any = None, grammar_backend: str = "llmask", **arguments: Any) -> Iterator[Any]:
    """SGLang's manager of grammars, over what it reads of a scheduler with one process."""
    register()
    tokenizer = hf_tokenizer() if tokenizer is None else tokenizer
    parallel = SimpleNamespace(world_size=1, first_rank=0, is_first_rank=True)
    with get_context().override_server_args(grammar_backend=grammar_backend, **arguments) as server_args:
        scheduler = SimpleNamespace(
            server_args=server_args,
            tokenizer=tokenizer,
            model_config=SimpleNamespace(
                vocab_size=len(tokenizer) + N_BEYOND,
                hf_eos_token_id={tokenizer.eos_token_id},
                think_end_ids=tokenizer.encode("</think>", add_special_tokens=False),
            ),
            dp_tp_cpu_group=None,
            dp_tp_group=parallel,
            pp_group=None,
        )
        with get_context().parallel.override(pp_rank=0, pp_size=1):
            yield GrammarManager(scheduler)


class Request(SimpleNamespace):
    """Which can be referred to weakly."""


def request(
    kind: str, text: str | None, is_thinking: bool = False, most: int = 64, least: int = 0, **custom: Any
) -> Any:
    """What the manager reads and writes of a request, which may write at most and at least so many tokens."""
    params = dict.fromkeys(("json_schema", "regex", "ebnf", "structural_tag"))
    params["json_schema" if kind == "json" else kind.removeprefix("full_assistant_")] = text
    found = Request(
        rid=text,
        sampling_params=SimpleNamespace(
            **params,
            ebnf_full_assistant=kind.startswith("full"),
            custom_params=custom or None,
            max_new_tokens=most,
            min_new_tokens=least,
        ),
        origin_input_ids=[1],
        output_ids=[],
        require_reasoning=is_thinking,
        grammar=None,
        grammar_key=None,
        grammar_wait_ct=0,
        error=None,
    )
    found.set_finish_with_abort = lambda message: setattr(found, "error", message)
    found.finished = lambda: found.error is not None
    return found


def batch_of(grammars: list[Any], n_logits: int) -> Any:
    """SGLang's parameters of a batch, greedy."""
    ones = torch.ones(len(grammars))
    return SamplingBatchInfo(
        temperatures=ones[:, None],
        top_ps=ones,
        top_ks=ones.int(),
        min_ps=torch.zeros(len(grammars)),
        is_all_greedy=True,
        is_any_greedy=True,
        need_top_p_sampling=False,
        need_top_k_sampling=False,
        need_min_p_sampling=False,
        vocab_size=n_logits,
        grammars=grammars,
        device="cpu",
    )


def compiled(backend: Any, kind: str, text: str, is_thinking: bool = False) -> Any:
    """A grammar by way of SGLang's pool of threads and its cache."""
    key = (kind, text)
    value, is_known = backend.get_cached_or_future_value(key, is_thinking)
    if not is_known:
        value = value.result()
        backend.set_cache(key, value.copy())
    return value


def allowed(grammar: Any, n_logits: int) -> set[int]:
    """What one row of a mask allows."""
    mask = grammar.allocate_vocab_mask(n_logits, 2, "cpu")
    grammar.fill_vocab_mask(mask, 1)
    assert (mask[0] == -1).all()
    return bits(mask[1])


def bits(row: Any) -> set[int]:
    return set(np.flatnonzero(np.unpackbits(row.numpy().view(np.uint8), bitorder="little")).tolist())
