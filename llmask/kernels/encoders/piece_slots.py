"""Slots of the table that a SentencePiece encoder is, and of the room that one call of it works in.

`llmask/encoders/piece_encoder.py` fills the table, makes the rooms and keeps the arrays; kernels get its address. An
address of 0 says that the model has no such thing.

In: nothing. Out: numbers of slots. Cost: none.
"""

from ..machine.records import Kind

N_PIECE_SLOTS = 23
N_ROOM_SLOTS = 6
RECORD_BYTES = 16


class PieceSlot(Kind):
    """Slots of the encoder's table."""

    # read by charsmap_rules.normalize
    N_UNITS = 0  # of the rules, 0: the model has no rules
    UNITS = 1
    REPLACEMENTS = 2
    IS_PLAIN = 3  # uint8[128]: an ASCII byte that stays as it is before another one
    USERS = 4  # double array of user-defined tokens as they are spelled
    ADDS_SPACE = 5  # 1 always, 2 where the text does not begin with one
    SPACE_IS_SUFFIX = 6
    REMOVES_SPACES = 7
    ESCAPES_SPACES = 8

    # read by both encoders
    UNKNOWN_ID = 9  # -1: none
    BYTE_TOKENS = 10  # int32[256]: token of each byte; 0: unknown characters are the unknown token
    NEIGHBOURS = 11  # bit 256 * a + b: some token has byte b, which begins a character, after byte a
    STOPS_AT_SPACES = 12  # tokens are matched inside of words only, a blank begins a word

    # read by unigram_viterbi
    TOKENS = 13  # double array
    SCORES = 14  # float32 of each token
    UNKNOWN_SCORE = 15  # address of a float32
    ADDS_FLOAT64 = 16

    # read by spm_merge
    CHARACTERS = 17  # double array of single characters, and int32 the symbol of each
    SYMBOLS = 18
    PAIRS = 19  # hash table, see merges_table.py
    PAIR_BITS = 20  # there are 1 << PAIR_BITS entries
    FROZEN = 21  # double array of tokens that are never merged
    N_TOKENS = 22


class RoomSlot(Kind):
    """Slots of a room, for normalized texts of up to CAPACITY bytes."""

    CAPACITY = 0
    NORMAL = 1  # uint8[capacity]: the normalized text
    RECORDS = 2  # capacity + 1 of RECORD_BYTES, zeros for unigram_viterbi, which leaves zeros
    PATH = 3  # int32[capacity + 1]
    IDS = 4  # int32[3 * capacity + 1], the result
    WORDS = 5  # zeros at first: what unigram_words remembers from call to call
