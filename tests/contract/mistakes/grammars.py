"""Mistakes in GBNF, EBNF and Lark's notation."""

from __future__ import annotations

from . import Bad, Mistake, compiling, mistakes

GBNF: dict[str, Bad] = {
    "range the wrong way round": Bad(
        'root ::= "x" [z-a]', "the bounds of this range are the wrong way round", "1:15-15", "write the lower one first"
    ),
    "range the wrong way round beside others": Bad(
        "root ::= [bz-a]", "the bounds of this range are the wrong way round", "1:12-12", "write the lower one first"
    ),
    "range the wrong way round in a negated class": Bad(
        "root ::= [^z-a]", "the bounds of this range are the wrong way round", "1:12-12", "write the lower one first"
    ),
    "no root": Bad('start ::= "a"', 'there is no rule "root" to begin with', "1:1-1", "name the first rule so"),
    "empty": Bad("", 'there is no rule "root" to begin with', "1:1-1", 'write one: root ::= "yes" | "no"'),
    "undefined rule": Bad(
        'root ::= item\nitems ::= "a"',
        'rule "root" uses "item", which is not defined',
        "1:10-10",
        'define it, or did you mean "items"?',
    ),
    "equals sign": Bad('root = "a"', '"::=" has to follow the name "root", not \'=\'', "1:6-6", "write root ::= ..."),
    "colon": Bad(
        'root: "a"',
        '"::=" has to follow the name "root", not \':\'',
        "1:5-5",
        "write root ::= ...; Compiler.lark reads rules with a colon",
    ),
    "one colon with equals": Bad(
        'root := "a"', '"::=" has to follow the name "root", not \':\'', "1:6-6", "write root ::= ..."
    ),
    "bar in front": Bad(
        'root ::=\n  | "a"\n  | "b"',
        "an alternative begins a line",
        "3:3-3",
        "end the line before with |, or put the alternatives into ( )",
    ),
    "bar on the next line": Bad(
        'root ::= "a"\n  | "b"',
        "an alternative begins a line",
        "2:3-3",
        "end the line before with |, or put the alternatives into ( )",
    ),
    "single quotes": Bad(
        "root ::= 'a'", '"\'" is no element of a rule', "1:10-10", 'put texts into double quotes: "..."'
    ),
    "semicolon": Bad(
        'root ::= "a";', "';' is no element of a rule", "1:13-13", "take it out: the end of the line ends the rule"
    ),
    "comma": Bad(
        'root ::= "a", "b"',
        "',' is no element of a rule",
        "1:13-13",
        "take it out: elements follow each other without a sign",
    ),
    "braces": Bad(
        'root ::= "b" { "a" }',
        "a repetition takes a number, not '\"'",
        "1:14-14",
        'for any number of it write ("a")*; a number of times is {2,5}',
    ),
    "text not closed": Bad('root ::= "a', "this text is not closed", "1:10-10", 'close it with "'),
    "group not closed": Bad(
        'root ::= ("a" | "b"',
        "this group is not closed: there is the end of the grammar where ) should be",
        "1:10-10",
        "close it with )",
    ),
    "comment of C": Bad(
        '// a comment\nroot ::= "a"', "a rule begins with its name, not with '/'", "1:1-1", "a comment begins with #"
    ),
    "class of a regex": Bad(
        "root ::= \\d+",
        "'\\\\' is no element of a rule",
        "1:10-10",
        "write a class of characters, such as [0-9], or put the text into quotes",
    ),
    "escape of a regex in a class": Bad(
        "root ::= [\\d]+", "there is no escape \\d", "1:11-11", "for these characters write the class [0-9]"
    ),
    "angle brackets of BNF": Bad(
        '<root> ::= "a"', "a rule begins with its name, not with '<'", "1:1-1", "write names without < and >"
    ),
    "endless recursion": Bad(
        'root ::= "a" root',
        'the grammar derives nothing: rule "root" needs itself without end',
        "line 1, column 1",
        "give it an alternative that ends",
        "UnsatisfiableSchema",
    ),
    "token unknown": Bad(
        "root ::= <|im_end|>",
        "the vocabulary has no token <|im_end|>",
        "1:10-10",
        "name one of its tokens, or give its id: <[10]>",
    ),
    "repetition the wrong way round": Bad(
        'root ::= "a"{3,2}', "a repetition of at least 3 and at most 2 cannot be", "1:13-13", "write {2,3}"
    ),
    "repetition without least": Bad(
        'root ::= "a"{,3}', "a repetition takes a number, not ','", "1:13-13", "write {0,5}, {2}, {2,} or {2,5}"
    ),
    "regex": Bad(
        "root ::= /[a-z]+/",
        "'/' is no element of a rule",
        "1:10-10",
        "there are no patterns here: write classes of characters, such as [a-z]+",
    ),
}

