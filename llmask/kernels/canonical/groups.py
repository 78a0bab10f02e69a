"""Tokens inside of a lexeme that a lexer state does not answer, grouped by what a place has to be asked for.

Before the value of a member 350 tokens of blanks may come (Llama 3), and every place where blanks may stand has to be
asked what can follow each. They differ in lexer state, split state and witnesses (canonical/search.py), but what is
left of these behind the lexeme are few *texts*, each with the split state behind it: if one of them can follow the
lexeme, so can something canonical the token. Tokens with the same texts are a group.

    n_texts, n_groups, how many tokens were asked for one by one, at how many the groups are made anew
    texts     int32[n_texts, 3]: bytes, the first lowest, low and high half; split state behind them
    groups    n, number of the only lexeme, texts as a bit set, low and high half, then n tokens

A group without a text has to be asked for token by token. Lexemes are numbered as those of a state `named`, as lexer
states that are alike (canonical/alike.py) share their groups.

In: tables, a lexer state, a split state, tokens. Out: groups, in TOKENS. Cost: 200 ns a token, once, and again when
so many tokens were asked for that witnesses must have been found in the meantime.
"""

from ..lexer.states import DEAD, next_state
from ..machine.jit import inline, kernel
from ..machine.numba_names import map_at
from ..mask.configurations import pack
from ..tables.grammar_layout import GRAMMAR
from ..tables.int_lists import append
from ..tables.interning import map_change, map_get
from ..tables.memory import block, ensure, get_i32, get_i64, load_i32, load_i64, put_i32, put_i64, store_i64
from .alike import number_of_lexeme
from .chains import NO_CHAIN, chain_after, look_up
from .ends import INSIDE_PLACE, go_on_from_last, has_stopped
from .guess import NO_WITNESS, split_behind, witness_text
from .live import live_ascii
from .queue import MOST_COMMON, MOST_OWN
from .search import common_witness, own_witness
from .slots import ENDS, FOLLOWS, GROUP_OF, GROUPED, GROUPS, SHARED_BYTES, WALK

MOST_TEXTS = 62
MOST_GROUPS = 256
GROUP_FIELDS = 3  # int64 while they are made: how many tokens, lexemes, texts
NO_GROUP = -1
SURE = -1  # in place of texts: something follows the token wherever it comes

HEAD = 4  # int32 before the texts
N_ASKED = 2  # of these
TEXT_BYTES = 12
GROUP_HEAD = 4  # int32 before the tokens


@inline
def _with_text(texts, bits, text, split):
    """A set of texts with one more, which is entered in `texts`: int64, how many, then each with its split state."""
    n = get_i64(texts, 0)
    number = 0
    while number < n and (get_i64(texts, 2 * number + 1) != text or get_i64(texts, 2 * number + 2) != split):
        number += 1
    if number == MOST_TEXTS:
        return bits
    if number == n:
        put_i64(texts, 2 * n + 1, text)
        put_i64(texts, 2 * n + 2, split)
        put_i64(texts, 0, n + 1)
    return bits | 1 << number


@inline
def _with_end(store, canon, texts, bits, state, split):
    """As `_with_text` for what follows in a lexer state that no witness leads on from."""
    live, ends = live_ascii(store, canon, state), canon[ENDS] + split * 16
    if (load_i64(live) & load_i64(ends)) | (load_i64(live + 8) & load_i64(ends + 8)) != 0:
        return SURE
    return bits if store.states[state].accepts == 0 else _with_text(texts, bits, 0, split)


@kernel
def _with_witness(store, canon, texts, bits, state, witness):
    """As `_with_text` for what is left of a witness behind the lexeme, which begins in a lexer state inside of it."""
    if witness <= NO_WITNESS or bits == SURE:
        return bits
    text, split = witness_text(canon, witness), split_behind(canon, witness)
    while text != 0:
        target = next_state(store, state, text & 0xFF)
        if target == DEAD:
            return bits if store.states[state].accepts == 0 else _with_text(texts, bits, text, split)
        text >>= 8
        if store.states[target].finished != 0:
            return _with_text(texts, bits, text, split)
        state = target
    return _with_end(store, canon, texts, bits, state, split)


@kernel
def _texts_of(store, canon, texts, state, split, token, chain):
    """The texts of a token that leads to a lexer state, a split state and an even chain, or SURE."""
    bits = _with_end(store, canon, texts, 0, state, split)
    for number in range(MOST_OWN):
        own = own_witness(canon, split, token, chain, number)
        if own < 0 or bits == SURE:
            break
        bits = _with_witness(store, canon, texts, bits, state, own)
    for number in range(MOST_COMMON if chain == NO_CHAIN else 0):
        common = common_witness(canon, split, number)
        if common <= NO_WITNESS or bits == SURE:
            break
        bits = _with_witness(store, canon, texts, bits, state, common)
    return bits


