r"""What servers share: a compiler with limits for grammars of strangers, notations told apart, budgets of requests.

The environment of a server may ask for wider limits. Tokenizers of servers are fast ones of transformers, tiktoken's in
a class of a model, slow ones of SentencePiece. A model whose tokenizer is tiktoken's comes with a class of its own
(Kimi-K2, Qwen), which keeps the encoding in one of a few attributes. A slow tokenizer of SentencePiece says where its
file is; it is used where each id is the file's, and tokens that were added after these have no text.

*Notations*: servers have one kind of request for grammars in any notation, and do not say which. A definition tells:
`name: ...` is Lark, `name ::= ...` a Backus-Naur form. Of these GBNF is what only llama.cpp's notation can write;
everything else is EBNF, XGrammar's notation, which vLLM and SGLang document. Texts that both read mean the same in
both, but for `\x` before more than two hexadecimal digits. Whoever knows better says so in the first line, `# notation:
gbnf`. Where a grammar is refused the message has the notation that it was read in, and this remedy.

*Room*: the tokens that a request may write are a budget, so that its document ends before the server cuts it off.

    room     what the request may write all in all: its `max_tokens`, and what its context has room for
    left     the room, less what was written before the grammar began (a thought) and less the grammar's tokens

A grammar is asked after drafts, too, which the request has not written: the grammar's own tokens count, and from the
request is known what came before them.

In: the environment, which all processes of a server share; a tokenizer object; texts of grammars; numbers of tokens.
Out: `Limits`, a `Tokenizer`, a `Compiler`; compiled grammars; masks, refusals. Cost: that of a compiler; 0.4 s for a
tokenizer of 128,000 tokens; 1 us a token, near the end, and where a place is met for the first time, that of a budget.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from llmask.arguments import check_type
from llmask.compiling.compiled_grammar import CompiledGrammar
from llmask.compiling.compiler import Compiler
from llmask.errors import BudgetError, GrammarError, LimitExceeded, LlmaskError, VocabularyError, short
from llmask.limits import Limits
from llmask.mask.apply import allocate_bitmask
from llmask.matching.budget import n_free
from llmask.matching.matcher import Matcher
from llmask.tokenizer.tokenizer import Tokenizer

logger = logging.getLogger(__name__)

LIMITS_VARIABLE = "LLMASK_LIMITS"
MOST_LOGGED = 5  # warnings of one grammar
_NAMED = {"untrusted": Limits.for_untrusted, "default": Limits}
ENCODINGS = ("tokenizer", "model", "_tokenizer")  # where classes of models keep tiktoken's
OPTION = "budget"  # of a request; false: the server cuts its text off
NOTATIONS = {"lark": "Lark", "ebnf": "EBNF", "gbnf": "GBNF"}
STATED = re.compile(r"\s*(?:#|//)[ \t]*notation[ \t]*:[ \t]*(\w*)[ \t]*(?:\r?\n|$)", re.IGNORECASE)
DEFINITION = re.compile(
    r"""^[ \t]*(?:
        (?P<bnf>[\w.-]+(?:\[[^\]\n]*\])?\s*::=)
      | (?P<lark>%[a-z]+\b | [?!]*[A-Za-z_]\w*(?:\{[^}\n]*\})?(?:\.-?[0-9]+)?(?:\[[^\]\n]*\])?[ \t]*:(?!:))
    )""",
    re.MULTILINE | re.VERBOSE,
)
# What signs of a notation may hide in: a text, a class of characters, a comment. The end may be missing, as looking for
# it from every place in what is not closed would take quadratic time.
QUOTED = re.compile(r'"(?:[^"\\\n]|\\.)*"?|\[(?:[^\]\\\n]|\\.)*\]?|#[^\n]*')
ESCAPE = re.compile(r"\\(.)", re.DOTALL)
ONLY_GBNF = re.compile(
    r"""
        <[^<>\s]+>                             # a token, <|end|> or <[42]>
      | (?<![\w.-])\.(?![\w.-])                # any character
      | (?: ::= | \( | \| )\s*\|               # an alternative that is left empty, at the beginning
      | \|\s*(?: \) | \Z | (?=^[\w-]+\s*::=))  # ... and at the end
      | ::=\s*(?: \Z | (?=^[\w-]+\s*::=))
    """,
    re.MULTILINE | re.VERBOSE,
)


def limits_of_process() -> Limits:
    """What the environment says of limits.

    Raises
    ------
    LlmaskError : it names none.
    """
    name = os.environ.get(LIMITS_VARIABLE, "untrusted")
    if name not in _NAMED:
        raise LlmaskError(f'{LIMITS_VARIABLE} is "untrusted" or "default", not {name!r}', help="or leave it unset")
    return _NAMED[name]()


def compiler_of_server(tokenizer: Tokenizer, limits: Limits | None = None) -> Compiler:
    """A compiler that logs the warnings of each new grammar, where nobody would see Python's own.

    Raises
    ------
    LlmaskError : `limits` is None, and the environment names none.
    """
    return Compiler(tokenizer, limits=limits or limits_of_process(), warm="documents", on_warnings=_log_warnings)


def _log_warnings(grammar: CompiledGrammar) -> None:
    said = grammar.warnings
    logger.info("a grammar compiles with %d warnings: %s", len(said), short("; ".join(said[:MOST_LOGGED])))


def read_tokenizer(tokenizer: Any, eos: Iterable[Any] | None, n_logits: int) -> Tokenizer:
    """Llmask's tokenizer for a server's, as wide as the model's logits, or wider where the tokenizer is.

    Raises
    ------
    VocabularyError : it is of a kind that cannot be read, or has no end of sequence.
    """
    owners = [tokenizer, *(getattr(tokenizer, name, None) for name in ENCODINGS)]
    encoding = next((found for found in owners if hasattr(found, "_mergeable_ranks")), None)
    if encoding is not None:
        return Tokenizer.from_tiktoken(
            encoding, _ends_within(eos, n_logits), vocab_size=max(n_logits, encoding.n_vocab)
        )
    n_tokens = max(n_logits, 1 + max(getattr(tokenizer, "get_vocab", dict)().values(), default=-1))
    eos = _ends_within(eos, n_tokens)
    pieces = getattr(tokenizer, "sp_model", None)
    if pieces is None or getattr(tokenizer, "is_fast", False):
        return Tokenizer.from_huggingface(tokenizer, eos, n_tokens)
    n_pieces = pieces.get_piece_size()
    if tokenizer.convert_ids_to_tokens(list(range(n_pieces))) != [pieces.id_to_piece(id) for id in range(n_pieces)]:
        raise VocabularyError(
            f"the ids of this {type(tokenizer).__name__} are not the ids of its SentencePiece file",
            help="use the fast tokenizer of the model",
        )
    return Tokenizer.from_sentencepiece(tokenizer.vocab_file, eos, n_tokens)


def _ends_within(eos: Iterable[Any] | None, n_tokens: int) -> list[int] | None:
    """The ends that are ids, sorted; None: the tokenizer's own."""
    return sorted({id for id in eos or () if type(id) is int and 0 <= id < n_tokens}) or None


