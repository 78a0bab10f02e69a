"""llmask in mlx-lm: a logits processor for one sequence, and masks applied by operations of MLX.

    stream_generate(model, tokenizer, prompt, max_tokens=500,
                    logits_processors=[GrammarLogitsProcessor(grammar, max_tokens=500)])
    batch.insert(prompts, logits_processors=[[GrammarLogitsProcessor(grammar, max_tokens=500)] for _ in prompts])

mlx-lm calls a processor with all tokens so far and the logits of one sequence, also in a batch. It works ahead: a call
comes before the last token was looked at, so also after the end of sequence. With a draft model prefixes shrink, and
come again with other tokens at their end. All of that is one text, and the mask is a function of the prefix
(`samplers/prefixes.py`). So a shorter prefix is never taken for another prompt here: a processor has one text, and
another one after `reset()`.

The mask goes to the device as its words, and bits are taken apart there; nothing waits for the logits. Each call waits
for the last token, as any grammar has to; before that it has the model begin, which would else wait for the mask.

In: token ids and logits, MLX. Out: logits in which refused tokens are minus infinity. Cost: some microseconds for the
mask, and half a millisecond on a CPU to apply it to 128k logits (the model's own step takes ten times as long).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from llmask.errors import LlmaskError
from llmask.mask.apply import BITS_PER_WORD
from llmask.samplers.prefixes import TextProcessor, allows_any, beyond_logits, check_width

if TYPE_CHECKING:
    import mlx.core as mx

__all__ = ["GrammarLogitsProcessor", "apply_bitmask"]


class GrammarLogitsProcessor(TextProcessor):
    """Logits processor for one sequence of mlx-lm: `generate_step`, `stream_generate`, `BatchGenerator`, drafts.

    When processors before this one left no allowed token, the grammar wins: its tokens become equally likely.

    Parameters
    ----------
    grammar : compiled for the model's tokenizer, `Tokenizer.from_huggingface(tokenizer)` of what `mlx_lm.load` returns;
        a `llmask.Reasoning` where the model thinks before it answers.
    prompt_length : tokens that precede the constrained text; None: all tokens of the first call. With a draft model
        mlx-lm shows the last token of the prompt only.
    max_tokens : as that of the generation: the text ends within this number, the end of sequence included. None: it
        may be cut off, which is warned of; math.inf: the same, and it is meant.
    on_limit : "finish": where the mask meets a limit of `llmask.Limits` the text takes the shortest known way to the
        end; "error": the call fails with `LimitExceeded`.
    on_value, on_event : told of the text while it is written, as in `llmask.generate`; the number is 0. A JSON
        document is told by its parts; of a grammar that is no JSON there are the text so far, and the end alone. Call
        `finish` after the generation. What they raise ends it. Not with a draft model: tokens are taken back.

    Raises
    ------
    BudgetError
        when called and no text is as short as `max_tokens`.
    LlmaskError
        when made of what is no compiled grammar; when called with tokens of another sequence, or with others than
        were told of.
    VocabularyError
        when called and the model has fewer logits than the grammar has tokens, by more than padding explains.
    """

    def finish(self, tokens: Any = None) -> None:
        """Tell `on_value` and `on_event` what is still to be told, after the generation; the end once.

        Parameters
        ----------
        tokens : int[length], prompt included, of a text that was cut off, whose last token no call had. None: the text
            ended, if not before then after the tokens of the last call.

        Raises
        ------
        LlmaskError : they are no token ids, or belong to another text; nothing was generated.
        """
        self._masks.finish(None if tokens is None else np.asarray(tokens)[None])

    def __call__(self, tokens: mx.array, logits: mx.array) -> mx.array:
        """Refuse what the grammar refuses.

        Parameters
        ----------
        tokens : int[length], prompt included.
        logits : float[n_logits] or float[1, n_logits]; may be wider than the vocabulary.

        Returns
        -------
        New logits of the same shape and dtype.
        """
        import mlx.core as mx

        n_logits = logits.shape[-1]
        if logits.size != n_logits:
            raise LlmaskError(
                f"the logits of one sequence have the shape (n,) or (1, n), not {tuple(logits.shape)}",
                help="give each sequence of a batch a processor of its own",
            )
        check_width(self._masks.tokenizer, n_logits)
        mx.async_eval(tokens)  # first, so that they are not waited for together with the logits
        mx.async_eval(logits)
        generation = self._masks.generation
        mask = self._masks.fill(np.asarray(tokens).reshape(1, -1), is_same=True)
        if generation is not None and generation is not self._masks.generation:
            self.reset()
            raise LlmaskError(
                "the tokens do not go on with the text that the processor was called for before",
                where=f"token {tokens.size}",
                help="give each sequence a processor of its own, also in a batch, and call reset() before another text",
            )
        if not allows_any(mask[0], n_logits):
            raise beyond_logits(n_logits, f"token {tokens.size}")
        allowed = _allowed(mask.reshape(-1), n_logits)
        masked = mx.where(allowed, logits, mx.array(-np.inf, logits.dtype))
        is_dead = mx.all(masked == -np.inf, axis=-1, keepdims=True)
        return mx.where(mx.logical_and(is_dead, allowed), mx.array(0, logits.dtype), masked)


def apply_bitmask(logits: mx.array, bitmask: npt.NDArray[np.int32] | mx.array) -> mx.array:
    """Logits in which refused tokens, and those beyond the mask, are minus infinity; for a loop of your own.

    Parameters
    ----------
    logits : float[..., n_logits].
    bitmask : int32[..., words], NumPy or MLX; its leading dimensions are the logits' own, or are repeated to them.

    Returns
    -------
    New logits of the same shape and dtype, computed when they are needed.

    Raises
    ------
    LlmaskError : shapes or the dtype do not fit.
    """
    import mlx.core as mx

    if str(bitmask.dtype).rpartition(".")[2] != "int32":
        raise LlmaskError(
            f"a bitmask has the dtype int32, not {bitmask.dtype}",
            help="make it with llmask.allocate_bitmask(batch, tokenizer.vocab_size)",
        )
    leading, given = tuple(logits.shape[:-1]), tuple(bitmask.shape[:-1])
    if len(given) > len(leading) or any(n not in (1, m) for n, m in zip(given[::-1], leading[::-1], strict=False)):
        raise LlmaskError(
            f"a bitmask of shape {tuple(bitmask.shape)} does not fit logits of {tuple(logits.shape)}",
            help="give one row for each row of the logits, or one for all",
        )
    return mx.where(_allowed(bitmask, logits.shape[-1]), logits, mx.array(-np.inf, logits.dtype))


def _allowed(bitmask: Any, n_logits: int) -> mx.array:
    """The bits of a bitmask, bool[..., n_logits]; False beyond it."""
    import mlx.core as mx

    given = np.ascontiguousarray(bitmask) if isinstance(bitmask, np.ndarray) else bitmask
    words = mx.array(given).view(mx.uint32)
    bits = (words[..., None] >> mx.arange(BITS_PER_WORD, dtype=mx.uint32)) & 1
    bits = bits.reshape(*words.shape[:-1], -1).astype(mx.bool_)
    n_beyond = n_logits - bits.shape[-1]
    if n_beyond > 0:
        bits = mx.pad(bits, [(0, 0)] * (bits.ndim - 1) + [(0, n_beyond)])
    return bits[..., :n_logits]
