"""Text: everything that parses texts. It imports nothing else of the engine.

- ``document``: Markdown as blocks; any content type as blocks, headings, code and links, with ``html`` and ``code``.
- ``sentences``: sentences of a paragraph, word counts and reading time.
- ``language``: word lists, script and language of a text, folding, stems, Korean particles.
- ``words``: index terms of texts and queries, similar spellings. ``names``: people, organisations and things.
- ``dates``: dates in texts and queries, parsed by ``date_grammar``. ``calendar``: spans of days, RFC 3339.
- ``quantities``: amounts with units. ``extraction``: all of these combined, as the metadata of a stored content.
- ``tokens``: about how many tokens a model reads in a text, and its beginning in so many.
"""
