"""Fetching: whole or not at all, resumed, checked, and every way it fails in one line."""

from __future__ import annotations

import fcntl
import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from fedkeel.data.sets.arrival import Remote
from fedkeel.data.sets.fetch import fetch
from fedkeel.errors import InputError
from tests.data.serving import Publisher, allow_this_machine, closed_port, serving

CONTENT = bytes(range(256)) * 4000  # four blocks


@pytest.fixture
def publisher(monkeypatch: pytest.MonkeyPatch) -> Iterator[Publisher]:
    allow_this_machine(monkeypatch)
    with serving(Publisher(CONTENT)) as made:
        yield made


def _remote(publisher: Publisher) -> Remote:
    return Remote(publisher.url(), "set.gz", hashlib.md5(CONTENT).hexdigest())


def _refused(remote: Remote, folder: Path, *words: str) -> None:
    with pytest.raises(InputError) as caught:
        fetch(remote, folder)
    assert "\n" not in str(caught.value)
    for word in words:
        assert word in str(caught.value)


def test_a_file_arrives_whole_and_is_told_of(publisher: Publisher, tmp_path: Path) -> None:
    told: list[tuple[int, int | None]] = []
    path = fetch(_remote(publisher), tmp_path / "new", lambda *said: told.append(said))
    assert path == tmp_path / "new" / "set.gz"
    assert path.read_bytes() == CONTENT
    assert [file.name for file in path.parent.iterdir()] == ["set.gz"]
    assert told[0] == (0, len(CONTENT)) and told[-1] == (len(CONTENT), len(CONTENT))
    assert [done for done, _ in told] == sorted({done for done, _ in told})


def test_what_is_here_is_not_asked_for(publisher: Publisher, tmp_path: Path) -> None:
    (tmp_path / "set.gz").write_bytes(CONTENT)
    assert fetch(_remote(publisher), tmp_path).read_bytes() == CONTENT
    assert publisher.asked == []


def test_what_is_here_and_wrong_is_left_and_named(publisher: Publisher, tmp_path: Path) -> None:
    (tmp_path / "set.gz").write_bytes(b"mine")
    _refused(_remote(publisher), tmp_path, "set.gz", "checksum differs", "remove it")
    assert (tmp_path / "set.gz").read_bytes() == b"mine"


@pytest.mark.parametrize("kind", ["md5", "sha256"])
def test_either_checksum_is_checked(publisher: Publisher, tmp_path: Path, kind: str) -> None:
    right = hashlib.new(kind, CONTENT).hexdigest()
    assert fetch(Remote(publisher.url(), "a", **{kind: right}), tmp_path).is_file()
    _refused(Remote(publisher.url(), "b", **{kind: right[::-1]}), tmp_path, "checksum", "--from")
    assert not list(tmp_path.glob("b*"))


def test_the_better_checksum_wins(publisher: Publisher, tmp_path: Path) -> None:
    sha256 = hashlib.sha256(CONTENT).hexdigest()
    assert fetch(Remote(publisher.url(), "a", "0" * 32, sha256), tmp_path).is_file()


def test_without_a_checksum_the_length_has_to_do(publisher: Publisher, tmp_path: Path) -> None:
    remote = Remote(publisher.url(), "set.gz")
    assert fetch(remote, tmp_path).read_bytes() == CONTENT
    assert fetch(remote, tmp_path).read_bytes() == CONTENT
    assert len(publisher.asked) == 1


def test_it_goes_on_where_it_stopped(publisher: Publisher, tmp_path: Path) -> None:
    (tmp_path / "set.gz.part").write_bytes(CONTENT[:1000])
    assert fetch(_remote(publisher), tmp_path).read_bytes() == CONTENT
    assert publisher.asked == ["bytes=1000-"]


def test_a_server_without_ranges_begins_again(publisher: Publisher, tmp_path: Path) -> None:
    publisher.ranges = False
    (tmp_path / "set.gz.part").write_bytes(CONTENT[:1000])
    assert fetch(_remote(publisher), tmp_path).read_bytes() == CONTENT


@pytest.mark.parametrize("part", [b"of another file", CONTENT + b"too long", CONTENT[:-1] + b"x"])
def test_a_part_of_something_else_is_thrown_away(
    publisher: Publisher, tmp_path: Path, part: bytes
) -> None:
    (tmp_path / "set.gz.part").write_bytes(part)
    assert fetch(_remote(publisher), tmp_path).read_bytes() == CONTENT


