"""Memory while 10,000 different schemas go through one compiler, and what the first thousand cost.

MaskBench's schemas in an order drawn with a fixed seed, then variations of them: properties renamed (in documents too),
bounds moved, so that no two are equal in text or structure. Each is compiled, one document is fed mask by mask until
the end or the first refusal, then the grammar is dropped; the compiler remembers what it likes, as by default.

Apart, in processes of their own: 25,000 small schemas of tenants, which share all but their names; what a tokenizer and
a compiler cost, and 1,000 compiled schemas that are all kept; what budgets add to 149 grammars that are kept; and 900
schemas of strangers, within `Limits.for_untrusted()` and budgets.

In: effort. Out: a table by number of schemas. Cost: five minutes at effort 1.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from bench.scaling.corpus import Row, instance_text, llama3_encoder, maskbench_rows
from bench.scaling.resident import MIB, alone, resident_mib
from bench.scaling.results import Plot, Result, Table, Target
from bench.scaling.sides import LlguidanceSide, LlmaskSide, Refused, Side

N_SCHEMAS = 10_000
EVERY = 500
N_KEPT = 1_000
N_SMALL = 25_000
N_BUDGETED = 149
N_STRANGERS = 900
BUDGET = 100
COLUMNS = ["engine", "schemas", "resident", "store", "compiled", "tokens"]
BOUNDS = ("minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems")


def variation(schema: Any, draw: random.Random, names: dict[str, str]) -> Any:
    """A schema of the same shape with other names of properties and other bounds."""
    if isinstance(schema, list):
        return [variation(item, draw, names) for item in schema]
    if not isinstance(schema, dict):
        return schema
    made: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "properties" and isinstance(value, dict):
            for name in value:
                names.setdefault(name, f"{name}_{draw.randrange(10**6)}")
            made[key] = {names[name]: variation(inner, draw, names) for name, inner in value.items()}
        elif key == "required" and isinstance(value, list):
            for name in value:
                names.setdefault(name, f"{name}_{draw.randrange(10**6)}")
            made[key] = [names[name] for name in value]
        elif key in BOUNDS and type(value) is int:
            made[key] = value + draw.randint(0, 50) if key.startswith("max") else max(0, value - draw.randint(0, 1))
        elif key in ("const", "enum", "default", "examples"):
            made[key] = value
        else:
            made[key] = variation(value, draw, names)
    return made


def renamed(data: Any, names: dict[str, str]) -> Any:
    """A document with its keys renamed."""
    if isinstance(data, list):
        return [renamed(item, names) for item in data]
    if isinstance(data, dict):
        return {names.get(key, key): renamed(value, names) for key, value in data.items()}
    return data


def schemas(rows: list[Row], n: int) -> Iterator[tuple[Any, list[int]]]:
    """(schema, tokens of a document or nothing), `n` times."""
    encode = llama3_encoder()
    order = list(range(len(rows)))
    random.Random(8).shuffle(order)
    for i in range(n):
        row: Row = rows[order[i % len(order)]]
        valid = [instance for instance in row.instances if instance.is_valid]
        if i < len(order):
            yield row.schema, valid[0].token_ids if valid else []
        else:
            names: dict[str, str] = {}
            schema = variation(row.schema, random.Random(i), names)
            yield schema, encode(instance_text(renamed(valid[0].data, names))) if valid else []


def walk(side: Side, schema: Any, tokens: list[int]) -> tuple[Any, int]:
    """The grammar, or None where it is refused, and how many tokens of the document were taken."""
    try:
        grammar = side.compile(schema)
    except Refused:
        return None, 0
    return grammar, follow(side, grammar, tokens)


def follow(side: Side, grammar: Any, tokens: list[int]) -> int:
    """How many tokens of a document were taken, each with a mask."""
    n_taken = 0
    with suppress(Refused):
        sequence = side.start(grammar)
        for token in tokens:
            side.fill(sequence)
            if not side.is_allowed(token):
                break
            side.accept(sequence, token)
            n_taken += 1
    return n_taken


def many(engine: str, n: int) -> list[list[Any]]:
    """Rows of the table; llmask's compiler has its default memory of what it compiled."""
    import llmask

    data = maskbench_rows()
    side: Side = LlmaskSide() if engine == "llmask" else LlguidanceSide()
    if isinstance(side, LlmaskSide):
        side.compiler = llmask.Compiler(side.tokenizer)
    rows: list[list[Any]] = []
    n_compiled = n_tokens = 0
    for i, (schema, tokens) in enumerate(schemas(data, n)):
        if i % EVERY == 0:
            rows.append([engine, i, resident_mib(), _store_mib(side), n_compiled, n_tokens])
        grammar, n_taken = walk(side, schema, tokens)
        n_compiled += grammar is not None
        n_tokens += n_taken
    rows.append([engine, n, resident_mib(), _store_mib(side), n_compiled, n_tokens])
    return rows


