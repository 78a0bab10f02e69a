"""Sources of logits from frameworks: what is said when one is missing, and narrow logits."""

from __future__ import annotations

import numpy as np
import pytest

from llmask.cli.framework_models import import_framework, pick
from llmask.errors import LlmaskError


def test_a_missing_framework_comes_with_the_install_command() -> None:
    with pytest.raises(LlmaskError) as caught:
        import_framework("no_such_framework", "transformers")
    assert str(caught.value) == (
        "--model needs no_such_framework, which cannot be imported (No module named 'no_such_framework')\n"
        "  install it with: pip install 'llmask-engine[transformers]'"
    )


def test_tokens_beyond_the_model_have_no_logit() -> None:
    logits = np.array([1, 2, 3], np.float32)
    assert pick(logits, np.array([2, 0, 3, 9])).tolist() == [3, 1, -np.inf, -np.inf]
