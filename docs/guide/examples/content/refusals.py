"""What a refusal says."""

import json

from client import server

with server() as call:
    for tool, operation, given in (
        ("memory_retrieve", "get_contents", {}),
        ("memory_retrieve", "search_content", {"query": "tea", "options": {"limit": 1000}}),
        ("memory_retrieve", "get_content", {"content_id": "content_none"}),
    ):
        error = call(tool, operation, **given)
        print(error["code"], error["message"])
        print("   ", json.dumps(error["data"]["details"]))
        for text in error["data"]["suggestions"]:
            print("   ", text)
