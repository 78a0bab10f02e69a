"""Good grammars in Lark's notation, of many kinds, each with texts that it has and texts that it has not.

In: nothing. Out: GRAMMARS. Cost: none.
"""

from __future__ import annotations

ARITHMETIC = r"""
?start: sum
?sum: product | sum "+" product -> add | sum "-" product -> sub
?product: atom | product "*" atom -> mul | product "/" atom -> div
?atom: NUMBER -> number | "-" atom -> neg | NAME -> var | "(" sum ")"
%import common.CNAME -> NAME
%import common.NUMBER
%import common.WS_INLINE
%ignore WS_INLINE
"""
JSON = r"""
start: value
?value: object | array | ESCAPED_STRING -> string | SIGNED_NUMBER -> number | "true" | "false" | "null"
array: "[" [value ("," value)*] "]"
object: "{" [pair ("," pair)*] "}"
pair: ESCAPED_STRING ":" value
%import common (ESCAPED_STRING, SIGNED_NUMBER, WS)
%ignore WS
"""
STATEMENTS = r"""
start: statement*
statement: "let" NAME "=" expr ";" | "if" expr block ["else" block] | "print" list{expr} ";"
block: "{" statement* "}"
expr: expr OP expr | NAME | INT | "(" expr ")" | STRING
list{item}: item ("," item)*
OP.2: "==" | "<=" | /[-+*\/<>]/
NAME: /[a-z_]\w*/i
STRING: /"(?:[^"\\\n]|\\.)*"/
%import common.INT
%ignore /[ \t\n]+/
%ignore COMMENT
COMMENT: "//" /[^\n]*/ | "/*" /(.|\n)*?/ "*/"
"""
COUNTED = r"""
start: row{"a"}~2..3 ";" (B | c){,4} [D] E{2}
row{x}: "<" x+ ">"
B: "b".."f" ~ 2
c: "é" | "日本"i
D: /(?i:x|y(?=z)z)/x
E: /[^\W\d]/ & ~("q" | "w")
"""
TOOLS = r"""
%llguidance {}
start: ( f_foo | f_bar )* f_end
f_end: TEXT
TEXT: /(.|\n)*/
f_foo_hd[lazy]: TEXT "<function"
f_foo: f_foo_hd "=foo>" %json { "type": "object", "properties": {"n": {"type": "integer"}} } "</function>"
f_bar_hd[lazy]: TEXT "<function"
f_bar: f_bar_hd "=bar>" /[0-9]+/ "</function>"
"""
NESTED = r"""
start: thought %lark { start: word+
word: /[a-z]+/
%ignore " " } "." quote
thought[suffix="</think>"]: /(.|\n)*/
quote: %regex {"substring_words": "to be or not to be"} "!"
"""

# grammar, texts that are documents, texts that are none
GRAMMARS: dict[str, tuple[str, list[str], list[str]]] = {
    "arithmetic": (ARITHMETIC, ["1", "-x * (2.5e3 + y)", "1+2-3/4"], ["", "1+", "(1", "2 x"]),
    "json": (JSON, ['{"a": [1, -2.5, {"b": null}]}', "[]", ' "\\"" '], ["[1,]", "{a: 1}", '"a']),
    "statements": (
        STATEMENTS,
        ["", "let iff = (1 == x); // c\nprint 1, \"a\\\"b\";", "if a < 2 { print a; } else { } /* * / */"],
        ["let = 1;", "print;", "print 1 2;", 'print "a\n";'],
    ),
    "counted": (COUNTED, ["<a><aa>;xab", "<a><a><a>;bcé日本aé", "<a><a>;yzab"], ["<a>;ab", "<a><a>;qw", "<a><a>;yab"]),
    "tools": (
        TOOLS,
        ["hello", "", '<function=foo>{"n": 1}</function>ok', "x<function=bar>1</function><function=bar>3</function>"],
        ["<function", "<function=baz>", "<function=bar></function>"],
    ),
    "nested": (NESTED, ["hm</think>a bc.not to!", "</think>a.!"], ["a.!", "</think> a.!", "</think>a.to or!"]),
}  # fmt: skip
