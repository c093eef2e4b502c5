"""The network from the command line: the server, and the keys that open it."""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import Any

from polymnia.app import key_file, misspelt, passed_over
from polymnia.cli.output import dim, print_json, shown, strong
from polymnia.errors import Invalid
from polymnia.importing import importing
from polymnia.keys import Key
from polymnia.settings import Settings

__all__ = ["keys", "serve"]

_FIRST = " It is the first: from now on a server asks for a key, one that runs already and on this machine too."


def serve(arguments: Namespace, chosen: Settings) -> int:
    """Serve many clients until a signal comes."""
    with importing():
        from polymnia.app.network import serve_http

    def ready(address: str) -> None:
        print(f"Serving every dialect at {address}/mcp (also /sse and /ws). Ctrl-C ends it.", file=sys.stderr)

    for text in (*misspelt(), *passed_over(chosen)):
        print(f"polymnia: {text}", file=sys.stderr)
    serve_http(chosen, ready)
    return 0


def keys(arguments: Namespace, chosen: Settings) -> int:
    """Make, list or revoke keys."""
    file = key_file(chosen)
    if arguments.action == "list":
        found = file.keys()
        if arguments.json:
            print_json([_data(key) for key in found])
            return 0
        for key in found:
            print(f"{strong(key.id)}  {key.name}  {_opens(key)}  {dim(shown(key.created)[:10])}")
        print(dim(f"{len(found):,} {'key' if len(found) == 1 else 'keys'} in {file.path}."))
        return 0
    if not arguments.which:
        if arguments.action == "add":
            raise Invalid("keys add needs a name for the key", hint="Say whose it is: polymnia keys add NAME")
        raise Invalid("keys revoke needs the id of a key", hint="polymnia keys list shows the ids.")
    if arguments.action == "revoke":
        gone = file.revoke(arguments.which)
        if arguments.json:
            print_json({"revoked": _data(gone)})
        else:
            print(f"{gone.name} ({gone.id}) opens nothing any more.")
        return 0
    metrics = arguments.access == "metrics"
    if metrics and arguments.projects:
        raise Invalid("A key with --access metrics opens no project", hint="Leave out --for.")
    projects = () if metrics else tuple(arguments.projects) or None
    key, text = file.add(arguments.which, projects=projects, write=arguments.access == "write", metrics=metrics)
    if arguments.json:
        print_json({"key": text, **_data(key)})
    else:
        print(text)
        print(
            dim(
                f"This is {key.name} ({key.id}): {_opens(key)}. It is shown this once and kept nowhere."
                + (_FIRST if len(file.keys()) == 1 else "")
            ),
            file=sys.stderr,
        )
    return 0


def _opens(key: Key) -> str:
    if key.metrics and not key.projects:
        return "read /metrics"
    where = "all projects" if key.projects is None else ", ".join(key.projects)
    return f"{'read and write' if key.write else 'read'} {where}"


def _data(key: Key) -> dict[str, Any]:
    return {
        "id": key.id,
        "name": key.name,
        "projects": None if key.projects is None else list(key.projects),
        "access": "metrics" if key.metrics else "write" if key.write else "read",
        "created": shown(key.created),
    }
