"""The same weights in three runtimes: do they write the same under the same masks? `python -m bench.quality.runtimes`.

    numpy           `llmask.samplers.numpy_llama`, the reference of the others
    transformers    torch, float32
    llama.cpp       a file of the same weights as float32
    llama.cpp, Q4_1 the file itself: it rounds what flows through the model, too

Each takes the likeliest token of llmask's mask. Where two texts part, the gap is what the reference's logits say of the
two tokens there: floating point explains a small one, and nothing else.

In: command line. Out: a table, and a line for each difference. Cost: a quarter of an hour for 50 items.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import llmask
from bench.quality.__main__ import encoded, write
from bench.quality.items import Item, classification_items, extraction_items, leaderboard_items, spread
from bench.quality.reading import Floats, Model, Reading, model_path, n_common
from bench.quality.writers import writer
from bench.tables import markdown, progress
from llmask.samplers.numpy_llama import NumpyLlama

N_CONTEXT = 4096
RUNTIMES = ("numpy", "transformers", "llama.cpp", "llama.cpp, Q4_1")


class Transformers:
    """A causal model of transformers, read from a GGUF file."""

    def __init__(self, path: Path) -> None:
        import torch
        from transformers import AutoModelForCausalLM, DynamicCache

        self._torch, self._new_cache = torch, DynamicCache
        self.model = AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32).eval()
        self._seen: Any = DynamicCache()

    def read(self, tokens: list[int]) -> Floats:
        """Read some tokens: the logits behind the last."""
        with self._torch.inference_mode():
            output = self.model(input_ids=self._torch.tensor([tokens]), cache=self._seen, use_cache=True)
        logits: Floats = output.logits[0, -1].float().numpy()
        return logits

    def forget(self, n: int) -> None:
        """Take back all but the first `n` tokens."""
        n_more = self._seen.get_seq_length() - n
        if n == 0:
            self._seen = self._new_cache()
        elif n_more > 0:
            self._seen.crop(-n_more)


class LlamaCpp:
    """A model of llama-cpp-python."""

    def __init__(self, path: Path) -> None:
        import llama_cpp

        self._library = llama_cpp
        self.model = llama_cpp.Llama(str(path), n_ctx=N_CONTEXT, verbose=False)

    def read(self, tokens: list[int]) -> Floats:
        """Read some tokens: the logits behind the last."""
        self.model.eval(tokens)
        address = self._library.llama_get_logits_ith(self.model.ctx, -1)
        return np.ctypeslib.as_array(address, shape=(self.model.n_vocab(),)).copy()

    def forget(self, n: int) -> None:
        """Take back all but the first `n` tokens: the next call drops what was kept of them."""
        self.model.n_tokens = min(n, self.model.n_tokens)


def write_float32(path: Path, target: Path) -> None:
    """A copy of a GGUF file with its weights as float32."""
    from gguf import GGUFReader, GGUFValueType, GGUFWriter
    from gguf.quants import dequantize

    reader = GGUFReader(path)
    out = GGUFWriter(target, "llama")
    for name, field in reader.fields.items():
        if name.startswith("GGUF.") or name in ("general.architecture", "general.file_type"):
            continue
        kind = field.types[0]
        out.add_key_value(name, field.contents(), kind, field.types[-1] if kind == GGUFValueType.ARRAY else None)
    for tensor in reader.tensors:
        weights = dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        out.add_tensor(tensor.name, weights)
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()


def runtime(name: str, path: Path, folder: Path) -> Model:
    """One of `RUNTIMES`; `folder` is for the file of float32."""
    if name == "numpy":
        return NumpyLlama(path)
    if name == "transformers":
        return Transformers(path)
    if name == "llama.cpp, Q4_1":
        return LlamaCpp(path)
    target = folder / "float32.gguf"
    if not target.exists():
        write_float32(path, target)
    return LlamaCpp(target)


def gap_between(reference: Reading, prompt: list[int], one: list[int], other: list[int], end: int) -> tuple[int, float]:
    """Where two texts part, and how much likelier the reference finds the token of the first there, in logits."""
    place = n_common(one, other)
    reference.begin(prompt)
    logits = reference.logits(one[:place])
    tokens = [text[place] if place < len(text) else end for text in (one, other)]
    return place, float(logits[tokens[0]] - logits[tokens[1]])


def some_items(n: int) -> list[Item]:
    """Of each kind a third."""
    third = n // 3
    extractions, classifications = (spread([*items()], third) for items in (extraction_items, classification_items))
    return [*leaderboard_items(1, -(-(n - 2 * third) // 2))][: n - 2 * third] + extractions + classifications


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=50)
    parser.add_argument("--runtimes", default=";".join(RUNTIMES), help="some of them, with ; between")
    options = parser.parse_args()
    path = model_path()
    tokenizer = llmask.Tokenizer.from_gguf(path)
    eos = frozenset(tokenizer.eos_ids)
    items = some_items(options.items)
    reference = Reading(NumpyLlama(path))
    base: list[list[int]] = []
    rows, differences = [], []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.runtimes.split(";"):
            with contextlib.redirect_stderr(None):
                reading = reference if name == "numpy" else Reading(runtime(name, path, Path(folder)))
            masked = writer("llmask", tokenizer)
            texts = []
            for item in items:
                progress(f"{name}: {len(texts)} of {len(items)}")
                reading.begin(encoded(tokenizer, item))
                texts.append(write(reading, masked, item, eos)[0])
            base = base or texts
            gaps = []
            for item, one, other in zip(items, base, texts, strict=True):
                if one != other:
                    place, gap = gap_between(reference, encoded(tokenizer, item), one, other, min(eos))
                    gaps.append(gap)
                    differences.append(f"{name}, {item.id}: at token {place}, {gap:.5f} logits apart")
            rows.append([name, len(items) - len(gaps), f"{max(gaps):.5f}" if gaps else "-"])
    sys.stdout.write(markdown((f"{len(items)} items", "the same text", "largest gap"), rows) + "\n\n")
    sys.stdout.write("\n".join([*differences, ""]))


if __name__ == "__main__":
    main()
