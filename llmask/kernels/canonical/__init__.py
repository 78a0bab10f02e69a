"""Canonical masks: tokens that the tokenizer itself would have written. Nothing outside needs it.

    mask = grammar & followers(split state, last token) - dead(configuration, split state)

The *split state* is where the pretokenizer is in the text so far. `followers` are the tokens that it lets follow and
that do not merge with the last one; `dead` are those after which every grammatical text is encoded otherwise.

    slots       the table of split states: what is known of a tokenizer alone
    split       how the pretokenizer goes on over one more token
    chains      words that are tokens whatever the merges say
    pairs       all tokens that are incompatible with a given one       profiles, following   masks of followers
    ends        places with a lexer state, and bytes that end the word there
    search      whether a canonical continuation exists                 witnesses              short ones, tried first
    inside      what lexer states alone say of tokens                   listings               where the others lead
    dead        tokens that nothing canonical can follow
    positions, review, steps    masks put together; the position after a token
"""
