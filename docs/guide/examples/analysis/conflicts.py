"""Statements that cannot both hold, and a suggestion that is followed."""

from client import server

STATEMENTS = [
    "The service answers on port 8080.",
    "The service answers on port 9090.",
    "The billing service stores card numbers.",
    "The billing service does not store card numbers.",
    "You should squash commits before merging to main.",
    "You should not squash commits before merging to main.",
    "Since 2026-03-01 the timeout of the gateway is 30 seconds.",
    "Since 2026-05-01 the timeout of the gateway is 10 seconds.",
    "결제 서버의 포트는 8080이다.",
    "결제 서버의 포트는 9090이다.",
    "The office in Ulm has two rooms.",
]

with server() as call:
    for text in STATEMENTS:
        call("store_content", content=text)

    found = call("detect_conflicts")
    for one in sorted(found["conflicts"], key=lambda one: (one["type"], one["statements"][0]["sentence"])):
        print(f"{one['confidence']:.3f} {one['type']} ({one['subtype']}): {one['differs']}")
        for side in one["statements"]:
            print("     ", side["sentence"])
        print("      suggestion:", one["resolution"]["action"])

    (change,) = [one for one in found["conflicts"] if one["resolution"]["action"] != "ask"]
    print(change["resolution"]["why"])
    step = change["resolution"]["call"]
    print(step["tool"], step["arguments"])
    call(**step["arguments"])
    print(call("detect_conflicts")["message"])
