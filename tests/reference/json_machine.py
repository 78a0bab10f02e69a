"""The JSON spellings of what a machine of regex/machines.py accepts, as one node."""

from __future__ import annotations

from llmask.frontends.regex.json_strings import style_of
from llmask.frontends.regex.machines import Machine, automaton, node_of
from llmask.regex.nodes import RegexNodes


def json_machine(nodes: RegexNodes, machine: Machine) -> int:
    """Node of the JSON spellings, without quotes, of the texts that a machine accepts."""
    return node_of(nodes, automaton(machine, style_of(nodes)))
