"""The kernels as machine code, a library for each platform, and what builds them: see README.md beside this file."""
