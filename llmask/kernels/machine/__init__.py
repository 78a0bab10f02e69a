"""How kernels are declared, and loaded or compiled, and the operations on memory that numba lacks."""
