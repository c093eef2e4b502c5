"""Text: the one reader of texts. It imports nothing else of the engine.

- ``document``: Markdown as blocks; any content type as blocks, headings, code and links. ``html`` and ``code`` help it.
- ``sentences``: sentences of a paragraph, words and the time they take to read.
- ``language``: word lists, script and language of a text, folding, stems, Korean particles.
- ``words``: index terms of a text, what a query asks for, similar spellings. ``names``: whom and what a text names.
- ``dates``: the dates a text mentions and a query asks for; ``date_grammar`` reads them. ``calendar``: days, RFC 3339.
- ``quantities``: amounts with their units. ``extraction``: all of it together, as the metadata of a stored content.
- ``tokens``: about how many tokens a model reads in a text, and its beginning in so many.
"""
