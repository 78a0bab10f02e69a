"""Misuse of every public function: wrong types and values end in an LlmaskError that has its three parts.

Every public function and method is called with good arguments of which one or two are replaced by odd ones, and with
odd options. Allowed are results and `LlmaskError`s; a `TypeError` only where the call itself is wrong (a keyword that
does not exist, too many arguments), an `OSError` only of functions that open files. A matcher that others were made
from still has its mask.

In: calls. Out: counts, the slowest call. Cost: 200 us a call.
"""

from __future__ import annotations

import dataclasses
import inspect
import io
import os
import random
import reprlib
import resource
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

import llmask
from tests.contract.tool_calls import TOOLS
from tests.long.corpora import Masks, state_of, tiny_tokenizer
from tests.long.harness import Tally
from tests.long.workers import address_space

EXTRA_BYTES = 6 * 2**30  # of address space: what asks for more is refused, or a MemoryError
CHECK = 200  # calls between looks at the healthy matcher
FORGET = 1000  # calls of one compiler
OPENS_FILES = {"load", "from_gguf", "from_huggingface", "from_tiktoken", "from_sentencepiece", "save_gguf", "lark"}
# methods without an underscore that the package keeps to itself
INTERNAL = {
    "certain_tokens", "cut_names", "encoder_between_names", "generation_after", "has_names", "run", "store",
    "take_bytes", "default", "explained", "places", "dotted_rules",
}  # fmt: skip
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
TAG = {"type": "structural_tag", "format": {"type": "any_text"}}
FUNCTIONS = ("allocate_bitmask", "apply_bitmask", "fill_bitmasks", "accept_batch", "rollback_batch", "read_ahead")
COUNTERS = ("StreamDecoder", "AppendableEncoder", "PrependableEncoder", "IntervalCounter")
CLASSES = ("Compiler", "CompiledGrammar", "Matcher", "Tokenizer", *COUNTERS)
MADE_BY_USERS = ("Compiler", "Limits", *COUNTERS)


_SHORT = reprlib.Repr()
_SHORT.maxlevel = 4
_SHORT.maxstring = _SHORT.maxother = 120


class _Index:
    def __index__(self) -> int:
        return 1


@dataclasses.dataclass
class _Record:
    a: int = 1


def _endless() -> Any:
    whole: list[Any] = []
    whole.append(whole)
    return whole


def _nested(depth: int) -> Any:
    """Each part is used twice in the next: 2**depth parts when written out."""
    value: Any = {}
    for _ in range(depth):
        value = {"items": value, "not": [value]}
    return value


def _read_only() -> Any:
    array = np.zeros((1, 10), np.int32)
    array.flags.writeable = False
    return array


ODD: tuple[Callable[[], Any], ...] = (
    *(lambda value=value: value for value in (
        None, True, False, 0, -1, 1, 3, 300, 2**31, 2**40, 2**63, 2**64, 10**30, -(2**70), 1.5, -0.0, float("nan"),
        float("inf"), 1j, "", "a", "\ud800", "a\0b", "x" * 10_000, "{", "[a", "root ::=", "start: A", "é日😀", b"",
        b"a", b"\xff\xfe", (), (1, 2), ..., NotImplemented, int, str, dict, object, len, Decimal("1e999999"), range(3),
        Path("nowhere"), frozenset(("a",)),
    )),
    object, list, lambda: [None], lambda: ["a"], lambda: [1, 2], lambda: [-1], lambda: [2**70], lambda: [[]],
    lambda: [1.5], lambda: [b"a"], lambda: ["a", 1], lambda: [True], dict, lambda: {"a": 1}, lambda: {1: 2},
    lambda: {"type": "x"}, lambda: {"\ud800": {}}, lambda: {"type": ["object", 3]}, lambda: {"enum": object()},
    lambda: {"properties": [], "required": {}}, lambda: {"pattern": "("}, lambda: {"$ref": "#/nowhere"},
    lambda: {"minLength": float("nan")}, lambda: {"const": {1: 2}}, lambda: {"const": _endless()}, set,
    lambda: bytearray(b"a"), lambda: memoryview(b"abc"), lambda: iter([1]), lambda: (n for n in (1, 2)), _Index,
    _Record, lambda: _Record, _endless, lambda: _nested(10), lambda: np.zeros(3), lambda: np.zeros((2, 10), np.int32),
    lambda: np.zeros((0, 0), np.int32), lambda: np.array(3), lambda: np.array([1, "a"], object), _read_only,
    lambda: np.zeros((2, 20), np.int32)[:, ::2], lambda: np.zeros((1, 10), ">i4"), lambda: np.int64(1),
    lambda: np.float32(2.5), lambda: np.bool_(True), lambda: np.zeros((1, 300), np.float16), lambda: io.BytesIO(b"a"),
    lambda: llmask.Limits(), lambda: llmask.Limits(max_rows=1),
)  # fmt: skip


