"""What every adapter of a framework has to do, as one suite of scenarios: an adapter's test file says how to drive it.

    class Processor(Driver):
        def begin(self, grammars, n_logits): ...
        def allowed(self, rows): ...

    class TestProcessor(AdapterConformance):
        kind = Processor

Frameworks call what they plug in in their own ways: rows are permuted, prefixes shrink, drafts are illegal, calls come
after the end. The suite asks which tokens may follow rows of token ids, in these ways and others, and compares the
answer with a matcher that is walked from nothing for each row. The vocabulary is made, so no framework is needed.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pytest

from llmask import Compiler, Tokenizer, allocate_bitmask
from llmask.compiling.compiled_grammar import CompiledGrammar
from llmask.errors import LlmaskError, TokenRejected
from tests.conftest import tiny_vocabulary

Row = list[int]
Allowed = npt.NDArray[np.bool_]

PAD = 0  # what rows have after their end: a special token that no grammar here has
BEYOND = 13  # logits that a model has more than there are tokens
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"enum": ["aa", "abc", "é", "日本"]},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "tags": {"type": "array", "items": {"enum": ["ab", "ba"]}, "maxItems": 2},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}
BAD_SCHEMA = {"type": "object", "properties": {"name": {"type": "strong"}}}
BAD_PLACE = "#/properties/name/type"
LAYOUTS = ("contiguous", "wider rows", "every third", "columns", "reversed")


class Driver:
    """How the suite drives an adapter. Override `begin` and `allowed`; what is below them has its usual value.

    Attributes
    ----------
    cannot : scenarios that the adapter refuses with an error, each with words of the error.
    never : scenarios that the framework never comes to, each with the reason; they are left out.
    layouts : those of LAYOUTS that scores or masks of the framework may have.
    layout : what `begin` and `allowed` give their scores or masks.
    pool : where the driver fills rows one by one, it does so here, if there is one.
    errors : what the framework raises for a request that is refused.
    """

    cannot: ClassVar[dict[str, str]] = {}
    never: ClassVar[dict[str, str]] = {}
    layouts: ClassVar[tuple[str, ...]] = ("contiguous",)
    errors: ClassVar[tuple[type[Exception], ...]] = (LlmaskError,)
    layout: str = "contiguous"
    pool: Executor | None = None

    def begin(self, grammars: list[CompiledGrammar | None], n_logits: int) -> None:
        """Begin sequences, one a row; None: a row without a grammar. What was begun before is over."""
        raise NotImplementedError

    def allowed(self, rows: list[Row]) -> Allowed:
        """What may follow after the tokens of each row, bool[n_rows, n_logits].

        The rows are as long as each other, and the adapter is told nothing but them. Tokens after an end of sequence
        are padding.
        """
        raise NotImplementedError

    def submit(self, compiler: Compiler, schema: Any) -> None:
        """Hand in a JSON schema as a user of the framework does."""
        compiler.json_schema(schema)


class MatcherDriver(Driver):
    """The plain one: a matcher a row, moved by rollback and accept."""

    layouts = ("contiguous", "wider rows", "reversed")  # a row's words lie side by side

    def begin(self, grammars: list[CompiledGrammar | None], n_logits: int) -> None:
        self._n_logits = n_logits
        self._vocab_size = next(grammar for grammar in grammars if grammar is not None).tokenizer.vocab_size
        self._matchers = [None if grammar is None else grammar.matcher() for grammar in grammars]
        self._tokens: list[Row] = [[] for _ in grammars]

    def allowed(self, rows: list[Row]) -> Allowed:
        words = allocate_bitmask(len(rows), self._vocab_size).shape[1]
        mask = laid_out(np.full((len(rows), words), -1, np.int32), self.layout)
        for row, tokens in enumerate(rows):
            self._move(row, tokens)
        run = map if self.pool is None else self.pool.map
        for _ in run(lambda row: self._fill(mask, row), range(len(rows))):
            pass
        return spread(mask, self._n_logits)

    def _move(self, row: int, tokens: Row) -> None:
        """Take back what the row no longer has, and accept what is new, as far as it is legal."""
        matcher, before = self._matchers[row], self._tokens[row]
        if matcher is None:
            return
        n_same = next((n for n, pair in enumerate(zip(before, tokens, strict=False)) if pair[0] != pair[1]), None)
        n_same = min(len(before), len(tokens)) if n_same is None else n_same
        matcher.rollback(len(before) - n_same)
        n_taken = matcher.try_accept_tokens([max(token, PAD) for token in tokens[n_same:]])
        self._tokens[row] = tokens[: n_same + n_taken]

    def _fill(self, mask: Any, row: int) -> None:
        matcher = self._matchers[row]
        if matcher is not None:
            matcher.fill_bitmask(mask, row)


# --- what is expected


def expected(grammar: CompiledGrammar | None, tokens: Row, n_logits: int) -> Allowed | None:
    """What may follow, from a matcher that is walked from nothing; None after what the grammar refuses."""
    if grammar is None:
        return np.ones(n_logits, np.bool_)
    matcher = grammar.matcher()
    for token in tokens:
        if matcher.is_terminated():
            break
        try:
            matcher.accept_token(token)
        except TokenRejected:
            return None
    mask = allocate_bitmask(1, grammar.tokenizer.vocab_size)
    matcher.fill_bitmask(mask)
    return spread(mask, n_logits)[0]


def spread(mask: npt.NDArray[np.int32], n_logits: int) -> Allowed:
    """The bits of int32[n_rows, words] as bool[n_rows, n_logits]; False beyond the mask."""
    bits = np.unpackbits(np.ascontiguousarray(mask).view(np.uint8), axis=-1, bitorder="little").astype(np.bool_)
    return np.pad(bits, ((0, 0), (0, max(0, n_logits - bits.shape[1]))))[:, :n_logits]


def laid_out(values: npt.NDArray[Any], layout: str) -> npt.NDArray[Any]:
    """Values of two dimensions as a view whose memory is laid out in one of LAYOUTS."""
    n_rows, n_columns = values.shape
    views = {
        "contiguous": lambda: np.empty((n_rows, n_columns), values.dtype),
        "wider rows": lambda: np.empty((n_rows, n_columns + 5), values.dtype)[:, 2:-3],
        "every third": lambda: np.empty((n_rows, n_columns, 3), values.dtype)[:, :, 1],
        "columns": lambda: np.empty((n_columns, n_rows), values.dtype).T,
        "reversed": lambda: np.empty((n_rows, n_columns), values.dtype)[::-1],
    }
    view: npt.NDArray[Any] = views[layout]()
    view[:] = values
    return view


def random_scores(n_rows: int, n_logits: int, layout: str = "contiguous") -> npt.NDArray[np.float32]:
    """Scores of a model, none of them minus infinity."""
    return laid_out(np.random.default_rng(n_logits).normal(size=(n_rows, n_logits)).astype(np.float32), layout)


def kept(before: Any, after: Any) -> Allowed:
    """Which scores an adapter kept; each of them is what it was."""
    before, after = np.asarray(before, np.float32), np.asarray(after, np.float32)
    assert after.shape == before.shape
    is_kept: Allowed = ~np.isneginf(after)
    np.testing.assert_array_equal(after[is_kept], before[is_kept])
    return is_kept


class Check:
    """Asks a driver and compares.

    Parameters
    ----------
    driver, grammars : the grammars of the rows, which the driver begins with.
    n_beyond : logits that the model has beyond the vocabulary.
    """

    def __init__(self, driver: Driver, grammars: list[CompiledGrammar | None], n_beyond: int = BEYOND) -> None:
        self.driver = driver
        self.grammars = grammars
        self.vocab_size = next(grammar for grammar in grammars if grammar is not None).tokenizer.vocab_size
        self.n_logits = self.vocab_size + n_beyond
        driver.begin(grammars, self.n_logits)

    def __call__(self, *rows: Row) -> None:
        """Ask about rows; a row of refused tokens must only have something that may follow."""
        got = self.driver.allowed([list(row) for row in rows])
        assert got.shape == (len(rows), self.n_logits)
        for number, (row, grammar) in enumerate(zip(rows, self.grammars, strict=True)):
            wanted = expected(grammar, row, self.n_logits)
            width = self.vocab_size if grammar is None else self.n_logits
            assert got[number].any(), f"row {number} has nothing left after {row}"
            if wanted is not None:
                wrong = np.flatnonzero(got[number, :width] != wanted[:width]).tolist()
                assert wrong == [], f"row {number} differs in {wrong} after {row}"


# --- texts


@lru_cache
def made_compiler() -> Compiler:
    """For a vocabulary of 304 tokens: all bytes, awkward pieces, duplicates, an empty and special ones."""
    tokens, eos, special = tiny_vocabulary()
    return Compiler(Tokenizer.from_bytes(tokens, eos=eos, special=special))


def may_follow(grammar: CompiledGrammar, tokens: Row) -> Row:
    allowed = expected(grammar, tokens, grammar.tokenizer.vocab_size)
    return [] if allowed is None else np.flatnonzero(allowed).tolist()


def refused(grammar: CompiledGrammar, tokens: Row) -> int:
    """A token that may not follow."""
    allowed = set(may_follow(grammar, tokens))
    return next(token for token in range(grammar.tokenizer.vocab_size - 1, -1, -1) if token not in allowed)


def write(grammar: CompiledGrammar, seed: int, tokens: Row | None = None) -> Row:
    """A random document, or the rest of one, with its end of sequence."""
    rng = random.Random(seed)
    tokens = list(tokens or ())
    while not tokens or tokens[-1] not in grammar.tokenizer.eos_ids:
        tokens.append(rng.choice(may_follow(grammar, tokens)))
    return tokens


def prefixes(*documents: Row) -> Iterator[list[Row]]:
    """Rows that grow by a token each, from nothing to the end of the longest; the others are padded."""
    for n in range(max(map(len, documents)) + 1):
        yield [document[:n] + [PAD] * (n - len(document)) for document in documents]


# --- scenarios, each a sentence


def rows_grow_token_by_token(driver: Driver, compiler: Compiler) -> None:
    grammar = compiler.json_schema(SCHEMA, whitespace="compact")
    ask = Check(driver, [grammar, grammar])
    for rows in list(prefixes(write(grammar, 1), write(grammar, 2)))[:-1]:
        ask(*rows)


def each_row_has_its_own_grammar(driver: Driver, compiler: Compiler) -> None:
    grammars = [compiler.json_schema(SCHEMA, whitespace="compact"), compiler.regex("(ab|ba|abc){2,6}")]
    ask = Check(driver, list(grammars))
    for rows in list(prefixes(*(write(grammar, 3) for grammar in grammars)))[:-1]:
        ask(*rows)


def a_row_has_no_grammar(driver: Driver, compiler: Compiler) -> None:
    grammar = compiler.json_schema(SCHEMA, whitespace="compact")
    ask = Check(driver, [None, grammar])
    document = write(grammar, 4)
    for _, row in list(prefixes(document, document))[:-1]:
        ask([5 + n for n in range(len(row))], row)


def beams_permute_and_repeat_rows(driver: Driver, compiler: Compiler) -> None:
    grammar = compiler.json_schema(SCHEMA)
    rng = random.Random(5)
    for _ in range(3):
        ask = Check(driver, [grammar] * 4)
        rows: list[Row] = [[], [], [], []]
        for _ in range(25):
            ask(*rows)
            parents = rng.choices(rows, k=4)
            rows = [
                [*row, rng.choice(may_follow(grammar, row)) if not has_ended(grammar, row) else PAD] for row in parents
            ]
            if all(has_ended(grammar, row) for row in rows):
                break


def has_ended(grammar: CompiledGrammar, tokens: Row) -> bool:
    return any(token in grammar.tokenizer.eos_ids for token in tokens)


def beams_without_a_continuation_carry_refused_tokens(driver: Driver, compiler: Compiler) -> None:
    """Beam search fills up with beams of score minus infinity; what they carry is chosen no more."""
    grammar = compiler.regex("[ab]xyz")
    ask = Check(driver, [grammar] * 3)
    text, wrong = list(b"axyz"), [3 + byte for byte in b"qqqq"]
    row = [3 + byte for byte in text]
    for n in range(5):
        ask(row[:n], [*row[: max(n - 1, 0)], *wrong[:1]][:n], [*row[: max(n - 1, 0)], *wrong[:1]][:n])


def a_prefix_is_asked_again(driver: Driver, compiler: Compiler) -> None:
    grammar = compiler.json_schema(SCHEMA, whitespace="compact")
    ask = Check(driver, [grammar])
    for rows in list(prefixes(write(grammar, 6)))[:-1]:
        for _ in range(3):
            ask(*rows)


def prefixes_shrink(driver: Driver, compiler: Compiler) -> None:
    """Back by one, by several and to nothing, and the same way forth."""
    grammar = compiler.json_schema(SCHEMA, whitespace="compact")
    ask = Check(driver, [grammar])
    document = write(grammar, 7)[:-1]
    for n in range(len(document) + 1):
        ask(document[:n])
    for high in (len(document), 7, 3, 1):
        for n in (*range(high, -1, -max(1, high // 3)), *range(high)):
            ask(document[:n])


def drafts_are_asked_about_and_verified(driver: Driver, compiler: Compiler) -> None:
    """Of a draft of three tokens some are right; then comes the model's own token, another one than the draft's."""
    grammar = compiler.json_schema(SCHEMA)
    rng = random.Random(8)
    for seed in range(8):
        ask = Check(driver, [grammar])
        row: Row = []
        ask(row)
        while not has_ended(grammar, row):
            draft = write(grammar, seed, row)[len(row) :][:3]
            for n in range(len(draft)):
                ask(row + draft[: n + 1])
                if draft[n] in grammar.tokenizer.eos_ids:
                    break
            n_right = rng.randrange(len(draft))
            row = row + draft[:n_right]
            others = [token for token in may_follow(grammar, row) if token != draft[n_right]]
            row = [*row, rng.choice(others or [draft[n_right]])]
            if not others or has_ended(grammar, row):
                break
            ask(row)


def drafts_are_illegal(driver: Driver, compiler: Compiler) -> None:
    """No exception, no empty row; and the state recovers."""
    grammar = compiler.json_schema(SCHEMA, whitespace="compact")
    ask = Check(driver, [grammar])
    document = write(grammar, 9)[:-1]
    ask([])
    for n in range(len(document)):
        wrong = refused(grammar, document[:n])
        for draft in ([wrong], [wrong, 5], [wrong, 5, wrong]):
            ask(document[:n] + draft)
        ask(document[: n + 1])


def drafts_are_padded_with_minus_one(driver: Driver, compiler: Compiler) -> None:
    grammar = compiler.json_schema(SCHEMA, whitespace="compact")
    ask = Check(driver, [grammar])
    document = write(grammar, 10)[:-1]
    ask([])
    for n in range(len(document)):
        for draft in ([-1], [-1, -1]):
            ask(document[:n] + draft)
        ask(document[: n + 1])


def several_tokens_come_at_once(driver: Driver, compiler: Compiler) -> None:
    grammar = compiler.json_schema(SCHEMA)
    ask = Check(driver, [grammar, grammar])
    documents = [write(grammar, seed) for seed in (11, 12)]
    for rows in list(prefixes(*documents))[::3]:
        ask(*rows)


def a_row_ends_before_the_others(driver: Driver, compiler: Compiler) -> None:
    """It is padded, and asked about on and on: nothing but the end may follow."""
    grammars = [compiler.choice(["true", "null"]), compiler.regex("a{9}")]
    ask = Check(driver, list(grammars))
    documents = [write(grammars[0], 13), [*[3 + ord("a")] * 9, 1]]
    for rows in list(prefixes(*documents))[:-1]:
        ask(*rows)


def a_call_comes_after_the_last_end(driver: Driver, compiler: Compiler) -> None:
    """A loop that is a step ahead asks what may follow the end of sequence."""
    grammar = compiler.choice(["true", "null"])
    ask = Check(driver, [grammar])
    document = write(grammar, 14)
    for (row,) in prefixes(document):
        ask(row)


def the_end_is_taken_back(driver: Driver, compiler: Compiler) -> None:
    """A draft ended the document, and was not taken."""
    grammar = compiler.regex("(ab){1,8}")
    ask = Check(driver, [grammar])
    ab = [3 + ord("a"), 3 + ord("b")]
    ask([])
    for n in range(1, 8):
        ask(ab * (n - 1) + ab[:1])
        ask(ab * n)
        ask([*ab * n, 1])
        ask([*ab * n, 1, PAD])


def logits_beyond_the_vocabulary_are_refused(driver: Driver, compiler: Compiler) -> None:
    grammar = compiler.regex("(ab|ba|abc){2,6}")
    for n_beyond in (0, 1, 16, 70):
        ask = Check(driver, [grammar], n_beyond)
        for rows in list(prefixes(write(grammar, 15)))[:-1]:
            ask(*rows)


def scores_have_any_layout(driver: Driver, compiler: Compiler) -> None:
    grammar = compiler.json_schema(SCHEMA, whitespace="compact")
    for layout in driver.layouts:
        driver.layout = layout
        ask = Check(driver, [grammar, grammar])
        for rows in list(prefixes(write(grammar, 16), write(grammar, 17)))[:-1]:
            ask(*rows)


def one_driver_serves_one_text_after_another(driver: Driver, compiler: Compiler) -> None:
    for seed in range(3):
        rows_grow_token_by_token(driver, compiler)
        grammar = compiler.choice(["true", "null"])
        ask = Check(driver, [grammar])
        for rows in list(prefixes(write(grammar, seed)))[:-1]:
            ask(*rows)


def rows_are_filled_by_a_pool_of_threads(driver: Driver, compiler: Compiler) -> None:
    grammar = compiler.json_schema(SCHEMA)
    with ThreadPoolExecutor(4) as driver.pool:
        ask = Check(driver, [grammar] * 12)
        for rows in list(prefixes(*(write(grammar, seed) for seed in range(12))))[:-1]:
            ask(*rows)


def several_threads_have_a_driver_each(driver: Driver, compiler: Compiler) -> None:
    """Sequences of one grammar, built at the same time: nothing of the grammar is known before."""
    fresh = Compiler(compiler.tokenizer)
    drivers = [driver, *(type(driver)() for _ in range(3))]
    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(rows_grow_token_by_token, one, fresh) for one in drivers]:
            done.result()


def the_vocabulary_is_of_usual_size(driver: Driver, compiler: Compiler) -> None:
    """The package's own: 32,768 tokens."""
    usual = Compiler(Tokenizer.default())
    grammar = usual.json_schema(SCHEMA)
    ask = Check(driver, [grammar])
    document = usual.tokenizer.encode('{"name": "abc", "age": 12, "tags": ["ab"]}')
    for (row,) in prefixes(document):
        ask(row)


