"""The tokens of tool definitions: what a model reads before it can call anything."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from bench import peer

__all__ = ["count", "run"]

_TOKENIZER = "gpt-tokenizer@4.0.0"
_SCRIPT = """
const { encode } = require('gpt-tokenizer/encoding/o200k_base');
const texts = JSON.parse(require('fs').readFileSync(0, 'utf8'));
console.log(JSON.stringify(texts.map((text) => encode(text).length)));
"""
_LISTINGS = Path(peer.ROOT) / "src" / "polymnia" / "dialects" / "listings"


def count(texts: list[str]) -> list[int]:
    """The tokens of texts in the vocabulary of a chat model (o200k_base)."""
    home = Path(peer.ROOT) / ".cache" / "tokenizer"
    if not (home / "node_modules" / "gpt-tokenizer").exists():
        home.mkdir(parents=True, exist_ok=True)
        npm = Path(peer.node()).parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        install = [peer.node(), str(npm), "install", "--prefix", str(home), "--no-save", "--ignore-scripts", _TOKENIZER]
        subprocess.run(install, check=True, capture_output=True)
    done = subprocess.run(
        [peer.node(), "-e", _SCRIPT], input=json.dumps(texts), capture_output=True, text=True, check=True, cwd=home
    )
    return [int(one) for one in json.loads(done.stdout)]


def run() -> dict[str, Any]:
    """The tokens of the definitions of every dialect and of the reference server."""
    listings = {path.stem: json.loads(path.read_bytes()) for path in sorted(_LISTINGS.glob("*.json"))}
    listings["reference server"] = _reference()
    names = list(listings)
    counts = count([_shown(listings[name]) for name in names])
    return {name: {"tools": len(listings[name]), "tokens": n} for name, n in zip(names, counts, strict=True)}


def _shown(tools: list[dict[str, Any]]) -> str:
    """What a client passes to a model of a list of tools."""
    kept = [{key: tool[key] for key in ("name", "description", "inputSchema") if key in tool} for tool in tools]
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":"))


def _reference() -> list[dict[str, Any]]:
    from bench.client import Server

    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "MEMORY_FILE_PATH": os.path.join(folder, "memory.jsonl")}
        with Server([peer.node(), peer.entry()], environment) as server:
            server.hello()
            return list(server.ask("tools/list").message["result"]["tools"])
