"""What is missing, what could be saved, and what cannot be told."""

from client import server

NOTES = [
    ("# Pumps\n\nThe pump house is described in [[Manual of the pumps]].\n\nTODO: say who pays.", "pump-house"),
    ("Who owns the key of the windmill cellar?", "windmill"),
    ("The northern lighthouse was rebuilt after the storm with a taller tower of white stone.", "lighthouse"),
    ("The northern lighthouse was rebuilt after the storm with a taller tower of white stone.", "Lighthouse"),
    ("The ferry to the island leaves at eight.", "ferry"),
]

with server() as call:
    for text, tag in NOTES:
        call("store_content", content=text, tags=[tag])

    wanted = ["content_gaps", "efficiency_opportunities", "usage_insights"]
    found = call("generate_insights", insight_types=wanted)
    for one in found["insights"]:
        print(f"{one['confidence']:.3f} {one['type']} ({one['name']})")
        print("     ", one["summary"])
        for step in one.get("calls", []):
            print("     ", step["tool"], step["arguments"])
    for note in found["notes"]:
        print(note)
