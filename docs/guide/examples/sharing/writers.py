"""Four processes write to one store at the same time."""

from multiprocessing import get_context

from polymnia import EntityDraft, connect


def work(number: int) -> None:
    """Store 25 entities, one at a time."""
    with connect("shared.db", who=f"writer {number}") as memory:
        for i in range(25):
            memory.create_entities([EntityDraft(f"note {number}-{i}", "note", ("Written.",))])


if __name__ == "__main__":
    with get_context("spawn").Pool(4) as pool:
        pool.map(work, range(4))
    with connect("shared.db") as memory:
        print(memory.count())
        print(sorted({change.who for change in memory.changes(100)}))
