"""What meets a bound: one of `Limits`, made small here, or one that nothing changes."""

from __future__ import annotations

from llmask import Compiler, Limits, allocate_bitmask

from . import Mistake, compiling

MISTAKES = [
    Mistake(
        "Limit: text of a schema",
        lambda w: Compiler(w.tokenizer, Limits(max_schema_bytes=20)).json_schema('{"type": "object", "title": "Book"}'),
        "the schema has 35 characters, the limit is 20 (limits.max_schema_bytes)",
        "split the schema or raise the limit",
    ),
    Mistake(
        "Limit: subschemas",
        lambda w: Compiler(w.tokenizer, Limits(max_schema_keywords=2)).json_schema({"anyOf": [{"const": 1}, {}]}),
        "compiling the schema visits more than 2 subschemas (limits.max_schema_keywords)",
        "Combinations of anyOf, oneOf and allOf multiply; simplify them or raise the limit.",
        where="#",
    ),
    Mistake(
        "Limit: nesting of a schema",
        lambda w: Compiler(w.tokenizer, Limits(max_schema_depth=1)).json_schema({"not": {"not": {"type": "null"}}}),
        "the schema is nested deeper than 1 (limits.max_schema_depth)",
        "Use references for recursive structures, or raise the limit.",
        where="#/not/not",
    ),
    Mistake(
        "Limit: alternatives in one place",
        (
            lambda w: Compiler(w.tokenizer, Limits(max_schema_depth=3)).json_schema(
                {"type": "array", "allOf": [{"anyOf": [{"minItems": n + 1}, {"maxItems": n}]} for n in range(1, 5)]}
            )
        ),
        "4 alternatives meet in one place, at most 3 are combined (limits.max_schema_depth)",
        "Use fewer anyOf, oneOf, if and dependentRequired there, or raise this limit or max_tracked_names.",
        where="#",
    ),
    Mistake(
        "Limit: digits of an integer",
        compiling("json_schema", '{"maximum": ' + "9" * 5000 + "}"),
        "the schema holds an integer of too many digits",
        "write it with fewer",
    ),
    Mistake(
        "Limit: nesting of JSON text",
        compiling("json_schema", '{"items":' * 100000),
        "the schema is nested too deeply to be read as JSON",
        "flatten it with $ref and $defs",
    ),
    Mistake(
        "Limit: alternatives beside unevaluatedProperties",
        (
            lambda w: Compiler(w.tokenizer, Limits(max_schema_cases=2)).json_schema(
                {
                    "anyOf": [{"properties": {key: {"const": key}}, "required": [key]} for key in "abc"],
                    "unevaluatedProperties": False,
                }
            )
        ),
        "unevaluatedProperties or unevaluatedItems must tell apart more than 2 cases (limits.max_schema_cases)",
        "Use fewer alternatives in anyOf beside it, or additionalProperties in each of them.",
        where="#/anyOf/2",
    ),
    Mistake(
        "Limit: items that must differ",
        compiling("json_schema", {"type": "array", "uniqueItems": True, "minItems": 2000}),
        "an array needs 2000 items that differ, and at most 1024 are remembered (limits.max_unique_values)",
        "Use a smaller minItems or raise the limit.",
        where="#",
    ),
    Mistake(
        "Limit: properties in any order",
        (
            lambda w: Compiler(w.tokenizer, Limits(max_tracked_names=2)).json_schema(
                {"type": "object", "properties": {"a": {}, "b": {}, "c": {}}}, property_order="any"
            )
        ),
        "an object of 3 properties in any order: at most 2 are remembered (limits.max_tracked_names)",
        'Raise the limit, or use property_order="schema".',
        where="#",
    ),
    Mistake(
        "Limit: kinds of items that are counted",
        (
            compiling(
                "json_schema",
                {"type": "array", "allOf": [{"contains": {"const": i}, "minContains": 9} for i in range(6)]},
            )
        ),
        "counting the items of the array takes more than 20000 states or 6 kinds of items",
        "Use smaller minContains, maxContains, minItems and maxItems, or fewer contains.",
        where="#",
    ),
    Mistake(
        "Limit: patterns of keys that overlap",
        (
            compiling(
                "json_schema",
                {"minProperties": 2, "patternProperties": {"abcdefghij"[i]: {"maxLength": i} for i in range(10)}},
            )
        ),
        "patterns divide the keys of an object into more than 512 sets",
        "Use fewer patternProperties that overlap.",
        where="#",
    ),
    Mistake(
        "Limit: divisor",
        compiling("json_schema", {"type": "integer", "multipleOf": 20001}),
        "the bounds and divisors of a number need an automaton of more than 20000 states",
        "Use a smaller multipleOf, or bounds with fewer digits.",
        where="#",
    ),
    Mistake(
        "Limit: digits of a bound",
        compiling("json_schema", {"type": "integer", "maximum": 10**4000}),
        "a bound of a number has more than 1200 digits",
        "Use a smaller bound.",
        where="#",
    ),
    Mistake(
        "Limit: length of a listed text",
        compiling("json_schema", {"const": "a" * 2000000}),
        "a key or a string of const or enum has 2000000 characters, more than 1048576",
        "Describe it by a pattern.",
        where="#",
    ),
    Mistake(
        "Limit: length",
        compiling("json_schema", {"type": "string", "minLength": 10**10}),
        '"minLength" is 2147483647 or more',
        "Use a smaller number.",
        where="#/minLength",
    ),
    Mistake(
        "Limit: work of a compile",
        lambda w: Compiler(w.tokenizer, Limits(max_compile_work=5)).lark("start: /[a-z]+/"),
        "compiling this takes more than 5 units of work (limits.max_compile_work; a unit is about a microsecond)",
        "simplify the grammar (shorter repetitions, fewer alternatives that multiply) or raise the limit",
        where="line 1, column 8\n    start: /[a-z]+/\n           ^^^^^^^^",
    ),
    Mistake(
        "Limit: work of a step",
        lambda w: Compiler(w.tokenizer, Limits(max_step_work=1)).regex("[a-z]{5}").matcher().accept_bytes(b"abc"),
        "one step takes more than 1 units of work (limits.max_step_work; a unit is about a microsecond)",
        "simplify the grammar (shorter repetitions, fewer alternatives that multiply) or raise the limit",
    ),
    Mistake(
        "Limit: rows",
        lambda w: Compiler(w.tokenizer, Limits(max_rows=1)).json_object().matcher().accept_bytes(b'{"a": ['),
        "this grammar needs more than 1 rows (limits.max_rows)",
        "simplify the grammar (shorter repetitions, fewer alternatives) or raise the limit",
    ),
    Mistake(
        "Limit: lexer states",
        lambda w: Compiler(w.tokenizer, Limits(max_lexer_states=3)).regex("[a-z]{9}").matcher().accept_bytes(b"abcdef"),
        "one call needs more than 3 new lexer states (limits.max_lexer_states)",
        "simplify the grammar (shorter repetitions, fewer alternatives) or raise the limit",
    ),
    Mistake(
        "Limit: memory of one grammar",
        lambda w: Compiler(w.tokenizer, Limits(max_grammar_bytes=9)).json_object().matcher().accept_bytes(b"{}"),
        "the tables of this grammar need more than 9 bytes (limits.max_grammar_bytes)",
        "simplify the grammar (shorter repetitions, fewer alternatives) or raise the limit",
    ),
    Mistake(
        "Limit: groups of a pattern",
        compiling("regex", "(" * 200),
        "the pattern nests groups deeper than 60 levels",
        "Flatten the groups.",
        where="column 61 of the pattern ..." + "(" * 80 + "...",
    ),
    Mistake(
        "Limit: bitmask",
        lambda w: allocate_bitmask(10**9, 10**9),
        (
            "a bitmask of 1000000000 rows of 31250000 words needs 125000000000000000 bytes, and there is no memory for "
            "them"
        ),
        "give one row for each sequence of a batch, and the size of the vocabulary",
    ),
]
