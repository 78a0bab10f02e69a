"""The whole trie walked inside a JSON string, no slices: `python -m bench.walk`.

The plainest thing that a mask engine does, and its worst case: nearly every token of the vocabulary is alive, and every
node of the trie is visited. llguidance, made without slices, computes the same mask with its own trie beside it.

In: command line. Out: nanoseconds a node, the smallest of `--repeat` walks. Cost: a second.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import llmask
from bench.data import LLAMA3_VOCABULARY
from bench.engines import ByteTokens
from llmask.kernels import engine

TEXT = b'{"name": "J'


def smallest(work: Callable[[Any], object], repeat: int, prepare: Callable[[], object] = lambda: None) -> float:
    """Seconds of the fastest of `repeat` calls, each with something freshly prepared outside of the clock."""
    best = float("inf")
    for _ in range(repeat):
        prepared = prepare()
        started = time.perf_counter()
        work(prepared)
        best = min(best, time.perf_counter() - started)
    return best


def walk_llmask(repeat: int) -> tuple[float, int]:
    """Seconds of one walk and the nodes that it visits."""
    compiler = llmask.Compiler(llmask.Tokenizer.from_gguf(str(LLAMA3_VOCABULARY)))
    grammar = compiler.json_schema({"properties": {"name": {"type": "string"}}, "required": ["name"]})
    matcher = grammar.matcher()
    matcher.accept_bytes(TEXT)

    def walk(_: object = None) -> int:
        return grammar.store.run(engine.WALK_ALL, matcher._configuration, grammar=grammar.table)

    return smallest(walk, repeat), walk()


def fill_llguidance(repeat: int) -> float:
    """Seconds of one mask without slices."""
    import llguidance
    import llguidance.numpy

    tokenizer = llguidance.LLTokenizer(ByteTokens(), slices=[])
    grammar = llguidance.LLMatcher.grammar_from_json_schema(
        {"properties": {"name": {"type": "string"}}, "required": ["name"]}
    )
    matcher = llguidance.LLMatcher(tokenizer, grammar)
    matcher.consume_tokens(tokenizer.tokenize_bytes(TEXT))
    mask = llguidance.numpy.allocate_token_bitmask(1, tokenizer.vocab_size)
    # a matcher keeps its last mask, so each walk gets a fresh copy
    return smallest(
        lambda copy: llguidance.numpy.fill_next_token_bitmask(copy, mask, 0), repeat, prepare=matcher.deep_copy
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=200)
    repeat = parser.parse_args().repeat
    seconds, nodes = walk_llmask(repeat)
    print(f"llmask      {seconds * 1e6:7.0f} us   {nodes} nodes   {seconds * 1e9 / nodes:.2f} ns a node")
    try:
        peer = fill_llguidance(repeat)
    except ImportError:
        print("llguidance  not installed: pip install '.[bench]'")
        return
    print(f"llguidance  {peer * 1e6:7.0f} us   {peer * 1e9 / nodes:.2f} ns a node of ours   ratio {seconds / peer:.2f}")


if __name__ == "__main__":
    main()