def test_a_whole_part_is_not_asked_for(publisher: Publisher, tmp_path: Path) -> None:
    (tmp_path / "set.gz.part").write_bytes(CONTENT)
    assert fetch(_remote(publisher), tmp_path).read_bytes() == CONTENT
    assert publisher.asked == []


def test_cut_connections_are_made_again(publisher: Publisher, tmp_path: Path) -> None:
    publisher.cuts = 3
    assert fetch(_remote(publisher), tmp_path).read_bytes() == CONTENT
    half = len(CONTENT) // 2
    assert publisher.asked[:2] == [None, f"bytes={half}-"]
    assert len(publisher.asked) == 4


def test_a_connection_that_is_always_cut_is_given_up(publisher: Publisher, tmp_path: Path) -> None:
    publisher.cuts, publisher.ranges = 100, False
    _refused(_remote(publisher), tmp_path, "ended early", "what came is kept", publisher.url())
    assert (tmp_path / "set.gz.part").stat().st_size == len(CONTENT) // 2
    publisher.cuts, publisher.ranges = 0, True
    assert fetch(_remote(publisher), tmp_path).read_bytes() == CONTENT


def test_a_server_that_does_not_say_how_long(publisher: Publisher, tmp_path: Path) -> None:
    publisher.length = False
    told: list[int | None] = []
    remote = _remote(publisher)
    fetch(remote, tmp_path / "a", lambda done, total: told.append(total))
    assert set(told) == {None}
    fetch(replace(remote, size=len(CONTENT)), tmp_path / "b", lambda _, total: told.append(total))
    assert told[-1] == len(CONTENT)


def test_redirections_are_followed_with_the_range(publisher: Publisher, tmp_path: Path) -> None:
    publisher.moved = 1
    (tmp_path / "set.gz.part").write_bytes(CONTENT[:1000])
    assert fetch(_remote(publisher), tmp_path).read_bytes() == CONTENT
    assert publisher.asked == ["bytes=1000-"] * 2


def test_an_interruption_keeps_what_came(publisher: Publisher, tmp_path: Path) -> None:
    def interrupt(done: int, total: int | None) -> None:
        if done > len(CONTENT) // 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(_remote(publisher), tmp_path, interrupt)
    kept = (tmp_path / "set.gz.part").stat().st_size
    assert len(CONTENT) // 3 < kept < len(CONTENT)
    assert fetch(_remote(publisher), tmp_path).read_bytes() == CONTENT
    assert publisher.asked[1] == f"bytes={kept}-"


@pytest.mark.parametrize("status", [403, 404, 500])
def test_a_refusal_says_what_to_do(publisher: Publisher, tmp_path: Path, status: int) -> None:
    publisher.status = status
    _refused(_remote(publisher), tmp_path, str(status), publisher.url(), str(tmp_path), "--from")
    assert list(tmp_path.iterdir()) == []


def test_no_network_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    allow_this_machine(monkeypatch)
    url = f"http://127.0.0.1:{closed_port()}/set.gz"
    _refused(Remote(url, "set.gz"), tmp_path, "cannot be reached", url, str(tmp_path), "--from")
    assert list(tmp_path.iterdir()) == []


def test_no_network_keeps_what_came_before(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    allow_this_machine(monkeypatch)
    (tmp_path / "set.gz.part").write_bytes(CONTENT[:1000])
    url = f"http://127.0.0.1:{closed_port()}/set.gz"
    _refused(Remote(url, "set.gz", "0" * 32), tmp_path, "cannot be reached")
    assert (tmp_path / "set.gz.part").read_bytes() == CONTENT[:1000]


def test_two_at_a_time_are_refused(publisher: Publisher, tmp_path: Path) -> None:
    with (tmp_path / "set.gz.part").open("ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        _refused(_remote(publisher), tmp_path, "another process", "wait")
    assert fetch(_remote(publisher), tmp_path).read_bytes() == CONTENT


def test_a_folder_that_cannot_be_made(publisher: Publisher, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    _refused(_remote(publisher), tmp_path / "file", "set.gz.part", "cannot be written")
