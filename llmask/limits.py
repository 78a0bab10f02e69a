"""Every budget of the engine in one frozen dataclass, so that hostile input meets a limit and not the machine's end."""

from __future__ import annotations

from dataclasses import dataclass, fields

from .errors import LlmaskError

STRANGERS_WORK = 200_000  # units of work that compiling a grammar of strangers may take


@dataclass(frozen=True)
class Limits:
    """Budgets; reaching one raises `LimitExceeded` that names it.

    Attributes
    ----------
    max_schema_bytes : characters of a schema or pattern given as text. 16 MiB: the largest real schemas are near 4 MB.
        A schema given as a dict is in memory already; `max_schema_keywords` bounds the work on it.
    max_schema_depth : nesting of a schema. Deeper ones come from programs, not people. (Patterns nest 60 deep at most.)
    max_schema_keywords : subschemas visited while compiling, references included: some seconds, bounded by
        `max_compile_work`, too. AsyncAPI 3.0 visits 400,000, Vega in any order 1.2 million, one of MaskBench three.
    max_schema_cases : ways in which the alternatives beside `unevaluatedProperties` or `unevaluatedItems` can hold.
    max_schema_nodes : nodes of regular expressions that compiling one schema may add to the store: negated and
        intersected patterns multiply. Real schemas add at most some ten thousand.
    max_regex_nodes : nodes of the hash-consed regular expressions that one step (a mask, a token, an operator of a
        pattern) may add to the store; what many steps add up to is bounded by `max_store_bytes`.
    max_lexer_states : lexer states that one step may add to the store: about a second. A mask inside an
        internationalized host name adds 3,000, other formats some hundred.
    max_rows : Earley rows of one compiled grammar.
    max_items : items in one Earley row.
    max_tracked_names : named members of a set that one run of a rule may carry: properties that come in any order and
        are written once each. Every set takes a bit, and every row an edge, for each of them.
    max_unique_values : values of one array, or free keys of one object, that are remembered because they have to
        differ. With 1,000 strings a mask takes 30 us. Where values have to be left out of a pattern (bounded strings,
        few values) it is as long as all of them: 0.2 ms a mask for 100 values, some ms for 1,000.
    max_nodes_walked : trie nodes visited while computing one mask; the 128k trie has 274,520.
    max_emptiness_steps : derivatives taken by one exact test whether a regular expression is empty, and new ones that
        all tests of one step of a sequence, or of compiling, may make.
    max_compile_work : units of work, about a microsecond each, that compiling one grammar may take. Counted, not
        measured: the same on every machine for an empty store; what a store has already costs nothing.
    max_step_work : units of work that one step of a sequence (a mask, a token) may take. Moving to new tables comes on
        top: it repeats what live sequences took before, and is due only after twice as much (`renew_grammar_bytes`).
    max_store_bytes : memory of the tables that all grammars of a tokenizer share.
    max_grammar_bytes : memory of the tables of one compiled grammar.
    renew_store_bytes : no error: when the shared tables are larger than this, the next grammar begins new ones, and the
        old ones die with their last grammar. 96 MiB hold about a thousand schemas.
    renew_grammar_bytes : no error: when the tables of a grammar are larger than this, its sequences move to new ones by
        replaying their tokens, and what only finished sequences needed is given back. Sequences that need more by
        themselves get more, up to `max_grammar_bytes`.
    """

    max_schema_bytes: int = 16 * 2**20
    max_schema_depth: int = 400
    max_schema_keywords: int = 2_000_000
    max_schema_cases: int = 4096
    max_schema_nodes: int = 800_000
    max_regex_nodes: int = 2_000_000
    max_lexer_states: int = 25_000
    max_rows: int = 1_000_000
    max_items: int = 50_000
    max_tracked_names: int = 1024
    max_unique_values: int = 1024
    max_nodes_walked: int = 20_000_000
    max_emptiness_steps: int = 200_000
    max_compile_work: int = 5_000_000
    max_step_work: int = 500_000
    max_store_bytes: int = 2 * 2**30
    max_grammar_bytes: int = 2**30
    renew_store_bytes: int = 96 * 2**20
    renew_grammar_bytes: int = 32 * 2**20

    @property
    def are_for_strangers(self) -> bool:
        """Whether compiling is bounded as for grammars of strangers, or tighter."""
        return self.max_compile_work <= STRANGERS_WORK

    @classmethod
    def for_untrusted(cls) -> Limits:
        """Bounds for grammars of strangers: what one of them asks for may not be felt by the others.

        A compile takes at most about 200 ms (`max_compile_work`), the first mask included, and a step 10 ms
        (`max_step_work`) of one core; a text given as a grammar is read up to 1 MiB (`max_schema_bytes`), a schema
        nests up to 100 levels (`max_schema_depth`). One grammar holds at most 64 MiB (`max_grammar_bytes`), and what
        one adds to the tables that all share is bounded by its work, and by 256 MiB in all (`max_store_bytes`); new
        tables are begun at 64 MiB (`renew_store_bytes`). Of 4,435 schemas of MaskBench three are refused that compile
        otherwise. Pass `on_limit="finish"` to `matcher`, so that a document that meets a limit ends validly.
        """
        return cls(
            max_compile_work=STRANGERS_WORK,
            max_step_work=10_000,
            max_schema_bytes=2**20,
            max_schema_depth=100,
            max_grammar_bytes=64 * 2**20,
            max_store_bytes=256 * 2**20,
            renew_store_bytes=64 * 2**20,
            renew_grammar_bytes=8 * 2**20,
        )


def checked(limits: Limits) -> Limits:
    """Limits whose fields kernels can hold.

    Raises
    ------
    LlmaskError : they are no `Limits`, or a field is no positive integer below 2**62.
    """
    if not isinstance(limits, Limits):
        raise LlmaskError(
            f"limits are a llmask.Limits, not {type(limits).__name__}", help="llmask.Limits(max_rows=...)"
        )
    for field in fields(limits):
        value = getattr(limits, field.name)
        if type(value) is not int or not 0 < value < 2**62:
            raise LlmaskError(f"limits.{field.name} is a positive integer, not {value!r}", help="it is below 2**62")
    return limits