def small(n: int) -> list[list[Any]]:
    """Rows of the table of small schemas; the compiler has its default memory of what it compiled."""
    import llmask

    compiler = llmask.Compiler(llmask.Tokenizer.default())
    rows = []
    for i in range(n + 1):
        properties = {"id": {"const": f"tenant{i}"}, "name": {"type": "string"}, "n": {"type": "integer"}}
        compiler.json_schema({"type": "object", "properties": properties, "required": ["id", "name"]})
        if i % max(n // 10, 1) == 0:
            rows.append([i, resident_mib(), compiler._newest_store().bytes_used / MIB])
    return rows


def _store_mib(side: Side) -> float | None:
    """MiB of llmask's store of the moment."""
    return side.compiler._newest_store().bytes_used / MIB if isinstance(side, LlmaskSide) else None


def first_costs(engine: str, n_kept: int) -> list[float]:
    """MiB: with the benchmark's data, with tokenizer and compiler, with `n_kept` grammars compiled, walked and kept."""
    data = maskbench_rows()
    llama3_encoder()("a")
    before = resident_mib()
    side: Side = LlmaskSide() if engine == "llmask" else LlguidanceSide()
    started = resident_mib()
    kept: list[Any] = []
    for schema, tokens in schemas(data, N_SCHEMAS):
        grammar, _ = walk(side, schema, tokens)
        if grammar is not None:
            kept.append(grammar)
        if len(kept) == n_kept:
            break
    return [before, started, resident_mib()]


def budgeted(n: int) -> list[list[Any]]:
    """Rows of the table of budgets: resident memory after each step, and what the grammars say that they take."""
    side = LlmaskSide()
    grammars: list[tuple[Any, list[int]]] = []
    rows = [["tokenizer and compiler", resident_mib(), 0.0, 0.0]]
    for schema, tokens in schemas(maskbench_rows(), N_SCHEMAS):
        grammar, _ = walk(side, schema, tokens)
        if grammar is not None:
            grammars.append((grammar, tokens))
        if len(grammars) == n:
            break

    def add(step: str) -> None:
        used = sum(grammar.bytes_used for grammar, _ in grammars) / MIB
        rows.append([step, resident_mib(), used, side.compiler._newest_store().bytes_used / MIB])

    add(f"{n} grammars, a document each")
    for budget in (None, BUDGET):
        side.budget = budget
        for grammar, tokens in grammars:
            follow(side, grammar, tokens)
        add("the same documents again" if budget is None else f"and again within a budget of {budget}")
    for grammar, _ in grammars:
        grammar.matcher().least_budget()
    add("least_budget() of each")
    return rows


def strangers(n: int) -> list[list[Any]]:
    """Rows of the table of strangers' schemas: new ones, each with a document within a budget."""
    import llmask

    side = LlmaskSide(budget=BUDGET)
    side.compiler = llmask.Compiler(side.tokenizer, limits=llmask.Limits.for_untrusted())
    rows = []
    for i, (schema, tokens) in enumerate(schemas(maskbench_rows(), n + 1)):
        if i % max(n // 9, 1) == 0:
            rows.append([i, resident_mib(), side.compiler.statistics()["cache_bytes"] / MIB, _store_mib(side)])
        grammar, _ = walk(side, schema, tokens)
        if grammar is not None:
            with suppress(llmask.LlmaskError):
                grammar.matcher().least_budget()
    return rows


def study(effort: float) -> Result:
    n = max(int(N_SCHEMAS * effort), 2 * EVERY)
    n_kept = max(int(N_KEPT * effort), 10)
    n_budgeted, n_strangers = (max(int(most * effort), 9) for most in (N_BUDGETED, N_STRANGERS))
    table = Table("MiB after n schemas through one compiler", COLUMNS)
    costs = Table(
        f"MiB of a process with the benchmark's data: then Llama 3's vocabulary, then {n_kept:,} grammars, all kept",
        ["engine", "before", "tokenizer", "with grammars", "tokenizer alone", "grammars alone"],
    )
    plot = Plot("resident", "schemas", "MiB", {}, log_x=False, log_y=False)
    for engine in ("llmask", "llguidance"):
        rows = alone(many, engine, n)
        table.rows += rows
        x = [float(row[1]) for row in rows]
        plot.lines[f"{engine} resident"] = (x, [row[2] for row in rows])
        if engine == "llmask":
            plot.lines["llmask store"] = (x, [row[3] for row in rows])
        before, started, full = alone(first_costs, engine, n_kept)
        costs.rows.append([engine, before, started, full, started - before, full - started])
    few = Table(
        "MiB after n small schemas through one compiler, the default vocabulary", ["schemas", "resident", "store"]
    )
    few.rows = alone(small, max(int(N_SMALL * effort), 10))
    ends = Table(
        f"MiB with {n_budgeted} grammars that are kept, and a budget of {BUDGET} in every mask",
        ["after", "resident", "of the grammars", "store"],
    )
    ends.rows = alone(budgeted, n_budgeted)
    foreign = Table(
        "MiB after n schemas through one compiler with limits for strangers, a document of each within a budget",
        ["schemas", "resident", "cache", "store"],
    )
    foreign.rows = alone(strangers, n_strangers)
    ours = [row for row in table.rows if row[0] == "llmask"]
    # renewed stores make a saw-tooth: the highest tooth counts, not the place in it where a tenth is reached
    first, later = ([row[2] for row in ours if (row[1] > n / 10) is after] for after in (False, True))
    targets = [
        Target("most resident after the first tenth / most until then", max(later) / max(first), 1.1),
        Target("the same of small schemas", few.rows[-1][1] / few.rows[1][1], 1.15),
        Target(f"MiB of the vocabulary and {n_kept:,} grammars", costs.rows[0][3] - costs.rows[0][1], 600),
        Target(f"MiB that a budget adds to {n_budgeted} grammars", ends.rows[3][1] - ends.rows[2][1], 60),
        Target("MiB that least_budget() adds", ends.rows[4][1] - ends.rows[3][1], 30),
        Target(f"MiB with {n_strangers} schemas of strangers", max(row[1] for row in foreign.rows), 500),
    ]
    return Result([table, few, costs, ends, foreign], [plot], targets)
