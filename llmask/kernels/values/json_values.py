"""JSON values by hash consing: equal numbers, arrays and objects get one number, however they are written.

A text is read from the inside out, and every value in it is a list in `texts`:

    string, literal   its bytes, escapes resolved (texts.py)
    number            its bytes in one form: 1, -20, 0.5; far from the point 15e40
    array             ARRAY, the numbers of its items
    object            OBJECT, the numbers of keys and values, sorted by key; of a repeated key the last value counts

So equality is as in JSON Schema ("mathematically equal" numbers, objects without order; core specification, 4.2.2).
A number whose exponent has more than MAX_EXPONENT_DIGITS is equal to its own text only.

In: bytes in `plain_text`. Out: numbers of texts. Cost: about 10 ns a byte and 50 ns a value.
"""

from ..machine.jit import inline, kernel
from ..tables.int_lists import put, sort_ints
from ..tables.interning import MISSING, find_list, hash_i32, intern_list
from ..tables.memory import reserve

ARRAY = 256  # first items of lists, above all bytes
OBJECT = 257
INCOMPLETE = -4
ADD = 0  # what to do with a value that was never read
FIND = 1
VALUE_OPENED = -2  # on the stack: the beginning of an array or an object
PAIR_VALUES = 2  # of a member of an object: key, value
QUOTE, BACKSLASH, MINUS, PLUS, POINT, ZERO, NINE, LETTER_E = 0x22, 0x5C, 0x2D, 0x2B, 0x2E, 0x30, 0x39, 0x65
OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT, COMMA, COLON = 0x5B, 0x5D, 0x7B, 0x7D, 0x2C, 0x3A
MAX_EXPONENT_DIGITS = 15
TOO_LARGE = -1
NEAR = 20  # digits from the point up to which a number is written without exponent


@inline
def has_writings(grammar, n):
    """Whether the text in `plain_text`, or what it is the beginning of, may have other writings: all but strings."""
    if grammar.is_json == 0 or n == 0:
        return False
    byte = grammar.plain_text[0]
    return byte == OPEN_ARRAY or byte == OPEN_OBJECT or _begins_number(byte)


@inline
def _begins_number(byte):
    return byte == MINUS or (byte >= ZERO and byte <= NINE)


@kernel
def value_number(grammar, n, action, is_whole):
    """Number of the value in `plain_text`.

    With FIND, MISSING where it or a value in it was never read, which is also known of a beginning (`is_whole` is
    false); else INCOMPLETE for a beginning.
    """
    plain = grammar.plain_text
    if is_whole and _begins_number(plain[0]):
        return _scalar_number(grammar, plain, 0, n, action)
    stack = reserve(grammar.value_stack, n + 1)
    top = 0
    at = 0
    while at < n:
        byte = plain[at]
        if byte == OPEN_ARRAY or byte == OPEN_OBJECT:
            stack[top] = VALUE_OPENED
            top += 1
            at += 1
            continue
        if byte == COMMA or byte == COLON or byte <= 0x20:
            at += 1
            continue
        # a value ends: a composite takes its members from the stack
        if byte == CLOSE_ARRAY or byte == CLOSE_OBJECT:
            number = _close(grammar, stack, top, byte == CLOSE_OBJECT, action)
            top -= 1
            while stack[top] != VALUE_OPENED:
                top -= 1
            at += 1
        else:
            end = _scalar_end(plain, at, n)
            if end > n or (end == n and byte != QUOTE):
                return INCOMPLETE
            number = _scalar_number(grammar, plain, at, end, action)
            at = end
        if number == MISSING:
            return MISSING
        stack[top] = number
        top += 1
    return stack[0] if top == 1 and stack[0] != VALUE_OPENED else INCOMPLETE


@inline
def _scalar_end(plain, at, n):
    """Where a scalar ends; beyond n for a string that has no end."""
    if plain[at] == QUOTE:
        at += 1
        while at < n and plain[at] != QUOTE:
            at += 2 if plain[at] == BACKSLASH else 1
        return at + 1 if at < n else n + 1
    while at < n:
        byte = plain[at]
        if byte == COMMA or byte == CLOSE_ARRAY or byte == CLOSE_OBJECT or byte <= 0x20:
            break
        at += 1
    return at


@inline
def _number_of(grammar, items, first, n, action):
    if action == ADD:
        return intern_list(grammar.texts, items.address, first, n)
    return find_list(grammar.texts, items.address, first, n, hash_i32(items.address, first, n))


