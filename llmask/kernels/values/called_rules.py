"""Sets that runs carry, and the rules that are called because of them: variants without the values of a set.

    set        [number of members, its texts, words of bits of named members]    see parser/guards.py
    texts      [number of texts, whether UNKNOWN_TEXT is among them, then pairs: number of a chunk, its bits; ...]
    bits       32 words of 32 bits: which of the 1024 texts of a chunk are there
    variant    `variants` maps (rule, set of texts) to a rule that derives the same without those texts, or to
               DERIVES_NOTHING; without texts it is the rule itself

Texts are numbered as they are first read, so the texts of one document lie in a few chunks: a set with one more text
takes 200 bytes. (Sorted lists of texts took 4 KB for 1,000, and every mask makes such sets.)

A variant that is not made yet is requested: the operation stops as at a limit, Python has it made and loaded
(llmask/store/generation.py), and the operation runs again. Only regular expressions can leave values out byte by
byte, and only frontends know how a value may be spelled, so kernels do not make variants themselves.

A set may hold UNKNOWN_TEXT, for a value whose text is not looked at (parser/tracked_values.py). Which values are left
then is not decided. But where different texts are different values (CALL_PLAIN), most texts that begin like a value of
the variant without the known texts can still become one: it takes two ways to go on (mask/tracked_walk.py). The rule is
then tentative.

States of rules that are written when a run first gets there (grammar/rules.py, `skip_late`) are requested likewise.

In: a grammar's table, sets. Out: sets, rules. Cost: 10 ns a look-up; a set with one more text 0.3 us.
"""

from ..machine.jit import inline, kernel
from ..tables.interning import MISSING, copy_list, intern_list, list_item, list_length, map_get, map_put
from ..tables.kinds import EdgeKind
from ..tables.memory import exceed, reserve
from ..tables.store_layout import LIMIT_UNIQUE, NEEDS_VARIANT
from .json_values import comes_close, number_so_far

SIZE = 0  # fields of a set
TEXTS_OF_SET = 1
FIRST_WORD = 2
DERIVES_NOTHING = -2
IN_SET_ALREADY = -1
FIRST_FOLLOWING = 1 << 30  # in place of a rule: a state that is written for known values, parser/tracked_values.py
LATE = -1  # `requested_texts` where `requested_rule` is the number of a late skip
NO_TEXTS = 0  # the empty set
UNKNOWN_TEXT = 0  # reserved text, of a value that is not looked at: see parser/tracked_values.py
N_TEXTS = 0  # fields of a set
HAS_UNKNOWN = 1
FIRST_CHUNK = 2
PAIR_INTS = 2  # number of a chunk, its bits
CHUNK_BITS = 10
CHUNK_WORDS = 32


@kernel
def init_sets(grammar):
    """Make the empty chunk, the empty set of texts and the empty set."""
    address = reserve(grammar.set_in_progress, CHUNK_WORDS)
    for i in range(CHUNK_WORDS):
        address[i] = 0
    intern_list(grammar.text_sets, address.address, 0, FIRST_CHUNK)
    intern_list(grammar.text_chunks, address.address, 0, CHUNK_WORDS)
    address[SIZE] = 0
    address[TEXTS_OF_SET] = NO_TEXTS
    intern_list(grammar.sets, address.address, 0, FIRST_WORD)


@inline
def n_texts(grammar, texts):
    return list_item(grammar.text_sets, texts, N_TEXTS)


@inline
def has_unknown_text(grammar, texts):
    return list_item(grammar.text_sets, texts, HAS_UNKNOWN) != 0


@inline
def _chunk_number(grammar, texts, at):
    return list_item(grammar.text_sets, texts, at)


@inline
def _chunk_bits(grammar, texts, at):
    return list_item(grammar.text_sets, texts, at + 1)


@kernel
def _find_chunk(grammar, texts, chunk):
    """Where the pair of a chunk is in a set, or where it would be (binary search)."""
    low = 0
    high = (list_length(grammar.text_sets, texts) - FIRST_CHUNK) // PAIR_INTS
    while low < high:
        middle = (low + high) >> 1
        if _chunk_number(grammar, texts, FIRST_CHUNK + PAIR_INTS * middle) < chunk:
            low = middle + 1
        else:
            high = middle
    return FIRST_CHUNK + PAIR_INTS * low


@inline
def _is_chunk(grammar, texts, at, chunk):
    """Whether a set has the pair of a chunk at this position."""
    return at < list_length(grammar.text_sets, texts) and _chunk_number(grammar, texts, at) == chunk


