"""Parts that worlds and calls do not reach, or not in every way: token ids, logits, values, ends, kinds of lexemes.

Most are whole tests of other files, which are run here, too.
"""

# ruff: noqa: F401
from __future__ import annotations

import random
from typing import Any

from tests.properties import test_bpe
from tests.unit.kernels.parser import test_earley_step

# isort: split
from tests.unit.canonical.test_different_values import test_tokens_behind_which_only_the_quote_may_come
from tests.unit.conftest import nodes
from tests.unit.encoders.test_bpe import test_a_half_that_was_merged_waits_for_the_rank_of_its_new_pair
from tests.unit.encoders.test_spm import (
    test_merging_equals_the_definition,
    test_sums_of_scores_are_rounded_as_the_library_of_the_model_rounds_them,
)
from tests.unit.kernels.finish.test_successors import test_tokens_with_the_same_bytes_fit_the_same_budgets
from tests.unit.kernels.lexeme_masks.test_delta_walk import test_a_lexeme_may_end_where_two_states_differ
from tests.unit.kernels.lexer.test_leaps import test_what_may_end_on_the_way_is_read_byte_by_byte
from tests.unit.kernels.mask.test_boundary_walk import (
    test_a_lexeme_that_may_end_is_left_for_no_byte_with_which_it_goes_on,
)
from tests.unit.kernels.regex.test_emptiness import (
    test_an_endless_repetition_without_all_of_its_strings_matches_nothing,
)
from tests.unit.kernels.regex.test_set_operations import test_repetitions_become_one_only_where_no_number_is_left_out
from tests.unit.kernels.values.test_json_values import test_limits_of_what_is_equal, test_many_members
from tests.unit.mask.test_apply import (
    test_numpy_logits_of_every_width_follow_the_definition,
    test_rows_that_have_nothing_left_are_told,
)
from tests.unit.matching.test_drafts import test_what_is_no_tree_is_refused
from tests.unit.matching.test_finish import test_what_is_opened_late_is_closed_in_time
from tests.unit.regex.test_nodes import compiled, test_strings_are_open_where_they_may_always_go_on
from tests.unit.regex.test_word_lists import test_random_words

TOKENIZER = "tiny_tokenizer"  # of `compiler`


def test_merges_in_any_order(rng: random.Random) -> None:
    test_bpe.test_merge_lists_in_any_order(lambda n: n // 30, rng)


def test_lexemes_that_end_together(rng: random.Random) -> None:
    test_earley_step.test_of_lexemes_that_end_together_the_highest_are_taken(rng, lambda n: n // 3)


def test_no_other_tokens_are_fewer(default_tokenizer: Any, rng: random.Random) -> None:
    known = {default_tokenizer.token_bytes(token) for token in range(default_tokenizer.vocab_size)}
    for _ in range(100):
        text = "".join(rng.choices("aeinrst .", k=rng.randrange(1, 40)))
        least = [0]
        for end in range(1, len(text) + 1):
            least.append(1 + min(least[begin] for begin in range(end) if text[begin:end].encode() in known))
        assert len(default_tokenizer.encode(text, method="minimal")) == least[-1]
