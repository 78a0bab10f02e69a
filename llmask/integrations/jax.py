"""llmask in JAX: masks applied under `jit`, and masks of grammars inside of compiled loops.

    masks = GrammarMasks(grammar, max_tokens=500)

    @jax.jit
    def step(tokens, n_tokens, logits):                    # int32[n_rows, capacity], what is written so far
        logits = apply_bitmask(logits, masks(tokens, n_tokens))
        ...

`apply_bitmask` is a pure function of arrays. A matcher is not: it is moved by tokens, on the host. JAX may call the
host more than once for one step, in another order, or not at all (`jax.pure_callback`), so what it calls must be a
function. It is: the mask depends on the tokens of its row alone, and a table of prefixes (`samplers/prefixes.py`) makes
that as cheap as moving one matcher. So rows may be permuted, shortened and repeated, by beams as well as by drafts.

In: tokens and logits, JAX. Out: bitmasks, and logits in which refused tokens are minus infinity. Cost: half a
millisecond to apply masks to four rows of 128k logits on a CPU; a call of the host 50-100 us and a few for each row.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from llmask.errors import LlmaskError
from llmask.mask.apply import BITS_PER_WORD
from llmask.samplers.prefixes import PrefixMasks, checked_max_tokens

if TYPE_CHECKING:
    import jax

    from llmask.samplers.prefixes import AnyGrammar

__all__ = ["GrammarMasks", "apply_bitmask"]


def apply_bitmask(logits: jax.Array, bitmask: jax.Array | npt.NDArray[np.int32]) -> jax.Array:
    """Logits in which refused tokens, and those beyond the mask, are minus infinity.

    Parameters
    ----------
    logits : float[..., n_logits].
    bitmask : int32[..., words]; its leading dimensions are the logits' own, or are repeated to them.

    Returns
    -------
    New logits of the same shape and dtype. A pure function: for `jit`, `vmap`, `scan` and gradients.

    Raises
    ------
    LlmaskError : shapes or dtypes do not fit; under `jit` while it traces.
    """
    import jax.numpy as jnp

    logits, bitmask = jnp.asarray(logits), jnp.asarray(bitmask)
    if bitmask.dtype != jnp.int32 or not jnp.issubdtype(logits.dtype, jnp.floating):
        raise LlmaskError(
            f"masks of {bitmask.dtype} and logits of {logits.dtype}; it takes int32 and a floating dtype",
            help="give a mask of int32, and logits of float16, bfloat16, float32 or float64",
        )
    leading, given = logits.shape[:-1], bitmask.shape[:-1]
    is_other = any(n not in (1, m) for n, m in zip(given[::-1], leading[::-1], strict=False))
    if not logits.ndim or not bitmask.ndim or len(given) > len(leading) or is_other:
        raise LlmaskError(
            f"a bitmask of shape {bitmask.shape} does not fit logits of {logits.shape}",
            help="give one row for each row of the logits, or one for all",
        )
    bits = (bitmask[..., None] >> jnp.arange(BITS_PER_WORD, dtype=jnp.int32)) & 1
    allowed = bits.reshape(*given, bitmask.shape[-1] * BITS_PER_WORD).astype(bool)
    n_logits = logits.shape[-1]
    n_beyond = max(0, n_logits - allowed.shape[-1])
    allowed = jnp.pad(allowed, [(0, 0)] * len(given) + [(0, n_beyond)])[..., :n_logits]
    return jnp.where(allowed, logits, jnp.array(-jnp.inf, logits.dtype))


class GrammarMasks:
    """Masks of what may follow rows of tokens, callable inside of `jit`, `scan`, `while_loop` and `vmap`.

    A row that has ended may only end again, and a row that the grammar refuses may only end. There is no `on_event` as
    other processors have it: JAX may ask about a step twice, in another order or not at all.

    Parameters
    ----------
    grammar : one for all rows, or a list with one for each prompt: with n prompts, row r of R belongs to `r * n // R`.
        None in the list: rows without a grammar. A `llmask.Reasoning` where the model thinks before it answers.
    max_tokens : every text ends within this number, the end of sequence included. None: texts may be cut off, which
        is warned of; math.inf: the same, and it is meant.
    on_limit : "finish": a row whose mask meets a limit of `llmask.Limits` takes the shortest known way to the end;
        "error": the computation fails.

    Raises
    ------
    LlmaskError
        when made of what is no compiled grammar; when called with arrays that do not fit. What fails while a compiled
        computation runs is raised by JAX, with the message in its own error.
    """

    def __init__(
        self,
        grammar: AnyGrammar | Sequence[AnyGrammar | None],
        max_tokens: float | None = None,
        on_limit: str = "finish",
    ) -> None:
        self._masks = PrefixMasks(grammar, checked_max_tokens(max_tokens), on_limit)
        self._n_words = -(-self._masks.tokenizer.vocab_size // BITS_PER_WORD)
        self._lock = threading.Lock()  # JAX calls from threads of its own

    def __call__(self, tokens: jax.Array, n_tokens: jax.Array | int) -> jax.Array:
        """The masks after the first `n_tokens` of each row.

        Parameters
        ----------
        tokens : int[n_rows, capacity], what was written after the prompts; what follows `n_tokens` does not count.
        n_tokens : int[] or int[n_rows].

        Returns
        -------
        int32[n_rows, words].
        """
        import jax
        import jax.numpy as jnp

        tokens, n_tokens = jnp.asarray(tokens), jnp.asarray(n_tokens)
        is_integer = jnp.issubdtype(tokens.dtype, jnp.integer) and jnp.issubdtype(n_tokens.dtype, jnp.integer)
        if not is_integer or tokens.ndim != 2 or n_tokens.shape not in ((), tokens.shape[:1]):
            raise LlmaskError(
                f"tokens are {tokens.dtype}{list(tokens.shape)} and their numbers {n_tokens.dtype}"
                f"{list(n_tokens.shape)}; they are integers of shapes [n_rows, capacity] and [] or [n_rows]",
                help="give the ids of all rows in one array, and how many of each row count",
            )
        self._masks.check_rows(tokens.shape[0])
        shape = jax.ShapeDtypeStruct((tokens.shape[0], self._n_words), jnp.int32)
        n_tokens = jnp.broadcast_to(n_tokens, tokens.shape[:1])
        masks: jax.Array = jax.pure_callback(self._compute, shape, tokens, n_tokens, vmap_method="expand_dims")
        return masks

    def _compute(self, tokens: Any, n_tokens: Any) -> npt.NDArray[np.int32]:
        """On the host: tokens int[..., n_rows, capacity] and their numbers int[..., n_rows]; `vmap` adds dimensions."""
        tokens, n_tokens = np.asarray(tokens), np.asarray(n_tokens)
        leading = np.broadcast_shapes(tokens.shape[:-1], n_tokens.shape)
        n_rows = leading[-1]
        # rows with the same number side by side, as they have the same grammar
        tokens = np.broadcast_to(tokens, (*leading, tokens.shape[-1])).reshape(-1, n_rows, tokens.shape[-1])
        counts = np.broadcast_to(n_tokens, leading).reshape(-1, n_rows).T.reshape(-1).tolist()
        rows = tokens[..., : max(counts, default=0)].astype(np.int64).swapaxes(0, 1).reshape(len(counts), -1)
        with self._lock:
            matchers = self._masks.after([row[:n].tobytes() for row, n in zip(rows, counts, strict=True)])
            masks = self._masks.fill_after(matchers, counts).reshape(n_rows, -1, self._n_words).swapaxes(0, 1)
            return np.array(masks.reshape(*leading, self._n_words))
