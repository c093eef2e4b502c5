"""What an item has to do with others: what was drawn, and what the texts show."""

from client import server

with server() as call:
    manual = call("store_content", content="# Manual of the pumps\n\nEach pump has a valve.")["content_id"]
    plan = call("store_content", content="Repair plan: open the valve, then mend the pump.")["content_id"]
    report = call("store_content", content="All went well. See [[Manual of the pumps]].")["content_id"]
    call("create_relationship", source_id=plan, target_id=manual, type="implements", strength=0.9)
    call("create_relationship", source_id=report, target_id=plan, type="follows", strength=0.8)

    found = call("find_content_relationships", content_id=manual, max_depth=2)
    for one in found["relationships"]:
        print(f"{one['strength']:.3f} {one['type']} ({one['direction']}, {one['origin']}): {one['title']}")
        if one["context"]:
            print("     ", one["context"])
        if one["depth"] > 1:
            print("      by way of:", " > ".join(step["type"] for step in one["path"]))
