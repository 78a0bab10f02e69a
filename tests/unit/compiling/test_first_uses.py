"""First uses are paid ahead."""

from __future__ import annotations

import subprocess
import sys

PAID = """
import sys
import llmask
assert "numba" not in sys.modules
source = llmask.warm()
before = {name for name in sys.modules if name.startswith(("llmask.", "lark.", "interegular."))}
compiler = llmask.Compiler(llmask.Tokenizer.from_bytes([b"a", b"</s>"], eos=1))
compiler.regex("a"), compiler.lark('start: "a"'), compiler.gbnf('root ::= "a"')
after = {name for name in sys.modules if name.startswith(("lark.", "interegular."))}
print(source, sorted(after - before))
"""


def test_what_parsers_need_is_there_after_it() -> None:
    found = subprocess.run([sys.executable, "-c", PAID], capture_output=True, text=True, check=True).stdout
    assert found.split()[0] in ("prebuilt,", "compiled", "loaded")
    assert found.endswith("[]\n")
