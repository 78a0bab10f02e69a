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


INTEGERS = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a"]}
CLOSED = {**INTEGERS, "additionalProperties": False}

CASES = {
    "a schema that allows other properties": Case(
        {"type": "json_schema", "json_schema": INTEGERS},
        ['{"a": 1}', '{"a": 1, "b": 2, "c": 3}'],
        ['{"b": 2}', '{"a": "1"}'],
        {'{"a": 1, "b": 2, "c": 3}': JSON_SCHEMA},
    ),
    "properties in any order": Case(
        {"type": "json_schema", "json_schema": CLOSED, "any_order": True},
        ['{"a": 1}', '{"b": 2, "a": 1}', '{"a": 1, "b": 2}'],
        ['{"b": 2}', '{"a": 1, "a": 2}', '{"a": 1, "c": 2}'],
        {'{"b": 2}': ORDER, '{"a": 1, "a": 2}': ORDER},
    ),
    "little white space": Case(
        {"type": "json_schema", "json_schema": CLOSED, "max_whitespace_cnt": 1},
        ['{"a":1}', '{ "a" : 1 }'],
        ['{  "a":1}', '{"a":  1}'],
    ),
    "strings that JSON does not hold": Case(
        {
            "type": "json_schema",
            "json_schema": {
                "type": "object",
                "properties": {"a": {"type": "string"}, "b": {}, "c": {"enum": ["x", "x</c", 7]}},
                "additionalProperties": True,
            },
            "excludes": ["</c", "q"],
        },
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
        {
            "type": "json_schema",
            "json_schema": {
                "type": "array",
                "items": {"anyOf": [{"type": "string", "maxLength": 3}, {"type": "string", "pattern": "^a+b+$"}]},
            },
            "excludes": ["ab"],
        },
        ['["a"]', '["ba", "a b"]'],
        ['["aab"]', '["ab"]', '["cdef"]'],
        {'["aab"]': EXCLUDED, '["ab"]': EXCLUDED, '["cdef"]': EXCLUDED},
    ),
    "an end in the arguments": Case(
        {
            "type": "tag",
            "begin": "<",
            "content": {"type": "json_schema", "json_schema": {"type": "string"}, "excludes": [">"]},
            "end": ">",
        },
        ['<"a">', '<"\\"">'],
        ['<">">', '<"a>">'],
    ),
    "a grammar": Case(
        {"type": "grammar", "grammar": 'root ::= "a" b\nb ::= [0-9] | "(" b ")"'}, ["a1", "a((2))"], ["", "a", "a(1"]
    ),
    "two grammars with the same names": Case(
        {
            "type": "sequence",
            "elements": [
                {"type": "grammar", "grammar": 'root ::= x x\nx ::= "a"'},
                {"type": "grammar", "grammar": 'root ::= x\nx ::= "b" | x "c"'},
            ],
        },
        ["aab", "aabcc"],
        ["ab", "aaa", "aabb"],
    ),
    "nested tags end where theirs is": Case(
        {
            "type": "tag",
            "begin": "<a>",
            "content": {
                "type": "sequence",
                "elements": [
                    {"type": "tag", "begin": "<b>", "content": {"type": "any_text"}, "end": "</b>"},
                    {"type": "any_text"},
                ],
            },
            "end": ["</a>", "!"],
        },
        ["<a><b>x</a></b>y</a>", "<a><b></b>!"],
        ["<a><b>x</a>", "<a><b></b>x!y</a>", "<a><b></b></a></a>"],
    ),
    "overlap same end": Case(
        {
            "type": "dispatch",
            "rules": [["ab", {"type": "const_string", "value": "1"}], ["xab", {"type": "const_string", "value": "2"}]],
        },
        ["ab1", "xab2", "xxab2", "aab1"],
        ["ab2", "xab1"],
    ),
    "prefix": Case(
        {
            "type": "dispatch",
            "rules": [["ab", {"type": "const_string", "value": "1"}], ["abc", {"type": "const_string", "value": "2"}]],
        },
        ["ab1", "abc2", "ab1abc2"],
        ["abc1"],
    ),
    "exclude==trigger": Case(
        {"type": "dispatch", "rules": [["ab", {"type": "const_string", "value": "1"}]], "excludes": ["ab"]},
        ["x"],
        ["ab1"],
    ),
    "exclude prefix of trigger": Case(
        {"type": "dispatch", "rules": [["abc", {"type": "const_string", "value": "1"}]], "excludes": ["ab"]},
        ["x"],
        ["abc1", "ab"],
    ),
    "exclude inside trigger": Case(
        {"type": "dispatch", "rules": [["abc", {"type": "const_string", "value": "1"}]], "excludes": ["b"]},
        ["x"],
        ["abc1", "b"],
    ),
    "exclude suffix of trigger": Case(
        {"type": "dispatch", "rules": [["abc", {"type": "const_string", "value": "1"}]], "excludes": ["bc"]},
        ["x"],
        ["abc1", "bc"],
    ),
    "dup trigger": Case(
        {
            "type": "dispatch",
            "rules": [["ab", {"type": "const_string", "value": "1"}], ["ab", {"type": "const_string", "value": "2"}]],
        },
        ["ab1", "ab2"],
        [],
    ),
    "no loop": Case(
        {"type": "dispatch", "rules": [["ab", {"type": "const_string", "value": "1"}]], "loop": False},
        ["", "x", "xab1", "xa"],
        ["xab1y", "ab1ab1"],
    ),
    "loop": Case(
        {"type": "dispatch", "rules": [["ab", {"type": "const_string", "value": "1"}]], "loop": True},
        ["", "x", "xab1", "xab1y", "ab1ab1"],
        ["ab1ab", "ab1abx"],
    ),
    "empty content": Case(
        {"type": "dispatch", "rules": [["ab", {"type": "const_string", "value": ""}]]}, ["ab", "abab", "xabx"], []
    ),
    "any aa": Case(
        {"type": "tag", "begin": "<", "content": {"type": "any_text"}, "end": "aa"},
        ["<aa", "<aaa", "<xaa"],
        ["<aaaa", "<aaaaa", "<"],
    ),
    "any excl": Case({"type": "any_text", "excludes": ["ab"]}, ["", "a", "xa"], ["ab", "aab"]),
    "any utf8": Case({"type": "any_text", "excludes": ["ab"]}, ["é", "😀"], []),
    "trig alo": Case(
        {
            "type": "triggered_tags",
            "triggers": ["<f"],
            "tags": [
                {"begin": "<fa>", "content": {"type": "const_string", "value": "1"}, "end": "</f>"},
                {"begin": "<fb>", "content": {"type": "const_string", "value": "2"}, "end": "</f>"},
            ],
            "at_least_one": True,
        },
        ["<fa>1</f>", "<fa>1</f>x<fb>2</f>y", "<fb>2</f>"],
        ["", "x<fa>1</f>"],
    ),
    "trig saf": Case(
        {
            "type": "triggered_tags",
            "triggers": ["<f"],
            "tags": [
                {"begin": "<fa>", "content": {"type": "const_string", "value": "1"}, "end": "</f>"},
                {"begin": "<fb>", "content": {"type": "const_string", "value": "2"}, "end": "</f>"},
            ],
            "stop_after_first": True,
        },
        ["", "x", "<fa>1</f>", "x<fa>1</f>"],
        ["<fa>1</f>x"],
    ),
    "trig both": Case(
        {
            "type": "triggered_tags",
            "triggers": ["<f"],
            "tags": [{"begin": "<fa>", "content": {"type": "const_string", "value": "1"}, "end": "</f>"}],
            "stop_after_first": True,
            "at_least_one": True,
        },
        ["<fa>1</f>"],
        ["", "x", "x<fa>1</f>", "<fa>1</f>x"],
    ),
    "trig in tag": Case(
        {
            "type": "tag",
            "begin": "[",
            "content": {
                "type": "triggered_tags",
                "triggers": ["<f"],
                "tags": [{"begin": "<fa>", "content": {"type": "any_text"}, "end": "</f>"}],
            },
            "end": "]",
        },
        ["[]", "[x]", "[x<fa>y]z</f>w]", "[x<fa>y</f>]"],
        [],
    ),
    "sep": Case(
        {
            "type": "tags_with_separator",
            "tags": [{"type": "tag", "begin": "a", "content": {"type": "const_string", "value": "1"}, "end": "b"}],
            "separator": ",",
        },
        ["", "a1b", "a1b,a1b"],
        ["a1b,", "a1ba1b"],
    ),
    "empty const": Case({"type": "const_string", "value": ""}, [""], ["a"]),
    "empty begin": Case(
        {"type": "tag", "begin": "", "content": {"type": "const_string", "value": "a"}, "end": ""}, ["a"], []
    ),
    "repeat 0": Case(
        {"type": "repeat", "min": 0, "max": 0, "content": {"type": "const_string", "value": "a"}}, [""], ["a"]
    ),
    "repeat -1": Case(
        {"type": "repeat", "min": 2, "max": -1, "content": {"type": "const_string", "value": "a"}},
        ["aa", "aaaa"],
        ["a"],
    ),
    "or/any": Case(
        {"type": "or", "elements": [{"type": "const_string", "value": "ab"}, {"type": "any_text", "excludes": ["c"]}]},
        ["ab", "abx"],
        ["c"],
    ),
    "maxchars": Case({"type": "any_text", "max_chars": 3}, ["", "abc", "ééé"], ["abcd"]),
    "maxchars excl": Case({"type": "any_text", "max_chars": 3, "excludes": ["b"]}, ["", "aac"], ["aacd", "abc"]),
    "regex": Case({"type": "regex", "pattern": "a.b|^x$"}, ["aab", "a\nb", "x", "axb"], []),
    "json bool": Case({"type": "json_schema", "json_schema": True}, ["1", "{}"], [" 1", "1 "]),
    "json ws": Case(
        {"type": "json_schema", "json_schema": {"type": "object"}},
        ["{}", "{ }", '{"a":1}', '{"a" : 1}', '{\n"a": 1}'],
        [],
    ),
    "prefix 2": Case(
        {
            "type": "dispatch",
            "rules": [["ab", {"type": "const_string", "value": "1"}], ["abcd", {"type": "const_string", "value": "2"}]],
        },
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
        {
            "type": "dispatch",
            "rules": [["ab", {"type": "const_string", "value": "1"}], ["abcd", {"type": "const_string", "value": "2"}]],
            "loop": False,
        },
        ["ab1", "abcd2"],
        ["ab", "abc", "abcx", "abcab1"],
        {"abc": COMPLETE, "abcx": COMPLETE, "abcab1": COMPLETE},
    ),
    "suffix within": Case(
        {
            "type": "dispatch",
            "rules": [["abcd", {"type": "const_string", "value": "1"}], ["bc", {"type": "const_string", "value": "2"}]],
        },
        ["abcd1", "abc2", "bc2", "xbc2"],
        ["abcd2", "abc", "abcdx"],
        {"abc": COMPLETE},
    ),
    "1char": Case(
        {
            "type": "dispatch",
            "rules": [["a", {"type": "const_string", "value": "1"}], ["ab", {"type": "const_string", "value": "2"}]],
        },
        ["a1", "ab2", "xa1ab2", "a1b"],
        ["a", "aab2"],
    ),
    "excl prefix of trig and text": Case(
        {"type": "dispatch", "rules": [["abc", {"type": "const_string", "value": "1"}]], "excludes": ["abd"]},
        ["abc1", "ab", "abx"],
        ["abd"],
    ),
    "excl longer than trig": Case(
        {"type": "dispatch", "rules": [["ab", {"type": "const_string", "value": "1"}]], "excludes": ["abd"]},
        ["ab1"],
        ["abd", "ab", "abx"],
    ),
    "excl with trig prefix content d": Case(
        {"type": "dispatch", "rules": [["ab", {"type": "const_string", "value": "d"}]], "excludes": ["abd"]},
        ["abd"],
        ["ab1", "ab", "abx"],
    ),
    "excl self end in loop": Case(
        {"type": "dispatch", "rules": [["ab", {"type": "const_string", "value": "1"}]], "excludes": ["1x"]},
        ["ab1x"],
        ["x1x"],
    ),
    "xml qwen": Case(
        {
            "type": "json_schema",
            "json_schema": {
                "type": "object",
                "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
                "required": ["a"],
            },
            "style": "qwen_xml",
        },
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
        {
            "type": "json_schema",
            "json_schema": {
                "type": "object",
                "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
                "required": ["a"],
            },
            "style": "glm_xml",
        },
        [
            "<arg_key>a</arg_key><arg_value>x</arg_value>",
            "<arg_key>a</arg_key>\n<arg_value>x</arg_value>\n<arg_key>b</arg_key>\n<arg_value>1</arg_value>",
            "\n<arg_key>a</arg_key><arg_value>x</arg_value>\n",
        ],
        ["<arg_key>a</arg_key><arg_value>x</arg_value><arg_key>c</arg_key><arg_value>y</arg_value>"],
    ),
    "xml minimax": Case(
        {
            "type": "json_schema",
            "json_schema": {
                "type": "object",
                "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
                "required": ["a"],
            },
            "style": "minimax_xml",
        },
        ['<parameter name="a">x</parameter>', '<parameter name="a">x</parameter>\n<parameter name="b">1</parameter>\n'],
        [],
    ),
    "xml deepseek": Case(
        {
            "type": "json_schema",
            "json_schema": {
                "type": "object",
                "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
                "required": ["a"],
            },
            "style": "deepseek_xml",
        },
        [
            '<｜DSML｜parameter name="a" string="true">x</｜DSML｜parameter>\n'
            '<｜DSML｜parameter name="b" string="false">1</｜DSML｜parameter>',
            '<｜DSML｜parameter name="a" string="true">x</｜DSML｜parameter>',
        ],
        [],
    ),
    "xml big": Case(
        {
            "type": "json_schema",
            "json_schema": {
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
            "style": "qwen_xml",
        },
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
        {
            "type": "json_schema",
            "json_schema": {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": True},
            "style": "qwen_xml",
        },
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
        {"type": "json_schema", "json_schema": True, "style": "qwen_xml"},
        ["", "<parameter=a>x</parameter>", "<parameter=a>x</parameter><parameter=b>y</parameter>"],
        [],
    ),
    "xml noprops": Case(
        {"type": "json_schema", "json_schema": {"type": "object"}, "style": "qwen_xml"},
        ["", "<parameter=a>x</parameter>", "<parameter=a>x</parameter><parameter=b>y</parameter>"],
        [],
    ),
    "xml empty": Case(
        {"type": "json_schema", "json_schema": {"type": "object", "properties": {}}, "style": "qwen_xml"},
        ["", "\n"],
        ["<parameter=a>x</parameter>"],
    ),
    "xml ds": Case(
        {"type": "json_schema", "json_schema": {"type": "object", "properties": {"z": {}}}, "style": "deepseek_xml"},
        [
            '<｜DSML｜parameter name="z" string="true">x</｜DSML｜parameter>',
            '<｜DSML｜parameter name="z" string="false">{}</｜DSML｜parameter>',
        ],
        ['<｜DSML｜parameter name="z" string="false">x</｜DSML｜parameter>'],
    ),
    "xml old": Case(
        {
            "type": "qwen_xml_parameter",
            "json_schema": {
                "type": "object",
                "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
                "required": ["a"],
            },
        },
        ["<parameter=a>x</parameter>"],
        [],
    ),
}
