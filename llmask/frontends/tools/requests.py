r"""What a caller asks for: functions, which of them the model may call, and how its family writes calls.

    {"type": "function", "function": {"name": "add", "parameters": {...}}}  OpenAI, chat completions
    {"type": "function", "name": "add", "parameters": {...}}                OpenAI, responses
    {"name": "add", "inputSchema": {...}}                                   MCP; {"tools": [...]} is its `tools/list`
    {"name": "add", "input_schema": {...}}                                  Anthropic

How families of models write calls is one line of data for each part of a call (`FAMILIES`):

    begin  ( call(name)  arguments  call_end )  separator  ( ... )  end

What is written in braces is `{name}`, the function's name, or `{number}`, digits. Marks are strings that a vocabulary
may hold as special tokens; where it does, the token is meant. A part may be a `Pattern`.

What else is in a tool (descriptions, hints, the schema of what it returns) changes no call.

Source: OpenAI, API reference, Chat Completions and Responses, `tools` and `tool_choice`; Model Context Protocol,
`Tool` and `ListToolsResult` of its Python SDK 2.3; Anthropic, API reference, Messages, `tools`.

In: lists and dicts, or values of pydantic models. Out: `Tool`s, and a choice. Cost: none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from llmask.errors import GrammarError
from llmask.frontends.documents import Place, dumped
from llmask.frontends.json_schema.reading.pointers import ROOT, pointer
from llmask.frontends.places import similar


class Pattern(NamedTuple):
    """A part that is not always written alike, as a regular expression."""

    text: str


Part = str | Pattern


class Thoughts(NamedTuple):
    """A section of reasoning: how it begins and ends, and what follows it."""

    begin: str
    end: str
    after: Part = ""


class Family(NamedTuple):
    """How calls are written.

    source      where that is told
    call        what comes before the arguments
    call_end    what follows them
    begin, end  of all calls together, where there is such a thing
    separator   between two calls
    style       of the arguments: "json", or one of structural_tags/xml_parameters.py
    marks       strings in these that may be special tokens
    frame       further ones, by which a reader finds its way: with `marks`, no argument holds one
    prefix      may stand before the calls, if it is a special token
    thoughts    the section of reasoning, for models that have one
    """

    source: str
    call: str
    call_end: str
    begin: tuple[Part, ...] = ()
    end: str = ""
    separator: Part = ""
    style: str = "json"
    marks: tuple[str, ...] = ()
    frame: tuple[str, ...] = ()
    prefix: str = ""
    thoughts: Thoughts | None = None

    @property
    def not_in_arguments(self) -> list[str]:
        """Every mark; each would end or begin something else, whoever reads the call."""
        return [*self.marks, *self.frame, *(self.thoughts[:2] if self.thoughts else ())]


THINK = Thoughts("<think>", "</think>", Pattern(r"\n{0,2}"))
LINES = Pattern(r"\n{0,2}")

LLAMA_3 = Family(
    'Llama 3.1 model card and prompt formats, "JSON based tool calling"',
    '{"name": "{name}", "parameters": ',
    "}",
    separator=Pattern("; ?"),
    marks=("<|python_tag|>",),
    prefix="<|python_tag|>",
)
HERMES = Family(
    "Hermes-2-Pro model card; Qwen2.5-Instruct, tokenizer_config.json, chat_template",
    '<tool_call>\n{"name": "{name}", "arguments": ',
    "}\n</tool_call>",
    separator=LINES,
    marks=("<tool_call>", "</tool_call>"),
)
QWEN_3 = HERMES._replace(source="Qwen3, tokenizer_config.json, chat_template", thoughts=THINK)
QWEN_3_CODER = Family(
    "Qwen3-Coder-480B-A35B-Instruct, chat_template.jinja",
    "<tool_call>\n<function={name}>",
    "</function>\n</tool_call>",
    separator=LINES,
    style="qwen_xml",
    marks=("<tool_call>", "</tool_call>"),
    frame=("<function=", "</function>", "<parameter=", "</parameter>"),
    thoughts=THINK,
)
MISTRAL = Family(
    "Mistral-7B-Instruct-v0.3, tokenizer_config.json, chat_template; mistral-common, tokenizers v3 to v7",
    '{"name": "{name}", "arguments": ',
    "}",
    begin=("[TOOL_CALLS]", Pattern(" ?"), "["),
    end="]",
    separator=", ",
    marks=("[TOOL_CALLS]",),
)
MISTRAL_V11 = Family(
    "mistral-common, tokenizer v11 and later (Mistral-Small-3.2, Magistral)",
    "[TOOL_CALLS]{name}[ARGS]",
    "",
    marks=("[TOOL_CALLS]", "[ARGS]"),
    thoughts=Thoughts("[THINK]", "[/THINK]"),
)
DEEPSEEK_MARKS = (
    *("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"),
    *("<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>", "<｜tool▁sep｜>"),
)
DEEPSEEK_V3 = Family(
    "DeepSeek-V3-0324 and DeepSeek-R1, tokenizer_config.json, chat_template",
    "<｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}\n```json\n",
    "\n```<｜tool▁call▁end｜>",
    begin=("<｜tool▁calls▁begin｜>",),
    end="<｜tool▁calls▁end｜>",
    separator="\n",
    marks=DEEPSEEK_MARKS,
    thoughts=THINK,
)
DEEPSEEK_V31 = DEEPSEEK_V3._replace(
    source="DeepSeek-V3.1, tokenizer_config.json, chat_template",
    call="<｜tool▁call▁begin｜>{name}<｜tool▁sep｜>",
    call_end="<｜tool▁call▁end｜>",
    separator="",
)
DEEPSEEK_V32 = Family(
    "DeepSeek-V3.2, encoding_dsv32.py",
    '<｜DSML｜invoke name="{name}">\n',
    "</｜DSML｜invoke>\n",
    begin=("<｜DSML｜function_calls>\n",),
    end="</｜DSML｜function_calls>",
    style="deepseek_xml",
    marks=("<｜DSML｜function_calls>", "</｜DSML｜function_calls>"),
    frame=("<｜DSML｜invoke name=", "</｜DSML｜invoke>", "<｜DSML｜parameter name=", "</｜DSML｜parameter>"),
    thoughts=THINK,
)
KIMI_K2 = Family(
    "Kimi-K2-Instruct, docs/tool_call_guidance.md",
    "<|tool_call_begin|>functions.{name}:{number}<|tool_call_argument_begin|>",
    "<|tool_call_end|>",
    begin=("<|tool_calls_section_begin|>",),
    end="<|tool_calls_section_end|>",
    marks=(
        *("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>", "<|tool_call_begin|>", "<|tool_call_end|>"),
        "<|tool_call_argument_begin|>",
    ),
    thoughts=THINK,
)
GLM_4_5 = Family(
    "GLM-4.5, chat_template.jinja",
    "<tool_call>{name}",
    "</tool_call>",
    separator=LINES,
    style="glm_xml",
    marks=("<tool_call>", "</tool_call>"),
    frame=("<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"),
    thoughts=THINK,
)
MINIMAX_M1 = Family(
    "MiniMax-M1, docs/function_call_guide.md",
    '{"name": "{name}", "arguments": ',
    "}",
    begin=("<tool_calls>\n",),
    end="\n</tool_calls>",
    separator="\n",
    marks=("<tool_calls>", "</tool_calls>"),
    thoughts=THINK,
)
MINIMAX_M2 = Family(
    "MiniMax-M2, chat_template.jinja and docs/tool_calling_guide.md",
    '<invoke name="{name}">\n',
    "</invoke>\n",
    begin=("<minimax:tool_call>", "\n"),
    end="</minimax:tool_call>",
    style="minimax_xml",
    marks=("<minimax:tool_call>", "</minimax:tool_call>"),
    frame=("<invoke name=", "</invoke>", "<parameter name=", "</parameter>"),
    thoughts=THINK,
)
FAMILIES = {
    "llama-3": LLAMA_3,
    "hermes": HERMES,
    "qwen-2.5": HERMES,
    "qwen-3": QWEN_3,
    "qwen-3-coder": QWEN_3_CODER,
    "mistral": MISTRAL,
    "mistral-v11": MISTRAL_V11,
    "deepseek-v3": DEEPSEEK_V3,
    "deepseek-v3.1": DEEPSEEK_V31,
    "deepseek-v3.2": DEEPSEEK_V32,
    "kimi-k2": KIMI_K2,
    "glm-4.5": GLM_4_5,
    "minimax-m1": MINIMAX_M1,
    "minimax-m2": MINIMAX_M2,
}
HARMONY = "gpt-oss"  # see `harmony_tag`
MODELS = (*FAMILIES, HARMONY)


NAME = re.compile(r"[A-Za-z0-9_.\-]{1,128}")  # what all families write without escapes
CHOICES = ("auto", "required", "none")
REASONING = (False, True, "optional", "open")
OF_LISTS = ("nextCursor", "ttlMs", "cacheScope", "resultType", "_meta")  # of MCP, besides the tools
EXAMPLES = (
    'write {"type": "function", "function": {"name": ..., "parameters": ...}} as OpenAI does, '
    '{"name": ..., "inputSchema": ...} as MCP, or {"name": ..., "input_schema": ...} as Anthropic'
)


class Form(NamedTuple):
    """A form of tools: what one is called, the field of its schema, and the others besides name and type."""

    title: str
    schema: str
    others: tuple[str, ...]


OPENAI = Form(
    *("a function", "parameters"),
    ("description", "strict", "output_schema", "defer_loading", "allowed_callers", "async"),
)
MCP = Form(
    *("a tool of MCP", "inputSchema"),
    ("title", "description", "outputSchema", "annotations", "icons", "execution", "_meta"),
)
ANTHROPIC = Form(
    *("a tool of Anthropic", "input_schema"),
    (
        *("description", "strict", "cache_control", "defer_loading", "allowed_callers", "input_examples"),
        "eager_input_streaming",
    ),
)


class Tool(NamedTuple):
    """A function: its name, and the JSON schema of its arguments, with the place of it."""

    name: str
    parameters: Any
    where: str


def read_tools(document: Any) -> list[Tool]:
    """The functions in a list, or in what MCP's `tools/list` returns, each name once.

    Raises
    ------
    GrammarError : with the JSON pointer of the fault.
    """
    if isinstance(document, (str, bytes)):
        Place(document, ROOT).refuse("the list of tools is a text", "give the list: json.loads(text)")
    found: dict[str, Tool] = {}
    for place in _listed(Place(dumped(document, "list of tools"), ROOT)).some():
        tool = _read_tool(Place(dumped(place.value, "tool"), place.path))
        if tool.name in found:
            place.refuse(f'the name "{tool.name}" is used twice', "rename one of the functions")
        found[tool.name] = tool
    return list(found.values())


def _listed(place: Place) -> Place:
    """The list of tools, also where it is in the result of `tools/list`."""
    if not isinstance(place.value, Mapping) or "tools" not in place.value:
        return place
    place.check_fields(("tools",), OF_LISTS, "a list of MCP's tools")
    if place.has("nextCursor") and place.value["nextCursor"] != "":
        place.below("nextCursor").refuse(
            "the server has more tools than these", "give a list of the tools of all pages"
        )
    return place.below("tools")


def _read_tool(place: Place) -> Tool:
    if not isinstance(place.value, Mapping):
        place.refuse(f"a tool is an object, not {place.kind()}", EXAMPLES)
    form = next((form for form in (MCP, ANTHROPIC) if form.schema in place.value), OPENAI)
    _check_type(place, form)
    fields = [form.schema, *form.others]
    if place.has("function"):
        place.check_fields(("function",), ("type",), "a tool with a function")
        place = place.below("function")
        place.check_fields(("name",), fields, form.title)
    elif form is OPENAI and not place.has("name"):
        place.refuse("the tool has no name", EXAMPLES)
    else:
        place.check_fields(("name",), ("type", *fields), form.title)
    name = place.below("name").text()
    if NAME.fullmatch(name) is None:
        place.below("name").refuse(
            f"{name!r} is no name of a function", "use up to 128 letters, digits, dots, dashes and underscores"
        )
    parameters = True if form is OPENAI and not place.has(form.schema) else place.value[form.schema]
    if not isinstance(parameters, (Mapping, bool)):
        place.below(form.schema).refuse("parameters are a JSON schema", 'write {"type": "object", ...}')
    return Tool(name, _of_objects(parameters, place, form), pointer(place.path, form.schema))


def _of_objects(schema: Any, place: Place, form: Form) -> Any:
    """A schema of arguments, which are an object whether it says so or not."""
    if schema is False:
        return schema
    schema = {} if schema is True else schema
    types = schema.get("type", "object")
    if types != "object" and not (isinstance(types, list) and "object" in types):
        place.below(form.schema).refuse("arguments are an object", 'write {"type": "object", ...}')
    return schema if schema.get("type") == "object" else {**schema, "type": "object"}


def _check_type(place: Place, form: Form) -> None:
    """Refuse tools that are not called as functions are: tools of servers, and tools that take any text."""
    if not place.has("type") or place.value["type"] == "function":
        return
    if place.value["type"] != "custom":
        place.below("type").refuse("only functions can be written by a model here", 'write "function"')
    if form is not ANTHROPIC:  # whose own tools have this type
        place.below("type").refuse(
            "calls of custom tools cannot be written here: they hold a text, where calls of functions hold JSON",
            "write it as a function, or compile its text alone by Compiler.response_format",
        )


def check_model(model: Any) -> None:
    """Refuse a family that is not known."""
    if isinstance(model, str) and model in MODELS:
        return
    known = f"use {', '.join(MODELS)}"
    # as `Qwen/Qwen2.5-7B-Instruct` has qwen-2.5 in it
    plain = str(model).lower().replace("-", "")
    meant = max((family for family in MODELS if family.replace("-", "") in plain), key=len, default=None)
    help = f'{known}, or did you mean "{meant}"?' if meant else similar(str(model), MODELS, known)
    raise GrammarError(f"no tool calls of {model!r} are known", help=help)


def check_reasoning(reasoning: Any) -> None:
    """Refuse what is no way to reason."""
    if type(reasoning) not in (bool, str) or reasoning not in REASONING:
        raise GrammarError(f"reasoning is one of {REASONING}, not {reasoning!r}", help="leave it out")


def read_choice(document: Any, tools: list[Tool]) -> tuple[str, list[Tool]]:
    """How a model may choose, and among which functions.

    Raises
    ------
    GrammarError : there is no such choice, or no function of that name.
    """
    place = Place(document, ((), "tool_choice"))
    if isinstance(document, str):
        if document not in CHOICES:
            help = similar(document, CHOICES, f'use {", ".join(CHOICES)}, or {{"name": ...}} for one function')
            if document == "any":  # Anthropic's word
                help = 'write "required"'
            elif any(tool.name == document for tool in tools):
                help = f'write {{"name": "{document}"}}'
            place.refuse(f'there is no choice "{document}"', help)
        return document, tools
    if document is None:
        place.refuse("there is no choice null", 'leave it out for "auto"')
    place.check_fields((), ("type", "function", "name"), "a choice of a function")
    if place.has("function"):
        place = place.below("function")
    place.check_fields(("name",), ("type",), "a choice of a function")
    name = place.below("name").text()
    chosen = [tool for tool in tools if tool.name == name]
    if not chosen:
        help = similar(name, [tool.name for tool in tools], f'choose one of the tools, "{tools[0].name}" or another')
        place.below("name").refuse(f'there is no function "{name}"', help)
    return "required", chosen