EBNF: dict[str, Bad] = {
    "semicolon": Bad(
        'root ::= "a";',
        "there is ';' where an element should be",
        "1:13-13",
        "take it out: the end of the line ends the rule",
    ),
    "comma": Bad(
        'root ::= "a", "b"',
        "there is ',' where an element should be",
        "1:13-13",
        "take it out: elements follow each other without a sign",
    ),
    "braces": Bad(
        'root ::= { "a" }',
        "there is nothing to repeat before '{'",
        "1:10-10",
        'for any number of it write ("a")*; a number of times is {2,5}',
    ),
    "braces behind an element": Bad(
        'root ::= "b" { "a" } "c"',
        "a repetition takes a number, not '\"'",
        "1:14-14",
        'for any number of it write ("a")*; a number of times is {2,5}',
    ),
    "equals sign": Bad('root = "a"', '"::=" has to follow the name "root", not \'=\'', "1:6-6", "write root ::= ..."),
    "no root": Bad('start ::= "a"', 'there is no rule "root" to begin with', "1:1-1", "name the first rule so"),
    "trailing bar": Bad(
        'root ::= "a" |',
        "there is the end of the grammar where an element should be",
        "1:15-15",
        'write "" for nothing',
    ),
    "single quotes": Bad(
        "root ::= 'a'", 'there is "\'" where an element should be', "1:10-10", 'put texts into double quotes: "..."'
    ),
    "range the wrong way round": Bad(
        "root ::= [z-a]", "the bounds of this range are the wrong way round", "1:11-11", "write the lower one first"
    ),
    "undefined rule": Bad("root ::= value", 'rule "root" uses "value", which is not defined', "1:10-10", "define it"),
    "comment of ISO": Bad(
        '(* a comment *)\nroot ::= "a"', "a rule begins with its name, not with '('", "1:1-1", "a comment begins with #"
    ),
    "hex character of XML, which begins a comment": Bad(
        "root ::= #x41", "there is the end of the grammar where an element should be", "1:14-14", 'write "" for nothing'
    ),
    "class not closed": Bad(
        "root ::= [a-z", "this class is not closed", "1:10-10", "close it with ] on the same line; a newline is \\n"
    ),
    "class of a regex": Bad("root ::= [\\w]+", "the class \\w is not supported here", "1:11-11", "write A-Za-z0-9_"),
    "two rules in a line": Bad(
        'root ::= a a ::= "x"', "a rule begins a line", "1:12-12", "put a newline before its name"
    ),
    "endless recursion": Bad(
        'root ::= "(" root ")"',
        'the grammar derives nothing: rule "root" needs itself without end',
        "line 1, column 1",
        "give it an alternative that ends",
        "UnsatisfiableSchema",
    ),
    "a Lark grammar": Bad(
        'start: "a"',
        '"::=" has to follow the name "start", not \':\'',
        "1:6-6",
        "write start ::= ...; Compiler.lark reads rules with a colon",
    ),
    "macro": Bad(
        'root ::= TagDispatch(("a", b))\nb ::= "c"',
        "TagDispatch(...) is not supported",
        "1:10-10",
        "write what it means as rules",
    ),
}

