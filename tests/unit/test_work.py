"""Work is counted: the same for the same input, bounded, and never charged for what a store has already."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

import llmask
from llmask import work
from llmask.frontends.json_schema.meaning import negation
from llmask.grammar.token_ranges import token_named
from llmask.kernels.tables import memory
from llmask.store.store import Builder
from llmask.work import active, in_parts, metered, share, spend, unmetered

# Every nested repetition multiplies the derivatives, and with them the members of their unions.
PERIODS = r"(?=(.{7})+$)(?=(.{11})+$)(?=(.{13})+$)(?=(.{17})+$)"


def spent_on(compile_now: Any) -> int:
    """Units that the first meter which compiling begins was charged."""
    meters: list[work.Meter] = []
    begin = work.Meter.__init__

    def noted(self: work.Meter, most: int, limit: str) -> None:
        begin(self, most, limit)
        meters.append(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(work.Meter, "__init__", noted)
        compile_now()
    return meters[0].spent


def test_a_meter_that_is_empty_raises_and_says_which_limit() -> None:
    with metered(10, "max_step_work") as meter:
        spend(10)
        assert meter.spent == 10
        with pytest.raises(llmask.LimitExceeded, match=r"one step takes more than 10 units of work \(limits.max_step_"):
            spend(1)
    spend(1000)  # nobody counts outside


def test_an_outer_meter_rests_and_is_charged_for_a_share() -> None:
    with metered(100, "max_compile_work") as outer:
        with unmetered():
            spend(10**6)
        assert outer.spent == 0
        with pytest.raises(llmask.LimitExceeded), share(4):
            spend(26)
        assert (outer.spent, active.meter) == (26, outer)
        with pytest.raises(llmask.LimitExceeded), share(1):
            spend(75)  # it is never more than what is left
    assert active.meter is None


def walking(n_steps: int, cost: int) -> tuple[list[int], Any]:
    """Something that remembers its steps: those before cost nothing any more; and how many were taken at each call."""
    taken: list[int] = []

    def walk() -> int:
        taken.append(0)
        while sum(taken) < n_steps:
            spend(cost)
            taken[-1] += 1
        return n_steps

    return taken, walk


def test_what_remembers_its_way_is_done_in_parts() -> None:
    taken, walk = walking(100, 500)
    with metered(10**6, "max_step_work") as meter:
        assert in_parts(walk) == 100
    assert len(taken) > 3
    assert max(taken) * 500 < 20_000
    assert 50_000 <= meter.spent <= 50_000 + 500 * len(taken)
    assert active.meter is None
    taken, walk = walking(100, 500)
    assert in_parts(walk) == 100  # nobody counts: nothing says where a part would end
    assert taken == [100]


def test_between_two_parts_another_thread_gets_the_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    # one that had to wake up first was too late, part after part
    monkeypatch.setattr(work, "NAP", 0.05)
    lock, order, is_tried = threading.Lock(), [], threading.Event()
    _, walk = walking(2, 3000)

    def step() -> None:
        is_tried.set()
        with lock:
            order.append("step")

    def part() -> int:
        with lock:
            order.append("part")
            if len(order) == 1:
                thread.start()
                is_tried.wait()
            return walk()

    thread = threading.Thread(target=step)
    with metered(10**6, "max_step_work"):
        in_parts(part)
    thread.join()
    assert order[:3] == ["part", "step", "part"]


def test_parts_end_where_the_meter_does_and_name_its_limit() -> None:
    taken, walk = walking(100, 500)
    with (
        metered(20_000, "max_step_work") as meter,
        pytest.raises(llmask.LimitExceeded, match="more than 20000 units of work"),
    ):
        in_parts(walk)
    assert meter.left < 0
    assert sum(taken) <= 40


def test_another_limit_ends_all_parts() -> None:
    calls: list[int] = []

    def refuse() -> None:
        calls.append(1)
        raise llmask.LimitExceeded("too many nodes", help="take fewer")

    with metered(10**6, "max_compile_work"), pytest.raises(llmask.LimitExceeded, match="too many nodes"):
        in_parts(refuse)
    assert calls == [1]


def test_no_operation_of_a_hostile_pattern_holds_the_store_for_long(
    tiny_tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # the test whether it is empty was one operation, in which no other sequence could take a step
    units: list[int] = []
    run = Builder.run

    def noted(self: Any, *arguments: Any, **others: Any) -> int:
        try:
            return run(self, *arguments, **others)
        finally:
            units.append(int(self.table.slots[memory.BASE.work]) >> memory.TICK_BITS)

    monkeypatch.setattr(Builder, "run", noted)
    compiler = llmask.Compiler(tiny_tokenizer)
    compiler.regex(r"(?=(.{7})+$)(?=(.{11})+$)(?=(.{13})+$)(?=(.{5})+$).*")
    assert compiler.statistics()["work"] > 50_000
    assert max(units) < 25_000


def test_a_meter_belongs_to_its_thread() -> None:
    seen: list[object] = []
    with metered(10, "max_step_work"):
        thread = threading.Thread(target=lambda: seen.append(active.meter))
        thread.start()
        thread.join()
    assert seen == [None]


def test_the_same_schema_takes_the_same_work_and_less_where_it_is_known(tiny_tokenizer: Any) -> None:
    schema = {"type": "string", "pattern": "^(?=.*a)(?=.*b)[a-d]{3,20}$"}
    counts = []
    for _ in range(2):
        compiler = llmask.Compiler(tiny_tokenizer, cache_bytes=0)
        counts.append([spent_on(lambda compiler=compiler: compiler.json_schema(schema)) for _ in range(2)])
    assert counts[0] == counts[1]
    first, again = counts[0]
    assert 0 < again < first


@pytest.mark.parametrize("kind", ["pattern", "search"])
def test_the_work_in_one_emptiness_test_is_bounded(tiny_tokenizer: Any, kind: str) -> None:
    # 200,000 derivatives were allowed, whatever each took: unions of 1,450 members made it 14 s of one call, and 1.2 GB
    compiler = llmask.Compiler(tiny_tokenizer, limits=llmask.Limits(max_compile_work=100_000))
    before = compiler._newest_store().bytes_used
    with pytest.raises(llmask.LimitExceeded, match=r"limits\.max_compile_work"):
        compiler.json_schema({"pattern": PERIODS}) if kind == "pattern" else compiler.regex(PERIODS, method="search")
    assert compiler._newest_store().bytes_used - before < 50 * 2**20
    compiler.json_schema({"const": 1}).matcher().accept_bytes(b"1")


EXCEPT_ONE: dict[str, Any] = {"type": "object", "not": {"const": {"z": 1}}}
DEPENDENT = {f"a{i}": {"properties": {f"b{i}": {"type": "integer"}}} for i in range(120)}
HOSTILE: dict[str, dict[str, Any]] = {
    # beside a whole value, which is no condition on keys: without it these are written (meaning/key_conditions.py)
    "names that are no properties": {**EXCEPT_ONE, "dependentRequired": {f"a{i}": [f"b{i}"] for i in range(20)}},
    "pairs that exclude": {**EXCEPT_ONE, "allOf": [{"not": {"required": [f"a{i}", f"b{i}"]}} for i in range(20)]},
    "told apart by required": {**EXCEPT_ONE, "oneOf": [{"required": [f"k{i}"]} for i in range(80)]},
    "dependent schemas": {**EXCEPT_ONE, "dependentSchemas": DEPENDENT},
    "disjoint patterns": {
        "minProperties": 2,  # so keys are remembered; otherwise these are written (meaning/object_layout.py)
        "patternProperties": {f"^k{i}_": {"type": "integer", "minimum": i} for i in range(160)},
    },
    "conditions on one value": {
        "type": "object",
        "properties": {"kind": {"type": "string"}},
        "allOf": [
            {"if": {"properties": {"kind": {"const": f"v{i}"}}}, "then": {"required": [f"r{i}"]}} for i in range(200)
        ],
    },
    "ranges": {"oneOf": [{"type": "integer", "minimum": 10 * i, "maximum": 10 * i + 15} for i in range(120)]},
    "contains": {"type": "array", "contains": {"type": "integer"}, "minContains": 160},
    "host name": {"type": "string", "pattern": r"^(?=.{1,253}$)(?:(?!-)[a-z0-9-]{1,63}(?<!-)\.)+[a-z]{2,63}$"},
}


@pytest.mark.long
@pytest.mark.parametrize("name", HOSTILE)
def test_what_multiplies_is_refused_within_its_work_and_the_place_is_named(tiny_tokenizer: Any, name: str) -> None:
    # each of these took up to 1.4 s of a compile that held others up before it was refused
    compiler = llmask.Compiler(tiny_tokenizer, limits=llmask.Limits.for_untrusted())

    def compile_now() -> None:
        with pytest.raises(llmask.LimitExceeded) as caught:
            compiler.json_schema(HOSTILE[name])
        assert caught.value.where is not None
        assert caught.value.where.startswith("#")

    assert spent_on(compile_now) <= 1.1 * compiler.limits.max_compile_work


def test_many_dependent_schemas_are_a_condition_on_keys(tiny_tokenizer: Any) -> None:
    # 120 alternatives in one object were refused as nested deeper than 100
    compiler = llmask.Compiler(tiny_tokenizer, limits=llmask.Limits.for_untrusted())
    grammar = compiler.json_schema({"type": "object", "dependentSchemas": DEPENDENT})
    assert grammar.accepts('{"a7":1,"b7":2}')
    assert not grammar.accepts('{"a7":1,"b7":"x"}')


def in_elements(properties: dict[str, Any], **others: Any) -> dict[str, Any]:
    """A structural tag of parameters that are written as elements."""
    schema = {"type": "object", "properties": properties, **others}
    return {"type": "structural_tag", "format": {"type": "qwen_xml_parameter", "json_schema": schema}}


CHAIN = {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(500)} | {"d500": {"type": "integer"}}
FIRST = {"$ref": "#/$defs/d0"}
LONG: dict[str, Callable[[Any], object]] = {
    "references in a row": lambda compiler: compiler.json_schema(
        {"type": "object", "properties": {f"p{n}": FIRST for n in range(500)}, "$defs": CHAIN}
    ),
    "references in a row, closed": lambda compiler: compiler.json_schema(
        {"type": "object", "properties": {f"p{n}": FIRST for n in range(500)}, "$defs": CHAIN}, closed=True
    ),
    "references in alternatives": lambda compiler: compiler.json_schema(
        {"oneOf": [{"properties": {f"p{n}": FIRST for n in range(500)}}, {"required": ["p0"]}], "$defs": CHAIN}
    ),
    "references in a row that are negated": lambda compiler: compiler.json_schema(
        {"type": "object", "properties": {f"p{n}": {"not": dict(FIRST)} for n in range(300)}, "$defs": CHAIN}
    ),
    "choices that are decided one by one": lambda compiler: compiler.json_schema(
        {"allOf": [{"anyOf": [{"type": "object"}, {"type": "string"}]} for _ in range(5000)], "type": "object"}
    ),
    "unknown keywords": lambda compiler: compiler.json_schema({f"k{n:x}w": n for n in range(50_000)}),
    "a long pattern": lambda compiler: compiler.regex("a" * 150_000),
    "many rules in Lark": lambda compiler: compiler.lark(
        "start: r0\n" + "".join(f'r{n}: "a" r{n + 1}\n' for n in range(3000)) + 'r3000: "b"'
    ),
    "many lines in Lark": lambda compiler: compiler.lark("\n" * 400_000 + 'start: "a"'),
    "a long text in Lark": lambda compiler: compiler.lark(f'start: "{"a" * 150_000}"'),
    "many rules in GBNF": lambda compiler: compiler.gbnf(
        "root ::= r0\n" + "".join(f'r{n} ::= "a" r{n + 1}\n' for n in range(8000)) + 'r8000 ::= "b"'
    ),
    "parts that may be empty, counted, in GBNF": lambda compiler: compiler.gbnf(
        f'root ::= ({"x? " * 512}){{2,5}}\nx ::= "a" | "b" x'
    ),
    "parameters that may follow each other": lambda compiler: compiler.structural_tag(
        in_elements({f"p{n}": {"type": "string"} for n in range(8192)}, required=[f"p{n}" for n in range(8192)])
    ),
    "bounded texts beside lists": lambda compiler: compiler.structural_tag(
        in_elements(
            {f"p{n}": {"anyOf": [{"type": "string", "maxLength": n}, {"type": "array"}]} for n in range(50, 150)}
        )
    ),
    "texts that end in many ways": lambda compiler: compiler.structural_tag(
        {
            "type": "structural_tag",
            "format": {
                "type": "or",
                "elements": [
                    {"type": "tag", "begin": f"<{n}>", "content": {"type": "any_text"}, "end": f"</{n}>"}
                    for n in range(700)
                ],
            },
        }
    ),
    "texts before many triggers": lambda compiler: compiler.structural_tag(
        {
            "type": "structural_tag",
            "format": {
                "type": "dispatch",
                "rules": [[f"t{n}.", {"type": "const_string", "value": "a"}] for n in range(270)],
            },
        }
    ),
    "many that may follow in GBNF": lambda compiler: compiler.gbnf("root ::= " + '"a"? ' * 5000),
}


@pytest.mark.parametrize("name", LONG)
def test_what_takes_the_interpreter_long_is_counted(tiny_tokenizer: Any, name: str) -> None:
    # each took seconds, of which hardly anything was counted
    compiler = llmask.Compiler(tiny_tokenizer, limits=llmask.Limits.for_untrusted())

    def compile_now() -> None:
        with pytest.raises(llmask.LimitExceeded, match=r"limits\.max_compile_work"):
            LONG[name](compiler)

    assert spent_on(compile_now) <= 3 * compiler.limits.max_compile_work


def test_cases_are_counted_before_they_are_made(tiny_tokenizer: Any) -> None:
    compiler = llmask.Compiler(tiny_tokenizer, limits=llmask.Limits.for_untrusted())
    schema = {"allOf": [{"properties": {f"p{n}": True}} for n in range(4000)], "unevaluatedProperties": False}

    def compile_now() -> None:
        with pytest.raises(llmask.LimitExceeded, match=r"limits\.max_compile_work"):
            compiler.json_schema(schema)

    assert spent_on(compile_now) <= 1.1 * compiler.limits.max_compile_work


def test_what_is_negated_of_many_items_is_counted_before_it_is_made(
    tiny_tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # the item that is first refused stands after all others, each time: 14,580 took 4.4 s before anything was counted
    made: list[Any] = []
    negated = negation.negated
    monkeypatch.setattr(negation, "negated", lambda *given: made.append(given) or negated(*given))
    compiler = llmask.Compiler(tiny_tokenizer, limits=llmask.Limits.for_untrusted())
    with pytest.raises(llmask.LimitExceeded, match=r"limits\.max_compile_work"):
        compiler.json_schema({"not": {"type": "array", "prefixItems": [{"type": "integer"}] * 14_580}})
    assert 0 < len(made) < 3000


def test_terminals_that_are_extended_again_and_again_are_counted(tiny_tokenizer: Any) -> None:
    compiler = llmask.Compiler(tiny_tokenizer)
    text = 'start: A\nA: "x"\n' + "".join(f'%extend A: "b{n}"\n' for n in range(100))
    assert spent_on(lambda: compiler.lark(text)) > 40_000


def test_a_search_for_a_token_by_its_name_is_counted() -> None:
    tokens = [b"%d" % n for n in range(12_800)]
    table = llmask.Tokenizer.from_bytes(tokens, eos=0)
    with work.metered(250, "max_compile_work"):
        assert [token_named(table, "7"), token_named(table, "77")] == [7, 77]
        with pytest.raises(llmask.LimitExceeded):
            token_named(table, "777")
