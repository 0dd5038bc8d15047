"""Archives: what they hold is unpacked, and what would leave the folder or fill the disk is not."""

import gzip
import hashlib
import io
import tarfile

import pytest
from heddle.data.archive import unpack
from heddle.data.errors import Damaged, FetchError
from heddle.data.matrix_market import Header, read_header

from .site_of_matrices import archive

MATRIX = b"%%MatrixMarket matrix coordinate real symmetric\n% text\n\n2 2 2\n1 1 1\n2 2 2\n"


def members_of(*members):
    """A .tar.gz with members of any kind, given as (TarInfo, content)."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for member, content in members:
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def member(name, kind=tarfile.REGTYPE, link="", mode=0o644):
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode = kind, link, mode
    return info


def unpacked(tmp_path, content):
    """Unpacks in a folder in a folder, so that a file beside it would be seen."""
    file, target = tmp_path / "a.tar.gz", tmp_path / "in" / "target"
    file.write_bytes(content)
    target.mkdir(parents=True)
    sums = unpack(file, "a", target)
    return sums, target


def test_files_and_their_sums(tmp_path):
    odd = member("a/a_names.txt", mode=0o6777)
    content = members_of(
        (member("a", tarfile.DIRTYPE), b""), (member("./a/a.mtx"), MATRIX), (odd, b"x\ny\n")
    )
    sums, target = unpacked(tmp_path, content)
    assert {path.name: path.read_bytes() for path in target.iterdir()} == {
        "a.mtx": MATRIX,
        "a_names.txt": b"x\ny\n",
    }
    assert sums["a.mtx"].bytes == len(MATRIX)
    assert sums["a.mtx"].sha256 == hashlib.sha256(MATRIX).hexdigest()
    assert (target / "a_names.txt").stat().st_mode & 0o7000 == 0
    assert read_header(target / "a.mtx") == Header("coordinate", "real", "symmetric", 2, 2, 2)


@pytest.mark.parametrize(
    ("hostile", "why"),
    [
        (member("../a.mtx"), "outside"),
        (member("a/../../escaped"), "outside"),
        (member("/tmp/heddle-escaped"), "outside"),
        (member("a/b/c.mtx"), "outside"),
        (member("b/a.mtx"), "outside"),
        (member("a.mtx"), "outside"),
        (member("a/.."), "outside"),
        (member("a/.hidden"), "outside"),
        (member("a/new\nline"), "outside"),
        (member("a/a.mtx", tarfile.SYMTYPE, "/etc/passwd"), "no plain file"),
        (member("a/a.mtx", tarfile.LNKTYPE, "a/b.mtx"), "no plain file"),
        (member("a/pipe", tarfile.FIFOTYPE), "no plain file"),
        (member("a/null", tarfile.CHRTYPE), "no plain file"),
        (member("a/disk", tarfile.BLKTYPE), "no plain file"),
        (member("b", tarfile.DIRTYPE), "no plain file"),
        (member("..", tarfile.DIRTYPE), "no plain file"),
    ],
    ids=lambda value: repr(getattr(value, "name", value)),
)
def test_hostile_members_are_refused(tmp_path, hostile, why):
    content = members_of((member("a/a.mtx"), MATRIX), (hostile, b""))
    with pytest.raises(FetchError, match=why) as refusal:
        unpacked(tmp_path, content)
    assert not isinstance(refusal.value, Damaged)  # a second download would not help
    assert [path.name for path in (tmp_path / "in").iterdir()] == ["target"]
    assert {path.name for path in (tmp_path / "in" / "target").iterdir()} <= {"a.mtx"}


def test_a_file_twice_and_too_many_files(tmp_path, monkeypatch):
    twice = members_of((member("a/a.mtx"), MATRIX), (member("a/a.mtx"), b"other"))
    with pytest.raises(FetchError, match="it holds 'a.mtx' twice"):
        unpacked(tmp_path, twice)
    monkeypatch.setattr("heddle.data.archive._MOST_FILES", 20)
    many = members_of(*[(member(f"a/{k}"), b"") for k in range(21)])
    (tmp_path / "many").mkdir()
    with pytest.raises(FetchError, match="more than 20 files"):
        unpacked(tmp_path / "many", many)


def test_a_bomb_is_refused_before_it_is_written(tmp_path, monkeypatch):
    """Sixteen megabytes of zeros in sixteen kilobytes, also where no file announces them."""
    zeros = bytes(1 << 20)
    monkeypatch.setattr("heddle.data.archive._SMALL", 4 << 20)
    for kind, head in (("file", tarfile.TarInfo("a/a.mtx")), ("tail", None)):
        buffer = io.BytesIO()
        with gzip.open(buffer, "wb", compresslevel=9) as stream:
            if head is not None:
                head.size = 16 << 20
                stream.write(head.tobuf())
            else:
                stream.write(bytes(1024))  # the end of a tar archive
            for _ in range(16):
                stream.write(zeros)
        (tmp_path / kind).mkdir()
        with pytest.raises(FetchError, match="expands to more than 200 times its size"):
            unpacked(tmp_path / kind, buffer.getvalue())
        written = sum(path.stat().st_size for path in (tmp_path / kind / "in").rglob("*.mtx"))
        assert written <= 4 << 20


@pytest.mark.parametrize("keep", [0, 1, 9, 60, 0.5, -9, -1])
def test_a_truncated_archive_is_damaged(tmp_path, keep):
    content = archive({"a/a.mtx": MATRIX * 50, "a/a_b.mtx": MATRIX})
    cut = content[: int(len(content) * keep) if isinstance(keep, float) else keep]
    with pytest.raises(Damaged):
        unpacked(tmp_path, cut)


def test_every_flipped_byte_is_noticed_or_harmless(tmp_path):
    """A flip is refused, or all files are as they were: it hit the name or time in gzip's head."""
    files = {"a/a.mtx": MATRIX, "a/a_b.mtx": b"%%MatrixMarket matrix array real general\n1 1\n1\n"}
    content = archive(files)
    harmless = 0
    for place in range(len(content)):
        flipped = bytearray(content)
        flipped[place] ^= 0x10
        folder = tmp_path / str(place)
        folder.mkdir()
        try:
            _, target = unpacked(folder, bytes(flipped))
        except FetchError:
            continue
        harmless += 1
        assert {f"a/{path.name}": path.read_bytes() for path in target.iterdir()} == files, place
    assert harmless <= 10  # the head of a gzip file has ten bytes


def test_what_is_no_archive(tmp_path):
    with pytest.raises(Damaged, match="is no .tar.gz archive, it begins with '<!DOCTYPE html>'"):
        unpacked(tmp_path, b"<!DOCTYPE html>\n<p>gone")


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"1 1 1\n",
        b"%%MatrixMarket matrix\n1 1 1\n",
        b"%%MatrixMarket matrix coordinate real general\n% only\n",
        b"%%MatrixMarket matrix coordinate real general\n3 3\n",
        b"%%MatrixMarket matrix coordinate real general\na b c\n",
    ],
)
def test_files_without_a_head_of_matrix_market(tmp_path, text):
    (tmp_path / "a.mtx").write_bytes(text)
    with pytest.raises(ValueError):
        read_header(tmp_path / "a.mtx")
