"""Grammars in GBNF that between them have what makes masks hard: data of the comparison with llama.cpp.

None has left recursion, nor repeats what may be empty, which llama.cpp refuses or cannot end with.
"""

from __future__ import annotations

JSON = r"""
root   ::= object
value  ::= object | array | string | number | ("true" | "false" | "null") ws
object ::= "{" ws ( string ":" ws value ("," ws string ":" ws value)* )? "}" ws
array  ::= "[" ws ( value ("," ws value)* )? "]" ws
string ::= "\"" ( [^"\\\x7F\x00-\x1F] | "\\" (["\\bfnrt] | "u" [0-9a-fA-F]{4}) )* "\"" ws
number ::= ("-"? ([0-9] | [1-9] [0-9]{0,15})) ("." [0-9]+)? ([eE] [-+]? [0-9] [1-9]{0,15})? ws
ws     ::= | " " | "\n" [ \t]{0,20}
"""
C = r"""
root        ::= (declaration)*
declaration ::= type name "(" (parameter (", " parameter)*)? ")" " {\n" statement* "}\n"
type        ::= ("int" | "float" | "char" | "unsigned int") " "
name        ::= [a-zA-Z_] [a-zA-Z_0-9]*
parameter   ::= type name
statement   ::= (
    type name " = " expression ";"            # a declaration
    | name " = " expression ";"
    | name "(" (expression ("," expression)*)? ");"
    | "return " expression ";"
    | "while (" condition ") {\n" statement* "}"
    | "if (" condition ") {\n" statement* "}" (" else {\n" statement* "}")?
    | "/*" ([^*] | "*" [^/])* "*/"
    | "//" [^\n]*
) "\n"
condition   ::= expression (" == " | " != " | " <= " | " < ") expression
expression  ::= term ((" + " | " - ") term)*
term        ::= factor ((" * " | " / ") factor)*
factor      ::= name | number | "-" factor | "(" expression ")" | name "(" (expression ("," expression)*)? ")"
number      ::= [0-9]+ ("." [0-9]+)?
"""
PARENTHESES = "root ::= " + "(" * 50 + '"a" | "b"' + ")" * 50

GRAMMARS: dict[str, str] = {
    "json": JSON,
    "c": C,
    # --- ends that are ambiguous
    "letters and then letters": 'root ::= [a-z]* "foo" [a-z]*',
    "two ends": 'root ::= ("a" | "ab") ("c" | "bcd") root?',
    "words without blanks": 'root ::= ("do" | "double" | "done" | "e") root | "."',
    "numbers side by side": "root ::= n n n\nn ::= [0-9]{1,3}",
    "a list of lists": 'root ::= "[" (root ("," root)*)? "]"',
    "names beside keywords": (
        'root ::= (stmt "\\n")+\nstmt ::= "return" " "? expr | "if" " "? expr "then" stmt | name "=" expr\n'
        'expr ::= name | "(" expr ")"\nname ::= [a-z]+'
    ),
    "keywords that begin others": 'root ::= ("in" | "int" | "inter" | "interface" | "internal")+ ";"',
    "blanks that may be anywhere": 'root ::= ws "a" ws ("b" ws)* root?\nws ::= [ \\t\\n]*',
    "comment or division": (
        'root ::= x ("/" x)*\nx ::= [a-z]+ ws | "(" root ")" ws\nws ::= (" " | "//" [^\\n]* "\\n" | "/*" [^*]* "*/")*'
    ),
    # --- nothing, and repetition in repetition
    "optional parts": 'root ::= "a"? "b"? "c"? ("d" | "") "e"?',
    "nothing": 'root ::= "" | "x" root',
    "optional rules": 'root ::= a b c ";"\na ::= "x"?\nb ::= "y" | ""\nc ::= ("z" c)?',
    "nested repetition": 'root ::= (("a" "b"?)+ ";")+',
    "repetition of alternatives": 'root ::= ("ab" | "a" | "bb")* "!"',
    # --- bounds
    "exactly four": "root ::= [0-9a-f]{4}",
    "two to five": 'root ::= ("ab" | "c"){2,5} "."',
    "at least three": "root ::= [a-z ]{3,}",
    "none to a hundred": 'root ::= "<" [^<>]{0,100} ">"',
    "bounds in bounds": 'root ::= (("a" | "bc"){1,3} " "){2,4}',
    "date": 'root ::= [0-9]{4} "-" ("0" [1-9] | "1" [0-2]) "-" ("0" [1-9] | [12] [0-9] | "3" [01])',
    # --- Unicode
    "hiragana": 'root ::= [ぁ-ゟ]+ "。"?',
    "ranges of several lengths": r"root ::= [a-zß-ÿΑ-ω\u4e00-\u9fff\U0001F600-\U0001F64F]+",
    "emoji only": r'root ::= ([\U0001F300-\U0001F5FF] " "?)*',
    "escapes": r'root ::= "\x41\u00e9\U0001F600\n\t\r\\\"\[\]" [\x00-\x1f\]\\] [^\[\]]',
    "a literal of many bytes": 'root ::= ("日本語" | "日本" | "日" | "😀")+',
    # --- negated classes
    "no quotes": r'root ::= "\"" [^"\\]* "\""',
    "a line": r'root ::= ([^\n]+ "\n")+',
    "not letters": 'root ::= [^a-zA-Z]* "q"',
    "anything": "root ::= .*",
    "anything and a mark": 'root ::= "a" . "b" . .',
    "text until a tag": 'root ::= ([^<] | "<" [^/])* "</a>"',
    # --- deep nesting
    "parentheses": 'root ::= "(" root ")" root | ""',
    "groups in groups": PARENTHESES,
    "tags": 'root ::= "<" name ">" (root | [a-z ]+)* "</" name ">"\nname ::= "b" | "i" | "div" | "p"',
    "palindromes": 'root ::= "a" root "a" | "b" root "b" | "a" | "b" |',
    "right recursion": 'root ::= item "," root | item\nitem ::= [a-z0-9]+ | "\\"" [^"]* "\\""',
    "mutual recursion": 'root ::= "x" even\neven ::= "1" odd | "."\nodd ::= "2" even | "!" root',
    # --- and what people write
    "chess": (
        'root ::= "1. " move " " move "\\n" ([1-9] [0-9]? ". " move " " move "\\n")+\n'
        "move ::= (pawn | nonpawn | castle) [+#]?\n"
        'nonpawn ::= [NBKQR] [a-h]? [1-8]? "x"? [a-h] [1-8]\n'
        'pawn ::= ([a-h] "x")? [a-h] [1-8] ("=" [NBKQR])?\n'
        'castle ::= "O-O" "-O"?'
    ),
    "arithmetic": (
        'root ::= (expr "=" ws term "\\n")+\nexpr ::= term ([-+*/] term)*\nterm ::= ident | num | "(" ws expr ")" ws\n'
        "ident ::= [a-z] [a-z0-9_]* ws\nnum ::= [0-9]+ ws\nws ::= [ \\t\\n]*"
    ),
    "list of points": 'root ::= item+\nitem ::= "- " [^\\r\\n\\x0b\\x0c]+ "\\n"',
}
