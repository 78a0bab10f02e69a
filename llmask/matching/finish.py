"""How the sequences of a grammar can end: bounds of configurations, and where the tokens of their masks lead.

Bounds and ways are found in kernels (kernels/finish/paths.py); here is what is kept of them, and the search for shorter
ways over whole tokens. The tokens of a mask are grouped by the configurations that they lead to, tens for thousands.

In the middle of values that must not repeat (kernels/values/parse_states.py) every token leads to another
configuration, and looking at each takes milliseconds: what may follow has to be derived without its text. There the
bound of the first token is taken for all tokens that lead to the same row and lexer state: these are supposed to need
at most SLACK tokens more than it does. That is no proof. The end of a value may be refused though it is not after the
first token, and then another text is needed: a letter more, where texts are free. A budget would break only where the
values written so far force more than SLACK tokens.

In: configurations of a generation's tables, the store's lock held. Out: bounds. Cost: where the tokens of a
configuration lead 0.3 to 5 ms the first time.
"""

from __future__ import annotations

import heapq
import weakref
from collections import OrderedDict
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..errors import LimitExceeded
from ..kernels.finish.paths import NO_BOUND
from ..kernels.lexer.states import DEAD
from ..kernels.machine.constants import NO_TOKEN
from ..kernels.mask.configurations import ENDED
from ..kernels.tables.grammar_layout import GRAMMAR
from ..kernels.tables.operations import Operation
from ..kernels.tables.store_layout import STORE
from ..store.generation import Generation
from ..work import metered, spend

Int32s = npt.NDArray[np.int32]

SLACK = 64  # tokens that others like them are taken to need at most besides
LEAST_JUMP = 16
KEPT_BYTES = 2**18  # of where the tokens of one grammar's configurations lead
KEPT_INSIDE_BYTES = 16 * 2**20  # of the tokens inside of lexemes, for all grammars of a store
OBJECT_BYTES = 800  # of a Reach or Inside, its arrays' numbers aside
MOST_BYTES = 100  # of an entry of `Ends.most`
ASKED_AT_ONCE = 64
MOST_LOST = 8
SEARCHED_TOKENS = 400_000  # tokens looked at for a shorter way, all in all
SEARCHED_PLACES = 4000
PLACE_WORK = 100  # units of Python's work to look at a place, besides what kernels count
GROUP_WORK = 4  # and to find where a group of tokens leads


class Inside(NamedTuple):
    """Tokens that stay inside the lexeme of a lexer state, grouped by the state after them.

    tokens  int32[n]              group by group
    first   int64[n_groups + 1]   where each begins
    """

    tokens: Int32s
    first: npt.NDArray[np.int64]

    @property
    def n_bytes(self) -> int:
        """Memory."""
        return OBJECT_BYTES + self.tokens.nbytes + self.first.nbytes

    @property
    def first_tokens(self) -> Int32s:
        """The first token of each group."""
        return self.tokens[self.first[:-1]]


class Reach(NamedTuple):
    """Where the tokens of a configuration's mask lead.

    state             of the lexer, whose `Ends.inside` has groups of tokens; DEAD: no groups
    reached           the configuration after each group, int32[n_groups]
    inside_bounds     int32[n_groups]
    tokens, after     the other tokens, and the configuration after each; they have precedence over the groups
    bounds            int32[n_tokens]
    shortest          configuration after the token of the bound; ENDED without one
    is_recorded       something is recorded at the place: the bounds of groups have SLACK
    """

    state: int
    reached: Int32s
    inside_bounds: Int32s
    tokens: Int32s
    after: Int32s
    bounds: Int32s
    shortest: int
    is_recorded: bool

    @property
    def n_bytes(self) -> int:
        """Memory."""
        arrays = self.reached, self.inside_bounds, self.tokens, self.after, self.bounds
        return OBJECT_BYTES + sum(array.nbytes for array in arrays)

    @property
    def most(self) -> int:
        """The greatest bound."""
        return int(max(self.inside_bounds.max(initial=0), self.bounds.max(initial=0)))

    @property
    def least(self) -> int:
        """The least bound."""
        return int(min(self.inside_bounds.min(initial=NO_BOUND), self.bounds.min(initial=NO_BOUND)))