class Room:
    """Masks within the tokens of a request.

    Parameters
    ----------
    matcher : of its grammar.
    most : tokens that it may write all in all, the end of sequence included.
    n_written : says how many it has written.
    n_drafts : among how many drafts, which it has not written, a thought may end; 0: nothing is thought.

    Attributes
    ----------
    is_near : whether the next mask has to look at the budget.
    """

    def __init__(self, matcher: Matcher, most: int, n_written: Callable[[], int], n_drafts: int = 0) -> None:
        self.is_near = True
        self.matcher = matcher
        self._most = most
        self._n_written = n_written
        self._n_drafts = n_drafts
        self._n_before = 0  # written before the grammar began, as far as is known
        # numbers of tokens left between which nothing has to be looked at, the first included
        self._seen_at = self._free_above = 0

    def left(self, n_taken: int) -> int:
        """How many tokens may still be written, at least 1.

        Parameters
        ----------
        n_taken : tokens that the grammar has taken, drafts among them.
        """
        n_before = self._n_written() - n_taken
        if n_before >= self._n_before:  # there are no drafts among them
            self._n_before = n_before
            if n_taken:
                self._n_drafts = 0
        return max(self._most - self._n_before - self._n_drafts - n_taken, 1)

    def look(self, n_taken: int) -> None:
        """See whether the next mask has to look at the budget, after tokens were taken or taken back."""
        left = self.left(n_taken)
        if self._free_above < left <= self._seen_at:
            return
        try:
            n = n_free(self.matcher._sequence, left)
        except LlmaskError:  # the mask will tell
            n = 0
        self.is_near, self._seen_at, self._free_above = n == 0, left, left - max(n, 1)

    def is_free(self, n_taken: int, n_drafts: int) -> bool:
        """Whether neither the next mask nor those after some drafts have to look at the budget."""
        self.look(n_taken)
        return not self.is_near and self.left(n_taken) - n_drafts > self._free_above

    def fill(self, bitmask: Any, row: int, n_taken: int) -> None:
        """Write a mask; where too little is left, that of the shortest way to the end.

        Raises
        ------
        LimitExceeded, VocabularyError : see `Matcher.fill_bitmask`.
        """
        matcher, left = self.matcher, self.left(n_taken)
        try:
            matcher.fill_bitmask(bitmask, row, left)
        except BudgetError as error:  # a thought has left less than the shortest document takes
            matcher.fill_bitmask(bitmask, row, error.least)
        except LimitExceeded:  # no end is known
            matcher.fill_bitmask(bitmask, row)


def wants_budget(options: Any) -> bool:
    """Whether a request wants its document complete: by default, and not with `"budget": false` among its options.

    Raises
    ------
    GrammarError : what it says is neither true nor false.
    """
    said = options.get(OPTION) if isinstance(options, Mapping) else None
    if said is not None and said not in (True, False):
        raise GrammarError(f'"{OPTION}" is true or false, not {said!r}', help="leave it out")
    return said is None or bool(said)


