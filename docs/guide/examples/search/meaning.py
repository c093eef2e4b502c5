"""Questions that share no word with their answers."""

import json
import os

from polymnia import EntityDraft, connect

os.environ["POLYMNIA_EMBEDDER"] = "use"  # the model that comes with Polymnia

with open("notes.jsonl", encoding="utf-8") as file:
    notes = [json.loads(line) for line in file]

with connect("notes.db") as memory:
    memory.create_entities([EntityDraft(n["name"], n["entityType"], tuple(n["observations"])) for n in notes])
    for question in (
        "a member of a rock group",
        "the capital of South Korea",
        "Bis wann muss ich zahlen?",
        "아침에 차를 마시는 사람",
    ):
        print(question, "->", memory.search(question).hits[0].record.name)
