"""Special tokens in place of marks, and sections of reasoning."""

from __future__ import annotations

from typing import Any

import pytest

import llmask
from llmask.frontends.tools import Arguments, Marks, Writing, harmony_tag
from llmask.frontends.tools.requests import Pattern, Tool
from tests.contract.tool_calls import ARGUMENTS, CALLS, TOOLS

MARKS = [
    b"<|call|>",
    b"<|return|>",
    b"[TOOL_CALLS]",
    b"<|channel|>",
    b"<|message|>",
    b"<|constrain|>",
    b"<|python_tag|>",
]
FIRST = 257
EOS = [256, FIRST + MARKS.index(b"<|call|>"), FIRST + MARKS.index(b"<|return|>")]


@pytest.fixture(scope="module")
def special() -> llmask.Compiler:
    """Over single bytes and some special tokens."""
    tokens = [bytes([byte]) for byte in range(256)] + [b"</s>", *MARKS]
    return llmask.Compiler(
        llmask.Tokenizer.from_bytes(tokens, eos=EOS, special=[256, *range(FIRST, FIRST + len(MARKS))])
    )


def ids(text: str) -> list[int]:
    """Tokens of a text, marks as the special tokens."""
    found: list[int] = []
    data = text.encode()
    while data:
        mark = next((mark for mark in MARKS if data.startswith(mark)), None)
        found.append(data[0] if mark is None else FIRST + MARKS.index(mark))
        data = data[1 if mark is None else len(mark) :]
    return found


def takes(grammar: Any, text: str) -> bool:
    matcher = grammar.matcher()
    return bool(matcher.validate_tokens(ids(text)) == len(ids(text)))


def test_marks_are_told_apart() -> None:
    writing = Writing(Marks(lambda name: name == "<a>", lambda name: False), ("<a>", "<b>"))
    form = writing.row(["x<a><b>", Pattern("[0-9]"), ""])
    assert [part["type"] for part in form["elements"]] == ["const_string", "token", "const_string", "regex"]
    assert [writing.first_text(part) for part in ("x<a>y", "<a>x", "<b>x", "xy")] == ["x", "", "<b>", "xy"]
    assert writing.row([""]) == {"type": "sequence", "elements": [{"type": "const_string", "value": ""}]}
    assert writing.text_without(["<a>", "<b>"]) == {"type": "any_text", "excludes": ["<b>"]}


@pytest.mark.parametrize("choice", ["auto", "required"])
def test_special_tokens_are_meant_where_there_are_any(special: llmask.Compiler, choice: str) -> None:
    grammar = special.tools(TOOLS, "mistral", choice)
    assert takes(grammar, CALLS["mistral"])
    assert grammar.accepts(CALLS["mistral"]) == (choice == "auto")  # there, it is text
    assert takes(grammar, "Yes. " + CALLS["mistral"] + " Done.") == (choice == "auto")


def test_text_without_calls_holds_no_mark(special: llmask.Compiler) -> None:
    assert not takes(special.tools(TOOLS, "mistral", "none"), "a[TOOL_CALLS]")
    assert takes(special.tools(TOOLS, "mistral", "none"), "a [TOOL")


def test_a_prefix_may_stand_before_calls(special: llmask.Compiler) -> None:
    for choice in ("auto", "required"):
        grammar = special.tools(TOOLS, "llama-3", choice)
        assert takes(grammar, "<|python_tag|>" + CALLS["llama-3"])
        assert takes(grammar, CALLS["llama-3"])
        assert not takes(grammar, "<|python_tag|>x")


def test_a_mark_that_ends_a_sequence_is_the_end(special: llmask.Compiler) -> None:
    grammar = special.tools(TOOLS, "gpt-oss", "required")
    matcher = grammar.matcher()
    matcher.accept_tokens(ids(CALLS["gpt-oss"]))
    assert matcher.is_terminated()
    matcher = special.tools(TOOLS, "gpt-oss").matcher()
    matcher.accept_tokens(ids("<|channel|>final<|message|>Hello.<|return|>"))
    assert matcher.is_terminated()


def test_harmony_has_messages_before_the_last_one(compiler: llmask.Compiler) -> None:
    analysis = "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant"
    final = "<|channel|>final<|message|>Hello.<|return|>"
    call = CALLS["gpt-oss"]
    taken = {
        reasoning: [
            compiler.tools(TOOLS, "gpt-oss", reasoning=reasoning).accepts(text)
            for text in (final, analysis + final, analysis + analysis + call, "Hm.<|end|><|start|>assistant" + final)
        ]
        for reasoning in (False, "optional", True, "open")
    }
    assert taken == {
        False: [True, False, False, False],
        "optional": [True, True, True, False],
        True: [False, True, True, False],
        "open": [False, False, False, True],
    }
    moved = " to=functions.weather<|channel|>commentary <|constrain|>json<|message|>" + ARGUMENTS + "<|call|>"
    assert compiler.tools(TOOLS, "gpt-oss").accepts(moved)


def test_a_section_of_reasoning_stands_before_all_else(compiler: llmask.Compiler) -> None:
    call = CALLS["qwen-3"]
    texts = (call, "<think>\nHm <tool_call>\n</think>\n\n" + call, "Hm.</think>" + call, "<think></think>Hello.")
    taken = {
        reasoning: [compiler.tools(TOOLS, "qwen-3", reasoning=reasoning).accepts(text) for text in texts]
        for reasoning in (False, "optional", True, "open")
    }
    assert taken == {
        False: [True, False, False, False],
        "optional": [True, True, False, True],
        True: [False, True, False, True],
        "open": [False, False, True, False],
    }


def test_the_last_mark_is_left_to_the_end_of_the_sequence() -> None:
    tools = [Tool("f", True, "#")]
    for ends in (True, False):
        marks = Marks(lambda name: False, lambda name, ends=ends: ends)  # type: ignore[misc]
        form = harmony_tag(marks, tools, "required", False, Arguments())
        assert ("{'type': 'const_string', 'value': '<|call|>'}" in str(form)) != ends
