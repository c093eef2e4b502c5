"""The same verbs with other manners."""

from polymnia import EntityDraft, Policy, connect

with connect("notes.db", graph="simple") as memory:
    memory.create_entities([EntityDraft("Ann", "person", ("Likes tea",))])
    memory.create_entities([EntityDraft("Ann", "person", ("Likes coffee",))])
    print(memory.get("Ann")[0].observations)

    careful = memory.acting("a careful script", Policy(taken_name="keep", missing_end="keep"))
    careful.create_entities([EntityDraft("Ann", "person", ("Likes water",))])
    careful.create_relations([("Ann", "somebody yet to come", "waits_for")])
    print(memory.get("Ann")[0].observations)

    for change in memory.changes():
        print(change.id, change.who, change.action)
