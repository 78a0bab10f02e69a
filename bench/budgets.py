"""Random walks within budgets: `python -m bench.budgets`.

Every document must end within its budget, and a budget below what is needed must be refused with the least one stated,
which must then suffice. Half of the walks choose among all tokens alike, half among first bytes alike. The budgets are
drawn from 20 to 200 tokens; where a grammar needs more than was drawn, the refusal is counted and checked.

`--many` walks over MaskBench's schemas and random ones in which every keyword meets the others, half of them in any
order, within budgets from the least to MOST more. `--cost` measures masks with and without a budget on the same walks.
`--bounds` compares what `least_budget()` says with the minimum, and measures it.

In: the own cases of `bench/cases`, grammars of the tests, random schemas. Out: counts. Cost: some minutes.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, NamedTuple

import numpy as np

import llmask
from bench.data import maskbench_schemas, own_rows
from bench.tables import markdown
from bench.vocabularies import vocabulary
from tests.contract import gbnf_grammars, lark_grammars
from tests.generators.schemas import random_schema
from tests.properties.schemas import draw

LEAST, MOST = 20, 200  # budgets
N_GBNF, N_LARK = 20, 10
ABOVE = {"0": 0, "1": 1, "2 to 5": 5, "6 to 10": 10, "more": 10**9}


class Walk(NamedTuple):
    """One document under masks within a budget.

    n_tokens    the end of sequence included; 0: the budget was refused
    document    its bytes
    """

    n_tokens: int
    document: bytes


def subjects(compiler: llmask.Compiler, n: int, seed: int) -> list[tuple[str, Callable[[], Any]]]:
    """Names and compiling functions of `n` grammars: own cases, GBNF, Lark, and random schemas as many as lack."""
    makers: dict[str, Callable[[Any], Any]] = {
        "schema": compiler.json_schema,
        "regex": compiler.regex,
        "choice": compiler.choice,
    }
    found: list[tuple[str, Callable[[], Any]]] = []
    for row in own_rows():
        found.append((row.id, lambda row=row: makers[row.kind](row.schema)))
    for name, text in list(gbnf_grammars.GRAMMARS.items())[:N_GBNF]:
        found.append((f"gbnf {name}", lambda text=text: compiler.gbnf(text)))
    for name, (text, *_) in list(lark_grammars.GRAMMARS.items())[:N_LARK]:
        found.append((f"lark {name}", lambda text=text: compiler.lark(text)))
    rng = random.Random(seed)
    while len(found) < n:
        schema = draw(rng).schema
        found.append((f"random {len(found)}", lambda schema=schema: compiler.json_schema(schema)))
    return found[:n]


def many_subjects(compiler: llmask.Compiler, seed: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Names and compiling functions without end: schemas of MaskBench and random ones in turn, the order in turn."""
    rng = random.Random(seed)
    rows = list(maskbench_schemas().items())
    rng.shuffle(rows)
    for i in count():
        name, schema = rows[i // 2 % len(rows)] if i % 2 else (f"random {i}", random_schema(rng))
        order = "any" if i // 2 % 2 else "schema"
        yield f"{name}, {order}", lambda schema=schema, order=order: compiler.json_schema(schema, property_order=order)


class Chooser:
    """Tokens of a mask chosen at random: all alike, or all first bytes alike."""

    def __init__(self, tokenizer: llmask.Tokenizer) -> None:
        texts = [tokenizer.token_bytes(token)[:1] for token in range(tokenizer.vocab_size)]
        self._first = np.array([text[0] if text else 256 for text in texts])

    def __call__(self, words: Any, rng: random.Random, by_byte: bool) -> int:
        allowed = np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little"))
        if by_byte:
            firsts = self._first[allowed]
            allowed = allowed[firsts == rng.choice(np.unique(firsts).tolist())]
        return int(allowed[rng.randrange(len(allowed))])


def walk(grammar: Any, budget: int, chooser: Chooser, rng: random.Random, by_byte: bool, lowered: bool = False) -> Walk:
    """Write one document within a budget; `lowered`: as soon as something is written it is lowered to 1.

    Raises
    ------
    BudgetError : the budget is too small.
    """
    matcher = grammar.matcher()
    mask = llmask.allocate_bitmask(1, grammar.tokenizer.vocab_size)
    n = 0
    while not matcher.is_terminated():
        left = 1 if lowered and n else max(budget - n, 1)
        matcher.fill_bitmask(mask, budget=left)
        matcher.accept_token(chooser(mask[0], rng, by_byte))
        n += 1
    return Walk(n, matcher.text())


def check(compiler: llmask.Compiler, n_grammars: int, n_walks: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Walk; returns counts, and what went wrong."""
    counts: Counter[str] = Counter()
    faults = []
    chooser = Chooser(compiler.tokenizer)
    for number, (name, make) in enumerate(subjects(compiler, n_grammars, seed)):
        rng = random.Random(f"{seed} {name}")
        grammar = make()
        try:
            least = grammar.matcher().least_budget(exact=True)
        except llmask.LimitExceeded:
            counts["grammars without an end that was found"] += 1
            faults.append(f"{name}: no end was found")
            continue
        counts["grammars"] += 1
        counts["least budgets, added up"] += least
        faults += [f"{name}: {fault}" for fault in _check_least(grammar, least, chooser, rng)]
        for i in range(n_walks * (number + 1) // n_grammars - n_walks * number // n_grammars):
            budget = rng.randint(LEAST, MOST)
            try:
                found = walk(grammar, budget, chooser, rng, i % 2 == 1)
            except llmask.BudgetError as error:
                counts["walks refused, the budget being too small"] += 1
                if error.least != least or least <= budget:
                    faults.append(f"{name}: {budget} refused, {error.least} stated, {least} needed")
                found = walk(grammar, least + budget, chooser, rng, i % 2 == 1)
                budget += least
            counts["walks"] += 1
            counts["tokens"] += found.n_tokens
            counts["walks that used the whole budget"] += found.n_tokens == budget
            if found.n_tokens > budget:
                faults.append(f"{name}: {found.n_tokens} tokens with {budget}: {found.document!r}")
    return counts, faults


def check_many(compiler: llmask.Compiler, n_walks: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Walk `n_walks` documents of as many schemas; returns counts, and what went wrong."""
    counts: Counter[str] = Counter()
    faults = []
    chooser = Chooser(compiler.tokenizer)
    for name, make in many_subjects(compiler, seed):
        if counts["walks"] >= n_walks:
            break
        rng = random.Random(f"{seed} {name}")
        try:
            grammar = make()
        except llmask.LlmaskError as error:
            counts[f"schemas refused: {type(error).__name__}"] += 1
            continue
        try:
            budget = grammar.matcher().least_budget()
        except llmask.LimitExceeded:
            counts["grammars without an end that was found"] += 1
            continue
        budget += rng.choice((0, 0, 1, rng.randint(0, 20), rng.randint(0, MOST)))
        counts["walks"] += 1
        try:
            found = walk(grammar, budget, chooser, rng, rng.random() < 0.5)
        except llmask.LlmaskError as error:
            faults.append(f"{name}: within {budget}: {error}")
            continue
        counts["tokens"] += found.n_tokens
        if found.n_tokens > budget:
            faults.append(f"{name}: {found.n_tokens} tokens with {budget}: {found.document!r}")
    return counts, faults


def bounds(compiler: llmask.Compiler, n: int, seed: int) -> str:
    """What `least_budget()` says, beside the minimum that a search finds, and its milliseconds: a table."""
    above: Counter[str] = Counter()
    times = []
    for _, schema in random.Random(seed).sample(sorted(maskbench_schemas().items()), n):
        try:
            grammar = compiler.json_schema(schema)
        except llmask.LlmaskError:
            above["schemas refused"] += 1
            continue
        begin = time.perf_counter()
        try:
            known = grammar.matcher().least_budget()
        except llmask.LimitExceeded:
            above["no bound"] += 1
            continue
        finally:
            times.append((time.perf_counter() - begin) * 1e3)
        try:
            over = known - grammar.matcher().least_budget(exact=True)
        except llmask.LimitExceeded:
            above["not searched to the end: a limit"] += 1
            continue
        above[next(name for name, most in ABOVE.items() if over <= most)] += 1
    times.sort()
    figures = (statistics.fmean(times), times[len(times) // 2], times[len(times) * 99 // 100], times[-1])
    table = markdown(("tokens above the minimum", "schemas"), sorted(above.items()))
    return f"{table}\nms: mean, median, 99 %, longest: " + ", ".join(f"{figure:.2f}" for figure in figures)


def _check_least(grammar: Any, least: int, chooser: Chooser, rng: random.Random) -> list[str]:
    """What is wrong with the least budget of a grammar, and with one that is lowered midway."""
    faults = []
    bound = grammar.matcher().least_budget()
    if bound < least or walk(grammar, bound, chooser, rng, False).n_tokens > bound:
        faults.append(f"the bound {bound} known without a search does not hold, {least} needed")
    if walk(grammar, least, chooser, rng, False).n_tokens != least:
        faults.append(f"the least budget {least} was not used")
    if least > 1:
        try:
            walk(grammar, least - 1, chooser, rng, False)
            faults.append(f"{least - 1} was taken, and {least} stated as the least")
        except llmask.BudgetError as error:
            if error.least != least:
                faults.append(f"{error.least} stated, before {least}")
    if walk(grammar, least + 50, chooser, rng, True, lowered=True).n_tokens > 100 * least + 1000:
        faults.append("lowered midway it did not come to its end")
    return faults


def measure(compiler: llmask.Compiler, n_grammars: int, n_walks: int, seed: int) -> str:
    """Microseconds of a mask: a table.

    Walks are written once within a budget of MOST tokens, in fresh tables; then the same tokens again, every
    configuration being known, without a budget, with one that is far, and with one that leaves three tokens to spare.
    """
    times: dict[str, list[float]] = {}
    chooser = Chooser(compiler.tokenizer)
    for name, make in subjects(compiler, n_grammars, seed):
        rng = random.Random(f"{seed} {name}")
        grammar = make()
        mask = llmask.allocate_bitmask(1, grammar.tokenizer.vocab_size)

        def timed(matcher: Any, kind: str, budget: int | None, mask: Any = mask) -> None:
            begin = time.perf_counter()
            matcher.fill_bitmask(mask, budget=budget)
            times.setdefault(kind, []).append((time.perf_counter() - begin) * 1e6)

        for i in range(n_walks):
            matcher = grammar.matcher()
            tokens: list[int] = []
            while not matcher.is_terminated():
                timed(matcher, "first time, within 200", max(MOST - len(tokens), 1))
                tokens.append(chooser(mask[0], rng, i % 2 == 1))
                matcher.accept_token(tokens[-1])
            budgets = {"no budget": None, "100,000 tokens left": 100_000, "within 200 again": MOST}
            for kind, budget in budgets.items():
                matcher.reset()
                for place, token in enumerate(tokens):
                    timed(matcher, kind, budget if budget in (None, 100_000) else max(budget - place, 1))
                    matcher.accept_token(token)
            matcher.reset()
            for token in tokens:
                timed(matcher, "three tokens to spare", len(matcher.finishing_tokens()) + 4)
                matcher.accept_token(token)
    rows = []
    for kind, values in times.items():
        values.sort()
        figures = (statistics.fmean(values), values[len(values) // 2], values[len(values) * 99 // 100], values[-1])
        rows.append((kind, len(values), *(f"{figure:,.1f}" for figure in figures)))
    return markdown(("microseconds a mask", "masks", "mean", "median", "99 %", "longest"), rows)


def main() -> int:
    """The command; 1 when something is wrong."""
    parser = argparse.ArgumentParser(prog="python -m bench.budgets", description=__doc__.split("\n\n")[0])
    parser.add_argument("--grammars", type=int, default=100)
    parser.add_argument("--walks", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--vocabulary", metavar="NAME", help="of bench/vocabularies.py; default: the package's own")
    parser.add_argument("--many", action="store_true", help="one walk on each of as many schemas as --walks says")
    parser.add_argument("--bounds", action="store_true", help="of as many of MaskBench's schemas as --grammars says")
    parser.add_argument("--cost", action="store_true", help="measure masks; --walks counts those of each grammar")
    arguments = parser.parse_args()
    if arguments.vocabulary is None:
        tokenizer = llmask.Tokenizer.default()
    else:
        words = vocabulary(arguments.vocabulary)
        tokenizer = llmask.Tokenizer.from_bytes(words.tokens, eos=list(words.eos_ids), special=words.special_ids)
    compiler = llmask.Compiler(tokenizer)
    if arguments.cost:
        print(measure(compiler, arguments.grammars, arguments.walks, arguments.seed))
        return 0
    if arguments.bounds:
        print(bounds(compiler, arguments.grammars, arguments.seed))
        return 0
    if arguments.many:
        counts, faults = check_many(compiler, arguments.walks, arguments.seed)
    else:
        counts, faults = check(compiler, arguments.grammars, arguments.walks, arguments.seed)
    for name, n in counts.items():
        print(f"{n:8,} {name}")
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
