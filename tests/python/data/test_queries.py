"""Queries over the index, against plain loops over its lines."""

import pytest
from heddle.data import Entry, QueryError
from heddle.data.errors import Damaged
from heddle.data.index import parse_index
from heddle.data.queries import parse_query, select


class Line:
    """A line of the index, its fields by their places."""

    def __init__(self, text):
        self.f = text.split(",")
        self.group, self.name, self.kind = self.f[0], self.f[1], self.f[11]
        self.rows, self.cols, self.nnz = int(self.f[2]), int(self.f[3]), int(self.f[4])
        self.psym, self.nsym = float(self.f[9]), float(self.f[10])
        self.real, self.binary, self.mesh, self.spd = (word == "1" for word in self.f[5:9])
        self.sym = self.real and self.rows == self.cols and self.nsym == 1


QUERIES = [
    ({}, lambda m: True),
    ({"group": "HB"}, lambda m: m.group == "HB"),
    ({"group": "hb"}, lambda m: m.group == "HB"),
    ({"group": ["HB", "SNAP"]}, lambda m: m.group in ("HB", "SNAP")),
    ({"group": "*e*"}, lambda m: "e" in m.group.lower()),
    ({"name": "line07"}, lambda m: m.name == "line07"),
    ({"name": "*1?"}, lambda m: len(m.name) > 1 and m.name[-2] == "1"),
    (
        {"name": ["square[47]", "cube-*"]},
        lambda m: m.name in ("square4", "square7") or m.name[:5] == "cube-",
    ),
    ({"kind": "structural"}, lambda m: "structural" in m.kind),
    ({"kind": "graph", "symmetric": True}, lambda m: "graph" in m.kind and m.sym),
    ({"symmetric": True}, lambda m: m.sym),
    ({"symmetric": False}, lambda m: not m.sym),
    ({"positive_definite": True}, lambda m: m.spd),
    ({"positive_definite": "no", "symmetric": "yes"}, lambda m: m.sym and not m.spd),
    ({"rows": [10, 40]}, lambda m: 10 <= m.rows <= 40),
    ({"rows": "12:"}, lambda m: m.rows >= 12),
    ({"rows": [None, 12], "mesh": True}, lambda m: m.rows <= 12 and m.mesh),
    ({"nnz": ":100", "binary": False}, lambda m: m.nnz <= 100 and not m.binary),
    ({"cols": 14}, lambda m: m.cols == 14),
    ({"real": False}, lambda m: not m.real),
    ({"numerical_symmetry": 1, "real": False}, lambda m: m.nsym == 1 and not m.real),
    ({"pattern_symmetry": [0.0, 0.999]}, lambda m: m.psym <= 0.999),
    (
        {"group": "HB", "symmetric": True, "rows": [5, 20], "kind": "structural"},
        lambda m: m.group == "HB" and m.sym and 5 <= m.rows <= 20 and "structural" in m.kind,
    ),
    ({"group": "nobody"}, lambda m: False),
]


@pytest.mark.parametrize(("spec", "holds"), QUERIES, ids=[str(spec) for spec, _ in QUERIES])
def test_a_query_finds_what_a_loop_over_the_lines_finds(site, collection, spec, holds):
    expected = [f"{m.group}/{m.name}" for m in map(Line, site.lines) if holds(m)]
    assert [entry.full_name for entry in collection.query(spec)] == expected


def test_the_index_holds_both_answers_of_every_property(site):
    lines = [Line(text) for text in site.lines]
    for name in ("real", "binary", "mesh", "spd", "sym"):
        assert {getattr(line, name) for line in lines} == {True, False}, name


def test_order_and_limit(site, collection):
    lines = sorted(map(Line, site.lines), key=lambda m: m.nnz)  # stable, as the answer
    found = collection.query({"sort": "nnz", "limit": 7})
    assert [entry.full_name for entry in found] == [f"{m.group}/{m.name}" for m in lines[:7]]
    largest = collection.query({"sort": "-rows", "limit": 1, "group": "Mesh"})
    assert largest[0].rows == max(m.rows for m in map(Line, site.lines) if m.group == "Mesh")
    names = [entry.name for entry in collection.query({"sort": "name"})]
    assert names == sorted(names, key=str.casefold)


