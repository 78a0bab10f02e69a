r"""Calls of tools, as families of models write them, to structural tags.

    auto         free text, in which calls may stand
    required     calls, and nothing else
    none         text without calls

In: functions, a family, a choice. Out: a structural tag, as a document. Cost: none to speak of.
"""

from __future__ import annotations

from typing import Any

from llmask.errors import GrammarError, LlmaskError, UnsupportedSchema
from llmask.frontends.tools.requests import (
    FAMILIES,
    HARMONY,
    MODELS,
    REASONING,
    Family,
    Part,
    Pattern,
    Tool,
    check_model,
    check_reasoning,
    read_choice,
    read_tools,
)
from llmask.frontends.tools.writing import Arguments, Marks, Writing, harmony_tag
from llmask.work import spend

__all__ = ["MODELS", "REASONING", "Arguments", "Marks", "Tool", "located", "read_tools", "tools_tag"]

FREE_TOOLS = 300
TOOL_WORK = 2000  # units for each further function, besides what is counted of its schema
CHOICES = {"property_order": ("any", "declared"), "unsupported": ("error", "ignore")}


def tools_tag(
    listed: list[Tool],
    model: str,
    tool_choice: Any,
    parallel: bool,
    reasoning: bool | str,
    arguments: Arguments,
    marks: Marks,
) -> dict[str, Any]:
    """A structural tag of calls; see `llmask.Compiler.tools` for the arguments and errors.

    Parameters
    ----------
    listed : the functions, see `read_tools`.
    marks : of the vocabulary.
    """
    check_model(model)
    if type(parallel) is not bool:
        raise GrammarError(f"parallel is True or False, not {parallel!r}", help="leave it out")
    check_reasoning(reasoning)
    for name, value in arguments._asdict().items():
        if type(value) is not str or value not in CHOICES[name]:
            raise GrammarError(f"{name} is one of {CHOICES[name]}, not {value!r}", help="leave it out")
    choice, chosen = read_choice(tool_choice, listed)
    spend(TOOL_WORK * max(len(chosen) - FREE_TOOLS, 0))  # before any schema is read: too long a list is refused at once
    if model == HARMONY:
        form = harmony_tag(Writing(marks), chosen, choice, reasoning, arguments)
    else:
        calls = _Calls(FAMILIES[model], marks, parallel, arguments)
        form = calls.whole(chosen if choice != "none" else listed, choice)
        form = _with_thoughts(FAMILIES[model], model, marks, reasoning, form, choice)
    return {"type": "structural_tag", "format": form}


def located(error: LlmaskError, document: Any, tools: list[Tool], unsupported: str) -> LlmaskError:
    """The error of a structural tag as one of the list of functions; it names function and argument."""
    where, named = _place_of(error.where, document, tools)
    help = error.help
    if isinstance(error, UnsupportedSchema) and unsupported == "error" and "unsupported=" not in str(help):
        help = f'{help}, or pass unsupported="ignore"'
    return type(error)(error.message + named, where, help)


def _place_of(where: str | None, document: Any, tools: list[Tool]) -> tuple[str | None, str]:
    """Where a place in a structural tag is in the list of functions, and what is there; it may be in none of them."""
    if where is None or not where.startswith("#/"):
        return where, ""
    here: Any = document
    keys = where[2:].split("/")
    for at, key in enumerate(keys):
        found = next((tool for tool in tools if tool.parameters is here), None)
        if found is not None:
            name = keys[at + 1].replace("~1", "/").replace("~0", "~") if keys[at + 1 :] else ""
            named = f', parameter "{name}"' if keys[at : at + 1] == ["properties"] and name else ""
            return "/".join([found.where, *keys[at:]]), f' (tool "{found.name}"{named})'
        try:
            here = here[int(key)] if isinstance(here, list) else here[key.replace("~1", "/").replace("~0", "~")]
        except (KeyError, IndexError, TypeError, ValueError):
            return where, ""
    return next(((tool.where, f' (tool "{tool.name}")') for tool in tools if tool.parameters is here), (where, ""))


def _with_thoughts(
    family: Family, model: str, marks: Marks, reasoning: bool | str, form: dict[str, Any], choice: str
) -> dict[str, Any]:
    """A format with a section of reasoning before it."""
    if reasoning is False:
        return form
    if family.thoughts is None:
        raise GrammarError(f"models of the family {model} write no reasoning section", help="leave reasoning out")
    begin, end, behind = family.thoughts
    writing = Writing(marks, (begin, end))
    first = [] if reasoning == "open" else [begin]
    # what stands behind it is part of the text that follows, where there may be any
    section = writing.row(
        [*first, writing.text_without([end, begin]), end, *([behind] if choice == "required" else [])]
    )
    return writing.row([writing.optional(section) if reasoning == "optional" else section, form])


class _Calls:
    """The calls of one family."""

    def __init__(self, family: Family, marks: Marks, parallel: bool, arguments: Arguments) -> None:
        self.family = family
        self.arguments = arguments
        self.parallel = parallel
        self.writing = Writing(marks, family.marks)
        thoughts = family.thoughts
        self.excluded = [] if thoughts is None else [thoughts.begin, thoughts.end]

    def whole(self, tools: list[Tool], choice: str) -> dict[str, Any]:
        """The format of a response, reasoning aside."""
        writing, family = self.writing, self.family
        first = writing.first_text(str(family.begin[0]) if family.begin else family.call.partition("{name}")[0])
        if choice == "none":
            return writing.text_without([*([first] if first else []), *self.excluded])
        calls = self._section(self._some(tools))
        has_prefix = bool(family.prefix) and writing.is_special(family.prefix)
        if choice == "required":
            return writing.row([*([writing.optional(writing.row([family.prefix]))] if has_prefix else []), calls])
        text = writing.text_without(self.excluded)
        # without a section, what stands between two calls is free text
        part = calls if family.begin else self._one(tools, first)
        if not first:  # the calls begin with a special token, which no text holds
            return writing.row(
                [text, writing.star(writing.row([part, text])) if self.parallel else writing.optional(part)]
            )
        form = {
            "type": "dispatch",
            "rules": [[first, self._section(self._some(tools), first) if family.begin else part]],
            "loop": self.parallel,
            "excludes": self.excluded,
        }
        if has_prefix:
            return writing.one_of([form, writing.row([family.prefix, calls])])
        return form

    def _section(self, calls: dict[str, Any], first: str = "") -> dict[str, Any]:
        """The section of calls, without what it begins with."""
        begin: list[Part] = list(self.family.begin)
        if first:
            assert isinstance(begin[0], str)
            begin[0] = begin[0].removeprefix(first)
        return self.writing.row([*begin, calls, self.family.end])

    def _some(self, tools: list[Tool]) -> dict[str, Any]:
        """One call, or several where that is allowed."""
        writing, one = self.writing, self._one(tools)
        return writing.row([one, writing.star(writing.row([self.family.separator, one]))]) if self.parallel else one

    def _one(self, tools: list[Tool], first: str = "") -> dict[str, Any]:
        """One call, without what it begins with."""
        return self.writing.one_of([self._call(tool, first) for tool in tools])

    def _call(self, tool: Tool, first: str) -> dict[str, Any]:
        family = self.family
        before, number, behind = family.call.replace("{name}", tool.name).removeprefix(first).partition("{number}")
        arguments = self.arguments.form(tool, family.not_in_arguments, family.style)
        parts: list[Any] = [before, *([Pattern("[0-9]+"), behind] if number else []), arguments, family.call_end]
        return self.writing.row(parts)
