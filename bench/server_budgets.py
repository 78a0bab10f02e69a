"""Is a document complete within the request's `max_tokens`? The real vLLM, with llmask, XGrammar and llguidance.

    python -m bench.server_budgets --vocabulary FILE.gguf
    python -m bench.server_budgets --vocabulary FILE.gguf --sglang    SGLang's manager and batches, without an engine

Requests are MaskBench's schemas and lists of tools in the form that vLLM gives `"tool_choice": "required"`, with a
`max_tokens` between the least that llmask finds and MOST. Models are the random one of `bench.servers` and, by
`logit_bias`, ones that prefer white space, digits, or never close a string where anything else is allowed. Every
backend gets the same requests in a process of its own. Complete is what ended with `finish_reason` "stop" and is valid
for jsonschema. What a backend refuses is not in its batch. What has to be installed: see `bench.servers`, for SGLang
`bench.sglang_masks`; there a row of random numbers is the model.

In: command line. Out: a table. Cost: some minutes a backend.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from bench.data import maskbench_schemas
from bench.servers import BACKENDS, ENVIRONMENT, MAX_LENGTH, PROMPT, make_model
from bench.tool_lists import full_tools, plain_tools

MOST = 300
N_REQUESTS = 500
AT_ONCE = 50  # requests of a batch
BIAS = 100.0
PREFERENCES = {
    "random": "",
    "white space": " \n\t",
    "digits": "0123456789",
    "open strings": "abcdefghijklmnopqrstuvwxyz ",
}


class Wanted(NamedTuple):
    """A request.

    least   tokens of the shortest document found
    most    its `max_tokens`
    """

    name: str
    schema: Any
    preference: str
    least: int
    most: int


def required_call(tools: list[dict[str, Any]]) -> dict[str, Any]:
    """The schema of a list of calls, as vLLM makes it for `"tool_choice": "required"`."""
    calls = [
        {
            "type": "object",
            "properties": {"name": {"type": "string", "enum": [tool["name"]]}, "parameters": tool["parameters"]},
            "required": ["name", "parameters"],
        }
        for tool in tools
    ]
    return {"type": "array", "minItems": 1, "items": {"type": "object", "anyOf": calls}}


def tokenizer_of(vocabulary: Path) -> Any:
    """The tokenizer of transformers."""
    from transformers import PreTrainedTokenizerFast

    return PreTrainedTokenizerFast.from_pretrained(str(vocabulary.parent), gguf_file=vocabulary.name)


def chosen_requests(tokenizer: Any, n: int, seed: int) -> list[Wanted]:
    """Requests whose shortest document has at most MOST tokens: of six one is a list of tools."""
    import llmask

    rng = random.Random(seed)
    schemas = list(maskbench_schemas().items())
    rng.shuffle(schemas)
    compiler = llmask.Compiler(llmask.Tokenizer.from_huggingface(tokenizer), limits=llmask.Limits.for_untrusted())
    found: list[Wanted] = []
    preferences = list(PREFERENCES)
    while len(found) < n:
        name, schema = schemas.pop()
        if len(found) % 6 == 5:
            n_tools = rng.randint(1, 12)
            name, schema = f"{n_tools} tools", required_call((full_tools, plain_tools)[rng.randrange(2)](n_tools))
        try:
            least = compiler.json_schema(schema).matcher().least_budget()
        except llmask.LlmaskError:
            continue
        if least <= MOST:
            most = least if rng.random() < 0.2 else rng.randint(least, MOST)
            found.append(Wanted(name, schema, preferences[len(found) % 4], least, most))
    return found


def is_complete(schema: Any, text: str) -> bool:
    """Whether a text is a document of the schema, by jsonschema."""
    import jsonschema

    try:
        document = json.loads(text)
    except ValueError:
        return False
    judge = jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)
    try:
        return bool(judge(schema).is_valid(document))
    except OverflowError:  # it cannot divide integers of 309 digits
        without = jsonschema.validators.extend(judge, {"multipleOf": lambda *_: ()})
        return bool(without(schema).is_valid(document))


def measure(folder: str, backend: str, wanted: list[Wanted]) -> dict[str, Any]:
    """What became of the requests: counts by preference, and the first faults."""
    os.environ.update(ENVIRONMENT)
    import llmask.integrations.vllm as integration

    integration.register()
    from vllm import LLM, SamplingParams
    from vllm.sampling_params import StructuredOutputsParams

    engine = LLM(
        model=folder,
        dtype="float32",
        enforce_eager=True,
        max_model_len=MAX_LENGTH,
        max_num_seqs=AT_ONCE,
        structured_outputs_config={"backend": backend},
    )
    tokenizer = engine.get_tokenizer()
    bias = {
        name: {
            token: BIAS
            for token in range(len(tokenizer))
            if (text := tokenizer.decode([token])) and len(text) == 1 and text in letters
        }
        for name, letters in PREFERENCES.items()
    }
    counts: Counter[str] = Counter()
    faults: list[str] = []
    began = time.perf_counter()
    taken = []
    for number, one in enumerate(wanted):
        parameters = SamplingParams(
            max_tokens=one.most,
            temperature=1.0,
            seed=number,
            logit_bias=bias[one.preference] or None,
            structured_outputs=StructuredOutputsParams(json=one.schema),
        )
        config = engine.llm_engine.vllm_config
        counts[f"{one.preference}, all"] += 1
        try:
            parameters.clone()._validate_structured_outputs(
                config.model_config, config.structured_outputs_config, tokenizer
            )
        except Exception:  # each backend refuses with an error of its own class: it is counted as refused
            counts[f"{one.preference}, refused"] += 1
            continue
        taken.append((one, parameters))
    for first in range(0, len(taken), AT_ONCE):
        part = taken[first : first + AT_ONCE]
        outputs = engine.generate([PROMPT] * len(part), [parameters for _, parameters in part], use_tqdm=False)
        for (one, _), output in zip(part, outputs, strict=True):
            answer = output.outputs[0]
            counts["tokens"] += len(answer.token_ids)
            counts[f"{one.preference}, {answer.finish_reason}"] += 1
            if answer.finish_reason == "stop" and is_complete(one.schema, answer.text):
                counts[f"{one.preference}, complete"] += 1
            else:
                faults.append(f"{one.name}, {one.preference}, {one.least} to {one.most}: {answer.text[-60:]!r}")
    return {"counts": counts, "faults": faults[:9], "seconds": time.perf_counter() - began}


def measure_sglang(vocabulary: Path, backend: str, wanted: list[Wanted]) -> dict[str, Any]:
    """As `measure`, with SGLang's manager and batches: a step masks random logits, and takes the greatest."""
    import torch

    from tests.servers.sglang_here import N_BEYOND, batch_of, manager_of, request

    torch.manual_seed(1)
    tokenizer = tokenizer_of(vocabulary)
    tokenizer.additional_stop_token_ids = None
    n_logits = len(tokenizer) + N_BEYOND
    end = tokenizer.eos_token_id
    bias = {name: torch.zeros(n_logits) for name in PREFERENCES}
    for token in range(len(tokenizer)):
        text = tokenizer.decode([token])
        for name, letters in PREFERENCES.items():
            bias[name][token] = BIAS if len(text) == 1 and text in letters else 0.0
    counts: Counter[str] = Counter()
    faults: list[str] = []
    began = time.perf_counter()
    with manager_of(tokenizer, "llguidance" if backend == "guidance" else backend) as manager:
        for first in range(0, len(wanted), AT_ONCE):
            live = []
            for one in wanted[first : first + AT_ONCE]:
                counts[f"{one.preference}, all"] += 1
                made = request("json", json.dumps(one.schema), most=one.most)
                if manager.process_req_with_grammar(made):
                    while manager.has_waiting_grammars():
                        manager.get_ready_grammar_requests()
                if made.error is None:
                    live.append((one, made))
                else:
                    counts[f"{one.preference}, refused"] += 1
            while live:
                batch = batch_of([made.grammar for _, made in live], n_logits)
                batch.update_regex_vocab_mask()
                logits = torch.stack([torch.randn(n_logits) + bias[one.preference] for one, _ in live])
                batch.grammar_mask.apply(logits)
                for (one, made), token in zip(live, logits.argmax(dim=-1).tolist(), strict=True):
                    made.output_ids.append(token)
                    counts["tokens"] += 1
                    made.grammar.accept_token(token)
                    if token == end:
                        text = tokenizer.decode(made.output_ids[:-1])
                        counts[f"{one.preference}, complete"] += is_complete(one.schema, text)
                    elif len(made.output_ids) == one.most:
                        counts[f"{one.preference}, length"] += 1
                        faults.append(f"{one.name}, {one.preference}, {one.least} to {one.most}")
                live = [
                    pair for pair in live if len(pair[1].output_ids) < pair[0].most and pair[1].output_ids[-1] != end
                ]
    return {"counts": counts, "faults": faults[:9], "seconds": time.perf_counter() - began}


