"""Compiled access by the names of machine/records.py: `table.slot`, `table.slot[i]`, `table.slot[i].field`.

    table      pointer to its slots
    block      table, slot, pointer to item 0                       `.address`, `.table`, `.slot`, items
    record     pointer to its first field                           fields and flags, `.address`, records after it
    family     table, first slot: lists or a map, interning.py      `.table`, `.slot`

Fields and items are read as int64, whatever their width: callees are compiled once. The hooks are those by which numba
compiles attributes of its own types; tests/unit/kernels/machine/test_fields.py holds them against each version that is
supported.

In: nothing; it is imported for what it registers. Out: `TABLE`, the type of a table; primitives. Cost: none in
machine code; with LLMASK_CHECK_BOUNDS=1 a comparison an item.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models, register_default
from numba.core.imputils import lower_builtin, lower_constant, lower_getattr_generic, lower_setattr_generic
from numba.core.typing.templates import (
    AbstractTemplate,
    AttributeTemplate,
    bound_function,
    infer_global,
    signature,
)
from numba.extending import infer_getattr, intrinsic, typeof_impl

from .prebuilt import CHECK_BOUNDS
from .records import DECLARED, Array, Declared, Family, Kind, KindMeta, Record, Slots

_I8, _I32, _I64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)
_FLOATS = {32: ir.FloatType(), 64: ir.DoubleType()}
_CHARGED = -16  # where memory.py says how many bytes of a block may be used


class _TableType(types.Type):
    """Its slots are its attributes."""

    bits = 64


class _BlockType(types.Type):
    """Items of one kind: records, or numbers of a width. All blocks of numbers of a width are one type."""

    def __init__(self, declared: Record | Array) -> None:
        self.record = declared if isinstance(declared, Record) else None
        self.bits = declared.bits
        self.item_bytes = declared.n_bytes if isinstance(declared, Record) else declared.bits // 8
        self.is_published = isinstance(declared, Array) and declared.is_published
        numbers = f"{'published ' * self.is_published}{self.bits}"
        super().__init__(f"Block[{_name_of(declared) if isinstance(declared, Record) else numbers}]")


class _RecordType(types.Type):
    """Its fields are its attributes."""

    def __init__(self, record: Record) -> None:
        self.record, self.bits = record, record.bits
        super().__init__(f"Record[{_name_of(record)}]")


class _LayoutType(types.Type):
    """The declaration of records, which says how the memory at an address is read."""

    def __init__(self, record: Record) -> None:
        self.record = record
        super().__init__(f"Layout[{_name_of(record)}]")


def _name_of(record: Record) -> str:
    """What tells records from all others: their slot, or what they are."""
    return record.slot or f"{record.meaning}: {', '.join(record.names)}"


class _FamilyType(types.Type):
    """Several slots that belong together; all lists are one type, and all maps."""

    def __init__(self, family: type[Family]) -> None:
        self.parts = family.parts
        super().__init__(family.__name__)


class _NamesType(types.Type):
    """Something whose attributes are constants."""

    def __init__(self, names: Any) -> None:
        self.names = names
        super().__init__(f"Names[{names.title if isinstance(names, Slots) else names.__name__}]")


TABLE = _TableType("Table")
_BLOCK_PARTS = [("table", TABLE), ("slot", types.int64), ("address", types.int64)]
_FAMILY_PARTS = _BLOCK_PARTS[:2]


@register_default(_TableType)
@register_default(_RecordType)
class _PointerModel(models.PrimitiveModel):
    def __init__(self, manager: Any, type_: Any) -> None:
        super().__init__(manager, type_, ir.IntType(type_.bits).as_pointer())


@register_default(_BlockType)
@register_default(_FamilyType)
class _StructModel(models.StructModel):
    def __init__(self, manager: Any, type_: Any) -> None:
        super().__init__(manager, type_, _BLOCK_PARTS if isinstance(type_, _BlockType) else _FAMILY_PARTS)


register_default(_NamesType)(models.OpaqueModel)
register_default(_LayoutType)(models.OpaqueModel)


# --- types


def _type_of(declared: Declared | None) -> Any:
    if isinstance(declared, Family):
        return _FamilyType(type(declared))
    return _BlockType(declared) if isinstance(declared, (Record, Array)) else types.int64


def _has_attributes(type_: Any, find_type: Callable[[Any, str], Any]) -> None:
    """Let numba know the attributes of a type: `find_type` tells the type of one by its name, or None."""
    members = {"key": type_, "generic_resolve": lambda self, given, name: find_type(given, name)}
    infer_getattr(type(f"{type_.__name__}Attributes", (AttributeTemplate,), members))


def _type_of_slot(table: Any, name: str) -> Any:
    return _type_of(DECLARED[name][1]) if name in DECLARED else None


def _type_of_field(given: Any, name: str) -> Any:
    if name in given.record.flags:
        return types.boolean
    if name in given.record.places:
        bits, is_float = given.record.width(name)
        return types.int64 if not is_float else types.float64 if bits == 64 else types.float32
    return types.int64 if name == "address" else None


def _type_of_part(family: Any, name: str) -> Any:
    return _type_of(family.parts[name][1]) if name in family.parts else dict(_FAMILY_PARTS).get(name)


@infer_getattr
class _OfLayout(AttributeTemplate):
    key = _LayoutType

    def generic_resolve(self, given: Any, name: str) -> Any:
        return types.int64 if name == "n_bytes" else None

    @bound_function("Layout.at")
    def resolve_at(self, given: Any, args: Any, kws: Any) -> Any:
        return signature(_RecordType(given.record), types.int64)


_has_attributes(_TableType, _type_of_slot)
_has_attributes(_RecordType, _type_of_field)
_has_attributes(_FamilyType, _type_of_part)
_has_attributes(_BlockType, lambda block, name: dict(_BLOCK_PARTS).get(name))
_has_attributes(_NamesType, lambda given, name: types.int64 if hasattr(given.names, name) else None)


@infer_global(operator.getitem)
class _Items(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        owner, *index = args
        if len(index) != 1 or not isinstance(index[0], types.Integer):
            return None
        if isinstance(owner, _RecordType):
            return signature(owner, owner, types.int64)
        if isinstance(owner, _BlockType) and owner.record:
            return signature(_RecordType(owner.record), owner, types.int64)
        return signature(types.int64, owner, types.int64) if isinstance(owner, (_TableType, _BlockType)) else None


@infer_global(operator.setitem)
class _SetItems(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        if len(args) == 3 and isinstance(args[0], (_TableType, _BlockType)):
            return signature(types.void, args[0], types.int64, types.int64)
        if len(args) == 3 and isinstance(args[0], _RecordType) and args[0] == args[2]:
            return signature(types.void, args[0], types.int64, args[2])
        return None


# --- constants


@typeof_impl.register(Slots)
@typeof_impl.register(KindMeta)
def _typeof_names(names: Any, context: Any) -> Any:
    return _NamesType(names)


@typeof_impl.register(Kind)
def _typeof_kind(kind: Any, context: Any) -> Any:
    return types.int64


@typeof_impl.register(Record)
def _typeof_record(record: Record, context: Any) -> Any:
    return _LayoutType(record)


@lower_constant(_NamesType)
@lower_constant(_LayoutType)
def _names(context: Any, builder: Any, type_: Any, names: Any) -> Any:
    return context.get_dummy_value()


@lower_getattr_generic(_NamesType)
def _name(context: Any, builder: Any, type_: Any, names: Any, name: str) -> Any:
    return _I64(int(getattr(type_.names, name)))


# --- slots


def _parts(context: Any, builder: Any, type_: Any, value: Any) -> Any:
    return cgutils.create_struct_proxy(type_)(context, builder, value=value)


def _load_block(builder: Any, table: Any, slot: Any) -> Any:
    # a reader that sees an index also sees a block that is long enough for it, see memory.py
    address = builder.load_atomic(builder.gep(table, [slot]), "acquire", 8)
    return cgutils.pack_struct(builder, [table, slot, address])


def _load_slot(context: Any, builder: Any, declared: Declared | None, table: Any, slot: Any) -> Any:
    type_ = _type_of(declared)
    if declared is None:
        return builder.load(builder.gep(table, [slot]), align=8)
    if isinstance(type_, _BlockType):
        return _load_block(builder, table, slot)
    return cgutils.pack_struct(builder, [table, slot])


@lower_getattr_generic(_TableType)
def _slot(context: Any, builder: Any, type_: Any, table: Any, name: str) -> Any:
    number, declared = DECLARED[name]
    return _load_slot(context, builder, declared, table, _I64(number))


@lower_setattr_generic(_TableType)
def _put_slot(context: Any, builder: Any, types_: Any, args: Any, name: str) -> None:
    number, declared = DECLARED[name]
    assert declared is None, f"{name} is no number"
    value = context.cast(builder, args[1], types_.args[1], types.int64)
    builder.store(value, builder.gep(args[0], [_I64(number)]), align=8)


@lower_getattr_generic(_BlockType)
def _part_of_block(context: Any, builder: Any, type_: Any, value: Any, name: str) -> Any:
    return getattr(_parts(context, builder, type_, value), name)


@lower_getattr_generic(_FamilyType)
def _part_of_family(context: Any, builder: Any, type_: Any, value: Any, name: str) -> Any:
    family = _parts(context, builder, type_, value)
    if name not in type_.parts:
        return getattr(family, name)
    place, declared = type_.parts[name]
    return _load_slot(context, builder, declared, family.table, builder.add(family.slot, _I64(place)))


@lower_builtin(operator.getitem, _TableType, types.int64)
def _item_of_table(context: Any, builder: Any, types_: Any, args: Any) -> Any:
    return builder.load(builder.gep(args[0], [args[1]]), align=8)


@lower_builtin(operator.setitem, _TableType, types.int64, types.int64)
def _put_item_of_table(context: Any, builder: Any, types_: Any, args: Any) -> Any:
    builder.store(args[2], builder.gep(args[0], [args[1]]), align=8)
    return context.get_dummy_value()


# --- items


def _place(context: Any, builder: Any, type_: Any, value: Any, index: Any) -> Any:
    """Pointer to an item of a block."""
    address = _parts(context, builder, type_, value).address
    n_bytes = _I64(type_.item_bytes)
    if CHECK_BOUNDS:
        charged = builder.inttoptr(builder.add(address, _I64(_CHARGED)), _I64.as_pointer())
        end = builder.mul(builder.add(index, _I64(1)), n_bytes)
        is_inside = builder.and_(
            builder.icmp_signed(">=", index, _I64(0)), builder.icmp_signed("<=", end, builder.load(charged, align=8))
        )
        with cgutils.if_unlikely(builder, builder.not_(is_inside)):
            context.call_conv.return_user_exc(builder, IndexError, ("access outside of a block",))
    at = builder.add(address, builder.mul(index, n_bytes))
    return builder.inttoptr(at, ir.IntType(type_.bits).as_pointer())


def _read(builder: Any, at: Any, bits: int, is_published: bool) -> Any:
    item = builder.load_atomic(at, "acquire", bits // 8) if is_published else builder.load(at, align=bits // 8)
    return item if bits == 64 else builder.zext(item, _I64) if bits == 8 else builder.sext(item, _I64)


def _write(builder: Any, at: Any, bits: int, value: Any, is_published: bool) -> None:
    item = value if bits == 64 else builder.trunc(value, ir.IntType(bits))
    if is_published:
        builder.store_atomic(item, at, "release", bits // 8)
    else:
        builder.store(item, at, align=bits // 8)


@lower_builtin(operator.getitem, _BlockType, types.int64)
def _item(context: Any, builder: Any, types_: Any, args: Any) -> Any:
    at = _place(context, builder, types_.args[0], *args)
    type_ = types_.args[0]
    return at if type_.record else _read(builder, at, type_.bits, type_.is_published)


@lower_builtin(operator.setitem, _BlockType, types.int64, types.int64)
def _put_item(context: Any, builder: Any, types_: Any, args: Any) -> Any:
    type_ = types_.args[0]
    _write(builder, _place(context, builder, type_, *args[:2]), type_.bits, args[2], type_.is_published)
    return context.get_dummy_value()


def _field_of(builder: Any, record: Any, declared: Record, name: str) -> Any:
    """Pointer to a field, of its own type."""
    bits, is_float = declared.width(name)
    if not declared.widths:
        return builder.gep(record, [_I32(declared.places[name])])
    at = builder.gep(builder.bitcast(record, _I8.as_pointer()), [_I32(declared.offset(name))])
    return builder.bitcast(at, (_FLOATS[bits] if is_float else ir.IntType(bits)).as_pointer())


@lower_getattr_generic(_RecordType)
def _field(context: Any, builder: Any, type_: Any, record: Any, name: str) -> Any:
    declared = type_.record
    if name in declared.flags:
        place, bit = declared.flags[name]
        word = builder.load(builder.gep(record, [_I32(place)]), align=4)
        return builder.icmp_unsigned("!=", builder.and_(word, _I32(bit)), _I32(0))
    if name not in declared.places:  # its address
        return builder.ptrtoint(record, _I64)
    at = _field_of(builder, record, declared, name)
    bits, is_float = declared.width(name)
    return builder.load(at, align=bits // 8) if is_float else _read(builder, at, bits, name in declared.published)


@lower_setattr_generic(_RecordType)
def _put_field(context: Any, builder: Any, types_: Any, args: Any, name: str) -> None:
    record, value = args
    declared = types_.args[0].record
    if name in declared.flags:
        place, bit = declared.flags[name]
        at = builder.gep(record, [_I32(place)])
        is_set = context.cast(builder, value, types_.args[1], types.boolean)
        others = builder.and_(builder.load(at, align=4), _I32(~bit & 0xFFFFFFFF))
        builder.store(builder.or_(others, builder.select(is_set, _I32(bit), _I32(0))), at, align=4)
        return
    at = _field_of(builder, record, declared, name)
    bits, is_float = declared.width(name)
    if is_float:
        number = types.float64 if bits == 64 else types.float32
        builder.store(context.cast(builder, value, types_.args[1], number), at, align=bits // 8)
    else:
        value = context.cast(builder, value, types_.args[1], types.int64)
        _write(builder, at, bits, value, name in declared.published)


# --- records at an address


@lower_getattr_generic(_LayoutType)
def _size(context: Any, builder: Any, type_: Any, layout: Any, name: str) -> Any:
    return _I64(type_.record.n_bytes)


@lower_builtin("Layout.at", _LayoutType, types.int64)
def _at(context: Any, builder: Any, types_: Any, args: Any) -> Any:
    return builder.inttoptr(args[1], context.get_value_type(types_.return_type))


def _following(builder: Any, type_: Any, record: Any, number: Any) -> Any:
    """Pointer to the record that is `number` records after another."""
    place = builder.mul(number, _I64(type_.record.n_bytes * 8 // type_.bits))
    return builder.gep(record, [place])


@lower_builtin(operator.getitem, _RecordType, types.int64)
def _record_after(context: Any, builder: Any, types_: Any, args: Any) -> Any:
    return _following(builder, types_.args[0], *args)


@lower_builtin(operator.setitem, _RecordType, types.int64, _RecordType)
def _put_record(context: Any, builder: Any, types_: Any, args: Any) -> Any:
    source, target = args[2], _following(builder, types_.args[0], *args[:2])
    n_words, rest = divmod(types_.args[0].record.n_bytes, 8)
    # word by word: of one large copy in a loop LLVM makes a call of memmove, which is slow where few are moved
    for piece in [*[_I64] * n_words, *[_I32] * (rest // 4)]:
        source, target = (builder.bitcast(at, piece.as_pointer()) for at in (source, target))
        builder.store(builder.load(source, align=4), target, align=4)
        source, target = (builder.gep(at, [_I32(1)]) for at in (source, target))
    return context.get_dummy_value()


@intrinsic
def loaded_again(typingctx: Any, block: Any) -> Any:
    """The block that is in the slot of another one now."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        old = _parts(context, builder, signature.args[0], args[0])
        return _load_block(builder, old.table, old.slot)

    return block(block), codegen


@intrinsic
def item_bytes(typingctx: Any, block: Any) -> Any:
    """Size of an item of a block."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _I64(signature.args[0].item_bytes)

    return types.int64(block), codegen
