"""Texts in Lark's notation that are refused, with all that is said of each."""

from __future__ import annotations

from . import Bad

LARK: dict[str, Bad] = {
    "similar start": Bad(
        'starts: "a"\n',
        'there is no rule "start" to begin with',
        "1:1-6",
        'name the first rule start, or did you mean "starts"?',
    ),
    "empty": Bad("", 'there is no rule "start" to begin with', "1:1-1", "name the first rule start"),
    "undefined in a terminal": Bad('start: A\nA: "a" B\n', 'the terminal "B" is not defined', "2:8-8", "define it"),
    "terminal defined twice": Bad(
        'start: A\nA: "x"\nA: "y"\n',
        '"A" is defined twice',
        "3:1-1",
        "the other one is at line 2, column 1; rename one of them",
    ),
    "pattern matches nothing": Bad(
        'start: A\nA: "a" & "b"\n',
        'the grammar derives nothing: rule "start" needs A, which matches no text',
        "1:1-5",
        "mend the pattern, or give an alternative to it",
        "UnsatisfiableSchema",
    ),
    "string not closed": Bad(
        'start: "abc\n',
        "this string is not closed",
        "1:8-8",
        'add a quote at its end; inside it, write \\" for a quote',
    ),
    "pattern not closed": Bad(
        "start: /abc\n",
        "this regular expression is not closed",
        "1:8-8",
        "add a slash at its end; inside it, write \\/ for a slash",
    ),
    "parenthesis not closed": Bad(
        'start: ("a" | "b"\nb: "c"\n', 'this "(" is not closed', "1:8-8", 'add ")" where it ends'
    ),
    "parenthesis not opened": Bad(
        'start: "a") "b"\n', 'there is nothing that this ")" closes', "1:11-11", "take it out, or open it before"
    ),
    "wrong parenthesis": Bad('start: ("a" ]\n', 'this "(" is not closed', "1:8-8", 'add ")" where it ends'),
    "underscores": Bad(
        "start: __\n", '"__" is no name', "1:8-9", "a name begins with a letter, or with one underscore and a letter"
    ),
    "line not continued": Bad(
        'start: "a"\n  "b"\n',
        '`"b"` cannot stand here',
        "2:3-5",
        "a rule goes on in the next line only after |, or inside parentheses",
    ),
    "two rules in a line": Bad(
        'start: a b: "c"\n',
        "`:` cannot stand here",
        "1:11-11",
        "each rule begins in a line of its own; for the character, quote it",
    ),
    "operator first": Bad(
        'start: * "a"\n',
        "`*` cannot stand here",
        "1:8-8",
        "put it after what it repeats; for the character itself, quote it",
    ),
    "two operators": Bad(
        'start: "a"+*\n',
        "`*` cannot stand here",
        "1:12-12",
        "put it after what it repeats; for the character itself, quote it",
    ),
    "counts reversed": Bad(
        'start: "a"{3,2}\n',
        "a repetition of at least 3 and at most 2 cannot be",
        "1:11-15",
        "the first number is the smaller one, and neither is below 0",
    ),
    "tilde counts reversed": Bad(
        'start: "a" ~ 3..2\n',
        "a repetition of at least 3 and at most 2 cannot be",
        "1:12-17",
        "the first number is the smaller one, and neither is below 0",
    ),
    "negative count": Bad(
        'start: "a" ~ -1..2\n',
        "a repetition of at least -1 and at most 2 cannot be",
        "1:12-18",
        "the first number is the smaller one, and neither is below 0",
    ),
    "count too large": Bad(
        'start: "a"{1,99999999999}\n',
        "99999999999 is no whole number up to 2147483646",
        "1:11-25",
        "write a smaller one; {m,} has no upper bound",
    ),
    "unknown escape": Bad('start: "a\\q"\n', "the escape \\q has no meaning", "1:10-11", "write \\\\ for a backslash"),
    "half an escape": Bad('start: "\\x4"\n', "the escape \\x has no meaning", "1:9-10", "write \\\\ for a backslash"),
    "ambiguous escape": Bad(
        'start: "a\\/b"\n',
        "\\/ is two characters to Lark and one to llguidance",
        "1:10-11",
        "write / for the one, \\\\/ for the two",
    ),
    "surrogate": Bad(
        'start: "\\ud800"\n', "half a surrogate pair is no text", "1:8-15", "write the character itself, or both halves"
    ),
    "code point too large": Bad(
        'start: "\\U00110000"\n', "this is beyond the last character, U+10FFFF", "1:9-18", "name another character"
    ),
    "pattern error behind slashes": Bad(
        "start: /a\\/(b/\n",
        "this group is not closed",
        "1:12-12",
        "Add a closing parenthesis, or write \\( for the character.",
    ),
    "pattern group": Bad(
        "start: /(?P<x>a)(?P=x)/\n",
        "a backreference depends on what a group matched, which no regular language can",
        "1:17-17",
        "Write the group's alternatives out, each with its repetition.",
    ),
    "unknown flag": Bad("start: /a/k\n", 'the flag "k" is not known for text', "1:8-11", "known are i, m, s, u and x"),
    "range of strings": Bad(
        'start: "ab".."c"\n', "the ends of a range are single characters", "1:8-11", 'for example "a".."z"'
    ),
    "range reversed": Bad('start: "z".."a"\n', "this range ends before it starts", "1:8-15", 'write "a".."z"'),
    "look-behind": Bad(
        'start: "b" /(?<=b)a/\n',
        "a lookbehind sees the text around the terminal, which is not known here",
        "1:12-20",
        "take it out; terminals take as much as they can, and a keyword goes before a name that is as long",
    ),
    "word boundary": Bad(
        "start: A\nA: /\\bif\\b/\n",
        "\\b sees the text around the terminal, which is not known here",
        "2:1-1",
        "take it out; terminals take as much as they can, and a keyword goes before a name that is as long",
    ),
    "anchor": Bad(
        "start: /^a/\n",
        '"^" sees the text around the terminal, which is not known here',
        "1:8-11",
        "take it out; terminals take as much as they can, and a keyword goes before a name that is as long",
    ),
    "lazy without end": Bad(
        "start: /a.*?/\n",
        "nothing must follow the lazy quantifier, so it would take as little as it can",
        "1:8-13",
        "write what ends it, or take the question mark off",
    ),
    "lazy with several ends": Bad(
        "start: /a.*?b+/\n",
        "what follows the lazy quantifier may end in several places",
        "1:8-15",
        "make what comes after its first end a terminal of its own",
    ),
    "lazy in a repetition": Bad(
        "start: /(a.*?b)*c/\n",
        "a lazy quantifier inside a repetition has no first end",
        "1:8-18",
        'write what must not be in it, as in [^"]*, or make the repetition a rule',
    ),
    "declared": Bad(
        'start: _INDENT "a"\n%declare _INDENT\n',
        '"_INDENT" is only declared, and nothing but a program can make it',
        "1:8-14",
        "define it (_INDENT: ...) or take it out",
    ),
    "unknown directive": Bad(
        '%ignor " "\nstart: "a"\n',
        "%ignor is no directive",
        "1:1-6",
        "known are %ignore, %import, %declare, %override, %extend, %json, %regex, %lark, "
        '%llguidance, %if, or did you mean "ignore"?',
    ),
    "import without a name": Bad(
        '%import common\nstart: "a"\n',
        "%import takes a file and a name in it",
        "1:1-7",
        "for example %import common.NUMBER",
    ),
    "imported twice": Bad(
        '%import common.INT\nINT: "1"\nstart: INT\n',
        '"INT" is imported already',
        "2:1-3",
        "write %override INT: ..., or import it under another name",
    ),
    "import changes kind": Bad(
        "%import common.INT -> int\nstart: int\n",
        "a rule stays a rule, and a terminal one",
        "1:23-25",
        "write the new name in the same case",
    ),
    "nothing to override": Bad(
        '%override a: "x"\nstart: a\n', 'there is no "a" to override', "1:11-11", "import or define it before"
    ),
    "extend other parameters": Bad(
        'a{x}: x\n%extend a{x, y}: y\nstart: a{"b"}\n',
        'the template "a" has other parameters',
        "2:9-9",
        "they are {x} where it is defined",
    ),
    "template without arguments": Bad("start: a\na{x}: x\n", '"a" is a template', "1:8-8", "give its arguments: a{x}"),
    "too many arguments": Bad(
        'start: a{"b", "c"}\na{x}: x\n', '"a" takes 1 argument, and here it has 2', "1:8-8", "write a{x}"
    ),
    "no template": Bad('start: a{"b"}\na: "x"\n', '"a" is no template, and here it has 1', "1:8-8", "write a"),
    "endless template": Bad(
        'start: a{"x"}\na{x}: x a{b{x}}\nb{x}: x "y"\n',
        "templates are used with more than 2000 lists of arguments",
        "2:9-9",
        "does a template use itself with a longer argument?",
        "LimitExceeded",
    ),
    "and in a rule": Bad(
        'start: "a" & "b"\n',
        '"&" is for terminals',
        "1:12-12",
        "give what it is about a name in capitals, and use that",
    ),
    "not in a rule": Bad(
        'start: ~"a"\n', '"~" is for terminals', "1:8-8", "give what it is about a name in capitals, and use that"
    ),
    "token": Bad('start: <|eot|> "a"\n', "the vocabulary has no token <|eot|>", "1:8-14", "did you mean <eos>?"),
    "token in a terminal": Bad(
        "start: A\nA: <|eot|>\n", "tokens cannot stand in a terminal", "2:4-10", "write a rule, in small letters"
    ),
    "other grammar": Bad(
        "start: @other\n", "there is no grammar @other", "1:8-13", "give it: lark(text, grammars={...})"
    ),
    "broken JSON": Bad(
        'start: %json {"type": }\n', "the JSON after %json cannot be read: expecting value", "1:23-23", "mend the JSON"
    ),
    "unique items": Bad(
        'start: %json {"type": "array", "items": {"type": "string"}, "uniqueItems": true}\n',
        "a schema that compares texts (uniqueItems, minProperties, ...) cannot stand inside a grammar yet",
        "1:8-80",
        "take these keywords out, or compile the schema by itself",
    ),
    "json in a terminal": Bad(
        "start: A\nA: %json {}\n", "%json cannot stand in a terminal", "2:4-11", "write a rule, in small letters"
    ),
    "regex of what": Bad(
        'start: %regex {"substring": "x"}\n',
        "%regex needs an object after it, with one of substring_chunks, substring_words, substring_chars",
        "1:8-32",
        'for example %regex {"substring_words": "the text"}',
    ),
    "unknown attribute": Bad(
        "start[lasy]: /a/\n",
        'the attribute "lasy" is not known',
        "1:7-10",
        'known are capture, lazy, max_tokens, stop, stop_capture, suffix, temperature, or did you mean "lazy"?',
    ),
    "max_tokens of several terminals": Bad(
        'start[max_tokens=3]: "a" "b"\n',
        "max_tokens is for rules that are one terminal",
        "1:7-16",
        "give it to the rules that are",
    ),
    "max_tokens of a terminal that must go on": Bad(
        'start[max_tokens=3]: "ab"\n',
        "max_tokens can close a terminal anywhere, and this one may not end everywhere",
        "1:7-16",
        "write a terminal such as /.*/, without suffix or lazy, and what ends it after the rule",
    ),
    "max_tokens that is none": Bad(
        "start[max_tokens=0.5]: /a+/\n",
        "max_tokens is a whole number from 1 on",
        "1:7-16",
        "for example max_tokens=100",
    ),
    "temperature of several terminals": Bad(
        'start[temperature=1]: "a" "b"\n',
        "temperature is for rules that are one terminal",
        "1:7-17",
        "give it to the rules that are",
    ),
    "temperature below 0": Bad(
        'start[temperature=-1]: "a"\n', "temperature is a number from 0 on", "1:7-17", "for example temperature=0.7"
    ),
    "attribute twice": Bad(
        'start[capture, capture="x"]: "a"\n', "capture is here twice", "1:16-22", "take one of them out"
    ),
    "capture without a name": Bad(
        'start[capture=3]: "a"\n',
        "capture takes a name in quotes, or nothing",
        "1:7-13",
        'for example capture="answer"',
    ),
    "lazy with a value": Bad("start[lazy=1]: /a+/\n", "lazy takes no value", "1:7-10", "write [lazy]"),
    "stop and suffix": Bad(
        'start: a "x"\na[stop="x", suffix="y"]: /a+/\n',
        "stop and suffix cannot stand together",
        "2:3-6",
        "take one of them out",
    ),
    "stop without text": Bad(
        'start: a\na[stop=""]: /a+/\n',
        'stop="" waits for the end of the sequence, after which nothing is read',
        "2:3-6",
        "take it out, or give a text",
    ),
    "stop_capture alone": Bad(
        'start[stop_capture="y"]: /a+/\n',
        "stop_capture captures what matched stop or suffix, and there is neither",
        "1:7-18",
        "add one, or take it out",
    ),
    "stop_capture without a name": Bad(
        'start[stop_capture, suffix="x"]: /a+/\n',
        "stop_capture takes a name in quotes",
        "1:7-18",
        'for example stop_capture="end"',
    ),
    "suffix that is none": Bad(
        "start[suffix=3]: /a+/\n",
        "suffix is a string, a pattern or a terminal",
        "1:7-12",
        'for example suffix="</think>"',
    ),
    "stop that is not taken back": Bad(
        'start: a "y"\na[stop="x"]: /a+/\n',
        "what stops this rule is not part of it, and no sampler takes back what it has written",
        "1:8-8",
        "let the same text follow wherever the rule is used, or write suffix=... instead of stop=...",
    ),
    "stop of the start": Bad(
        'start[stop="x"]: /a+/\n',
        "what stops this rule is not part of it, and no sampler takes back what it has written",
        "1:1-5",
        "let the same text follow wherever the rule is used, or write suffix=... instead of stop=...",
    ),
    "capture in a grammar inside": Bad(
        'start: "a" %lark { start[capture]: "b" }\n',
        "capture, temperature and max_tokens have no meaning in a grammar inside another one",
        "1:12-16",
        "give them to a rule of the grammar around it, or write its rules there",
    ),
    "lazy rule": Bad(
        'start[lazy]: a\na: "x"\n',
        '"a" is a rule, and a terminal is made of terminals',
        "1:14-14",
        "write the terminal as a rule, in small letters",
    ),
    "setting": Bad(
        '%llguidance {"no_forcin": true}\nstart: "a"\n',
        'the setting "no_forcin" is not known',
        "1:1-31",
        'known are no_forcing, allow_initial_skip, allow_invalid_utf8, skip_repetition, or did you mean "no_forcing"?',
    ),
    "parameter of a rule without one": Bad(
        'start: b::0\nb: "x"\n', '"b" has no parameter', "1:8-8", "write b, or define it as b::_"
    ),
    "rule without its parameter": Bad('start: b\nb::_: "x"\n', '"b" has a parameter', "1:8-8", "give it one: b::0"),
    "condition without a parameter": Bad(
        'start: "x" %if true\n',
        "a condition is in a rule that has no parameter",
        "1:8-10",
        "define the rule as name::_",
    ),
    "parameter computed of nothing": Bad(
        'start: a::set_bit(3)\na::_: "x"\n',
        "there is no parameter here from which set_bit(3) could be computed",
        "1:8-8",
        "give a number: a::0",
    ),
    "no change": Bad(
        'start: a::0\na::_: "x" | "y" a::setbit(3)\n',
        '"setbit" is nothing that a parameter can be',
        "2:20-25",
        'write set_bit(0), or did you mean "set_bit"?',
    ),
    "no condition": Bad(
        'start: a::0\na::_: "x" %if has_bit(3)\n', '"has_bit" is no condition', "2:15-21", "write bit_set(0)"
    ),
    "bit beyond the last": Bad(
        'start: a::0\na::_: "x" %if bit_set(64)\n', "there is no bit 64", "2:23-24", "bits count from 0 to 63"
    ),
    "bits in disorder": Bad(
        'start: a::0\na::_: "x" %if is_ones([3:3])\n',
        "[3:3] are no bits",
        "2:23-27",
        "write [x:y] with x < y <= 64, or _ for all",
    ),
    "value of too many bits": Bad(
        'start: a::0x10000000000000000\na::_: "x"\n',
        '"0x10000000000000000" is no number of 64 bits',
        "1:11-29",
        "write one, such as 5 or 0x1f",
    ),
    "parenthesis in a condition": Bad(
        'start: a::0\na::_: "x" %if bit_set 3)\n', 'there is "3" where "(" should be', "2:23-23", "write ("
    ),
    "parameter in a definition": Bad(
        'start: a::0\na::0: "x"\n',
        '"::0" cannot stand after a name that is defined',
        "2:2-4",
        "a rule with a parameter is defined as name::_",
    ),
    "attributes with a parameter": Bad(
        'start: a::0\na::_[capture]: "x"\n',
        "attributes are not for rules with a parameter",
        "2:6-12",
        "give them to a rule around it",
    ),
    "parameter without end": Bad(
        'start: a::0\na::_: "x" a::set_bit(0)\n',
        'the grammar derives nothing: rule "start" never gets to an end',
        "1:1-5",
        "look at the conditions: some value has to let every rule end",
        "UnsatisfiableSchema",
    ),
    "ignored and used": Bad(
        'start: "a" WS "b"\nWS: / +/\n%ignore WS\n',
        'rule "start" uses WS, which is ignored everywhere',
        "1:1-5",
        "take it out of the rule, or ignore something else",
    ),
    "nested grammar": Bad(
        'start: %lark "a"\n', "%lark needs a grammar in braces after it", "1:8-12", 'for example %lark { start: "a" }'
    ),
    "nested grammar without start": Bad(
        'start: "a" %lark { begin: "b" }\n',
        'there is no rule "start" to begin with',
        "1:20-24",
        "name the first rule start",
    ),
}
