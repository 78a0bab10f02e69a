"""Texts in GBNF and EBNF that are refused, with all that is said of each."""

from __future__ import annotations

from . import Bad

GBNF: dict[str, Bad] = {
    "nothing similar": Bad("root ::= other", 'rule "root" uses "other", which is not defined', "1:10-10", "define it"),
    "class not closed": Bad("root ::= [a-z", "this class is not closed", "1:10-10", "close it with ]"),
    "class with half a range": Bad("root ::= [a-", "this class is not closed", "1:10-10", "close it with ]"),
    "group not closed": Bad(
        'root ::= ("a" | "b"\nx ::= "c"',
        "this group is not closed: there is ':' where ) should be",
        "1:10-10",
        "close it with )",
    ),
    "parenthesis too many": Bad(
        'root ::= "a")', "this parenthesis closes no group", "1:13-13", "take it out, or open one"
    ),
    "nothing to repeat": Bad('root ::= "a" | *', "there is nothing to repeat", "1:16-16", "put an element before it"),
    "empty text repeated": Bad('root ::= ""+', "there is nothing to repeat", "1:12-12", "put an element before it"),
    "bound not closed": Bad(
        'root ::= "a"{2,3',
        "a repetition ends with }, not with the end of the grammar",
        "1:13-13",
        "write {2}, {2,} or {2,5}",
    ),
    "bound too large": Bad(
        'root ::= "a"{99999999999}', "a repetition has more than 1000000000 copies", "1:13-13", "leave the bound out"
    ),
    "another unknown escape": Bad(
        'root ::= "\\q+"',
        "there is no escape \\q",
        "1:11-11",
        'escapes are \\n \\t \\r \\\\ \\" \\[ \\] \\- \\xXX \\uXXXX \\UXXXXXXXX; a backslash is \\\\',
    ),
    "half an escape": Bad(
        'root ::= "\\u12"', "the escape \\u takes 4 hexadecimal digits", "1:11-11", 'for example "\\u0041"'
    ),
    "surrogate": Bad(
        'root ::= "\\uD83D\\uDE00"', "U+D83D is a surrogate: no text holds it", "1:11-11", "name another character"
    ),
    "beyond Unicode": Bad(
        'root ::= "\\U00110000"',
        "U+110000 is beyond the last code point, U+10FFFF: no text holds it",
        "1:11-11",
        "name another character",
    ),
    "zero": Bad('root ::= "a\\x00"', "no text holds U+0000", "1:12-12", "take it out"),
    "two rules on a line": Bad(
        'root ::= a a ::= "b"', "':' is no element of a rule", "1:14-14", 'end the line, or put text into "quotes"'
    ),
    "token beyond the vocabulary": Bad(
        "root ::= <[4200]>", "token 4200 is not in the vocabulary of 257 tokens", "1:10-10", "ids are below 257"
    ),
    "token without such a name": Bad(
        "root ::= !<think>",
        "the vocabulary has no token <think>",
        "1:11-11",
        "name one of its tokens, or give its id: <[10]>",
    ),
    "several tokens": Bad("root ::= <[1,2]>", "<[1,2]> names no token", "1:10-10", "a token is <[42]> or <|its name|>"),
    "token without end": Bad('root ::= "a" <think', "this token is not closed", "1:14-14", "close it with >"),
    "no text at all": Bad(
        'root ::= "a" [^\\x01-\\U0010FFFF]',
        'the grammar derives nothing: rule "root" needs /[^\\x01-\\U0010FFFF]/, which matches no text',
        "line 1, column 1",
        "mend the pattern, or give an alternative to it",
        "UnsatisfiableSchema",
    ),
    "a lone surrogate": Bad(
        'root ::= "\ud800"', "the grammar holds U+D800, which is no text", "1:11-11", "take it out"
    ),
    "a character that is none": Bad(
        'root ::= "a\x00b"', "the grammar holds U+0000, which is no text", "1:12-12", "take it out"
    ),
    "long line": Bad(
        "root ::= " + '"aaaaaaaa" ' * 30 + "%" + ' "b"' * 30,
        "'%' is no element of a rule",
        "line 1, column 340\n"
        '    aaaa" "aaaaaaaa" "aaaaaaaa" "aaaaaaaa" "aaaaaaaa" % "b" "b" "b" "b" "b" "b" "b" "b" "b" "b" "b" "b" \n'
        "                                                      ^",
        'end the line, or put text into "quotes"',
    ),
    "tabs": Bad(
        'root ::=\t"a"\t%',
        "'%' is no element of a rule",
        'line 1, column 14\n    root ::=\t"a"\t%\n            \t   \t^',
        'end the line, or put text into "quotes"',
    ),
}
EBNF: dict[str, Bad] = {
    "no definition": Bad(
        '"a"', "a rule begins with its name, not with '\"'", "1:1-1", 'for example: root ::= "yes" | "no"'
    ),
    "twice": Bad('root ::= "a"\nroot ::= "b"', 'rule "root" is defined twice', "2:1-1", "join the alternatives with |"),
    "empty rule": Bad(
        'root ::=\nb ::= "a"', "there is a new rule where an element should be", "2:1-1", 'write "" for nothing'
    ),
    "twice repeated": Bad(
        'root ::= "a"+?', "there is nothing to repeat before '?'", "1:14-14", "put an element before it"
    ),
    "group not closed": Bad(
        'root ::= ("a"',
        "this group is not closed: there is the end of the grammar where ) should be",
        "1:10-10",
        "close it with )",
    ),
    "parenthesis too many": Bad(
        'root ::= "a")', "this parenthesis closes no group", "1:13-13", "take it out, or open one"
    ),
    "text over lines": Bad(
        'root ::= "a\nb"', "this text is not closed", "1:10-10", 'close it with " on the same line; a newline is \\n'
    ),
    "class over lines": Bad(
        "root ::= [a\nb]", "this class is not closed", "1:10-10", "close it with ] on the same line; a newline is \\n"
    ),
    "set in a class": Bad("root ::= [\\d]", "the class \\d is not supported here", "1:11-11", "write 0-9"),
    "unknown escape": Bad(
        'root ::= "\\d"',
        "there is no escape \\d",
        "1:11-11",
        'escapes are as in C: \\n \\t \\" \\\\ \\xHH \\uXXXX \\UXXXXXXXX and others; a backslash is \\\\',
    ),
    "half an escape": Bad(
        'root ::= "\\x"',
        "there is no escape \\x",
        "1:11-11",
        'escapes are as in C: \\n \\t \\" \\\\ \\xHH \\uXXXX \\UXXXXXXXX and others; a backslash is \\\\',
    ),
    "beyond Unicode": Bad(
        'root ::= "\\x110000"',
        "U+110000 is beyond the last code point, U+10FFFF: no text holds it",
        "1:11-11",
        "name another character",
    ),
    "look-ahead": Bad(
        'root ::= "a" (= "b")',
        "look-ahead assertions are not supported",
        "1:14-14",
        "take it out: masks are exact without it",
    ),
    "attributes": Bad(
        'root[max_tokens=3] ::= "a"', "attributes of rules are not supported", "1:5-5", "leave [max_tokens=3] out"
    ),
    "boolean": Bad("root ::= true", "true is no element", "1:10-10", 'write "true" for the text'),
    "rule named so": Bad('true ::= "a"', '"true" is no name', "1:1-1", "choose another one"),
    "bounds": Bad('root ::= "a"{5,2}', "a repetition of at least 5 and at most 2 cannot be", "1:13-13", "write {2,5}"),
    "bound": Bad(
        'root ::= "a"{x}',
        "a repetition takes a number, not 'x'",
        "1:13-13",
        "for any number of it write (x)*; a number of times is {2,5}",
    ),
    "braces around what is repeated": Bad(
        'root ::= { "a" | "b" } "c"',
        "there is nothing to repeat before '{'",
        "1:10-10",
        'for any number of it write ("a" | "b")*; a number of times is {2,5}',
    ),
    "bound not closed": Bad(
        'root ::= "a"{2',
        "a repetition ends with }, not with the end of the grammar",
        "1:13-13",
        "write {2}, {2,} or {2,5}",
    ),
    "half escape at the end": Bad(
        'root ::= "a\\',
        "an escape is not complete",
        "1:12-12",
        'escapes are as in C: \\n \\t \\" \\\\ \\xHH \\uXXXX \\UXXXXXXXX and others; a backslash is \\\\',
    ),
}
