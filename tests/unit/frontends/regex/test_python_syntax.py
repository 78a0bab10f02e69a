r"""Python's syntax: every construct against `re`, and the whole text of every refusal."""

from __future__ import annotations

import itertools
import random
import re
import sys
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from llmask.errors import GrammarError, LimitExceeded
from llmask.frontends.regex import compile_pattern
from llmask.frontends.regex.python_syntax import PythonParser
from llmask.frontends.regex.shapes import Alternatives, Chars, Sequence, Tree
from tests.reference.every_code_point import members_by_re
from tests.reference.regex_nodes import RegexNodes

# A pattern and the texts on which `re.fullmatch` is asked.
CONSTRUCTS = [
    (r"a{2}b{,2}c{1,}d{}e{x}f{1,2", ["aabcd{}e{x}f{1,2", "aabbbcd{}e{x}f{1,2", "aacccd{}e{x}f{1,2"]),
    (r"(?P<x>a)(?P<y_1>b)", ["ab", "a"]),
    (r"(?#comment)a(?#another)*b", ["aaab", "b", "ac"]),
    (r"(?x) a b # comment" "\n [ ] \\ c *", ["ab  c", "ab  ", "a b", "ab   "]),
    (r"(?#a\)b)c|(?#d)", ["c", "", "b)c"]),
    ("(?x)(?: )a|# \\\n b\n c", ["a", "c", "bc"]),
    (r"(?i)aB(?-i:c)", ["Abc", "aBc", "abC"]),
    (r"(?a)\w\d\s", ["aé ", "a1 ", "a1\x1c", "a٣ "]),
    (r"\w\d\s", ["é٣\x1c", "a1 ", "_1\u3000", "-1 "]),
    (r"(?ai)[k-s]", ["K", "\u212a", "ſ", "S"]),
    (r"(?i)[k-s]", ["K", "\u212a", "ſ", "S"]),
    (r"(?i)[^k]", ["K", "\u212a", "x"]),
    (r"(?i)\u01c5", ["\u01c4", "\u01c5", "\u01c6"]),
    (r"[\b\a\f\n\r\t\v]", ["\b", "\a", "\f", "\n", "\r", "\t", "\v", "b"]),
    (r"\a\f\n\r\t\v", ["\a\f\n\r\t\v"]),
    (r"\x41\u0042\U00000043\N{LATIN SMALL LETTER D}", ["ABCd", "ABCD"]),
    (r"(?a)(?u:\w)\w", ["éa", "aé", "aa"]),
    (r"(?a:\w(?u:\w)\w)", ["éaa", "aéa", "aaé"]),
    (r"\0\00\007\101\1234", ["\0\0\x07AS4", "\0"]),
    (r"[\0\101\7]", ["\0", "A", "\7", "1"]),
    (r"\.\*\-\/\"\_\ \@\é", ['.*-/"_ @é']),
    ("\ud83d|a", ["a"]),
]


