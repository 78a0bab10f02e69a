"""Mistakes in regular expressions."""

from __future__ import annotations

from . import Bad, mistakes

PATTERNS: dict[str, Bad] = {
    "unbalanced": Bad(
        "(ab",
        "this group is not closed",
        "column 1 of the pattern (ab",
        "Add a closing parenthesis, or write \\( for the character.",
    ),
    "closing parenthesis too many": Bad(
        "ab)",
        "this closing parenthesis has no opening one",
        "column 3 of the pattern ab)",
        "Write \\) for the character.",
    ),
    "class not closed": Bad(
        "[a-z",
        "this class is not closed",
        "column 1 of the pattern [a-z",
        "Add a closing bracket, or write \\[ for the character.",
    ),
    "range the wrong way round": Bad(
        "[z-a]", "this range ends before it starts", "column 3 of the pattern [z-a]", "Swap its ends."
    ),
    "nothing to repeat": Bad(
        "*a", "there is nothing to repeat", "column 1 of the pattern *a", "Put the quantifier after what it repeats."
    ),
    "repetition the wrong way round": Bad(
        "a{5,2}",
        "the repetition's lower bound 5 is above its upper bound 2",
        "column 2 of the pattern a{5,2}",
        "Swap them.",
    ),
    "backreference": Bad(
        r"(a+)b\1",
        "a backreference depends on what a group matched, which no regular language can",
        "column 6 of the pattern (a+)b\\1",
        "Write the group's alternatives out, each with its repetition.",
    ),
    "group named twice": Bad(
        "(?P<a>x)(?P<a>y)",
        "this group's name is already taken",
        "column 9 of the pattern (?P<a>x)(?P<a>y)",
        "Rename one of the groups, or write (?:...).",
    ),
    "named group of other languages": Bad(
        "(?<year>[0-9]{4})",
        "this group has an unknown extension",
        "column 1 of the pattern (?<year>[0-9]{4})",
        "Write (?P<name>...) for a group with a name.",
    ),
    "recursion of PCRE": Bad(
        "(a(?R)?b)",
        "this group has an unknown extension",
        "column 3 of the pattern (a(?R)?b)",
        "Write \\( for the character.",
    ),
    "escape unknown": Bad(
        r"\y",
        "the escape \\y has no meaning",
        "column 1 of the pattern \\y",
        "Remove the backslash for the character itself.",
    ),
    "pattern ends with a backslash": Bad(
        "a\\", "the pattern ends in a backslash", "column 2 of the pattern a\\", "Write \\\\ for the character."
    ),
    "empty language": Bad(
        "[^\\s\\S]",
        "no text matches the pattern",
        "the pattern [^\\s\\S]",
        "look for a look-around, an anchor or an empty class that contradicts what is beside it",
        "UnsatisfiableSchema",
    ),
    "word boundary between letters": Bad(
        r"a\bb",
        "no text matches the pattern",
        "the pattern a\\bb",
        "\\b is between two letters or digits, where it never holds: take it out, or write \\\\b for a backslash",
        "UnsatisfiableSchema",
    ),
    "end in the middle": Bad(
        "a$b",
        "no text matches the pattern",
        "the pattern a$b",
        "^ and $ hold at the ends of a text only: take them out, or write \\^ and \\$ for the characters",
        "UnsatisfiableSchema",
    ),
    "look-ahead against what follows": Bad(
        "(?=b)a",
        "no text matches the pattern",
        "the pattern (?=b)a",
        "look for a look-around, an anchor or an empty class that contradicts what is beside it",
        "UnsatisfiableSchema",
    ),
    "huge number": Bad(
        "a{99999999999}",
        "the repetition count is larger than 2147483646",
        "column 2 of the pattern a{99999999999}",
        "Leave the upper bound open: {n,}.",
    ),
    "slashes of JavaScript": Bad(
        "/^a+$/i",
        "no text matches the pattern",
        "the pattern /^a+$/i",
        "take out the slashes around it, if they are meant as in JavaScript; flags are written (?i)",
        "UnsatisfiableSchema",
    ),
    "property unknown": Bad(
        r"\p{Foo}",
        "the Unicode property Foo is not supported",
        "column 1 of the pattern \\p{Foo}",
        "Use a general category such as Lu, a common script such as Script=Greek, or ranges of code points.",
    ),
    "flags in the middle": Bad(
        "a(?i)b",
        "flags for the whole pattern stand at its start",
        "column 2 of the pattern a(?i)b",
        "Move them, or write (?i:...).",
    ),
    "look-behind at the beginning of the text": Bad(
        "(?<=a+)b",
        "no text matches the pattern",
        "the pattern (?<=a+)b",
        "look for a look-around, an anchor or an empty class that contradicts what is beside it",
        "UnsatisfiableSchema",
    ),
}

MISTAKES = [*mistakes("Regex", "regex", PATTERNS)]
