"""The texts: from the standard library and the generator, in a fixed order."""

from __future__ import annotations

import pytest

from tools.training import corpus


@pytest.mark.slow
def test_the_standard_library_yields_english_and_sources(monkeypatch):
    monkeypatch.setattr(corpus, "DOCUMENT_BYTES", 10_000)
    monkeypatch.setattr(corpus, "SOURCE_BYTES", 200_000)
    texts = corpus.gather()
    assert sum(map(len, texts.docstrings)) > 500_000
    assert any("dictionary" in text for text in texts.docstrings)
    assert sum(map(len, texts.sources)) >= 200_000
    assert 10_000 <= sum(len(text.encode()) for text in texts.documents) < 30_000
    assert len(set(texts.docstrings)) == len(texts.docstrings)


def test_docstrings_are_cleaned_and_bad_sources_skipped():
    source = 'def f():\n    """A docstring that is long enough\n\n        to be taken as a text.\n    """\n'
    assert corpus._docstrings(source) == ["A docstring that is long enough\n\nto be taken as a text."]
    assert corpus._docstrings("def f(:") == []
    assert corpus._docstrings('"""Short."""') == []
