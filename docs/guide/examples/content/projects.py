"""A project as a file, and back; and one that can be shown to others."""

from client import server

with server() as call:
    call("memory_store", "store_content", content="Ann Lee (ann@example.org) keeps the keys.", tags=["people"])
    call("memory_store", "store_content", content="The keys are in the safe.")

    out = call("memory_system", "export_project_data", format="json", include={"history": True})
    print(out["message"], out["encoding"])
    back = call(
        "memory_system",
        "import_project_data",
        project_id="copy",
        source="a copy",
        format="json",
        data=out["data"],
        options={"preserve_ids": True},
    )
    print(back["imported_count"], back["skipped_count"], back["validation_errors"])
    same = call("memory_system", "export_project_data", project_id="copy", format="json", include={"history": True})
    print(same["data"].replace("copy", "atlas") == out["data"])

    wrong = call("memory_system", "import_project_data", source="a list", format="json", data='{"items":[{}]}')
    print(wrong["code"], wrong["message"])

    shown = call(
        "memory_system",
        "export_project_data",
        format="markdown",
        filters={"tags": ["people"]},
        include={"metadata": False},
        options={"anonymize": True},
    )
    print([line for line in shown["data"].splitlines() if "keys" in line])
