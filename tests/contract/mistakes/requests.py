"""Mistakes in structural tags, tools and response formats."""

from __future__ import annotations

from . import Bad, Mistake, compiling, mistakes

STRUCTURAL_TAGS: dict[str, Bad] = {
    "no format": Bad({"type": "structural_tag"}, 'a structural tag needs the field "format"', "#", "add it"),
    "type misspelt": Bad(
        {"type": "structural_tags", "format": {"type": "any_text"}},
        'the type of a structural tag is "structural_tag"',
        "#/type",
        'write {"type": "structural_tag", "format": {...}}',
    ),
    "tag without an end": Bad(
        {"type": "structural_tag", "format": {"type": "tag", "begin": "<a>", "content": {"type": "any_text"}}},
        'the format "tag" needs the field "end"',
        "#/format",
        "add it",
    ),
    "schema under the wrong name": Bad(
        {"type": "structural_tag", "format": {"type": "json_schema", "schema": {}}},
        'the format "json_schema" has no field "schema"',
        "#/format/schema",
        (
            "take it out; its fields are json_schema, type, style, any_order, max_whitespace_cnt, excludes, "
            "unsupported, exact_texts, name, "
            'or did you mean "json_schema"?'
        ),
    ),
    "trigger that no tag begins with": Bad(
        (
            {
                "type": "structural_tag",
                "format": {
                    "type": "triggered_tags",
                    "triggers": ["<f="],
                    "tags": [{"begin": "<g>", "content": {"type": "any_text"}, "end": "</g>"}],
                },
            }
        ),
        "no trigger is the beginning of the tag",
        "#/format/tags/0/begin",
        "let each tag begin with exactly one trigger",
    ),
    "no triggers": Bad(
        {"type": "structural_tag", "format": {"type": "triggered_tags", "triggers": [], "tags": []}},
        "the array is empty",
        "#/format/triggers",
        "give at least one element",
    ),
    "a list": Bad(
        [{"begin": "<a>"}],
        "a structural tag is an object, not an array",
        "#",
        'write {"type": "structural_tag", "format": {...}}',
    ),
    "text malformed": Bad(
        '{"type": }', "the structural tag is not JSON: Expecting value", "line 1, column 10", "give a dict or JSON text"
    ),
    "schema without documents": Bad(
        (
            {
                "type": "structural_tag",
                "format": {"type": "json_schema", "json_schema": {"type": "integer", "minimum": 3, "maximum": 2}},
            }
        ),
        "no document fulfils the schema: no integer fulfils all of its keywords",
        "#/format/json_schema",
        "minimum is 3 and maximum is 2: lower the one, or raise the other",
        "UnsatisfiableSchema",
    ),
    "older form without triggers": Bad(
        {"structures": [{"begin": "<a>", "schema": {}, "end": "</a>"}]},
        'a structural tag with structures needs the field "triggers"',
        "#",
        "add it",
    ),
    "a bare format": Bad(
        {"type": "json_schema", "json_schema": {}},
        'the type of a structural tag is "structural_tag"',
        "#/type",
        'write {"type": "structural_tag", "format": {...}}',
    ),
}

TOOLS: dict[str, Bad] = {
    "no name": Bad(
        [{"type": "function", "function": {"parameters": {}}}],
        'a function needs the field "name"',
        "#/0/function",
        "add it",
    ),
    "name at the wrong level": Bad(
        [{"type": "function", "name": "add", "function": {"parameters": {}}}],
        'a tool with a function has no field "name"',
        "#/0/name",
        "take it out; its fields are function, type",
    ),
    "name with blanks": Bad(
        [{"name": "add numbers"}],
        "'add numbers' is no name of a function",
        "#/0/name",
        "use up to 128 letters, digits, dots, dashes and underscores",
    ),
    "name twice": Bad(
        [{"name": "add"}, {"name": "add"}], 'the name "add" is used twice', "#/1", "rename one of the functions"
    ),
    "parameters a list": Bad(
        [{"name": "add", "parameters": ["a", "b"]}],
        "parameters are a JSON schema",
        "#/0/parameters",
        'write {"type": "object", ...}',
    ),
    "parameters with a bad schema": Bad(
        [{"name": "add", "parameters": {"type": "object", "properties": {"a": {"type": "int"}}}}],
        '"type" must be the name of a JSON type or a list of such names, not \'int\' (tool "add", parameter "a")',
        "#/0/parameters/properties/a/type",
        'did you mean "integer"?',
    ),
    "one tool, no list": Bad(
        {"name": "add"}, "this is an object, where an array is needed", "#", "put it into a list: [...]"
    ),
    "none": Bad([], "the array is empty", "#", "give at least one element"),
    "a text": Bad("add", "the list of tools is a text", "#", "give the list: json.loads(text)"),
    "built-in tool": Bad(
        [{"type": "web_search"}], "only functions can be written by a model here", "#/0/type", 'write "function"'
    ),
    "custom tool": Bad(
        [{"type": "custom", "name": "sql"}],
        "calls of custom tools cannot be written here: they hold a text, where calls of functions hold JSON",
        "#/0/type",
        "write it as a function, or compile its text alone by Compiler.response_format",
    ),
}