class _World:
    """Good objects, and good arguments by the name of the parameter."""

    def __init__(self, tokenizer: llmask.Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.compiler = llmask.Compiler(self.tokenizer)
        self.grammar = self.compiler.json_schema(SCHEMA)
        self.healthy = self.grammar.matcher()
        self.healthy.accept_bytes(b'{"a"')
        self.texts = {"gbnf": 'root ::= "a"', "ebnf": 'root ::= "a"', "lark": 'start: "a"'}
        vocab_size = self.tokenizer.vocab_size
        self.good: dict[str, Callable[[], Any]] = {
            "schema": lambda: SCHEMA, "pattern": lambda: "a+", "choices": lambda: ["a", "b"], "spec": lambda: TAG,
            "tools": lambda: TOOLS, "name": lambda: "json", "text": lambda: "a text", "texts": lambda: ["a", "b"],
            "bitmask": lambda: llmask.allocate_bitmask(2, vocab_size), "logits": lambda: np.zeros((1, vocab_size)),
            "mask": lambda: llmask.allocate_bitmask(1, vocab_size), "batch": lambda: 2,
            "vocab_size": lambda: vocab_size,
            "matchers": lambda: [self.healthy.fork(), self.grammar.matcher()], "tokens": lambda: [60, 61],
            "token": lambda: 61, "ids": lambda: [70, 71], "data": lambda: b":", "n": lambda: 1, "left": lambda: 70,
            "right": lambda: 71, "other": lambda: self.grammar, "seed": lambda: 1, "start": lambda: 0, "end": lambda: 2,
            "counts": lambda: [0, 0], "next_token": lambda: [1, -1], "next_sibling": lambda: [-1, -1],
            "draft_tokens": lambda: [0, 61], "stop_tokens": lambda: [3],
            "form": lambda: {"type": "json_schema", "name": "n", "schema": SCHEMA},
            "path": lambda: "nowhere.gguf", "source": lambda: "nowhere.json", "encoding": lambda: "nowhere.tiktoken",
            "what": lambda: 61, "document": lambda: '{"a": 1}', "eos": lambda: 1, "tokenizer": lambda: self.tokenizer,
            "low": lambda: 0, "high": lambda: 2,
        }  # fmt: skip

    def calls(self) -> list[tuple[str, Callable[[], Callable[..., Any]]]]:
        """Every public function: its name, and what gets it, bound to a fresh object."""
        found: list[tuple[str, Callable[[], Callable[..., Any]]]] = []
        for name in (*FUNCTIONS, *MADE_BY_USERS):
            found.append((name, lambda name=name: getattr(llmask, name)))  # type: ignore[misc]
        owners: dict[str, Callable[[], Any]] = {
            "Compiler": lambda: self.compiler,
            "CompiledGrammar": lambda: self.grammar,
            "Matcher": self.healthy.fork,
            "Tokenizer": lambda: self.tokenizer,
            "StreamDecoder": lambda: llmask.StreamDecoder(self.tokenizer),
            "AppendableEncoder": lambda: llmask.counting.AppendableEncoder(self.tokenizer),
            "PrependableEncoder": lambda: llmask.counting.PrependableEncoder(self.tokenizer),
            "IntervalCounter": lambda: llmask.counting.IntervalCounter(self.tokenizer, "some text"),
        }
        for owner in CLASSES:
            for name, member in inspect.getmembers(getattr(llmask, owner), callable):
                if not name.startswith("_") and name not in INTERNAL and not inspect.isclass(member):
                    found.append((f"{owner}.{name}", lambda owner=owner, name=name: getattr(owners[owner](), name)))  # type: ignore[misc]
        return found

    def arguments(
        self, name: str, function: Callable[..., Any], rng: random.Random
    ) -> tuple[list[Any], dict[str, Any], bool]:
        """Arguments with one or two odd ones; whether the call itself is wrong."""
        parameters = inspect.signature(function).parameters.values()
        needed = [p for p in parameters if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
        options = [p.name for p in parameters if p.default is not p.empty]
        short = name.rpartition(".")[2]
        good = [
            self.texts.get(short) if p.name == "text" and short in self.texts else self.good[p.name]() for p in needed
        ]
        for place in rng.sample(range(len(good)), min(len(good), rng.choice((0, 1, 1, 1, 2)))):
            good[place] = rng.choice(ODD)()
        chosen = {
            option: rng.choice(ODD)() for option in rng.sample(options, min(len(options), rng.choice((0, 1, 1, 2))))
        }
        is_wrong = rng.random() < 0.03
        if is_wrong and rng.random() < 0.5:
            chosen["no_such_option"] = 1
        elif is_wrong:
            good += [None] * (len(options) + 1)
        return good, chosen, is_wrong


def run(tally: Tally) -> None:
    """Make `tally.size` calls."""
    with tempfile.TemporaryDirectory() as folder, _inside(folder), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        world: Any = None
        tokenizers = (llmask.Tokenizer.default(), tiny_tokenizer())
        for number, rng in enumerate(tally.cases()):
            if number % FORGET == 0:
                world = _World(tokenizers[number // FORGET % 2])
                calls = world.calls()
                masks = Masks(world.tokenizer)
                healthy = state_of(world.healthy, masks)
            name, get = calls[number % len(calls)]
            function = get()
            _call(tally, name, function, *world.arguments(name, function, rng))
            if number % CHECK == 0 and state_of(world.healthy, masks) != healthy:
                tally.fault("a healthy matcher has changed")
                return


def _call(
    tally: Tally, name: str, function: Callable[..., Any], good: list[Any], options: dict[str, Any], is_wrong: bool
) -> None:
    """One call and what came of it."""
    shown = f"{name}(*{_shown(good)}, **{_shown(options)})"
    tally.done += 1
    started = time.thread_time()
    try:
        function(*good, **options)
        tally.sums["returned"] += 1
    except llmask.LlmaskError as error:
        tally.sums[type(error).__name__] += 1
        if not isinstance(error.message, str) or not error.message or not str(error):
            tally.fault("an error without a message", shown)
    except TypeError as error:
        tally.sums["TypeError of a wrong call"] += is_wrong
        if not is_wrong:
            tally.fault(f"TypeError of {name}", shown, error)
    except OSError as error:
        if name.rpartition(".")[2] in OPENS_FILES:
            tally.sums["OSError of a file"] += 1
        else:
            tally.fault(f"OSError of {name}", shown, error)
    except Exception as error:
        tally.fault(f"{type(error).__name__} of {name}", shown, error)
    tally.most("ms", 1000 * (time.thread_time() - started), shown)


def _shown(value: Any) -> str:
    try:
        return _SHORT.repr(value).encode("ascii", "backslashreplace").decode()
    except Exception:  # the odd values have odd methods, too; this is only how a case is shown
        return type(value).__name__


@contextmanager
def _inside(folder: str) -> Iterator[None]:
    """Work in a folder, for functions that write files, and with bounded memory."""
    before, limits = os.getcwd(), resource.getrlimit(resource.RLIMIT_AS)
    os.chdir(folder)
    resource.setrlimit(resource.RLIMIT_AS, (address_space() + EXTRA_BYTES, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)
        os.chdir(before)
