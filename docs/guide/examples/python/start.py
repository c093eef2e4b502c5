"""Store, relate, extend, find."""

from polymnia import EntityDraft, connect

with connect("notes.db") as memory:
    memory.create_entities(
        [
            EntityDraft("Ann", "person", ("Likes tea",)),
            EntityDraft("Bob", "person", ("Plays chess",)),
        ]
    )
    memory.create_relations([("Ann", "Bob", "knows")])
    memory.add_observations([("Ann", ["Lives in Ulm"])])

    found = memory.search_nodes("ulm")
    for record in found.records:
        print(record.name, record.kind, record.observations)
    for relation in found.relations:
        print(relation.source, relation.type, relation.target)

    opened, missing = memory.open_nodes(["Bob", "Cleo"])
    print([record.name for record in opened.records], missing)
    print(memory.count())
