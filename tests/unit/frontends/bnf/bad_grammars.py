"""Bad grammars in GBNF and EBNF, each with its whole message: data of the tests, and a tour of what can go wrong."""

from __future__ import annotations

GBNF: dict[str, tuple[str, str]] = {
    "undefined name": (
        'list ::= "[" item "]"\nroot ::= list\nitems ::= [0-9]+',
        'rule "list" uses "item", which is not defined\n'
        "  at line 1, column 14\n"
        '    list ::= "[" item "]"\n'
        "                 ^\n"
        '  define it, or did you mean "items"?',
    ),
    "nothing similar": (
        "root ::= other",
        'rule "root" uses "other", which is not defined\n'
        "  at line 1, column 10\n"
        "    root ::= other\n"
        "             ^\n"
        "  define it",
    ),
    "no root": (
        'start ::= "a"',
        'there is no rule "root" to begin with\n'
        "  at line 1, column 1\n"
        '    start ::= "a"\n'
        "    ^\n"
        "  name the first rule so",
    ),
    "no text": (
        "  # nothing\n",
        'there is no rule "root" to begin with\n'
        "  at line 1, column 1\n"
        "      # nothing\n"
        "    ^\n"
        '  write one: root ::= "yes" | "no"',
    ),
    "no definition sign": (
        'root = "a"',
        '"::=" has to follow the name "root", not \'=\'\n'
        "  at line 1, column 6\n"
        '    root = "a"\n'
        "         ^\n"
        "  write root ::= ...",
    ),
    "text not closed": (
        'root ::= "a',
        'this text is not closed\n  at line 1, column 10\n    root ::= "a\n             ^\n  close it with "',
    ),
    "class not closed": (
        "root ::= [a-z",
        "this class is not closed\n  at line 1, column 10\n    root ::= [a-z\n             ^\n  close it with ]",
    ),
    "class with half a range": (
        "root ::= [a-",
        "this class is not closed\n  at line 1, column 10\n    root ::= [a-\n             ^\n  close it with ]",
    ),
    "group not closed": (
        'root ::= ("a" | "b"\nx ::= "c"',
        "this group is not closed: there is ':' where ) should be\n"
        "  at line 1, column 10\n"
        '    root ::= ("a" | "b"\n'
        "             ^\n"
        "  close it with )",
    ),
    "parenthesis too many": (
        'root ::= "a")',
        "this parenthesis closes no group\n"
        "  at line 1, column 13\n"
        '    root ::= "a")\n'
        "                ^\n"
        "  take it out, or open one",
    ),
    "nothing to repeat": (
        'root ::= "a" | *',
        "there is nothing to repeat\n"
        "  at line 1, column 16\n"
        '    root ::= "a" | *\n'
        "                   ^\n"
        "  put an element before it",
    ),
    "empty text repeated": (
        'root ::= ""+',
        "there is nothing to repeat\n"
        "  at line 1, column 12\n"
        '    root ::= ""+\n'
        "               ^\n"
        "  put an element before it",
    ),
    "bound without number": (
        'root ::= "a"{,3}',
        "a repetition takes a number, not ','\n"
        "  at line 1, column 13\n"
        '    root ::= "a"{,3}\n'
        "                ^\n"
        "  write {0,5}, {2}, {2,} or {2,5}",
    ),
    "bound not closed": (
        'root ::= "a"{2,3',
        "a repetition ends with }, not with the end of the grammar\n"
        "  at line 1, column 13\n"
        '    root ::= "a"{2,3\n'
        "                ^\n"
        "  write {2}, {2,} or {2,5}",
    ),
    "bounds the wrong way round": (
        'root ::= "a"{3,2}',
        "a repetition of at least 3 and at most 2 cannot be\n"
        "  at line 1, column 13\n"
        '    root ::= "a"{3,2}\n'
        "                ^\n"
        "  write {2,3}",
    ),
    "bound too large": (
        'root ::= "a"{99999999999}',
        "a repetition has more than 1000000000 copies\n"
        "  at line 1, column 13\n"
        '    root ::= "a"{99999999999}\n'
        "                ^\n"
        "  leave the bound out",
    ),
    "unknown escape": (
        'root ::= "\\d+"',
        "there is no escape \\d\n"
        "  at line 1, column 11\n"
        '    root ::= "\\d+"\n'
        "              ^\n"
        "  for these characters write the class [0-9]",
    ),
    "another unknown escape": (
        'root ::= "\\q+"',
        "there is no escape \\q\n"
        "  at line 1, column 11\n"
        '    root ::= "\\q+"\n'
        "              ^\n"
        '  escapes are \\n \\t \\r \\\\ \\" \\[ \\] \\- \\xXX \\uXXXX \\UXXXXXXXX; a backslash is \\\\',
    ),
    "half an escape": (
        'root ::= "\\u12"',
        "the escape \\u takes 4 hexadecimal digits\n"
        "  at line 1, column 11\n"
        '    root ::= "\\u12"\n'
        "              ^\n"
        '  for example "\\u0041"',
    ),
    "surrogate": (
        'root ::= "\\uD83D\\uDE00"',
        "U+D83D is a surrogate: no text holds it\n"
        "  at line 1, column 11\n"
        '    root ::= "\\uD83D\\uDE00"\n'
        "              ^\n"
        "  name another character",
    ),
    "beyond Unicode": (
        'root ::= "\\U00110000"',
        "U+110000 is beyond the last code point, U+10FFFF: no text holds it\n"
        "  at line 1, column 11\n"
        '    root ::= "\\U00110000"\n'
        "              ^\n"
        "  name another character",
    ),
    "zero": (
        'root ::= "a\\x00"',
        'no text holds U+0000\n  at line 1, column 12\n    root ::= "a\\x00"\n               ^\n  take it out',
    ),
    "alternative on its own line": (
        'root ::= "a"\n  | "b"',
        "an alternative begins a line\n"
        "  at line 2, column 3\n"
        '      | "b"\n'
        "      ^\n"
        "  end the line before with |, or put the alternatives into ( )",
    ),
    "two rules on a line": (
        'root ::= a a ::= "b"',
        "':' is no element of a rule\n"
        "  at line 1, column 14\n"
        '    root ::= a a ::= "b"\n'
        "                 ^\n"
        '  end the line, or put text into "quotes"',
    ),
    "quotes of another kind": (
        "root ::= 'a'",
        '"\'" is no element of a rule\n'
        "  at line 1, column 10\n"
        "    root ::= 'a'\n"
        "             ^\n"
        '  put texts into double quotes: "..."',
    ),
    "a pattern": (
        "root ::= /a+/",
        "'/' is no element of a rule\n"
        "  at line 1, column 10\n"
        "    root ::= /a+/\n"
        "             ^\n"
        "  there are no patterns here: write classes of characters, such as [a-z]+",
    ),
    "a class of patterns": (
        "root ::= \\d+",
        "'\\\\' is no element of a rule\n"
        "  at line 1, column 10\n"
        "    root ::= \\d+\n"
        "             ^\n"
        "  write a class of characters, such as [0-9], or put the text into quotes",
    ),
    "a comment of another kind": (
        '// a\nroot ::= "a"',
        "a rule begins with its name, not with '/'\n  at line 1, column 1\n    // a\n    ^\n  a comment begins with #",
    ),
    "names in angle brackets": (
        '<root> ::= "a"',
        "a rule begins with its name, not with '<'\n"
        "  at line 1, column 1\n"
        '    <root> ::= "a"\n'
        "    ^\n"
        "  write names without < and >",
    ),
    "a colon": (
        'root: "a"',
        '"::=" has to follow the name "root", not \':\'\n'
        "  at line 1, column 5\n"
        '    root: "a"\n'
        "        ^\n"
        "  write root ::= ...; Compiler.lark reads rules with a colon",
    ),
    "token beyond the vocabulary": (
        "root ::= <[4200]>",
        "token 4200 is not in the vocabulary of 257 tokens\n"
        "  at line 1, column 10\n"
        "    root ::= <[4200]>\n"
        "             ^\n"
        "  ids are below 257",
    ),
    "token without such a name": (
        "root ::= !<think>",
        "the vocabulary has no token <think>\n"
        "  at line 1, column 11\n"
        "    root ::= !<think>\n"
        "              ^\n"
        "  name one of its tokens, or give its id: <[10]>",
    ),
    "several tokens": (
        "root ::= <[1,2]>",
        "<[1,2]> names no token\n"
        "  at line 1, column 10\n"
        "    root ::= <[1,2]>\n"
        "             ^\n"
        "  a token is <[42]> or <|its name|>",
    ),
    "token without end": (
        'root ::= "a" <think',
        "this token is not closed\n"
        "  at line 1, column 14\n"
        '    root ::= "a" <think\n'
        "                 ^\n"
        "  close it with >",
    ),
    "no end": (
        'root ::= "a" root',
        'the grammar derives nothing: rule "root" needs itself without end\n'
        "  at line 1, column 1\n"
        "  give it an alternative that ends",
    ),
    "no text at all": (
        'root ::= "a" [^\\x01-\\U0010FFFF]',
        'the grammar derives nothing: rule "root" needs /[^\\x01-\\U0010FFFF]/, which matches no text\n'
        "  at line 1, column 1\n"
        "  mend the pattern, or give an alternative to it",
    ),
    "range the wrong way round": (
        'root ::= "a" b\nb ::= "c" [z-a]',
        "the bounds of this range are the wrong way round\n"
        "  at line 2, column 12\n"
        '    b ::= "c" [z-a]\n'
        "               ^\n"
        "  write the lower one first",
    ),
    "range the wrong way round beside others": (
        "root ::= [b9-0a]",
        "the bounds of this range are the wrong way round\n"
        "  at line 1, column 12\n"
        "    root ::= [b9-0a]\n"
        "               ^\n"
        "  write the lower one first",
    ),
    "range the wrong way round in a negated class": (
        "root ::= [^z-a]",
        "the bounds of this range are the wrong way round\n"
        "  at line 1, column 12\n"
        "    root ::= [^z-a]\n"
        "               ^\n"
        "  write the lower one first",
    ),
    "semicolon": (
        'root ::= "a";',
        "';' is no element of a rule\n"
        "  at line 1, column 13\n"
        '    root ::= "a";\n'
        "                ^\n"
        "  take it out: the end of the line ends the rule",
    ),
    "braces around what is repeated": (
        'root ::= { "a" }',
        "a repetition takes a number, not '\"'\n"
        "  at line 1, column 10\n"
        '    root ::= { "a" }\n'
        "             ^\n"
        '  for any number of it write ("a")*; a number of times is {2,5}',
    ),
    "a lone surrogate": (
        'root ::= "\ud800"',
        "the grammar holds U+D800, which is no text\n"
        "  at line 1, column 11\n"
        '    root ::= "\\ud800"\n'
        "              ^\n"
        "  take it out",
    ),
    "a character that is none": (
        'root ::= "a\x00b"',
        "the grammar holds U+0000, which is no text\n"
        "  at line 1, column 12\n"
        '    root ::= "a\x00b"\n'
        "               ^\n"
        "  take it out",
    ),
    "long line": (
        "root ::= " + '"aaaaaaaa" ' * 30 + "%" + ' "b"' * 30,
        "'%' is no element of a rule\n"
        "  at line 1, column 340\n"
        '    aaaa" "aaaaaaaa" "aaaaaaaa" "aaaaaaaa" "aaaaaaaa" % "b" "b" "b" "b" "b" "b" "b" "b" "b" "b" "b" "b" \n'
        "                                                      ^\n"
        '  end the line, or put text into "quotes"',
    ),
    "tabs": (
        'root ::=\t"a"\t%',
        "'%' is no element of a rule\n"
        "  at line 1, column 14\n"
        '    root ::=\t"a"\t%\n'
        "            \t   \t^\n"
        '  end the line, or put text into "quotes"',
    ),
}
EBNF: dict[str, tuple[str, str]] = {
    "undefined name": (
        'root ::= item\nitems ::= "a"',
        'rule "root" uses "item", which is not defined\n'
        "  at line 1, column 10\n"
        "    root ::= item\n"
        "             ^\n"
        '  define it, or did you mean "items"?',
    ),
    "no root": (
        'start ::= "a"',
        'there is no rule "root" to begin with\n'
        "  at line 1, column 1\n"
        '    start ::= "a"\n'
        "    ^\n"
        "  name the first rule so",
    ),
    "no definition sign": (
        'root = "a"',
        '"::=" has to follow the name "root", not \'=\'\n'
        "  at line 1, column 6\n"
        '    root = "a"\n'
        "         ^\n"
        "  write root ::= ...",
    ),
    "quotes of another kind": (
        "root ::= 'a'",
        'there is "\'" where an element should be\n'
        "  at line 1, column 10\n"
        "    root ::= 'a'\n"
        "             ^\n"
        '  put texts into double quotes: "..."',
    ),
    "no definition": (
        '"a"',
        "a rule begins with its name, not with '\"'\n"
        "  at line 1, column 1\n"
        '    "a"\n'
        "    ^\n"
        '  for example: root ::= "yes" | "no"',
    ),
    "twice": (
        'root ::= "a"\nroot ::= "b"',
        'rule "root" is defined twice\n  at line 2, column 1\n    root ::= "b"\n    ^\n  join the alternatives with |',
    ),
    "two rules on a line": (
        'root ::= "a" b ::= "b"',
        "a rule begins a line\n"
        "  at line 1, column 14\n"
        '    root ::= "a" b ::= "b"\n'
        "                 ^\n"
        "  put a newline before its name",
    ),
    "empty alternative": (
        'root ::= "a" |',
        "there is the end of the grammar where an element should be\n"
        "  at line 1, column 15\n"
        '    root ::= "a" |\n'
        "                  ^\n"
        '  write "" for nothing',
    ),
    "empty rule": (
        'root ::=\nb ::= "a"',
        "there is a new rule where an element should be\n"
        "  at line 2, column 1\n"
        '    b ::= "a"\n'
        "    ^\n"
        '  write "" for nothing',
    ),
    "twice repeated": (
        'root ::= "a"+?',
        "there is nothing to repeat before '?'\n"
        "  at line 1, column 14\n"
        '    root ::= "a"+?\n'
        "                 ^\n"
        "  put an element before it",
    ),
    "group not closed": (
        'root ::= ("a"',
        "this group is not closed: there is the end of the grammar where ) should be\n"
        "  at line 1, column 10\n"
        '    root ::= ("a"\n'
        "             ^\n"
        "  close it with )",
    ),
    "parenthesis too many": (
        'root ::= "a")',
        "this parenthesis closes no group\n"
        "  at line 1, column 13\n"
        '    root ::= "a")\n'
        "                ^\n"
        "  take it out, or open one",
    ),
    "text over lines": (
        'root ::= "a\nb"',
        "this text is not closed\n"
        "  at line 1, column 10\n"
        '    root ::= "a\n'
        "             ^\n"
        '  close it with " on the same line; a newline is \\n',
    ),
    "class over lines": (
        "root ::= [a\nb]",
        "this class is not closed\n"
        "  at line 1, column 10\n"
        "    root ::= [a\n"
        "             ^\n"
        "  close it with ] on the same line; a newline is \\n",
    ),
    "range the wrong way round": (
        "root ::= [z-a]",
        "the bounds of this range are the wrong way round\n"
        "  at line 1, column 11\n"
        "    root ::= [z-a]\n"
        "              ^\n"
        "  write the lower one first",
    ),
    "set in a class": (
        "root ::= [\\d]",
        "the class \\d is not supported here\n  at line 1, column 11\n    root ::= [\\d]\n              ^\n  write 0-9",
    ),
    "unknown escape": (
        'root ::= "\\d"',
        "there is no escape \\d\n"
        "  at line 1, column 11\n"
        '    root ::= "\\d"\n'
        "              ^\n"
        '  escapes are those of C: \\n \\t \\" \\\\ \\xHH \\uXXXX \\UXXXXXXXX and others; a backslash is \\\\',
    ),
    "half an escape": (
        'root ::= "\\x"',
        "there is no escape \\x\n"
        "  at line 1, column 11\n"
        '    root ::= "\\x"\n'
        "              ^\n"
        '  escapes are those of C: \\n \\t \\" \\\\ \\xHH \\uXXXX \\UXXXXXXXX and others; a backslash is \\\\',
    ),
    "beyond Unicode": (
        'root ::= "\\x110000"',
        "U+110000 is beyond the last code point, U+10FFFF: no text holds it\n"
        "  at line 1, column 11\n"
        '    root ::= "\\x110000"\n'
        "              ^\n"
        "  name another character",
    ),
    "look-ahead": (
        'root ::= "a" (= "b")',
        "look-ahead assertions are not supported\n"
        "  at line 1, column 14\n"
        '    root ::= "a" (= "b")\n'
        "                 ^\n"
        "  take it out: masks are exact without it",
    ),
    "attributes": (
        'root[max_tokens=3] ::= "a"',
        "attributes of rules are not supported\n"
        "  at line 1, column 5\n"
        '    root[max_tokens=3] ::= "a"\n'
        "        ^\n"
        "  leave [max_tokens=3] out",
    ),
    "macro": (
        'root ::= TagDispatch(("<a>", b))\nb ::= "b"',
        "TagDispatch(...) is not supported\n"
        "  at line 1, column 10\n"
        '    root ::= TagDispatch(("<a>", b))\n'
        "             ^\n"
        "  write what it means as rules",
    ),
    "boolean": (
        "root ::= true",
        'true is no element\n  at line 1, column 10\n    root ::= true\n             ^\n  write "true" for the text',
    ),
    "rule named so": (
        'true ::= "a"',
        '"true" is no name\n  at line 1, column 1\n    true ::= "a"\n    ^\n  choose another one',
    ),
    "bounds": (
        'root ::= "a"{5,2}',
        "a repetition of at least 5 and at most 2 cannot be\n"
        "  at line 1, column 13\n"
        '    root ::= "a"{5,2}\n'
        "                ^\n"
        "  write {2,5}",
    ),
    "bound": (
        'root ::= "a"{x}',
        "a repetition takes a number, not 'x'\n"
        "  at line 1, column 13\n"
        '    root ::= "a"{x}\n'
        "                ^\n"
        "  for any number of it write (x)*; a number of times is {2,5}",
    ),
    "braces around what is repeated": (
        'root ::= { "a" | "b" } "c"',
        "there is nothing to repeat before '{'\n"
        "  at line 1, column 10\n"
        '    root ::= { "a" | "b" } "c"\n'
        "             ^\n"
        '  for any number of it write ("a" | "b")*; a number of times is {2,5}',
    ),
    "braces after an element": (
        'root ::= "c" { "a" }',
        "a repetition takes a number, not '\"'\n"
        "  at line 1, column 14\n"
        '    root ::= "c" { "a" }\n'
        "                 ^\n"
        '  for any number of it write ("a")*; a number of times is {2,5}',
    ),
    "semicolon": (
        'root ::= "a";',
        "there is ';' where an element should be\n"
        "  at line 1, column 13\n"
        '    root ::= "a";\n'
        "                ^\n"
        "  take it out: the end of the line ends the rule",
    ),
    "comma": (
        'root ::= "a", "b"',
        "there is ',' where an element should be\n"
        "  at line 1, column 13\n"
        '    root ::= "a", "b"\n'
        "                ^\n"
        "  take it out: elements follow each other without a sign",
    ),
    "bound not closed": (
        'root ::= "a"{2',
        "a repetition ends with }, not with the end of the grammar\n"
        "  at line 1, column 13\n"
        '    root ::= "a"{2\n'
        "                ^\n"
        "  write {2}, {2,} or {2,5}",
    ),
    "half escape at the end": (
        'root ::= "a\\',
        "an escape is not complete\n"
        "  at line 1, column 12\n"
        '    root ::= "a\\\n'
        "               ^\n"
        '  escapes are those of C: \\n \\t \\" \\\\ \\xHH \\uXXXX \\UXXXXXXXX and others; a backslash is \\\\',
    ),
}
