"""What happens to a text that holds a credential."""

from client import server

TEXT = "The build logs in with password: correct9horse7battery"

for manner in ("flag", "redact", "refuse"):
    with server("--secrets", manner) as call:
        done = call("memory_store", "store_content", content=TEXT)
        if "code" in done:
            print(manner, done["code"], done["message"])
            continue
        findings = done["warnings"][0]["findings"]
        read = call("memory_retrieve", "get_content", content_id=done["content_id"])
        print(manner, [found["kind"] for found in findings], read["content"]["content"])
