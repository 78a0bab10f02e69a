r"""How families of models write calls of tools: one line of data for each part of a call.

    begin  ( call(name)  arguments  call_end )  separator  ( ... )  end

What is written in braces is `{name}`, the function's name, or `{number}`, digits. Marks are strings that a vocabulary
may hold as special tokens; where it does, the token is meant. A part may be a `Pattern`.

In: nothing. Out: `FAMILIES`. Cost: none.
"""

from __future__ import annotations

from typing import NamedTuple


class Pattern(NamedTuple):
    """A part that is not always written alike, as a regular expression."""

    text: str


Part = str | Pattern


class Thoughts(NamedTuple):
    """A section of reasoning: how it begins and ends, and what stands behind it."""

    begin: str
    end: str
    behind: Part = ""


class Family(NamedTuple):
    """How calls are written.

    source      where that is told
    call        what stands before the arguments
    call_end    what stands behind them
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
HARMONY = "gpt-oss"  # see writing.py
MODELS = (*FAMILIES, HARMONY)
