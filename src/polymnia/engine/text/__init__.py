"""Text: the one reader of texts. It imports nothing else of the engine.

- ``document``: ``blocks(text)``, the one parser of Markdown (headings, fences, lists, tables, paragraphs, with their
  places); ``document(text, content_type)``, any content type as blocks, headings, code and links; ``plain`` (a block
  without the signs of Markdown), ``without_code``, ``links``, ``mails``, ``MAIL``, ``PLACEHOLDER``. ``html`` and
  ``code`` read HTML and tell the language of a program.
- ``sentences``: ``spans`` and ``sentences`` of a paragraph, ``asks``, ``is_label``, ``ends_short`` (abbreviations),
  ``count_words`` with the time they take to read.
- ``language``: ``script(text)``, ``spoken(text)`` (code and name), ``language(words)``, ``fold``, ``stem``, ``CODES``.
- ``words``: index ``terms`` of a text, ``groups`` of a query, ``similar`` spellings.
- ``keywords``: the most telling words of a text. ``names``: whom and what it names. ``korean``: particles, names.
- ``dates``: what a text ``mentioned`` and a query ``asked`` for; its grammar in ``date_grammar``.
- ``calendar``: days, months and years as spans; times as RFC 3339 (``moment``, ``read_moment``).
- ``quantities``: amounts with their units. ``lexicon``: word lists (``STOPWORDS``, ``GENERAL``, ``GIVEN_NAMES``).
- ``extraction``: ``extracted(text)``, all of it together, as the metadata of a stored content.
"""
