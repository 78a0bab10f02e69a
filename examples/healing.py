"""A prompt that ends in the middle of a token is healed: its last token is given back and written again.

    python examples/healing.py

After a prompt that ends in `http:` the token `://` can no longer come, though the model saw it in every address.
`Tokenizer.heal` says which tokens to keep and which bytes to match; a matcher with that prefix has the model write them
first, as part of a longer token if it likes.

Prints:

    the prompt          'See http:'
    kept                'See http'
    to be written again b':'
    allowed first: ':', '://', ':/'
    written: '://example.org'
"""

from __future__ import annotations

import llmask

tokenizer = llmask.Tokenizer.default()
grammar = llmask.Compiler(tokenizer).regex(r"//[a-z]+\.org")
prompt = "See http:"
kept, prefix = tokenizer.heal(tokenizer.encode(prompt))
print(f"the prompt          {prompt!r}")
print(f"kept                {tokenizer.decode(kept)!r}")
print(f"to be written again {prefix!r}")

matcher = grammar.matcher(prefix=prefix)  # the model continues after `kept`, not after the whole prompt
mask = llmask.allocate_bitmask(1, tokenizer.vocab_size)
matcher.fill_bitmask(mask)
allowed = [token for token in range(tokenizer.vocab_size) if mask[0, token // 32] >> (token % 32) & 1]
print("allowed first:", ", ".join(repr(tokenizer.decode([token])) for token in allowed))

matcher.accept_tokens(tokenizer.encode("://example.org"))
assert matcher.is_accepting()
print("written:", repr(matcher.text().decode()))
