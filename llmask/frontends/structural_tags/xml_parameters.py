r"""A JSON schema of an object in which models write each property as an element: the styles `*_xml` of XGrammar.

    <parameter=city>Paris</parameter>
    <parameter=days>3</parameter>

Properties come in the order of the schema, required ones always. A string is written as it is, up to the end of its
element; everything else is JSON. White space may stand between elements, and around values that are not free strings.
Properties that are not declared are allowed where `additionalProperties` says so, or where `properties` is missing.
A schema whose type is another one than an object is that of one value, with no element around it; a string then does
not hold the end of the tag around it, either.
Source: XGrammar 0.2.8, cpp/converter_ext/xml_tool_calling.cc; Qwen3-Coder's, GLM-4.5's, MiniMax-M2's and
DeepSeek-V3.2's chat templates.

Deliberate differences: a value that may be a string or something else is any text, as every text is then a value; names
that are not declared come after those that are, and are no declared ones; keywords that bind several properties
together (minProperties, dependentRequired, allOf, ...) are refused, as are those that make a string of a kind that this
file does not know.

In: a schema. Out: an expression. Cost: that of the values' schemas.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from llmask.errors import GrammarError, LimitExceeded, UnsatisfiableSchema, UnsupportedSchema
from llmask.frontends.json_schema.formats import FORMATS
from llmask.frontends.json_schema.reading.pointers import Path, pointer
from llmask.frontends.regex import compile_pattern
from llmask.grammar.exact.fusing import exact_rules
from llmask.grammar.expressions import (
    Choice,
    Expression,
    Grammar,
    Inclusion,
    Lexeme,
    Repeat,
    Sequence,
    choice,
    optional,
    sequence,
)
from llmask.grammar.expressions import written as as_text
from llmask.grammar.inclusion import derives_nothing_too
from llmask.grammar.kinds import CALL, SCAN
from llmask.grammar.lower import lower
from llmask.grammar.tails import Network
from llmask.regex.code_points import TEXT
from llmask.regex.free_text import free_text
from llmask.regex.utf8 import utf8_char, utf8_literal
from llmask.work import spend

if TYPE_CHECKING:
    from llmask.regex.nodes import RegexNodes


class Style(NamedTuple):
    """How an element is written.

    begin, end : the element's; `{name}` stands for the property, `{is_string}` for true or false, and white space may
        stand in place of a tab.
    """

    begin: str
    end: str

    @property
    def tells_strings(self) -> bool:
        """Whether the element says that its value is a string."""
        return "{is_string}" in self.begin


STYLES = {
    "qwen_xml": Style("<parameter={name}>", "</parameter>"),
    "minimax_xml": Style('<parameter name="{name}">', "</parameter>"),
    "glm_xml": Style("<arg_key>{name}</arg_key>\t<arg_value>", "</arg_value>"),
    "deepseek_xml": Style('<｜DSML｜parameter name="{name}" string="{is_string}">', "</｜DSML｜parameter>"),
    "deepseek_v4_1_xml": Style('<｜DSML｜ parameter name="{name}" string="{is_string}">', "</｜DSML｜ parameter>"),
}
WHITE_SPACE = 1 << 0x20 | 1 << 0x0A | 1 << 0x0D | 1 << 0x09
NAME = "[a-zA-Z_][a-zA-Z0-9_]*"
TYPES = ("string", "number", "integer", "boolean", "null", "array", "object")
ANNOTATIONS = frozenset(
    (
        "title",
        "description",
        "default",
        "examples",
        "deprecated",
        "readOnly",
        "writeOnly",
        "$comment",
        "$schema",
        "$id",
        "$defs",
        "definitions",
    )
)
OF_STRINGS = frozenset(("pattern", "format", "minLength", "maxLength"))
OF_OBJECTS = frozenset(("type", "properties", "required", "additionalProperties"))
URN = "urn:llmask:parameters"
MOST_REFERENCES = 100  # one behind the other
VALUE_WORK = 10  # units for a schema of a value, each time that it is referred to


# by keyword, what its value has to be
SHAPES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "type": ("a type or a list of types", lambda value: _are_types(value if isinstance(value, list) else [value])),
    "properties": ("an object with schemas", lambda value: isinstance(value, dict)),
    "$defs": ("an object with schemas", lambda value: isinstance(value, dict)),
    "required": ("a list of names", lambda value: isinstance(value, list) and all(type(one) is str for one in value)),
    "enum": ("a list", lambda value: isinstance(value, list)),
    "anyOf": ("a list of schemas", lambda value: isinstance(value, list)),
    "oneOf": ("a list of schemas", lambda value: isinstance(value, list)),
    "pattern": ("a string", lambda value: type(value) is str),
    "format": ("a string", lambda value: type(value) is str),
    "$id": ("a string", lambda value: type(value) is str),
}


def _are_types(values: list[Any]) -> bool:
    return all(type(value) is str and value in TYPES for value in values)


class Value(NamedTuple):
    """What a property may hold: the strings, None for none, and a schema of everything else, None for nothing.

    is_free    every text is one of the strings
    """

    strings: Expression | None
    other: Any
    is_free: bool = False


class XmlParameters:
    """One schema on its way to an expression.

    Parameters
    ----------
    schema : of an object.
    path : where it stands, for errors.
    style : a name of STYLES.
    json_value : makes the expression of a JSON schema, given the schema and its path.
    max_whitespace : bytes of white space in a row.
    ends : of the tag around it.
    """

    def __init__(
        self,
        nodes: RegexNodes,
        schema: Any,
        path: Path,
        style: str,
        json_value: Callable[[Any, Path], Expression],
        max_whitespace: int,
        ends: tuple[str, ...] = (),
    ) -> None:
        self.nodes = nodes
        self.root = {} if schema is True else schema
        self.path = path
        self.style = STYLES[style]
        self.json_value = json_value
        blank = nodes.repeat(nodes.byte_set(WHITE_SPACE), 0, max_whitespace)
        self.blank = Lexeme(blank, f"/[ \\n\\r\\t]{{0,{max_whitespace}}}/")
        self.ends = tuple(dict.fromkeys([self.style.end, *(text for text in ends if text and self._is_lone())]))
        written = "|".join(self.ends).replace("</", "<\\/")
        self.text = Lexeme(free_text(nodes, [], [text.encode() for text in self.ends]).text, f"/(?s:(?!{written}).)*/")

    def expression(self) -> Expression:
        """What derives the elements.

        Raises
        ------
        UnsupportedSchema : it uses what cannot be written so.
        UnsatisfiableSchema : no object fulfils it.
        """
        root = self.root
        if self._is_lone():
            return self._lone()
        if not isinstance(root, dict) or root.get("type", "object") not in ("object", ["object"]):
            self._refuse("parameters are the properties of an object", self.path, 'write {"type": "object", ...}')
        self._check(root, self.path)
        for name in root:
            if name not in OF_OBJECTS and name not in ANNOTATIONS:
                self._refuse(
                    f'"{name}" is not enforced where properties are elements', (self.path, name), "take it out"
                )
        properties = root.get("properties", {})
        required = list(root.get("required", ()))
        others = root.get("additionalProperties", "properties" not in root)
        parts: list[Expression] = []
        for name in dict.fromkeys([*properties, *required]):
            schema = properties.get(name, others)
            path: Path = (self.path, "properties", name) if name in properties else (self.path, "required")
            if schema is False and name in required:
                raise UnsatisfiableSchema(
                    f'no object fulfils the schema: "{name}" is required and not allowed', pointer(path), "allow it"
                )
            if schema is not False:
                element = self._element(self._spelled(name), name, schema, path)
                parts.append(element if name in required else optional(element))
        self._check_names([*properties, *required], others is not False)
        if others is not False:
            known = [self._spelled(name) for name in properties] + [self._spelled(name) for name in required]
            node = compile_pattern(self.nodes, NAME)
            if known:
                node = self.nodes.without(node, known)
            parts.append(Repeat(self._element(node, f"/{NAME}/", others, (self.path, "additionalProperties"))))
        if not parts:
            return self.blank
        rules = lower(self.nodes, Grammar({"start": sequence(parts)})).rules
        elements = Inclusion(rules, f"elements {json.dumps(self.root, default=str)}", is_prefix_code=True)
        return sequence([optional(elements) if derives_nothing_too(rules) else elements, self.blank])

    def _check_names(self, names: Iterable[str], are_others_allowed: bool) -> None:
        """Refuse a name that, with the mark after it, begins another name."""
        behind = self.style.begin.partition("{name}")[2].partition("\t")[0].partition("{is_string}")[0]
        begun = sorted({name + behind for name in names})
        for shorter, longer in pairwise([NAME if are_others_allowed else "", *begun]):
            is_begun = re.match(f"{NAME}{re.escape(behind)}.", longer, re.DOTALL) is not None
            if (shorter and longer.startswith(shorter)) or (are_others_allowed and is_begun):
                self._refuse(
                    f"the name {longer.removesuffix(behind)!r} begins like another one that ends",
                    (self.path, "properties"),
                    f"take {behind[0]!r} out of it",
                )

    def _is_lone(self) -> bool:
        """Whether the schema is of one value that is no object, as Kimi K3 has arguments, each in a tag of its own."""
        types = self.root.get("type", "object") if isinstance(self.root, dict) else "object"
        listed = types if isinstance(types, list) else [types]
        return bool(listed) and _are_types(listed) and "object" not in listed

    def _lone(self) -> Expression:
        """One value without an element around it: a string as it is, everything else as JSON."""
        value = self._value(self.root, self.path, 0)
        options = [] if value.strings is None else [self.text if value.is_free else value.strings]
        if value.other is not None and not value.is_free:
            options.append(self.json_value(self._whole(value.other), self.path))
        if not options:
            raise UnsatisfiableSchema("no value fulfils the schema", pointer(self.path), "allow one")
        return choice(options)

    def _check(self, schema: Mapping[str, Any], path: Path) -> None:
        """Refuse keywords with values of the wrong kind."""
        for name, (wanted, is_right) in SHAPES.items():
            if name in schema and not is_right(schema[name]):
                raise GrammarError(f'"{name}" is {wanted}', pointer(path, name), "write one")

    def _refuse(self, message: str, path: Path, help: str) -> NoReturn:
        raise UnsupportedSchema(message, pointer(path), help)

    def _element(self, name: int, written: str, schema: Any, path: Path) -> Expression:
        value = self._value(schema, path, 0)
        options: list[Expression] = []
        if self.style.tells_strings:
            if value.strings is not None:
                options.append(sequence([*self._begin(name, written, "true"), self._ended([value.strings])]))
            if value.other is not None:
                options.append(sequence([*self._begin(name, written, "false"), *self._padded(value.other, path)]))
        else:
            found = self._one_way(value, path)
            options = [sequence([*self._begin(name, written, ""), one]) for one in found]
        if not options:
            raise UnsatisfiableSchema("no value fulfils the schema", pointer(path), "allow one")
        return choice(options)

    def _one_way(self, value: Value, path: Path) -> list[Expression]:
        """What may stand between the marks, with the second one, where the first does not tell strings from all else.

        Of two of them none is the beginning of the other: text holds the mark that ends it.
        """
        if value.is_free:
            return [self._ended([self.text])]
        if value.strings is None:
            return [] if value.other is None else [sequence(self._padded(value.other, path))]
        if value.other is None:
            return [self._ended([self.blank, value.strings, self.blank])]
        other = self.json_value(self._whole(value.other), path)
        scalars = _scalars(self.nodes, other)
        if scalars is not None:
            return [self._ended([self.blank, choice([value.strings, scalars]), self.blank])]
        end = self._literal(self.style.end)
        both = choice(sequence([self.blank, one, self.blank, end]) for one in (value.strings, other))
        try:
            return [Inclusion(exact_rules(self.nodes, Grammar({"start": both})).rules, "a string or another value")]
        except GrammarError:
            self._refuse(
                "some strings and some arrays or objects cannot be told apart here",
                path,
                "take either out, or allow every string",
            )
        except LimitExceeded as error:
            raise LimitExceeded(error.message, pointer(path), error.help) from None

    def _ended(self, parts: list[Expression]) -> Expression:
        """A text with the mark that ends it, as one lexeme."""
        nodes = [*(_node(self.nodes, part) for part in parts), self._spelled(self.style.end)]
        node = self.nodes.concat(nodes)
        self.nodes.put_prefix_code(node)
        return Lexeme(node, f"{as_text(sequence(parts))} {json.dumps(self.style.end)}")

    def _begin(self, name: int, written: str, is_string: str) -> list[Expression]:
        before, _, behind = self.style.begin.partition("{name}")
        first, tab, second = behind.replace("{is_string}", is_string).partition("\t")
        # with the blanks before it, as other text may begin with some, too
        node = self.nodes.concat([self.blank.node, self._spelled(before), name, self._spelled(first)])
        begin = Lexeme(node, json.dumps(before + written + first, ensure_ascii=False))
        return [begin, *([self.blank, self._literal(second)] if tab else [])]

    def _spelled(self, text: str) -> int:
        if any("\ud800" <= letter <= "\udfff" for letter in text):
            raise GrammarError(f"{text!r} holds a lone surrogate, which is no text", pointer(self.path), "take it out")
        return utf8_literal(self.nodes, text)

    def _literal(self, text: str) -> Expression:
        return Lexeme(self._spelled(text), json.dumps(text, ensure_ascii=False))

    def _padded(self, schema: Any, path: Path) -> list[Expression]:
        value = self.json_value(self._whole(schema), path)
        return [self.blank, value, self.blank, self._literal(self.style.end)]

    def _whole(self, schema: Any) -> Any:
        """A part of the schema as a document: what it refers to stands beside it."""
        if '"$ref"' not in json.dumps(schema, default=str):
            return schema
        spend(len(self.root.get("$defs", {})) + len(self.root) // 8)
        name = "value"
        while name in self.root.get("$defs", {}):
            name += "_"
        uri = self.root.get("$id", URN)
        inside = {**self.root, "$id": uri, "$defs": {**self.root.get("$defs", {}), name: schema}}
        return {"$ref": f"{uri}#/$defs/{name}", "$defs": {"parameters": inside}}

    # --- values

    def _value(self, schema: Any, path: Path, n_references: int) -> Value:
        """What a schema allows, strings apart from all else."""
        spend(VALUE_WORK)
        if schema is True:
            schema = {}
        if schema is False:
            return Value(None, None)
        if not isinstance(schema, dict):
            self._refuse("a schema is an object or a boolean", path, "write {...}")
        self._check(schema, path)
        keywords = {name for name in schema if name not in ANNOTATIONS}
        if keywords == {"$ref"}:
            return self._value(*self._referred(schema["$ref"], path, n_references), n_references + 1)
        types = schema.get("type", list(TYPES))
        types = [types] if isinstance(types, str) else types
        if "string" not in types:
            return Value(None, schema)
        if keywords - {"type"} in ({"enum"}, {"const"}):
            values = [schema["const"]] if "const" in schema else schema["enum"]
            return self._listed(values, types, path)
        if keywords - {"type"} in ({"anyOf"}, {"oneOf"}):
            name = "anyOf" if "anyOf" in schema else "oneOf"
            members = [
                self._value(member, (path, name, at), n_references + 1) for at, member in enumerate(schema[name])
            ]
            strings = [member.strings for member in members if member.strings is not None]
            others = [member.other for member in members if member.other is not None]
            return Value(
                choice(strings) if strings else None,
                {name: others} if others else None,
                any(member.is_free for member in members),
            )
        unknown = keywords - {"type"} - OF_STRINGS
        if types != ["string"] and keywords - {"type"}:
            unknown = keywords - {"type"}
        if unknown:
            self._refuse(
                f'"{min(unknown)}" is not enforced for a value that may be a string', path, "give it another type"
            )
        rest = [name for name in types if name != "string"]
        other = {"type": rest} if rest else None
        return Value(self._string(schema, path), other, not keywords & OF_STRINGS)

    def _referred(self, reference: Any, path: Path, n_references: int) -> tuple[Any, Path]:
        """The schema that a reference names, which is in the same document."""
        if not isinstance(reference, str) or not reference.startswith("#") or n_references > MOST_REFERENCES:
            self._refuse(
                f"the reference {reference!r} is not followed here", (path, "$ref"), "write it as #/$defs/name"
            )
        here = self.root
        found = self.path
        for part in reference[1:].split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            if not isinstance(here, Mapping) or key not in here:
                self._refuse(f"the reference {reference!r} leads nowhere", (path, "$ref"), "define it")
            here, found = here[key], (found, key)
        return here, found

    def _listed(self, values: Iterable[Any], types: Iterable[str], path: Path) -> Value:
        # a text with a mark in it cannot be written: whoever reads it takes the mark for the end
        strings = [value for value in values if isinstance(value, str) and not any(end in value for end in self.ends)]
        others = [value for value in values if not isinstance(value, str)]
        texts = [self._literal(text) if text else Lexeme(self.nodes.EPSILON, '""') for text in strings]
        rest = [name for name in types if name != "string"]
        return Value(choice(texts) if texts else None, {"type": rest, "enum": others} if others and rest else None)

    def _string(self, schema: Mapping[str, Any], path: Path) -> Expression:
        """Strings of a schema with the type "string"."""
        nodes = self.nodes
        parts, written = [self.text.node], []
        if "pattern" in schema:
            parts.append(compile_pattern(nodes, schema["pattern"], "ecma"))
            written.append(schema["pattern"])
        if "format" in schema:
            pattern = FORMATS.get(schema["format"], None)
            if not isinstance(pattern, str):
                self._refuse(
                    f'the format "{schema["format"]}" is not enforced where properties are elements',
                    (path, "format"),
                    "say it with a pattern",
                )
            parts.append(compile_pattern(nodes, pattern, "ecma"))
            written.append(schema["format"])
        low, high = schema.get("minLength", 0), schema.get("maxLength")
        if low or high is not None:
            for name in ("minLength", "maxLength"):
                if name in schema and (type(schema[name]) is not int or schema[name] < 0):
                    self._refuse(f'"{name}" is a whole number that is not negative', (path, name), "write one")
            if high is not None and high < low:
                raise UnsatisfiableSchema("no string is so long and so short", pointer(path), "raise maxLength")
            parts.append(nodes.repeat(utf8_char(nodes, TEXT), low, high))
            written.append(f".{{{low},{'' if high is None else high}}}")
        if len(parts) == 1:
            return self.text
        return Lexeme(nodes.intersect(parts), f"/{' & '.join(written)}/".replace("\n", "\\n"))


def _node(nodes: RegexNodes, expression: Expression) -> int:
    """What lexemes in rows and choices match."""
    if isinstance(expression, Lexeme):
        return expression.node
    if isinstance(expression, Choice):
        return nodes.union([_node(nodes, option) for option in expression.options])
    assert isinstance(expression, Sequence), "strings and blanks are nothing else"
    return nodes.concat([_node(nodes, part) for part in expression.parts])


def _scalars(nodes: RegexNodes, value: Expression) -> Expression | None:
    """The values of a JSON schema as one lexeme, where they are scalars; else None."""
    assert isinstance(value, Inclusion)
    network = Network(value.rules)
    starts = network.rules.rule_starts
    found: set[int] = set()
    used = {starts[network.rules.start]}
    waiting = list(used)
    while waiting:
        for edge in network.edges[waiting.pop()]:
            if edge.kind not in (SCAN, CALL) or network.edges[edge.target] or not network.finals[edge.target]:
                return None
            if edge.kind == SCAN:
                found.add(edge.symbol)
            elif starts[edge.symbol] not in used:
                used.add(starts[edge.symbol])
                waiting.append(starts[edge.symbol])
    return Lexeme(nodes.union(sorted(found)), value.text) if found else None
