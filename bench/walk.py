"""The whole trie walked inside a JSON string, slices left aside: `python -m bench.walk`.

In a string nearly every node is visited, so this is the time of one node at its plainest: read it, look up the next
lexer state, set the token's bit. llguidance without slices does the same work for a mask; it is timed beside it, on a
sequence that has just taken a token, because it remembers the last mask.

In: command line. Out: nanoseconds a node: least, median of many walks. Cost: a few seconds.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np

from bench.data import LLAMA3_VOCABULARY, llama3_vocabulary
from bench.engines.llguidance import ByteTokens
from bench.vocabularies import encoder

TEXT = '{"key": "a'
SCHEMA = {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]}


def timed(prepare: Callable[[], Callable[[], object]], repeat: int) -> list[float]:
    """Nanoseconds of each of `repeat` walks, preparation left out."""
    times = []
    for _ in range(repeat):
        walk = prepare()
        started = time.perf_counter_ns()
        walk()
        times.append(time.perf_counter_ns() - started)
    return times


def walk_of_llmask() -> tuple[Callable[[], object], int]:
    """One walk of the whole trie in llmask, and how many nodes it visits."""
    import llmask
    from llmask.kernels.tables.operations import Operation

    tokenizer = llmask.Tokenizer.from_gguf(LLAMA3_VOCABULARY)
    grammar = llmask.Compiler(tokenizer).json_schema(SCHEMA)
    matcher = grammar.matcher()
    matcher.accept_bytes(TEXT.encode())
    configuration = matcher._sequence.configuration

    def walk() -> int:
        return grammar._loaded.store.run(Operation.WALK_ALL, configuration, grammar=grammar._loaded.generation.table)

    return walk, walk()


def walk_of_llguidance() -> Callable[[], Callable[[], object]]:
    """Makes a walk: one mask of llguidance without slices at the same place."""
    import llguidance

    tokenizer = llguidance.LLTokenizer(ByteTokens(llama3_vocabulary(), encoder("llama3")), slices=[])
    matcher = llguidance.LLMatcher(tokenizer, llguidance.LLMatcher.grammar_from_json_schema(SCHEMA), log_level=0)
    if not matcher.consume_tokens(tokenizer.greedy_tokenize(TEXT)):
        raise SystemExit("llguidance refuses the text")
    words = np.zeros((1, (len(llama3_vocabulary().tokens) + 31) // 32), dtype=np.int32)
    pointer, letter = words.ctypes.data, llama3_vocabulary().tokens.index(b"a")

    def prepare() -> Callable[[], object]:
        sequence = matcher.deep_copy()
        sequence.consume_token(letter)
        return lambda: sequence.unsafe_compute_mask_ptr(pointer, words.nbytes)

    return prepare


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=300)
    options = parser.parse_args()
    walk, n_nodes = walk_of_llmask()
    print(f"{n_nodes:,} nodes visited in a JSON string, Llama-3 vocabulary")
    for name, prepare in (("llmask", lambda: walk), ("llguidance", walk_of_llguidance())):
        times = timed(prepare, options.repeat)
        least, median = min(times) / n_nodes, statistics.median(times) / n_nodes
        print(
            f"{name:<12} least {least:5.2f} ns a node, median {median:5.2f}; {median * n_nodes / 1000:,.0f} us a walk"
        )


if __name__ == "__main__":
    main()
