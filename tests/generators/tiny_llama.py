"""A GGUF file of a Llama with random weights, and a vocabulary of bytes: small enough for every test.

In: a path, numbers. Out: the file, and its weights by name as llama.cpp has them. Cost: 10 ms.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gguf
import numpy as np

BLOCKS, HEADS, SHARED, SIZE, INNER = 2, 4, 2, 32, 48
EPSILON, BASE, CONTEXT = 1e-5, 10_000.0, 64
MARKS = ["<|im_start|>", "<|im_end|>"]


def write_tiny_llama(path: Path, seed: int = 1, has_output: bool = False, kind: str = "F32", **changes: Any) -> Any:
    """Write a file; its linear weights may be quantised.

    Returns
    -------
    The weights by name, float32, as they are read from the file.
    """
    rng = np.random.default_rng(seed)
    writer = gguf.GGUFWriter(path, changes.get("architecture", "llama"))
    tokens = [gguf_byte(byte) for byte in range(256)] + MARKS
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens)
    writer.add_token_merges(["a b"])
    writer.add_token_types([1] * 256 + [3] * len(MARKS))
    writer.add_eos_token_id(257)
    writer.add_block_count(BLOCKS)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(SIZE)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(SHARED)
    writer.add_layer_norm_rms_eps(EPSILON)
    writer.add_rope_freq_base(BASE)
    shared = SIZE // HEADS * SHARED
    shapes = {"token_embd": (len(tokens), SIZE), "output_norm": (SIZE,)}
    if has_output:
        shapes["output"] = (len(tokens), SIZE)
    for i in range(BLOCKS):
        for name, shape in (
            *(("attn_norm", (SIZE,)), ("attn_q", (SIZE, SIZE)), ("attn_k", (shared, SIZE)), ("attn_v", (shared, SIZE))),
            *(("attn_output", (SIZE, SIZE)), ("ffn_norm", (SIZE,)), ("ffn_gate", (INNER, SIZE))),
            *(("ffn_up", (INNER, SIZE)), ("ffn_down", (SIZE, INNER))),
        ):
            shapes[f"blk.{i}.{name}"] = shape
    weights = {}
    for name, shape in shapes.items():
        values = rng.normal(size=shape).astype(np.float32) * (0.3 if len(shape) > 1 else 0.1) + (len(shape) == 1)
        is_quantised = kind != "F32" and len(shape) > 1 and shape[-1] % 32 == 0
        if is_quantised:
            of = gguf.GGMLQuantizationType[kind]
            raw = gguf.quants.quantize(values, of)
            writer.add_tensor(f"{name}.weight", raw, raw_dtype=of)
            values = gguf.quants.dequantize(raw, of)
        elif name != changes.get("missing"):
            writer.add_tensor(f"{name}.weight", values)
        weights[name] = values
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return weights


def gguf_byte(byte: int) -> str:
    """A byte as byte-level vocabularies spell it."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    return chr(byte) if byte in printable else chr(256 + sum(other < byte for other in set(range(256)) - {*printable}))
