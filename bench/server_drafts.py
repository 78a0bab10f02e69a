"""Drafts in the real vLLM: n-grams, forced tokens, and forced tokens in front of n-grams and of a proposer like EAGLE.

    python -m bench.server_drafts --vocabulary FILE.gguf

Every way of drafting writes the same greedy documents in an engine of its own; they have to be those without drafts.
The proposer like EAGLE gives a tensor with as many drafts for each row, before the runner has read the new tokens; here
they are of the random model's first tokens, so its share of accepted ones says nothing. What has to be installed: see
`bench.servers`.

In: command line. Out: a table. Cost: a minute a way.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.servers import ENVIRONMENT, HARD, MAX_LENGTH, PERSON, PROMPT, TAG, make_model
from bench.vllm_masks import SCHEMA

N_DRAFTS = 6
MAX_TOKENS = 96
NGRAMS = {"method": "ngram", "prompt_lookup_max": 3, "prompt_lookup_min": 1}
FORCED = {"method": "custom_class", "model": "llmask.integrations.vllm.ForcedTokens"}
WAYS: dict[str, tuple[dict[str, Any] | None, bool]] = {  # vLLM's settings; whether forced tokens stand in front
    "no drafts": (None, False),
    "n-grams": (NGRAMS, False),
    "forced tokens": (FORCED, False),
    "forced tokens, then n-grams": (NGRAMS, True),
    "like EAGLE": (NGRAMS, False),
    "forced tokens, then like EAGLE": (NGRAMS, True),
}
REQUESTS: list[dict[str, Any]] = [
    {"json": PERSON, "disable_any_whitespace": True},
    {"json": SCHEMA, "disable_any_whitespace": True},
    {"json": SCHEMA},
    {"json": HARD},
    {"choice": ["yes, of course, and with pleasure", "no, not at all, thank you"]},
    {"structural_tag": json.dumps(TAG)},
    {"regex": "The month is (January|February|March), the year [0-9]{4}\\."},
]


def like_eagle() -> None:
    """Have the runner's proposer give a tensor of drafts, which all rows have, before it reads the new tokens."""
    import torch
    from vllm.v1.worker.gpu_model_runner import GPUModelRunner

    runner: Any = GPUModelRunner

    def propose(self: Any, scheduled: Any, sampled: Any, *_: Any, **__: Any) -> Any:
        return torch.arange(N_DRAFTS, dtype=torch.int32).repeat(len(sampled), 1)

    runner.propose_draft_token_ids = propose


def measure(folder: str, way: str) -> dict[str, Any]:
    """The texts of one way, and its counts."""
    settings, is_in_front = WAYS[way]
    os.environ.update(ENVIRONMENT)
    if way.endswith("EAGLE"):
        like_eagle()
    if is_in_front:
        os.environ["LLMASK_FORCED_TOKENS"] = "1"
    import llmask.integrations.vllm as integration

    integration.register()
    from vllm import LLM, SamplingParams
    from vllm.sampling_params import StructuredOutputsParams
    from vllm.v1.structured_output import StructuredOutputManager

    n_rows = 0
    manager: Any = StructuredOutputManager
    fill = manager.grammar_bitmask

    def counted(self: Any, requests: Any, names: list[str], drafts: Any) -> Any:
        nonlocal n_rows
        n_rows += len(names)
        return fill(self, requests, names, drafts)

    manager.grammar_bitmask = counted
    engine = LLM(
        model=folder,
        dtype="float32",
        enforce_eager=True,
        max_model_len=MAX_LENGTH,
        max_num_seqs=len(REQUESTS),
        disable_log_stats=False,
        structured_outputs_config={"backend": "llmask"},
        speculative_config=None if settings is None else {**settings, "num_speculative_tokens": N_DRAFTS},
    )
    parameters = [
        SamplingParams(max_tokens=MAX_TOKENS, temperature=0, structured_outputs=StructuredOutputsParams(**one))
        for one in REQUESTS
    ]
    outputs = engine.generate([PROMPT] * len(REQUESTS), parameters, use_tqdm=False)
    counts = {
        metric.name: metric.value
        for metric in engine.get_metrics()
        if "spec_decode" in metric.name and hasattr(metric, "value")
    }
    return {
        "texts": [list(output.outputs[0].token_ids) for output in outputs],
        "reasons": [output.outputs[0].finish_reason for output in outputs],
        "n_rows": n_rows,
        "drafted": counts.get("vllm:spec_decode_num_draft_tokens", 0),
        "accepted": counts.get("vllm:spec_decode_num_accepted_tokens", 0),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vocabulary", type=Path, required=True, help="a GGUF file with a byte-level BPE vocabulary")
    parser.add_argument("--one", nargs=2, metavar=("FOLDER", "WAY"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(*options.one)))
        return
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        make_model(options.vocabulary, Path(folder))
        for way in WAYS:
            print(way, file=sys.stderr, flush=True)
            command = [sys.executable, "-m", "bench.server_drafts", "--vocabulary", str(options.vocabulary)]
            done = subprocess.run([*command, "--one", folder, way], stdout=subprocess.PIPE, text=True, check=True)
            found[way] = json.loads(done.stdout.splitlines()[-1])
    plain = found["no drafts"]
    print("| | same texts | drafted | accepted | tokens a step |\n|---|---:|---:|---:|---:|")
    for way, one in found.items():
        n_same = sum(text == other for text, other in zip(one["texts"], plain["texts"], strict=True))
        n_tokens = sum(map(len, one["texts"]))
        share = f"{one['accepted'] / one['drafted']:.0%}" if one["drafted"] else "-"
        cells = [
            way,
            f"{n_same} of {len(REQUESTS)}",
            f"{one['drafted']:,.0f}",
            share,
            f"{n_tokens / one['n_rows']:.2f}",
        ]
        print(f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
