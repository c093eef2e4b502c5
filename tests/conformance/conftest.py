"""The servers of the tests of the network serve here too."""

from network.conftest import serving

__all__ = ["serving"]
