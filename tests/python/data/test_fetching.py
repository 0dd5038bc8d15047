"""Matrices from a collection that answers well, badly, or not at all."""

import hashlib
import json
import multiprocessing
import os
import stat
import time

import pytest
import scipy.io
from heddle.data import Cache, FetchError, MatrixName, data_folder, parse_name
from heddle.data.checksums import parse_checksums
from heddle.data.download import CHUNK
from heddle.data.errors import Unreachable
from .site_of_matrices import (
    archive,
    code,
    instead,
    matrix_market,
    open_collection,
    redirect,
    silent,
    slow,
    truncated,
    without_ranges,
)

import heddle

ARCHIVE = "/MM/Mesh/square12.tar.gz"
NAME = "Mesh/square12"
LARGE = "Rajat/large"
LARGE_ARCHIVE = "/MM/Rajat/large.tar.gz"


def original():
    return heddle.generate("laplace2d", 12, 12).toarray()


def large():
    return heddle.generate("random_uniform", 2000, density=5).toarray()


def read(path):
    return scipy.io.mmread(path).toarray()


def left_over(cache):
    """What is left of downloads, besides locks."""
    return [path.name for path in cache.downloads.iterdir() if path.name != "locks"]


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
    assert (record["archive_bytes"], record["archive_sha256"]) == (
        len(content), hashlib.sha256(content).hexdigest())
    assert record["address"] == site.address + ARCHIVE
    assert record["index"]["rows"] == 144
    assert record["files"]["square12.mtx"] == {
        "bytes": path.stat().st_size, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    assert cache.names() == [MatrixName("Mesh", "square12")]


def test_parts_of_an_archive(cache, collection):
    mass = collection.resolve("Oberwolfach/mikota:M")
    assert (read(mass) == heddle.generate("mikota_mass", 9).toarray()).all()
    assert collection.resolve("SuiteSparse:mikota:coord").name == "mikota_coord.mtx"
    assert cache.parts(parse_name("Oberwolfach/mikota")) == ["M", "coord"]
    with pytest.raises(FetchError, match=r"has no file mikota_K.mtx; other files it has: "
                       "Oberwolfach/mikota:M, Oberwolfach/mikota:coord"):
        collection.resolve("Oberwolfach/mikota:K")


@pytest.mark.parametrize(("name", "message"), [
    ("Mesh/square13", "has no matrix Mesh/square13 (did you mean Mesh/square12?)"),
    ("HB/square12", "(did you mean Mesh/square12?)"),
    ("mesh/square12", "(did you mean Mesh/square12?)"),
    ("squar12", "the collection has no matrix 'squar12' (did you mean square12?)"),
    ("Nobody/zzz", "has no matrix Nobody/zzz"),
])
def test_names_that_the_collection_lacks(site, collection, name, message):
    with pytest.raises(FetchError) as refusal:
        collection.resolve(name)
    assert message in str(refusal.value)
    assert not [path for path, _ in site.requests if path.startswith("/MM")]


def test_a_name_in_two_groups(site, collection):
    site.add("HB", "square12", heddle.generate("laplace1d", 3), "structural problem")
    with pytest.raises(FetchError, match="the name of 2 matrices: Mesh/square12, HB/square12"):
        collection.resolve("square12")


@pytest.mark.parametrize("name", ["../x/y", "HB/..", "/etc/passwd", "a/b/c", "HB/", "HB/a:", "HB/a b",
                                  "HB/.hidden", "SuiteSparse:HB/a:b:c", "HB/a\n"])
def test_what_is_no_name(collection, name):
    with pytest.raises(ValueError, match="write GROUP/NAME") as refusal:
        collection.resolve(name)
    assert not isinstance(refusal.value, FetchError)


def test_a_broken_download_goes_on_where_it_broke(site, cache, collection):
    """The bytes of complete chunks are not asked for again."""
    site.plan(LARGE_ARCHIVE, truncated(3 * CHUNK + 99), truncated(CHUNK))
    assert (read(collection.resolve(LARGE)) == large()).all()
    assert site.ranges(LARGE_ARCHIVE) == [None, f"bytes={3 * CHUNK}-", f"bytes={4 * CHUNK}-"]
    assert left_over(cache) == []


def test_a_later_run_goes_on(site, cache, collection):
    site.plan(LARGE_ARCHIVE, truncated(CHUNK), code(500), code(503), code(502))
    with pytest.raises(Unreachable, match=r"is not in the cache .* the server answers HTTP 50"):
        collection.resolve(LARGE)
    assert not cache.has(parse_name(LARGE))
    later = open_collection(site.address, cache)
    site.plan(LARGE_ARCHIVE)
    assert (read(later.resolve(LARGE)) == large()).all()
    assert site.ranges(LARGE_ARCHIVE)[-1] == f"bytes={CHUNK}-"


def test_a_server_without_ranges_starts_anew(site, collection):
    site.plan(LARGE_ARCHIVE, truncated(2 * CHUNK), without_ranges)
    assert (read(collection.resolve(LARGE)) == large()).all()
    assert site.ranges(LARGE_ARCHIVE) == [None, f"bytes={2 * CHUNK}-"]


def test_a_file_that_changed_in_between_starts_anew(site, collection):
    """The rest of another version is never put behind what has arrived."""
    A = 2 * heddle.generate("random_uniform", 2000, density=5)
    site.plan(LARGE_ARCHIVE, truncated(CHUNK), code(500), code(500), code(500))
    with pytest.raises(Unreachable):
        collection.resolve(LARGE)
    site.plan(LARGE_ARCHIVE)
    site.files[LARGE_ARCHIVE] = archive({"large/large.mtx": matrix_market(A)})
    assert (read(collection.resolve(LARGE)) == 2 * large()).all()
    assert site.ranges(LARGE_ARCHIVE)[-1] == f"bytes={CHUNK}-"  # asked for, and not given


def test_a_wrong_range_is_not_believed(site, collection):
    def wrong(handler, content):
        rest = content[CHUNK - 9 :]
        handler.send(206, rest, Content_Range=f"bytes {CHUNK - 9}-{len(content) - 1}/{len(content)}")

    site.plan(LARGE_ARCHIVE, truncated(CHUNK), wrong)
    assert (read(collection.resolve(LARGE)) == large()).all()
    assert site.ranges(LARGE_ARCHIVE) == [None, f"bytes={CHUNK}-", None]


def test_a_server_that_always_breaks_is_given_up(site, cache, collection):
    site.plan(ARCHIVE, *[truncated(500, ranges=False)] * 20)
    with pytest.raises(Unreachable, match="is not in the cache"):
        collection.resolve(NAME)
    assert len(site.ranges(ARCHIVE)) == 3  # Patience(attempts=3)
    assert not cache.has(parse_name(NAME))


def test_a_server_that_falls_silent(site, collection):
    site.plan(ARCHIVE, silent(1.0))
    begin = time.monotonic()
    assert (read(collection.resolve(NAME)) == original()).all()
    assert time.monotonic() - begin < 1.0
    site.plan("/MM/Mesh/square7.tar.gz", *[silent(1.0)] * 3)
    with pytest.raises(Unreachable, match="does not answer in time|no byte within"):
        collection.resolve("Mesh/square7")


def test_a_slow_server_is_waited_for(site, cache):
    seen = []
    collection = open_collection(site.address, cache, progress=lambda *state: seen.append(state))
    collection.index()
    site.plan(LARGE_ARCHIVE, slow(0.04))
    collection.resolve(LARGE)
    sizes = [done for name, done, _ in seen if name.endswith("large.tar.gz")]
    assert len(sizes) > 3 and sizes == sorted(sizes)
    assert seen[-1][1] == seen[-1][2] == len(site.files[LARGE_ARCHIVE])


def test_redirections(site, cache, collection):
    site.files["/elsewhere/square12"] = site.files[ARCHIVE]
    site.plan(ARCHIVE, redirect("/elsewhere/square12"))
    assert (read(collection.resolve(NAME)) == original()).all()
    assert cache.record(parse_name(NAME))["address"] == f"{site.address}/elsewhere/square12"
    other = "/MM/Mesh/square7.tar.gz"
    site.plan(other, *[redirect(other)] * 50)
    with pytest.raises(FetchError, match="redirects"):
        collection.resolve("Mesh/square7")
    site.plan(other, redirect("file:///etc/passwd"))
    with pytest.raises(FetchError, match="cannot be read"):
        collection.resolve("Mesh/square7")


@pytest.mark.parametrize(("number", "message"), [
    (404, "has no matrix Mesh/square12"), (410, "has no matrix"), (403, "the server answers HTTP 403"),
    (401, "the server answers HTTP 401"), (500, "cannot be reached: .* HTTP 500")])
def test_refusals_of_the_server(site, cache, collection, number, message):
    collection.index()
    site.plan(ARCHIVE, *[code(number)] * 5)
    with pytest.raises(FetchError, match=message):
        collection.resolve(NAME)
    assert not cache.has(parse_name(NAME)) and left_over(cache) == []


def test_damage_is_mended_by_a_second_download(site, cache):
    told = []
    collection = open_collection(site.address, cache, tell=told.append)
    bad = bytearray(site.files[ARCHIVE])
    bad[len(bad) // 2] ^= 1
    site.plan(ARCHIVE, instead(bytes(bad)))
    assert (read(collection.resolve(NAME)) == original()).all()
    assert len(told) == 1 and "square12.tar.gz is damaged" in told[0]


@pytest.mark.parametrize(("other", "message"), [
    (b"<!DOCTYPE html>\n<p>404", "is no .tar.gz archive, it begins with '<!DOCTYPE html>'"),
    (archive({"square12/square12.mtx": b"hello"}), "does not begin with %%MatrixMarket"),
    (archive({"square12/other.mtx": b"hello"}), "holds no square12.mtx"),
    (archive({"square12/square12.mtx": b"%%MatrixMarket matrix coordinate real general\n3 3 0\n"}),
     "has 3 rows and 3 columns, the index says 144 and 144"),
])
def test_another_file_in_its_place_is_refused(site, cache, collection, other, message):
    site.plan(ARCHIVE, instead(other), instead(other))
    with pytest.raises(FetchError, match="is refused, it was fetched twice") as refusal:
        collection.resolve(NAME)
    assert message in str(refusal.value)
    assert not cache.has(parse_name(NAME)) and left_over(cache) == []


def test_a_hostile_archive_is_refused_at_once(site, cache, collection):
    site.plan(ARCHIVE, instead(archive({"../../square12.mtx": b""})))
    with pytest.raises(FetchError, match="which lies outside of the folder"):
        collection.resolve(NAME)
    assert len(site.ranges(ARCHIVE)) == 1
    assert not list(cache.folder.parent.rglob("*.mtx"))


@pytest.mark.parametrize("algorithm", ["md5", "sha1", "sha256", "sha512"])
@pytest.mark.parametrize("published", [True, False])
def test_known_sums_are_compared(site, cache, algorithm, published):
    """A whole archive of another content is noticed by its sum alone."""
    text = f"{hashlib.new(algorithm, site.files[ARCHIVE]).hexdigest()}  MM/{NAME}.tar.gz\n"
    sums = None if published else parse_checksums(text, "sums")
    if published:
        site.files["/files/checksums.txt"] = b"# sums\n" + text.encode()
    collection = open_collection(site.address, cache, checksums=sums)
    other = archive({"square12/square12.mtx": matrix_market(2 * heddle.generate("laplace2d", 12, 12))})
    site.plan(ARCHIVE, instead(other), instead(other))
    with pytest.raises(FetchError, match=f"does not have the known sum {algorithm}:"):
        collection.resolve(NAME)
    site.plan(ARCHIVE, instead(other))
    assert (read(collection.resolve(NAME)) == original()).all()
    assert cache.record(parse_name(NAME))["known_sum"].startswith(f"{algorithm}:")


def test_lists_of_sums():
    digest = "d41d8cd98f00b204e9800998ecf8427e"
    assert parse_checksums(f"{digest} *HB/a.tar.gz\nMD5:{digest}  x/MM/HB/b.tar.gz", "s") == {
        "HB/a.tar.gz": f"md5:{digest}", "HB/b.tar.gz": f"md5:{digest}"}
    for bad in ("hello", f"{digest[1:]} HB/a.tar.gz", f"{digest}", f"{digest} a.tar.gz"):
        with pytest.raises(FetchError, match="s:1: expected an MD5"):
            parse_checksums(bad, "s")


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
        "copy of that cache, or HEDDLE_COLLECTION to a copy of the collection")
    empty = Cache(cache.folder / "empty")
    for address, reason in (("https://collection.invalid", "its name cannot be resolved"),
                            (site.address.replace("http", "https"), "ssl|SSL")):
        with pytest.raises(FetchError, match=reason):
            open_collection(address, empty).query({})
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
    started = [context.Process(target=_resolve, args=(site.address, cache.folder, gate, queue))
               for _ in range(4)]
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


def test_a_record_is_json(cache, collection):
    path = collection.resolve(NAME).with_name("record.json")
    assert json.loads(path.read_text())["name"] == NAME
