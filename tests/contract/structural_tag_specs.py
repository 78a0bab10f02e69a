"""Structural tags with texts: what they mean here, and where XGrammar 0.2.8 says something else, with the reason."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

COMPLETE = "a trigger that is complete is never read as text, even where a longer one begins with it"
JSON_SCHEMA = "a schema means what JSON Schema says: other properties are allowed unless it forbids them"
EXCLUDED = "excluded strings stand in no string, of whatever pattern, and lengths are kept"
ORDER = "in any order, each declared property is written once, and required ones are"


class Case(NamedTuple):
    """A format, texts that it derives, others that it does not, and those of either that XGrammar decides differently,
    with the reason.
    """

    format: Any
    accepted: list[str]
    refused: list[str]
    different: Mapping[str, str] = MappingProxyType({})


def text(value: str) -> dict[str, Any]:
    """One string."""
    return {"type": "const_string", "value": value}


def any_text(**others: Any) -> dict[str, Any]:
    """Any text."""
    return {"type": "any_text", **others}


def grammar(source: str) -> dict[str, Any]:
    """A text of a grammar."""
    return {"type": "grammar", "grammar": source}


def schema(described: Any, **others: Any) -> dict[str, Any]:
    """A document of a schema."""
    return {"type": "json_schema", "json_schema": described, **others}


def sequence(*elements: Any) -> dict[str, Any]:
    """One format after the other."""
    return {"type": "sequence", "elements": [*elements]}


def repeat(least: int, most: int, content: Any) -> dict[str, Any]:
    """A format so many times."""
    return {"type": "repeat", "min": least, "max": most, "content": content}


def tag(begin: Any, content: Any, end: Any) -> dict[str, Any]:
    """A format between two strings."""
    return {"type": "tag", "begin": begin, "content": content, "end": end}


def triggered(triggers: list[str], tags: list[Any], **others: Any) -> dict[str, Any]:
    """Text with tags in it."""
    return {"type": "triggered_tags", "triggers": triggers, "tags": tags, **others}


def dispatch(*rules: tuple[str, str], **others: Any) -> dict[str, Any]:
    """Text in which a string follows after each trigger."""
    return {"type": "dispatch", "rules": [[trigger, text(after)] for trigger, after in rules], **others}


TEXT_AND_INTEGER = {
    "type": "object",
    "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
    "required": ["a"],
}
INTEGERS = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a"]}
CLOSED = {**INTEGERS, "additionalProperties": False}

CASES = {
    "a schema that allows other properties": Case(
        schema(INTEGERS),
        ['{"a": 1}', '{"a": 1, "b": 2, "c": 3}'],
        ['{"b": 2}', '{"a": "1"}'],
        {'{"a": 1, "b": 2, "c": 3}': JSON_SCHEMA},
    ),
    "properties in any order": Case(
        schema(CLOSED, any_order=True),
        ['{"a": 1}', '{"b": 2, "a": 1}', '{"a": 1, "b": 2}'],
        ['{"b": 2}', '{"a": 1, "a": 2}', '{"a": 1, "c": 2}'],
        {'{"b": 2}': ORDER, '{"a": 1, "a": 2}': ORDER},
    ),
    "little white space": Case(
        schema(CLOSED, max_whitespace_cnt=1), ['{"a":1}', '{ "a" : 1 }'], ['{  "a":1}', '{"a":  1}']
    ),
    "strings that JSON does not hold": Case(
        schema(
            {
                "type": "object",
                "properties": {"a": {"type": "string"}, "b": {}, "c": {"enum": ["x", "x</c", 7]}},
                "additionalProperties": True,
            },
            excludes=["</c", "q"],
        ),
        [
            '{"a": "x</d"}',
            '{"c": "x"}',
            '{"c": 7}',
            '{"b": ["<", "/c", {"<": "/c"}]}',
            '{"x": "</ c"}',
            '{"a": "\\u003c/c"}',
        ],
        ['{"a": "x</c"}', '{"c": "x</c"}', '{"b": ["<", "</c>"]}', '{"b": {"</c": 1}}', '{"</c": 1}', '{"a": "q"}'],
    ),
    "strings with patterns and lengths": Case(
        schema(
            {
                "type": "array",
                "items": {"anyOf": [{"type": "string", "maxLength": 3}, {"type": "string", "pattern": "^a+b+$"}]},
            },
            excludes=["ab"],
        ),
        ['["a"]', '["ba", "a b"]'],
        ['["aab"]', '["ab"]', '["cdef"]'],
        {'["aab"]': EXCLUDED, '["ab"]': EXCLUDED, '["cdef"]': EXCLUDED},
    ),
    "an end in the arguments": Case(
        tag("<", schema({"type": "string"}, excludes=[">"]), ">"), ['<"a">', '<"\\"">'], ['<">">', '<"a>">']
    ),
    "a grammar": Case(grammar('root ::= "a" b\nb ::= [0-9] | "(" b ")"'), ["a1", "a((2))"], ["", "a", "a(1"]),
    "two grammars with the same names": Case(
        sequence(grammar('root ::= x x\nx ::= "a"'), grammar('root ::= x\nx ::= "b" | x "c"')),
        ["aab", "aabcc"],
        ["ab", "aaa", "aabb"],
    ),
    "nested tags end where theirs is": Case(
        tag("<a>", sequence(tag("<b>", any_text(), "</b>"), any_text()), ["</a>", "!"]),
        ["<a><b>x</a></b>y</a>", "<a><b></b>!"],
        ["<a><b>x</a>", "<a><b></b>x!y</a>", "<a><b></b></a></a>"],
    ),
    "overlap same end": Case(dispatch(("ab", "1"), ("xab", "2")), ["ab1", "xab2", "xxab2", "aab1"], ["ab2", "xab1"]),
    "prefix": Case(dispatch(("ab", "1"), ("abc", "2")), ["ab1", "abc2", "ab1abc2"], ["abc1"]),
    "exclude==trigger": Case(dispatch(("ab", "1"), excludes=["ab"]), ["x"], ["ab1"]),
    "exclude prefix of trigger": Case(dispatch(("abc", "1"), excludes=["ab"]), ["x"], ["abc1", "ab"]),
    "exclude inside trigger": Case(dispatch(("abc", "1"), excludes=["b"]), ["x"], ["abc1", "b"]),
    "exclude suffix of trigger": Case(dispatch(("abc", "1"), excludes=["bc"]), ["x"], ["abc1", "bc"]),
    "dup trigger": Case(dispatch(("ab", "1"), ("ab", "2")), ["ab1", "ab2"], []),
    "no loop": Case(dispatch(("ab", "1"), loop=False), ["", "x", "xab1", "xa"], ["xab1y", "ab1ab1"]),
    "loop": Case(dispatch(("ab", "1"), loop=True), ["", "x", "xab1", "xab1y", "ab1ab1"], ["ab1ab", "ab1abx"]),
    "empty content": Case(dispatch(("ab", "")), ["ab", "abab", "xabx"], []),
    "any aa": Case(tag("<", any_text(), "aa"), ["<aa", "<aaa", "<xaa"], ["<aaaa", "<aaaaa", "<"]),
    "any excl": Case(any_text(excludes=["ab"]), ["", "a", "xa"], ["ab", "aab"]),
    "any utf8": Case(any_text(excludes=["ab"]), ["é", "😀"], []),
    "trig alo": Case(
        triggered(["<f"], [tag("<fa>", text("1"), "</f>"), tag("<fb>", text("2"), "</f>")], at_least_one=True),
        ["<fa>1</f>", "<fa>1</f>x<fb>2</f>y", "<fb>2</f>"],
        ["", "x<fa>1</f>"],
    ),
    "trig saf": Case(
        triggered(["<f"], [tag("<fa>", text("1"), "</f>"), tag("<fb>", text("2"), "</f>")], stop_after_first=True),
        ["", "x", "<fa>1</f>", "x<fa>1</f>"],
        ["<fa>1</f>x"],
    ),
    "trig both": Case(
        triggered(["<f"], [tag("<fa>", text("1"), "</f>")], stop_after_first=True, at_least_one=True),
        ["<fa>1</f>"],
        ["", "x", "x<fa>1</f>", "<fa>1</f>x"],
    ),
    "trig in tag": Case(
        tag("[", triggered(["<f"], [tag("<fa>", any_text(), "</f>")]), "]"),
        ["[]", "[x]", "[x<fa>y]z</f>w]", "[x<fa>y</f>]"],
        [],
    ),
    "sep": Case(
        {"type": "tags_with_separator", "tags": [tag("a", text("1"), "b")], "separator": ","},
        ["", "a1b", "a1b,a1b"],
        ["a1b,", "a1ba1b"],
    ),
    "empty const": Case(text(""), [""], ["a"]),
    "empty begin": Case(tag("", text("a"), ""), ["a"], []),
    "repeat 0": Case(repeat(0, 0, text("a")), [""], ["a"]),
    "repeat -1": Case(repeat(2, -1, text("a")), ["aa", "aaaa"], ["a"]),
    "or/any": Case({"type": "or", "elements": [text("ab"), any_text(excludes=["c"])]}, ["ab", "abx"], ["c"]),
    "maxchars": Case(any_text(max_chars=3), ["", "abc", "ééé"], ["abcd"]),
    "maxchars excl": Case(any_text(max_chars=3, excludes=["b"]), ["", "aac"], ["aacd", "abc"]),
    "regex": Case({"type": "regex", "pattern": "a.b|^x$"}, ["aab", "a\nb", "x", "axb"], []),
    "json bool": Case(schema(True), ["1", "{}"], [" 1", "1 "]),
    "json ws": Case(schema({"type": "object"}), ["{}", "{ }", '{"a":1}', '{"a" : 1}', '{\n"a": 1}'], []),
    "prefix 2": Case(
        dispatch(("ab", "1"), ("abcd", "2")),
        ["ab1", "abcd2"],
        ["ab", "abc", "abcx", "abcxab1", "abcab1", "abcdx", "abcabcd2", "abc1", "abab1"],
        {
            "abc": COMPLETE,
            "abcx": COMPLETE,
            "abcxab1": COMPLETE,
            "abcab1": COMPLETE,
            "abcabcd2": COMPLETE,
            "abc1": COMPLETE,
        },
    ),
    "prefix noloop": Case(
        dispatch(("ab", "1"), ("abcd", "2"), loop=False),
        ["ab1", "abcd2"],
        ["ab", "abc", "abcx", "abcab1"],
        {"abc": COMPLETE, "abcx": COMPLETE, "abcab1": COMPLETE},
    ),
    "suffix within": Case(
        dispatch(("abcd", "1"), ("bc", "2")),
        ["abcd1", "abc2", "bc2", "xbc2"],
        ["abcd2", "abc", "abcdx"],
        {"abc": COMPLETE},
    ),
    "1char": Case(dispatch(("a", "1"), ("ab", "2")), ["a1", "ab2", "xa1ab2", "a1b"], ["a", "aab2"]),
    "excl prefix of trig and text": Case(dispatch(("abc", "1"), excludes=["abd"]), ["abc1", "ab", "abx"], ["abd"]),
    "excl longer than trig": Case(dispatch(("ab", "1"), excludes=["abd"]), ["ab1"], ["abd", "ab", "abx"]),
    "excl with trig prefix content d": Case(dispatch(("ab", "d"), excludes=["abd"]), ["abd"], ["ab1", "ab", "abx"]),
    "excl self end in loop": Case(dispatch(("ab", "1"), excludes=["1x"]), ["ab1x"], ["x1x"]),
    "xml qwen": Case(
        schema(TEXT_AND_INTEGER, style="qwen_xml"),
        [
            "<parameter=a>x</parameter>",
            "<parameter=a>\nx\n</parameter>\n<parameter=b>\n12\n</parameter>",
            "<parameter=a>x</parameter><parameter=b>12</parameter>",
            "<parameter=a>x</parameter><parameter=b>\n 12 </parameter>",
            "<parameter=a>a<b</parameter>",
            "\n<parameter=a>x</parameter>",
            " <parameter=a>x</parameter>\n",
            "<parameter=a></parameter>",
            '<parameter=a>"x"</parameter>',
            "<parameter=a>x</param</parameter>",
        ],
        ["<parameter=b>12</parameter>", "", "<parameter=a>x</parameter><parameter=c>y</parameter>"],
    ),
    "xml glm": Case(
        schema(TEXT_AND_INTEGER, style="glm_xml"),
        [
            "<arg_key>a</arg_key><arg_value>x</arg_value>",
            "<arg_key>a</arg_key>\n<arg_value>x</arg_value>\n<arg_key>b</arg_key>\n<arg_value>1</arg_value>",
            "\n<arg_key>a</arg_key><arg_value>x</arg_value>\n",
        ],
        ["<arg_key>a</arg_key><arg_value>x</arg_value><arg_key>c</arg_key><arg_value>y</arg_value>"],
    ),
    "xml minimax": Case(
        schema(TEXT_AND_INTEGER, style="minimax_xml"),
        ['<parameter name="a">x</parameter>', '<parameter name="a">x</parameter>\n<parameter name="b">1</parameter>\n'],
        [],
    ),
    "xml deepseek": Case(
        schema(TEXT_AND_INTEGER, style="deepseek_xml"),
        [
            '<｜DSML｜parameter name="a" string="true">x</｜DSML｜parameter>\n'
            '<｜DSML｜parameter name="b" string="false">1</｜DSML｜parameter>',
            '<｜DSML｜parameter name="a" string="true">x</｜DSML｜parameter>',
        ],
        [],
    ),
    "xml big": Case(
        schema(
            {
                "type": "object",
                "properties": {
                    "a": {"type": "string"},
                    "b": {"type": "integer"},
                    "e": {"enum": ["x", "y"]},
                    "n": {"type": ["string", "null"]},
                    "o": {
                        "type": "object",
                        "properties": {"q": {"type": "string"}},
                        "required": ["q"],
                        "additionalProperties": False,
                    },
                    "l": {"type": "array", "items": {"type": "string"}},
                    "r": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
                    "p": {"type": "string", "pattern": "^a+$"},
                    "m": {"type": "string", "maxLength": 3},
                    "any": {},
                    "ref": {"$ref": "#/$defs/N"},
                    "lr": {"type": "array", "items": {"$ref": "#/$defs/N"}},
                },
                "required": ["a"],
                "additionalProperties": False,
                "$defs": {
                    "N": {
                        "type": "object",
                        "properties": {"k": {"type": "integer"}},
                        "required": ["k"],
                        "additionalProperties": False,
                    }
                },
            },
            style="qwen_xml",
        ),
        [
            "<parameter=a>1</parameter>",
            "<parameter=a>1</parameter><parameter=b>1</parameter>",
            "<parameter=a></parameter><parameter=e>x</parameter>",
            "<parameter=a></parameter><parameter=e>\nx\n</parameter>",
            "<parameter=a></parameter><parameter=n>null</parameter>",
            "<parameter=a></parameter><parameter=n>zzz</parameter>",
            '<parameter=a></parameter><parameter=o>{"q": "x"}</parameter>',
            '<parameter=a></parameter><parameter=l>["x"]</parameter>',
            "<parameter=a></parameter><parameter=r>1</parameter>",
            "<parameter=a></parameter><parameter=p>aa</parameter>",
            "<parameter=a></parameter><parameter=p> aa </parameter>",
            "<parameter=a></parameter><parameter=m>abc</parameter>",
            "<parameter=a></parameter><parameter=any>{1</parameter>",
            '<parameter=a></parameter><parameter=ref>{"k":1}</parameter>',
            '<parameter=a></parameter><parameter=lr>[{"k":1}, {"k":2}]</parameter>',
        ],
        [
            "<parameter=a></parameter><parameter=b>x</parameter>",
            "<parameter=a></parameter><parameter=e>z</parameter>",
            "<parameter=a></parameter><parameter=o>{}</parameter>",
            "<parameter=a></parameter><parameter=p>ab</parameter>",
            "<parameter=a></parameter><parameter=m>abcd</parameter>",
            '<parameter=a></parameter><parameter=ref>{"k":"1"}</parameter>',
            "<parameter=a></parameter><parameter=e>x</parameter><parameter=b>1</parameter>",
        ],
    ),
    "xml addl": Case(
        schema(
            {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": True}, style="qwen_xml"
        ),
        [
            "",
            "<parameter=a>x</parameter>",
            "<parameter=a>x</parameter><parameter=b>y</parameter>",
            "<parameter=b>y</parameter>",
            "<parameter=b>y</parameter><parameter=c>z</parameter>",
        ],
        ["<parameter=1>x</parameter>"],
    ),
    "xml any": Case(
        schema(True, style="qwen_xml"),
        ["", "<parameter=a>x</parameter>", "<parameter=a>x</parameter><parameter=b>y</parameter>"],
        [],
    ),
    "xml noprops": Case(
        schema({"type": "object"}, style="qwen_xml"),
        ["", "<parameter=a>x</parameter>", "<parameter=a>x</parameter><parameter=b>y</parameter>"],
        [],
    ),
    "xml empty": Case(
        schema({"type": "object", "properties": {}}, style="qwen_xml"), ["", "\n"], ["<parameter=a>x</parameter>"]
    ),
    "xml ds": Case(
        schema({"type": "object", "properties": {"z": {}}}, style="deepseek_xml"),
        [
            '<｜DSML｜parameter name="z" string="true">x</｜DSML｜parameter>',
            '<｜DSML｜parameter name="z" string="false">{}</｜DSML｜parameter>',
        ],
        ['<｜DSML｜parameter name="z" string="false">x</｜DSML｜parameter>'],
    ),
    "xml old": Case(
        {"type": "qwen_xml_parameter", "json_schema": TEXT_AND_INTEGER}, ["<parameter=a>x</parameter>"], []
    ),
}