RESPONSE_FORMATS: dict[str, Bad] = {
    "no type": Bad(
        {"json_schema": {"schema": {}}},
        "the response format has no type",
        "#",
        "add one: json_schema, json_object, text, grammar, custom, structural_tag",
    ),
    "unknown type": Bad(
        {"type": "json"},
        'there is no response format "json" here',
        "#/type",
        "use json_schema, json_object, text, grammar, custom, structural_tag",
    ),
    "schema at the top": Bad(
        {"type": "json_schema", "properties": {}},
        "the schema is given without the object that holds it",
        "#",
        'write {"name": ..., "schema": {...}}',
    ),
    "schema without its name's object": Bad(
        {"type": "json_schema", "json_schema": {"type": "object"}},
        "the schema is given without the object that holds it",
        "#/json_schema",
        'write {"name": ..., "schema": {...}}',
    ),
    "a schema": Bad(
        {"type": "object", "properties": {}},
        'there is no response format "object" here',
        "#/type",
        'a schema is written {"type": "json_schema", "json_schema": {"name": ..., "schema": {...}}}',
    ),
    "a type": Bad(
        "json_object",
        "the response format is not JSON: Expecting value",
        "line 1, column 1",
        'give a dict or JSON text, such as {"type": "json_object"}',
    ),
    "grammar of an unknown syntax": Bad(
        {"type": "grammar", "grammar": {"syntax": "gbnf", "definition": "a"}},
        'there is no syntax "gbnf"',
        "#/grammar/syntax",
        "use lark or regex",
    ),
    "strict a text": Bad(
        {"type": "json_schema", "json_schema": {"name": "a", "strict": "true", "schema": {}}},
        "this is a string, where true or false is needed",
        "#/json_schema/strict",
        "write true or false",
    ),
    "a bad schema in it": Bad(
        {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "strin"}}},
        "\"type\" must be the name of a JSON type or a list of such names, not 'strin'",
        "#/json_schema/schema/type",
        'did you mean "string"?',
    ),
}

MISTAKES = [
    *mistakes("Structural tag", "structural_tag", STRUCTURAL_TAGS),
    *mistakes("Tools", "tools", TOOLS),
    *mistakes("Response format", "response_format", RESPONSE_FORMATS),
    Mistake(
        "Tools: choice of no tool",
        compiling("tools", [{"name": "add"}], tool_choice={"name": "sub"}),
        'there is no function "sub"',
        'choose one of the tools, "add" or another',
        where="#/tool_choice/name",
    ),
    Mistake(
        "Tools: choice by the bare name",
        compiling("tools", [{"name": "add"}], tool_choice="add"),
        'there is no choice "add"',
        'write {"name": "add"}',
        where="#/tool_choice",
    ),
    Mistake(
        "Tools: choice any",
        compiling("tools", [{"name": "add"}], tool_choice="any"),
        'there is no choice "any"',
        'write "required"',
        where="#/tool_choice",
    ),
    Mistake(
        "Tools: choice of Anthropic",
        compiling("tools", [{"name": "add"}], tool_choice={"type": "tool", "name": "sub"}),
        'there is no function "sub"',
        'choose one of the tools, "add" or another',
        where="#/tool_choice/name",
    ),
    Mistake(
        "Tools: choice is None",
        compiling("tools", [{"name": "add"}], tool_choice=None),
        "there is no choice null",
        'leave it out for "auto"',
        where="#/tool_choice",
    ),
]
