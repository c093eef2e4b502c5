"""Filters, reasons, pieces and a budget."""

from polymnia import EntityDraft, Filters, connect, describe, remark

with connect("atlas.db") as memory:
    memory.create_entities(
        [
            EntityDraft("cache", "decision", ("The cache holds a day",), tags=("speed",), scope="atlas/api"),
            EntityDraft("release", "note", ("The cache was emptied",), metadata={"version": 3}),
            EntityDraft(
                "manual", "document", ("How to start. " * 100 + "Empty the cache by hand. " + "The end. " * 100,)
            ),
        ]
    )

    for wanted in (
        Filters(kinds=("decision", "note")),
        Filters(tags=("speed",)),
        Filters(scope="atlas", scopes_below=True),
        Filters(metadata={"version": 3}),
    ):
        found = memory.search("cache", filters=wanted, lanes="words")
        print(sorted(hit.record.name for hit in found.hits))

    hit = memory.search("emptying the cache by hand", lanes="words").hits[0]
    piece = hit.fragments[0]
    print(hit.record.name, "|", describe(hit).summary)
    print(piece.observation, [piece.text[start:end] for start, end in piece.marks])

    found = memory.search("cache", lanes="words", facets=True, max_tokens=100)
    print(found.total, dict(found.facets["kinds"]))
    print([remark(note) for note in found.notes])
