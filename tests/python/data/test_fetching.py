"""Names and their matrices, and the cache that holds them."""

import hashlib
import multiprocessing
import os
import resource
import stat
import time

import heddle
import pytest
from heddle.data import Cache, FetchError, MatrixName, data_folder, parse_name
from heddle.data.download import CHUNK
from heddle.data.errors import Unreachable

from .site_of_matrices import (
    ARCHIVE,
    LARGE,
    NAME,
    instead,
    large,
    left_over,
    open_collection,
    original,
    read,
    slow,
)


def test_a_matrix_is_fetched_once(site, cache, collection):
    path = collection.resolve(f"SuiteSparse:{NAME}")
    assert path == cache.root / "Mesh" / "square12" / "square12.mtx"
    assert (read(path) == original()).all()
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o755
    assert left_over(cache) == []
    again = open_collection(site.address, cache)
    assert again.resolve(NAME) == again.resolve("square12") == path
    assert len(site.ranges(ARCHIVE)) == 1
    record = cache.record(parse_name(NAME))
    content = site.files[ARCHIVE]
    assert record["name"] == NAME
    assert (record["archive_bytes"], record["archive_sha256"]) == (
        len(content),
        hashlib.sha256(content).hexdigest(),
    )
    assert record["address"] == site.address + ARCHIVE
    assert record["index"]["rows"] == 144
    assert record["files"]["square12.mtx"] == {
        "bytes": path.stat().st_size,
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
    }
    assert cache.names() == [MatrixName("Mesh", "square12")]


def test_parts_of_an_archive(cache, collection):
    mass = collection.resolve("Oberwolfach/mikota:M")
    assert (read(mass) == heddle.generate("mikota_mass", 9).toarray()).all()
    assert collection.resolve("SuiteSparse:mikota:coord").name == "mikota_coord.mtx"
    assert cache.parts(parse_name("Oberwolfach/mikota")) == ["M", "coord"]
    with pytest.raises(
        FetchError,
        match=r"has no file mikota_K.mtx; other files it has: "
        "Oberwolfach/mikota:M, Oberwolfach/mikota:coord",
    ):
        collection.resolve("Oberwolfach/mikota:K")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Mesh/square13", "has no matrix Mesh/square13 (did you mean Mesh/square12?)"),
        ("HB/square12", "(did you mean Mesh/square12?)"),
        ("mesh/square12", "(did you mean Mesh/square12?)"),
        ("squar12", "the collection has no matrix 'squar12' (did you mean square12?)"),
        ("Nobody/zzz", "has no matrix Nobody/zzz"),
    ],
)
def test_names_that_the_collection_lacks(site, collection, name, message):
    with pytest.raises(FetchError) as refusal:
        collection.resolve(name)
    assert message in str(refusal.value)
    assert not [path for path, _ in site.requests if path.startswith("/MM")]


def test_a_name_in_two_groups(site, collection):
    site.add("HB", "square12", heddle.generate("laplace1d", 3), "structural problem")
    with pytest.raises(FetchError, match="the name of 2 matrices: Mesh/square12, HB/square12"):
        collection.resolve("square12")


@pytest.mark.parametrize(
    "name",
    [
        "../x/y",
        "HB/..",
        "/etc/passwd",
        "a/b/c",
        "HB/",
        "HB/a:",
        "HB/a b",
        "HB/.hidden",
        "SuiteSparse:HB/a:b:c",
        "HB/a\n",
    ],
)
def test_what_is_no_name(collection, name):
    with pytest.raises(ValueError, match="write GROUP/NAME") as refusal:
        collection.resolve(name)
    assert not isinstance(refusal.value, FetchError)


def test_changed_files_are_noticed(site, cache, collection):
    path = collection.resolve(NAME)
    path.write_text(path.read_text()[:-50])  # as by a disk that was full
    offline = open_collection(site.address, cache, offline=True)
    with pytest.raises(FetchError, match="square12.mtx does not have the size that was fetched"):
        offline.resolve(NAME)
    assert (read(collection.resolve(NAME)) == original()).all()
    text = path.read_text()
    path.write_text(text[:-2] + "7" + text[-1:])  # the same size
    name = parse_name(NAME)
    assert cache.changed_files(name, read=False) == []
    assert cache.changed_files(name, read=True) == ["square12.mtx"]
    collection.fetch(name, anew=True)
    assert cache.changed_files(name, read=True) == []


