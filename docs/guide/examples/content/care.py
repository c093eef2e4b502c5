"""Look whether all is well, and cite what is kept."""

from client import server

with server() as call:
    item = call(
        "memory_store",
        "store_content",
        content="# Vectors of Atlas\n\nThey are 512 numbers long.",
        content_type="text/markdown",
        metadata={"author": "Ann Lee", "date": "2026-05-01", "publisher": "Atlas Labs"},
    )["content_id"]

    health = call("memory_system", "check_system_health", components=["database", "cache"])["health"]
    for name, component in health["components"].items():
        print(name, component["status"], "-", component["message"])

    checks = ["orphaned_relationships", "data_consistency", "reference_integrity", "schema_compliance"]
    report = call("memory_system", "validate_data_integrity", checks=checks)
    print(report["message"], report["summary"])

    for style in ("apa", "mla", "chicago", "ieee", "harvard"):
        print(call("memory_system", "generate_citation", content_id=item, style=style)["citation"])
