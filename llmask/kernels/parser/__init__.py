"""The Earley parser: items, interned rows, the step from row to row, and Leo items."""
