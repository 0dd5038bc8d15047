"""Downloads from a collection that answers well, badly, or not as it should."""

import hashlib
import time

import heddle
import pytest
from heddle.data import FetchError, parse_name
from heddle.data.checksums import parse_checksums
from heddle.data.download import CHUNK
from heddle.data.errors import Unreachable

from .site_of_matrices import (
    ARCHIVE,
    LARGE,
    LARGE_ARCHIVE,
    NAME,
    archive,
    code,
    instead,
    large,
    left_over,
    matrix_market,
    open_collection,
    original,
    read,
    redirect,
    silent,
    slow,
    truncated,
    without_ranges,
)


def test_a_broken_download_goes_on_where_it_broke(site, cache, collection):
    """The bytes of complete chunks are not asked for again."""
    site.plan(LARGE_ARCHIVE, truncated(3 * CHUNK + 99), truncated(CHUNK))
    assert (read(collection.resolve(LARGE)) == large()).all()
    first, *later = site.ranges(LARGE_ARCHIVE)
    assert first is None and len(later) == 2
    for chunks, asked in zip((3, 4), later, strict=True):
        start = int(asked.removeprefix("bytes=").removesuffix("-"))
        assert chunks * CHUNK <= start <= chunks * CHUNK + 99
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
        handler.send(
            206, rest, Content_Range=f"bytes {CHUNK - 9}-{len(content) - 1}/{len(content)}"
        )

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


def test_an_archive_that_is_called_a_compressed_transfer(site, collection):
    """As by servers that take .gz for an encoding of the transfer."""
    site.plan(
        ARCHIVE, lambda handler, content: handler.send(200, content, Content_Encoding="x-gzip")
    )
    assert (read(collection.resolve(NAME)) == original()).all()


def test_a_transfer_in_chunks_without_a_length(site, cache, collection):
    def chunked(handler, content):
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for part in (content[:5000], content[5000:]):
            handler.wfile.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
        handler.wfile.write(b"0\r\n\r\n")

    site.plan(LARGE_ARCHIVE, chunked)
    assert (read(collection.resolve(LARGE)) == large()).all()


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


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (404, "lists Mesh/square12, but its archive is not there"),
        (410, "its archive is not there"),
        (403, "the server answers HTTP 403"),
        (401, "the server answers HTTP 401"),
        (500, "cannot be reached: .* HTTP 500"),
    ],
)
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


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (b"<!DOCTYPE html>\n<p>404", "is no .tar.gz archive, it begins with '<!DOCTYPE html>'"),
        (archive({"square12/square12.mtx": b"hello"}), "does not begin with %%MatrixMarket"),
        (archive({"square12/other.mtx": b"hello"}), "holds no square12.mtx"),
        (
            archive(
                {"square12/square12.mtx": b"%%MatrixMarket matrix coordinate real general\n3 3 0\n"}
            ),
            "has 3 rows and 3 columns, the index says 144 and 144",
        ),
    ],
)
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
    other = archive(
        {"square12/square12.mtx": matrix_market(2 * heddle.generate("laplace2d", 12, 12))}
    )
    site.plan(ARCHIVE, instead(other), instead(other))
    with pytest.raises(FetchError, match=f"does not have the known sum {algorithm}:"):
        collection.resolve(NAME)
    site.plan(ARCHIVE, instead(other))
    assert (read(collection.resolve(NAME)) == original()).all()
    assert cache.record(parse_name(NAME))["known_sum"].startswith(f"{algorithm}:")


def test_lists_of_sums():
    digest = "d41d8cd98f00b204e9800998ecf8427e"
    assert parse_checksums(f"{digest} *HB/a.tar.gz\nMD5:{digest}  x/MM/HB/b.tar.gz", "s") == {
        "HB/a.tar.gz": f"md5:{digest}",
        "HB/b.tar.gz": f"md5:{digest}",
    }
    for bad in ("hello", f"{digest[1:]} HB/a.tar.gz", f"{digest}", f"{digest} a.tar.gz"):
        with pytest.raises(FetchError, match="s:1: expected an MD5"):
            parse_checksums(bad, "s")
