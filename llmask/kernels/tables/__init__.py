"""The containers of all derived data: blocks of memory that grow, interned lists, maps; and which slot holds what."""
