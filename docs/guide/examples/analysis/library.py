"""The same from a program: each verb answers what it found, and when that was made."""

from polymnia import connect, describe

with connect("notes.db") as memory:
    ticket = memory.remember("The quota of HEL-204 is 5 GB. TODO: say who works on it.").record
    memory.remember("The quota of HEL-204 is 9 GB.")

    found, made = memory.conflicts(types=["factual_conflicts"])
    for one in found.clashes:
        print(one.subtype, "|", one.left.sentence, "|", one.right.sentence)

    quality, made = memory.quality(ticket.uid, dimensions=["completeness", "readability"])
    print([(one.name, one.score is None) for one in quality.dimensions], quality.suggestions[0].fault.quote)

    patterns, made = memory.patterns(["quality_issues", "temporal_patterns"])
    print({type: [one.name for one in each.patterns] for type, each in patterns.items()})

    connections, made = memory.connections(ticket.uid, max_depth=1)
    print([(one.type, one.origin) for one in connections.found])

    insights, made = memory.insights(types=["content_gaps"], horizon="short")
    print([describe(one).summary for one in insights.insights])
