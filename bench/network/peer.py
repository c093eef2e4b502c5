"""The same tool on the official SDK: ``python -m bench.network.peer PORT json|sse``."""

from __future__ import annotations

import sys

import uvicorn
from mcp.server.mcpserver import MCPServer

KEPT = {"Ann": {"name": "Ann", "entityType": "person", "observations": ["Likes tea"]}}
server = MCPServer("peer", log_level="WARNING")


@server.tool()
def open_nodes(names: list[str]) -> dict[str, list[dict[str, object]]]:
    """Open specific nodes in the knowledge graph by their names."""
    return {"entities": [dict(KEPT[name]) for name in names if name in KEPT], "relations": []}


if __name__ == "__main__":
    application = server.streamable_http_app(json_response=sys.argv[2] == "json")
    uvicorn.run(application, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning", access_log=False)
