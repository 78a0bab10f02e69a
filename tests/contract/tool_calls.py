"""Calls of tools as models write them, one of each family: data of unit tests and of the comparison with XGrammar."""

from __future__ import annotations

from typing import Any

PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
    "additionalProperties": False,
}
TOOLS: list[Any] = [
    {"type": "function", "function": {"name": "weather", "description": "of a city", "parameters": PARAMETERS}},
    {"name": "now"},
]
ARGUMENTS = '{"city": "Paris", "days": 2}'
ELEMENTS = '<parameter name="city">Paris</parameter>\n<parameter name="days">2</parameter>\n'
CALLS = {
    "llama-3": '{"name": "weather", "parameters": ARGUMENTS}',
    "hermes": '<tool_call>\n{"name": "weather", "arguments": ARGUMENTS}\n</tool_call>',
    "qwen-2.5": '<tool_call>\n{"name": "weather", "arguments": ARGUMENTS}\n</tool_call>',
    "qwen-3": '<tool_call>\n{"name": "weather", "arguments": ARGUMENTS}\n</tool_call>',
    "qwen-3-coder": "<tool_call>\n<function=weather>\n<parameter=city>\nParis\n</parameter>\n"
    "<parameter=days>\n2\n</parameter>\n</function>\n</tool_call>",
    "mistral": '[TOOL_CALLS] [{"name": "weather", "arguments": ARGUMENTS}]',
    "mistral-v11": "[TOOL_CALLS]weather[ARGS]ARGUMENTS",
    "deepseek-v3": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>weather\n```json\nARGUMENTS\n```"
    "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    "deepseek-v3.1": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>weather<｜tool▁sep｜>ARGUMENTS<｜tool▁call▁end｜>"
    "<｜tool▁calls▁end｜>",
    "deepseek-v3.2": '<｜DSML｜function_calls>\n<｜DSML｜invoke name="weather">\n'
    '<｜DSML｜parameter name="city" string="true">Paris</｜DSML｜parameter>\n'
    '<｜DSML｜parameter name="days" string="false">2</｜DSML｜parameter>\n'
    "</｜DSML｜invoke>\n</｜DSML｜function_calls>",
    "kimi-k2": "<|tool_calls_section_begin|><|tool_call_begin|>functions.weather:0<|tool_call_argument_begin|>ARGUMENTS"
    "<|tool_call_end|><|tool_calls_section_end|>",
    "glm-4.5": "<tool_call>weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n<arg_key>days</arg_key>\n"
    "<arg_value>2</arg_value>\n</tool_call>",
    "minimax-m1": '<tool_calls>\n{"name": "weather", "arguments": ARGUMENTS}\n</tool_calls>',
    "minimax-m2": f'<minimax:tool_call>\n<invoke name="weather">\n{ELEMENTS}</invoke>\n</minimax:tool_call>',
    "gpt-oss": "<|channel|>commentary to=functions.weather<|constrain|>json<|message|>ARGUMENTS<|call|>",
}
CALLS = {model: call.replace("ARGUMENTS", ARGUMENTS) for model, call in CALLS.items()}
# two calls in a row, where a family writes them without text between them
SEVERAL = {
    "llama-3": "{0}; {0}",
    "qwen-3": "{0}\n{0}",
    "qwen-3-coder": "{0}\n{0}",
    "mistral-v11": "{0}{0}",
    "glm-4.5": "{0}\n{0}",
}
# families as XGrammar names them
XGRAMMAR = {
    "llama-3": "llama",
    "qwen-3": "qwen_3",
    "qwen-3-coder": "qwen_3_coder",
    "deepseek-v3": "deepseek_r1",
    "deepseek-v3.1": "deepseek_v3_1",
    "deepseek-v3.2": "deepseek_v3_2",
    "kimi-k2": "kimi",
    "glm-4.5": "glm_4_7",
    "minimax-m2": "minimax",
    "gpt-oss": "harmony",
}
