"""Documents as callers have them: a dict, JSON text, or a value of a pydantic model (OpenAI's, XGrammar's, MCP's).

A model is written with the names that its fields have in JSON, its aliases: the field `schema_` of OpenAI's models is
"schema" there.

In: whatever the caller has. Out: the document as `json.loads` gives it, a copy of our own. Cost: that of `json.loads`,
or of what the model does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llmask.errors import GrammarError, LlmaskError
from llmask.frontends.json_schema.reading.inputs import schema_of
from llmask.frontends.json_schema.reading.owned import owned

if TYPE_CHECKING:
    from llmask.limits import Limits


def document_of(source: Any, limits: Limits, what: str) -> Any:
    """The document that a caller means, as a copy of our own (`json_schema/reading/owned.py`).

    Parameters
    ----------
    source : a dict, JSON text (`str`, `bytes`), or a value of a pydantic model; anything else is left to the reader.
    what : what it is, for messages.

    Raises
    ------
    GrammarError : text is not JSON, or a model cannot be written.
    LimitExceeded : it is too long or nests too deep.
    """
    if not isinstance(source, (str, bytes, bytearray)):
        return owned(dumped(source, what))
    try:
        return schema_of(source, limits.max_schema_bytes)
    except LlmaskError as error:
        message = error.message.replace("the schema", f"the {what}", 1)
        raise type(error)(message, error.where, error.help) from None


def dumped(source: Any, what: str) -> Any:
    """A value of a pydantic model as a dict, anything else as it is; `what` it is, for messages.

    Raises
    ------
    GrammarError : it is the model itself, or the model cannot be written.
    """
    if not hasattr(source, "model_dump"):
        return source
    if isinstance(source, type):
        raise GrammarError(f"the {what} is the model {source.__qualname__} itself", help="give a value of the model")
    try:
        try:
            return source.model_dump(by_alias=True)
        except TypeError:  # something like a model, that knows of no aliases
            return source.model_dump()
    except Exception as error:  # code of the model's own runs in there
        reason = str(error).strip().partition("\n")[0]
        raise GrammarError(
            f"the {what} is a value of {type(source).__qualname__}, which cannot be written as a dict: {reason}",
            help="give a dict or JSON text",
        ) from error
