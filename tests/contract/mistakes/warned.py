"""What compiles, and is hardly meant."""

from __future__ import annotations

from . import Warned, compiling

WARNED = [
    Warned(
        "JSON Schema: names of properties without properties",
        compiling("json_schema", {"name": "string", "age": "integer"}),
        'no key at # is a keyword, so it allows any value: if these are names of properties, write {"properties": '
        "{...}}",
    ),
    Warned(
        "JSON Schema: keyword misspelt",
        compiling("json_schema", {"type": "object", "propertys": {"a": {"type": "null"}}}),
        '"propertys" at #/propertys is no keyword and asks nothing: did you mean "properties"?',
    ),
    Warned(
        "JSON Schema: format unknown",
        compiling("json_schema", {"type": "string", "format": "zip"}),
        '"format" at #/format is not enforced: the format "zip" is unknown, so it is an annotation',
    ),
    Warned(
        "JSON Schema: class of POSIX in a pattern",
        compiling("json_schema", {"type": "string", "pattern": "^[[:alpha:]]+$"}),
        '"pattern" at #/pattern reads "[:alpha:]" as single characters, did you mean "\\p{L}"?',
    ),
    Warned(
        "Regex: class of POSIX",
        compiling("regex", "[[:digit:]]+"),
        'the pattern reads "[:digit:]" as single characters, did you mean "\\d"?',
    ),
    Warned(
        "EBNF: brackets for what may be left out",
        compiling("ebnf", 'root ::= ["a"] "b"'),
        '["a"] at line 1, column 10 is one character, which may be a quote: what may be left out is ("a")?',
    ),
    Warned(
        "GBNF: rule defined twice",
        compiling("gbnf", 'root ::= "a"\nroot ::= "b"'),
        'rule "root" is defined at line 1, column 1 and again at line 2, column 1; the last counts',
    ),
    Warned(
        "GBNF: rule not used",
        compiling("gbnf", 'root ::= "a"\nitem ::= "b"'),
        'rule "item" (line 2, column 1) is never used',
    ),
    Warned(
        "Lark: alternative without end",
        compiling("lark", 'start: "x" | list\nlist: "(" list ")"'),
        'rule "list" (line 2, column 1) derives nothing and is left out',
    ),
    Warned(
        "Lark: terminal that takes the beginning of the next one",
        compiling("lark", 'start: A B | "1"\nA: /[a-z]+/\nB: /[a-z]/'),
        "no document begins with 'a', though it may be written: A takes the beginning of B, which has to follow it in "
        'rule "start"; let something ignored stand between such terminals (%ignore), let them begin and end with '
        'different characters, or use lexer="exact" (--lexer exact)',
        is_told=True,
    ),
]
