"""Bad structural tags, each with its whole message: data of the tests, and a tour of what can go wrong."""

from __future__ import annotations

from typing import Any

TEXT = {"type": "any_text"}


def triggered(**others: Any) -> dict[str, Any]:
    """Triggered tags with other fields."""
    tag = {"begin": "<a>", "content": TEXT, "end": "</a>"}
    return {"type": "triggered_tags", "triggers": ["<a"], "tags": [tag], **others}


def of_format(form: Any) -> dict[str, Any]:
    """A structural tag of a format."""
    return {"type": "structural_tag", "format": form}


BAD: dict[str, tuple[Any, str]] = {
    "a bare format": (
        {"type": "json_schema", "json_schema": {}},
        'the type of a structural tag is "structural_tag"\n  at #/type\n'
        '  write {"type": "structural_tag", "format": {...}}',
    ),
    "a misspelled field": (
        {"formt": TEXT},
        'a structural tag has no field "formt"\n  at #/formt\n  take it out; its fields are format, type, or did you '
        'mean "format"?',
    ),
    "a format that is a string": (
        of_format("any_text"),
        'a format is an object, not a string\n  at #/format\n  write {"type": ...}',
    ),
    "a type that is not known": (
        of_format({"type": "sequence", "elements": [{"type": "any_txt"}]}),
        'there is no format "any_txt"\n  at #/format/elements/0/type\n  use another one, or did you mean "any_text"?',
    ),
    "a value of another kind": (
        of_format({"type": "const_string", "value": 1}),
        "this is a number, where a string is needed\n  at #/format/value\n  write a string",
    ),
    "a lone surrogate": (
        of_format({"type": "const_string", "value": "\ud800"}),
        "the string holds a lone surrogate, which is no text\n  at #/format/value\n  take it out",
    ),
    "no flag": (
        of_format(triggered(at_least_one="yes")),
        "this is a string, where true or false is needed\n  at #/format/at_least_one\n  write true or false",
    ),
    "an empty trigger": (
        of_format(triggered(triggers=["<a", ""])),
        "the string is empty\n  at #/format/triggers/1\n  write at least one character",
    ),
    "a trigger without a tag": (
        of_format(triggered(triggers=["<a", "<b"])),
        "no tag begins with this trigger\n  at #/format/triggers/1\n  take it out, or add a tag",
    ),
    "a tag with two triggers": (
        of_format(triggered(triggers=["<", "<a"])),
        "the tag begins with 2 triggers\n  at #/format/tags/0/begin\n  let each tag begin with exactly one trigger",
    ),
    "no tag": (of_format(triggered(tags=[TEXT])), 'a tag needs the field "begin"\n  at #/format/tags/0\n  add it'),
    "bounds": (
        of_format({"type": "repeat", "min": 3, "max": 2, "content": TEXT}),
        "a repetition of at least 3 and at most 2 cannot be\n  at #/format/max\n  write a larger number, or -1",
    ),
    "half a number": (
        of_format({"type": "repeat", "min": 1.5, "max": 2, "content": TEXT}),
        "this is 1.5, where a whole number of at least 0 is needed\n  at #/format/min\n  write one",
    ),
    "a number of tokens": (
        of_format({"type": "any_text", "max_tokens": 3}),
        "a number of tokens is not enforced\n  at #/format/max_tokens\n  bound the text by max_chars",
    ),
    "a rule that is no pair": (
        of_format({"type": "dispatch", "rules": [["a"]]}),
        "a rule is a pair of a string and a format\n  at #/format/rules/0\n  write [string, format]",
    ),
    "a bad pattern": (
        of_format({"type": "regex", "pattern": "a("}),
        "this group is not closed\n  at #/format/pattern\n  Add a closing parenthesis, or write \\( for the character.",
    ),
    "a bad grammar": (
        of_format({"type": "grammar", "grammar": "root ::= b"}),
        'rule "root" uses "b", which is not defined\n  at #/format/grammar, line 1, column 10\n    root ::= b\n'
        "             ^\n  define it",
    ),
    "a bad schema": (
        of_format({"type": "json_schema", "json_schema": {"properties": {"a": {"type": "text"}}}}),
        "\"type\" must be the name of a JSON type or a list of such names, not 'text'\n"
        "  at #/format/json_schema/properties/a/type\n"
        '  did you mean "string"?',
    ),
    "a schema that compares": (
        of_format({"type": "json_schema", "json_schema": {"type": "array", "uniqueItems": True}}),
        "a schema that compares texts (uniqueItems, minProperties, ...) cannot stand inside a grammar yet\n  at "
        "#/format/json_schema\n  take these keywords out, or compile the schema by itself",
    ),
    "a pattern as a beginning": (
        of_format(
            {"type": "tag", "begin": {"type": "regex", "pattern": "a+"}, "content": {"type": "any_text"}, "end": ""}
        ),
        "a tag begins with a string or a token, and with no other format\n  at #/format/begin\n"
        '  write a string, or put the format before the content: {"type": "sequence", "elements": [...]}',
    ),
    "an excluded string that is empty": (
        of_format({"type": "json_schema", "json_schema": {}, "excludes": [""]}),
        "the string is empty\n  at #/format/excludes/0\n  write at least one character",
    ),
    "excluded strings that leave no value where members are counted": (
        of_format(
            {
                "type": "json_schema",
                "json_schema": {"type": "object", "properties": {"u": {}, "v": {}}, "minProperties": 1},
                "excludes": ["u"],
                "any_order": True,
            }
        ),
        "the excluded strings leave nothing of a name or value of the schema, in which members are counted\n"
        "  at #/format/json_schema\n  take the value out of the schema, or exclude less",
    ),
    "excluded strings that leave nothing": (
        of_format({"type": "json_schema", "json_schema": {"const": "u"}, "excludes": ["u"]}),
        "no document fulfils the schema without the strings that are excluded\n  at #/format/json_schema\n  allow one",
    ),
    "a style": (
        of_format({"type": "json_schema", "json_schema": {}, "style": "cohere_xml"}),
        'the style "cohere_xml" is not known\n  at #/format/style\n  use another one',
    ),
    "a structure": (
        {"structures": [{"begin": "<a>", "end": "</a>"}], "triggers": ["<a>"]},
        'a structure needs the field "schema"\n  at #/structures/0\n  add it',
    ),
    "the end of a structure": (
        {"structures": [{"begin": "<a>", "schema": {}, "end": 3}], "triggers": ["<a>"]},
        "this is a number, where a string is needed\n  at #/structures/0/end\n  write a string",
    ),
    "a flag of the older form": (
        {"structures": [{"begin": "<a>", "schema": {}, "end": "x"}], "triggers": ["<a>"], "at_least_one": 1},
        "this is a number, where true or false is needed\n  at #/at_least_one\n  write true or false",
    ),
    "nothing": (
        of_format({"type": "regex", "pattern": "a(?!.)b"}),
        'the grammar derives nothing: rule "start" needs /a(?!.)b/, which matches no text\n  mend the pattern, or give '
        "an alternative to it",
    ),
}
