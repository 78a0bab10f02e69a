"""Tool calls as the chat templates of families write them, and their readers: nothing here is shared with the library.

Sources: the chat templates and guides that docs/tools.md names.
"""

from __future__ import annotations

import json
import random
import re
from typing import Any

# before the name, between name and arguments, behind the arguments; around all calls together
JSON_CALLS = {
    "llama-3": ('{"name": "', '", "parameters": ', "}", "", ""),
    "hermes": ('<tool_call>\n{"name": "', '", "arguments": ', "}\n</tool_call>", "", ""),
    "mistral": ('{"name": "', '", "arguments": ', "}", "[TOOL_CALLS] [", "]"),
    "mistral-v11": ("[TOOL_CALLS]", "[ARGS]", "", "", ""),
    "deepseek-v3": (
        *("<｜tool▁call▁begin｜>function<｜tool▁sep｜>", "\n```json\n", "\n```<｜tool▁call▁end｜>"),
        *("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"),
    ),
    "deepseek-v3.1": (
        *("<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>"),
        *("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"),
    ),
    "kimi-k2": (
        *("<|tool_call_begin|>functions.", ":0<|tool_call_argument_begin|>", "<|tool_call_end|>"),
        *("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"),
    ),
    "minimax-m1": ('{"name": "', '", "arguments": ', "}", "<tool_calls>\n", "\n</tool_calls>"),
    "gpt-oss": ("<|channel|>commentary to=functions.", "<|constrain|>json<|message|>", "<|call|>", "", ""),
}
JSON_CALLS |= {"qwen-2.5": JSON_CALLS["hermes"], "qwen-3": JSON_CALLS["hermes"]}
# before the name and the arguments, behind them; an element of a string, and of everything else
ELEMENT_CALLS = {
    "qwen-3-coder": (
        *("<tool_call>\n<function={}>\n", "</function>\n</tool_call>"),
        *("<parameter={}>\n{}\n</parameter>\n", "<parameter={}>\n{}\n</parameter>\n"),
    ),
    "glm-4.5": (
        *("<tool_call>{}\n", "</tool_call>"),
        *("<arg_key>{}</arg_key>\n<arg_value>{}</arg_value>\n", "<arg_key>{}</arg_key>\n<arg_value>{}</arg_value>\n"),
    ),
    "minimax-m2": (
        *('<minimax:tool_call>\n<invoke name="{}">\n', "</invoke>\n</minimax:tool_call>"),
        *('<parameter name="{}">{}</parameter>\n', '<parameter name="{}">{}</parameter>\n'),
    ),
    "deepseek-v3.2": (
        *('<｜DSML｜function_calls>\n<｜DSML｜invoke name="{}">\n', "</｜DSML｜invoke>\n</｜DSML｜function_calls>"),
        '<｜DSML｜parameter name="{}" string="true">{}</｜DSML｜parameter>\n',
        '<｜DSML｜parameter name="{}" string="false">{}</｜DSML｜parameter>\n',
    ),
}
MARKS = {  # all that is neither name nor value in a call
    model: [
        mark
        for text in (*parts[:3], *parts[3:])
        for mark in re.findall(r"</?[^<>\n{}\"]+[>=]?|\[TOOL_CALLS\]|\[ARGS\]", text)
    ]
    for model, parts in {**JSON_CALLS, **ELEMENT_CALLS}.items()
}


def written(model: str, name: str, arguments: dict[str, Any]) -> str:
    """One call, as the template writes it."""
    if model in JSON_CALLS:
        before, between, behind, begin, end = JSON_CALLS[model]
        return f"{begin}{before}{name}{between}{json.dumps(arguments, ensure_ascii=False)}{behind}{end}"
    begin, end, of_string, of_other = ELEMENT_CALLS[model]
    elements = [
        of_string.format(key, value)
        if isinstance(value, str)
        else of_other.format(key, json.dumps(value, ensure_ascii=False))
        for key, value in arguments.items()
    ]
    return begin.format(name) + "".join(elements) + end


def read(model: str, text: str, texts: set[str]) -> tuple[str, dict[str, Any]]:
    """The one call in a text, by its marks from left to right; `texts` are the arguments that are strings."""
    if model in JSON_CALLS:
        before, between, behind, begin, end = (re.escape(part) for part in JSON_CALLS[model])
        if model == "mistral":
            begin = r"\[TOOL_CALLS\] ?\["
        if model == "kimi-k2":
            between = between.replace(":0", ":[0-9]+")
        if model == "gpt-oss":  # messages may come before, and the recipient before the channel
            text = text.rpartition("<|start|>assistant")[2]
            before = r"(?:<\|channel\|>commentary)? to=functions\."
            between = r"(?:<\|channel\|>commentary)?(?: ?<\|constrain\|>json| json)?<\|message\|>"
        found = re.match(f"{begin}{before}([A-Za-z0-9_.-]+?){between}", text)
        assert found is not None, text
        value, at = json.JSONDecoder().raw_decode(text, found.end())
        assert re.fullmatch(behind + end, text[at:]), text
        return found[1], value
    begin, end, of_string, _ = ELEMENT_CALLS[model]
    found = re.match(re.escape(begin.rstrip("\n")).replace(r"\{\}", "([A-Za-z0-9_.-]+)"), text)
    assert found is not None, text
    arguments: dict[str, Any] = {}
    key_end = "</arg_key>" if model == "glm-4.5" else '"' if '"' in of_string else ">"
    last = of_string.rstrip("\n").rpartition("}")[2].strip()
    at = found.end()
    rest = text[at:].lstrip()
    while not rest.startswith(end.partition("\n")[0]):
        opened = of_string.partition("{}")[0]
        assert rest.startswith(opened), rest
        key, _, rest = rest[len(opened) :].partition(key_end)
        said = None
        if model == "glm-4.5":
            rest = rest.lstrip().removeprefix("<arg_value>")
        elif model == "deepseek-v3.2":
            said = rest.startswith(' string="true">')
            rest = rest.partition(">")[2]
        elif model == "minimax-m2":
            rest = rest.removeprefix(">")
        value, mark, rest = rest.partition(last)
        assert mark, text
        rest = rest.lstrip()
        if key in texts if said is None else said:
            strips = model == "qwen-3-coder"
            arguments[key] = value.removeprefix("\n").removesuffix("\n") if strips else value
        else:
            arguments[key] = json.loads(value)
    assert rest == end, rest
    return found[1], arguments


def any_text(rng: random.Random, model: str, most: int) -> str:
    """A text with quotes, line breaks, blanks at its ends and beginnings of marks."""
    pieces = ["a", "é", '"', "\\", "\n", " ", "</", "<", "'", "{", "[TOOL", "null", "\t", "𝄞"]
    pieces += [mark[: rng.randint(1, len(mark) - 1)] for mark in MARKS[model]]
    return "".join(rng.choice(pieces) for _ in range(rng.randint(0, 8)))[:most]
