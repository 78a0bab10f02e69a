"""llmask inside the loops that people run: a module for each framework, which imports it when it is used.

    vllm, sglang                            grammar backends of servers
    transformers, llama_cpp, mlx, jax       logits processors, and what else a loop needs
    outlines                                generators of Outlines
    limits                                  for servers: compilers, notations told apart, budgets

In: compiled grammars, a framework's own objects. Out: what the framework asks for. No module but the
one of Outlines imports the module of another framework: Outlines runs on top of others.
"""
