"""Dates, times and durations of RFC 3339, section 5.6 and appendix A.

The length of months and leap years are said in full. A leap second is allowed where section 5.7 puts it: at 23:59:60 in
UTC, and with a date only at the end of June and December. Written with another offset it is left out: each hour and
minute goes with one offset only, 1,440 pairs that would cost ten times the rest of the pattern.

In: nothing. Out: patterns that match whole texts. Cost: text only.
"""

from __future__ import annotations

_LEAP_YEAR = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)"
DATE = (
    "(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    f"|02-(?:0[1-9]|1[0-9]|2[0-8]))|{_LEAP_YEAR}-02-29)"
)
_OFFSET = "(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
_CLOCK = rf"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?{_OFFSET}"
_LEAP_SECOND = r"23:59:60(?:\.[0-9]+)?(?:[Zz]|[+-]00:00)"
TIME = f"(?:{_CLOCK}|{_LEAP_SECOND})"
DATE_TIME = f"(?:{DATE}[Tt]{_CLOCK}|[0-9]{{4}}-(?:06-30|12-31)[Tt]{_LEAP_SECOND})"

_DURATION_TIME = "T(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S)"
_DURATION_DATE = "(?:[0-9]+D|[0-9]+M(?:[0-9]+D)?|[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?)"
DURATION = f"P(?:{_DURATION_DATE}(?:{_DURATION_TIME})?|{_DURATION_TIME}|[0-9]+W)"

# Supersets, for negation: a leap second may stand at any minute and under any offset.
_ANY_CLOCK = rf"(?:[01][0-9]|2[0-3]):[0-5][0-9]:(?:[0-5][0-9]|60)(?:\.[0-9]+)?{_OFFSET}"
TIME_AT_MOST = _ANY_CLOCK
DATE_TIME_AT_MOST = f"{DATE}[Tt]{_ANY_CLOCK}"
