"""Bad grammars in Lark's notation with the whole message of each: what tests compare and documentation shows.

In: nothing. Out: BAD_GRAMMARS. Cost: none.
"""

from __future__ import annotations

# name, class of the error, grammar, message
BAD_GRAMMARS: list[tuple[str, str, str, str]] = [
    (
        "no start",
        "GrammarError",
        'begin: "a"\n',
        'there is no rule "start" to begin with\n'
        "  at line 1, column 1\n"
        '    begin: "a"\n'
        "    ^^^^^\n"
        "  name the first rule start",
    ),
    (
        "similar start",
        "GrammarError",
        'starts: "a"\n',
        'there is no rule "start" to begin with\n'
        "  at line 1, column 1\n"
        '    starts: "a"\n'
        "    ^^^^^^\n"
        '  name the first rule start, or did you mean "starts"?',
    ),
    (
        "empty",
        "GrammarError",
        "",
        'there is no rule "start" to begin with\n  at line 1, column 1\n    \n    ^\n  name the first rule start',
    ),
    (
        "undefined rule",
        "GrammarError",
        'start: "[" item ("," items)* "]"\nitem: "x"\nitemz: "y"\n',
        'the rule "items" is not defined\n'
        "  at line 1, column 22\n"
        '    start: "[" item ("," items)* "]"\n'
        "                         ^^^^^\n"
        '  define it, or did you mean "item"?',
    ),
    (
        "undefined terminal",
        "GrammarError",
        "start: NUMBRE\nNUMBER: /[0-9]+/\n",
        'the terminal "NUMBRE" is not defined\n'
        "  at line 1, column 8\n"
        "    start: NUMBRE\n"
        "           ^^^^^^\n"
        '  define it, or did you mean "NUMBER"?',
    ),
    (
        "undefined in a terminal",
        "GrammarError",
        'start: A\nA: "a" B\n',
        'the terminal "B" is not defined\n  at line 2, column 8\n    A: "a" B\n           ^\n  define it',
    ),
    (
        "defined twice",
        "GrammarError",
        'start: a\na: "x"\na: "y"\n',
        '"a" is defined twice\n'
        "  at line 3, column 1\n"
        '    a: "y"\n'
        "    ^\n"
        "  the other one is at line 2, column 1; rename one of them",
    ),
    (
        "terminal defined twice",
        "GrammarError",
        'start: A\nA: "x"\nA: "y"\n',
        '"A" is defined twice\n'
        "  at line 3, column 1\n"
        '    A: "y"\n'
        "    ^\n"
        "  the other one is at line 2, column 1; rename one of them",
    ),
    (
        "derives nothing",
        "UnsatisfiableSchema",
        'start: "a" start\n',
        'the grammar derives nothing: rule "start" needs itself without end\n'
        "  at line 1, column 1\n"
        '    start: "a" start\n'
        "    ^^^^^\n"
        "  give it an alternative that ends",
    ),
    (
        "pattern matches nothing",
        "UnsatisfiableSchema",
        'start: A\nA: "a" & "b"\n',
        'the grammar derives nothing: rule "start" needs A, which matches no text\n'
        "  at line 1, column 1\n"
        "    start: A\n"
        "    ^^^^^\n"
        "  mend the pattern, or give an alternative to it",
    ),
    (
        "recursive terminal",
        "GrammarError",
        'start: A\nA: "a" B?\nB: "b" A\n',
        'the terminal "A" refers to itself\n'
        "  at line 3, column 8\n"
        '    B: "b" A\n'
        "           ^\n"
        "  a terminal is a regular expression; write what is recursive as a rule, in small letters",
    ),
    (
        "rule in terminal",
        "GrammarError",
        'start: A\nA: "a" b\nb: "b"\n',
        '"b" is a rule, and a terminal is made of terminals\n'
        "  at line 2, column 8\n"
        '    A: "a" b\n'
        "           ^\n"
        "  write the terminal as a rule, in small letters",
    ),
    (
        "string not closed",
        "GrammarError",
        'start: "abc\n',
        "this string is not closed\n"
        "  at line 1, column 8\n"
        '    start: "abc\n'
        "           ^\n"
        '  add a quote at its end; inside it, write \\" for a quote',
    ),
    (
        "pattern not closed",
        "GrammarError",
        "start: /abc\n",
        "this regular expression is not closed\n"
        "  at line 1, column 8\n"
        "    start: /abc\n"
        "           ^\n"
        "  add a slash at its end; inside it, write \\/ for a slash",
    ),
    (
        "parenthesis not closed",
        "GrammarError",
        'start: ("a" | "b"\nb: "c"\n',
        'this "(" is not closed\n  at line 1, column 8\n    start: ("a" | "b"\n           ^\n  add ")" where it ends',
    ),
    (
        "parenthesis not opened",
        "GrammarError",
        'start: "a") "b"\n',
        'there is nothing that this ")" closes\n'
        "  at line 1, column 11\n"
        '    start: "a") "b"\n'
        "              ^\n"
        "  take it out, or open it before",
    ),
    (
        "wrong parenthesis",
        "GrammarError",
        'start: ("a" ]\n',
        'this "(" is not closed\n  at line 1, column 8\n    start: ("a" ]\n           ^\n  add ")" where it ends',
    ),
    (
        "single quotes",
        "GrammarError",
        "start: 'a'\n",
        "strings stand in double quotes\n  at line 1, column 8\n    start: 'a'\n           ^\n  write \"...\"",
    ),
    (
        "mixed name",
        "GrammarError",
        'start: Item\nItem: "x"\n',
        'the name "Item" has small and capital letters\n'
        "  at line 1, column 8\n"
        "    start: Item\n"
        "           ^^^^\n"
        "  rules are in small letters (item), terminals in capitals (ITEM)",
    ),
    (
        "underscores",
        "GrammarError",
        "start: __\n",
        '"__" is no name\n'
        "  at line 1, column 8\n"
        "    start: __\n"
        "           ^^\n"
        "  a name begins with a letter, or with one underscore and a letter",
    ),
    (
        "equals sign",
        "GrammarError",
        'start = "a"\n',
        '`=` cannot stand here\n  at line 1, column 7\n    start = "a"\n          ^\n  a rule is written name: ...',
    ),
    (
        "bnf sign",
        "GrammarError",
        'start ::= "a"\n',
        "::= is GBNF's sign\n"
        "  at line 1, column 7\n"
        '    start ::= "a"\n'
        "          ^^\n"
        "  a rule is written name: ...; for GBNF there is Compiler.gbnf",
    ),
    (
        "line not continued",
        "GrammarError",
        'start: "a"\n  "b"\n',
        '`"b"` cannot stand here\n'
        "  at line 2, column 3\n"
        '      "b"\n'
        "      ^^^\n"
        "  a rule goes on in the next line only behind |, or inside parentheses",
    ),
    (
        "two rules in a line",
        "GrammarError",
        'start: a b: "c"\n',
        "`:` cannot stand here\n"
        "  at line 1, column 11\n"
        '    start: a b: "c"\n'
        "              ^\n"
        "  each rule begins in a line of its own; for the character, quote it",
    ),
    (
        "operator first",
        "GrammarError",
        'start: * "a"\n',
        "`*` cannot stand here\n"
        "  at line 1, column 8\n"
        '    start: * "a"\n'
        "           ^\n"
        "  put it behind what it repeats; for the character itself, quote it",
    ),
    (
        "two operators",
        "GrammarError",
        'start: "a"+*\n',
        "`*` cannot stand here\n"
        "  at line 1, column 12\n"
        '    start: "a"+*\n'
        "               ^\n"
        "  put it behind what it repeats; for the character itself, quote it",
    ),
    (
        "counts reversed",
        "GrammarError",
        'start: "a"{3,2}\n',
        "a repetition of at least 3 and at most 2 cannot be\n"
        "  at line 1, column 11\n"
        '    start: "a"{3,2}\n'
        "              ^^^^^\n"
        "  the first number is the smaller one, and neither is below 0",
    ),
    (
        "tilde counts reversed",
        "GrammarError",
        'start: "a" ~ 3..2\n',
        "a repetition of at least 3 and at most 2 cannot be\n"
        "  at line 1, column 12\n"
        '    start: "a" ~ 3..2\n'
        "               ^^^^^^\n"
        "  the first number is the smaller one, and neither is below 0",
    ),
    (
        "negative count",
        "GrammarError",
        'start: "a" ~ -1..2\n',
        "a repetition of at least -1 and at most 2 cannot be\n"
        "  at line 1, column 12\n"
        '    start: "a" ~ -1..2\n'
        "               ^^^^^^^\n"
        "  the first number is the smaller one, and neither is below 0",
    ),
    (
        "count too large",
        "GrammarError",
        'start: "a"{1,99999999999}\n',
        "99999999999 is no whole number up to 2147483646\n"
        "  at line 1, column 11\n"
        '    start: "a"{1,99999999999}\n'
        "              ^^^^^^^^^^^^^^^\n"
        "  write a smaller one; {m,} has no upper bound",
    ),
    (
        "unknown escape",
        "GrammarError",
        'start: "a\\q"\n',
        "the escape \\q has no meaning\n"
        "  at line 1, column 10\n"
        '    start: "a\\q"\n'
        "             ^^\n"
        "  write \\\\ for a backslash",
    ),
    (
        "ambiguous escape",
        "GrammarError",
        'start: "a\\/b"\n',
        "\\/ is two characters to Lark and one to llguidance\n"
        "  at line 1, column 10\n"
        '    start: "a\\/b"\n'
        "             ^^\n"
        "  write / for the one, \\\\/ for the two",
    ),
    (
        "surrogate",
        "GrammarError",
        'start: "\\ud800"\n',
        "half a surrogate pair is no text\n"
        "  at line 1, column 8\n"
        '    start: "\\ud800"\n'
        "           ^^^^^^^^\n"
        "  write the character itself, or both halves",
    ),
    (
        "code point too large",
        "GrammarError",
        'start: "\\U00110000"\n',
        "this is beyond the last character, U+10FFFF\n"
        "  at line 1, column 9\n"
        '    start: "\\U00110000"\n'
        "            ^^^^^^^^^^\n"
        "  name another character",
    ),
    (
        "pattern error",
        "GrammarError",
        "start: A\nA: /[a-z/\n",
        "this class is not closed\n"
        "  at line 2, column 5\n"
        "    A: /[a-z/\n"
        "        ^\n"
        "  Add a closing bracket, or write \\[ for the character.",
    ),
    (
        "pattern error behind slashes",
        "GrammarError",
        "start: /a\\/(b/\n",
        "this group is not closed\n"
        "  at line 1, column 12\n"
        "    start: /a\\/(b/\n"
        "               ^\n"
        "  Add a closing parenthesis, or write \\( for the character.",
    ),
    (
        "pattern group",
        "GrammarError",
        "start: /(?P<x>a)(?P=x)/\n",
        "a backreference depends on what a group matched, which no regular language can\n"
        "  at line 1, column 17\n"
        "    start: /(?P<x>a)(?P=x)/\n"
        "                    ^\n"
        "  Write the group's alternatives out, each with its repetition.",
    ),
    (
        "unknown flag",
        "GrammarError",
        "start: /a/k\n",
        'the flag "k" is not known for text\n'
        "  at line 1, column 8\n"
        "    start: /a/k\n"
        "           ^^^^\n"
        "  known are i, m, s, u and x",
    ),
    (
        "range of strings",
        "GrammarError",
        'start: "ab".."c"\n',
        "the ends of a range are single characters\n"
        "  at line 1, column 8\n"
        '    start: "ab".."c"\n'
        "           ^^^^\n"
        '  for example "a".."z"',
    ),
    (
        "range reversed",
        "GrammarError",
        'start: "z".."a"\n',
        "this range ends before it starts\n"
        "  at line 1, column 8\n"
        '    start: "z".."a"\n'
        "           ^^^^^^^^\n"
        '  write "a".."z"',
    ),
    (
        "look-ahead",
        "GrammarError",
        'start: /a(?=b)/ "b"\n',
        "a look-ahead sees the text around the terminal, which is not known here\n"
        "  at line 1, column 8\n"
        '    start: /a(?=b)/ "b"\n'
        "           ^^^^^^^^\n"
        "  take it out; terminals take as much as they can, and a keyword goes before a name that is as long",
    ),
    (
        "look-behind",
        "GrammarError",
        'start: "b" /(?<=b)a/\n',
        "a look-behind sees the text around the terminal, which is not known here\n"
        "  at line 1, column 12\n"
        '    start: "b" /(?<=b)a/\n'
        "               ^^^^^^^^^\n"
        "  take it out; terminals take as much as they can, and a keyword goes before a name that is as long",
    ),
    (
        "word boundary",
        "GrammarError",
        "start: A\nA: /\\bif\\b/\n",
        "\\b sees the text around the terminal, which is not known here\n"
        "  at line 2, column 1\n"
        "    A: /\\bif\\b/\n"
        "    ^\n"
        "  take it out; terminals take as much as they can, and a keyword goes before a name that is as long",
    ),
    (
        "anchor",
        "GrammarError",
        "start: /^a/\n",
        '"^" sees the text around the terminal, which is not known here\n'
        "  at line 1, column 8\n"
        "    start: /^a/\n"
        "           ^^^^\n"
        "  take it out; terminals take as much as they can, and a keyword goes before a name that is as long",
    ),
    (
        "lazy without end",
        "GrammarError",
        "start: /a.*?/\n",
        "nothing must follow the lazy quantifier, so it would take as little as it can\n"
        "  at line 1, column 8\n"
        "    start: /a.*?/\n"
        "           ^^^^^^\n"
        "  write what ends it, or take the question mark off",
    ),
    (
        "lazy with several ends",
        "GrammarError",
        "start: /a.*?b+/\n",
        "what follows the lazy quantifier may end in several places\n"
        "  at line 1, column 8\n"
        "    start: /a.*?b+/\n"
        "           ^^^^^^^^\n"
        "  make what comes behind its first end a terminal of its own",
    ),
    (
        "lazy in a repetition",
        "GrammarError",
        "start: /(a.*?b)*c/\n",
        "a lazy quantifier inside a repetition has no first end\n"
        "  at line 1, column 8\n"
        "    start: /(a.*?b)*c/\n"
        "           ^^^^^^^^^^^\n"
        '  write what must not be in it, as in [^"]*, or make the repetition a rule',
    ),
    (
        "declared",
        "GrammarError",
        'start: _INDENT "a"\n%declare _INDENT\n',
        '"_INDENT" is only declared, and nothing but a program can make it\n'
        "  at line 1, column 8\n"
        '    start: _INDENT "a"\n'
        "           ^^^^^^^\n"
        "  define it (_INDENT: ...) or take it out",
    ),
    (
        "unknown directive",
        "GrammarError",
        '%ignor " "\nstart: "a"\n',
        "%ignor is no directive\n"
        "  at line 1, column 1\n"
        '    %ignor " "\n'
        "    ^^^^^^\n"
        "  known are %ignore, %import, %declare, %override, %extend, %json, %regex, %lark, "
        '%llguidance, %if, or did you mean "ignore"?',
    ),
    (
        "unknown library",
        "GrammarError",
        "%import commons.INT\nstart: INT\n",
        'there is no library "commons"\n'
        "  at line 1, column 1\n"
        "    %import commons.INT\n"
        "    ^^^^^^^\n"
        "  there are common, lark, python, unicode; for a file of your own write %import .commons.name",
    ),
    (
        "unknown import",
        "GrammarError",
        "%import common.NUMBRE\nstart: NUMBRE\n",
        '"common" has no "NUMBRE"\n'
        "  at line 1, column 16\n"
        "    %import common.NUMBRE\n"
        "                   ^^^^^^\n"
        '  look what it defines, or did you mean "NUMBER"?',
    ),
    (
        "import without a name",
        "GrammarError",
        '%import common\nstart: "a"\n',
        "%import takes a file and a name in it\n"
        "  at line 1, column 1\n"
        "    %import common\n"
        "    ^^^^^^^\n"
        "  for example %import common.NUMBER",
    ),
    (
        "imported twice",
        "GrammarError",
        '%import common.INT\nINT: "1"\nstart: INT\n',
        '"INT" is imported already\n'
        "  at line 2, column 1\n"
        '    INT: "1"\n'
        "    ^^^\n"
        "  write %override INT: ..., or import it under another name",
    ),
    (
        "relative import",
        "GrammarError",
        "%import .file.a\nstart: a\n",
        '".file" is a file, and it is not known where files are\n'
        "  at line 1, column 1\n"
        "    %import .file.a\n"
        "    ^^^^^^^\n"
        "  give the directory: lark(text, directory=...)",
    ),
    (
        "import changes kind",
        "GrammarError",
        "%import common.INT -> int\nstart: int\n",
        "a rule stays a rule, and a terminal one\n"
        "  at line 1, column 23\n"
        "    %import common.INT -> int\n"
        "                          ^^^\n"
        "  write the new name in the same case",
    ),
    (
        "nothing to override",
        "GrammarError",
        '%override a: "x"\nstart: a\n',
        'there is no "a" to override\n'
        "  at line 1, column 11\n"
        '    %override a: "x"\n'
        "              ^\n"
        "  import or define it before",
    ),
    (
        "extend other parameters",
        "GrammarError",
        'a{x}: x\n%extend a{x, y}: y\nstart: a{"b"}\n',
        'the template "a" has other parameters\n'
        "  at line 2, column 9\n"
        "    %extend a{x, y}: y\n"
        "            ^\n"
        "  they are {x} where it is defined",
    ),
    (
        "template without arguments",
        "GrammarError",
        "start: a\na{x}: x\n",
        '"a" is a template\n  at line 1, column 8\n    start: a\n           ^\n  give its arguments: a{x}',
    ),
    (
        "too many arguments",
        "GrammarError",
        'start: a{"b", "c"}\na{x}: x\n',
        '"a" takes 1 argument, and here it has 2\n'
        "  at line 1, column 8\n"
        '    start: a{"b", "c"}\n'
        "           ^\n"
        "  write a{x}",
    ),
    (
        "no template",
        "GrammarError",
        'start: a{"b"}\na: "x"\n',
        '"a" is no template, and here it has 1\n  at line 1, column 8\n    start: a{"b"}\n           ^\n  write a',
    ),
    (
        "endless template",
        "LimitExceeded",
        'start: a{"x"}\na{x}: x a{b{x}}\nb{x}: x "y"\n',
        "templates are used with more than 2000 lists of arguments\n"
        "  at line 2, column 9\n"
        "    a{x}: x a{b{x}}\n"
        "            ^\n"
        "  does a template use itself with a longer argument?",
    ),
    (
        "alias in a terminal",
        "GrammarError",
        'start: A\nA: "a" -> b\n',
        'a terminal has no alias\n  at line 2, column 11\n    A: "a" -> b\n              ^\n  take it out',
    ),
    (
        "and in a rule",
        "GrammarError",
        'start: "a" & "b"\n',
        '"&" is for terminals\n'
        "  at line 1, column 12\n"
        '    start: "a" & "b"\n'
        "               ^\n"
        "  give what it is about a name in capitals, and use that",
    ),
    (
        "not in a rule",
        "GrammarError",
        'start: ~"a"\n',
        '"~" is for terminals\n'
        "  at line 1, column 8\n"
        '    start: ~"a"\n'
        "           ^\n"
        "  give what it is about a name in capitals, and use that",
    ),
    (
        "token",
        "GrammarError",
        'start: <|eot|> "a"\n',
        "the vocabulary has no token <|eot|>\n"
        "  at line 1, column 8\n"
        '    start: <|eot|> "a"\n'
        "           ^^^^^^^\n"
        "  did you mean <eos>?",
    ),
    (
        "token in a terminal",
        "GrammarError",
        "start: A\nA: <|eot|>\n",
        "tokens cannot stand in a terminal\n"
        "  at line 2, column 4\n"
        "    A: <|eot|>\n"
        "       ^^^^^^^\n"
        "  write a rule, in small letters",
    ),
    (
        "other grammar",
        "GrammarError",
        "start: @other\n",
        "there is no grammar @other\n"
        "  at line 1, column 8\n"
        "    start: @other\n"
        "           ^^^^^^\n"
        "  give it: lark(text, grammars={...})",
    ),
    (
        "broken JSON",
        "GrammarError",
        'start: %json {"type": }\n',
        "the JSON behind %json cannot be read: expecting value\n"
        "  at line 1, column 23\n"
        '    start: %json {"type": }\n'
        "                          ^\n"
        "  mend the JSON",
    ),
    (
        "bad schema",
        "GrammarError",
        'start: %json {"type": "strin"}\n',
        "\"type\" must be the name of a JSON type or a list of such names, not 'strin'\n"
        "  at #/type of the schema at line 1, column 8\n"
        '    start: %json {"type": "strin"}\n'
        "           ^^^^^^^^^^^^^^^^^^^^^^^\n"
        '  did you mean "string"?',
    ),
    (
        "unique items",
        "GrammarError",
        'start: %json {"type": "array", "items": {"type": "string"}, "uniqueItems": true}\n',
        "a schema that compares texts (uniqueItems, minProperties, ...) cannot stand inside a grammar yet\n"
        "  at line 1, column 8\n"
        '    start: %json {"type": "array", "items": {"type": "string"}, "uniqueItems": true}\n'
        "           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        "  take these keywords out, or compile the schema by itself",
    ),
    (
        "json in a terminal",
        "GrammarError",
        "start: A\nA: %json {}\n",
        "%json cannot stand in a terminal\n"
        "  at line 2, column 4\n"
        "    A: %json {}\n"
        "       ^^^^^^^^\n"
        "  write a rule, in small letters",
    ),
    (
        "regex of what",
        "GrammarError",
        'start: %regex {"substring": "x"}\n',
        "behind %regex stands an object with one of substring_chunks, substring_words, substring_chars\n"
        "  at line 1, column 8\n"
        '    start: %regex {"substring": "x"}\n'
        "           ^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        '  for example %regex {"substring_words": "the text"}',
    ),
    (
        "unknown attribute",
        "GrammarError",
        "start[lasy]: /a/\n",
        'the attribute "lasy" is not known\n'
        "  at line 1, column 7\n"
        "    start[lasy]: /a/\n"
        "          ^^^^\n"
        '  known are capture, lazy, max_tokens, stop, stop_capture, suffix, temperature, or did you mean "lazy"?',
    ),
    (
        "max_tokens of several terminals",
        "GrammarError",
        'start[max_tokens=3]: "a" "b"\n',
        "max_tokens is for rules that are one terminal\n"
        "  at line 1, column 7\n"
        '    start[max_tokens=3]: "a" "b"\n'
        "          ^^^^^^^^^^\n"
        "  give it to the rules that are",
    ),
    (
        "max_tokens of a terminal that must go on",
        "GrammarError",
        'start[max_tokens=3]: "ab"\n',
        "max_tokens closes a terminal where it stands, and this one may not end everywhere\n"
        "  at line 1, column 7\n"
        '    start[max_tokens=3]: "ab"\n'
        "          ^^^^^^^^^^\n"
        "  write a terminal such as /.*/, without suffix or lazy, and what ends it behind the rule",
    ),
    (
        "max_tokens that is none",
        "GrammarError",
        "start[max_tokens=0.5]: /a+/\n",
        "max_tokens is a whole number from 1 on\n"
        "  at line 1, column 7\n"
        "    start[max_tokens=0.5]: /a+/\n"
        "          ^^^^^^^^^^\n"
        "  for example max_tokens=100",
    ),
    (
        "temperature of several terminals",
        "GrammarError",
        'start[temperature=1]: "a" "b"\n',
        "temperature is for rules that are one terminal\n"
        "  at line 1, column 7\n"
        '    start[temperature=1]: "a" "b"\n'
        "          ^^^^^^^^^^^\n"
        "  give it to the rules that are",
    ),
    (
        "temperature below 0",
        "GrammarError",
        'start[temperature=-1]: "a"\n',
        "temperature is a number from 0 on\n"
        "  at line 1, column 7\n"
        '    start[temperature=-1]: "a"\n'
        "          ^^^^^^^^^^^\n"
        "  for example temperature=0.7",
    ),
    (
        "attribute twice",
        "GrammarError",
        'start[capture, capture="x"]: "a"\n',
        "capture stands here twice\n"
        "  at line 1, column 16\n"
        '    start[capture, capture="x"]: "a"\n'
        "                   ^^^^^^^\n"
        "  take one of them out",
    ),
    (
        "capture without a name",
        "GrammarError",
        'start[capture=3]: "a"\n',
        "capture takes a name in quotes, or nothing\n"
        "  at line 1, column 7\n"
        '    start[capture=3]: "a"\n'
        "          ^^^^^^^\n"
        '  for example capture="answer"',
    ),
    (
        "lazy with a value",
        "GrammarError",
        "start[lazy=1]: /a+/\n",
        "lazy takes no value\n  at line 1, column 7\n    start[lazy=1]: /a+/\n          ^^^^\n  write [lazy]",
    ),
    (
        "stop and suffix",
        "GrammarError",
        'start: a "x"\na[stop="x", suffix="y"]: /a+/\n',
        "stop and suffix cannot stand together\n"
        "  at line 2, column 3\n"
        '    a[stop="x", suffix="y"]: /a+/\n'
        "      ^^^^\n"
        "  take one of them out",
    ),
    (
        "stop without text",
        "GrammarError",
        'start: a\na[stop=""]: /a+/\n',
        'stop="" waits for the end of the sequence, after which nothing is read\n'
        "  at line 2, column 3\n"
        '    a[stop=""]: /a+/\n'
        "      ^^^^\n"
        "  take it out, or give a text",
    ),
    (
        "stop_capture alone",
        "GrammarError",
        'start[stop_capture="y"]: /a+/\n',
        "stop_capture captures what matched stop or suffix, and there is neither\n"
        "  at line 1, column 7\n"
        '    start[stop_capture="y"]: /a+/\n'
        "          ^^^^^^^^^^^^\n"
        "  add one, or take it out",
    ),
    (
        "stop_capture without a name",
        "GrammarError",
        'start[stop_capture, suffix="x"]: /a+/\n',
        "stop_capture takes a name in quotes\n"
        "  at line 1, column 7\n"
        '    start[stop_capture, suffix="x"]: /a+/\n'
        "          ^^^^^^^^^^^^\n"
        '  for example stop_capture="end"',
    ),
    (
        "suffix that is none",
        "GrammarError",
        "start[suffix=3]: /a+/\n",
        "suffix is a string, a pattern or a terminal\n"
        "  at line 1, column 7\n"
        "    start[suffix=3]: /a+/\n"
        "          ^^^^^^\n"
        '  for example suffix="</think>"',
    ),
    (
        "stop that is not taken back",
        "GrammarError",
        'start: a "y"\na[stop="x"]: /a+/\n',
        "what stops this rule is not part of it, and no sampler takes back what it has written\n"
        "  at line 1, column 8\n"
        '    start: a "y"\n'
        "           ^\n"
        "  let the same text follow wherever the rule is used, or write suffix=... instead of stop=...",
    ),
    (
        "stop of the start",
        "GrammarError",
        'start[stop="x"]: /a+/\n',
        "what stops this rule is not part of it, and no sampler takes back what it has written\n"
        "  at line 1, column 1\n"
        '    start[stop="x"]: /a+/\n'
        "    ^^^^^\n"
        "  let the same text follow wherever the rule is used, or write suffix=... instead of stop=...",
    ),
    (
        "capture in a grammar inside",
        "GrammarError",
        'start: "a" %lark { start[capture]: "b" }\n',
        "capture, temperature and max_tokens have no meaning in a grammar inside another one\n"
        "  at line 1, column 12\n"
        '    start: "a" %lark { start[capture]: "b" }\n'
        "               ^^^^^\n"
        "  give them to a rule of the grammar around it, or write its rules there",
    ),
    (
        "lazy rule",
        "GrammarError",
        'start[lazy]: a\na: "x"\n',
        '"a" is a rule, and a terminal is made of terminals\n'
        "  at line 1, column 14\n"
        "    start[lazy]: a\n"
        "                 ^\n"
        "  write the terminal as a rule, in small letters",
    ),
    (
        "setting",
        "GrammarError",
        '%llguidance {"no_forcin": true}\nstart: "a"\n',
        'the setting "no_forcin" is not known\n'
        "  at line 1, column 1\n"
        '    %llguidance {"no_forcin": true}\n'
        "    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        "  known are no_forcing, allow_initial_skip, allow_invalid_utf8, skip_repetition, or did you "
        'mean "no_forcing"?',
    ),
    (
        "parameter of a rule without one",
        "GrammarError",
        'start: b::0\nb: "x"\n',
        '"b" has no parameter\n  at line 1, column 8\n    start: b::0\n           ^\n  write b, or define it as b::_',
    ),
    (
        "rule without its parameter",
        "GrammarError",
        'start: b\nb::_: "x"\n',
        '"b" has a parameter\n  at line 1, column 8\n    start: b\n           ^\n  give it one: b::0',
    ),
    (
        "condition without a parameter",
        "GrammarError",
        'start: "x" %if true\n',
        "a condition stands in a rule that has no parameter\n"
        "  at line 1, column 8\n"
        '    start: "x" %if true\n'
        "           ^^^\n"
        "  define the rule as name::_",
    ),
    (
        "parameter computed of nothing",
        "GrammarError",
        'start: a::set_bit(3)\na::_: "x"\n',
        "there is no parameter here from which set_bit(3) could be computed\n"
        "  at line 1, column 8\n"
        "    start: a::set_bit(3)\n"
        "           ^\n"
        "  give a number: a::0",
    ),
    (
        "no change",
        "GrammarError",
        'start: a::0\na::_: "x" | "y" a::setbit(3)\n',
        '"setbit" is nothing that a parameter can be\n'
        "  at line 2, column 20\n"
        '    a::_: "x" | "y" a::setbit(3)\n'
        "                       ^^^^^^\n"
        '  write set_bit(0), or did you mean "set_bit"?',
    ),
    (
        "no condition",
        "GrammarError",
        'start: a::0\na::_: "x" %if has_bit(3)\n',
        '"has_bit" is no condition\n'
        "  at line 2, column 15\n"
        '    a::_: "x" %if has_bit(3)\n'
        "                  ^^^^^^^\n"
        "  write bit_set(0)",
    ),
    (
        "bit beyond the last",
        "GrammarError",
        'start: a::0\na::_: "x" %if bit_set(64)\n',
        "there is no bit 64\n"
        "  at line 2, column 23\n"
        '    a::_: "x" %if bit_set(64)\n'
        "                          ^^\n"
        "  bits count from 0 to 63",
    ),
    (
        "bits in disorder",
        "GrammarError",
        'start: a::0\na::_: "x" %if is_ones([3:3])\n',
        "[3:3] are no bits\n"
        "  at line 2, column 23\n"
        '    a::_: "x" %if is_ones([3:3])\n'
        "                          ^^^^^\n"
        "  write [x:y] with x < y <= 64, or _ for all",
    ),
    (
        "value of too many bits",
        "GrammarError",
        'start: a::0x10000000000000000\na::_: "x"\n',
        '"0x10000000000000000" is no number of 64 bits\n'
        "  at line 1, column 11\n"
        "    start: a::0x10000000000000000\n"
        "              ^^^^^^^^^^^^^^^^^^^\n"
        "  write one, such as 5 or 0x1f",
    ),
    (
        "parenthesis in a condition",
        "GrammarError",
        'start: a::0\na::_: "x" %if bit_set 3)\n',
        'there is "3" where "(" should be\n'
        "  at line 2, column 23\n"
        '    a::_: "x" %if bit_set 3)\n'
        "                          ^\n"
        "  write (",
    ),
    (
        "parameter in a definition",
        "GrammarError",
        'start: a::0\na::0: "x"\n',
        '"::0" cannot stand behind a name that is defined\n'
        "  at line 2, column 2\n"
        '    a::0: "x"\n'
        "     ^^^\n"
        "  a rule with a parameter is defined as name::_",
    ),
    (
        "attributes with a parameter",
        "GrammarError",
        'start: a::0\na::_[capture]: "x"\n',
        "attributes are not for rules with a parameter\n"
        "  at line 2, column 6\n"
        '    a::_[capture]: "x"\n'
        "         ^^^^^^^\n"
        "  give them to a rule around it",
    ),
    (
        "parameter without end",
        "UnsatisfiableSchema",
        'start: a::0\na::_: "x" a::set_bit(0)\n',
        'the grammar derives nothing: rule "start" never gets to an end\n'
        "  at line 1, column 1\n"
        "    start: a::0\n"
        "    ^^^^^\n"
        "  look at the conditions: some value has to let every rule end",
    ),
    (
        "ignored and used",
        "GrammarError",
        'start: "a" WS "b"\nWS: / +/\n%ignore WS\n',
        'rule "start" uses WS, which is ignored everywhere\n'
        "  at line 1, column 1\n"
        '    start: "a" WS "b"\n'
        "    ^^^^^\n"
        "  take it out of the rule, or ignore something else",
    ),
    (
        "character",
        "GrammarError",
        'start: "a" ; "b"\n',
        "';' has no meaning here\n"
        "  at line 1, column 12\n"
        '    start: "a" ; "b"\n'
        "               ^\n"
        "  take it out: the end of the line ends the rule",
    ),
    (
        "nested grammar",
        "GrammarError",
        'start: %lark "a"\n',
        "behind %lark stands a grammar in braces\n"
        "  at line 1, column 8\n"
        '    start: %lark "a"\n'
        "           ^^^^^\n"
        '  for example %lark { start: "a" }',
    ),
    (
        "nested grammar without start",
        "GrammarError",
        'start: "a" %lark { begin: "b" }\n',
        'there is no rule "start" to begin with\n'
        "  at line 1, column 20\n"
        '    start: "a" %lark { begin: "b" }\n'
        "                       ^^^^^\n"
        "  name the first rule start",
    ),
]
