"""Store a document and a decision, change one, and relate the two."""

from client import server

with server() as call:
    manual = call(
        "memory_store",
        "store_content",
        content="# Atlas\n\nThe service answers on port 8080. Ann Lee keeps the keys since 2026-05-01.",
        content_type="text/markdown",
        tags=["manual"],
        metadata={"team": "blue"},
        options={"extract_metadata": True},
    )
    print(manual["message"], "as", manual["content_id"])
    print(manual["metadata"]["title"], manual["metadata"]["extracted"]["language"], sorted(manual["metadata"]))

    decision = call(
        "memory_store",
        "store_decision",
        title="Keep everything in SQLite",
        context="Atlas has to run on one machine.",
        decision="One SQLite file holds all data.",
        rationale="A file is easy to copy.",
        alternatives=["a database server"],
    )
    print(decision["message"])

    both = {"source_id": decision["content_id"], "target_id": manual["content_id"]}
    drawn = call("memory_store", "create_relationship", **both, type="references", strength=0.8)
    print(drawn["message"])

    changed = call(
        "memory_store",
        "update_content",
        content_id=manual["content_id"],
        updates={"tags": ["manual", "network"], "metadata": {"checked": True}},
    )
    print(changed["message"], "to version", changed["version"])
    print("team" in changed["metadata"], "checked" in changed["metadata"])