@kernel
def _scalar_number(grammar, plain, at, end, action):
    if _begins_number(plain[at]):
        n = _numeral(grammar, plain, at, end)
        if n > 0:
            return _number_of(grammar, grammar.numeral, 0, n, action)
    return _number_of(grammar, plain, at, end - at, action)


@kernel
def _close(grammar, stack, top, is_object, action):
    """Number of the array or object whose members are the last ones of the stack, down to VALUE_OPENED."""
    first = top
    while stack[first - 1] != VALUE_OPENED:
        first -= 1
    if not is_object:
        stack[first - 1] = ARRAY
        number = _number_of(grammar, stack, first - 1, top - first + 1, action)
        stack[first - 1] = VALUE_OPENED
        return number
    # sort the members by key and position, and keep the last one of each key
    n = (top - first) // PAIR_VALUES
    order = reserve(grammar.value_order, n)
    members = reserve(grammar.value_members, PAIR_VALUES * n + 1)
    for i in range(n):
        order[i] = (stack[first + PAIR_VALUES * i] << 32) | i
    sort_ints(order, 0, n)
    length = put(members, 0, OBJECT)
    for i in range(n):
        key = order[i] >> 32
        if i + 1 == n or order[i + 1] >> 32 != key:
            length = put(members, length, key)
            length = put(members, length, stack[first + PAIR_VALUES * (order[i] & 0xFFFFFFFF) + 1])
    return _number_of(grammar, members, 0, length, action)


@kernel
def _numeral(grammar, plain, at, end):
    """Write a number in its one form to `numeral`; returns its length, 0 where its exponent has too many digits."""
    text = reserve(grammar.numeral, end - at + 2 * NEAR)
    length = 0
    if plain[at] == MINUS:
        at += 1
        length = put(text, 0, MINUS)
    n, exponent, at = _read_digits(grammar, plain, at, end)
    if n == 0:
        return put(text, 0, ZERO)
    if at < end:
        sign = -1 if plain[at + 1] == MINUS else 1
        written = _read_exponent(plain, at + 1, end)
        if written == TOO_LARGE:
            return 0
        exponent += sign * written
    digits = grammar.digits
    while digits[n - 1] == ZERO:
        n -= 1
        exponent += 1
    if exponent > NEAR or exponent < -NEAR:
        length = _put_digits(text, length, digits, n, n)
        return _put_exponent(text, length, exponent)
    for i in range(-exponent - n + 1):  # a number below 1
        length = put(text, length, ZERO)
        if i == 0:
            length = put(text, length, POINT)
    length = _put_digits(text, length, digits, n, n + exponent)
    for _ in range(exponent):
        length = put(text, length, ZERO)
    return length


@inline
def _read_digits(grammar, plain, at, end):
    """Write the significant digits of a number to `digits`; returns how many, the exponent, and where they end."""
    digits = reserve(grammar.digits, end - at + 1)
    n = 0
    exponent = 0
    is_fraction = False
    while at < end:
        byte = plain[at]
        if byte == POINT:
            is_fraction = True
        elif byte >= ZERO and byte <= NINE:
            if n > 0 or byte != ZERO:
                n = put(digits, n, byte)
            exponent -= is_fraction
        else:
            break
        at += 1
    return n, exponent, at


@inline
def _read_exponent(plain, at, end):
    """The exponent without its sign, or TOO_LARGE."""
    if plain[at] == MINUS or plain[at] == PLUS:
        at += 1
    if end - at > MAX_EXPONENT_DIGITS:
        return TOO_LARGE
    written = 0
    while at < end:
        written = 10 * written + plain[at] - ZERO
        at += 1
    return written


@inline
def _put_digits(text, length, digits, n, point):
    """Write n digits, and a point after the first `point` of them if that is in the middle."""
    for i in range(n):
        if i > 0 and i == point:
            length = put(text, length, POINT)
        length = put(text, length, digits[i])
    return length


@kernel
def _put_exponent(text, length, exponent):
    """Write e and an exponent; returns the position after them."""
    length = put(text, length, LETTER_E)
    if exponent < 0:
        length = put(text, length, MINUS)
        exponent = -exponent
    unit = 1
    while unit * 10 <= exponent:
        unit *= 10
    while unit > 0:
        length = put(text, length, ZERO + exponent // unit % 10)
        unit //= 10
    return length
