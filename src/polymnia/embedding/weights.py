"""The weight files that come with the package, trusted by their hash."""

from __future__ import annotations

import os
from typing import NamedTuple

from polymnia.errors import NoModel

__all__ = ["SHIPPED", "Weights", "installed"]

_SUMS = "SHA256SUMS"
_HINT = "Run `pip install --force-reinstall --no-deps polymnia`; search by words works without it."


class Weights(NamedTuple):
    """A folder of weight files with a list of their SHA-256."""

    folder: str

    def has(self, *names: str) -> bool:
        """Whether the files are there; cheap, and says nothing about their content."""
        return all(os.path.isfile(os.path.join(self.folder, name)) for name in names)

    def verified(self, *names: str) -> list[str]:
        """The paths of files, all of which have the expected content. Raises NoModel otherwise."""
        expected = self._expected()
        return [self._checked(name, expected.get(name)) for name in names]

    def check(self) -> None:
        """Raise NoModel where one of the files is missing or not the right one."""
        self.verified(*self._expected())

    def _expected(self) -> dict[str, str]:
        path = os.path.join(self.folder, _SUMS)
        try:
            with open(path, encoding="ascii") as stream:
                lines = [line.split() for line in stream if line.strip()]
            return {name: sha256 for sha256, name in lines}
        except OSError as error:
            raise _unreadable(path, error) from error
        except ValueError as error:
            raise NoModel(
                f"The file {path} is damaged: it should list the SHA-256 of every model file", hint=_HINT, path=path
            ) from error

    def _checked(self, name: str, expected: str | None) -> str:
        path = os.path.join(self.folder, name)
        try:
            found = _sha256(path)
        except OSError as error:
            raise _unreadable(path, error) from error
        if found != expected:
            wanted = f"expected {expected}" if expected else f"and {_SUMS} does not list it"
            raise NoModel(
                f"The model file {path} is not the one of this version of Polymnia: its SHA-256 is {found}, {wanted}; "
                "it was not used",
                hint=_HINT,
                path=path,
                sha256=found,
                expected=expected,
            )
        return path


SHIPPED = Weights(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "weights"))


def installed(library: str) -> bool:
    """Whether a library could be imported; it is not."""
    from importlib.util import find_spec

    return find_spec(library) is not None


def _unreadable(path: str, error: OSError) -> NoModel:
    return NoModel(f"The model file {path} cannot be read: {error.strerror or error}", hint=_HINT, path=path)


def _sha256(path: str) -> str:
    import hashlib

    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
