"""Constrain llama-cpp-python to a grammar.

    processor = GrammarLogitsProcessor(compiler.json_schema(schema), max_tokens=500)
    llama(prompt, max_tokens=500, logits_processor=LogitsProcessorList([processor]),
          stopping_criteria=StoppingCriteriaList([processor.stop_if_failed]))
    processor.raise_if_failed()

llama-cpp-python (0.3.16, `Llama._init_sampler`) calls processors from a ctypes callback. An exception raised there is
printed and dropped, and sampling goes on with logits that nobody masked: unconstrained text without an error. So this
processor raises nothing. The first failure is latched in `error`, written to standard error once, and from then on only
the end of sequence is allowed: the text ends at once. `raise_if_failed()` raises it after the call, and
`stop_if_failed`, passed as a stopping criterion, raises it in the middle, as criteria run outside the callback.

`create_completion(logit_bias=..., logits_processor=...)` drops both: it extends a list and keeps what `extend` returns,
None. A processor that was never called says so in `raise_if_failed()`.

The scores are a column of a record array (stride 12 bytes), changed in place.

In: token ids and scores, NumPy. Out: the same scores. Cost: a few microseconds for the mask, and 15-60 us to apply it
to 128k scores.
"""

from __future__ import annotations

import sys

import numpy as np
import numpy.typing as npt

from llmask.errors import LlmaskError
from llmask.mask.apply import apply_bitmask
from llmask.samplers.prefixes import TextProcessor, beyond_logits, check_width


class GrammarLogitsProcessor(TextProcessor):
    """Logits processor for completions of llama-cpp-python; it may be used again for another prompt or the next turn.

    Parameters
    ----------
    grammar : compiled for the model's own vocabulary, `Tokenizer.from_gguf(model_path)`; a `llmask.Reasoning` where the
        model thinks before it answers.
    prompt_length : tokens that precede the constrained text; None: all tokens of the first call.
    max_tokens : as that of the completion: the text ends within this number, the end of sequence included.
        None: it may be cut off, which is warned of; math.inf: the same, and it is meant.
    on_limit : "finish": a row whose mask meets a limit of `llmask.Limits` takes the shortest known way to the end, so
        that its document is valid; "error": the call fails with `LimitExceeded`.
    on_value, on_event : told of the text while it is written, as in `llmask.generate`; the number is 0. A JSON
        document is told by its parts; of a grammar that is no JSON there are the text so far, and the end alone. Call
        `finish` after the completion. What they raise is a failure as any other: it is latched and the text ends.

    Attributes
    ----------
    error : the first failure, or None.
    """

    error: BaseException | None = None
    _was_asked = False

    def reset(self) -> None:
        """Forget the prompt, what was generated and the failure; only after a failure, or in doubt, is it needed."""
        super().reset()
        self.error = None

    def raise_if_failed(self) -> None:
        """Raise the latched failure, if there is one, or that nothing was masked; call it after every completion."""
        if self.error is not None:
            raise self.error
        if not self._was_asked:
            raise LlmaskError(
                "llama-cpp-python has not called the processor, so that the text follows no grammar",
                help="it drops logits_processor where logit_bias is given, too: give the bias as another processor in "
                "the same list",
            )

    def stop_if_failed(self, input_ids: npt.NDArray[np.intc], logits: npt.NDArray[np.single]) -> bool:
        """A stopping criterion that never stops, but raises what `raise_if_failed` does, outside the callback."""
        self.raise_if_failed()
        return False

    def finish(self) -> None:
        """Tell `on_value` and `on_event` what is still to be told, after a completion that came to its end.

        Its last token, the end of sequence, is never shown to a processor. Of a completion that was cut off, its
        `finish_reason` is "length" or it met a stop string, the last token is not known: do not call this.

        Raises
        ------
        LlmaskError : as `raise_if_failed`.
        """
        self.raise_if_failed()
        self._masks.finish()

    def __call__(self, input_ids: npt.NDArray[np.intc], scores: npt.NDArray[np.single]) -> npt.NDArray[np.single]:
        """Refuse what the grammar refuses; after a failure everything but the end of sequence.

        Parameters
        ----------
        input_ids : int32[length], prompt included.
        scores : float32[n_logits], any stride; changed in place.

        Returns
        -------
        `scores`.
        """
        self._was_asked = True
        if self.error is not None:
            self._allow_only_end(scores)
            return scores
        try:
            self._apply(input_ids, scores)
        except BaseException as error:  # nothing may leave the callback, not even an interrupt: it would be dropped
            self.error = error
            self._allow_only_end(scores)
            reason = str(error) or type(error).__name__
            sys.stderr.write(f"llmask: the grammar can no longer be followed and the text ends here: {reason}\n")
        return scores

    def _allow_only_end(self, scores: npt.NDArray[np.single]) -> None:
        scores[:] = -np.inf
        scores[[end for end in self._masks.tokenizer.eos_ids if end < scores.shape[0]]] = 0.0

    def _apply(self, input_ids: npt.NDArray[np.intc], scores: npt.NDArray[np.single]) -> None:
        check_width(self._masks.tokenizer, scores.shape[0])
        mask = self._masks.fill(np.asarray(input_ids)[None, :])
        if apply_bitmask(scores, mask):
            scores[:] = 0.0
            if apply_bitmask(scores, mask):
                raise beyond_logits(scores.shape[0], f"token {input_ids.shape[0]}")
