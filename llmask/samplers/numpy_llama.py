"""A Llama model run by NumPy alone: logits of a small GGUF file, without a framework or a compiler.

    tokens -> embeddings -> n blocks -> norm -> logits
    block     x += attention(norm(x));  x += down(silu(gate(norm(x))) * up(norm(x)))
    norm      x / sqrt(mean(x^2) + epsilon) * weight
    attention each head looks at the keys and values of all tokens so far; a few heads share one of them

It is there to be read, and for models of some hundred million weights: these are kept as float32, and a token reads all
of them once. Rotary positions turn neighbouring pairs, as GGUF files of this architecture have them.

In: a file, tokens. Out: logits. Cost: of 135 million weights 2 s to load, 540 MB, 50 ms a token on one core; the tokens
of a prompt are read together.
"""

from __future__ import annotations

import os
import struct
from math import prod

import numpy as np
import numpy.typing as npt

from ..arguments import as_path
from ..errors import VocabularyError
from ..vocabulary.gguf_section import Section, read_section

Floats = npt.NDArray[np.float32]

ALIGNMENT = 32  # of tensors, where the file names none
MOST_TENSORS = 100_000
BLOCK_NAMES = ("attn_norm", "attn_q", "attn_k", "attn_v", "attn_output", "ffn_norm", "ffn_gate", "ffn_up", "ffn_down")


