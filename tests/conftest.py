"""What all tests share: no network, and little worlds that train in milliseconds."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
import torch


@pytest.fixture(autouse=True, scope="session")
def _no_network() -> Iterator[None]:
    """Refuse every connection that leaves this machine's processes."""

    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError("a test tried to use the network")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", refuse)
        patch.setattr(socket, "create_connection", refuse)
        patch.setattr(socket, "getaddrinfo", refuse)
        yield


@pytest.fixture(autouse=True, scope="session")
def _no_data_of_this_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Know no data set but the embedded one, whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FEDKEEL_DATA", str(tmp_path_factory.mktemp("no-data")))
        yield


@pytest.fixture(autouse=True)
def _generators_untouched() -> Iterator[None]:
    """Start every test from the same global generator, so that none depends on another."""
    torch.manual_seed(0)
    yield
