"""How compiled code is put together: a helper stays code to link, a door gets machine code of all that it calls.

Numba makes every compiled function ready to be called from Python: it links the code of all that the function calls,
optimises the whole and turns it into machine code. Nobody calls a helper from Python, and a door does all of that for
its helpers again, so for a helper none of it is done. Compiling takes a quarter of the time so, and what comes out is
as fast. Most of what is left is numba's own work in Python: passes that find nothing in kernels are left out, and a
kind of call is typed once. What is changed are classes of numba that its own pipelines are made of
(`numba.core.codegen`, `numba.core.compiler`), alike in numba 0.61 to 0.68.

In: dispatchers. Out: dispatchers that compile so. Cost: none.
"""

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.runtime.nrt import rtsys

# What these look for does not occur in kernels, and numba analyses a function anew after most of them.
_IDLE_PASSES = {
    "with_lifting",
    "inline_closure_likes",
    "rewrite_semantic_constants",
    "dead_branch_prune",
    "make_function_op_code_to_jit_function",
    "inline_inlinables",
    "find_literally",
    "literal_unroll",
    "LiteralPropagation",
    "inline_overloads",
    "nopython_rewrites",
    "dump_parfor_diagnostics",
}


_signatures: dict[Any, Any] = {}  # of calls: there are 39,000 below `build`, of 2,300 kinds


class _RememberingContext:
    """Numba's typing context, which types a call of the same function with the same types once."""

    def __init__(self, context: Any) -> None:
        self._context = context

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def resolve_function_type(self, function: Any, args: Any, kws: dict[str, Any]) -> Any:
        """The signature of a call."""
        call = function, tuple(args), tuple(kws.items())
        signature = _signatures.get(call)
        if signature is None:
            signature = _signatures[call] = self._context.resolve_function_type(function, args, kws)
        return signature


class _HelperLibrary(JITCodeLibrary):
    """The code of one helper alone, neither linked nor optimised."""

    def finalize(self) -> None:
        self._finalized = True


class _DoorLibrary(JITCodeLibrary):
    """A door's code with that of all helpers below it.

    LLVM links what is asked for so far: a helper comes after all that call it, for the first of them to be found may
    have lost its call when its own code was simplified.
    """

    def finalize(self) -> None:
        found: dict[Any, None] = {}  # each after what it calls
        _add_below(self, found)
        self._linking_libraries: list[Any] = list(found)[::-1]
        super().finalize()


def _add_below(library: Any, found: dict[Any, None]) -> None:
    for called in library._linking_libraries:
        if called not in found:
            _add_below(called, found)
            found[called] = None


class _CalledLibrary(_HelperLibrary):
    """The code of one helper that stays a function where it is called."""

    def add_ir_module(self, ir_module: Any) -> None:
        for function in ir_module.functions:
            if not function.is_declaration:
                function.attributes.add("noinline")
        super().add_ir_module(ir_module)


class InlineCompiler(Compiler):
    """Numba's pipeline, with the library of a helper at its end that LLVM may copy to where it is called."""

    _library_class = _HelperLibrary

    def define_pipelines(self) -> Any:
        """Numba's, without the passes that find nothing."""
        pipelines = super().define_pipelines()
        for pipeline in pipelines:
            pipeline.passes = [entry for entry in pipeline.passes if entry[0].name() not in _IDLE_PASSES]
        return pipelines

    def _compile_core(self) -> Any:
        state = self.state
        state.typingctx = _RememberingContext(state.typingctx)
        state.library = self._library_class(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return super()._compile_core()


class HelperCompiler(InlineCompiler):
    """Numba's pipeline, with the library of a helper at its end that is called: large ones keep the code small so."""

    _library_class = _CalledLibrary


class DoorCompiler(HelperCompiler):
    """Numba's pipeline, with a door's library at its end."""

    _library_class = _DoorLibrary


def without_machine_code(dispatcher: Any) -> None:
    """Let the helper `dispatcher` be found by its callers although Python cannot call it.

    Numba finds the code of a call by the object that Python would call. A helper has none (its flag `no_compile`), so
    any object that differs from all others is its key; the dispatcher takes builtin methods only.
    """
    compiler = dispatcher._compiler
    compile_core = compiler._compile_core

    def compile_and_name(args: Any, return_type: Any) -> Any:
        result = compile_core(args, return_type)
        key: Any = [].append
        compiler.targetdescr.target_context.insert_user_function(key, result.fndesc, [result.library])
        return result._replace(entry_point=key)

    compiler._compile_core = compile_and_name


def without_wrappers(flags: Any) -> Any:
    """Python never calls a helper, so it needs no wrapper for Python's calling convention and no address."""
    flags.no_cpython_wrapper = True
    flags.no_cfunc_wrapper = True
    flags.no_compile = True
    return flags


class _LinkedLibrary(JITCodeLibrary):
    """A door's code with that of all helpers below it, not optimised: for other processors than this one.

    Numba's own library of reference counts is left out, as its code is this processor's already.
    """

    def finalize(self) -> None:
        found: dict[Any, None] = {}
        _add_below(self, found)
        found.pop(rtsys.library, None)
        for library in list(found)[::-1]:
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True


class _LinkingCompiler(HelperCompiler):
    _library_class = _LinkedLibrary


def linked(dispatcher: Any, signature: str) -> Any:
    """Numba's result for the door `dispatcher`; its library holds the code of all that the door calls."""
    dispatcher._compiler.pipeline_class = _LinkingCompiler
    dispatcher._compiler._customize_flags = without_wrappers
    without_machine_code(dispatcher)
    dispatcher.compile(signature)
    (result,) = dispatcher.overloads.values()
    result.library._ensure_finalized()
    return result
