"""The masks of a step in SGLang, with llmask, XGrammar and llguidance as its grammar backend, without an engine.

    python -m bench.sglang_masks --vocabulary FILE.gguf

What is timed is SGLang's own code: `SamplingBatchInfo.update_regex_vocab_mask`, which fills the masks of a batch, and
the acceptance of a token by each of its requests, on their way through one document. Every backend has a process of its
own. Installed is what the stage `sglang` of `.ci/run` installs, and llguidance.

In: command line. Out: a table. Cost: half a minute a backend.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import Any

from bench.vllm_masks import BATCHES, DOCUMENT, ROUNDS, SCHEMA, Figures, compare

BACKENDS = ("llmask", "xgrammar", "llguidance")
THINKING = {"without thinking": {}, "after thinking": {"reasoning_parser": "qwen3"}}


def measure(backend_name: str, vocabulary: Path) -> Figures:
    """The figures of one backend, as cells of the table by the name of their row."""
    import torch
    from transformers import PreTrainedTokenizerFast

    from tests.servers.sglang_here import create_grammar_backend, get_context, register

    torch.set_num_threads(1)
    register()
    tokenizer = PreTrainedTokenizerFast.from_pretrained(vocabulary.parent, gguf_file=vocabulary.name)
    tokenizer.additional_stop_token_ids = None
    tokens = tokenizer.encode(DOCUMENT, add_special_tokens=False)
    end = tokenizer.encode("</think>", add_special_tokens=False)
    key = ("json", json.dumps(SCHEMA))
    figures: Figures = {}
    for name, arguments in THINKING.items():
        with get_context().override_server_args(grammar_backend=backend_name, **arguments) as server_args:
            try:
                backend = create_grammar_backend(server_args, tokenizer, len(tokenizer), {tokenizer.eos_token_id}, end)
                grammar = backend.get_cached_or_future_value(key, False)[0].result()
            except Exception as error:  # whatever it is: a cell says that there is no figure
                figures[f"masks of a step, {name}"] = f"{type(error).__name__}: {str(error)[:60]}"
                continue
            figures.setdefault("a new grammar", _new_grammar(backend))
            backend.set_cache(key, grammar.copy())
            fills, takes = zip(*(_steps(backend, key, tokens, n, len(tokenizer)) for n in BATCHES), strict=True)
            figures[f"masks of a step, {name}, batches of {' / '.join(map(str, BATCHES))}"] = " / ".join(fills)
            figures[f"accepting, {name}"] = " / ".join(takes)
    return figures


def _new_grammar(backend: Any) -> str:
    """Median microseconds for a schema that differs from others in a name."""
    taken = []
    for number in range(15):
        text = json.dumps(SCHEMA).replace("name", f"name_{number}")
        begin = time.perf_counter()
        backend.get_cached_or_future_value(("json", text), False)[0].result()
        taken.append(time.perf_counter() - begin)
    return f"{statistics.median(taken) * 1e6:,.0f}"


def _steps(backend: Any, key: tuple[str, str], tokens: list[int], n_requests: int, n_logits: int) -> tuple[str, str]:
    """Median microseconds that a batch takes for its masks, and for a token in each request."""
    from tests.servers.sglang_here import batch_of

    fills, takes = [], []
    for number in range(ROUNDS + 1):
        grammars = [backend.get_cached_or_future_value(key, False)[0] for _ in range(n_requests)]
        for token in tokens:
            batch = batch_of(grammars, n_logits)
            begin = time.perf_counter()
            batch.update_regex_vocab_mask()
            filled = time.perf_counter()
            for grammar in grammars:
                grammar.accept_token(token)
            if number:  # the first round builds what the others know
                fills.append(filled - begin)
                takes.append(time.perf_counter() - filled)
    return f"{statistics.median(fills) * 1e6:,.0f}", f"{statistics.median(takes) * 1e6:,.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    compare(parser, "bench.sglang_masks", BACKENDS, measure)


if __name__ == "__main__":
    main()