def table(found: dict[str, dict[str, Any]]) -> str:
    """Complete documents of all requests, by preference, backends side by side."""
    lines = [f"| complete, of all | {' | '.join(found)} |", "|---|" + "---:|" * len(found)]
    for name in PREFERENCES:
        cells = []
        for one in found.values():
            counts = Counter(one["counts"])
            cell = f"{counts[f'{name}, complete']} of {counts[f'{name}, all']}"
            parts = {"refused": counts[f"{name}, refused"], "cut off": counts[f"{name}, length"]}
            said = ", ".join(f"{n} {what}" for what, n in parts.items() if n)
            cells.append(f"{cell} ({said})" if said else cell)
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vocabulary", type=Path, required=True, help="a GGUF file with a byte-level BPE vocabulary")
    parser.add_argument("--backends", default=",".join(BACKENDS), help="default: %(default)s")
    parser.add_argument("--requests", type=int, default=N_REQUESTS, help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sglang", action="store_true", help="SGLang's manager and batches, without an engine")
    parser.add_argument("--one", nargs=2, metavar=("FOLDER", "BACKEND"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        folder, backend = options.one
        wanted = [Wanted(*one) for one in json.loads((Path(folder) / "requests.json").read_text())]
        if options.sglang:
            print(json.dumps(measure_sglang(options.vocabulary, backend, wanted)))
        else:
            print(json.dumps(measure(folder, backend, wanted)))
        return
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        if not options.sglang:
            make_model(options.vocabulary, Path(folder))
        wanted = chosen_requests(tokenizer_of(options.vocabulary), options.requests, options.seed)
        (Path(folder) / "requests.json").write_text(json.dumps(wanted))
        for backend in options.backends.split(","):
            print(backend, file=sys.stderr, flush=True)
            command = [sys.executable, "-m", "bench.server_budgets", "--vocabulary", str(options.vocabulary)]
            command += ["--sglang"] if options.sglang else []
            done = subprocess.run([*command, "--one", folder, backend], stdout=subprocess.PIPE, text=True, check=True)
            found[backend] = json.loads(done.stdout.splitlines()[-1])
            print(*found[backend]["faults"], sep="\n", file=sys.stderr, flush=True)
    print(f"\n{options.vocabulary.name}, {options.requests} requests\n\n{table(found)}")
    for backend, one in found.items():
        print(f"{backend}: {one['counts']['tokens']:,} tokens in {one['seconds']:.0f} s")


if __name__ == "__main__":
    main()
