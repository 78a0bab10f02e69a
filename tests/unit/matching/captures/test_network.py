"""llmask/matching/captures/network.py: rules as states and edges."""

from __future__ import annotations

from llmask.grammar.expressions import Grammar, Lexeme, Reference, Repeat, choice, sequence
from llmask.matching.captures.network import CALL, SKIP, Counter, Network
from tests.reference.both_nodes import make_nodes


def test_counted_parts_are_networks_of_their_own() -> None:
    nodes = make_nodes("compiled")
    a, maybe = Lexeme(nodes.literal(b"a"), '"a"'), Lexeme(nodes.repeat(nodes.literal(b"b"), 0, 1), "/b?/")
    counted, loose = Repeat(a, 2, 5), Repeat(maybe, 3, 7)
    network = Network(nodes, Grammar({"start": sequence([counted, counted, loose])}))
    network.start_of("start")
    assert network.counters == {counted: Counter(2, 5), loose: Counter(0, 7)}
    assert [edge.kind for edges in network.edges for edge in edges].count(CALL) == 3 + 2


def test_options_keep_their_order() -> None:
    nodes = make_nodes("compiled")
    grammar = Grammar({"start": choice([Reference("a"), Reference("b")]), "a": sequence([]), "b": sequence([])})
    network = Network(nodes, grammar)
    first = network.edges[network.start_of("start")]
    assert [edge.kind for edge in first] == [SKIP, SKIP]
    assert [network.edges[edge.target][0].what for edge in first] == ["a", "b"]
    assert all(name in network.nullable for name in ("start", "a", "b"))
