"""How kernels are declared, compiled and cached, and the operations on memory that numba lacks."""
