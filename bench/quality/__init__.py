"""What a small real model writes under the masks of several engines: `python -m bench.quality`.

    items.py      what is asked: tool calls of the Berkeley leaderboard, and extractions and classifications of our own
    answers.py    whether a value is right
    writers.py    who masks: nobody, llmask in three ways, other engines
    reading.py    the model, which reads a common beginning once
    __main__.py   all items by all writers; tables with standard errors

Every writer gets the same prompt, the same schema, the same logits and takes the likeliest token that its mask allows:
what differs is the mask. In: command line. Out: tables. Cost: one to two hours on one core for 400 items, 7 writers.
"""
