"""`llmask tokenize`: the tokens of texts, how many they are, and how the ways of finding them compare.

    $ llmask tokenize "Hello world" --pieces
    "Hello"  " world"
    $ llmask tokenize --file LICENSE --file grammars/person.schema.json --count
         2618  LICENSE
          314  grammars/person.schema.json
         2932  total
    $ llmask tokenize --file LICENSE --compare
    method        tokens            words that differ     MB/s
    exact           2618                                 137.9
    greedy          2634    +0.61%              17.3%    211.7
    ...

Texts are arguments, files, or standard input when neither is given. A file is taken as it is, its last line break too.

To compare, a *word* reaches from the white space before it to its last character. It differs when one of its exact
tokens is missing in the other encoding at that place. Both are compared by what their tokens spell; where that is not
the same text, the column is empty.

In: texts, a tokenizer. Out: ids, pieces, counts, chunks or a table, as text or JSON. Cost: that of encoding; comparing
takes a second.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from llmask.cli.inputs import add_tokenizer_argument, load_tokenizer

if TYPE_CHECKING:
    from llmask import Tokenizer

METHODS = ("exact", "greedy", "minimal", "table", "heap", "dropout")
ENOUGH_SECONDS = 0.3  # a method is timed until so much has passed
SPACES = b" \t\n\r\x0b\x0c"
STANDARD_INPUT = "-"


class Row(NamedTuple):
    """One method's result.

    method          as `Tokenizer.encode` names it
    n_tokens        of the text
    more_tokens     share of exact's tokens that it needs more
    words_differing share of the words whose tokens are not the exact ones; None: cannot be said
    mb_per_second   of text, one thread, processor time
    """

    method: str
    n_tokens: int
    more_tokens: float
    words_differing: float | None
    mb_per_second: float


def compare(tokenizer: Tokenizer, text: str) -> list[Row]:
    """One row for each method that the vocabulary has.

    Raises
    ------
    VocabularyError : as `Tokenizer.encode`.
    """
    exact: list[int] = []
    rows = []
    for method in methods_of(tokenizer):
        ids = tokenizer.encode(text, method=method)
        exact = exact or ids
        rate = len(text.encode()) / least_seconds(tokenizer, text, method) / 1e6
        more = len(ids) / len(exact) - 1 if exact else 0.0
        rows.append(Row(method, len(ids), more, words_differing(tokenizer, exact, ids), rate))
    return rows


def methods_of(tokenizer: Tokenizer) -> list[str]:
    """The methods that a vocabulary has."""
    from llmask.errors import VocabularyError

    found = []
    for method in METHODS:
        try:
            tokenizer.encode("", method=method)
        except VocabularyError:
            continue
        found.append(method)
    return found


def least_seconds(tokenizer: Tokenizer, text: str, method: str) -> float:
    """Least processor time of some runs."""
    least, started = float("inf"), time.perf_counter()
    while time.perf_counter() - started < ENOUGH_SECONDS:
        before = time.thread_time()
        tokenizer.encode(text, method=method)
        least = min(least, time.thread_time() - before)
    return max(least, 1e-9)


def words_differing(tokenizer: Tokenizer, exact: list[int], other: list[int]) -> float | None:
    """Share of the words whose exact tokens are not all in the other encoding; None where they spell another text."""
    import numpy as np

    if exact == other:
        return 0.0
    spelled = tokenizer.decode_bytes(exact)
    if spelled != tokenizer.decode_bytes(other):
        return None
    offsets = tokenizer._parts.token_offsets
    lengths = np.diff(offsets)
    ours, theirs = np.array(exact, np.int64), np.array(other, np.int64)
    our_starts, their_starts = (np.cumsum(lengths[ids]) - lengths[ids] for ids in (ours, theirs))
    size = len(lengths)
    is_missing = ~np.isin(our_starts.astype(np.int64) * size + ours, their_starts.astype(np.int64) * size + theirs)
    is_space = np.isin(np.frombuffer(spelled, np.uint8), np.frombuffer(SPACES, np.uint8))
    # white space belongs to the word after it
    begins = np.append(True, is_space[1:] & ~is_space[:-1])[: len(is_space)]
    word_of = np.cumsum(begins) - 1
    changes = np.zeros(len(spelled) + 1, np.int64)
    np.add.at(changes, our_starts[is_missing], 1)
    np.add.at(changes, our_starts[is_missing] + lengths[ours[is_missing]], -1)
    is_changed = np.cumsum(changes[:-1]) > 0
    return len(np.unique(word_of[is_changed])) / max(int(begins.sum()), 1)


def as_table(rows: list[Row]) -> list[str]:
    """Rows in columns."""
    lines = [f"{'method':10}{'tokens':>10}{'':10}{'words that differ':>19}{'MB/s':>9}"]
    for row in rows:
        more = "" if row.method == "exact" else f"{row.more_tokens:+.2%}"
        differing = "" if row.method == "exact" or row.words_differing is None else f"{row.words_differing:.1%}"
        lines.append(f"{row.method:10}{row.n_tokens:10}{more:>10}{differing:>19}{row.mb_per_second:9.1f}")
    return lines


def add_parser(subparsers: Any) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "tokenize",
        help="show the tokens of a text, count them, split by them",
        description="Print the tokens of texts: of the arguments, of files, or of standard input.",
        epilog="example: llmask tokenize --file README.md --split 1000",
    )
    parser.add_argument("text", metavar="TEXT", nargs="*", help="text to encode")
    parser.add_argument(
        "--file",
        metavar="FILE",
        action="append",
        default=[],
        help="file to encode, - for standard input; may be given several times",
    )
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--ids", action="store_true", help="print token ids (the default)")
    output.add_argument("--pieces", action="store_true", help="print what each token spells")
    output.add_argument("--count", action="store_true", help="print numbers of tokens")
    output.add_argument("--split", metavar="N", type=int, help="cut the text into chunks of at most N tokens")
    output.add_argument("--compare", action="store_true", help="compare the methods: tokens, differences, speed")
    parser.add_argument(
        "--method",
        default="exact",
        help='"exact" (default), "greedy" or "minimal"; BPE also "table", "heap" and "dropout"',
    )
    parser.add_argument("--parse-special", action="store_true", help="names of special tokens become these tokens")
    parser.add_argument("--json", action="store_true", help="print JSON for programs")
    add_tokenizer_argument(parser)
    parser.set_defaults(run=run, parser=parser)


def run(arguments: argparse.Namespace) -> int:
    """Print what was asked for."""
    if arguments.file.count(STANDARD_INPUT) > 1:
        arguments.parser.error("standard input can be read once only")
    if arguments.split is not None and arguments.split < 1:
        arguments.parser.error(f"--split {arguments.split}: a chunk has at least one token")
    if (arguments.split is not None or arguments.compare) and (arguments.method != "exact" or arguments.parse_special):
        arguments.parser.error("--method and --parse-special cannot be combined with --split and --compare")
    texts = read_texts(arguments.text, arguments.file)
    tokenizer = load_tokenizer(arguments)
    if arguments.compare:
        rows = compare(tokenizer, "".join(text for _, text in texts))
        lines = [json.dumps([row._asdict() for row in rows], indent=2)] if arguments.json else as_table(rows)
    elif arguments.split is not None:
        found = [(name, split(tokenizer, text, arguments.split)) for name, text in texts]
        report = [{"name": name, "chunks": parts} for name, parts in found]
        lines = [json.dumps(report, ensure_ascii=False)] if arguments.json else _chunk_lines(found)
    else:
        results = [
            (name, tokenizer.encode(text, parse_special=arguments.parse_special, method=arguments.method))
            for name, text in texts
        ]
        lines = (
            _json_results(tokenizer, results, arguments) if arguments.json else _lines(tokenizer, results, arguments)
        )
    sys.stdout.buffer.write("\n".join([*lines, ""]).encode("utf-8", "backslashreplace"))
    return 0


def read_texts(given: list[str], files: list[str]) -> list[tuple[str, str]]:
    """Texts with their names.

    Raises
    ------
    VocabularyError : a file is not UTF-8.
    OSError : a file cannot be read.
    """
    # Python hands bytes that are not UTF-8 over as lone surrogates
    data = [text.encode("utf-8", "surrogateescape") for text in given]
    named = [(f"argument {number}", _decoded(text, "an argument")) for number, text in enumerate(data, 1)]
    for name in files if given or files else [STANDARD_INPUT]:
        text = sys.stdin.buffer.read() if name == STANDARD_INPUT else Path(name).read_bytes()
        named.append((name, _decoded(text, "standard input" if name == STANDARD_INPUT else name)))
    return named


def _decoded(data: bytes, name: str) -> str:
    from llmask.errors import VocabularyError

    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise VocabularyError(
            f"byte 0x{data[error.start]:02X} at byte {error.start} is not UTF-8, and tokenizers encode characters",
            where=f"{name}, line {line}",
            help="convert it: iconv -f latin1 -t utf-8",
        ) from None


def split(tokenizer: Tokenizer, text: str, n: int) -> list[dict[str, Any]]:
    """Chunks of a text, each with its number of tokens."""
    return [{"n_tokens": tokenizer.count(chunk), "text": chunk} for chunk in tokenizer.split(text, n)]


def spell(tokenizer: Tokenizer, token: int) -> str:
    """What a token spells as a JSON string; bytes that are no text as <0xNN>; special tokens by name."""
    data = tokenizer.token_bytes(token)
    if not data:
        return tokenizer.token_name(token)
    try:
        return json.dumps(data.decode(), ensure_ascii=False)
    except UnicodeDecodeError:
        return "".join(f"<0x{byte:02X}>" for byte in data)


def _lines(tokenizer: Tokenizer, results: list[tuple[str, list[int]]], arguments: argparse.Namespace) -> list[str]:
    if arguments.count:
        if len(results) == 1:
            return [str(len(results[0][1]))]
        total = [("total", sum(len(ids) for _, ids in results))]
        return [f"{n_tokens:9}  {name}" for name, n_tokens in [*((name, len(ids)) for name, ids in results), *total]]
    if arguments.pieces:
        return ["  ".join(spell(tokenizer, token) for token in ids) for _, ids in results]
    return [" ".join(map(str, ids)) for _, ids in results]


def _json_results(
    tokenizer: Tokenizer, results: list[tuple[str, list[int]]], arguments: argparse.Namespace
) -> list[str]:
    found = []
    for name, ids in results:
        report: dict[str, Any] = {"name": name, "n_tokens": len(ids)}
        if arguments.pieces:
            report["pieces"] = [spell(tokenizer, token) for token in ids]
        elif not arguments.count:
            report["ids"] = ids
        found.append(report)
    return [json.dumps(found, ensure_ascii=False)]


def _chunk_lines(found: list[tuple[str, list[dict[str, Any]]]]) -> list[str]:
    """A chunk a line: its number of tokens, and the text as a JSON string."""
    parts = [part for _, parts in found for part in parts]
    return [f"{part['n_tokens']:7}  {json.dumps(part['text'], ensure_ascii=False)}" for part in parts]