def test_without_a_network(site, cache, collection):
    path = collection.resolve(NAME)
    gone = open_collection("http://127.0.0.1:1", cache)
    assert gone.resolve(NAME) == path  # what is in the cache needs none
    with pytest.raises(Unreachable) as refusal:
        gone.resolve("Mesh/square7")
    assert str(refusal.value) == (
        f"Mesh/square7 is not in the cache ({cache.folder}), and http://127.0.0.1:1 cannot be "
        "reached: connection refused; fetch it where there is a network and set HEDDLE_DATA to a "
        "copy of that cache, or HEDDLE_COLLECTION to a copy of the collection"
    )
    empty = Cache(cache.folder / "empty")
    for address, reason in (
        ("https://collection.invalid", "its name cannot be resolved"),
        (site.address.replace("http", "https"), "ssl|SSL"),
    ):
        with pytest.raises(FetchError, match=reason):
            open_collection(address, empty).query({})
    with pytest.raises(FetchError, match="begins with https:// or http://, not ftp://there"):
        open_collection("ftp://there", empty)
    offline = open_collection(site.address, cache, offline=True)
    with pytest.raises(FetchError, match="Mesh/square7 is not in the cache .* --offline forbids"):
        offline.resolve("Mesh/square7")


def test_damaged_and_old_indexes(site, cache, collection):
    good = site.files["/files/ssstats.csv"]
    cut = good[: len(good) // 2]
    site.plan("/files/ssstats.csv", instead(cut))
    assert len(collection.index()) == len(site.lines)
    again = open_collection(site.address, Cache(cache.folder / "second"))
    site.plan("/files/ssstats.csv", instead(cut), instead(cut))
    with pytest.raises(FetchError, match="ssstats.csv is refused: .* is truncated"):
        again.index()
    site.add("HB", "young", heddle.generate("laplace1d", 3), "structural problem")
    with pytest.raises(FetchError, match="has no matrix HB/young"):
        collection.resolve("HB/young")
    yesterday = time.time() - 2 * 24 * 3600
    os.utime(cache.index_file, (yesterday, yesterday))
    assert collection.resolve("HB/young").is_file()  # an old index is fetched anew


def test_a_collection_without_an_index(site, collection):
    del site.files["/files/ssstats.csv"]
    assert (read(collection.resolve(NAME)) == original()).all()


def test_a_cache_that_cannot_be_written(site, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(FetchError, match="cannot be written: Not a directory; HEDDLE_DATA names"):
        open_collection(site.address, Cache(blocked / "cache")).resolve(NAME)


def test_a_full_disk(site, cache, collection):
    """A file that may not grow stands for a disk that is full."""
    collection.index()

    def fetch(queue):
        resource.setrlimit(resource.RLIMIT_FSIZE, (2 * CHUNK, 2 * CHUNK))
        try:
            queue.put(str(collection.resolve(LARGE)))
        except FetchError as error:
            queue.put(str(error))

    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=fetch, args=(queue,))
    process.start()
    assert queue.get(timeout=20).endswith(
        "cannot be written: File too large; HEDDLE_DATA names another folder"
    )
    process.join()
    assert not cache.has(parse_name(LARGE))
    assert (read(collection.resolve(LARGE)) == large()).all()


def test_what_killed_processes_left_is_swept(cache, collection):
    collection.index()
    old, young = cache.downloads / "unpack-old", cache.downloads / "unpack-young"
    for folder in (old, young):
        folder.mkdir()
    os.utime(old, (0, 0))
    collection.resolve(NAME)
    assert left_over(cache) == ["unpack-young"]


def test_the_folder_of_the_cache(monkeypatch, tmp_path):
    for name in ("HEDDLE_DATA", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(FetchError, match="set HEDDLE_DATA, XDG_CACHE_HOME or HOME"):
        data_folder()
    monkeypatch.setenv("HOME", str(tmp_path))
    assert data_folder() == tmp_path / ".cache" / "heddle"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert data_folder() == tmp_path / ".cache" / "heddle"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert data_folder() == tmp_path / "xdg" / "heddle"
    monkeypatch.setenv("HEDDLE_DATA", str(tmp_path / "data"))
    assert data_folder() == tmp_path / "data"


def _resolve(address, folder, gate, queue):
    gate.wait()
    queue.put(str(open_collection(address, Cache(folder)).resolve(NAME)))


@pytest.mark.parametrize("locks", [True, False])
def test_several_processes_at_once(site, cache, monkeypatch, locks):
    """With locks one of them downloads. Without, all do, and the first complete one counts."""
    if not locks:

        def none(handle, operation):
            raise OSError(37, "No locks available")

        monkeypatch.setattr("fcntl.flock", none)
    site.plan(ARCHIVE, *[slow(0.02)] * 4)
    context = multiprocessing.get_context("fork")
    gate, queue = context.Event(), context.Queue()
    started = [
        context.Process(target=_resolve, args=(site.address, cache.folder, gate, queue))
        for _ in range(4)
    ]
    for process in started:
        process.start()
    gate.set()
    paths = {queue.get(timeout=20) for _ in started}
    for process in started:
        process.join()
    assert paths == {str(cache.root / "Mesh/square12/square12.mtx")}
    assert (read(paths.pop()) == original()).all()
    assert left_over(cache) == []
    if locks:
        assert len(site.ranges(ARCHIVE)) == 1
