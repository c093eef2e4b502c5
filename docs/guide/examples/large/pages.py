"""Walk through everything, a page at a time."""

from polymnia import EntityDraft, connect

with connect("large.db") as memory:
    memory.create_entities([EntityDraft(f"note {i}", "note", (f"Number {i}",)) for i in range(2500)])

    cursor, sizes = None, []
    while True:
        page = memory.read_graph(limit=1000, cursor=cursor)
        sizes.append(len(page.records))
        cursor = page.next
        if cursor is None:
            break
    print(sizes)
