"""Tells the caller what a model has written so far, while it writes: `on_value` and `on_event`.

    def show(number, event):             # 0 Event(kind='value', pointer='/name', value='Ada')
        print(number, event)

    model.generate(..., logits_processor=[GrammarLogitsProcessor(grammar, max_tokens=500, on_event=show)])

`Watch` reads each text on from where it was (matching/json_reader.py). `RowWatch` does it for a logits processor, which
sees rows of tokens and nothing else. What was told cannot be taken back, so a row has to go on as it was: beams, which
permute rows, and drafts, which are taken back, are an error at the first row that does not.

A processor is not called after the last token, as a rule the end of sequence. Arrays, objects, strings and literals are
complete before that; a number, and a text that is no JSON, end with it. `finish` tells the rest.

In: tokens, and matchers that have accepted them. Out: calls of the caller's functions. Cost: 50 us a row and call, that
of the functions aside; a value so far 10 ns an item of what is open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

from llmask.errors import LlmaskError
from llmask.matching.json_reader import Event, JsonSoFar
from llmask.matching.matcher import Matcher

if TYPE_CHECKING:
    from llmask.tokenizer.tokenizer import Tokenizer

OnValue = Callable[[int, Any], object]
OnEvent = Callable[[int, Event], object]


class _Text(NamedTuple):
    """What was told of one text.

    n_tokens   tokens that were read
    so_far     what they are: of JSON, or of a text its bytes
    has_ended  whether its end was told
    """

    n_tokens: int
    so_far: JsonSoFar | bytes
    has_ended: bool


class Watch:
    """Tells of values so far and of what is complete; texts are known by their numbers.

    Parameters
    ----------
    on_value, on_event : see `llmask.generate`; None: not wanted.

    Raises
    ------
    LlmaskError : one of them cannot be called.
    """

    def __init__(self, on_value: OnValue | None, on_event: OnEvent | None) -> None:
        for name, given in (("on_value", on_value), ("on_event", on_event)):
            if given is not None and not callable(given):
                raise LlmaskError(
                    f"{name} is called with a number and what there is to tell, and {type(given).__name__} cannot be",
                    help=f"give a function: {name}=lambda number, what: print(number, what)",
                )
        self._on_value = on_value
        self._on_event = on_event
        self._texts: dict[int, _Text] = {}

    def forget(self) -> None:
        """Forget all texts: other ones begin."""
        self._texts.clear()

    def n_read(self, number: int) -> int:
        """How many tokens of a text were read."""
        return self._texts[number].n_tokens if number in self._texts else 0

    def tell(
        self, number: int, tokens: Iterable[int], tokenizer: Tokenizer, is_json: bool, has_ended: bool = False
    ) -> None:
        """Read the tokens of a text that come after those that were read, and tell what is new.

        Parameters
        ----------
        tokens : what follows an end of sequence does not count.
        is_json : whether it is read as JSON; else there is a text so far, and the end.
        has_ended : nothing follows, and it is whole.
        """
        own = until_end(tokens, tokenizer.eos_ids)
        n_tokens, before, had_ended = self._texts.get(number) or _Text(0, JsonSoFar() if is_json else b"", False)
        data = tokenizer.decode_bytes(own)
        after: JsonSoFar | bytes
        value: Any
        if isinstance(before, bytes):
            after = before + data
            value = after.decode("utf-8", "ignore")
            is_new = value != before.decode("utf-8", "ignore")
            events = [Event("end", "", value)] if has_ended and not had_ended else []
        else:
            after, events = before.events(data, has_ended)
            is_new = self._on_value is not None and after.n_changes > before.n_changes
            value = after.value() if is_new else None
        # before the calls, so that what they raise is not followed by the same calls
        self._texts[number] = _Text(n_tokens + len(own), after, had_ended or has_ended)
        if self._on_event is not None:
            for event in events:
                self._on_event(number, event)
        if is_new and self._on_value is not None:
            self._on_value(number, value)


class RowWatch(Watch):
    """Tells of the rows of a processor, by their numbers in the batch; each has to go on as it was."""

    def __init__(self, on_value: OnValue | None, on_event: OnEvent | None) -> None:
        super().__init__(on_value, on_event)
        self._rows: Sequence[bytes] = ()

    def forget(self) -> None:
        """As `Watch.forget`."""
        super().forget()
        self._rows = ()

    def see(self, rows: Sequence[bytes], matchers: Sequence[Any], is_over: bool = False) -> None:
        """Tell what is new in rows.

        Parameters
        ----------
        rows : the tokens after each prompt, int64 as they lie in memory.
        matchers : what has accepted them; nothing is told of rows without a grammar, and of what the grammar refuses.
        is_over : nothing is written after them, so that what may end there has ended.

        Raises
        ------
        LlmaskError : a row does not go on as it was; nothing is told then.
        """
        for number, (before, now) in enumerate(zip(self._rows, rows, strict=False)):
            if not now.startswith(before):
                raise LlmaskError(
                    "rows do not go on as they were, so what was told of them may be of another text",
                    where=f"row {number}",
                    help="on_event and on_value are for sampling and greedy search: leave them out with beams, with an "
                    "assistant model and with prompt lookup",
                )
        self._rows = rows
        for number, matcher in enumerate(matchers):
            if isinstance(matcher, Matcher) and not matcher.is_thinking:
                has_ended = matcher.is_terminated() or (is_over and matcher.is_accepting())
                sequence, grammar = matcher._sequence, matcher.grammar
                tokens = sequence.history.since(sequence.begin + self.n_read(number))
                self.tell(number, tokens, grammar.tokenizer, grammar.is_json, has_ended)


def until_end(tokens: Iterable[int], eos_ids: Iterable[int]) -> list[int]:
    """The tokens before the end of sequence."""
    return list(takewhile(lambda token: token not in eos_ids, tokens))
