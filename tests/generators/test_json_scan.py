"""The scanner that says where a position lies in JSON text (tests/long/json_scan.py)."""

from __future__ import annotations

import json

from tests.long.json_scan import Scan

TEXT = '{"a": ["b", {"c\\n": 1,   "\\u00e9": "\\\\\\"d"}], "e": "f"}'


def test_strings_are_found_with_keys_told_from_values() -> None:
    scan = Scan().read(TEXT.encode())
    found = [(json.loads(TEXT.encode()[start:end]), is_key) for start, end, is_key in scan.strings]
    assert found == [
        ("a", True), ("b", False), ("c\n", True), ("é", True), ('\\"d', False), ("e", True), ("f", False),
    ]  # fmt: skip


def test_escapes_and_blanks_are_found() -> None:
    scan = Scan().read(TEXT.encode())
    assert [escape.data for escape in scan.escapes] == [b"\\n", b"\\u00e9", b"\\\\", b'\\"']
    assert scan.longest_blanks == 3


def test_reading_in_pieces_changes_nothing() -> None:
    whole = Scan().read(TEXT.encode())
    for cut in range(len(TEXT.encode())):
        parts = Scan().read(TEXT.encode()[:cut]).copy().read(TEXT.encode()[cut:])
        assert parts.__dict__ == whole.__dict__


def test_an_unfinished_escape_is_open() -> None:
    assert Scan().read(b'"a\\').is_in_escape
    assert Scan().read(b'"a\\u12').is_in_escape
    assert not Scan().read(b'"a\\u1234').is_in_escape
    assert not Scan().read(b'"a\\n').is_in_escape