@inline
def is_text_in(grammar, texts, text):
    """Whether a text is in a set."""
    at = _find_chunk(grammar, texts, text >> CHUNK_BITS)
    if not _is_chunk(grammar, texts, at, text >> CHUNK_BITS):
        return False
    word = list_item(grammar.text_chunks, _chunk_bits(grammar, texts, at), (text >> 5) & 31)
    return (word >> (text & 31)) & 1 != 0


@kernel
def without_unknown(grammar, texts):
    """The set without UNKNOWN_TEXT, which is in it: the lowest bit of the first chunk."""
    n = list_length(grammar.text_sets, texts)
    address = reserve(grammar.set_in_progress, max(CHUNK_WORDS, n))
    copy_list(grammar.text_chunks, _chunk_bits(grammar, texts, FIRST_CHUNK), address)
    address[0] = address[0] & ~1
    rest = 0
    for i in range(CHUNK_WORDS):
        rest |= address[i]
    bits = intern_list(grammar.text_chunks, address.address, 0, CHUNK_WORDS) if rest != 0 else 0
    copy_list(grammar.text_sets, texts, address)
    address[N_TEXTS] = address[N_TEXTS] - 1
    address[HAS_UNKNOWN] = 0
    if rest != 0:
        address[FIRST_CHUNK + 1] = bits
    else:  # the chunk goes, too
        n -= PAIR_INTS
        for i in range(FIRST_CHUNK, n):
            address[i] = address[i + PAIR_INTS]
    return intern_list(grammar.text_sets, address.address, 0, n)


@kernel
def add_text(grammar, texts, text):
    """The set with a text that is not in it."""
    chunk = text >> CHUNK_BITS
    at = _find_chunk(grammar, texts, chunk)
    n = list_length(grammar.text_sets, texts)
    is_new = not _is_chunk(grammar, texts, at, chunk)
    # the chunk with the text; chunk 0 of the interned ones is empty
    address = reserve(grammar.set_in_progress, max(CHUNK_WORDS, n + PAIR_INTS))
    copy_list(grammar.text_chunks, 0 if is_new else _chunk_bits(grammar, texts, at), address)
    word = (text >> 5) & 31
    address[word] = address[word] | (1 << (text & 31))
    bits = intern_list(grammar.text_chunks, address.address, 0, CHUNK_WORDS)
    # the set with it
    shift = PAIR_INTS if is_new else 0
    for i in range(n):
        address[i if i < at else i + shift] = list_item(grammar.text_sets, texts, i)
    address[at] = chunk
    address[at + 1] = bits
    address[N_TEXTS] = address[N_TEXTS] + 1
    if text == UNKNOWN_TEXT:
        address[HAS_UNKNOWN] = 1
    return intern_list(grammar.text_sets, address.address, 0, n + shift)


@kernel
def texts_close(grammar, texts, top, end, n, most):
    """The texts of a set to which the value comes close whose beginning was read to the stack, `most` at most."""
    found = NO_TEXTS
    for i in range(FIRST_CHUNK, list_length(grammar.text_sets, texts), PAIR_INTS):
        first = _chunk_number(grammar, texts, i) << CHUNK_BITS
        chunk = _chunk_bits(grammar, texts, i)
        for j in range(CHUNK_WORDS):
            word = list_item(grammar.text_chunks, chunk, j) & 0xFFFFFFFF
            text = first + 32 * j
            while word != 0:
                if word & 1 != 0 and comes_close(grammar, text, top, end, n):
                    found = add_text(grammar, found, text)
                    if n_texts(grammar, found) >= most:
                        return found
                word >>= 1
                text += 1
    return found


@inline
def one_comes_close(grammar, texts, top, end, n):
    """Whether it comes close to one of them."""
    return texts_close(grammar, texts, top, end, n, 1) != NO_TEXTS


@inline
def texts_of(grammar, number):
    return list_item(grammar.sets, number, TEXTS_OF_SET)


@inline
def has_unknown(grammar, number):
    return has_unknown_text(grammar, texts_of(grammar, number))


@inline
def note_value(grammar, row, kind, number):
    """Note in the flags of a row that a value of a call may begin there, in a run with this set."""
    noted = grammar.rows[row]
    noted.begins_value = True
    noted.tracks = True
    if kind == EdgeKind.CALL_PLAIN and has_unknown(grammar, number):
        noted.is_tentative = True


@inline
def has_text(grammar, number, text):
    """Whether a text is in a set."""
    return is_text_in(grammar, texts_of(grammar, number), text)


