"""llmask's masks beside those of another engine, and for each difference who is right: `python -m bench.duel`.

    __main__    the command line; a process for each pair of engines
    settings    the engines as they are asked
    places      both masks at every position, differences by place
    groups      tokens that do the same to a text
    settle      who is right about a token
        partial     what a text has written and what is open
        complete    documents that begin with a text
        walker      one that an engine writes under its masks
        judge       is a document valid?
        dead        a proof that no valid document begins with a text
        certain     does a schema hold already, for what is not complete?
        beginnings  may a text that begins so match a pattern?
        rules       the same value in another form
        unchecked   what an engine says it does not check
    report      the tables

In: two engines and schemas with documents. Out: verdicts on their differences. Cost: see `__main__.py`.
"""
