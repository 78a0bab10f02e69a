"""vLLM without an engine: a tokenizer, stand-ins for its configs, and its real requests and manager, on the CPU.

The tokenizer has the 256 bytes, some longer tokens and special ones; the model has some logits more than it has tokens.
"""

from __future__ import annotations

import json
import warnings
from types import SimpleNamespace
from typing import Any

import pytest

import llmask.integrations.vllm as integration

pytest.importorskip("vllm", reason="vLLM is not installed: .ci/run vllm")
with warnings.catch_warnings():  # what it imports warns of itself
    warnings.simplefilter("ignore")
    import tokenizers
    import transformers
    import vllm.v1.structured_output as structured_output
    from vllm.v1.request import Request

MERGES = ['{"', '":', '",', '"}', "ab", "abc", "tr", "ue", "true", "fa", "12", "123", '"a', '"b']
SPECIAL = ["<|end|>", "<|stop|>", "<think>", "</think>", "<tool>"]
N_LOGITS = 320  # more than there are tokens


def make_tokenizer() -> Any:
    """A fast tokenizer of transformers."""
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    tokens = [*alphabet, *MERGES]
    merges = []
    for token in MERGES:  # the longest beginning that is a token, and the rest
        cut = max(n for n in range(1, len(token)) if token[:n] in tokens and token[n:] in tokens)
        merges.append((token[:cut], token[cut:]))
    model = tokenizers.Tokenizer(
        tokenizers.models.BPE(vocab={token: id for id, token in enumerate(tokens)}, merges=merges)
    )
    model.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    model.decoder = tokenizers.decoders.ByteLevel()
    model.add_special_tokens(SPECIAL)
    return transformers.PreTrainedTokenizerFast(tokenizer_object=model, eos_token="<|end|>")


def model_config(**changes: Any) -> Any:
    """What of a ModelConfig is looked at."""
    config = {
        "get_vocab_size": lambda: N_LOGITS,
        "try_get_generation_config": dict,
        "skip_tokenizer_init": False,
        "is_diffusion": False,
        "max_model_len": 4096,
    }
    return SimpleNamespace(**{**config, **changes})


def vllm_config(n_drafts: int = 0, max_num_seqs: int = 8, **outputs: Any) -> Any:
    """What of a VllmConfig is looked at; the config of structured outputs is a real one."""
    from vllm.config import StructuredOutputsConfig

    return SimpleNamespace(
        model_config=model_config(),
        structured_outputs_config=StructuredOutputsConfig(**{"backend": "llmask", **outputs}),
        scheduler_config=SimpleNamespace(max_num_seqs=max_num_seqs),
        parallel_config=SimpleNamespace(distributed_executor_backend="uni"),
        speculative_config=SimpleNamespace(num_speculative_tokens=n_drafts) if n_drafts else None,
        num_speculative_tokens=n_drafts,
    )


class World:
    """A real `StructuredOutputManager`, and requests that were judged as vLLM's front end judges them."""

    def __init__(self, monkeypatch: Any, tokenizer: Any = None, **settings: Any) -> None:
        integration.register()
        self.tokenizer = make_tokenizer() if tokenizer is None else tokenizer
        self.config = vllm_config(**settings)
        monkeypatch.setattr(structured_output, "cached_tokenizer_from_config", lambda **_: self.tokenizer)
        self.manager = structured_output.StructuredOutputManager(self.config)
        self.requests: dict[str, Any] = {}

    def ids(self, text: str) -> list[int]:
        """Token ids of a text with special tokens."""
        return self.tokenizer.encode(text, add_special_tokens=False)

    def judge(
        self,
        stop_token_ids: list[int] | None = None,
        max_tokens: int = 64,
        min_tokens: int = 0,
        extra_args: Any = None,
        **outputs: Any,
    ) -> Any:
        """Sampling parameters that the front end has let through."""
        from vllm.sampling_params import SamplingParams, StructuredOutputsParams

        parameters = SamplingParams(
            max_tokens=max_tokens,
            min_tokens=min_tokens,
            extra_args=extra_args,
            structured_outputs=StructuredOutputsParams(**outputs) if outputs else None,
            stop_token_ids=stop_token_ids,
        )
        parameters._validate_structured_outputs(
            self.config.model_config, self.config.structured_outputs_config, self.tokenizer
        )
        parameters.update_from_generation_config({}, self.tokenizer.eos_token_id)
        return parameters

    def add(self, name: str, prompt: str = "p", **outputs: Any) -> Any:
        """A request in the engine, its grammar compiled."""
        request = Request(name, self.ids(prompt), self.judge(**outputs), None)
        self.manager.grammar_init(request)
        if request.structured_output_request is not None:
            request.structured_output_request._grammar.result()
        self.requests[name] = request
        return request

    def masks(self, names: list[str] | None = None, drafts: dict[str, list[int]] | None = None) -> list[set[int]]:
        """The tokens that each row of the manager's bitmask allows."""
        chosen = [name for name in (names or self.requests) if self.requests[name].use_structured_output]
        words = self.manager.grammar_bitmask(self.requests, chosen, drafts or {})
        return [allowed(row) for row in words]

    def accept(self, name: str, tokens: list[int]) -> bool:
        """Take sampled tokens, as the scheduler does."""
        request = self.requests[name]
        request.append_output_token_ids(tokens)
        return self.manager.accept_tokens(request, tokens)

    def write(self, name: str, text: str) -> bool:
        """Let a request write a text, every token of which its mask has to allow."""
        for token in self.ids(text):
            if token not in self.masks([name])[0]:
                return False
            assert self.accept(name, [token])
        return True

    def texts(self, tokens: set[int]) -> set[str]:
        return {self.tokenizer.convert_ids_to_tokens(token) for token in tokens}


def allowed(row: Any) -> set[int]:
    """Ids whose bits are set in int32[n_words]."""
    return {32 * place + bit for place, word in enumerate(row.tolist()) for bit in range(32) if word >> bit & 1}


def structural_tag() -> str:
    """A tag whose arguments are an integer, in the form that vLLM and XGrammar have."""
    content = {"type": "json_schema", "json_schema": {"type": "integer"}}
    tag = {"begin": "<f>", "content": content, "end": "</f>"}
    form = {"type": "triggered_tags", "triggers": ["<f>"], "tags": [tag], "at_least_one": True}
    return json.dumps({"type": "structural_tag", "format": form})
