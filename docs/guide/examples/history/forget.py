"""Forget something for good."""

from polymnia import Conflict, EntityDraft, NotFound, connect

with connect("notes.db") as memory:
    memory.create_entities([EntityDraft("diary", "text", ("A secret",))])
    print(memory.purge(["diary"]))

    try:
        memory.undo()
    except Conflict as fault:
        print(fault.message)

    try:
        memory.history("diary")
    except NotFound as fault:
        print(fault.message)
