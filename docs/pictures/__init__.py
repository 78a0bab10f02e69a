"""The pictures of the pages, all made by `python -m docs.pictures`: a module for each, `svg.py` has what they share.

What a picture tells is read from where it is known: masks, rows and lexer states from llmask itself, figures from
`bench/recorded/`, folders from the tree. `tests/house/test_pictures.py` compares the files with what is made.
"""
