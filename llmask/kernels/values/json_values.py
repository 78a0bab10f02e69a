"""JSON values by hash consing: equal numbers, arrays and objects get one number, however they are written.

A text is read from the inside out, and every value in it is a list in `texts`:

    string, literal   its bytes, escapes resolved (texts.py)
    number            its bytes in one form: 1, -20, 0.5; far from the point 15e40
    array             ARRAY, the numbers of its items
    object            OBJECT, the numbers of keys and values, sorted by key; of a repeated key the last value counts

So equality is as in JSON Schema ("mathematically equal" numbers, objects without order; core specification, 4.2.2).
A number whose exponent has more than MAX_EXPONENT_DIGITS is equal to its own text only.

A value that was read before may be there as its number, WHOLE + number, instead of its bytes.

In: bytes in `plain_text`. Out: numbers of texts. Cost: about 10 ns a byte and 50 ns a value.
"""

from ..machine.jit import inline, kernel
from ..tables.int_lists import put, sort_ints
from ..tables.interning import MISSING, find_list, hash_i32, intern_list, list_item, list_length
from ..tables.memory import reserve

ARRAY = 256  # first items of lists, above all bytes
OBJECT = 257
INCOMPLETE = -4
ADD = 0  # what to do with a value that was never read
FIND = 1
WHOLE = 1 << 30  # and number of a text: in place of its bytes
ARRAY_OPENED = -2  # on the stack: the beginning of an array, of an object; else values, MISSING for one never read
OBJECT_OPENED = -3
PAIR_VALUES = 2  # of a member of an object: key, value
QUOTE, BACKSLASH, MINUS, PLUS, POINT, ZERO, NINE, LETTER_E = 0x22, 0x5C, 0x2D, 0x2B, 0x2E, 0x30, 0x39, 0x65
OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT, COMMA, COLON = 0x5B, 0x5D, 0x7B, 0x7D, 0x2C, 0x3A
MAX_EXPONENT_DIGITS = 15
NO_MEMBER = -1
TOO_LARGE = -1
NEAR = 20  # digits from the point up to which a number is written without exponent


@inline
def _has_writings(grammar, n):
    """Whether the text in `plain_text`, or what it is the beginning of, may have other writings: all but strings."""
    if grammar.is_json == 0 or n == 0:
        return False
    byte = grammar.plain_text[0]
    return byte == OPEN_ARRAY or byte == OPEN_OBJECT or _begins_number(byte)


@inline
def _begins_number(byte):
    return byte == MINUS or (byte >= ZERO and byte <= NINE)


@kernel
def value_number(grammar, n, action):
    """Number of the value in `plain_text`; INCOMPLETE for one with one writing only, or a beginning.

    With FIND, MISSING where it or a value in it was never read.
    """
    if not _has_writings(grammar, n):
        return INCOMPLETE
    if _begins_number(grammar.plain_text[0]):
        return _scalar_number(grammar, grammar.plain_text, 0, n, action)
    top, end = read_values(grammar, n, action, True)
    number = grammar.value_stack[0]
    return number if top == 1 and number >= MISSING and end == n else INCOMPLETE


@kernel
def read_values(grammar, n, action, is_whole):
    """Read `plain_text` onto the stack: a value, or of arrays and objects that do not end beginnings and members.

    Returns the size of the stack, and where a scalar begins that may go on, or what follows the value: n for neither.
    `is_whole`: a number that ends the text does not go on.
    """
    plain = grammar.plain_text
    stack = reserve(grammar.value_stack, n + 1)
    top = 0
    at = 0
    while at < n:
        byte = plain[at]
        if top == 1 and stack[0] >= MISSING and byte > 0x20:
            break
        if byte == OPEN_ARRAY or byte == OPEN_OBJECT:
            top = put(stack, top, ARRAY_OPENED if byte == OPEN_ARRAY else OBJECT_OPENED)
            at += 1
        elif byte == COMMA or byte == COLON or byte <= 0x20:
            at += 1
        elif byte >= WHOLE:
            top = put(stack, top, byte - WHOLE)
            at += 1
        elif byte == CLOSE_ARRAY or byte == CLOSE_OBJECT:
            first = _first_member(stack, top)
            number = _close(grammar, stack, first, top, action)
            top = put(stack, first - 1, number)
            at += 1
        else:
            end = _scalar_end(plain, at, n)
            if end > n or (end == n and byte != QUOTE and not is_whole):
                break
            top = put(stack, top, _scalar_number(grammar, plain, at, end, action))
            at = end
    return top, at


@inline
def _first_member(stack, top):
    """Where the members of the innermost array or object lie that did not end before `top`."""
    while stack[top - 1] >= MISSING:
        top -= 1
    return top