@inline
def _number_of_group(groups, n, lexemes, bits):
    """Number of a group, which is entered if it is not among the first n; 0 where there are too many."""
    for number in range(n):
        at = groups + number * GROUP_FIELDS * 8
        if load_i64(at + 8) == lexemes and load_i64(at + 16) == bits:
            return number
    if n == MOST_GROUPS:
        return 0
    at = groups + n * GROUP_FIELDS * 8
    store_i64(at, 0)
    store_i64(at + 8, lexemes)
    store_i64(at + 16, bits)
    return n


@kernel
def _find_groups(store, grammar, canon, state, depth, split, named, tokens, n_tokens):
    """Group tokens whose bytes from `depth` on come in a lexer state and split state; returns how many groups."""
    texts = ensure(canon, GROUPS, (2 * MOST_TEXTS + 1 + MOST_GROUPS * GROUP_FIELDS) * 8)
    groups = texts + (2 * MOST_TEXTS + 1) * 8
    group_of = ensure(canon, GROUP_OF, (n_tokens + 1) * 4)
    stack = block(canon, WALK)
    store_i64(stack + depth * 8, pack(INSIDE_PLACE, state))
    store_i64(texts, 0)
    for field in range(GROUP_FIELDS):
        store_i64(groups + field * 8, 0)  # the first group is that of tokens without a text
    last, n_valid, n = load_i32(tokens), depth, 1
    for i in range(n_tokens):
        token = load_i32(tokens + i * 4)
        went_on = go_on_from_last(store, grammar, stack, last, n_valid, token)  # they are in the order of the trie
        last, n_valid = token, went_on >> 1
        lexemes, bits = 0, 0
        after = look_up(canon, FOLLOWS, split, token)
        if went_on & 1 != 0:
            reached = load_i64(stack + n_valid * 8) & 0xFFFFFFFF
            lexemes = number_of_lexeme(store, named, reached)
            chain = chain_after(canon, split, after, NO_CHAIN, token)  # not odd: one token alone is a word itself
            bits = _texts_of(store, canon, texts, reached, after, token, chain)
        if bits == SURE:
            put_i32(group_of, i, NO_GROUP)
            continue
        if lexemes == 0 or bits == 0:
            lexemes, bits = 0, 0
        number = _number_of_group(groups, n, lexemes, bits)
        n = max(n, number + 1)
        at = groups + number * GROUP_FIELDS * 8
        store_i64(at, load_i64(at) + 1)
        put_i32(group_of, i, number)
    return n


@kernel
def find_groups(store, grammar, canon, state, depth, split, key, named, tokens, n_tokens):
    """Address of the groups of the tokens at an address, which a lexer state reached at a depth does not answer.

    The tokens are the same for all lexer states with the mask of this one, but they lead to other lexer states there.
    `named`: the state whose lexemes are numbered.
    """
    known, most_asked = map_get(map_at(canon, GROUPED), key), n_tokens
    if known >= 0:
        found = canon.tokens.address + known * 4
        most_asked = load_i32(found + 4 * N_ASKED + 4)
        if load_i32(found + 4 * N_ASKED) <= most_asked:
            return found
        most_asked = 2 * most_asked
    n = _find_groups(store, grammar, canon, state, depth, split, named, tokens, n_tokens)
    texts, group_of = block(canon, GROUPS), block(canon, GROUP_OF)
    groups = texts + (2 * MOST_TEXTS + 1) * 8
    is_shared = canon.bytes_used <= canon[SHARED_BYTES]
    owner = canon if is_shared else grammar
    position = owner.n_tokens
    append(owner, GRAMMAR.tokens, GRAMMAR.n_tokens, get_i64(texts, 0))
    append(owner, GRAMMAR.tokens, GRAMMAR.n_tokens, n)
    append(owner, GRAMMAR.tokens, GRAMMAR.n_tokens, 0)
    append(owner, GRAMMAR.tokens, GRAMMAR.n_tokens, most_asked)
    for number in range(get_i64(texts, 0)):
        text = get_i64(texts, 2 * number + 1)
        append(owner, GRAMMAR.tokens, GRAMMAR.n_tokens, text)
        append(owner, GRAMMAR.tokens, GRAMMAR.n_tokens, text >> 32)
        append(owner, GRAMMAR.tokens, GRAMMAR.n_tokens, get_i64(texts, 2 * number + 2))
    for number in range(n):
        at = groups + number * GROUP_FIELDS * 8
        append(owner, GRAMMAR.tokens, GRAMMAR.n_tokens, load_i64(at))
        append(owner, GRAMMAR.tokens, GRAMMAR.n_tokens, load_i64(at + 8))
        append(owner, GRAMMAR.tokens, GRAMMAR.n_tokens, load_i64(at + 16))
        append(owner, GRAMMAR.tokens, GRAMMAR.n_tokens, load_i64(at + 16) >> 32)
        for i in range(n_tokens):
            if get_i32(group_of, i) == number:
                append(owner, GRAMMAR.tokens, GRAMMAR.n_tokens, load_i32(tokens + i * 4))
    if is_shared and not has_stopped(store, grammar):
        map_change(map_at(canon, GROUPED), key, position)
    return owner.tokens.address + position * 4
