"""A result is kept for as long as the project stays what it is."""

from client import server

with server() as call:
    call("store_content", content="The service answers on port 8080.")
    for text in (None, None, "The service answers on port 9090."):
        if text:
            call("store_content", content=text)
        found = call("detect_conflicts")
        print(found["message"], "cached:", found["cached"])

    call("store_content", content="Not yet: the service answers on port 7070.", session_id="monday")
    for given in ({}, {"session_id": "monday"}, {"project_id": "another"}):
        print(given, call("detect_conflicts", **given)["looked_at"]["items"], "items")
