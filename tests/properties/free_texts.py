"""Free text in grammars of every kind: what is read, with the free text between two marks.

In: nothing. Out: FREE_TEXTS. Cost: none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import llmask

BEGIN, END = "⟦", "⟧"  # around free text

SAID = "I will look <that> up for you: [a] {b} <f <func, </think or </thin so, STO ST in <b>two</b> steps.\n\n"
SAID += "*a* # `x` \"q\" 'y' $5 é 日本 The cat sat on it @ home | 100 % ~ & more\n"
MARKDOWN = r"""
start: block+
block: heading | paragraph | list | fence | table
heading: /#{1,6} / LINE
paragraph: (BEGINNING LINE)+ "\n"
list: (/[*\-] / LINE)+ "\n"
fence: /```[a-z]*\n/ CODE
table: row separator row+ "\n"
row: "|" (CELL "|")+ "\n"
separator: "|" (/ ?:?-+:? ?/ "|")+ "\n"
BEGINNING: /[^\n#|`*\-]/
LINE: /[^\n]+\n/
CODE: /(([^`\n][^\n]*)?\n)*```\n/
CELL: /([^|\n\\]|\\[^\n])+/
"""
MARKDOWN_TEXT = """# ⟦A title with `code`, *stress* and a [link](http://x.y/z)⟧
A⟦ paragraph of text, with [a link](http://x.y/z), *stress*, **bold**, `code` and <b>html</b>.⟧
I⟦ts second line {x} #1 $5 | 100 % é 日本, "quoted" and 'quoted'.⟧

```python
⟦def f(x):
    '''Doc string.'''
    return {"a": 'b', **x}[`0`] # [x] {y} <z> * /

    print(f) | a⟧
```
* ⟦item [x] <b> {c} `d` "e"⟧
- ⟦item two⟧

| a⟦ nd b * [x] <b> `c`⟧|⟦ text⟧|
|---|:-:|
| t⟦ext "in" cells `x` 'y' ⟧| <⟦b> {c} \\| $ # é⟧ |

"""
PYTHON = '''import os

def f(x):
    # ⟦a comment with "quotes", 'quotes', <tags> [x] {y} * # $ `and` é 日本 | / ~⟧
    """⟦Doc string, it's "free" text.

    * with `code` <b> [1] {2} $3 # x \\\\ end / é 日本
    ⟧"""
    s = '⟦it is <a> {b} [c] # * "no" / é | ~⟧' + "⟦don't `x` \\\\n <a> {b} [c] * é⟧" + r"⟦\\\\d+[a]{3} <b> 'x'⟧"
    t = b"⟦bytes <a> {b} [c] * 'x'⟧" + f" ⟦text <a> [c] 'x' * #⟧{x}⟦ more `text` é / | $⟧"
    return s  # ⟦end of it⟧
'''
SQL = """SELECT 'i⟦t⟧''⟦s <a> [b] {c} * # "q" `x` -- no / | % é⟧', a -- ⟦a comment "with" 'quotes' <a> [b] {c} * # $ /⟧
 FROM t /* ⟦block 'x' "y" <a> [b] {c} # $ `
 and more, é |⟧ */ WHERE a = 'x⟦ and <y>⟧'
"""
C = r"""// ⟦line "comment" 'x' <a> [b] {c} * # $ `y` / é⟧
/* ⟦block "x" 'y' <a> [b] {c} # $ `z` | é
   more and more⟧ */
int main(void) {
    char *s = "⟦a string, <a> [b] {c} * # $ `y` \n it's / | %d⟧"; /* ⟦c d⟧ */
    return 0; // ⟦the end⟧
}
"""
LUA = """-- ⟦line "comment" 'x' <a> {c} * # $ `y` / é⟧
local s = "⟦text <a> [b] {c} * # `y` / it's⟧" .. '⟦it [x] "y" `z` <b>⟧'
--[[⟦ long "x" <y> # * ` {c} /
 more é | ⟧]]
return s
"""


class FreeText(NamedTuple):
    """A grammar, and a text of it.

    compiled : compiles it.
    text : with marks around what is free.
    most : the part of the trie that a mask in the middle of free text may walk.
    """

    compiled: Callable[[llmask.Compiler], llmask.CompiledGrammar]
    text: str
    most: float


def tags(*triggers: str, excludes: tuple[str, ...] = ()) -> Callable[[llmask.Compiler], llmask.CompiledGrammar]:
    """Free text with tags that begin so."""
    content = {"type": "json_schema", "json_schema": {"type": "object"}}
    listed = [{"type": "tag", "begin": f"{trigger}a>", "content": content, "end": "</end>"} for trigger in triggers]
    form = {"type": "triggered_tags", "triggers": [*triggers], "tags": listed, "excludes": [*excludes]}
    return lambda compiler: compiler.structural_tag({"type": "structural_tag", "format": form})


def lark(text: str, lexer: str = "greedy") -> Callable[[llmask.Compiler], llmask.CompiledGrammar]:
    """A Lark grammar."""
    return lambda compiler: compiler.lark(text, lexer=lexer)


def ready(name: str) -> Callable[[llmask.Compiler], llmask.CompiledGrammar]:
    """A ready grammar."""
    return lambda compiler: compiler.grammar(name)


THINKING = 'start: thought /[a-z]+/\nthought[suffix="</think>"]: /(.|\\n)*/\n'
LAZY = 'start: (f_hd "=foo>" /[0-9]+/ "</f>")* TEXT\nf_hd[lazy]: TEXT "<function"\nTEXT: /(.|\\n)*/\n'

FREE_TEXTS = {
    "python": FreeText(ready("python"), PYTHON, 0.1),
    "sql": FreeText(ready("sql"), SQL, 0.1),
    "c": FreeText(ready("c"), C, 0.1),
    "lua": FreeText(ready("lua"), LUA, 0.1),
    "markdown": FreeText(lark(MARKDOWN), MARKDOWN_TEXT, 0.1),
    "markdown, exact": FreeText(lark(MARKDOWN, "exact"), MARKDOWN_TEXT, 0.1),
    "a trigger": FreeText(tags("<function="), f"⟦{SAID}⟧", 0.05),
    "a trigger and excluded marks": FreeText(tags("<function=", excludes=("<think>", "</think>")), f"⟦{SAID}⟧", 0.1),
    "excluded words": FreeText(tags("<f=", excludes=("STOP", "Observation:")), f"⟦{SAID} Obs STO⟧", 0.4),
    "triggers of brackets": FreeText(tags("[TOOL", "{{", "```tool\n"), f"⟦{SAID} [TOO {{ `` [⟧", 0.1),
    "capitals": FreeText(tags("Action: ", "TOOL_CALL "), f"⟦{SAID} Act TOOL_ Acti⟧", 0.4),
    "a lazy lexeme": FreeText(lark(LAZY), f"⟦{SAID} <functio⟧", 0.05),
    "a suffix": FreeText(lark(THINKING), f"⟦{SAID} </thin⟧", 0.1),
    "gbnf": FreeText(
        lambda compiler: compiler.gbnf('root ::= text "<call>" [a-z]+\ntext ::= [^<]*\n'),
        f"⟦{SAID.replace('<', '')}⟧",
        0.05,
    ),
    "a pattern": FreeText(
        lambda compiler: compiler.regex(r"(?s:.*)<answer>\d+</answer>"), f"⟦{SAID} <answer <ans⟧", 0.05
    ),
}
