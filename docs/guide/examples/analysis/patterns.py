"""Notes of the spring of 2025, and what holds among them."""

import json

from client import server

SAILS = [
    "The mainsail is patched at the foot.",
    "The jib sail tears at the seam.",
    "A sail dries on the boom before it is folded.",
    "The sail maker stitches the torn seam of the mainsail.",
    "Fold the jib along the seam, never across it.",
    "A new mainsail has three rows of reef points.",
    "The spinnaker is a light sail for the wind from behind.",
    "Salt stiffens the cloth of every sail.",
]
BREAD = [
    "The oven is hot before the bread goes in.",
    "Rye bread rests a day before it is cut.",
    "The dough of the rye bread is sour.",
    "Knead the dough until the flour is gone.",
    "Bread of wheat flour wants yeast.",
    "The oven of the bakery burns wood.",
    "Sour dough needs flour and warm water every day.",
    "Yeast makes the dough rise in an hour.",
]
BEES = [
    "The bees of the first hive swarm in May.",
    "A hive has one queen.",
    "Honey is taken from the hive in July.",
    "The queen of the second hive is two years old.",
    "Bees find honey in the linden trees.",
    "Smoke calms the bees before the hive is opened.",
    "A swarm without a queen does not stay in the hive.",
    "Feed the bees sugar when the honey is taken.",
]

texts = [text for three in zip(SAILS, BREAD, BEES, strict=True) for text in three]
times = [f"2025-{3 + day // 30:02}-{1 + day % 30:02}T09:{day % 60:02}:00Z" for day in range(0, 72, 3)]
notes = [{"content": text, "created_at": at, "updated_at": at} for text, at in zip(texts, times, strict=True)]

with server() as call:
    call("import_project_data", source="spring", format="json", data=json.dumps({"items": notes}))

    spring = {"start": "2025-03-01", "end": "2025-06-01"}
    found = call("detect_patterns", options={"time_range": spring, "min_confidence": 0.6})
    for pattern in found["patterns"]:
        print(f"{pattern['confidence']:.3f}", pattern["type"], pattern["name"])
        print("     ", pattern["summary"])
    print(found["counts"])
    for note in found["notes"]:
        if note["type"] in ("usage_patterns", "relationship_patterns"):
            print(note["note"])
