r"""Encoders: text to token ids, one module for each family of tokenizers.

Byte-pair encoding, which most vocabularies use, is compiled from end to end:

    text -> UTF-8 -> words -------------------------------> tokens -> list
                     one table of transitions  a hash table, or merging

    patterns  categories.py        characters become classes: a two-level table of the code points
              pattern_automaton.py a regular expression becomes instructions of an ordered automaton, and these
                                   transitions [state, class] -> (state, "a match ended before")
              pretokenize.py       the splitter; patterns outside of the subset go to the package `regex`
    tables    tables.py            the slots that doors take: one address instead of twenty arrays
    merging   bpe.py               words, histories of tokens; the encoder: exact, table, heap, dropout
    later     guesses.py           ways to split a text that is still being read, and texts that show each of them
              certain.py           tokens that no later text can change

Kernels (`llmask/kernels/`), each with what it needs of the table:

    pretokenize_scan.py  words                 bpe_words.py     bytes -> token, a hash table
    bpe_pairs.py         histories of tokens   merges_table.py  merges of a file; what pairs merge to (also of "spm")
    bpe_backtrack.py     exact, method "table"
    bpe_heap.py          "heap", "dropout"     bpe_longest.py   "greedy", "minimal"
    bpe_encode.py        text -> tokens, the doors
    bpe_incremental.py   words of texts that are not finished (llmask/counting)
    bpe_append.py        the same for texts that grow by bytes
    bpe_intervals.py     the same for parts of a text
    double_array.py      the trie of all tokens, for matching (of all encoders)

The families of SentencePiece and BERT, with the kernels of each:

    piece_encoder.py    tables of tokens, normalization, the base of SPM and UGM  piece_slots.py, charsmap_rules.py
    spm.py              "spm": neighbours are merged by score or rank         spm_merge.py
                        "ugm": the cut of the highest sum of scores           unigram_viterbi.py, unigram_words.py
    wordpiece.py        "wpm": the longest token, word by word                wordpiece_match.py

`select.py` says which encoder a vocabulary gets, and has those that know no merges: longest match, fewest tokens.

Three decisions carry the speed of byte-pair encoding. A word that is a token is one look-up, and four words of five
are. Other words are encoded over the trie, with a test of neighbours that reads what every token is made of: no merge
is ever carried out, and no word is too long. And the patterns become one automaton over classes of characters, so that
looking ahead by one character costs nothing and no engine for regular expressions is asked.
"""
