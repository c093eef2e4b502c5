"""What goes wrong is an exception that knows what to do about it."""

from polymnia import AlreadyExists, EntityDraft, Fault, Invalid, MissingEnds, connect

with connect("notes.db") as memory:
    memory.create_entities([EntityDraft("Ann", "person", ("Likes tea",))])

    try:
        memory.create_entities(
            [
                EntityDraft("Bob", "person", ("Plays chess",)),
                EntityDraft("Ann", "person", ("Likes coffee",)),
            ]
        )
    except AlreadyExists as fault:
        print(fault.code, fault.names)

    try:
        memory.create_relations([("Ann", "Bob", "knows")])
    except MissingEnds as fault:
        print(fault.message)

    try:
        memory.add_observations([("Ann", "Lives in Ulm")])
    except Invalid as fault:
        print(fault.message)
        print(fault.hint)

    try:
        memory.undo(99)
    except Fault as fault:
        print(type(fault).__name__, fault.message)

    print(memory.count())
