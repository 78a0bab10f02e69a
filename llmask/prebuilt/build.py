"""Builds the libraries of this folder: `python -m llmask.prebuilt.build`, or with `--check` compares them.

Numba's front end makes LLVM code of every door, once for all platforms. For each of them the code is optimised as numba
does it, for a processor that all users have; wrappers for Python's calling convention are linked to it, and ziglang
makes a shared library of it. All that the bytes depend on is pinned, so that anybody can make them again.

In: llmask/kernels. Out: a library for each of TARGETS, and the manifest. Cost: about two minutes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PINS = {"python": "3.11", "numba": "0.68.1", "llvmlite": "0.50.0", "ziglang": "0.17.1"}
FRONT_END = {
    "LLMASK_PREBUILT": "0",
    "LLMASK_CHECK_BOUNDS": "0",
    "NUMBA_CPU_NAME": "x86-64-v2",  # else the code would depend on this machine's processor
    "NUMBA_CPU_FEATURES": "",
}
# name of a library: LLVM's triple, processor, and what zig calls the platform
TARGETS = {
    "linux-x86_64": ("x86_64-unknown-linux-gnu", "x86-64-v2", "x86_64-linux-gnu"),
    "linux-aarch64": ("aarch64-unknown-linux-gnu", "generic", "aarch64-linux-gnu"),
}
# numba counts references to an array's memory; wrappers pass arrays without any to count, and doors make none
WITHOUT_COUNTS = """
define linkonce_odr void @NRT_incref(ptr %memory) alwaysinline { ret void }
define linkonce_odr void @NRT_decref(ptr %memory) alwaysinline { ret void }
"""
FOLDER = Path(__file__).parent
PINS_DIFFER = 2  # exit codes
NOT_THE_SAME = 1


def main(arguments: list[str] | None = None) -> int:
    """Build, or compare what would be built with what is there; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m llmask.prebuilt.build", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a library would be another")
    chosen = parser.parse_args(arguments)
    differing = [f"{name} {wanted}" for name, wanted in PINS.items() if _here(name) != wanted]
    if differing:
        _say(f"the libraries are built with {', '.join(differing)}; here is something else, so nothing is built")
        return PINS_DIFFER
    settings = {name: value for name, value in os.environ.items() if name.startswith(("NUMBA_", "LLMASK_"))}
    if settings != FRONT_END:  # numba reads them when it is imported, which may have been done
        command = [sys.executable, "-m", "llmask.prebuilt.build", *(["--check"] if chosen.check else [])]
        others = {name: value for name, value in os.environ.items() if name not in settings}
        return subprocess.run(command, env=others | FRONT_END, check=False).returncode
    with tempfile.TemporaryDirectory() as folder:
        built = _build(Path(folder))
        if chosen.check:
            return _compare(built)
        for name, content in built.items():
            (FOLDER / name).write_bytes(content)
            _say(f"{FOLDER / name}: {len(content):,} bytes")
    return 0


def _here(name: str) -> str | None:
    if name == "python":
        return "{}.{}".format(*sys.version_info)
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _say(message: str) -> None:
    sys.stderr.write(f"{message}\n")


def _compare(built: dict[str, bytes]) -> int:
    here = {path.name: path.read_bytes() for path in map(FOLDER.joinpath, built) if path.is_file()}
    differing = [name for name, content in built.items() if here.get(name) != content]
    for name in built:
        _say(f"{name}: {'differs from what was built now' if name in differing else 'the same, byte for byte'}")
    return NOT_THE_SAME if differing else 0


def _build(scratch: Path) -> dict[str, bytes]:
    """Contents of the libraries and of the manifest, by file name."""
    from ..kernels.machine.prebuilt import MANIFEST, sources_digest

    doors, codes = _front_end()
    _say(f"{len(doors)} doors")
    built = {f"{name}.so": _library(name, doors, codes, scratch) for name in TARGETS}
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in built.items()}
    manifest = {"sources": sources_digest(), "libraries": digests, "built_with": PINS}
    built[MANIFEST] = (json.dumps(manifest, indent=2) + "\n").encode()
    return built