NOTHING_INSIDE = Inside(np.zeros(0, np.int32), np.zeros(1, np.int64))


class Ends:
    """Bounds of the configurations of a generation's tables; used under the store's lock.

    Parameters
    ----------
    most_work : units of work that one search for a shorter way may take.

    Attributes
    ----------
    most : by configuration, a budget above it restricts nothing; see `far`.
    """

    def __init__(self, generation: Generation, most_work: int) -> None:
        self._generation: Generation = weakref.proxy(generation)  # which holds this
        self._most_work = most_work
        self.most: dict[int, int] = {}
        self._n_lowered = 0  # how often bounds that may lie in reaches were lowered
        self._reaches: OrderedDict[int, tuple[int, Reach]] = OrderedDict()
        self._n_kept = 0  # bytes of reaches
        self._jump = 0, 0  # and the number of rules' states that it is for
        self._searched: set[int] = set()

    # --- bounds

    def bounds(self, configurations: Int32s) -> Int32s:
        """Bounds of some configurations."""
        return self._each(Operation.BOUNDS, configurations)

    def _each(self, operation: int, numbers: Int32s, configuration: int = 0) -> Int32s:
        """What an operation says of each of some numbers."""
        n = len(numbers)
        data = np.concatenate([numbers, np.zeros(n, np.int32)])
        self._generation.run(operation, configuration, data=data)
        return data[n:]

    def _bounds_of_some(self, configurations: Int32s, first: int) -> Int32s:
        """Bounds of different configurations, that of `first` before the others; NO_BOUND once many have none.

        It takes up to 50 ms to find that a configuration has none.
        """
        found = np.full(len(configurations), NO_BOUND, np.int32)
        found[configurations == first] = self.bound(first)
        for begin in range(0, len(configurations), ASKED_AT_ONCE):
            chunk = slice(begin, begin + ASKED_AT_ONCE)
            found[chunk] = self.bounds(configurations[chunk])
            if np.count_nonzero(found[: chunk.stop] == NO_BOUND) > MOST_LOST:
                break
        return found

    def bound(self, configuration: int, begun: list[int] | None = None) -> int:
        """The bound of one configuration; `begun` gets the first step of a way that a limit has cut short, if any."""
        store = self._generation.store
        with store.lock:
            try:
                return int(self.bounds(np.array([configuration], np.int32))[0])
            except LimitExceeded:
                if begun is not None and store.table.slots[STORE.finish_path] != 0:
                    first = store.table.view.finish_path[0]
                    begun += [first.step] if first.configuration == configuration and first.step >= 0 else []
                raise

    def jump(self) -> int:
        """By how many tokens one token may make the end longer, by an estimate: what it opens is to be closed.

        That is as many as the longest of all ways to the end of a rule, and of a lexeme, have bytes; a token mostly has
        some, so this is for two or three rules that one token opens. It is no proof: it may open more of them, one
        inside the other, and an intersection may ask for more than its parts.
        """
        n_states = int(self._generation.table.slots[GRAMMAR.n_rtn_states])
        if self._jump[1] != n_states:
            self._jump = self._generation.run(Operation.GREATEST_COST) + LEAST_JUMP, n_states
        return self._jump[0]

    def far(self, configuration: int) -> int:
        """A budget above it restricts nothing: what is known of the configuration, else its bound and a jump."""
        most = self.most.get(configuration)
        if most is None:
            most = self.most[configuration] = self.bound(configuration) + self.jump()
            self._note_bytes()
        return most

    def path(self, configuration: int) -> list[int]:
        """Tokens that end the document in as many tokens as the bound says, an end of sequence left aside."""
        assert self.bound(configuration) < NO_BOUND
        tokens: list[int] = []
        while configuration != ENDED:
            token = self._generation.run(Operation.FINISHING_TOKEN, configuration)
            if token == NO_TOKEN:
                break
            tokens.append(token)
            configuration = self._generation.run(Operation.ACCEPT, configuration, token)
        return tokens

    def keep(self, configuration: int, path: list[int]) -> None:
        """Have the bound of a configuration be at most what a path says that ended it in other tables."""
        way = [configuration]
        for token in path:
            way.append(self._generation.run(Operation.ACCEPT, way[-1], token))
        bound = int(self.bounds(np.array(way[::-1], np.int32))[0])  # the last one first: others have its end in sight
        self._n_lowered += 1
        for here, token in zip(reversed(way[:-1]), reversed(path), strict=True):
            bound += 1
            self._generation.run(Operation.LOWER_BOUND, here, bound, np.array([token], np.int32))

    # --- where tokens lead

    def reach(self, configuration: int) -> Reach:
        """Where the tokens of a configuration lead, and the bounds there."""
        n_lowered, known = self._reaches.pop(configuration, (-1, None))
        if known is None or n_lowered != self._n_lowered:
            self._n_kept -= 0 if known is None else known.n_bytes
            known = self._find_reach(configuration)
            self._n_kept += known.n_bytes
        self.most[configuration] = known.most
        self._reaches[configuration] = self._n_lowered, known
        while self._n_kept > KEPT_BYTES and len(self._reaches) > 1:
            self._n_kept -= self._reaches.popitem(last=False)[1][1].n_bytes
        self._note_bytes()
        return known

    def _note_bytes(self) -> None:
        self._generation.kept_bytes = self._n_kept + MOST_BYTES * (len(self.most) + len(self._searched))

    def _with_bounds(self, reach: Reach) -> Reach:
        """The same with bounds."""
        different, which = np.unique(np.concatenate([reach.reached, reach.after]), return_inverse=True)
        bare = self._without_records(different)
        _, first, like = np.unique(bare, return_index=True, return_inverse=True)
        is_known = bare == different
        is_known[first] = True
        is_known |= np.isin(different, reach.reached) | (different == reach.shortest)
        bounds = np.zeros(len(different), np.int32)
        bounds[is_known] = self._bounds_of_some(different[is_known], reach.shortest)
        bounds[~is_known] = np.minimum(bounds[first[like[~is_known]]] + SLACK, NO_BOUND)
        bounds = bounds[which]
        n = len(reach.reached)
        slack = SLACK if reach.is_recorded else 0
        return reach._replace(inside_bounds=np.minimum(bounds[:n] + np.int32(slack), NO_BOUND), bounds=bounds[n:])

    def _find_reach(self, configuration: int) -> Reach:
        run = self._generation.run
        pairs = self._pairs(Operation.LIST_CROSSING, configuration)
        state = run(Operation.ANONYMOUS_OF, configuration)
        first_tokens = self.inside(state).first_tokens
        spend(GROUP_WORK * len(first_tokens))  # as texts: as a token the first one of a group may be named
        reached = self._each(Operation.AFTER_TEXTS, first_tokens, configuration)
        is_recorded = int(self._without_records(np.array([configuration], np.int32))[0]) != configuration
        token, shortest = NO_TOKEN, ENDED
        if self.bound(configuration) < NO_BOUND:
            token = run(Operation.FINISHING_TOKEN, configuration)
        if token != NO_TOKEN:
            shortest = int(self._after(configuration, np.array([token], np.int32))[0])
        if is_recorded:  # the first token of each group is certain, and so is that of the bound
            tokens = first_tokens if token == NO_TOKEN else np.append(first_tokens, np.int32(token))
            certain = np.stack([tokens, self._after(configuration, tokens)], axis=1)
            pairs = np.concatenate([pairs, certain])
        nothing = np.zeros(0, np.int32)
        return self._with_bounds(
            Reach(state, reached, nothing, pairs[:, 0], pairs[:, 1], nothing, shortest, is_recorded)
        )

    def _pairs(self, operation: int, number: int, n_expected: int = 2048) -> Int32s:
        """What an operation lists: int32[n, 2]."""
        data = np.empty(2 * n_expected, np.int32)
        while True:
            n = self._generation.run(operation, number, data=data)
            if n <= len(data):
                pairs: Int32s = data[:n].reshape(-1, 2).copy()  # a part would keep all of the buffer
                return pairs
            data = np.empty(n, np.int32)

    def inside(self, state: int) -> Inside:
        """The tokens that stay inside the lexeme of a state; kept by the store, as states are."""
        if state == DEAD:
            return NOTHING_INSIDE
        store = self._generation.store
        kept: OrderedDict[int, Inside] = store.notes.setdefault(NOTE, OrderedDict())
        known = kept.get(state)
        if known is None:
            pairs = self._pairs(Operation.LIST_INSIDE, state, store.tokenizer.vocab_size)  # nearly all, of a string
            order = np.argsort(pairs[:, 1], kind="stable")
            ends = np.flatnonzero(np.diff(pairs[order, 1])) + 1
            first = np.concatenate([[0], ends, [len(pairs)]]) if len(pairs) else np.zeros(1, np.int64)
            known = kept[state] = Inside(np.ascontiguousarray(pairs[order, 0]), first.astype(np.int64))
            store.kept_bytes += known.n_bytes
            while store.kept_bytes > KEPT_INSIDE_BYTES and len(kept) > 1:
                store.kept_bytes -= kept.popitem(last=False)[1].n_bytes
        else:
            kept.move_to_end(state)
        return known

    def _without_records(self, configurations: Int32s) -> Int32s:
        """Configurations of the same rows where nothing is recorded."""
        return self._each(Operation.WITHOUT_TRANSCRIPTS, configurations)

    def _after(self, configuration: int, tokens: Int32s) -> Int32s:
        """Configurations after some tokens."""
        return self._each(Operation.AFTER_TOKENS, tokens, configuration)

    # --- shorter ways

    def search(self, configuration: int) -> int:
        """Look for ways with fewer tokens than the bound says, the most promising first; returns the bound.

        It is the minimum when the search came to its end before SEARCHED_TOKENS, SEARCHED_PLACES and the work that
        compiling may take. Who asks again, once for each document that is refused, gets the same answer.
        """
        if configuration in self._searched:
            return self.bound(configuration)
        with metered(self._most_work, "max_compile_work") as meter:
            try:
                self._search(configuration)
            except LimitExceeded:
                if meter.left >= 0:
                    raise
        self._searched.add(configuration)
        return self.bound(configuration)

    def _search(self, configuration: int) -> None:
        bound = self.bound(configuration)
        before: dict[int, tuple[int, int]] = {configuration: (-1, NO_TOKEN)}
        depths = {configuration: 0}
        waiting = [(bound, 0, configuration)]
        n_left = SEARCHED_TOKENS
        while waiting and n_left > 0 and len(before) < SEARCHED_PLACES:
            _, depth, here = heapq.heappop(waiting)
            if depth > depths[here] or depth + 1 >= bound:
                continue
            reach = self.reach(here)
            n_left -= len(reach.tokens) + len(reach.reached)
            spend(PLACE_WORK + (len(reach.tokens) + len(reach.reached)) // 16)
            first_tokens = self.inside(reach.state).first_tokens
            is_named = np.isin(first_tokens, reach.tokens)
            for places, bounds, tokens in (
                (reach.reached[~is_named], reach.inside_bounds[~is_named], first_tokens[~is_named]),
                (reach.after, reach.bounds, reach.tokens),
            ):
                _, firsts = np.unique(places, return_index=True)
                for i in firsts.tolist():
                    place, there = int(places[i]), int(bounds[i])
                    if depths.get(place, NO_BOUND) <= depth + 1:
                        continue
                    depths[place] = depth + 1
                    before[place] = here, int(tokens[i])
                    if depth + 1 + there < bound:
                        there = self.bound(place)  # without what was guessed
                        bound = min(bound, depth + 1 + there)
                        self._lower(place, there, before)
                    heapq.heappush(waiting, (depth + 1 + there, depth + 1, place))

    def _lower(self, place: int, bound: int, before: dict[int, tuple[int, int]]) -> None:
        """Note the way to a place, and the bound there, at all places on it."""
        self._n_lowered += 1
        while before[place][0] >= 0:
            place, token = before[place]
            bound += 1
            self._generation.run(Operation.LOWER_BOUND, place, bound, np.array([token], np.int32))


NOTE = "ends"  # name among the notes of a generation, and of a store


def has_ends(generation: Generation) -> bool:
    """Whether anybody asked for the ends of these tables."""
    return NOTE in generation.notes


def ends_of(generation: Generation) -> Ends:
    """How the sequences of these tables can end; made at the first use."""
    found: Ends | None = generation.notes.get(NOTE)
    if found is None:
        made = Ends(generation, generation.store.limits.max_compile_work)
        found = generation.notes.setdefault(NOTE, made)  # of two threads that make it both get the same one
    return found
