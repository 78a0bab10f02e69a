"""MaskBench documents under vocabularies of 32,000 to 256,000 tokens: mean time of a token.

Vocabularies from model files, and one made by growing Llama 3's: new tokens are two of its tokens written together,
drawn with a fixed seed among those made of letters, earlier (more frequent) ones more often, as further merges of a
longer training would be. Each document is split by the tokenizer's own BPE,
or by longest match where it has none or writes a space before the text.

In: effort. Out: a table by vocabulary. Cost: two minutes.
"""

from __future__ import annotations

import gc
import random
from typing import Any

import numpy as np

from bench.data import LLAMA3_VOCABULARY, instance_text, llama3_vocabulary, maskbench_rows
from bench.scaling.results import Plot, Result, Table, Target
from bench.scaling.sides import LlguidanceSide, LlmaskSide, Refused, Side, feed
from bench.vocabularies import Vocabulary

N_SCHEMAS = 200
FILES = ("llama-spm", "llama-bpe", "qwen2", "nomic-bert-moe")
BASE, GROWN = "llama-bpe", "llama-bpe grown"
N_GROWN = 256_000


def grown_vocabulary() -> Vocabulary:
    """Llama 3's vocabulary grown to `N_GROWN` tokens, see the module's text."""
    vocabulary = llama3_vocabulary()
    draw, known = random.Random(6), set(vocabulary.tokens)
    special = set(vocabulary.special_ids)
    ordinary = [data for token, data in enumerate(vocabulary.tokens) if token not in special]
    first = [data for data in ordinary if data.decode(errors="replace").strip(" ").isalpha()]
    second = [data for data in first if not data.startswith(b" ")]
    tokens = list(vocabulary.tokens)
    while len(tokens) < N_GROWN:
        one, two = (part[int(len(part) * draw.random() ** 3)] for part in (first, second))
        data = one + two
        if len(data) <= 24 and data not in known:
            known.add(data)
            tokens.append(data)
    return Vocabulary(tokens, vocabulary.special_ids, vocabulary.eos_ids)


def tokenizer_of(name: str) -> Any:
    import llmask

    if name == GROWN:
        vocabulary = grown_vocabulary()
        return llmask.Tokenizer.from_bytes(vocabulary.tokens, eos=vocabulary.eos, special=vocabulary.special_ids)
    return llmask.Tokenizer.from_gguf(str(LLAMA3_VOCABULARY.with_name(name + ".gguf")))


class Encoder:
    """Text to tokens whose bytes are the text: by the tokenizer's own BPE, or longest match.

    Encoders that write a space before the text would mislead llguidance, which encodes what a grammar forces.
    """

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self.ids = {tokenizer.token_bytes(token): token for token in reversed(range(tokenizer.vocab_size))}
        self.longest = max(map(len, self.ids))

    def __call__(self, text: str) -> list[int]:
        if self.tokenizer.encoder_name == "bpe":
            exact: list[int] = self.tokenizer.encode(text)
            return exact
        data = text.encode()
        tokens, at = [], 0
        while at < len(data):
            ends = range(min(at + self.longest, len(data)), at, -1)
            end = next((end for end in ends if data[at:end] in self.ids), None)
            if end is None:
                return []
            tokens.append(self.ids[data[at:end]])
            at = end
        return tokens


def documents(encode: Encoder, n: int) -> list[tuple[Any, list[list[int]]]]:
    """(schema, valid documents as tokens) of `n` schemas drawn with a fixed seed; what cannot be spelled is empty."""
    rows = maskbench_rows()
    return [
        (rows[i].schema, [encode(instance_text(instance.data)) for instance in rows[i].instances if instance.is_valid])
        for i in sorted(random.Random(7).sample(range(len(rows)), n))
    ]


def measure(side: Side, rows: list[tuple[Any, list[list[int]]]]) -> dict[str, list[int]]:
    """TBM in nanoseconds by schema that the engine takes, of all its documents that it takes."""
    found: dict[str, list[int]] = {}
    for number, (schema, texts) in enumerate(rows):
        gc.disable()
        try:
            grammar = side.compile(schema)
            times: list[int] = []
            for tokens in texts:
                times += feed(side, side.start(grammar), tokens)
            found[str(number)] = times
        except Refused:
            pass
        finally:
            gc.enable()
    return found


def study(effort: float) -> Result:
    found: dict[tuple[str, str], dict[str, list[int]]] = {}
    sizes: dict[str, int] = {}
    for name in (*FILES, GROWN):
        tokenizer = tokenizer_of(name)
        encode = Encoder(tokenizer)
        rows = documents(encode, max(int(N_SCHEMAS * effort), 10))
        special = sorted({*tokenizer.special_ids, *tokenizer.eos_ids})
        tokens = [tokenizer.token_bytes(token) or f"<special{token}>".encode() for token in range(tokenizer.vocab_size)]
        vocabulary = Vocabulary(tokens, special, (min(tokenizer.eos_ids),))
        sides: list[Side] = [LlmaskSide(tokenizer), LlguidanceSide(vocabulary, encode)]
        sizes[name] = tokenizer.vocab_size
        found |= {(name, side.name): measure(side, rows) for side in sides}
    common = sorted(set.intersection(*(set(times) for times in found.values())))
    return _summary(found, sizes, common)


def _summary(found: dict[tuple[str, str], dict[str, list[int]]], sizes: dict[str, int], common: list[str]) -> Result:
    table = Table(
        f"TBM in us, over the {len(common)} schemas whose documents both engines take under every vocabulary",
        ["vocabulary", "size", "engine", "tokens", "mean", "p50", "p99", "max"],
    )
    plot = Plot("mean", "tokens of the vocabulary", "us a token, mean", {}, log_y=False)
    means = {}
    for (name, engine), by_schema in found.items():
        times = np.concatenate([by_schema[key] for key in common]) / 1000
        means[name, engine] = mean = float(times.mean())
        p50, p99 = np.percentile(times, [50, 99])
        table.rows.append([name, sizes[name], engine, len(times), mean, float(p50), float(p99), float(times.max())])
        x, y = plot.lines.setdefault(engine, ([], []))
        x.append(float(sizes[name]))
        y.append(mean)
    targets = [
        Target(f"mean of {name} / {BASE}", means[name, "llmask"] / means[BASE, "llmask"], 2.2)
        for name in ("nomic-bert-moe", GROWN)
    ]
    return Result([table], [plot], targets)
