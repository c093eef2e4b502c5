"""What a whole session leaves behind and whom it calls: nothing outside its own files, and nobody.

With strace every file that is opened for writing and every socket is seen, whoever opens it, native code included;
without it what lies below the home folder is compared.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import every_call
from unit.inference.onnx_file import encoder

_STRACE = shutil.which("strace")
_CALLS = "open,openat,creat,mkdir,mkdirat,rename,renameat,renameat2,socket,connect,sendto,sendmsg"
_CHANGES = ("O_WRONLY", "O_RDWR", "O_CREAT")
_LOOK_UPS = ("/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf")
# A model reads what is stored, what is asked, and the word that the check has it read.
_USED = ("create_entities", "memory_store", "memory_search", "memory_system check_system_health")


def _models(folder: Path) -> Iterator[str]:
    """Every model that can be had: the ones installed, and a tiny one in a folder for what runs ONNX models."""
    yield from (one for one in every_call.embedders() if one != "none")
    pytest.importorskip("onnxruntime")
    pytest.importorskip("tokenizers")
    folder.mkdir()
    words = {"?": 0, "gateway": 1, "port": 2}
    tokenizer = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
        "pre_tokenizer": {"type": "Whitespace"}, "post_processor": None, "decoder": None,
        "model": {"type": "WordLevel", "vocab": words, "unk_token": "?"},
    }  # fmt: skip
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    (folder / "model.onnx").write_bytes(encoder([[0.0, 0.0, 1.0], [3.0, 0.0, 0.0], [0.0, 3.0, 0.0]]))
    yield f"onnx:{folder}"


def _tracing(log: Path) -> list[str]:
    """The program that traces another one; nothing where a process may not be traced."""
    if _STRACE is None:
        return []
    command = [_STRACE, "-f", "--seccomp-bpf", "-qq", "-e", f"trace={_CALLS}", "-o", str(log)]
    works = subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0
    return command if works else []


@pytest.mark.promise("everywhere.private")
def test_a_session_with_any_model_writes_only_its_own_files_and_calls_nobody(tmp_path: Path) -> None:
    for number, embedder in enumerate(_models(tmp_path / "model")):
        folder = tmp_path / f"{number}"
        folder.mkdir()
        seed = every_call.Seed(folder / "memory.db", ("",), ("",))
        log = tmp_path / f"{number}.trace"
        tracing = _tracing(log)
        quiet = {"PYTHONDONTWRITEBYTECODE": "1"}
        with every_call.opened("stdio", seed.store, embedder, environment=quiet, before=tracing) as session:
            for place, label in enumerate(_USED):
                (id,) = session.send([every_call.call(label, seed, place)])
                assert "error" not in session.answer(id), label
            session.finish()
        own = re.compile(r"memory\.db(-wal|-shm|-lock|-journal|\.new)?$|stderr\.txt$")
        assert not [str(path) for path in folder.rglob("*") if path.is_file() and not own.search(path.name)], embedder
        if tracing:
            assert not _strange(log.read_text(errors="replace"), folder, own), embedder


_EVERY_MODEL = """
from polymnia import inference
texts = ["The gateway listens on port 8080.", "인증 서버는 매주 다시 시작된다."]
for model in inference.choose("auto"):
    assert len(model.embed(texts)) == 2
assert len(inference.reranker("on").score("Which port?", texts)) == 2
assert len(inference.judge("auto").judge([(texts[0], texts[1]), (texts[0], texts[0])])) == 2
"""


@pytest.mark.long
@pytest.mark.promise("everywhere.private")
def test_no_shipped_model_writes_a_file_or_opens_a_socket(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    home, log = tmp_path / "home", tmp_path / "trace"
    home.mkdir()
    quiet = {"PYTHONDONTWRITEBYTECODE": "1", "HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}
    tracing = _tracing(log)
    subprocess.run([*tracing, sys.executable, "-c", _EVERY_MODEL], env={**os.environ, **quiet}, cwd=home, check=True)
    assert not list(home.rglob("*"))
    if tracing:
        assert not _strange(log.read_text(errors="replace"), home, re.compile("$^"))


def _strange(trace: str, folder: Path, own: re.Pattern[str]) -> list[str]:
    """The lines of a trace that open something else than our own files for writing, or a way out of the machine."""
    found = []
    for line in trace.splitlines():
        if re.search(r"\b(socket|connect|sendto|sendmsg)\(", line):
            if "AF_INET" in line or "/resolv" in line:
                found.append(line)
            continue
        if " = -1 " in line or " resumed>" in line:  # where it began, all that matters was written
            continue
        path = next(iter(re.findall(r'"([^"]*)"', line)), "")
        changes = any(flag in line for flag in _CHANGES) or not re.search(r"\bopen(at)?\(", line)
        if path in _LOOK_UPS or (
            changes and not path.startswith(("/dev/", "/proc/")) and not (own.search(path) and str(folder) in path)
        ):
            found.append(line)
    return found
