"""A run of the smoke tests runs some tests of other folders, too: of what worlds and calls do not reach.

Cost: twenty seconds.
"""

from __future__ import annotations

from pathlib import Path

import pytest

OTHERS = """
    exhaustive/test_budgets.py exhaustive/test_reference_engine.py exhaustive/test_token_terminals.py
    json_schema_suite/test_differential.py::test_random_pairs_agree_with_jsonschema
    properties/test_canonical.py::test_random_sequences_are_canonical unit/canonical/test_chains.py
    unit/canonical/test_different_values.py unit/canonical/test_matcher.py unit/canonical/test_names.py
    unit/counting/test_growing.py unit/counting/test_intervals.py unit/encoders
    unit/frontends/json_schema/writing/test_conditioned_objects.py::test_documents_can_be_finished
    unit/frontends/json_schema/writing/test_set_objects.py::test_what_a_value_must_fulfil_is_found_when_its_key_is_read
    unit/kernels/canonical/test_listings.py unit/kernels/finish unit/kernels/lexeme_masks unit/kernels/lexer
    unit/kernels/mask unit/kernels/parser unit/kernels/regex unit/kernels/tables unit/kernels/values
    unit/mask/test_apply.py::test_numpy_logits_of_every_width_follow_the_definition
    unit/mask/test_apply.py::test_rows_that_have_nothing_left_are_told unit/matching/captures/test_chart.py
    unit/matching/test_batch.py unit/matching/test_drafts.py unit/matching/test_expected.py
    unit/matching/test_finish.py::test_what_is_opened_late_is_closed_in_time unit/matching/test_workers.py
    unit/regex/test_nodes.py::test_strings_are_open_where_they_may_always_go_on
    unit/regex/test_word_lists.py::test_random_words unit/vocabulary/test_gguf_section.py
"""


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    tests = Path(__file__).parents[1]
    if any((config.invocation_params.dir / name).resolve() == tests / "smoke" for name in config.args):
        config.args += [str(tests / name) for name in OTHERS.split()]
        config.option.markexpr = config.option.markexpr or "not long and not shared"
