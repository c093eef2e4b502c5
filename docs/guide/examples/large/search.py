"""One query in the manners of each dialect."""

from polymnia import EntityDraft, connect

with connect("large.db") as memory:
    memory.create_entities(
        [
            EntityDraft("tokens", "decision", ("Access tokens expire after 1 hour",)),
            EntityDraft("login", "feature", ("Asks for a name and a word, then uses access tokens for a session",)),
            EntityDraft("Straße", "place", ("A street",)),
        ]
    )

for manners in ("strict", "simple", "bilingual", "official"):
    with connect("large.db", graph=manners) as memory:
        for query in ("ACCESS TOKENS", "how long until tokens expire", "strasse"):
            print(manners, "|", query, "|", [record.name for record in memory.search_nodes(query).records])
