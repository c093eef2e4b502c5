"""What an item said before, and what becomes of one that is deleted."""

from client import server

with server() as call:
    item = call("memory_store", "store_content", content="Deploy on Mondays.\nAsk Ann.", user_id="bob")["content_id"]
    updates = {"content": "Deploy on Tuesdays.\nAsk Ann."}
    call("memory_store", "update_content", content_id=item, updates=updates, user_id="ann")

    past = call("memory_retrieve", "get_content_history", content_id=item, include_diffs=True)
    for version in past["versions"]:
        print(version["version"], version["changed_by"].split(" via ")[0], version["changed_fields"])
    print(past["versions"][0]["diff"])

    print(call("memory_store", "delete_content", content_id=item)["message"])
    print(call("memory_retrieve", "get_content", content_id=item)["message"])
    print(call("memory_retrieve", "get_content_history", content_id=item)["deleted"]["restore"])