@pytest.mark.long
@pytest.mark.parametrize(("pattern", "words"), CONSTRUCTS, ids=[ascii(pattern) for pattern, _ in CONSTRUCTS])
def test_constructs_mean_what_re_says(nodes: Any, pattern: str, words: list[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = re.compile(pattern)
    node = compile_pattern(nodes, pattern)
    for word in words:
        assert nodes.matches(node, word.encode()) == bool(expected.fullmatch(word)), word


_POSSESSIVE = """
a*+b a++a [ab]?+a a{1,2}+a a{2}+a a{2,}+b? .*+ a{0}+b (?>a|ab)b (?>ab|a)b (?>a*)b (?>a*?)b (?>a+?)b (?>a{1,3}?)ab
(?>(?:ab|a)*)b (?>(?:ab|a)*?b)a (?:ab|a)*+b (?:a|ab){2}+ (?>(?:a|ab){2}) (?:a|ab){1,2}+b? (?:ab){2,}+a? (?:ab)?+ab
(?:aa|a)++a (?>(?>a|ab)b?)b (?>a|(?>ab|b)*)b (?:(?>a|ab)b)* (?>a(?=b)|ab)b (?>a$|b)*a (?<=(?>a))b|(?>b)
(?=(?>a*)b)[ab]* (?!(?>a|ab)b)[ab]* b?(?<!(?>aa|ab))[ab]* (?>(?:b|a(?!b))*)ab (?>[ab]*b)a? (?>|a)b (?>a??)b (?>a?)ab
(?>(?:a|b){0,3})b (?>(?:a|b){1,3}?)b (?>(?:a|bb)*b)b (?>(?:a?){2})a (?>(?:)?)a
"""
POSSESSIVE = _POSSESSIVE.split()


@pytest.mark.skipif(sys.version_info < (3, 11), reason="re has possessive quantifiers since Python 3.11")
@pytest.mark.parametrize("pattern", POSSESSIVE)
def test_possessive_quantifiers_and_atomic_groups_are_exact(nodes: Any, pattern: str) -> None:
    node = compile_pattern(nodes, pattern)
    for word in map("".join, itertools.chain(*(itertools.product("ab", repeat=length) for length in range(7)))):
        assert nodes.matches(node, word.encode()) == bool(re.fullmatch(pattern, word)), word


REFERENCE = "a backreference depends on what a group matched, which no regular language can"
EMPTY_ROUNDS = "an atomic group or possessive quantifier cannot repeat what may be empty"
TAKE_ONE = "Write what is repeated so that it takes a character: (?>(?:ab?)*) for (?>(?:a?b?)*)."
WRITE_OUT = "Write the group's alternatives out, each with its repetition."
REFUSED = [
    ("[]", "this class is not closed", 1, r"Add a closing bracket, or write \[ for the character."),
    (r"[\w-a]", "a range needs a single character at both ends", 4, r"Write \- for the character."),
    ("a|{2}", "there is nothing to repeat", 3, "Put the quantifier after what it repeats."),
    ("^*", "there is nothing to repeat: an anchor takes no character", 2, "Remove the quantifier."),
    ("a**", "a quantifier cannot follow a quantifier", 3, "Put what it repeats in a group: (?:...)*."),
    (r"(a)\1", REFERENCE, 4, WRITE_OUT),
    ("(?P<x>a)(?P=x)", REFERENCE, 9, WRITE_OUT),
    ("(a)?(?(1)b|c)", "a conditional group depends on what another group matched", 5, "Write both cases out."),
    ("(?>(?:a?)*)b", EMPTY_ROUNDS, 1, TAKE_ONE),
    ("(a?)*+", EMPTY_ROUNDS, 5, TAKE_ONE),
    ("((?>b)|(?:a*){3,}){1,2}+", EMPTY_ROUNDS, 19, TAKE_ONE),
    ("(?-a:a)", "the flags a, u and L cannot be turned off", 1, "Turn the other one on: (?u:...)."),
    ("(?i-i:a)", "a flag is turned on and off at once", 1, "Keep one of the two."),
    ("(?au)a", "the flags a and u exclude each other", 1, "Keep one of them."),
    ("(?a)(?u)a", "the flags a and u exclude each other", 5, "Keep one of them."),
    ("(?L)a", "the flag L is for byte patterns", 1, "Remove it."),
    ("(?R)", "this group has an unknown extension", 1, r"Write \( for the character."),
    ("(?P<1>b)", "this group's name is no identifier", 1, "Write (?P<name>...)."),
    ("(?#a", "this comment is not closed", 1, "Add a closing parenthesis."),
    (r"\pL", r"the escape \p needs a property", 1, r"Example: \p{L}."),
    (r"\q", r"the escape \q has no meaning", 1, "Remove the backslash for the character itself."),
    (r"[\8]", r"the escape \8 has no meaning", 2, "Remove the backslash for the character itself."),
    (r"\x4", "this escape needs 2 hexadecimal digits of a code point", 1, r"Example: \x41."),
    (r"\U00110000", "this escape needs 8 hexadecimal digits of a code point", 1, r"Example: \x41."),
    (r"\777", "this octal escape is above 0o377", 1, r"Write \u0100 for larger code points."),
    (r"\N{NO SUCH}", "this is no name of a character", 1, r"Example: \N{EM DASH}."),
]


@pytest.mark.parametrize(("pattern", "message", "column", "help"), REFUSED, ids=[row[0][:20] for row in REFUSED])
def test_refusals_say_what_where_and_how_to_mend(pattern: str, message: str, column: int, help: str) -> None:
    with pytest.raises(GrammarError) as caught:
        compile_pattern(RegexNodes(), pattern)
    assert str(caught.value) == f"{message}\n  at column {column} of the pattern {pattern}\n  {help}"


@pytest.mark.parametrize("dialect", ["python", "ecma"])
def test_two_surrogates_for_one_character_are_refused(dialect: Any) -> None:
    # the pattern was taken and matched no text, where another language reads the character
    with pytest.raises(GrammarError) as caught:
        compile_pattern(RegexNodes(), "x[\ud83d\ude00]", dialect)
    assert caught.value.message == "two surrogates stand here for one character"
    assert str(caught.value.where).startswith("column 3 of the pattern x[")


def test_a_name_with_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(GrammarError, match="this is no name of a character"):
        compile_pattern(RegexNodes(), "\\N{NO \ud800}")


def test_a_long_pattern_is_shown_around_the_place() -> None:
    with pytest.raises(GrammarError) as caught:
        compile_pattern(RegexNodes(), "x" * 60 + "(?*a)" + "y" * 60)
    assert caught.value.where == f"column 61 of the pattern ...{'x' * 40}(?*a){'y' * 35}..."


# Beyond `re`: meant by its author in one way only, or refused by some of the versions 3.10 to 3.14.
ACCEPTED_BEYOND_RE = (r"(?<=a*)b", r"(?<=a|bc)d", r"a\z", "a++")


PIECES = (
    *"aaB1,-^$.*?|()[]{}\\x #\né",
    *(r"\d", r"\b", r"\B", r"\A", r"\Z", r"\n", r"\w", r"\s", r"\x61", r"\u00e9", r"\101", r"\0"),
    *("(?=", "(?!", "(?<=", "(?<!", "(?:", "(?x:", "(?-i:", "(?P<n>", "(?#c)", "{2}", "{,2}", "{1,}", "+", "[^", "[a-"),
)
REFUSED_BY_RE_ALONE = ("fixed-width", *(["multiple repeat"] if sys.version_info < (3, 11) else []))  # `a++`
OWN_REFUSALS = ("backreference", "cannot repeat what may be empty")


@pytest.mark.long
def test_random_text_means_what_re_says_or_is_refused_as_re_refuses_it(
    rng: random.Random, scaled: Callable[[int], int]
) -> None:
    nodes = RegexNodes()
    n_compared = 0
    for _ in range(scaled(2500)):
        flags = rng.choice(["", "", "(?x)", "(?i)", "(?m)", "(?s)", "(?xi)", "(?a)"])
        pattern = flags + "".join(rng.choice(PIECES) for _ in range(rng.randrange(1, 10)))
        judge, refusal = None, ""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                judge = re.compile(pattern)
            except (re.error, OverflowError) as error:
                refusal = str(error)
        node, own_refusal = nodes.EMPTY, ""
        try:
            node = compile_pattern(nodes, pattern)
        except GrammarError as error:
            own_refusal = error.message
        if own_refusal:
            assert judge is None or any(own in own_refusal for own in OWN_REFUSALS), (pattern, own_refusal)
            continue
        assert judge is not None or any(late in refusal for late in REFUSED_BY_RE_ALONE), (pattern, refusal)
        for _ in range(10 if judge else 0):
            word = "".join(rng.choice("aaabbB1,- \n#éx\0A") for _ in range(rng.randrange(5)))
            assert nodes.matches(node, word.encode()) == bool(judge.fullmatch(word)), (pattern, word)
            n_compared += 1
    assert n_compared > scaled(2500)


@pytest.mark.parametrize("pattern", ACCEPTED_BEYOND_RE)
def test_a_few_patterns_are_accepted_that_some_versions_of_re_refuse(pattern: str) -> None:
    compile_pattern(RegexNodes(), pattern)


def test_deep_nesting_meets_a_limit_and_not_the_stack() -> None:
    compile_pattern(RegexNodes(), "(" * 60 + "a" + ")*" * 60)
    with pytest.raises(LimitExceeded) as caught:
        compile_pattern(RegexNodes(), "(" * 10_000 + "a" + ")" * 10_000)
    assert str(caught.value) == (
        "the pattern nests groups deeper than 60 levels\n"
        f"  at column 61 of the pattern ...{'(' * 80}...\n"
        "  Flatten the groups."
    )


def test_long_patterns_meet_a_limit() -> None:
    with pytest.raises(LimitExceeded) as caught:
        compile_pattern(RegexNodes(), "a" * (2**18 + 1))
    assert str(caught.value) == (
        "the pattern has 262145 characters, more than 262144\n"
        f"  at the pattern {'a' * 77}...\n"
        "  Shorten it, or raise the limit."
    )


def test_a_count_may_have_more_digits_than_python_reads() -> None:
    with pytest.raises(GrammarError, match="the repetition count is larger than 2147483646"):
        compile_pattern(RegexNodes(), "a{" + "9" * 5000 + "}")
    assert compile_pattern(RegexNodes(), "a{" + "0" * 5000 + "2}") == compile_pattern(RegexNodes(), "a{2}")


CLASSES = [
    ("", r"\w"),
    ("", r"\W"),
    ("", r"\d"),
    ("", r"\S"),
    ("", "."),
    ("(?s)", "."),
    ("", "[^a]"),
    ("", r"[^\W\d_]"),
    ("", r"[\u0080-\U0001F600x]"),
    ("", r"[\N{GREEK SMALL LETTER ALPHA}-\N{GREEK SMALL LETTER OMEGA}]"),
    ("(?i)", "[à-þ]"),
    ("(?i)", "[^a-zſ]"),
    ("(?i)", r"\W"),
    ("(?i)", r"[\W]"),
    ("(?i)", r"[^\Wi]"),
    ("(?i)", "ι"),
    ("(?i)", r"[\U00010400-\U00010410]"),
    ("(?ai)", "[k-ſ]"),
    ("(?a)", r"[^\s\w]"),
]


@pytest.mark.parametrize(("flags", "pattern"), CLASSES)
def test_a_class_has_the_members_that_re_gives_it(flags: str, pattern: str) -> None:
    tree: Tree = PythonParser(flags + pattern).parse()
    while isinstance(tree, (Alternatives, Sequence)):
        (tree,) = tree.options if isinstance(tree, Alternatives) else tree.parts
    assert isinstance(tree, Chars)
    assert tree.members == members_by_re(pattern, flags)