LARK: dict[str, Bad] = {
    "no start": Bad('begin: "a"', 'there is no rule "start" to begin with', "1:1-5", "name the first rule start"),
    "undefined rule": Bad(
        'start: "[" items "]"\nitem: "x"',
        'the rule "items" is not defined',
        "1:12-16",
        'define it, or did you mean "item"?',
    ),
    "undefined terminal": Bad(
        "start: NUMBRE\nNUMBER: /[0-9]+/",
        'the terminal "NUMBRE" is not defined',
        "1:8-13",
        'define it, or did you mean "NUMBER"?',
    ),
    "terminal not imported": Bad(
        "start: INT", 'the terminal "INT" is not defined', "1:8-10", "import it: %import common.INT"
    ),
    "import unknown": Bad(
        "start: INTEGER\n%import common.INTEGER",
        '"common" has no "INTEGER"',
        "2:16-22",
        'look what it defines, or did you mean "INT"?',
    ),
    "import of an unknown library": Bad(
        "start: A\n%import commons.A",
        'there is no library "commons"',
        "2:1-7",
        "there are common, lark, python, unicode; for a file of your own write %import .commons.name",
    ),
    "import of a file without a directory": Bad(
        "start: A\n%import .tokens.A",
        '".tokens" is a file, and it is not known where files are',
        "2:1-7",
        "give the directory: lark(text, directory=...)",
    ),
    "mixed case": Bad(
        'start: Item\nItem: "x"',
        'the name "Item" has small and capital letters',
        "1:8-11",
        "rules are in small letters (item), terminals in capitals (ITEM)",
    ),
    "rule in a terminal": Bad(
        'start: A\nA: "a" b\nb: "b"',
        '"b" is a rule, and a terminal is made of terminals',
        "2:8-8",
        "write the terminal as a rule, in small letters",
    ),
    "recursive terminal": Bad(
        'start: A\nA: "(" A? ")"',
        'the terminal "A" refers to itself',
        "2:8-8",
        "a terminal is a regular expression; write what is recursive as a rule, in small letters",
    ),
    "alias in capitals": Bad(
        'start: "a" -> First',
        'the name "First" has small and capital letters',
        "1:15-19",
        "rules are in small letters (first), terminals in capitals (FIRST)",
    ),
    "alias of a terminal": Bad('start: A\nA: "a" -> x', "a terminal has no alias", "2:11-11", "take it out"),
    "alias without a name": Bad(
        'start: "a" ->', "the end of the grammar cannot stand here", "1:14-14", "here the name of a rule may stand"
    ),
    "equals sign": Bad('start = "a"', "`=` cannot stand here", "1:7-7", "a rule is written name: ..."),
    "sign of GBNF": Bad(
        'start ::= "a"', "::= is GBNF's sign", "1:7-8", "a rule is written name: ...; for GBNF there is Compiler.gbnf"
    ),
    "semicolon": Bad(
        'start: "a";', "';' has no meaning here", "1:11-11", "take it out: the end of the line ends the rule"
    ),
    "comma": Bad(
        'start: "a", "b"',
        "`,` cannot stand here",
        "1:11-11",
        'take it out: parts follow each other without a sign; for the character, quote it: ","',
    ),
    "braces": Bad(
        'start: { "a" }',
        "`{` cannot stand here",
        "1:8-8",
        "write (...)* for what may come any number of times, and {2,5} after it for a number of times",
    ),
    "single quotes": Bad("start: 'a'", "strings stand in double quotes", "1:8-8", 'write "..."'),
    "class without slashes": Bad(
        "start: [a-z]+", 'the rule "a-z" is not defined', "1:9-11", "for one of the characters write /[a-z]/"
    ),
    "pattern malformed": Bad(
        "start: A\nA: /[a-z/",
        "this class is not closed",
        "2:5-5",
        "Add a closing bracket, or write \\[ for the character.",
    ),
    "look-ahead": Bad(
        'start: /a(?=b)/ "b"',
        "a lookahead sees the text around the terminal, which is not known here",
        "1:8-15",
        "take it out; terminals take as much as they can, and a keyword goes before a name that is as long",
    ),
    "endless recursion": Bad(
        'start: "a" start',
        'the grammar derives nothing: rule "start" needs itself without end',
        "1:1-5",
        "give it an alternative that ends",
        "UnsatisfiableSchema",
    ),
    "terminals that take each other's text": Bad(
        "start: A B\nA: /[a-z]+/\nB: /[a-z]/",
        'no document fulfils the grammar: A takes the beginning of B, which has to follow it in rule "start"',
        "1:1-5",
        (
            "let something ignored stand between such terminals (%ignore), let them begin and end with "
            'different characters, or use lexer="exact" (--lexer exact)'
        ),
        "UnsatisfiableSchema",
    ),
    "two rules of a name": Bad(
        'start: a\na: "x"\na: "y"',
        '"a" is defined twice',
        "3:1-1",
        "the other one is at line 2, column 1; rename one of them",
    ),
    "json with a bad schema": Bad(
        'start: %json {"type": "strin"}',
        "\"type\" must be the name of a JSON type or a list of such names, not 'strin'",
        (
            "#/type of the schema at line 1, column 8\n"
            '    start: %json {"type": "strin"}\n'
            "           ^^^^^^^^^^^^^^^^^^^^^^^"
        ),
        'did you mean "string"?',
    ),
    "at-name unknown": Bad(
        "start: @tables", "there is no grammar @tables", "1:8-14", "give it: lark(text, grammars={...})"
    ),
}

MISTAKES = [
    *mistakes("GBNF", "gbnf", GBNF),
    *mistakes("EBNF", "ebnf", EBNF),
    *mistakes("Lark", "lark", LARK),
    Mistake(
        "Lark: start of another name",
        compiling("lark", 'value: "a"', start="values"),
        'there is no rule "values" to begin with',
        'name the first rule values, or did you mean "value"?',
        where='line 1, column 1\n    value: "a"\n    ^^^^^',
    ),
]
