"""The duel of masks: what a text has written, groups, judge, proofs, rules; two engines of which one is wrong."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jsonschema", reason="it is the judge: pip install '.[test]'")
pytest.importorskip("regex", reason="it tells beginnings of a pattern's texts: pip install '.[test]'")

from bench.data import Instance, Row, own_rows
from bench.duel import partial, report, rules, unchecked
from bench.duel.beginnings import alternatives, can_match
from bench.duel.complete import Donors, documents, dumps
from bench.duel.dead import Prover
from bench.duel.groups import CONTROL, END, FEW, MAX_GROUPS, Grouping, signature
from bench.duel.judge import Referee
from bench.duel.partial import NotJson, read, whole
from bench.duel.places import Duel
from bench.duel.settle import ALLOWS, FORBIDS, NO_JUDGE, RULE, UNSETTLED, Settler, is_inside_value
from bench.duel.walker import Walker
from bench.engines.llmask import Llmask
from bench.json_scan import Scan

PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 3}, "age": {"type": "integer"}},
    "required": ["name"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def llmask_engine() -> Llmask:
    return Llmask("flexible", "default")


# What a text has written


@pytest.mark.parametrize(
    ("text", "state", "path"),
    [
        (b"", partial.VALUE, ()),
        (b'{"a', partial.KEY_OPEN, ()),
        (b'{"a"', partial.COLON, ("a",)),
        (b'{"a": [1, {"b": "x', partial.STRING_OPEN, ("a", 1, "b")),
        (b"[1, 2", partial.NUMBER_OPEN, (1,)),
        (b"[tr", partial.LITERAL_OPEN, (0,)),
        (b"[]", partial.END, ()),
        (b'"\xc3', partial.STRING_OPEN, ()),
        (b'"\\u00', partial.STRING_OPEN, ()),
    ],
)
def test_a_text_is_read_as_far_as_it_goes(text: bytes, state: str, path: tuple[str | int, ...]) -> None:
    found = read(text)
    assert (found.state, found.path()) == (state, path)


@pytest.mark.parametrize(
    "text", [b"01", b"{1", b"[,", b'"\x00', b'"\\x', b"nul ", b"NaN", b"1 2", b"[1}", b'{"a" 1', b"\xff", b"-a", b"1.,"]
)
def test_what_begins_no_json_is_told(text: bytes) -> None:
    with pytest.raises(NotJson):
        read(text)


def test_reading_goes_on_where_a_beginning_ended() -> None:
    text = '{"a": [1, "\u00e9\\u00e9", {"b": -1.5e3}], "c": "x", "d": true} '.encode()
    before = read(b"")
    for n_bytes in range(1, len(text) + 1):
        after = read(text[:n_bytes], before)
        assert after == read(text[:n_bytes]), text[:n_bytes]
        before = after
    assert before.value == whole(text)


def test_whole_documents_have_no_key_twice() -> None:
    assert whole(b'{"a": [1.50, "\\u0041"]}') == {"a": [1.5, "A"]}
    for text in (b'{"a": 1, "a": 2}', b"[1", b"-"):
        with pytest.raises(NotJson):
            whole(text)


# Groups


def test_tokens_that_do_the_same_are_one_group() -> None:
    tokens = [b"ab", b"cd", b"12", b'"', b'",', b"\\n", b"\xc3", b"<end>", b"<pad>", b"", b"xyz", b"qq"]
    grouping = Grouping(tokens, (7,), [7, 8])
    scan = Scan().read(b'{"a": "')
    found, left_out = grouping.groups(scan, np.arange(len(tokens)))
    by_token = {token: group.signature for group in found for token in group.tokens}
    letters = next(group for group in found if group.tokens[0] == 0)
    assert (letters.n_tokens, left_out) == (4, 0)
    assert letters.n_tokens >= FEW
    assert by_token[7][:1] == END
    assert by_token[8][:1] == CONTROL == by_token[9]
    assert len(found) == 9
    for text in (b'"', b'",', b"12", b"\\n", b"\xc3"):
        assert signature(scan, text) != signature(scan, b"ab"), text


def test_groups_of_a_place_are_bounded() -> None:
    signs = b"{}[]:,-+"
    tokens = [bytes([one, two, three]) for one in signs for two in signs for three in signs]
    found, left_out = Grouping(tokens, (), []).groups(Scan(), np.arange(len(tokens)))
    assert len(found) == MAX_GROUPS
    assert left_out == len(tokens) - sum(group.n_tokens for group in found) > 0


# The judge


def test_the_judge_finds_a_witness_or_none() -> None:
    referee = Referee(PERSON)
    donors = Donors(PERSON, {"name": "Ann", "age": 3})

    def witnesses(text: bytes) -> list[bytes]:
        return [document for document in documents(text, read(text), donors) if referee.accepts(document)]

    assert b'{"name": "Ann", "age": 3}' in witnesses(b'{"na')
    assert witnesses(b'{"age": 4, ')
    assert witnesses(b'{"name": "A')
    assert not witnesses(b'{"x')
    assert not witnesses(b'{"name": "Annie')
    assert not referee.accepts(b'{"name": "a", "name": "b"}')


def test_formats_without_a_judge_are_noted() -> None:
    referee = Referee({"type": ["string", "array"], "format": "email"})
    assert referee.accepts(b'"nobody"')
    assert referee.formats.noted == {"nobody"}
    referee = Referee({"format": "date-time"})
    assert referee.accepts(b'"2024-02-29T10:00:00Z"')
    assert not referee.accepts(b'"2023-02-29T10:00:00Z"')
    assert not referee.formats.noted
    assert referee.accepts(b'"2023-02-28T10:00:60Z"')
    assert referee.formats.noted
    assert Referee({"format": "int32"}).accepts(b'"x"')
    assert not Referee({"format": "ipv6"}).accepts(b'"1:2"')


@pytest.mark.parametrize(
    ("schema", "dead", "alive"),
    [
        ({"type": "object"}, b"[", b"{"),
        ({"type": "integer"}, b'"', b"1."),
        ({"enum": ["ab", 12]}, b'"b', b'"a'),
        ({"enum": [{"a": 1, "b": 2}]}, b'{"a": 2,', b'{"b": 2,'),
        ({"enum": ["\u00e9"]}, b'"\xc2', b'"\xc3'),
        ({"enum": ["\u00e9"]}, b'"\\u00e8', b'"\\u00e'),
        ({"enum": ["a"]}, b'"a\\', b'"\\'),
        ({"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer"}, b"1e", b"1"),
        (PERSON, b'{"b', b'{"n'),
        (PERSON, b'{"name": 1,', b'{"name": "a",'),
        (PERSON, b'{"name": "abcd', b'{"name": "abc'),
        (PERSON, b'{"age": 1}', b'{"age": 1, '),
        ({"pattern": "^a+$"}, b'"ab', b'"aa'),
        ({"pattern": "^a+$|^b$"}, b'"bb', b'"b'),
        ({"format": "date"}, b'"2024-13', b'"2024-1'),
        ({"format": "date"}, b'"2024-01-01\\', b'"2024-01-0\\'),
        ({"items": {"type": "null"}, "maxItems": 2}, b"[1,", b"[n"),
        ({"maxItems": 1}, b"[1,", b"[1"),
        ({"uniqueItems": True}, b"[1, 1,", b"[1, 1"),
        ({"anyOf": [{"type": "null"}, {"const": 3}]}, b'"', b"3"),
        ({"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"type": "null"}}}, b"t", b"n"),
        ({"minimum": 1}, b"-", b"0"),
        ({"patternProperties": {"^a": True}, "additionalProperties": False}, b'{"b', b'{"a'),
        ({"propertyNames": {"maxLength": 1}}, b'{"ab":', b'{"a":'),
        ({"not": {"properties": {"a": {"const": 1}}, "required": ["a"]}}, b'{"a": 1,', b'{"a": 2,'),
        ({"not": {"properties": {"a": {"const": 1}}}}, b'{"a": 1,', b'{"b": 2,'),
        ({"maxProperties": 1}, b'{"a": 1, ', b'{"a": 1'),
    ],
)
def test_what_can_no_longer_be_valid_is_proved(schema: Any, dead: bytes, alive: bytes) -> None:
    prover = Prover(Referee(schema))
    assert prover.reason(read(dead))
    assert prover.reason(read(alive)) is None


def test_no_beginning_of_a_valid_document_is_called_dead() -> None:
    n_beginnings = 0
    for row in own_rows():
        if row.kind != "schema":
            continue
        referee = Referee(row.schema)
        prover = Prover(referee)
        for instance in row.instances:
            text = dumps(instance.data).encode()
            if not instance.is_valid or not referee.accepts(text):
                continue
            for n_bytes in range(min(len(text), 400) + 1):
                n_beginnings += 1
                assert prover.reason(read(text[:n_bytes])) is None, (row.id, text[:n_bytes])
    assert n_beginnings > 1_000


def test_nothing_is_proved_where_references_lead_elsewhere() -> None:
    schema = {"type": "null", "$defs": {"a": {"$id": "https://example.com/a"}}}
    assert Prover(Referee(schema)).reason(read(b"1")) is None


def test_only_anchored_patterns_are_asked_for_beginnings() -> None:
    assert alternatives(r"^a[|]\||(b|c)") == [r"^a[|]\|", "(b|c)"]
    assert not can_match("(?a:^ab)", "b")
    assert can_match("(?a:^ab)", "a")
    assert can_match("(?a:ab)", "b")


# Rules


@pytest.mark.parametrize(
    ("schema", "witness", "end", "rule"),
    [
        ({"type": "array"}, b"[" + b" " * 70 + b"1]", 71, rules.WHITE_SPACE),
        ({"enum": ["ab"]}, b'"\\u0061b"', 7, rules.ESCAPES),
        ({"type": "integer", "minimum": 5}, b"1e1", 2, rules.NUMBERS),
        ({"enum": [["ab", 1000]]}, b'["\\u0061b", 1e3]', 14, rules.SPELLINGS),
        (PERSON, b'{"age": 1, "name": "a"}', 4, rules.ORDER),
        ({"type": "string"}, b'"\x7f"', 2, rules.DELETE),
        ({"type": "string"}, b'"\\ud800"', 7, rules.HALF_PAIR),
        ({"type": "integer"}, b"12", 1, rules.ONE_TOKEN),
    ],
)
def test_each_rule_has_a_witness_of_its_own(
    llmask_engine: Llmask, schema: Any, witness: bytes, end: int, rule: str
) -> None:
    found = rules.Rules(llmask_engine, llmask_engine.compile(schema), [["name", "age"]])
    assert found.excuse(witness, end) == rule


def test_a_value_that_is_taken_in_no_form_is_no_matter_of_rules(llmask_engine: Llmask) -> None:
    for schema, witness in (
        ({"type": "integer", "minimum": 20}, b"1e1"),
        ({"enum": ["b"]}, b'"\\u0061"'),
        (PERSON, b'{"x": 1, "name": "a"}'),
        ({"maxItems": 0}, b"[ 1]"),
    ):
        found = rules.Rules(llmask_engine, llmask_engine.compile(schema), [["name"]])
        assert found.excuse(witness, len(witness)) is None


def test_forms_change_what_the_token_touches_by_one_feature() -> None:
    document = b'{"\\u0061" :1.0,"b":[2.0 ,"\\/"]}'
    end = document.index(b',"b"') + 1
    assert rules.written(document, end, ()) == b'{"\\u0061" :1.0, "b": [2, "/"]}'
    assert rules.written(document, end, (rules.WHITE_SPACE,)) == b'{"\\u0061": 1.0, "b": [2, "/"]}'
    assert rules.written(document, end, (rules.ESCAPES,)) == b'{"a" :1.0, "b": [2, "/"]}'
    assert rules.written(document, end, (rules.NUMBERS,)) == b'{"\\u0061" :1, "b": [2, "/"]}'
    assert rules.written(document, end, rules.ALL) == dumps(whole(document)).encode()


# Duels


class Otherwise(Llmask):
    """An engine that reads another schema than it is given."""

    name = "otherwise"
    instead: Any = None

    def compile(self, grammar: Any, kind: str = "schema") -> Any:
        return super().compile(self.instead or grammar, kind)


def duel(ours: Llmask, schema: Any, instead: Any, text: str, data: Any) -> list[Any]:
    theirs = Otherwise("flexible", "default")
    theirs.instead = instead
    token_ids = ours.tokenizer.encode(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = Duel(ours, theirs).row(Row("case", schema, [Instance(True, data, token_ids)]))
    assert found.status == "compared"
    return found.findings


def test_an_engine_that_forbids_what_is_valid_is_found(llmask_engine: Llmask) -> None:
    findings = duel(llmask_engine, {"type": ["integer", "boolean"]}, {"type": "integer"}, "12", 12)
    assert {(finding.kind, finding.who) for finding in findings} == {(FORBIDS, "otherwise")}
    assert {finding.document for finding in findings} == {"true", "false"}


def test_an_engine_that_allows_what_is_invalid_is_found(llmask_engine: Llmask) -> None:
    findings = duel(llmask_engine, {"type": "integer"}, {"type": ["integer", "boolean"]}, "12", 12)
    assert {(finding.kind, finding.who) for finding in findings} == {(ALLOWS, "otherwise")}
    reasons = {finding.why for finding in findings}
    assert reasons == {"boolean where integer is asked for", "the document is complete and not valid"}


def test_what_llmask_gets_wrong_is_llmask_s(llmask_engine: Llmask, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = llmask_engine.compile
    monkeypatch.setattr(llmask_engine, "compile", lambda schema: compiled({"enum": ["a", 1]}))
    findings = duel(llmask_engine, {"enum": ["a", "b"]}, {"enum": ["a", "b"]}, '"a"', "a")
    assert {(finding.kind, finding.who) for finding in findings} == {(ALLOWS, "llmask"), (FORBIDS, "llmask")}


@pytest.mark.parametrize(
    ("text", "token", "is_inside"),
    [
        (b'{"a": ', b"tr", True),
        (b'{"a": ', b"true", True),
        (b'{"a": ', b"[1", True),
        (b'{"a": ', b'{"', False),
        (b'{"a": "', b'b"', True),
        (b'{"a": "', b'b",', False),
        (b'{"a": "', b'b"}', False),
        (b'{"a', b'b"', False),
    ],
)
def test_orders_are_tried_where_a_token_leaves_a_value(text: bytes, token: bytes, is_inside: bool) -> None:
    assert is_inside_value(read(text), read(text + token)) is is_inside


def test_another_order_is_a_rule(llmask_engine: Llmask) -> None:
    reordered = PERSON | {"properties": dict(reversed(PERSON["properties"].items()))}  # type: ignore[attr-defined]
    findings = duel(llmask_engine, PERSON, reordered, '{"name": "a"}', {"name": "a"})
    assert {(finding.kind, finding.why) for finding in findings} == {(RULE, rules.ORDER)}


def test_a_format_without_a_judge_decides_nothing(llmask_engine: Llmask) -> None:
    schema = {"type": "string", "format": "email"}
    findings = duel(llmask_engine, schema, {"type": "string"}, '"a@example.com"', "a@example.com")
    assert NO_JUDGE in {finding.kind for finding in findings}
    assert {finding.who for finding in findings if finding.kind == FORBIDS} == set()


def test_ends_are_judged_by_the_document_at_hand(llmask_engine: Llmask) -> None:
    schema = {"type": "integer", "minimum": 10_000}
    findings = duel(llmask_engine, schema, {"type": "integer"}, "1234567", 1_234_567)
    ends = [finding for finding in findings if finding.token_id in llmask_engine.eos_ids]
    assert ends
    assert {(finding.kind, finding.who) for finding in ends} == {(ALLOWS, "otherwise")}


def test_an_engine_writes_an_end_under_its_masks(llmask_engine: Llmask) -> None:
    vocabulary = llmask_engine.vocabulary
    walker = Walker(vocabulary.tokens, vocabulary.eos_ids, vocabulary.special_ids)
    sequence = llmask_engine.start(llmask_engine.compile(PERSON))
    document = walker.walked(llmask_engine, sequence, b"")
    assert document is not None
    assert Referee(PERSON).accepts(document)


def test_what_an_engine_says_it_does_not_check_is_a_rule() -> None:
    class Duelists:
        """What a settler asks of a duel."""

        class ours:  # noqa: N801
            compiler = None

        class theirs:  # noqa: N801
            name = "glrmask"

    schema = {"type": "string", "pattern": "^a*$", "maxLength": 2}
    Duelists.ours.compiler = type("Refusing", (), {"json_schema": _refuse})()
    settler = Settler(Duelists(), schema, Referee(schema), {})
    assert settler._unchecked(Duelists.theirs, [b'"aaa"']) == unchecked.PATTERN_LENGTH
    assert settler._unchecked(Duelists.theirs, [b'"bbb"']) == ""
    assert settler._unchecked(Duelists.ours, [b'"aaa"']) == ""


def test_only_keywords_are_left_out() -> None:
    class Engine:
        name = "xgrammar"
        options = {"any_order": True}  # noqa: RUF012

    schema = {"required": ["a"], "properties": {"required": {"type": "null"}}}
    [(rule, judge)] = unchecked.relaxed(Engine, schema)
    assert rule == unchecked.PRESENCE
    assert judge.accepts(b"{}")
    assert not judge.accepts(b'{"required": 1}')
    Engine.options = {}
    assert unchecked.relaxed(Engine, schema) == []


def _refuse(*_arguments: Any, **_options: Any) -> None:
    import llmask

    raise llmask.GrammarError("none")


def test_tables_count_what_was_found() -> None:
    finding: dict[str, Any] = {
        "kind": UNSETTLED,
        "who": "other",
        "why": "",
        "schema": "a",
        "text": "[",
        "token": "1",
        "document": "[1]",
        "n_tokens": 1,
        "n_positions": 1,
    }
    rule = finding | {"kind": RULE, "who": "llmask", "why": rules.ORDER}
    wrong = finding | {"kind": FORBIDS}
    results: list[dict[str, Any]] = [
        {"schema": "a", "status": "compared", "counts": {"positions": 4, "identical": 1}, "findings": [finding, rule]},
        {"schema": "b", "status": "too slow", "counts": {}, "findings": []},
        {"schema": "c", "status": "compared", "counts": {"positions": 1}, "findings": [wrong, wrong]},
    ]
    table = report.table("llmask", "other", results)
    for line in (
        "| schemas compared | 2 of 3 |",
        "| too slow | 1 |",
        "| settled | 75.0 % |",
        "| other forbids too much | 2 | 1 |",
        f"| rule of llmask: {rules.ORDER} | 1 | 1 |",
        "| unsettled | 1 | 1 |",
    ):
        assert line in table.splitlines(), line
    cases = report.cases("llmask", "other", results)
    assert "wrong: other forbids too much" in cases
    assert "after '[' the token '1'" in cases
