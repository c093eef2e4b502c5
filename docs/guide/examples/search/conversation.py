"""A question of a conversation, found with its reply."""

from polymnia import connect

with connect("talk.db") as memory:
    for turn in (
        "Ann: Did you get the tickets?",
        "Bob: Yes, both of them.",
        "Ann: When does the ferry to Busan leave?",
        "Bob: At eight, from pier 4.",
    ):
        memory.remember(turn, scope="talks/ann", allow_duplicates=True)

    hit = memory.search("when does the ferry leave", lanes="words").hits[0]
    print(hit.record.observations[0])
    for turn in (hit.previous, hit.next):
        if turn is not None:
            print("-", turn.who, "|", turn.text)