def a_bad_schema_is_refused_with_its_place(driver: Driver, compiler: Compiler) -> None:
    with pytest.raises(driver.errors) as caught:
        driver.submit(compiler, BAD_SCHEMA)
    assert BAD_PLACE in str(caught.value)


SCENARIOS: dict[str, Callable[[Driver, Compiler], None]] = {
    scenario.__name__: scenario
    for scenario in (
        rows_grow_token_by_token,
        each_row_has_its_own_grammar,
        a_row_has_no_grammar,
        beams_permute_and_repeat_rows,
        beams_without_a_continuation_carry_refused_tokens,
        a_prefix_is_asked_again,
        prefixes_shrink,
        drafts_are_asked_about_and_verified,
        drafts_are_illegal,
        drafts_are_padded_with_minus_one,
        several_tokens_come_at_once,
        a_row_ends_before_the_others,
        a_call_comes_after_the_last_end,
        the_end_is_taken_back,
        logits_beyond_the_vocabulary_are_refused,
        scores_have_any_layout,
        one_driver_serves_one_text_after_another,
        rows_are_filled_by_a_pool_of_threads,
        several_threads_have_a_driver_each,
        the_vocabulary_is_of_usual_size,
        a_bad_schema_is_refused_with_its_place,
    )
}


class AdapterConformance:
    """The suite: a subclass names the `kind` of its driver, or has a fixture `driver` of its own."""

    kind: ClassVar[type[Driver]] = Driver

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """One test a scenario; its id says so where it is one that the adapter refuses."""
        kind = metafunc.cls.kind
        unknown = (kind.cannot.keys() | kind.never.keys()) - SCENARIOS.keys()
        assert not unknown, f"{kind.__name__} names scenarios that are not there: {unknown}"
        names = [name for name in SCENARIOS if name not in kind.never]
        ids = [f"{name}: refused" if name in kind.cannot else name for name in names]
        metafunc.parametrize("scenario", names, ids=ids)

    @pytest.fixture
    def driver(self) -> Driver:
        return self.kind()

    @pytest.fixture
    def compiler(self) -> Compiler:
        return made_compiler()

    def test_it_conforms(self, driver: Driver, compiler: Compiler, scenario: str) -> None:
        words = driver.cannot.get(scenario)
        if words is None:
            SCENARIOS[scenario](driver, compiler)
            return
        with pytest.raises((*driver.errors, LlmaskError), match=re.escape(words)):
            SCENARIOS[scenario](driver, compiler)
