"""Structural tags beside XGrammar: how long compiling takes, the first mask of a response, and those behind it.

    python -m bench.tags --vocabulary llama-bpe.gguf

A response is free text, a call of one of the tools, and free text again. Every mask is timed; the same text is then
read a second time. XGrammar is given the same tag, the same tokens and one thread.

In: a vocabulary. Out: a table. Cost: half a minute.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

TEXT = "I will look <that> up for you: [a] {b}, in <b>two</b> steps. "


def tag_of(n_tools: int) -> dict[str, Any]:
    """Free text, and tools with some properties each."""
    tags = []
    for number in range(n_tools):
        properties = {
            "city": {"type": "string"},
            "days": {"type": "integer"},
            "unit": {"enum": ["C", "F", f"unit {number}"]},
        }
        schema = {
            "type": "object",
            "properties": properties,
            "required": ["city", "days"],
            "additionalProperties": False,
        }
        begin = f'<tool_call>\n{{"name": "tool_{number}", "arguments": '
        content = {"type": "json_schema", "json_schema": schema}
        tags.append({"type": "tag", "begin": begin, "content": content, "end": "}\n</tool_call>"})
    form = {"type": "triggered_tags", "triggers": ["<tool_call>"], "tags": tags, "excludes": ["<think>", "</think>"]}
    return {"type": "structural_tag", "format": form}


def response_of(n_tools: int) -> str:
    """Text, a call of the last tool, and text."""
    arguments = '{"city": "Paris", "days": 12, "unit": "C"}'
    return f'{TEXT}<tool_call>\n{{"name": "tool_{n_tools - 1}", "arguments": {arguments}}}\n</tool_call> {TEXT}'


def times_of(make: Callable[[], tuple[Callable[[], object], Callable[[int], None]]], ids: list[int]) -> list[float]:
    """Microseconds of each mask and the token behind it."""
    fill, accept = make()
    times = []
    for token in ids:
        start = time.perf_counter()
        fill()
        accept(token)
        times.append((time.perf_counter() - start) * 1e6)
    return times


def report(name: str, n_tools: int, compile_ms: float, first: list[float], again: list[float]) -> None:
    """One line of the table."""
    slowest = sorted(first)[int(0.99 * (len(first) - 1))]
    sys.stdout.write(
        f"{name:<9} {n_tools:>5} tools  compiled in {compile_ms:7.1f} ms  first time: mean "
        f"{statistics.mean(first):7.1f} us, p99 {slowest:7.0f} us  again: mean {statistics.mean(again):5.1f} us\n"
    )


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vocabulary", metavar="FILE.gguf", help="default: the tokenizer in the package")
    arguments = parser.parse_args()
    import llmask

    tokenizer = llmask.Tokenizer.from_gguf(arguments.vocabulary) if arguments.vocabulary else llmask.Tokenizer.default()
    for n_tools in (1, 10, 50):
        ids = tokenizer.encode(response_of(n_tools))
        measure_llmask(tokenizer, n_tools, ids)
        measure_xgrammar(tokenizer, n_tools, ids)


def measure_llmask(tokenizer: Any, n_tools: int, ids: list[int]) -> None:
    """A new compiler each time: nothing is known of the tag."""
    import llmask

    compiler = llmask.Compiler(tokenizer)
    start = time.perf_counter()
    grammar = compiler.structural_tag(tag_of(n_tools))
    compile_ms = (time.perf_counter() - start) * 1e3
    bitmask = llmask.allocate_bitmask(1, tokenizer.vocab_size)

    def make() -> tuple[Callable[[], object], Callable[[int], None]]:
        matcher = grammar.matcher()
        return lambda: matcher.fill_bitmask(bitmask), matcher.accept_token

    report("llmask", n_tools, compile_ms, times_of(make, ids), times_of(make, ids))


def measure_xgrammar(tokenizer: Any, n_tools: int, ids: list[int]) -> None:
    """The same, where XGrammar is installed."""
    try:
        import xgrammar
    except ImportError:
        return
    tokens = [tokenizer.token_bytes(token) for token in range(tokenizer.vocab_size)]
    info = xgrammar.TokenizerInfo(
        tokens,
        vocab_type=xgrammar.VocabType.RAW,
        vocab_size=len(tokens),
        stop_token_ids=list(tokenizer.eos_ids),
    )
    compiler = xgrammar.GrammarCompiler(info, max_threads=1)
    start = time.perf_counter()
    grammar = compiler.compile_structural_tag(json.dumps(tag_of(n_tools)))
    compile_ms = (time.perf_counter() - start) * 1e3
    bitmask = xgrammar.allocate_token_bitmask(1, len(tokens))

    def make() -> tuple[Callable[[], object], Callable[[int], None]]:
        matcher = xgrammar.GrammarMatcher(grammar)

        def accept(token: int) -> None:
            assert matcher.accept_token(token)

        return lambda: matcher.fill_next_token_bitmask(bitmask), accept

    report("XGrammar", n_tools, compile_ms, times_of(make, ids), times_of(make, ids))


if __name__ == "__main__":
    main()
