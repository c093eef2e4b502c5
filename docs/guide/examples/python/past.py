"""History, undo, and the past."""

from polymnia import Conflict, EntityDraft, connect

with connect("notes.db", who="past.py") as memory:
    memory.create_entities([EntityDraft("Ann", "person", ("Likes tea",))])
    memory.add_observations([("Ann", ["Lives in Ulm"])])
    memory.delete_entities(["Ann"])

    undone = memory.undo()
    print("undone:", undone.id, undone.action)

    for event in memory.history("Ann"):
        print(event.change.id, event.change.who, event.change.action, event.added, event.removed)

    first = memory.change(1)
    assert first is not None
    then, _ = memory.get("Ann", at=first.at)
    print("then:", then.observations)
    print("all of it then:", len(memory.as_of(first.at).records))

    try:
        memory.undo(1)
    except Conflict as fault:
        print(fault.message, fault.changes)
