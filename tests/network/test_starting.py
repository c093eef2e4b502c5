"""The start of a server: what it refuses to start with, and what it says then."""

from __future__ import annotations

import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from polymnia.keys import KeyFile

from .served import Served


def refusal(serving: Callable[..., Served], folder: Path, *flags: str) -> str:
    """What a server says that does not start."""
    served = serving(*flags, folder=folder, wait=False)
    assert served.code() != 0
    assert "Traceback" not in served.log
    return served.log


def key_file(folder: Path) -> KeyFile:
    """The file of keys of a server in a folder."""
    return KeyFile(str(folder / "config" / "polymnia" / "keys.json"))


@pytest.mark.promise("network.starting.keys")
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7"])
def test_where_others_can_reach_it_it_does_not_start_without_keys(
    serving: Callable[..., Served], tmp_path: Path, host: str
) -> None:
    said = refusal(serving, tmp_path, "--host", host)
    assert f"Others can reach {host}, so keys are needed" in said
    assert "polymnia keys add" in said


@pytest.mark.promise("network.starting.host")
@pytest.mark.parametrize("host", ["", "memory..example", "1::2::3"])
def test_a_host_that_is_none_is_told_before_keys_are_asked_for(
    serving: Callable[..., Served], tmp_path: Path, host: str
) -> None:
    said = refusal(serving, tmp_path, "--host", host)
    assert f"host is {host!r}, which is no address and no name of one" in said
    assert "keys" not in said


@pytest.mark.promise("network.starting.keys")
def test_with_a_key_it_starts_anywhere_and_asks_for_it(serving: Callable[..., Served], tmp_path: Path) -> None:
    _, text = key_file(tmp_path).add("first")
    served = serving("--host", "0.0.0.0", folder=tmp_path)
    assert served.status("GET", "/mcp") == 401
    assert served.status("GET", "/mcp", key=text) == 405


@pytest.mark.promise("network.starting.loopback")
def test_by_itself_it_listens_on_loopback_alone(serving: Callable[..., Served]) -> None:
    served = serving()
    assert served.status("GET", "/readyz") == 200
    address = next(
        (
            one[4][0]
            for one in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)
            if one[4][0][:4] != "127."
        ),
        None,
    )
    if address is None:
        pytest.skip("this machine has no address but loopback")
    with pytest.raises(OSError):
        socket.create_connection((str(address), served.port), 2)


@pytest.mark.long
@pytest.mark.promise("network.keys.file")
@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", '{"version": 2, "keys": []}', '{"keys": []}', '{"version": 1, "keys": [{"id": "x"}]}', "\udcff",
     '{"version": 1, "keys": [{"id": "x", "name": "x", "digest": "x", "created": 1, "write": true, "only": ["a"]}]}'],
)  # fmt: skip
def test_it_does_not_start_with_a_file_of_keys_that_is_broken(
    serving: Callable[..., Served], tmp_path: Path, content: str
) -> None:
    path = Path(key_file(tmp_path).path)
    path.parent.mkdir(parents=True)
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    path.chmod(0o600)
    assert "keys.json cannot be read" in refusal(serving, tmp_path)


@pytest.mark.promise("network.keys.file")
def test_it_does_not_start_with_a_file_of_keys_that_others_may_write(
    serving: Callable[..., Served], tmp_path: Path
) -> None:
    file = key_file(tmp_path)
    file.add("first")
    Path(file.path).chmod(0o666)
    assert "can be written by others" in refusal(serving, tmp_path)
    assert stat.S_IMODE(Path(file.path).stat().st_mode) == 0o666


@pytest.mark.promise("network.starting.folder")
def test_nothing_is_read_from_the_working_folder(serving: Callable[..., Served], tmp_path: Path) -> None:
    (tmp_path / "polymnia.toml").write_text('host = "0.0.0.0"\nallowed_hosts = "evil.example"\nkeys = "keys.json"\n')
    KeyFile(str(tmp_path / "keys.json")).add("planted")
    served = serving(folder=tmp_path)
    assert served.status("GET", "/readyz") == 200
    assert served.status("GET", "/readyz", Host="evil.example") == 421


@pytest.mark.promise("network.starting.taken")
def test_a_port_that_is_taken_is_told_in_a_sentence(serving: Callable[..., Served], tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert f"Cannot listen on 127.0.0.1:{port}: Address already in use\n" in refusal(
            serving, tmp_path, f"--port={port}"
        )


@pytest.mark.promise("network.starting.variables")
def test_a_misspelt_variable_is_told(serving: Callable[..., Served], tmp_path: Path) -> None:
    served = serving(folder=tmp_path, before="import os; os.environ['POLYMNIA_RATE_LIMTI'] = '5'")
    assert "POLYMNIA_RATE_LIMTI is no setting; did you mean POLYMNIA_RATE_LIMIT?" in served.log


@pytest.mark.promise("network.oauth.settings")
def test_an_issuer_whose_keys_cannot_be_trusted_is_refused(serving: Callable[..., Served], tmp_path: Path) -> None:
    for issuer in ("http://issuer.example", "issuer.example", "file:///etc/passwd", "http://[::1"):
        assert "by https alone" in refusal(serving, tmp_path, "--oauth-issuer", issuer)
    missing = ("--oauth-issuer", "https://issuer.example", "--oauth-keys", str(tmp_path / "none.json"))
    assert "cannot be read" in refusal(serving, tmp_path, *missing)
    assert "need oauth_issuer" in refusal(serving, tmp_path, "--oauth-keys", "jwks.json")
    assert "need oauth_issuer" in refusal(serving, tmp_path, "--oauth-audience", "https://memory.example/mcp")
    assert "needs oauth_audience" in refusal(serving, tmp_path, *missing, "--port", "0")
