"""What is the same, what is near, and where a text belongs."""

import os

from polymnia import connect

os.environ["POLYMNIA_EMBEDDER"] = "use"  # the model that comes with Polymnia

with connect("notes.db") as memory:
    for scope, text in (
        ("home/pets", "The dog has to see the vet in May"),
        ("home/pets", "the dog has to see the vet in May."),
        ("home/pets", "The dog has to see the vet in June"),
        ("work/billing", "The billing service keeps its data in PostgreSQL"),
        ("work/billing", "We moved the invoices of the billing service to PostgreSQL"),
    ):
        done = memory.remember(text, scope=scope)
        print("known" if done.duplicate else "new  ", text)
        for record, _ in done.associations:
            print("      linked to:", record.observations[0])

    for text in ("개가 5월에 수의사에게 가야 한다", "invoice totals are stored in the database", "Snow is white"):
        found = memory.suggest_scope(text)
        print(text, "->", "not sure" if found.abstained else found.scope)
