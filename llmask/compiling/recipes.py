r"""Recipes: what grammars are compiled from, which is what `grammar.save()`, `Compiler.load` and pickles hold.

    json_schema       the schema, SchemaOptions             choice            the texts
    regex             the pattern; method                   structural_tag    the document
    gbnf, ebnf        the text                              tools             the functions; the arguments of `tools`
    lark              the text; the arguments of `lark`,    literal           bytes: the prefix of a canonical grammar
                      names of compiled grammars, which
                      are its parts
    union, concat, optional, repeat                         the parts; low and high

Every grammar of a compiler is made from its recipe (making.py) and keeps it, so that it can be made again elsewhere:

    {"llmask":"grammar","version":1,"tokenizer":"7dba...","canonical":false,"grammars":[             one line of JSON
     {"kind":"json_schema","texts":[18],"options":{"max_whitespace":1}},
     {"kind":"regex","texts":[3]},{"kind":"union","parts":[0,1]}]}\n
    {"type":"integer"}a+b                                                                            the texts, in a row

The last grammar is the one that was saved; parts are numbers of earlier ones. Texts are written as they are, so that
the whole is hardly longer than its sources. Nothing in it runs, and everything is checked: it may come from strangers.

In: what callers give, checked; bytes. Out: `Recipe`; bytes. Cost: that of reading and writing JSON.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from typing import Any, NamedTuple, NoReturn

from ..arguments import BYTES, check_type
from ..errors import GrammarError, LimitExceeded, LlmaskError
from ..frontends.json_schema import SchemaOptions
from ..frontends.json_schema.reading.inputs import is_like_text, json_text, schema_of
from ..frontends.json_schema.reading.registries import Described, Taken, described, registry_of
from ..limits import Limits

FORMAT = "grammar"
VERSION = 1
MOST_NESTED = 12  # levels of the line: the way to a document inside of another one has 7
MOST_GRAMMARS = 1000  # put together; each takes some ten thousand bytes while they are made
ANOTHER = "give what grammar.save() returned"
SCHEMA_OPTIONS = tuple(field.name for field in fields(SchemaOptions) if field.name not in ("registry", "limits"))
LARK_OPTIONS = ("start", "lexer", "ties")


class Recipe(NamedTuple):
    """How a grammar is made.

    kind     a line of the table above
    source   what was given, as a copy of our own
    options  how it is read; the limits left out
    parts    the grammars that it was put together from
    taken    of a schema with a registry: what was taken from that when it was compiled
    """

    kind: str
    source: Any = None
    options: Any = None
    parts: tuple[Recipe, ...] = ()
    taken: list[Taken] | tuple[()] = ()

    def in_order(self) -> list[Recipe]:
        """All parts, and parts of parts, each once and before what it is a part of; the recipe itself is last."""
        found: dict[int, Recipe] = {}
        waiting = [self]
        while waiting:
            here = waiting[-1]
            missing = [part for part in here.parts if id(part) not in found]
            if missing:
                waiting += missing
            else:
                found[id(waiting.pop())] = here
        return list(found.values())

    @property
    def lead(self) -> bytes:
        """The literal before a document, which only the prefix of a canonical grammar is; or nothing."""
        is_led = self.kind == "concat" and self.parts[0].kind == "literal"
        return bytes(self.parts[0].source) if is_led else b""

    def is_json(self) -> bool:
        """Whether sentences are JSON documents, the lead left aside."""
        document = self.parts[1] if self.lead else self
        return all(part.kind in ("json_schema", "union") for part in document.in_order())


Written = tuple[list[str], dict[str, Any]]  # of one recipe, its parts left out: texts, options in JSON's types


class Form(NamedTuple):
    """How recipes of a kind are written and read.

    source   the source as a text, and back; None: the kind has no source
    options  names and types
    n_parts  how many grammars it is put together from
    fits     whether a source and options of the right types are right
    wrong    what is said where they are not
    """

    source: tuple[Callable[[Any, str], str], Callable[[str], Any]] | None = None
    options: Mapping[str, tuple[type, ...]] | None = None
    n_parts: int = 0
    fits: Callable[[Any, Any], bool] = lambda source, options: True
    wrong: str = ""


def saved(recipe: Recipe | None, tokenizer: str, is_canonical: bool) -> bytes:
    """A recipe as bytes.

    Parameters
    ----------
    recipe : None is refused.
    tokenizer : the digest of the tokenizer that it is for.
    is_canonical : whether masks are.

    Raises
    ------
    LlmaskError : there is no recipe, or JSON has no form for something in it.
    LimitExceeded : there are too many grammars in it, or one is too large as text.
    """
    if recipe is None:
        raise LlmaskError(
            "the grammar was made of rules of this process, so it can be neither saved nor pickled",
            help="compile it with a Compiler: from a schema, a pattern or a text",
        )
    recipes = recipe.in_order()
    if len(recipes) > MOST_GRAMMARS:
        raise LimitExceeded(
            f"the grammar was put together from more than {MOST_GRAMMARS} grammars",
            help="write more of them as one grammar",
        )
    numbers = {id(one): number for number, one in enumerate(recipes)}
    entries, texts = [], []
    for one in recipes:
        written, options = _written(one)
        encoded = [text.encode("utf-8", "surrogatepass") for text in written]
        entry: dict[str, Any] = {"kind": one.kind}
        if encoded:
            entry["texts"] = [len(text) for text in encoded]
        if options:
            entry["options"] = options
        if one.parts:
            entry["parts"] = [numbers[id(part)] for part in one.parts]
        entries.append(entry)
        texts += encoded
    head = {"llmask": FORMAT, "version": VERSION, "tokenizer": tokenizer, "canonical": is_canonical}
    line = _json({**head, "grammars": entries}, "an option")
    return b"".join([line.encode("utf-8", "surrogatepass"), b"\n", *texts])


def loaded(data: Any, tokenizer: str, is_canonical: bool, limits: Limits, is_trusted: bool = False) -> Recipe:
    """The recipe in what was saved.

    Parameters
    ----------
    data : the bytes.
    tokenizer, is_canonical : of the compiler that is to make the grammar.
    limits : `max_schema_bytes` bounds the whole; nesting is bounded by what compiles it.
    is_trusted : it may be of any length.

    Raises
    ------
    GrammarError : it is nothing that was saved, or damaged.
    LimitExceeded : it is too long, or nests too deep.
    LlmaskError : it is for another tokenizer, or of another version of the format.
    """
    check_type(data, BYTES, "a saved grammar is bytes", ANOTHER)
    data = bytes(data)
    if len(data) > limits.max_schema_bytes and not is_trusted:
        raise LimitExceeded(
            f"the saved grammar has {len(data)} bytes, the limit is {limits.max_schema_bytes} "
            "(limits.max_schema_bytes)",
            help="split the grammar or raise the limit",
        )
    line, _, body = data.partition(b"\n")
    head = _read_head(line)
    if head.get("version") != VERSION or type(head["version"]) is not int:
        raise LlmaskError(
            f"the grammar was saved in version {head.get('version')!r:.40} of the format, this llmask reads {VERSION}",
            help="compile it from its source and save it again",
        )
    if head.get("tokenizer") != tokenizer:
        raise LlmaskError(
            "the grammar was saved for another tokenizer: the digest of its tokens is "
            f"{head.get('tokenizer')!r:.80}, not {tokenizer!r}",
            help="load it with a compiler for that tokenizer, or compile it from its source for this one",
        )
    if head.get("canonical") is not is_canonical:
        raise LlmaskError(
            f"the grammar was saved with canonical={not is_canonical}, and the compiler has canonical={is_canonical}",
            help=f"load it with Compiler(tokenizer, canonical={not is_canonical})",
        )
    return _read_grammars(head.get("grammars"), body, limits)


def _read_head(line: bytes) -> dict[str, Any]:
    def constant(spelled: str) -> NoReturn:
        raise ValueError(spelled)

    try:
        head = json.loads(line.decode("utf-8", "surrogatepass"), parse_constant=constant)
    except RecursionError:
        raise LimitExceeded("the saved grammar nests too deep", help=ANOTHER) from None
    except ValueError:  # UnicodeDecodeError and JSONDecodeError are such
        head = None
    if not isinstance(head, dict) or head.get("llmask") != FORMAT:
        raise GrammarError("this is no saved grammar", help=ANOTHER)
    _check_nesting(head)
    return head


def _check_nesting(head: Any) -> None:
    """Refuse what nests deeper than anything that is saved: a message that shows it would end in the interpreter."""
    level = [head]
    for _ in range(MOST_NESTED):
        level = [
            member
            for here in level
            for member in (here.values() if type(here) is dict else here)
            if type(member) in (dict, list)
        ]
    if level:
        raise LimitExceeded("the saved grammar nests too deep", help=ANOTHER)


def _damaged(what: str, number: int | None = None) -> GrammarError:
    where = None if number is None else f"grammar {number}"
    return GrammarError(f"the saved grammar is damaged: {what}", where, ANOTHER)


def _read_grammars(entries: Any, body: bytes, limits: Limits) -> Recipe:
    if type(entries) is not list or not entries:
        raise _damaged("it lists no grammars")
    if len(entries) > MOST_GRAMMARS:
        raise LimitExceeded(f"the saved grammar holds more than {MOST_GRAMMARS} grammars", help=ANOTHER)
    found: list[Recipe] = []
    at = 0
    for number, value in enumerate(entries):
        entry = _Entry(value, number)
        for length in entry.numbers("texts", len(body)):
            if at + length > len(body):
                raise _damaged("its texts end early", number)
            try:
                entry.texts.append(body[at : at + length].decode("utf-8", "surrogatepass"))
            except UnicodeDecodeError:
                raise _damaged("a text is not UTF-8", number) from None
            at += length
        entry.parts = tuple(found[part] for part in entry.numbers("parts", number - 1))
        found.append(_read(entry, limits))
        if entry.options:
            raise entry.damaged(f"it has no option {min(entry.options)!r:.40}")
    if at != len(body):
        raise _damaged("its texts go on after their end")
    return found[-1]


class _Entry:
    """One grammar of the list, whose fields are checked when they are read."""

    def __init__(self, value: Any, number: int) -> None:
        self.number = number
        if type(value) is not dict or not value.keys() <= {"kind", "texts", "options", "parts"}:
            raise self.damaged("it is no object of the known fields")
        self._value = value
        self.options: dict[str, Any] = value.get("options", {})
        if type(self.options) is not dict:
            raise self.damaged("its options are no object")
        kind = value.get("kind")
        if type(kind) is not str or kind not in FORMS:
            raise self.damaged(f"there is no kind {kind!r:.40}")
        self.kind: str = kind
        self.texts: list[str] = []
        self.parts: tuple[Recipe, ...] = ()

    def damaged(self, what: str) -> GrammarError:
        """The error that names it."""
        return _damaged(what, self.number)

    def numbers(self, name: str, most: int) -> list[int]:
        """A list of whole numbers up to `most`."""
        value = self._value.get(name, [])
        if type(value) is not list or not all(type(one) is int and 0 <= one <= most for one in value):
            raise self.damaged(f"{name} are no numbers up to {most}")
        return value

    def take(self, name: str, kinds: tuple[type, ...], otherwise: Any = None) -> Any:
        """An option of one of some types."""
        value = self.options.pop(name, otherwise)
        if type(value) not in kinds:
            raise self.damaged(f"the option {name} is {value!r:.40}")
        return value

    def rows(self, name: str, kinds: tuple[type, ...]) -> list[list[Any]]:
        """An option that is a list of rows, each of values of these types."""
        rows: list[list[Any]] = self.take(name, (list, type(None))) or []
        if not all(type(row) is list and tuple(map(type, row)) == kinds for row in rows):
            raise self.damaged(f"the option {name} is no list of what it should be")
        return rows

    def check_parts(self, n_parts: int) -> None:
        """Refuse another number of parts."""
        if len(self.parts) != n_parts:
            raise self.damaged(f"it has {len(self.parts)} parts")


def _json(value: Any, what: str) -> str:
    """A value as JSON text.

    Raises
    ------
    LlmaskError : JSON has no form for it.
    LimitExceeded : as text it would be much larger than it is in memory, or it nests too deep.
    """
    if not is_like_text(value):
        raise LimitExceeded(
            f"{what} holds itself, or the same part in too many places: as text it would be much larger",
            help="write what is in many places once, and refer to it with $ref",
        )
    try:
        return json_text(value, is_compact=True)
    except RecursionError:
        raise LimitExceeded(f"{what} nests too deep to be written as JSON", help="flatten it with $ref") from None
    except (TypeError, ValueError) as error:
        raise LlmaskError(
            f"{what} holds what JSON has no form for, so the grammar can be neither saved nor pickled: {error}",
            help="give the same in JSON's types: dict, list, str, int, float, bool, None",
        ) from None


# --- forms of kinds


def _written(recipe: Recipe) -> Written:
    if recipe.kind == "json_schema":
        return _write_schema(recipe)
    if recipe.kind == "lark":
        return _write_lark(recipe)
    form = FORMS[recipe.kind]
    texts = [] if form.source is None else [form.source[0](recipe.source, f"the source of kind {recipe.kind}")]
    return texts, recipe.options or {}


def _read(entry: _Entry, limits: Limits) -> Recipe:
    if entry.kind == "json_schema":
        return _read_schema(entry, limits)
    if entry.kind == "lark":
        return _read_lark(entry)
    form, source, options = FORMS[entry.kind], None, None
    entry.check_parts(form.n_parts)
    if form.source is None and entry.texts:
        raise entry.damaged("it has a text")
    if form.options is not None:
        options = {name: entry.take(name, kinds, USUAL.get(name)) for name, kinds in form.options.items()}
    if form.source is not None:
        if len(entry.texts) != 1:
            raise entry.damaged(f"it has {len(entry.texts)} texts")
        source = form.source[1](entry.texts[0])
    if not form.fits(source, options):
        raise entry.damaged(form.wrong)
    return Recipe(entry.kind, source, options, entry.parts)


def _write_schema(recipe: Recipe) -> Written:
    chosen, usual = recipe.options, SchemaOptions(limits=recipe.options.limits)
    options = {name: value for name in SCHEMA_OPTIONS if (value := getattr(chosen, name)) != getattr(usual, name)}
    texts = [_json(recipe.source, "the schema")]
    if chosen.registry is not None:
        options["documents"] = documents = []
        for one in described(recipe.taken):
            place = {} if one.inside is None else {"inside": one.inside, "way": one.way}
            documents.append({"uri": one.uri, "specification": one.specification, **place})
            if one.inside is None:
                texts.append(_json(one.contents, f"the document {one.uri}"))
    return texts, options


def _write_lark(recipe: Recipe) -> Written:
    options = {name: recipe.options[name] for name in LARK_OPTIONS if recipe.options[name] is not None}
    texts = [recipe.source]
    grammars, folder = recipe.options["grammars"], recipe.options["folder"]
    if recipe.parts:
        options["compiled"] = list(recipe.options["compiled"])
    if grammars is not None:
        options["grammars"] = [[name, isinstance(value, str)] for name, value in grammars.items()]
        texts += [
            value if isinstance(value, str) else _json(value, f"the grammar @{name}")
            for name, value in grammars.items()
        ]
    if folder is not None:
        options["files"] = [[*key, read.folder] for key, read in folder.reads.items()]
        texts += [read.text for read in folder.reads.values()]
    return texts, options


def _read_schema(entry: _Entry, limits: Limits) -> Recipe:
    entry.check_parts(0)
    documents = entry.take("documents", (list, type(None)))
    options: dict[str, Any] = {name: entry.options.pop(name) for name in SCHEMA_OPTIONS if name in entry.options}
    rest = iter(entry.texts)
    schema = _value_of(next(rest, ""))
    taken: list[Taken] | tuple[()] = ()
    if documents is not None:
        options["registry"], taken = registry_of([_read_document(entry, one, rest) for one in documents]), []
    if next(rest, None) is not None:
        raise entry.damaged("it has more texts than documents")
    return Recipe("json_schema", schema, SchemaOptions(**options, limits=limits), taken=taken)


def _read_document(entry: _Entry, value: Any, texts: Iterator[str]) -> Described:
    if type(value) is not dict:
        raise entry.damaged("a document is no object")
    uri, specification, way = value.get("uri"), value.get("specification"), value.get("way", [])
    inside = value.get("inside")
    if type(uri) is not str or type(specification) is not str or type(way) is not list:
        raise entry.damaged("a document has no uri or no specification")
    if inside is None:
        return Described(uri, specification, _value_of(next(texts, "")), None, [])
    if type(inside) is not int or inside < 0 or not all(type(key) in (str, int) for key in way):
        raise entry.damaged("a document is in no other one")
    return Described(uri, specification, None, inside, way)


def _value_of(text: str) -> Any:
    return schema_of(text, len(text))  # the whole was measured before


def _read_lark(entry: _Entry) -> Recipe:
    from ..frontends.lark.definitions import Folder, Read

    compiled: list[Any] = entry.take("compiled", (list, type(None))) or []
    if not all(map(is_spelled, compiled)) or len(set(compiled)) < len(compiled):
        raise entry.damaged("the option compiled is no list of names")
    entry.check_parts(len(compiled))
    start, lexer = entry.take("start", (str,), "start"), entry.take("lexer", (str,), "greedy")
    options = {"start": start, "lexer": lexer, "ties": entry.take("ties", (str, type(None)))}
    if lexer not in ("greedy", "exact") or options["ties"] not in ("first", "all", None):
        raise entry.damaged("there is no such lexer, or no such ties")
    rest = iter(entry.texts)
    text = next(rest, "")
    grammars: dict[str, Any] | None = None
    for name, is_text in entry.rows("grammars", (str, bool)):
        grammars = {} if grammars is None else grammars
        given = next(rest, "")
        grammars[name] = given if is_text else _value_of(given)
    if not (grammars or {}).keys().isdisjoint(compiled):
        raise entry.damaged("a name is given twice")
    reads: dict[tuple[str, str], Read] = {}
    for place, path, folder in entry.rows("files", (str, str, str)):
        reads[place, path] = Read(next(rest, ""), folder)
    if next(rest, None) is not None:
        raise entry.damaged("it has more texts than grammars and files")
    folder = Folder(None, reads) if reads else None
    options |= {"grammars": grammars, "folder": folder, "compiled": tuple(compiled)}
    return Recipe("lark", text, options, entry.parts)


def is_spelled(text: Any) -> bool:
    """Whether it is a text without lone surrogates."""
    return type(text) is str and not any(0xD800 <= ord(letter) < 0xE000 for letter in text)


def _are_choices(source: Any, options: Any) -> bool:
    return type(source) is list and bool(source) and all(map(is_spelled, source))


def _bytes_of(text: str) -> bytes | None:
    try:
        return bytes.fromhex(text)
    except ValueError:
        return None


USUAL = {"property_order": "declared", "unsupported": "error"}  # of tools, where an earlier version says nothing
TEXT = (lambda source, what: source), str
JSON = _json, _value_of
HEXADECIMAL = (lambda source, what: source.hex()), _bytes_of
FORMS: dict[str, Form] = {
    **dict.fromkeys(("json_schema", "lark"), Form()),  # which have functions of their own
    **dict.fromkeys(("gbnf", "ebnf"), Form(TEXT)),
    "regex": Form(
        *(TEXT, {"method": (str,)}),
        fits=lambda source, options: options["method"] in ("fullmatch", "search"),
        wrong="there is no such method",
    ),
    "choice": Form(JSON, fits=_are_choices, wrong="its choices are no texts"),
    "structural_tag": Form(JSON),
    "tools": Form(
        JSON,
        {
            "model": (str,),
            "tool_choice": (str, dict),
            "parallel": (bool,),
            "reasoning": (bool, str),
            "property_order": (str,),
            "unsupported": (str,),
        },
    ),
    "literal": Form(
        HEXADECIMAL, fits=lambda source, options: source is not None, wrong="its bytes are not hexadecimal"
    ),
    **dict.fromkeys(("union", "concat"), Form(n_parts=2)),
    "optional": Form(n_parts=1),
    "repeat": Form(options={"low": (int,), "high": (int, type(None))}, n_parts=1),
}
