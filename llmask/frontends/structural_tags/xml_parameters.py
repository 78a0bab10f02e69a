r"""A JSON schema of an object in which models write each property as an element: the styles `*_xml` of XGrammar.

    <parameter=city>Paris</parameter>
    <parameter=days>3</parameter>

The schema is read as any other (json_schema/), and the rules of its object are written with elements in place of
members: brackets, commas and colons are left out, and a key is the mark that begins its element. A value that is a
string is its text, up to the mark that ends the element; everything else is JSON. White space may be between
elements and around values that are not free strings. A value that may be any string is any text, even where it may be
something else, too, unless the style tells strings. A schema whose type is another one than an object is that of one
value, with no element around it; a string then does not hold the end of the tag around it, either.

Of two lexemes that are expected at one place none is the beginning of the other: text holds the mark that ends it, and
names their own.

A schema that declares properties allows others only where it says so. Keys that it does not declare are identifiers;
keys of a pattern hold no blanks, quotes or angle brackets.

Source: XGrammar 0.2.8, cpp/converter_ext/xml_tool_calling.cc; Qwen3-Coder's, GLM-4.5's, MiniMax-M2's and
DeepSeek-V3.2's chat templates, and vLLM's parsers of them for the line breaks that are taken off.

In: a schema. Out: an expression. Cost: that of compiling the schema, and each value in it.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from llmask.errors import GrammarError, LimitExceeded, UnsatisfiableSchema, UnsupportedSchema
from llmask.frontends.json_schema import check_productive
from llmask.frontends.json_schema.lexical.strings import free_string
from llmask.frontends.json_schema.meaning.conjunction import conjunction_of, strings_of
from llmask.frontends.json_schema.meaning.evaluated import NO_OTHERS, SPEAK_OF_OTHERS, closed
from llmask.frontends.json_schema.meaning.place import ALL_TYPES, ONE_TYPE, types_of
from llmask.frontends.json_schema.meaning.synthetic import schema_of_value
from llmask.frontends.json_schema.reading.pointers import ROOT, Path, keys_of, pointer
from llmask.frontends.json_schema.writing.translation import Translation
from llmask.frontends.json_schema.writing.values import values_of
from llmask.frontends.json_schema.writing.writer import Span
from llmask.frontends.regex import compile_pattern
from llmask.frontends.regex.json_strings import RAW_STYLE
from llmask.grammar.exact.fusing import exact_rules
from llmask.grammar.expressions import (
    Choice,
    Expression,
    Grammar,
    Inclusion,
    Lexeme,
    Sequence,
    choice,
    optional,
    sequence,
)
from llmask.grammar.expressions import written as as_text
from llmask.grammar.inclusion import derives_nothing_too, include
from llmask.grammar.kinds import CALL, EDGE_FIELDS, SCAN, SKIP, RuleId, StateId
from llmask.grammar.late import lower
from llmask.grammar.rules import Rules, compares_values, each_edge
from llmask.grammar.tails import Network
from llmask.regex.utf8 import utf8_literal
from llmask.regex.word_lists import free_text

if TYPE_CHECKING:
    from llmask.frontends.json_schema.meaning.place import Part, SchemaAt
    from llmask.frontends.json_schema.reading.options import SchemaOptions
    from llmask.regex.nodes import RegexNodes


class Style(NamedTuple):
    """How an element is written.

    begin, end : of the element; `{name}` is for the property, `{is_string}` for true or false, and white space may
        be in place of a tab.
    strips_line : whether a line break at either end of a text is no part of it.
    """

    begin: str
    end: str
    strips_line: bool = False

    @property
    def tells_strings(self) -> bool:
        """Whether the element says that its value is a string."""
        return "{is_string}" in self.begin

    def parts(self) -> tuple[str, str, str, str]:
        """The texts around a name and before its value.

        Returns the text before the name, the text after it, the text before the value that white space may precede,
        and the text before the value after `{is_string}`; the last two are empty where the style has none.
        """
        before, _, after = self.begin.partition("{name}")
        if self.tells_strings:
            first, _, second = after.partition("{is_string}")
            return before, first, "", second
        first, _, second = after.partition("\t")
        return before, first, second, ""


STYLES = {
    "qwen_xml": Style("<parameter={name}>", "</parameter>", strips_line=True),
    "minimax_xml": Style('<parameter name="{name}">', "</parameter>"),
    "glm_xml": Style("<arg_key>{name}</arg_key>\t<arg_value>", "</arg_value>"),
    "deepseek_xml": Style('<｜DSML｜parameter name="{name}" string="{is_string}">', "</｜DSML｜parameter>"),
    "deepseek_v4_1_xml": Style('<｜DSML｜ parameter name="{name}" string="{is_string}">', "</｜DSML｜ parameter>"),
}
WHITE_SPACE = 1 << 0x20 | 1 << 0x0A | 1 << 0x0D | 1 << 0x09
NAME = "[a-zA-Z_][a-zA-Z0-9_]*"
NAME_OF_PATTERN = r"[^\s<>\"']+"
NO_STRING = {"type": [name for name in ALL_TYPES if name != "string"]}
REFERS = frozenset(("$schema", "$id", "id"))  # what a part of a schema has to know of it, references aside
MARKS = ("{", "}", ",", ":", "value")  # lexemes that no text has, until elements take their places

JsonValue = Callable[[Any, Path, "list[SchemaAt] | None"], Inclusion]


class Form(NamedTuple):
    """How the documents of a schema are written.

    style : "json", or a name of STYLES.
    excluded : texts that no string holds.
    ends : of the tag around it, which no text of an element holds, either.
    is_read : a text that is not free has no white space around it but what the style takes off; as XGrammar has it,
        any.
    name : of whose arguments they are, for people.
    """

    options: SchemaOptions
    style: str = "json"
    excluded: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    is_read: bool = False
    name: str = ""


class Elements(Translation):
    """An object on its way to rules in which members are elements.

    Parameters
    ----------
    schema : of the object, or of one value.
    json_value : makes the expression of a schema's JSON, given the schema, its path, and what else holds there.
    lowered : the rules of each value that was written so far, also in other schemas; gains the rules of this one.
    """

    def __init__(
        self, nodes: RegexNodes, schema: Any, form: Form, json_value: JsonValue, lowered: dict[Expression, Rules]
    ) -> None:
        options = replace(form.options, closed=True)
        super().__init__(nodes.variant(RAW_STYLE), {} if schema is True else schema, options)
        self.lexemes = nodes  # with the memo that whoever reads the rules asks
        self.is_in_order = options.property_order == "schema"
        self.keys = {}  # of this schema alone
        self.style = STYLES[form.style]
        self.form = form
        self.json_value = json_value
        self.lowered = lowered
        self.open, self.close, self.comma, self.colon, self.held = (
            nodes.literal(b"\xff" + mark.encode()) for mark in MARKS
        )
        self.punctuation = self.punctuation._replace(
            open_object=self.open, close_object=self.close, comma=self.comma, colon=self.colon
        )
        most = options.max_whitespace
        self.blank = Lexeme(nodes.repeat(nodes.byte_set(WHITE_SPACE), 0, most), f"/[ \\n\\r\\t]{{0,{most}}}/")
        self.ends = tuple(dict.fromkeys(filter(None, (self.style.end, *form.ends, *form.excluded))))
        written = "|".join(map(re.escape, self.ends))
        self.text = Lexeme(free_text(nodes, [], [text.encode() for text in self.ends]).text, f"/(?s:(?!{written}).)*/")
        self.values: dict[RuleId, Expression] = {}

    def expression(self) -> Expression:
        """What derives the elements, or the one value.

        Raises
        ------
        UnsupportedSchema : it uses what cannot be written so.
        UnsatisfiableSchema : nothing fulfils it.
        """
        if is_lone(self.schema):
            return self._lone()
        rules = self._with_elements(self.run())
        if not any(kind == SCAN for kind in rules.edges[1::EDGE_FIELDS]):
            return self.blank
        elements = Inclusion(rules, f"elements {json.dumps(self.schema, default=str)}", is_prefix_code=True)
        return sequence([optional(elements) if derives_nothing_too(rules) else elements, self.blank])

    def _lone(self) -> Expression:
        """One value without an element around it: a string as it is, everything else as JSON."""
        texts, is_free, other = self._told_apart([(self.schema, ROOT)])
        options: list[Expression] = [] if texts is None else [texts]
        if other is not None and not is_free:
            options.append(other)
        if not options:
            raise UnsatisfiableSchema("no value fulfils the schema", pointer(ROOT), "allow one")
        return choice(options)

    # --- the object, as the translation asks for it

    def closed(self, schemas: list[SchemaAt]) -> list[SchemaAt]:
        """The object takes no keys but those it declares; values are left as they are."""
        if schemas is not self._root:
            return schemas
        schema, path = schemas[0]
        if type(schema) is not dict or any(word in schema for word in SPEAK_OF_OTHERS):
            return schemas
        beside = [value for name, value in schema.items() if name not in ("properties", "$defs", "definitions")]
        text = json.dumps(beside, default=str)
        if "properties" in schema and "roperties" not in text and 'ef"' not in text:  # what is beside declares none
            return [(self.synthetic("closed root", lambda: {**schema, **NO_OTHERS}), path)]
        return closed(self, schemas)

    def any_rule(self) -> RuleId:
        """Rule of every object."""
        return self.rule_of(self.synthetic("any object", lambda: [({"type": "object"}, ROOT)]))

    def _write_parts(self, parts: list[Part], span: Span) -> None:
        """Objects that are listed are written as their schemas."""
        if not any(shape.has_values for _, _, shape in parts):
            return super()._write_parts(parts, span)
        path = parts[0][1]
        self.nothing("no listed value is an object that fulfils the other keywords", path, "list one")
        for value in values_of(self, parts):
            if type(value) is dict:
                schema = schema_of_value(self, value, path)
                self._write_type("object", [(schema, path, self.shape(schema, path))], span)
        return None

    def _write_type(self, kind: str, parts: list[Part], span: Span) -> None:
        if kind == "object":
            return super()._write_type(kind, parts, span)
        return self.nothing("arguments are an object", parts[0][1] if parts else ROOT, 'write {"type": "object", ...}')

    def place(self, schemas: list[SchemaAt], rule: RuleId, start: StateId, end: StateId, depth: int) -> None:
        """Let a value stand between two states: a rule of its own, whose lexeme is written at the end."""
        self.count_work()
        self.rules.call(start, self.own_rule(("value", self.place_key(schemas)), lambda: self._value(schemas)), end)

    def _of(self) -> str:
        return f" of {self.form.name}" if self.form.name else ""

    def _value(self, schemas: list[SchemaAt]) -> RuleId:
        path = schemas[0][1] if schemas else ROOT
        of = self._of()
        rule, start, end, _ = self.new_rule(f"parameter {keys_of(path)[0][0]}{of}" if path else f"parameter{of}")
        options = self._element(schemas, path)
        if options:
            self.values[rule] = choice(options)
            self.rules.scan(start, self.held, end)
        return rule

    def _with_elements(self, rules: Rules) -> Rules:
        """The rules of the object, with elements in place of members."""
        check_productive(self)
        if compares_values(rules):
            raise UnsupportedSchema(
                "keys that are not declared cannot be told apart where properties are elements",
                pointer(ROOT),
                'declare the keys, or take "minProperties" and "unevaluatedProperties" out',
            )
        written, rules.edges = rules.edges, array("i")
        rules.ignored, rules.values_are_json = None, False
        rules.names = [f"arguments{self._of()}" if name == "#" else name for name in rules.names]
        before, after, second, _ = self.style.parts()
        left_out = {self.open, self.close, self.comma, *([] if second else [self.colon])}
        begins = {self.colon: self.nodes.concat([self.blank.node, self._spelled(second)])}
        declared = set(self.keys.values())
        others: list[int] = []
        rule_of: dict[Expression, RuleId] = {}
        for state, kind, symbol, target, guard in each_edge(written):
            if kind == SCAN and symbol in left_out:
                kind, symbol = SKIP, 0
            elif kind == SCAN and symbol == self.held:
                value = self.values[RuleId(rules.state_rules[state])]
                if value not in rule_of:
                    if value not in self.lowered:
                        self.lowered[value] = lower(self.nodes, Grammar({"start": value})).rules
                    rule_of[value] = include(rules, self.lowered[value])
                kind, symbol = CALL, rule_of[value]
            elif kind == SCAN:
                if symbol not in begins:
                    name = symbol if symbol in declared else self._names_of(symbol, declared)
                    others += [] if symbol in declared else [name]
                    # with the blanks before it, as other text may begin with some, too
                    begins[symbol] = self.nodes.concat(
                        [self.blank.node, self._spelled(before), name, self._spelled(after)]
                    )
                symbol = begins[symbol]
            rules.edges.extend((state, kind, symbol, target, guard))
        self._check_names(after, self.nodes.union(others))
        return rules

    def _names_of(self, keys: int, declared: Iterable[int]) -> int:
        """Node of the keys of a node, not declared, that may be names of elements."""
        name = compile_pattern(self.nodes, NAME)
        is_any = self.nodes.is_empty(self.nodes.without(name, [keys, *declared]))
        return self.nodes.intersect([keys, name if is_any else compile_pattern(self.nodes, NAME_OF_PATTERN)])

    def _check_names(self, after: str, others: int) -> None:
        """Refuse a name that holds a mark, or that, with what follows it, begins another one.

        Parameters
        ----------
        others : node of the names that are not declared.
        """
        nodes = self.nodes
        for name in self.keys:
            if any(mark in name for mark in self.ends):
                raise UnsupportedSchema(
                    f"the name {name!r} holds a mark of the call", pointer(ROOT, "properties", name), "rename it"
                )
        names = sorted(name + after for name in self.keys)
        begun = [longer for shorter, longer in pairwise(names) if longer.startswith(shorter)]
        more = nodes.concat([others, self._spelled(after), nodes.byte_set((1 << 256) - 1), nodes.ALL])
        for name in names:
            if after in name[: -len(after)] + after[:-1]:
                both = nodes.intersect([self._spelled(name), more])
                begun += [] if nodes.is_empty(both) else [name]
        if begun:
            raise UnsupportedSchema(
                f"the name {begun[0].removesuffix(after)!r} begins like another one that ends",
                pointer(ROOT, "properties"),
                f"take {after[0]!r} out of it",
            )

    # --- one value

    def _element(self, schemas: list[SchemaAt], path: Path) -> list[Expression]:
        """What may follow the mark that begins an element, with the one that ends it.

        Of two of them none is the beginning of the other: text holds the mark that ends it.
        """
        texts, is_free, other = self._told_apart(schemas)
        if texts is None and other is None:
            if len(schemas) == 1 and schemas[0][0] is not False:
                raise UnsatisfiableSchema(
                    "no value fulfils the schema", pointer(path), f"allow one, which does not hold {self.style.end}"
                )
            self.nothing("no value fulfils the schema", path, "allow one")
            return []
        end = self._literal(self.style.end)
        padded = None if other is None else sequence([self.blank, other, self.blank, end])
        if self.style.tells_strings:
            tail = self.style.parts()[3]
            options = [] if texts is None else [sequence([self._literal(f"true{tail}"), self._ended([texts])])]
            return options if padded is None else [*options, sequence([self._literal(f"false{tail}"), padded])]
        if is_free or texts is None:
            return [self._ended([self.text]) if padded is None else padded]
        shown = self._as_read(texts)
        if other is None or padded is None:
            return [self._ended([shown])]
        scalars = _scalars(self.nodes, other)
        if scalars is not None:
            return [self._ended([choice([shown, sequence([self.blank, scalars, self.blank])])])]
        try:
            both = exact_rules(self.nodes, Grammar({"start": choice([sequence([shown, end]), padded])}))
            return [Inclusion(both.rules, "a string or another value")]
        except GrammarError:
            raise UnsupportedSchema(
                "some strings and some arrays or objects cannot be told apart here",
                pointer(path),
                "take either out, or allow every string",
            ) from None
        except LimitExceeded as error:
            raise LimitExceeded(error.message, pointer(path), error.help) from None

    def _told_apart(self, schemas: list[SchemaAt]) -> tuple[Lexeme | None, bool, Inclusion | None]:
        """The strings of a place, whether every text is one, and its other values where they are told from these."""
        nodes = self.nodes
        conjunction = conjunction_of(self, schemas)
        types = () if conjunction.false_at is not None else types_of(conjunction.parts)
        texts, is_free, node = None, False, nodes.EMPTY
        if "string" in types:
            node, free = strings_of(self, conjunction), free_string(nodes)
            is_free = node == free or (bool(conjunction.choices) and nodes.is_empty(nodes.without(free, [node])))
            found = self.text.node if is_free else nodes.intersect([node, self.text.node])
            if not nodes.is_empty(found):
                texts = self.text if is_free else Lexeme(found, nodes.text(found))
        is_told = self.style.tells_strings or not is_free
        has_other = is_told and types not in ((), ("string",))
        return texts, is_free, self._other(schemas, node != nodes.EMPTY) if has_other else None

    def _other(self, schemas: list[SchemaAt], has_strings: bool) -> Inclusion | None:
        """The values that are no strings, as JSON."""
        if not schemas:
            return self.json_value(NO_STRING, ROOT, None)
        schema, path = schemas[0]
        if len(schemas) == 1 and not has_strings and self._means_the_same_alone(schema):
            return self.json_value(schema, path, None)
        try:
            return self.json_value(self.schema, ROOT, [*schemas, (NO_STRING, path)] if has_strings else schemas)
        except UnsatisfiableSchema:
            return None

    def _means_the_same_alone(self, schema: Any) -> bool:
        """Whether a schema means the same by itself: values of several functions are then the same."""
        if REFERS & set(self.schema) or not all(type(key) is str for key in schema):
            return False
        return 'ef"' not in json.dumps(schema, default=str)  # no reference of any kind

    def _as_read(self, texts: Lexeme) -> Expression:
        """What is read as one of some texts: as they are, or between line breaks, as templates have them.

        A text that itself begins or ends with a line break is put between two more.
        """
        if not self.form.is_read:
            return sequence([self.blank, texts, self.blank])
        if not self.style.strips_line:
            return texts
        nodes = self.nodes
        line, every = nodes.literal(b"\n"), nodes.ALL
        plain = nodes.without(texts.node, [nodes.concat([line, every]), nodes.concat([every, line])])
        return Lexeme(nodes.union([nodes.concat([line, texts.node, line]), plain]), texts.text)

    def _ended(self, parts: list[Expression]) -> Expression:
        """A text with the mark that ends it, as one lexeme."""
        nodes = [*(_node(self.nodes, part) for part in parts), self._spelled(self.style.end)]
        node = self.nodes.concat(nodes)
        self.lexemes.put_prefix_code(node)
        return Lexeme(node, f"{as_text(sequence(parts))} {json.dumps(self.style.end)}")

    def _spelled(self, text: str) -> int:
        return utf8_literal(self.nodes, text)

    def _literal(self, text: str) -> Expression:
        return Lexeme(self._spelled(text), json.dumps(text, ensure_ascii=False))


def is_lone(schema: Any) -> bool:
    """Whether a schema is of one value that is no object, as Kimi K3 has arguments, each in a tag of its own."""
    types = schema.get("type", "object") if isinstance(schema, dict) else "object"
    listed = types if isinstance(types, list) else [types]
    return bool(listed) and all(type(one) is str and one in ONE_TYPE for one in listed) and "object" not in listed


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
