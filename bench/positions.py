"""What `partial` and `position` say after every token of a document, held against the whole document; what they take.

Complete keys, items and values must equal those of the whole document, a string in progress must be the beginning of
what it will be, a number counts when it has ended, and at the end the value is that of `json.loads`. One long document
tells whether a question takes longer at its end.

    $ python -m bench.positions --size 1000

In: valid documents of MaskBench. Out: the number of differences; microseconds a call. Cost: 0.1 s a document.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from typing import Any

import llmask
from bench.attack.corpora import real_tokenizer, schemas

MOST_BYTES = 20_000
LONG = 4000  # items of the long document


def main() -> int:
    """Compare all documents; 1 if any differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=1000, help="documents (default: 1000)")
    parser.add_argument("--seed", type=int, default=1, help="of the random numbers (default: 1)")
    arguments = parser.parse_args()
    tokenizer = real_tokenizer()
    compiler, rng = llmask.Compiler(tokenizer), random.Random(arguments.seed)
    cases = [(entry.schema, data) for entry in schemas() for is_valid, data in entry.documents if is_valid]
    rng.shuffle(cases)
    n_done, n_tokens, wrong = 0, 0, 0
    for schema, data in cases:
        text = json.dumps(data, ensure_ascii=rng.random() < 0.5, indent=rng.choice((None, None, 2)))
        try:
            grammar = compiler.json_schema(schema, property_order="any", literals="any", unsupported="ignore")
        except llmask.LlmaskError:
            continue
        if len(text) > MOST_BYTES or not grammar.accepts(text):
            continue
        ids = tokenizer.encode(text)
        faults = [*differences(grammar.matcher(), ids, data)]
        wrong += bool(faults)
        for fault in faults[:1]:
            print(f"{text[:200]}: {fault}")
        n_done, n_tokens = n_done + 1, n_tokens + len(ids)
        if n_done == arguments.size:
            break
    print(f"{n_done} documents, {n_tokens} tokens: {wrong} differ")
    first, last, mean = long_document(compiler)
    print(f"position after every token of a long document: {mean:.1f} us, last fifth / first {last / first:.2f}")
    return int(wrong > 0 or n_done < arguments.size)


def differences(matcher: llmask.Matcher, ids: list[int], whole: Any) -> Any:
    """What is said after each token and is not so."""
    for number, token in enumerate(ids):
        matcher.accept_token(token)
        position = matcher.position()
        assert position.pointer is not None
        keys = [key.replace("~1", "/").replace("~0", "~") for key in position.pointer.split("/")[1:]]
        so_far = matcher.partial()
        if not is_beginning(so_far, whole, keys, position.kind):
            yield f"after {number + 1} tokens, {position}: {so_far!r}"
    matcher.accept_token(next(iter(matcher.grammar.tokenizer.eos_ids)))
    if matcher.partial() != whole or matcher.position().kind != "end":
        yield f"at the end: {matcher.partial()!r}"


def is_beginning(so_far: Any, whole: Any, keys: list[str], kind: str) -> bool:
    """Whether a value in progress is as it must be; `keys` lead to the innermost one in progress."""
    if kind == "end":
        return bool(so_far == whole)
    if not keys and not isinstance(whole, (dict, list)):
        if isinstance(whole, str):
            return so_far is None or (isinstance(so_far, str) and whole.startswith(so_far))
        return so_far is None  # a number counts when it has ended
    if so_far is None:  # nothing of it has begun
        return True
    if isinstance(whole, dict):
        missing = object()
        inner = keys[0] if keys else missing
        if not isinstance(so_far, dict) or [*so_far] != [*whole][: len(so_far)]:
            return False
        rest = {key: value for key, value in so_far.items() if key != inner}
        if any(value != whole[key] for key, value in rest.items()):
            return False
        return inner not in so_far or is_beginning(so_far[inner], whole[inner], keys[1:], kind)
    index = int(keys[0]) if keys else len(so_far)
    if not isinstance(so_far, list) or so_far[:index] != whole[: len(so_far[:index])]:
        return False
    return len(so_far) <= index or is_beginning(so_far[index], whole[index], keys[1:], kind)


def long_document(compiler: llmask.Compiler) -> tuple[float, float, float]:
    """Microseconds of `position` after every token: the median of the first fifth, of the last, and the mean of all."""
    text = json.dumps([{"name": f"n{number}", "value": number / 7} for number in range(LONG)])
    matcher, taken = compiler.json_schema(True).matcher(), []
    for token in compiler.tokenizer.encode(text):
        matcher.accept_token(token)
        begun = time.perf_counter()
        matcher.position()
        taken.append((time.perf_counter() - begun) * 1e6)
    fifth = len(taken) // 5
    return statistics.median(taken[:fifth]), statistics.median(taken[-fifth:]), statistics.fmean(taken)


if __name__ == "__main__":
    sys.exit(main())