def _front_end() -> tuple[list[Any], list[str]]:
    """What wrappers have to know of every door, and the LLVM code of each with all that it calls, not optimised."""
    import numba.core.ir

    from ..kernels.machine import compiling, linking
    from ..kernels.machine.calling import return_in_registers
    from .wrappers import Door

    # exceptions of compiled code hold the path of their source; nobody reads it, and it is another one elsewhere
    make = numba.core.ir.Loc.__init__

    def make_without_folder(self: Any, filename: str, *rest: Any, **named: Any) -> None:
        make(self, Path(filename).name, *rest, **named)

    numba.core.ir.Loc.__init__ = make_without_folder
    return_in_registers()
    compiling.import_everything()
    doors, codes = [], []
    for group, declared in compiling.DECLARED.items():
        _say(f"compiling {group}")
        for dispatcher, signature in declared:
            result = linking.linked(dispatcher, signature)
            name = dispatcher.py_func.__name__
            doors.append(Door(name, signature, result.fndesc.llvm_func_name, not dispatcher.targetoptions["nogil"]))
            codes.append(str(result.library._final_module))
    names = [door.name for door in doors]
    if len({*names}) < len(names):
        raise ValueError(f"two doors have the same name: {sorted({name for name in names if names.count(name) > 1})}")
    return doors, codes


def _library(target: str, doors: list[Any], codes: list[str], scratch: Path) -> bytes:
    import llvmlite.binding as llvm

    from .wrappers import wrappers

    triple, processor, zig_target = TARGETS[target]
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    # each function at the beginning of a cache line: where code lay before it, the same walk took 2.0 or 2.35 ns a node
    llvm.set_option("llmask", "-align-all-functions=6")
    machine = llvm.Target.from_triple(triple).create_target_machine(
        cpu=processor, features="", opt=3, reloc="pic", codemodel="default"
    )
    layout = str(machine.target_data)
    whole = llvm.parse_assembly(str(wrappers(doors, triple, layout)))
    for code in codes:  # each door as numba optimises it: optimised as one, encoders are 4 to 7 % slower
        module = llvm.parse_assembly(_for_platform(code, triple, layout))
        module.link_in(llvm.parse_assembly(WITHOUT_COUNTS))
        _optimise(module, machine)
        whole.link_in(module)
    _keep_only("llmask_methods", whole, machine)
    of_numba = [function.name for function in whole.functions if function.name.lower().startswith(("nrt_", "numba_"))]
    if of_numba:
        raise ValueError(f"no door may need numba's run time: {of_numba}")
    compiled, library = scratch / f"{target}.o", scratch / f"{target}.so"
    compiled.write_bytes(machine.emit_object(whole))
    command = [sys.executable, "-m", "ziglang", "cc", "-target", zig_target, "-shared", "-nostdlib", "-s"]
    subprocess.run([*command, "-Wl,--gc-sections", "-o", library.name, compiled.name], check=True, cwd=scratch)
    return library.read_bytes()


def _for_platform(code: str, triple: str, layout: str) -> str:
    lines = code.split("\n")
    for i, line in enumerate(lines):
        if line.startswith("target triple"):
            lines[i] = f'target triple = "{triple}"'
        elif line.startswith("target datalayout"):
            lines[i] = f'target datalayout = "{layout}"'
    return "\n".join(lines)


def _optimise(module: Any, machine: Any) -> None:
    """As `numba.core.codegen.CPUCodeLibrary._optimize_final_module` does."""
    cheap = _passes(machine, level=0, vectorize=False)
    manager = cheap.getModulePassManager()
    manager.add_loop_rotate_pass()
    manager.add_instruction_combine_pass()
    manager.add_jump_threading_pass()
    manager.add_refprune_pass()
    manager.run(module, cheap)
    full = _passes(machine, level=3, vectorize=True)
    manager = full.getModulePassManager()
    manager.add_refprune_pass()
    manager.run(module, full)


def _keep_only(name: str, module: Any, machine: Any) -> None:
    """Make everything but one symbol internal, and drop what nothing uses."""
    from llvmlite.binding import newpassmanagers

    for function in module.functions:
        if not function.is_declaration:
            function.linkage = "internal"
    for variable in module.global_variables:
        if not variable.is_declaration and variable.name != name:
            variable.linkage = "internal"
    manager = newpassmanagers.create_new_module_pass_manager()
    manager.add_global_dead_code_eliminate_pass()
    manager.run(module, _passes(machine, level=0, vectorize=False))


def _passes(machine: Any, level: int, vectorize: bool) -> Any:
    from llvmlite.binding import newpassmanagers

    options = newpassmanagers.create_pipeline_tuning_options(speed_level=level)
    options.loop_vectorization, options.slp_vectorization = vectorize, False
    return newpassmanagers.create_pass_builder(machine, options)


if __name__ == "__main__":
    raise SystemExit(main())
