"""dead(configuration, split state): tokens that nothing canonical can follow, if they are compatible with the one
before.

What follows tokens that stay inside of a lexeme, or that belong to a part (mask/crossing.py), is a matter of lexer
states (canonical/inside.py); those that these do not answer are read from the configuration on. Tokens that cross a
lexeme's end lie in listings with the ends to which they lead (canonical/listings.py), so that another split state asks
a table for every token and little more. What holds for a bare row holds for all its records.

    answer    n, m, m tokens that nothing can follow, n groups of tokens that are to be looked at
    group     n, a witness or NO_WAY, n tokens whose lexeme ends alike (`_way_out` in canonical/inside.py)

Before the value of a member 350 tokens of blanks may come (Llama 3), which lead to 60 lexer states: one token of a
group is asked for all, as what comes after the lexeme is the same.

In: tables, a configuration with a mask, a split state. Out: lists in `tokens`. Cost: 5 ns a token and split state, 60
ns an end; tokens without a quick answer as canonical/search.py says.
"""

from ..lexeme_masks.trie_walk import has_bit, set_bit
from ..lexer.states import DEAD
from ..machine.jit import inline, kernel
from ..machine.raw import take_bit as clear_bit
from ..mask.crossing import NO_END
from ..tables.int_lists import append
from ..tables.interning import map_get, map_put
from ..tables.memory import ensure, load_i32, load_i64, put_i64
from ..values.parse_states import FIRST_TRACKED
from .chains import NO_CHAIN, chain_after, look_up, split_after
from .ends import has_stopped, is_bare, is_certain, is_safe, live_word, names_ordinary
from .inside import (
    NO_WAY,
    TOO_LITTLE,
    keep_answer,
    keep_found,
    leave_open,
    review_all,
    review_byte,
    review_part,
)
from .listings import PART_BYTES, after_first, has_bytes, listed_token, listing_of, parts_of, start_of
from .positions import before_of, chain_of, split_of
from .search import CUT, FOLLOWS_ON, NEEDS_STATE, NOTHING_FOLLOWS, verdict
from .slots import CANON, REFUSED_SPLIT
from .witnesses import NO_WITNESS, can_follow

ANSWER_BYTES = 8


@inline
def inside_state(store, grammar, configuration):
    """The lexer state that carries the mask of tokens inside of the lexeme, or DEAD."""
    state = grammar.configurations[configuration].state
    return DEAD if state == DEAD else store.states[state].anonymous


@inline
def append_special(store, grammar, canon, configuration):
    """Append to `found` the special tokens that are named here; masks of many tokens are not among them."""
    first = grammar.configurations[configuration].first_named
    for i in range(first, first + grammar.configurations[configuration].n_named):
        token = grammar.crossings.pool[i]
        if not has_bytes(store, token):
            append(canon, CANON.found, CANON.n_found, token)


@inline
def _look_at(store, grammar, canon, packed, split, token, after):
    """Enter a token that led to an end in `found` if nothing follows it; its verdict."""
    chain = chain_after(canon, split, after, NO_CHAIN, token)  # one that begins with the token is no whole word yet
    found = verdict(store, grammar, canon, grammar, packed, after, token, chain)
    if found == NOTHING_FOLLOWS:
        append(canon, CANON.found, CANON.n_found, token)
    return found


@kernel
def _look_at_groups(store, grammar, canon, configuration, split, group, n_groups, is_named):
    """As `_look_at` for the tokens of groups at an address: the worst verdict. `is_named`: see `find_removed`."""
    result = FOLLOWS_ON
    for _ in range(n_groups):
        n, way = load_i32(group), load_i32(group + 4)
        for i in range(n):
            token = load_i32(group + 8 + i * 4)
            after = look_up(canon, CANON.fits, split, token)
            packed = after_first(store, grammar, configuration, token)
            if i == 0 and packed >= 0 and not is_named and _gets_out(store, grammar, canon, packed, after, way):
                break
            if packed >= 0:
                result = max(result, _look_at(store, grammar, canon, packed, split, token, after))
        group += 8 + n * 4
        if has_stopped(store, grammar):
            return NEEDS_STATE
    return result