class NumpyLlama:
    """A model and what it has read.

    Parameters
    ----------
    path : a GGUF file of the architecture `llama`.

    Attributes
    ----------
    n_tokens : tokens that were read.
    n_context : the most that the model was trained for.

    Raises
    ------
    VocabularyError : the file is damaged, of another architecture, or lacks a tensor.
    OSError : it cannot be opened.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        section = read_section(as_path(path))
        architecture = section.get_text("general.architecture", "")
        if architecture != "llama":
            raise VocabularyError(
                f"{path}: a model of the architecture {architecture}, and only llama is known here",
                help="run it with transformers or llama.cpp",
            )

        def number(name: str) -> float:
            value = section.get_number(f"llama.{name}")
            if value is None:
                raise section.error("the field is missing", 0, f"llama.{name}")
            return value

        tensors = _Tensors(section)
        n_blocks, self._n_heads = int(number("block_count")), int(number("attention.head_count"))
        self._n_shared = int(number("attention.head_count_kv"))
        self._epsilon = np.float32(number("attention.layer_norm_rms_epsilon"))
        self.n_context = int(number("context_length"))
        self._blocks = [[tensors[f"blk.{i}.{name}.weight"] for name in BLOCK_NAMES] for i in range(n_blocks)]
        self._embeddings = tensors["token_embd.weight"]
        self._norm = tensors["output_norm.weight"]
        self._output = tensors["output.weight"] if "output.weight" in tensors.places else self._embeddings
        self._head_size = self._embeddings.shape[1] // self._n_heads
        turns = number("rope.freq_base") ** (-np.arange(0, self._head_size, 2) / self._head_size)
        angles = np.outer(np.arange(self.n_context), turns)
        self._cos, self._sin = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
        self.begin()

    def begin(self) -> None:
        """Forget what was read."""
        self.n_tokens = 0
        nothing = np.zeros((self._n_shared, 0, self._head_size), np.float32)
        self._keys: list[Floats] = [nothing] * len(self._blocks)
        self._values: list[Floats] = [nothing] * len(self._blocks)

    def forget(self, n: int) -> None:
        """Take back all but the first `n` tokens."""
        self.n_tokens = min(n, self.n_tokens)
        self._keys = [keys[:, : self.n_tokens] for keys in self._keys]
        self._values = [values[:, : self.n_tokens] for values in self._values]

    def read(self, tokens: list[int]) -> Floats:
        """Read some tokens.

        Returns
        -------
        float32[n_vocab], the logits after the last one.

        Raises
        ------
        ValueError : no tokens are given, or more than the context takes.
        """
        if not tokens or self.n_tokens + len(tokens) > self.n_context:
            raise ValueError(f"{len(tokens)} tokens after {self.n_tokens}: the context takes 1 to {self.n_context}")
        x = self._embeddings[tokens]
        for i, (norm, q, k, v, o, second_norm, gate, up, down) in enumerate(self._blocks):
            x = x + self._attention(i, self._normed(x, norm), q, k, v) @ o.T
            y = self._normed(x, second_norm)
            opened = y @ gate.T
            x = x + (opened / (1 + np.exp(-opened)) * (y @ up.T)) @ down.T
        self.n_tokens += len(tokens)
        logits: Floats = self._output @ self._normed(x[-1:], self._norm)[0]
        return logits

    def _normed(self, x: Floats, weight: Floats) -> Floats:
        """Rows of the same length, weighted."""
        normed: Floats = x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + self._epsilon) * weight
        return normed

    def _attention(self, block: int, x: Floats, q: Floats, k: Floats, v: Floats) -> Floats:
        """What each row gathers from the tokens up to its own: float32[n, n_heads * head_size]."""
        n, n_before = len(x), self.n_tokens
        queries = self._turned(self._heads(x @ q.T))
        keys = np.concatenate([self._keys[block], self._turned(self._heads(x @ k.T))], axis=1)
        values = np.concatenate([self._values[block], self._heads(x @ v.T)], axis=1)
        self._keys[block], self._values[block] = keys, values
        queries = queries.reshape(self._n_shared, -1, n, self._head_size)  # those that share keys, side by side
        weights = queries @ keys[:, None].swapaxes(-1, -2) / np.float32(np.sqrt(self._head_size))
        is_later = np.arange(keys.shape[1]) > n_before + np.arange(n)[:, None]
        weights = np.where(is_later, np.float32(-np.inf), weights)
        weights = np.exp(weights - weights.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        gathered = (weights @ values[:, None]).reshape(self._n_heads, n, self._head_size)
        rows: Floats = gathered.swapaxes(0, 1).reshape(n, -1)
        return rows

    def _heads(self, x: Floats) -> Floats:
        """float32[n_heads, n, head_size] of rows."""
        heads: Floats = x.reshape(len(x), -1, self._head_size).swapaxes(0, 1)
        return heads

    def _turned(self, heads: Floats) -> Floats:
        """Heads whose pairs of neighbours are turned by the position."""
        here = slice(self.n_tokens, self.n_tokens + heads.shape[1])
        cos, sin = self._cos[here], self._sin[here]
        even, odd = heads[..., 0::2], heads[..., 1::2]
        turned = np.empty_like(heads)
        turned[..., 0::2] = even * cos - odd * sin
        turned[..., 1::2] = even * sin + odd * cos
        return turned


class _Tensors:
    """The weights of a file, as float32; they lie after its fields."""

    def __init__(self, section: Section) -> None:
        self._section = section
        data = section.data.data
        [n_tensors] = struct.unpack_from("<Q", data, 8)
        if n_tensors > MOST_TENSORS:
            raise section.error(f"{n_tensors} tensors are too many", 8, "number of tensors")
        position = max(field.end for field in section.fields.values())
        self.places: dict[str, tuple[int, tuple[int, ...], int]] = {}
        try:
            for _ in range(n_tensors):
                [length] = struct.unpack_from("<Q", data, position)
                name = bytes(data[position + 8 : position + 8 + length]).decode()
                position += 8 + length
                [n_dimensions] = struct.unpack_from("<I", data, position)
                shape = struct.unpack_from(f"<{n_dimensions}Q", data, position + 4)
                kind, offset = struct.unpack_from("<IQ", data, position + 4 + 8 * n_dimensions)
                position += 16 + 8 * n_dimensions
                self.places[name] = kind, shape, offset
        except (struct.error, UnicodeDecodeError, MemoryError):
            raise section.error("the list of tensors is damaged", position, "tensors") from None
        alignment = section.get_integer("general.alignment") or ALIGNMENT
        self._first = -(-position // alignment) * alignment

    def __getitem__(self, name: str) -> Floats:
        """A tensor, its last dimension in memory first: float32[rows, columns] or float32[columns].

        Raises
        ------
        VocabularyError : the file has no such tensor, or ends before it.
        """
        from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType
        from gguf.quants import dequantize

        if name not in self.places:
            raise self._section.error("the tensor is missing", self._first, name)
        kind, shape, offset = self.places[name]
        block, n_bytes = GGML_QUANT_SIZES[GGMLQuantizationType(kind)]
        begin, size = self._first + offset, prod(shape) // block * n_bytes
        raw = self._section.data[begin : begin + size]
        if len(raw) < size:
            raise self._section.error("the file ends inside of the tensor", len(self._section.data), name)
        rows = np.asarray(raw).reshape(*reversed(shape[1:]), -1)
        weights: Floats = dequantize(rows, GGMLQuantizationType(kind)).astype(np.float32, copy=False)
        return np.ascontiguousarray(weights)
