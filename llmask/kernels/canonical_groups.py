"""Tokens inside of a lexeme that a lexer state does not answer, grouped by what a place has to be asked for.

Before the value of a member 350 tokens of blanks may come (Llama 3), and every place where blanks may stand has to be
asked what can follow each. But they lead to few lexer states and split states, with few witnesses
(canonical_search.py): where a place takes a byte that ends the word, or the witness, for one token of such a group, it
does for all of them.

    group    n, the witness (NO_WITNESS: none), split state, lexer state, then n tokens

The last group may hold what is left: its witness is MIXED, and each of its tokens has to be asked for.

In: tables, a lexer state, a split state, tokens. Out: groups, in TOKENS. Cost: 100 ns a token, once.
"""

from __future__ import annotations

from .canonical_chains import NO_CHAIN, chain_after, look_up
from .canonical_ends import INSIDE_PLACE, go_on_from_last, has_stopped
from .canonical_guess import NO_WITNESS, split_behind, witness_text
from .canonical_search import witness_of
from .canonical_slots import FOLLOWS, GROUP_OF, GROUPED, GROUPS, SHARED_BYTES, WALK
from .configurations import REFUSED, pack
from .grammar_slots import N_TOKENS, TOKENS
from .interning import map_get, map_put
from .jit import kernel, never_inline
from .memory import BYTES_USED, block, ensure, get_i32, get_i64, load_i32, load_i64, put_i32, put_i64, store_i64

MOST_GROUPS = 256
GROUP_FIELDS = 6  # int64 while they are made: how many tokens, witness, split state, lexer state, text, split behind it
GROUP_HEAD = 4  # int32 before the tokens
MIXED = -1


@kernel
def append(table, slot, count, token):
    """Append to int32[...] in a slot."""
    never_inline()
    n = table[count]
    put_i32(ensure(table, slot, (n + 1) * 4), n, token)
    table[count] = n + 1


@kernel
def _group(groups, n, text, behind, split, state):
    """Number of a group; n: there is none yet."""
    for number in range(n):
        at = number * GROUP_FIELDS
        if get_i64(groups, at + 2) == split and get_i64(groups, at + 3) == state:
            if get_i64(groups, at + 4) == text and get_i64(groups, at + 5) == behind:
                return number
    return n


@kernel
def _find_groups(store, grammar, canon, state, split, tokens, n_tokens):
    """Group tokens that come in a lexer state and split state; returns how many groups there are."""
    never_inline()
    groups = ensure(canon, GROUPS, MOST_GROUPS * GROUP_FIELDS * 8)
    group_of = ensure(canon, GROUP_OF, (n_tokens + 1) * 4)
    stack = block(canon, WALK)
    store_i64(stack, pack(INSIDE_PLACE, state))
    last, n_valid = 0, 0
    n = 0
    for i in range(n_tokens):
        token = load_i32(tokens + i * 4)
        went_on = go_on_from_last(store, grammar, stack, last, n_valid, token)  # they are in the order of the trie
        last, n_valid = token, went_on >> 1
        reached = load_i64(stack + n_valid * 8) if went_on & 1 != 0 else REFUSED
        after = look_up(canon, FOLLOWS, split, token)
        witness, text, behind = MIXED, MIXED, 0  # whether a witness completes a chain is asked for each token
        if chain_after(canon, split, NO_CHAIN, token) == NO_CHAIN:
            text = 0
            witness = max(witness_of(canon, after, token), NO_WITNESS)
            if witness > NO_WITNESS:
                text, behind = witness_text(canon, witness), split_behind(canon, witness)
        number = _group(groups, n, text, behind, after, reached)
        if number == n and n == MOST_GROUPS - 1:
            witness = MIXED
        elif number == n and n == MOST_GROUPS:
            number = n - 1
        if number == n:
            at = n * GROUP_FIELDS
            put_i64(groups, at, 0)
            put_i64(groups, at + 1, witness)
            put_i64(groups, at + 2, after)
            put_i64(groups, at + 3, reached)
            put_i64(groups, at + 4, text)
            put_i64(groups, at + 5, behind)
            n += 1
        put_i64(groups, number * GROUP_FIELDS, get_i64(groups, number * GROUP_FIELDS) + 1)
        put_i32(group_of, i, number)
    return n


@kernel
def find_groups(store, grammar, canon, state, split, key, tokens, n_tokens):
    """Address of (how many groups, the groups) of the tokens at an address, which a lexer state does not answer.

    The tokens are the same for all lexer states with the mask of this one, but they lead to other lexer states there.
    `key` is that of the state and split state, and of the first byte where it is of one byte only.
    """
    never_inline()
    known = map_get(canon, GROUPED, key)
    if known >= 0:
        return block(canon, TOKENS) + known * 4
    n = _find_groups(store, grammar, canon, state, split, tokens, n_tokens)
    groups, group_of = block(canon, GROUPS), block(canon, GROUP_OF)
    is_shared = canon[BYTES_USED] <= canon[SHARED_BYTES]
    owner = canon if is_shared else grammar
    position = owner[N_TOKENS]
    append(owner, TOKENS, N_TOKENS, n)
    for number in range(n):
        for name in range(GROUP_HEAD):
            append(owner, TOKENS, N_TOKENS, get_i64(groups, number * GROUP_FIELDS + name))
        for i in range(n_tokens):
            if get_i32(group_of, i) == number:
                append(owner, TOKENS, N_TOKENS, load_i32(tokens + i * 4))
    if is_shared and not has_stopped(store, grammar):
        map_put(canon, GROUPED, key, position)
    return block(owner, TOKENS) + position * 4
