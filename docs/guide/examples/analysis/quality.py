"""How good a guide is, what to mend, and how it compares with another one."""

from client import server

DRAFT = """# Backup

It should probably be started at some point. The keys were handed over on Friday, 2026-05-02.

TODO: who restores it?
"""
GUIDE = """# Backup

Ann starts the backup on Mondays at 8:00.

1. Run `backup start`.
2. Check that the log says "done".
3. Carry the disk to Ulm.
"""

with server() as call:
    draft, guide = (call("store_content", content=text, tags=["guide"])["content_id"] for text in (DRAFT, GUIDE))
    sides = ["clarity", "completeness", "accuracy", "structure", "readability"]
    found = call(
        "analyze_quality",
        content_id=draft,
        quality_dimensions=sides,
        options={"benchmark_against": [guide]},
    )
    for name, side in found["dimensions"].items():
        print(name, f"{side['score']:.3f}", side.get("note", ""))
    for one in found["suggestions"][:4]:
        print(f"{one['dimension']}: “{one['quote']}” {one['problem']} {one['advice']}")
    (other,) = found["benchmark"]["items"]
    print("worse than the guide in:", [side for side in sides if (other["differences"][side] or 0) < 0])