@kernel
def with_text(grammar, number, text):
    """The set with one more text, or IN_SET_ALREADY."""
    texts = texts_of(grammar, number)
    if is_text_in(grammar, texts, text):
        return IN_SET_ALREADY
    if n_texts(grammar, texts) >= grammar.max_unique:
        exceed(grammar, LIMIT_UNIQUE)
        return IN_SET_ALREADY
    texts = add_text(grammar, texts, text)
    address = reserve(grammar.set_in_progress, list_length(grammar.sets, number))
    n = copy_list(grammar.sets, number, address)
    address[SIZE] = address[SIZE] + 1
    address[TEXTS_OF_SET] = texts
    return intern_list(grammar.sets, address.address, 0, n)


@kernel
def without_texts(grammar, number, are_counted):
    """The set without its texts; they count among its members, or do not."""
    address = reserve(grammar.set_in_progress, list_length(grammar.sets, number))
    n = copy_list(grammar.sets, number, address)
    if not are_counted:
        address[SIZE] = address[SIZE] - n_texts(grammar, texts_of(grammar, number))
    address[TEXTS_OF_SET] = NO_TEXTS
    return intern_list(grammar.sets, address.address, 0, n)


@kernel
def _known_or_requested(grammar, key, rule, texts):
    """What `variants` has under a key; MISSING where it has to be made first, which stops the operation."""
    known = map_get(grammar.variants, key)
    if known == MISSING:
        grammar.requested_rule = rule
        grammar.requested_texts = texts
        exceed(grammar, NEEDS_VARIANT)
    return known


@inline
def late_state(grammar, number):
    """The state that a late skip leads to; requests it where it is not written yet, MISSING."""
    return _known_or_requested(grammar, late_key(number), number, LATE)


@inline
def put_late(grammar, number, state):
    """Enter the state that a late skip leads to."""
    _put(grammar, late_key(number), state)


@inline
def put_variant(grammar, rule, texts, made):
    """Enter the rule that derives what `rule` does without the texts, or a state; negative for neither."""
    is_some = made >= 0 and (rule >= FIRST_FOLLOWING or is_productive(grammar, made))
    made = made if is_some else DERIVES_NOTHING
    _put(grammar, (rule << 32) | texts, made)


@inline
def _put(grammar, key, value):
    """Enter what was requested, unless it is there by now."""
    if map_get(grammar.variants, key) == MISSING:
        map_put(grammar.variants, key, value)


@inline
def late_key(number):
    """Key in `variants` of a late skip: sets of texts are smaller than its lower half."""
    return (number << 32) | 0xFFFFFFFF


@inline
def is_productive(grammar, rule):
    """Whether a rule derives something."""
    return grammar.rule_flags[rule].is_productive


@inline
def variant(grammar, rule, number):
    """The rule that derives what `rule` does without the texts of a set, DERIVES_NOTHING, or MISSING.

    Requests what is missing; notes in `undecided` where a text is not known.
    """
    texts = texts_of(grammar, number)
    if has_unknown_text(grammar, texts):
        grammar.undecided = 1
        return DERIVES_NOTHING
    return variant_without(grammar, rule, texts)


@inline
def tentative_variant(grammar, rule, number):
    """As `variant`, the unknown text not left out."""
    texts = texts_of(grammar, number)
    if has_unknown_text(grammar, texts):
        texts = without_unknown(grammar, texts)
    return variant_without(grammar, rule, texts)


@inline
def variant_without(grammar, rule, texts):
    """The rule that derives what `rule` does without known texts, DERIVES_NOTHING, or MISSING."""
    if texts == NO_TEXTS:
        return rule if is_productive(grammar, rule) else DERIVES_NOTHING
    return _known_or_requested(grammar, (rule << 32) | texts, rule, texts)


@inline
def state_following(grammar, number, target, texts, beginning):
    """The state that a value goes on in which may become one of a set; `target` if it cannot.

    Negative: DERIVES_NOTHING, or MISSING. `beginning` is what `read_beginning` returned, and the end of the text.
    """
    top, end, n = beginning
    known = texts_close(grammar, texts, top, end, n, grammar.max_unique)
    if known == NO_TEXTS:
        return target
    known = add_text(grammar, known, number_so_far(grammar, top))
    rule = FIRST_FOLLOWING + number
    return _known_or_requested(grammar, (rule << 32) | known, rule, known)


@inline
def rule_called(grammar, edge, parameter):
    """The rule that an edge calls in a run with this parameter; negative where it calls none."""
    rule, kind = grammar.edges[edge].symbol, grammar.edges[edge].kind
    if kind == EdgeKind.CALL_NEW:
        return variant(grammar, rule, parameter)
    return rule if kind >= EdgeKind.CALL_OPEN or kind == EdgeKind.CALL else tentative_variant(grammar, rule, parameter)
