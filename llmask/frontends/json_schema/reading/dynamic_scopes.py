"""Dynamic scopes: which resource a dynamic anchor means on the way that led to a place.

The way is the list of resources entered, by references and by going down; of it only the outermost resource for each
dynamic anchor ever matters. So a scope keeps those, and two ways that bind the same are one scope: recursion comes
back to a scope that exists, and there are finitely many. They can still be very many (each subset of n resources),
hence the limit. Source: JSON Schema 2020-12 core, sections 7.1 and 8.2.3.2; 2019-09 core, section 8.2.4.2.

In: a scope and the resource entered from it. Out: the scope there. Cost: a dictionary access; the first time, linear in
the anchors bound.
"""

from __future__ import annotations

from typing import TypeAlias

from llmask.errors import LimitExceeded
from llmask.frontends.json_schema.reading.pointers import Resource, Scope, pointer

Bindings: TypeAlias = dict[str, Resource]
MAX_BINDINGS = 2_000_000  # looked at while scopes are made, all together; meta-schemas have one or two


class Scopes:
    """The scopes of one schema; `root` is the one in which its evaluation begins."""

    def __init__(self, resource: Resource) -> None:
        self._scopes: dict[tuple[int, int], Scope] = {}
        self._entered: dict[tuple[int, int], Scope] = {}
        self._bindings: dict[frozenset[tuple[str, int]], Bindings] = {}
        self._n_bindings = 0
        self.root = self._scope(resource, {})

    def enter(self, scope: Scope, resource: Resource) -> Scope:
        """The scope after a resource is entered from `scope`.

        Raises
        ------
        LimitExceeded
            When there are too many ways to bind anchors.
        """
        if resource is scope.resource:
            return scope
        key = scope.number, id(resource)
        entered = self._entered.get(key)
        if entered is None:
            entered = self._entered[key] = self._scope(resource, scope.bindings)
        return entered

    def _scope(self, resource: Resource, outer: Bindings) -> Scope:
        self._n_bindings += len(resource.dynamic)
        new = [name for name in resource.dynamic if name not in outer]
        bindings = outer
        if new or not self._bindings:
            self._n_bindings += len(outer)
            bindings = {**outer, **dict.fromkeys(new, resource)}
            contents = frozenset((name, id(owner)) for name, owner in bindings.items())
            bindings = self._bindings.setdefault(contents, bindings)
        if self._n_bindings > MAX_BINDINGS:
            raise LimitExceeded(
                "the schema's dynamic anchors are bound in too many ways",
                pointer(resource.at),
                "Use fewer of them: $anchor and $ref where no extension is meant.",
            )
        key = id(resource), id(bindings)
        scope = self._scopes.get(key)
        if scope is None:
            scope = self._scopes[key] = Scope()
            scope.number, scope.resource, scope.bindings = len(self._scopes) - 1, resource, bindings
        return scope