def takes_budget(matcher: Matcher) -> bool:
    """Whether ways to the end are known: not where the grammar has `max_tokens`, nor where a stop token has a text."""
    if not matcher.grammar.takes_budget:
        return False
    try:
        matcher.least_budget()
    except LimitExceeded:
        pass
    except LlmaskError:
        return False
    return True


def check_room(matcher: Matcher, most: int | None, name: str) -> None:
    """Refuse a request whose document cannot be complete within its tokens.

    Parameters
    ----------
    matcher : at the beginning.
    most : the tokens; None, or 1, as servers ask for whose text another one goes on with: nothing is refused.
    name : what the server calls them.

    Raises
    ------
    BudgetError : no document is found that takes so few.
    """
    try:
        if most is None or most <= 1 or matcher.least_budget() <= most:
            return
        matcher.fill_bitmask(allocate_bitmask(1, matcher.grammar.tokenizer.vocab_size), 0, most)
    except BudgetError as error:
        raise BudgetError(
            f"{name} is {most}, and the shortest document found takes {error.least} tokens, the end included",
            help=f'give {name} of at least {error.least}, or "{OPTION}": false to have the text cut off',
            least=error.least,
        ) from None
    except LimitExceeded:
        return


def check_least_length(matcher: Matcher, least: int, name: str) -> None:
    """Refuse a request that may not end where its grammar may only end.

    Parameters
    ----------
    matcher : at the beginning.
    least : tokens before which the server forbids the end.
    name : what the server calls them.

    Raises
    ------
    GrammarError : there is a document of fewer tokens that nothing can follow.
    """
    if least <= 0:
        return
    try:
        shortest = matcher.finishing_tokens()
    except LimitExceeded:
        return
    ended = matcher.fork()
    ended._sequence.terminates_at_end = True
    if len(shortest) < least and ended.try_accept_tokens(shortest) == len(shortest) and ended.is_terminated():
        raise GrammarError(
            f"{name} is {least}, but a document may be complete after {len(shortest)} tokens, where nothing may follow "
            "and the end would be forbidden: no token would be left",
            help=f"leave {name} out; the grammar says how long a document is (minLength, minItems, {{n,}})",
        )


def notation_of(text: str) -> str:
    """The notation of a grammar: "lark", "ebnf" or "gbnf".

    Raises
    ------
    GrammarError : its first line names none of these, or nothing in it is a definition.
    """
    stated = STATED.match(text)
    if stated is not None:
        name = stated[1].lower()
        if name not in NOTATIONS:
            raise GrammarError(
                f'a grammar says that its notation is "{stated[1]}"',
                where="line 1",
                help='it is "lark", "ebnf" or "gbnf"',
            )
        return name
    found = DEFINITION.search(text)
    if found is None:
        raise GrammarError(
            "the grammar defines nothing, in no notation", help='write Lark (start: "a"), EBNF or GBNF (root ::= "a")'
        )
    if found["lark"] is not None:
        return "lark"
    return "gbnf" if _is_gbnf(text) else "ebnf"


def _is_gbnf(text: str) -> bool:
    """Whether a Backus-Naur form has what only GBNF does."""
    texts = (quoted[0] for quoted in QUOTED.finditer(text) if quoted[0].startswith('"'))
    if any(escaped in "[]-" for one in texts for escaped in ESCAPE.findall(one)):
        return True
    return ONLY_GBNF.search(QUOTED.sub(_stand_in, text)) is not None


def _stand_in(quoted: re.Match[str]) -> str:
    """What a text, a class or a comment is replaced by: a name, so that no alternative looks empty."""
    return "" if quoted[0].startswith("#") else "_"


def compile_text(compiler: Compiler, text: str) -> CompiledGrammar:
    """Compile a grammar in any of the notations.

    Lark is read as servers do: of terminals that end together every one is followed, as llguidance does.

    Raises
    ------
    GrammarError : it is malformed; the message names the notation that it was read in.
    LimitExceeded : it is too large.
    """
    check_type(text, str, "a grammar is a str", "decode bytes first", GrammarError)
    notation = notation_of(text)
    stated = STATED.match(text)
    source = text if stated is None else text[: stated.start(1)].replace("//", "#") + text[stated.start(1) :]
    try:
        if notation == "lark":
            return compiler.lark(source, ties="all")
        return compiler.ebnf(source) if notation == "ebnf" else compiler.gbnf(source)
    except LlmaskError as error:
        if stated is not None:
            raise
        others = " or ".join(NOTATIONS[name] for name in NOTATIONS if name != notation)
        remedy = f'if it is {others}, begin it with a line that says so: "# notation: ..."'
        raise type(error)(
            f"{error.message} (the grammar was read as {NOTATIONS[notation]})",
            error.where,
            remedy if error.help is None else f"{error.help}; {remedy}",
        ) from None
