"""A publisher on this machine, as helpful or as hindering as a test wants."""

from __future__ import annotations

import _socket
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


@dataclass
class Publisher:
    """What is served, and how; ``asked`` collects the ranges that were asked for.

    Files that ``more`` does not name have the one content.
    """

    content: bytes = b""
    more: dict[str, bytes] = field(default_factory=dict)
    ranges: bool = True
    cuts: int = 0  # connections that end half-way through what is left
    status: int = 200
    length: bool = True
    moved: int = 0  # redirections before the file
    asked: list[str | None] = field(default_factory=list)
    port: int = 0

    def url(self, file: str = "set.gz") -> str:
        return f"http://127.0.0.1:{self.port}/{file}"


@contextmanager
def serving(publisher: Publisher) -> Iterator[Publisher]:
    """Serve until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            _answer(self, publisher)

        def log_message(self, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        publisher.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=(0.005,))
        thread.start()
        try:
            yield publisher
        finally:
            server.shutdown()
            thread.join()


def allow_this_machine(patch: pytest.MonkeyPatch) -> None:
    """Let connections to this machine through again, and those alone."""

    def connect(address: tuple[str, int], timeout: float, *rest: Any) -> socket.socket:
        assert address[0] == "127.0.0.1"
        made = socket.socket()
        made.settimeout(timeout)
        try:
            _socket.socket.connect(made, address)
        except OSError:
            made.close()
            raise
        return made

    patch.setattr(socket, "create_connection", connect)
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy"):
        patch.delenv(name, raising=False)


def closed_port() -> int:
    """Return a port of this machine that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def _answer(handler: BaseHTTPRequestHandler, publisher: Publisher) -> None:
    wanted = handler.headers.get("Range")
    publisher.asked.append(wanted)
    if publisher.moved:
        publisher.moved -= 1
        handler.send_response(302)
        handler.send_header("Location", publisher.url("elsewhere.gz"))
        handler.end_headers()
        return
    if publisher.status != 200:
        handler.send_error(publisher.status)
        return
    content = publisher.more.get(handler.path.lstrip("/"), publisher.content)
    start = int(wanted[len("bytes=") : -1]) if wanted and publisher.ranges else 0
    if start and start >= len(content):
        handler.send_error(416)
        return
    _send(handler, publisher, content, start)


def _send(
    handler: BaseHTTPRequestHandler, publisher: Publisher, content: bytes, start: int
) -> None:
    handler.send_response(206 if start else 200)
    if start:
        handler.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
    if publisher.length:
        handler.send_header("Content-Length", str(len(content) - start))
    handler.end_headers()
    end = len(content)
    if publisher.cuts:
        publisher.cuts -= 1
        end = start + (len(content) - start) // 2
    handler.wfile.write(content[start:end])