@inline
def read_beginning(grammar, n, is_whole):
    """As `read_values` for a beginning; of values with one writing nothing is read to the stack."""
    if not _has_writings(grammar, n):
        return 0, 0
    return read_values(grammar, n, FIND, is_whole)


@kernel
def number_so_far(grammar, top):
    """Number of a list of what is on the stack: for each object or array, the outermost first, a list of what is in it.

    Keys come before their values. Where the outermost is an array, it is an object that has the list: of another type
    than those that it is told from.
    """
    stack = grammar.value_stack
    is_object = stack[0] == OBJECT_OPENED
    items = reserve(grammar.value_members, top + 3)
    n = put(items, 0, ARRAY)
    at = 0
    while at < top:
        first = at
        stack[first] = ARRAY
        at += 1
        while at < top and stack[at] >= MISSING:
            at += 1
        n = put(items, n, _number_of(grammar, stack, first, at - first, ADD))
    number = _number_of(grammar, items, 0, n, ADD)
    if is_object:
        return number
    items[0], items[1] = QUOTE, QUOTE
    key = _number_of(grammar, items, 0, 2, ADD)
    items[0], items[1], items[2] = OBJECT, key, number
    return _number_of(grammar, items, 0, 3, ADD)


@kernel
def comes_close(grammar, text, top, end, n):
    """Whether the value whose beginning was read to the stack comes close to a text."""
    stack = grammar.value_stack
    if top == 1 and stack[0] >= MISSING:
        return end == n  # else it has ended
    at = 0
    while at < top:  # an array or object that did not end, from the outermost on
        is_object = stack[at] == OBJECT_OPENED
        if list_item(grammar.texts, text, 0) != (OBJECT if is_object else ARRAY):
            return False
        first = at + 1
        at = first
        while at < top and stack[at] >= MISSING:
            at += 1
        is_whole = at == top and end == n  # nothing in it began
        if is_object:
            if not _has_members(grammar, text, first, at - first):
                return False
            if is_whole:
                return True
            if (at - first) % PAIR_VALUES == 0:  # in the middle of a key
                return False
            member = _find_key(grammar, text, stack[at - 1]) + 1
        else:
            for i in range(at - first):
                has_item = 1 + i < list_length(grammar.texts, text)
                if not has_item or list_item(grammar.texts, text, 1 + i) != stack[first + i]:
                    return False
            if is_whole:
                return True
            member = 1 + at - first
            if member >= list_length(grammar.texts, text):
                return False
        text = list_item(grammar.texts, text, member)
    if end < n and _begins_number(grammar.plain_text[end]):
        return _begins_number(list_item(grammar.texts, text, 0))  # in whatever writing
    return _begins(grammar, text, end, n)


@kernel
def _has_members(grammar, text, first, n):
    """Whether an object has the n keys and values on the stack, and no others unless values are followed.

    Of the last key the value may be still to come.
    """
    stack = grammar.value_stack
    n_keys = (list_length(grammar.texts, text) - 1) // PAIR_VALUES
    if list_item(grammar.texts, text, 0) != OBJECT or (grammar.follows == 0 and (n + 1) // PAIR_VALUES < n_keys):
        return False
    for i in range(first, first + n, PAIR_VALUES):
        at = _find_key(grammar, text, stack[i])
        if at == NO_MEMBER:
            return False
        if i + 1 < first + n and list_item(grammar.texts, text, at + 1) != stack[i + 1]:
            is_last = True  # of this key, whose last value counts
            for later in range(i + PAIR_VALUES, first + n, PAIR_VALUES):
                is_last = is_last and stack[later] != stack[i]
            if is_last:
                return False
    return True


@inline
def _find_key(grammar, text, key):
    """Where an object has a key, or NO_MEMBER."""
    low = 0
    high = (list_length(grammar.texts, text) - 1) // PAIR_VALUES
    while low < high:
        middle = (low + high) >> 1
        found = list_item(grammar.texts, text, 1 + PAIR_VALUES * middle)
        if found == key:
            return 1 + PAIR_VALUES * middle
        if found < key:
            low = middle + 1
        else:
            high = middle
    return NO_MEMBER


@inline
def _begins(grammar, text, first, n):
    """Whether a text begins with what lies in `plain_text` from `first` to `n`."""
    if list_length(grammar.texts, text) < n - first:
        return False
    plain = grammar.plain_text
    i = first
    while i < n and list_item(grammar.texts, text, i - first) == plain[i]:
        i += 1
    return i == n


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
def _close(grammar, stack, first, top, action):
    """Number of the array or object whose members lie on the stack from `first` on."""
    if stack[first - 1] == ARRAY_OPENED:
        stack[first - 1] = ARRAY
        return _number_of(grammar, stack, first - 1, top - first + 1, action)
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
