"""The masks of a step in vLLM, with llmask, XGrammar and llguidance as its backend, without an engine.

    python -m bench.vllm_masks --vocabulary FILE.gguf

What is timed is vLLM's own code: `StructuredOutputManager.grammar_bitmask`, which fills the rows of a batch, and the
acceptance of a token by each of its requests, on their way through documents: one that is known, in which requests are
at different places, and schemas of their own that nothing is known of (`first`). Every backend has a process of its
own; llmask also with the rows as vLLM asks for them, one by one, and without budgets. Installed is what the stage
`vllm` of `.ci/run` installs.

In: command line. Out: a table. Cost: half a minute a backend.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from bench.tables import markdown

BACKENDS = ("llmask", "llmask, row by row", "llmask, no budgets", "xgrammar", "guidance")
BATCHES = (1, 64, 256)
ROUNDS = 3
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["name", "age", "tags"],
    "additionalProperties": False,
}
DOCUMENT = '{"name": "Ada Lovelace", "age": 36, "tags": ["mathematician", "writer", "countess"]}'
MAX_TOKENS = 300

Figures = dict[str, str]


class Batch:
    """Requests of one manager.

    Parameters
    ----------
    backend : one of `BACKENDS`.
    tokenizer : of transformers.
    """

    def __init__(self, backend: str, tokenizer: Any) -> None:
        import vllm.v1.structured_output as structured_output
        from vllm.config import StructuredOutputsConfig

        import llmask.integrations.vllm as integration

        integration.register()
        self.backend, _, self.how = backend.partition(", ")
        self.tokenizer = tokenizer
        self.outputs = StructuredOutputsConfig(backend=self.backend)
        self.model = SimpleNamespace(
            get_vocab_size=lambda: len(tokenizer),
            try_get_generation_config=dict,
            skip_tokenizer_init=False,
            is_diffusion=False,
            max_model_len=4096,
            hf_config=SimpleNamespace(model_type="llama"),
        )
        structured_output.cached_tokenizer_from_config = lambda **_: tokenizer
        config = SimpleNamespace(
            model_config=self.model,
            structured_outputs_config=self.outputs,
            scheduler_config=SimpleNamespace(max_num_seqs=max(BATCHES)),
            parallel_config=SimpleNamespace(distributed_executor_backend="uni"),
            speculative_config=None,
            num_speculative_tokens=0,
        )
        self.manager = structured_output.StructuredOutputManager(config)
        self.fill: Callable[..., Any] = self.manager.grammar_bitmask
        if self.how == "row by row":
            theirs = type(self.manager).grammar_bitmask.__wrapped__
            self.fill = lambda *arguments: theirs(self.manager, *arguments)
        self.requests: dict[str, Any] = {}

    def begin(self, schemas: list[Any]) -> None:
        """A request for each schema."""
        from vllm.sampling_params import SamplingParams, StructuredOutputsParams
        from vllm.v1.request import Request

        self.requests = {}
        for number, schema in enumerate(schemas):
            parameters = SamplingParams(
                max_tokens=MAX_TOKENS,
                structured_outputs=StructuredOutputsParams(json=schema),
                extra_args={"budget": False} if self.how == "no budgets" else None,
            )
            parameters._validate_structured_outputs(self.model, self.outputs, self.tokenizer)
            parameters.update_from_generation_config({}, self.tokenizer.eos_token_id)
            request = Request(str(number), [1], parameters, None)
            self.manager.grammar_init(request)
            request.structured_output_request._grammar.result()
            self.requests[request.request_id] = request

    def step(self, tokens: list[int]) -> tuple[float, float]:
        """Seconds of a step's rows, and of a token in each request; a request whose document has ended waits."""
        began = time.perf_counter()
        self.fill(self.requests, list(self.requests), {})
        filled = time.perf_counter()
        for request, token in zip(self.requests.values(), tokens, strict=True):
            if token >= 0:
                request.append_output_token_ids([token])
                assert self.manager.accept_tokens(request, [token]), (token, request.output_token_ids)
        return filled - began, time.perf_counter() - filled


def measure(backend: str, vocabulary: Path) -> Figures:
    """The figures of one backend, as cells of the table by the name of their row."""
    import torch
    from transformers import PreTrainedTokenizerFast

    torch.set_num_threads(1)
    tokenizer = PreTrainedTokenizerFast.from_pretrained(vocabulary.parent, gguf_file=vocabulary.name)
    tokens = tokenizer.encode(DOCUMENT, add_special_tokens=False)
    batch = Batch(backend, tokenizer)
    found: dict[str, list[str]] = {"known rows": [], "accepting": []}
    for n in BATCHES:
        fills, takes = [], []
        for number in range(ROUNDS + 1):
            batch.begin([SCHEMA] * n)
            for place in range(len(tokens) + n % len(tokens)):  # each request is at another place
                ahead = [place - row % min(n, len(tokens)) for row in range(n)]
                fill, take = batch.step([tokens[at] if 0 <= at < len(tokens) else -1 for at in ahead])
                if number:  # the first round builds what the others know
                    fills.append(fill)
                    takes.append(take)
        found["known rows"].append(f"{statistics.median(fills) * 1e6:,.0f}")
        found["accepting"].append(f"{statistics.median(takes) * 1e6:,.0f}")
    batch.begin([json.loads(json.dumps(SCHEMA).replace("name", f"name_{row}")) for row in range(BATCHES[-1])])
    texts = [tokenizer.encode(DOCUMENT.replace("name", f"name_{row}"), add_special_tokens=False) for row in range(256)]
    firsts = [batch.step([text[place] if place < len(text) else -1 for text in texts])[0] for place in range(12)]
    return {
        **{f"{name}, batches of {' / '.join(map(str, BATCHES))}": " / ".join(cells) for name, cells in found.items()},
        f"{BATCHES[-1]} rows of first documents, the first 12 steps": f"{statistics.median(firsts) * 1e6:,.0f}",
    }


def table(figures: dict[str, Figures]) -> str:
    """Backends side by side."""
    rows = list(dict.fromkeys(row for column in figures.values() for row in column))
    return markdown(("us", *figures), ([row, *(column.get(row, "-") for column in figures.values())] for row in rows))


def compare(
    parser: argparse.ArgumentParser, module: str, backends: Sequence[str], measure: Callable[[str, Path], Figures]
) -> None:
    """The command of a module: every backend in a process of its own, their figures side by side."""
    parser.add_argument("--vocabulary", type=Path, required=True, help="a GGUF file with a vocabulary")
    parser.add_argument("--backend", choices=backends, help="measure this one in this process, and print JSON")
    options = parser.parse_args()
    if options.backend is not None:
        print(json.dumps(measure(options.backend, options.vocabulary)))
        return
    figures = {}
    for backend in backends:
        done = subprocess.run(
            [sys.executable, "-m", module, "--vocabulary", str(options.vocabulary), "--backend", backend],
            env={**os.environ, "HF_HUB_OFFLINE": "1", "VLLM_LOGGING_LEVEL": "ERROR"},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=True,
        )
        figures[backend] = json.loads([line for line in done.stdout.splitlines() if line.startswith("{")][-1])
    print(table(figures))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    compare(parser, "bench.vllm_masks", BACKENDS, measure)


if __name__ == "__main__":
    main()