@inline
def _gets_out(store, grammar, canon, packed, after, way):
    """Whether a byte after the lexeme ends the word at an end, or where the witness `way` leads from there.

    What is to come after a lexeme that is recorded depends on what a token spells.
    """
    is_recorded = packed >> 32 >= FIRST_TRACKED and store.states[packed & 0xFFFFFFFF].accepts != grammar.ignored
    if way == NO_WAY or is_recorded:
        return False
    if way == NO_WITNESS:
        return is_safe(store, grammar, canon, packed, after)
    return can_follow(store, grammar, canon, packed, way)


@kernel
def _look_at_listing(store, grammar, canon, configuration, split):
    """As `_look_at_groups` for the tokens of a listing."""
    listing = listing_of(grammar, configuration)
    result = FOLLOWS_ON
    for i in range(load_i32(listing)):
        token, packed = listed_token(listing, i)
        after = look_up(canon, CANON.fits, split, token)
        if after == REFUSED_SPLIT or (packed != NO_END and is_safe(store, grammar, canon, packed, after)):
            continue
        if packed == NO_END or is_bare(packed):
            packed = after_first(store, grammar, configuration, token)
        if packed >= 0:
            result = max(result, _look_at(store, grammar, canon, packed, split, token, after))
        if has_stopped(store, grammar):
            return NEEDS_STATE
    return result


@kernel
def _review_bare(store, grammar, canon, base, split):
    """Address of an answer for the tokens of a bare row: what all records have in common; 0: stop."""
    key = (base << 16) | split
    known = map_get(grammar.of_untracked, key)
    if known >= 0:
        return grammar.tokens.address + known * 4
    listing = listing_of(grammar, base)
    canon.n_found = canon.n_doubtful = 0
    is_missing = False
    for i in range(load_i32(listing)):
        token, packed = listed_token(listing, i)
        after = look_up(canon, CANON.fits, split, token)
        if after == REFUSED_SPLIT:
            continue
        found = CUT
        if packed != NO_END and is_certain(grammar, packed):
            found = _look_at(store, grammar, canon, packed, split, token, after)
        elif packed != NO_END and is_safe(store, grammar, canon, packed, after):
            found = FOLLOWS_ON
        if found == CUT:
            leave_open(canon, token, NO_WAY, NO_WAY)
        is_missing = is_missing or found == NEEDS_STATE
    if is_missing or has_stopped(store, grammar):
        return 0
    position = grammar.n_tokens
    map_put(grammar.of_untracked, key, position)
    return keep_answer(grammar, canon)


@inline
def _enter_answer(canon, n, answer):
    """Enter an answer in `answers`, number n; how many there are then, -1 if one is missing."""
    put_i64(ensure(canon, CANON.answers, (n + 1) * ANSWER_BYTES), max(n, 0), answer)
    return n + 1 if answer != 0 and n >= 0 else -1


@kernel
def _find_inside(store, grammar, canon, state, split):
    """As `_find_answers` for what a lexer state says of the tokens inside of its lexeme."""
    answer, n, live = review_all(store, grammar, canon, state, split), 0, 0
    if answer != TOO_LITTLE:
        return _enter_answer(canon, 0, answer)
    for byte in range(256):
        if byte & 63 == 0:
            live = live_word(store, canon, state, state, byte >> 6)
        if live >> (byte & 63) & 1 != 0 and load_i32(canon.root_child + byte * 4) != 0:
            answer = review_byte(store, grammar, canon, state, split, byte)
            if answer == 0 or load_i64(answer) != 0:
                n = _enter_answer(canon, n, answer)
    return n


