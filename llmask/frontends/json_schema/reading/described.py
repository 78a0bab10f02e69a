"""Schemas of types and functions, and what reads values of them: pydantic's types, msgspec's Structs, attrs' classes.

Types are described by pydantic, which is imported when the first one comes, in its mode "validation": the schema is of
what the type can be made from, so that a field with a default may be left out and an alias is a name; the other mode
describes what the type writes. What pydantic's schemas leave out is in `type_schemas.py`. pydantic knows nothing of
Structs and attrs' classes; they are described by their fields, as a `TypedDict` is. Structs are read by msgspec.

In: a type or function. Out: a schema; a function from JSON text to a value. Cost: pydantic's, 0.2 ms for a simple type
and 0.6 ms for a small model, at every call.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from contextvars import ContextVar
from functools import lru_cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from llmask.errors import GrammarError, LlmaskError, how_to_install

from .type_schemas import generator

EXTRA = f"{how_to_install('pydantic')}, or give the schema as a dict or JSON text"
BOUNDS = ("gt", "ge", "lt", "le", "multiple_of", "pattern", "min_length", "max_length")
_BEGUN: ContextVar[frozenset[str]] = ContextVar("begun", default=frozenset())  # classes whose fields are described


def described(source: Any, is_closed: bool = True) -> Any:
    """The schema of a type, or of the parameters of a function.

    Parameters
    ----------
    is_closed : objects take no keys but those that the type declares, unless it says itself that it takes others.

    Raises
    ------
    GrammarError
        When pydantic does not describe the type.
    LlmaskError
        When pydantic is needed and not installed.
    """
    try:
        import pydantic
    except ImportError:
        raise LlmaskError(
            f"a schema from {_named(source)} needs pydantic 2, which is not installed", help=EXTRA
        ) from None
    if not hasattr(pydantic, "TypeAdapter"):
        raise LlmaskError(f"a schema from {_named(source)} needs pydantic 2, not {pydantic.VERSION}", help=EXTRA)
    if isinstance(source, pydantic.BaseModel):
        raise GrammarError(
            f"the schema is a value of the model {type(source).__qualname__}", help="give the model itself, its class"
        )
    schema: Any
    try:
        write = generator(is_closed, _holds(source, _is_struct))
        if isinstance(source, type) and issubclass(source, pydantic.BaseModel):
            model: Any = source
            is_own = model.model_json_schema.__func__ is not pydantic.BaseModel.model_json_schema.__func__
            schema = model.model_json_schema() if is_own else model.model_json_schema(schema_generator=write)
        else:
            schema = _adapter(source).json_schema(schema_generator=write)
    except Exception as error:  # code of the type's own runs in there
        reason = str(getattr(error, "message", error)).strip().partition("\n")[0]
        raise GrammarError(
            f"pydantic describes no schema of {_named(source)}: {reason}",
            help="give a dict, a bool, JSON text, or a type that pydantic knows",
        ) from error
    if inspect.isroutine(source) and schema.get("type") != "object":
        raise GrammarError(
            f"{_named(source)} has parameters without a name to give them by",
            help="leave out the slash and the star in its signature",
        )
    return schema


def reader_of(source: Any) -> Callable[[str], Any]:
    """What makes a value of a type from JSON text; of a function, plain data."""
    if inspect.isroutine(source):
        return json.loads
    if _holds(source, _is_struct):
        import msgspec

        decode: Callable[[str], Any] = msgspec.json.Decoder(source).decode
        return decode
    adapter = _adapter(source)
    if adapter.core_schema["type"] == "call":  # of a functools.partial: it would be called, with what the model wrote
        return json.loads
    read: Callable[[str], Any] = adapter.validate_json
    return read


def _adapter(source: Any) -> Any:
    from pydantic import TypeAdapter

    return source if isinstance(source, TypeAdapter) else TypeAdapter(_for_pydantic(source))


def _named(source: Any) -> str:
    kind = "the function" if inspect.isroutine(source) else "the type" if isinstance(source, type) else "the object"
    name = getattr(source, "__qualname__", None) or repr(source)
    return f"{kind} {name if len(name) <= 80 else name[:77] + '...'}"


# --- classes that pydantic does not know


def _is_struct(source: Any) -> bool:
    cls = get_origin(source) or source  # it may be generic
    return isinstance(cls, type) and hasattr(cls, "__struct_config__")


def _is_foreign(source: Any) -> bool:
    return _is_struct(source) or (isinstance(source, type) and hasattr(source, "__attrs_attrs__"))


def _is_to_change(source: Any) -> bool:
    return _is_foreign(source) or "msgspec" in (getattr(source, "__module__", ""), type(source).__module__)


def _holds(source: Any, is_wanted: Callable[[Any], bool]) -> bool:
    """Whether an annotation is such a class, or has one as a parameter."""
    return is_wanted(source) or any(_holds(part, is_wanted) for part in get_args(source))


def _for_pydantic(source: Any) -> Any:
    """An annotation with what describes such classes in their place."""
    if _is_foreign(source):
        return _stand_in(source)
    if type(source).__module__ == "msgspec" and type(source).__name__ == "Meta":
        from pydantic import Field

        return Field(**{name: getattr(source, name) for name in BOUNDS if getattr(source, name) is not None})
    origin, parts = get_origin(source), get_args(source)
    if origin in (None, Literal) or not _holds(source, _is_to_change):
        return source
    if origin is Annotated:
        zones = [_Zone(part.tz) for part in source.__metadata__ if getattr(part, "tz", None) is not None]
        parts = (*map(_for_pydantic, (parts[0], *source.__metadata__)), *zones)
        return Annotated[parts]
    parts = tuple(_for_pydantic(part) for part in parts if getattr(part, "__name__", "") != "UnsetType")  # never comes
    return Union[parts] if "Union" in str(origin) else origin[parts]  # noqa: UP007


class _Zone:
    """Whether a time has an offset."""

    def __init__(self, has_offset: bool) -> None:
        self._constraint = "aware" if has_offset else "naive"

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return {**handler(source), "tz_constraint": self._constraint}


@lru_cache(64)
def _stand_in(cls: Any) -> Any:
    """A class that pydantic describes by the fields of `cls`, and reads values of `cls` for."""
    name = getattr(cls, "__name__", repr(cls))

    def describe(source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema as core

        key, begun = f"{cls.__module__}.{name}:{id(cls)}", _BEGUN.get()
        if key in begun:
            return core.definition_reference_schema(key)
        token = _BEGUN.set(begun | {key})
        try:
            fields = {
                member: core.typed_dict_field(handler.generate_schema(_for_pydantic(kind)), required=is_required)
                for member, kind, is_required in _fields(cls)
            }
        finally:
            _BEGUN.reset(token)
        config = getattr(get_origin(cls) or cls, "__struct_config__", None)
        if config is not None and config.array_like:
            members: Any = core.tuple_schema([field["schema"] for field in fields.values()])
        else:
            members = core.typed_dict_schema(fields, cls_name=name)
        return core.no_info_after_validator_function(_Maker(cls), members, ref=key)

    return type(name, (), {"__get_pydantic_core_schema__": staticmethod(describe)})


class _Maker:
    """Makes a value of a class; `asks_code`: what the class asks of its fields by code."""

    def __init__(self, cls: Any) -> None:
        self._cls = cls
        names = ("__post_init__", "__attrs_post_init__", "__attrs_pre_init__")
        named = getattr(cls, "__name__", repr(cls))
        found = [f"{named}.{name}" for name in names if hasattr(cls, name)]
        for field in getattr(cls, "__attrs_attrs__", ()):
            found += [f"the validator of {named}.{field.name}"] if field.validator or field.converter else []
        self.asks_code = ", ".join(found)

    def __call__(self, members: Any) -> Any:
        return self._cls(**members)


def _fields(cls: Any) -> list[tuple[str, Any, bool]]:
    """Names as they are in JSON, annotations, and which must come."""
    if not _is_struct(cls):
        kinds = get_type_hints(cls, include_extras=True)
        members = [field for field in cls.__attrs_attrs__ if field.init]
        return [(one.alias, kinds.get(one.name, Any), one.default.__class__.__name__ == "_Nothing") for one in members]
    import msgspec

    config = (get_origin(cls) or cls).__struct_config__
    tag = [] if config.tag is None else [(config.tag_field, Literal[config.tag], True)]
    return tag + [(one.encode_name, one.type, one.required) for one in msgspec.structs.fields(cls)]
