"""The report's files: well-formed, on their own, the same bytes twice, safe for any name."""

import base64
import collections
import gzip
import html.parser
import re
import shutil
import xml.etree.ElementTree as ElementTree

import pytest
from heddle.report import write_report
from heddle.report.page import short, whole
from made_study import HOSTILE, MadeStudy, ordinary_study, result

VOID = {"meta", "link", "input", "br", "img", "hr"}


class Page(html.parser.HTMLParser):
    """Collects ids, links and text, and complains of tags that do not match."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.tags = [], [], [], collections.Counter()
        self.headers, self.wrong, self.text, self.packed = [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open
        assert not self.wrong

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.tags[tag] += 1
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given[key] for key in ("href", "src", "xlink:href") if key in given]
        if tag == "th":
            self.headers.append(given)
        if tag not in VOID:
            self.open.append((tag, given))

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop()[0] != tag:
            self.wrong.append((tag, self.getpos()))

    def handle_data(self, data):
        self.text.append(data)
        if self.open and self.open[-1][1].get("type") == "application/gzip":
            self.packed.append(gzip.decompress(base64.b64decode(data)).decode())


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = ordinary_study(tmp_path_factory.mktemp("study"))
    write_report(folder)
    return folder


@pytest.fixture(scope="module")
def page(study):
    return Page((study / "report" / "report.html").read_text())


def test_the_page_needs_nothing_beside_it(study, page):
    for link in page.links:
        local = link.startswith(("#", "../runs/", "data:"))
        assert local or (study / "report" / link).is_file(), link
    assert not [link for link in page.links if "//" in link]
    text = re.sub(r"(gzip[^>]*>)[^<]*", r"\1", (study / "report" / "report.html").read_text())
    everything = text + "".join(page.packed)
    assert not re.findall(r"https?:|[\"'(]//|@import|url\((?!#)", everything)
    assert "default-src 'none'" in everything


def test_ids_are_unique_also_in_pictures_that_are_unpacked(page):
    unpacked = [Page(picture) for picture in page.packed]
    assert len(unpacked) == 6  # three matrices and three problems
    ids = page.ids + [name for picture in unpacked for name in picture.ids]
    assert [name for name, count in collections.Counter(ids).items() if count > 1] == []
    for link in page.links + [link for picture in unpacked for link in picture.links]:
        assert not link.startswith("#") or link[1:] in ids, link


def test_tables_are_for_screen_readers_too(page):
    assert page.headers
    assert all(header.get("scope") in ("col", "row") for header in page.headers)
    assert page.tags["main"] == page.tags["h1"] == page.tags["nav"] == 1


def test_names_are_shown_and_not_run(study, page):
    assert page.tags["script"] == 1 + len(page.packed)
    assert any(HOSTILE in text for text in page.text)
    assert any("killed by signal 11" in text for text in page.text)
    assert "an <em>ordinary</em> study" in "".join(page.text)
    assert page.tags["em"] == 0
    for path in (study / "report").glob("*.svg"):
        assert not list(ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}script"))


def test_the_summary_says_what_happened(page):
    text = " ".join(" ".join(page.text).split())
    assert "3 matrices, 3 problems, 3 methods, 9 runs." in text
    assert "Of 8 runs" not in text
    assert "7 are confirmed by an independent method, 1 are proven wrong" in text
    assert "quick left the fewest runs unsolved: 0 of 3" in text
    assert "It is not that of runs of host on here" in text
    assert "heddle solve runs/0000000000000000/config.yaml -o again/0000000000000000" in text


def test_the_same_study_gives_the_same_bytes(study, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(study, copy)
    first = {path.name: path.read_bytes() for path in (study / "report").glob("*.*")}
    shutil.rmtree(study / "report", ignore_errors=False)
    shutil.copytree(copy / "report" / "kept", study / "report" / "kept")
    (study / "report" / "old.svg").write_text("of an earlier study")
    write_report(study)
    assert {path.name: path.read_bytes() for path in (study / "report").glob("*.*")} == first


def test_pictures_are_svg_without_the_programs_marks(study):
    pictures = list((study / "report").glob("*.svg"))
    assert len(pictures) == 4 + 6
    for path in pictures:
        text = path.read_text()
        assert ElementTree.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"
        assert "matplotlib" not in text
        assert "mathdefault" not in text


def test_studies_of_which_little_is_left(tmp_path):
    empty = MadeStudy(tmp_path / "empty").write()
    page = Page(write_report(empty).read_text())
    assert "The study has no runs." in "".join(page.text)

    planned = MadeStudy(tmp_path / "planned")
    planned.matrix("m", 20)
    planned.run("m", "a", ended=False)
    assert "not run" in "".join(Page(write_report(planned.write()).read_text()).text)

    failed = MadeStudy(tmp_path / "failed")
    failed.matrix("m", 20)
    for case in ("a", "b"):
        failed.run("m", case, None, "out_of_memory", reason=f"{case} needed more than 1 GB")
    text = "".join(Page(write_report(failed.write()).read_text()).text)
    assert "b needed more than 1 GB" in text

    damaged = MadeStudy(tmp_path / "damaged")
    path = damaged.matrix("m", 20)
    key = damaged.run("m", "a", result(20, 3, 1.0, 10))
    damaged.run("m", "b", result(20, 3, 1.0, 10) | {"eigenvalues": None, "residuals": [None]})
    folder = damaged.write()
    (folder / "runs" / key / "result.json").write_text('{"phases": ')
    (folder / "matrices.json").write_text("[]")
    path.unlink()
    text = "".join(Page(write_report(folder).read_text()).text)
    assert "there is no file" in text


def test_residuals_of_zero_and_values_without_bounds(tmp_path):
    """A null vector has the residual zero, which has no place on a logarithmic axis. A zero matrix
    gives nothing else."""
    study = MadeStudy(tmp_path)
    study.matrix("zero", 20)
    found = result(20, 2, 1.0, 10, -5.0) | {"residuals": [0.0, 0.0], "error_bounds": [None, None]}
    partly = found | {"eigenvalues": [1.0, None], "status": "max_iterations"}
    for case, each in (("all", found), ("partly", partly)):
        key = study.run("zero", case, each, each["status"], count=2)
        for name, column in (("history.csv", 2), ("pairs.csv", 3)):
            path = tmp_path / "runs" / key / name
            lines = [line.split(",") for line in path.read_text().split()]
            for line in lines[1:]:
                line[column:] = ["0", *line[column + 1 :]] if len(line) > column else []
            path.write_text("\n".join(map(",".join, lines)))
    page = write_report(study.write()).read_text()
    assert "no history over seconds" in page + "".join(Page(page).packed)



def test_numbers():
    assert [short(value) for value in (None, 0, 0.001234, 12.345, 12345.6, 1.2e-9, 3e7)] == [
        "", "0", "0.00123", "12.3", "12\u202f346", "1.2e-09", "3.0e+07",
    ]  # fmt: skip
    assert [whole(value) for value in (None, 7, 1234567)] == ["", "7", "1\u202f234\u202f567"]