@kernel
def _find_answers(store, grammar, canon, configuration, split):
    """List in `answers` what is known of tokens inside of the lexeme, of parts and the bare row; how many, or -1."""
    anonymous, n = inside_state(store, grammar, configuration), 0
    if anonymous != DEAD:
        n = _find_inside(store, grammar, canon, anonymous, split)
    for i in range(load_i32(listing_of(grammar, configuration) + 4)):
        part = parts_of(listing_of(grammar, configuration)) + i * PART_BYTES
        number, state, node = load_i32(part), load_i32(part + 8), load_i32(part + 12)
        n = _enter_answer(canon, n, review_part(store, grammar, canon, number, state, node, split))
    base = grammar.configurations[configuration].base
    if base != 0:
        n = _enter_answer(canon, n, _review_bare(store, grammar, canon, base, split))
    return n


@inline
def known_removed(grammar, configuration, split):
    """What `find_removed` found before, or 0."""
    known = map_get(grammar.removed, (configuration << 16) | split)
    return grammar.tokens.address + known * 4 if known >= 0 else 0


@kernel
def find_removed(store, grammar, canon, configuration, split):
    """Address of (whether one was cut, n, tokens without a continuation if they are compatible), or 0: stop."""
    known = known_removed(grammar, configuration, split)
    if known != 0:
        return known
    n_answers = _find_answers(store, grammar, canon, configuration, split)
    if n_answers < 0:
        return 0
    canon.n_found = 0
    is_named = names_ordinary(store, grammar, start_of(grammar, configuration))  # these lead elsewhere than their bytes
    worst = FOLLOWS_ON
    for i in range(n_answers):
        answer = canon.answers[i]
        n_groups, n_dead = load_i32(answer), load_i32(answer + 4)
        for j in range(0 if is_named else n_dead):
            append(canon, CANON.found, CANON.n_found, load_i32(answer + 8 + j * 4))
        groups = answer + 8 + n_dead * 4
        found = _look_at_groups(store, grammar, canon, configuration, split, groups, n_groups, is_named)
        worst = max(worst, found)
    worst = max(worst, _look_at_listing(store, grammar, canon, configuration, split))
    if worst == NEEDS_STATE or has_stopped(store, grammar):
        return 0
    position = grammar.n_tokens
    address = keep_found(grammar, 1 if is_named or worst == CUT else 0, canon)
    map_put(grammar.removed, (configuration << 16) | split, position)
    return address


@kernel
def consider_again(store, grammar, canon, configuration, context, removed, n_mixed):
    """Put removed tokens in `found`, those in `doubtful` looked at anew: NEEDS_STATE, CUT or FOLLOWS_ON.

    `removed` see `find_removed`. The first `n_mixed` in `doubtful` are incompatible with the token before.
    """
    split, before, chain = split_of(context), before_of(context), chain_of(context)
    canon.n_found = 0
    n_again = canon.n_doubtful
    bits = ensure(canon, CANON.again, store.n_words * 4)  # none are set
    for j in range(n_again):
        set_bit(bits, canon.doubtful[j])
    for i in range(load_i32(removed + 4)):
        token = load_i32(removed + 8 + i * 4)
        if not has_bit(bits, token):
            append(canon, CANON.found, CANON.n_found, token)
    for j in range(n_again):
        clear_bit(bits, canon.doubtful[j])
    result = CUT if load_i32(removed) != 0 else FOLLOWS_ON
    for j in range(n_again):
        token = canon.doubtful[j]
        packed = after_first(store, grammar, configuration, token)
        if packed < 0:
            continue
        if j < n_mixed:
            after = look_up(canon, CANON.breaks, split, token)
        else:
            after = split_after(canon, split, before, chain, token)
        found = NOTHING_FOLLOWS
        if after != REFUSED_SPLIT:
            following = chain_after(canon, split, after, chain, token)
            found = verdict(store, grammar, canon, grammar, packed, after, token, following)
        if found == NOTHING_FOLLOWS:
            append(canon, CANON.found, CANON.n_found, token)
        result = max(result, found)
        if has_stopped(store, grammar):
            return NEEDS_STATE
    return result