def test_entries_hold_the_fields_of_their_line(site, collection):
    for number, (text, entry) in enumerate(
        zip(site.lines, collection.index(), strict=True), start=1
    ):
        line = Line(text)
        assert entry == Entry(
            number,
            line.group,
            line.name,
            line.rows,
            line.cols,
            line.nnz,
            line.real,
            line.binary,
            line.mesh,
            line.spd,
            line.psym,
            line.nsym,
            line.kind,
            line.nnz,
        )


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"grup": "HB"}, "a query has no key 'grup' (did you mean group?); keys: group, name"),
        ({"spd": True}, "a query has no key 'spd' (did you mean positive_definite?)"),
        ({"nonzeros": 3}, "did you mean nnz?"),
        ({"qqqq": 3}, "a query has no key 'qqqq'; keys"),
        ({"rows": "many"}, "rows: 'many' is no number; a range is [LOW, HIGH] or LOW:HIGH"),
        ({"rows": [1, 2, 3]}, "rows: [1, 2, 3] has 3 numbers, a range has 2"),
        ({"rows": [9, 2]}, "rows: the range [9, 2] is empty"),
        ({"rows": True}, "rows: True is no number"),
        ({"rows": None}, "rows: a number or a range LOW:HIGH is missing"),
        ({"symmetric": "maybe"}, "symmetric: 'maybe' is neither true nor false"),
        ({"group": {"a": 1}}, "group: {'a': 1} is neither a word nor a list of words"),
        ({"limit": 0}, "limit: 0 is no positive number of matrices"),
        ({"sort": "size"}, "sort: there is no key 'size'"),
        ({"sort": "-rwos"}, "sort: there is no key 'rwos' (did you mean rows?)"),
    ],
)
def test_what_a_query_does_not_take_is_refused_by_name(collection, spec, message):
    with pytest.raises(QueryError) as refusal:
        collection.query(spec)
    assert message in str(refusal.value)


def test_queries_of_a_command_line():
    assert parse_query("group=HB, symmetric=true,rows=100:20000") == {
        "group": "HB",
        "symmetric": "true",
        "rows": "100:20000",
    }
    assert parse_query("group=HB,group=Boeing") == {"group": ["HB", "Boeing"]}
    assert parse_query("group=[HB,Boeing],limit=3") == {"group": ["HB", "Boeing"], "limit": "3"}
    assert parse_query("kind=structural problem") == {"kind": "structural problem"}
    for bad in ("HB", "=3", "group"):
        with pytest.raises(QueryError, match="is no part of a query: write KEY=VALUE"):
            parse_query(bad)


def test_indexes_of_other_years_and_odd_lines():
    old = ["1", "1-Jan-2010", "HB,old,3,4,5,1,0,0,-1,0.5,0.25,least squares, of old"]
    (entry,) = parse_index(old, "old.csv")
    assert (entry.kind, entry.stored) == ("least squares, of old", 5)
    assert not entry.positive_definite  # -1: unknown
    assert select([entry], {"numerical_symmetry": 0.25}) == [entry]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "is no index of matrices"),
        (["<!DOCTYPE html>", "<html>"], "is no index of matrices"),
        (
            ["2", "date", "HB,a,1,1,1,1,0,0,1,1,1,x"],
            "is truncated: it announces 2 matrices and lists 1",
        ),
        (["2", "date", "HB,a,1,1,1,1,0,0,1,1,1,x", "HB,b,1,"], "announces 2 matrices and lists 1"),
        (["1", "date", "HB,a,1,1", "HB,a,1,1,1,1,0,0,1,1,1,x"], "x.csv:3: no line .* 4 fields"),
        (["0", "date", "HB,a,one,1,1,1,0,0,1,1,1,x"], "x.csv:3: no line of an index"),
        (["0", "date", ",a,1,1,1,1,0,0,1,1,1,x"], "x.csv:3: .* a matrix without a name"),
    ],
)
def test_what_is_no_index_is_refused(lines, message):
    with pytest.raises(Damaged, match=message):
        parse_index(lines, "x.csv")
