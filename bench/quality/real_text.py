"""What forced tokens, canonical masks and healing do to text that a model means: `python -m bench.quality.real_text`.

    forced     each document is written with `forced_tokens` as drafts: calls of the model saved, and whether the model
               would have taken the same tokens under the mask
    canonical  documents that the tokenizer itself would write so, without canonical masks and with them
    healing    a text is cut within a word and goes on: with `Tokenizer.heal`, and without; is the word what it was?

In: command line. Out: three tables with standard errors. Cost: half an hour on one core.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from typing import Any

import llmask
from bench.quality.__main__ import MAX_TOKENS, encoded, with_error, write
from bench.quality.items import Item, all_items
from bench.quality.reading import Reading, model_path
from bench.quality.writers import writer
from bench.tables import markdown, progress
from llmask.samplers.numpy_llama import NumpyLlama

MOST_HEALED = 8  # tokens in which the rest of a word is written
WORD = re.compile(r"[A-Za-z]{4,}")


def forced_row(reading: Reading, grammar: Any, eos: frozenset[int]) -> tuple[int, int, int]:
    """Tokens of one document, those that were forced, and those of them that the model would have taken."""
    matcher = grammar.matcher()
    words = llmask.allocate_bitmask(1, grammar.tokenizer.vocab_size)
    tokens: list[int] = []
    n_forced = n_same = 0

    def best() -> int:
        matcher.fill_bitmask(words, budget=MAX_TOKENS - len(tokens))
        logits = reading.logits(tokens)[None].copy()
        llmask.apply_bitmask(logits, words)
        return int(logits.argmax())

    while not matcher.is_terminated() and len(tokens) < MAX_TOKENS:
        forced = [token for token in matcher.forced_tokens() if token not in eos][: MAX_TOKENS - len(tokens) - 1]
        for token in forced:
            n_same += best() == token
            matcher.accept_token(token)
            tokens.append(token)
        n_forced += len(forced)
        if not forced:
            token = best()
            matcher.accept_token(token)
            tokens.append(token)
    return len(tokens), n_forced, n_same


def forced_table(items: list[Item], reading: Reading, tokenizer: llmask.Tokenizer) -> str:
    """Forced tokens in documents, by the white space that the mask allows."""
    rows = []
    for name, options in (
        ("white space as it likes", {}),
        ("indent=2", {"indent": 2}),
        ("compact", {"whitespace": "compact"}),
    ):
        compiler = llmask.Compiler(tokenizer)
        found = []
        for n, item in enumerate(items):
            progress(f"forced, {name}: {n} of {len(items)}")
            reading.begin(encoded(tokenizer, item))
            found.append(
                forced_row(reading, compiler.json_schema(item.schema, **options), frozenset(tokenizer.eos_ids))
            )
        n_tokens, n_forced, n_same = map(sum, zip(*found, strict=True))
        saved = [forced / n for n, forced, _ in found]
        rows.append([name, len(items), n_tokens, n_forced, with_error(saved), f"{100 * n_same / max(n_forced, 1):.1f}"])
    return markdown(("forced tokens", "documents", "tokens", "forced", "saved, %", "taken anyway, %"), rows)


def canonical_table(items: list[Item], reading: Reading, tokenizer: llmask.Tokenizer) -> str:
    """How much of what the model writes is as the tokenizer would write it."""
    eos = frozenset(tokenizer.eos_ids)
    shares: dict[str, list[float]] = {}
    n_tokens: dict[str, int] = {}
    texts: dict[str, list[str]] = {}
    for name in ("llmask", "llmask, canonical"):
        masked = writer(name, tokenizer)
        for n, item in enumerate(items):
            progress(f"{name}: {n} of {len(items)}")
            reading.begin(encoded(tokenizer, item))
            tokens, _ = write(reading, masked, item, eos)
            shares.setdefault(name, []).append(float(tokenizer.is_canonical(tokens)))
            n_tokens[name] = n_tokens.get(name, 0) + len(tokens)
            texts.setdefault(name, []).append(tokenizer.decode(tokens))
    rows = []
    for name, found in shares.items():
        same = [float(one == other) for one, other in zip(texts["llmask"], texts[name], strict=True)]
        rows.append([name, n_tokens[name], with_error(found), "-" if name == "llmask" else with_error(same)])
    return markdown((f"{len(items)} documents", "tokens", "canonical, %", "the same text, %"), rows)


def cut_words(items: list[Item], seed: int) -> list[tuple[str, str]]:
    """A text up to a place within one of its words, from the fourth on, and the rest of the word."""
    rng = random.Random(seed)
    found = []
    for item in items:
        words = [*WORD.finditer(item.prompt)][3:]
        if words:
            word = rng.choice(words)
            cut = rng.randint(word.start() + 2, word.end() - 2)
            found.append((item.prompt[:cut], item.prompt[cut : word.end()]))
    return found


def rest_of(reading: Reading, matcher: Any, tokenizer: llmask.Tokenizer) -> str:
    """What the model writes next in `MOST_HEALED` tokens."""
    words = llmask.allocate_bitmask(1, tokenizer.vocab_size)
    tokens: list[int] = []
    for _ in range(MOST_HEALED):
        matcher.fill_bitmask(words)
        logits = reading.logits(tokens)[None].copy()
        llmask.apply_bitmask(logits, words)
        token = int(logits.argmax())
        if token in tokenizer.eos_ids:
            break
        matcher.accept_token(token)
        tokens.append(token)
    return tokenizer.decode(tokens)


def healing_table(items: list[Item], reading: Reading, tokenizer: llmask.Tokenizer, seed: int) -> str:
    """Whether a word that was cut is written to its end as it was."""
    grammar = llmask.Compiler(tokenizer).regex(r"[^\n]{1,80}")
    same: dict[str, list[float]] = {"as it is": [], "healed": []}
    cuts = cut_words(items, seed)
    for n, (text, rest) in enumerate(cuts):
        progress(f"healing: {n} of {len(cuts)}")
        ids = tokenizer.encode(text)
        for name in same:
            kept, prefix = tokenizer.heal(ids) if name == "healed" else (ids, b"")
            reading.begin(kept or [min(tokenizer.eos_ids)])
            written = rest_of(reading, grammar.matcher(prefix=prefix), tokenizer)[len(prefix.decode()) :]
            is_same = written.startswith(rest) and not written[len(rest) : len(rest) + 1].isalpha()
            same[name].append(float(is_same))
    more = [healed - plain for plain, healed in zip(*same.values(), strict=True)]
    rows = [["as it is", with_error(same["as it is"]), "-"], ["healed", with_error(same["healed"]), with_error(more)]]
    return markdown((f"{len(cuts)} texts, cut within a word", "the same word, %", "more, %"), rows)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=50, help="so many items of each kind")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    path = model_path()
    tokenizer = llmask.Tokenizer.from_gguf(path)
    reading = Reading(NumpyLlama(path))
    items = all_items(options.seed, options.limit)
    documents = [item for item in items if item.kind != "classifications"]
    for table in (
        forced_table(documents, reading, tokenizer),
        canonical_table(documents, reading, tokenizer),
        healing_table(items, reading, tokenizer, options.seed),
    ):
        sys.stdout.write(table + "\n\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
