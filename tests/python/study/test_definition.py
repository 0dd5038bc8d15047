"""The form of a study.yaml, its matrices and its cases."""

import gzip

import pytest

from heddle.study import definition, matrices, plan, programs
from heddle.study.records import StudyError
from heddle.study.yaml_file import dump_yaml, read_yaml

SMALL = "matrices: ['laplace1d:30']\ncases: [{name: a}]\n"


def read(folder, text):
    path = folder / "study.yaml"
    path.write_text(text)
    return definition.read_study(path)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("matrixes: [a]\n" + SMALL, 1, ["matrixes: unknown key", "did you mean 'matrices'"]),
        (SMALL + "run:\n  timeout: 3\n", 4, ["run.timeout: unknown key", "'timeout_s'"]),
        (
            SMALL + "run: {repeats: 0}\n",
            3,
            ["run.repeats: expected an integer of at least 1, got 0"],
        ),
        (SMALL + "run: {repeats: 1.5}\n", 3, ["got 1.5"]),
        (SMALL + "run: {timeout_s: soon}\n", 3, ["expected a number", "the string 'soon'"]),
        (SMALL + "reference: {dense: -1}\n", 3, ["reference.dense"]),
        (SMALL + "name: a/b\n", 3, ["name: expected letters"]),
        (SMALL + "output: [a]\n", 3, ["output: expected the name of a folder, got a list"]),
        ("cases: [{name: a}]\n", None, ["matrices: expected a list, got nothing"]),
        ("matrices: []\ncases: [{}]\n", 1, ["matrices: expected a list, got an empty list"]),
        ("matrices: [{name: x}]\ncases: [{}]\n", 1, ["file, glob, query and generate"]),
        ("matrices: [{file: a, glob: b}]\ncases: [{}]\n", 1, ["has file and glob"]),
        ("matrices: [{file: a, rows: [1, 2]}]\ncases: [{}]\n", 1, ["rows narrows a glob"]),
        ("matrices: [laplace2d:3,4]\ncases: [{}]\n", 1, ["got 4", "quotes"]),
        ("matrices: [{glob: a, nam: b}]\ncases: [{}]\n", 1, ["matrices[0].nam", "'name'"]),
        (
            "matrices: [a]\ncases:\n- name: a\n- {name: b, solvr: {}}\n",
            4,
            ["cases[1].solvr", "'solver'"],
        ),
        ("matrices: [a]\ncases: [{name: a}, {name: a}]\n", 2, ["two cases have the name 'a'"]),
        ("matrices: [a]\ncases: [{external: scipy.eigs}]\n", 2, ["did you mean 'scipy.eigsh'"]),
        ("matrices: [a]\ncases: [{python: x}]\n", 2, ["external solvers only"]),
        (
            "matrices: [a]\ncases: [{external: slepc, solver: {block_size: 3}}]\n",
            2,
            ["cases[0].solver.block_size: unknown key", "nev, which, tolerance, max_iterations"],
        ),
        (
            "matrices: [a]\ncases: [{external: slepc, vary: {solver.block_size: [3]}}]\n",
            2,
            ["solver.block_size: unknown to slepc"],
        ),
        ("matrices: [a]\ncases: [{problem: {matrix: x}}]\n", 2, ["problem.matrix", "`matrices`"]),
        (
            "matrices: [a]\ncases: [{vary: {solver.nev: 3}}]\n",
            2,
            ["expected a list of values, got 3"],
        ),
        ("matrices: [a]\ncases: [{vary: {solve.nev: [3]}}]\n", 2, ["did you mean 'solver'"]),
        ("matrices: [a]\nmatrices: [b]\ncases: [{}]\n", 2, ["'matrices' is there twice"]),
        ("matrices: [a\ncases: [{}]\n", 2, ["not YAML"]),
    ],
)
def test_mistakes_are_named_with_line_and_key(tmp_path, text, line, words):
    with pytest.raises(StudyError) as raised:
        read(tmp_path, text)
    said = str(raised.value)
    assert raised.value.exit_code == 1 and "study.yaml" in said
    assert line is None or f"study.yaml:{line}:" in said
    assert all(word in said for word in words), said


def test_a_study_that_is_not_there(tmp_path):
    with pytest.raises(StudyError, match="cannot be read: No such file") as raised:
        definition.read_study(tmp_path / "none.yaml")
    assert raised.value.exit_code == 2


def test_numbers_and_words_are_those_of_yaml_1_2(tmp_path):
    path = tmp_path / "x.yaml"
    path.write_text("a: [1e-8, 1.5, .5, -3, 010, true, yes, on, .inf, -inf, null, 1_0]\n")
    expected = [1e-8, 1.5, 0.5, -3, 10, True, "yes", "on", float("inf"), "-inf", None, "1_0"]
    assert read_yaml(path).content["a"] == expected
    path.write_text(dump_yaml({"tolerance": 1e-8, "list": [1, 2]}))
    assert "1.0e-08" in path.read_text()


def names_of(study):
    return [point.name for case in study.cases for point in plan.points(case)]


def test_products_become_cases_with_readable_names(tmp_path):
    text = """
matrices: ['laplace1d:30']
common:
  solver: {nev: 4, preconditioner: {degree: 3}}
  vary: {solver.which: [smallest, largest]}
cases:
- name: one
  solver: {type: lobpcg}
  vary: {solver: {block_size: [8, 16], preconditioner.type: [none, jacobi]}}
- name: two
  vary: [{solver.tolerance: [1e-3, 1e-8]}, {solver.preconditioner: [{type: none, degree: 5}]}]
- external: scipy.eigsh
  solver: {tolerance: 1e-6}
"""
    study = read(tmp_path, text)
    found = {point.name: point for case in study.cases for point in plan.points(case)}
    one = [name for name in found if name.startswith("one")]
    assert len(one) == 8 and "one[which=largest,block_size=16,preconditioner=jacobi]" in one
    point = found["one[which=largest,block_size=16,preconditioner=jacobi]"]
    assert point.setting == "one[block_size=16,preconditioner=jacobi]"
    assert point.config["solver"] == {
        "nev": 4, "which": "largest", "type": "lobpcg", "block_size": 16,
        "preconditioner": {"degree": 3, "type": "jacobi"},
    }  # fmt: skip
    assert sum(name.startswith("two") for name in found) == 6
    assert found["two[which=smallest,tolerance=0.001]"].config["solver"]["tolerance"] == 1e-3
    last = found["two[which=smallest,preconditioner=none+5]"]
    assert last.config["solver"]["preconditioner"] == {"degree": 5, "type": "none"}
    external = found["scipy.eigsh[which=largest]"]
    assert external.config == {"solver": {"nev": 4, "tolerance": 1e-6, "which": "largest"}}
    assert len(names_of(study)) == 16


def header(symmetry="symmetric", field="real", n=3):
    return f"%%MatrixMarket matrix coordinate {field} {symmetry}\n% about it\n{n} {n} 1\n1 1 5\n"


def expand(folder, items):
    study = read(folder, f"matrices:\n{items}\ncases: [{{}}]\n")
    return matrices.expand(study)


def test_patterns_and_what_narrows_them(tmp_path, monkeypatch):
    for name, text in [
        ("sym", header()), ("gen", header("general")), ("cpx", header(field="complex")),
        ("big", header(n=90)), ("pat", header(field="pattern")),
    ]:  # fmt: skip
        (tmp_path / f"{name}.mtx").write_text(text)
    (tmp_path / "zipped.mtx.gz").write_bytes(gzip.compress(header(n=7).encode()))
    (tmp_path / "notes.md").write_text("no matrix")
    (tmp_path / "MANIFEST.tsv").write_text("name\tkind\tgroup\nsym\tstructural\tHB\n")
    monkeypatch.setenv("PLACE", str(tmp_path))
    found = expand(tmp_path, "- {glob: '${PLACE}/*', symmetric: true, rows: [1, 10]}")
    assert [each.name for each in found] == ["pat", "sym", "zipped"]
    assert found[1].facts["kind"] == "structural" and found[1].facts["group"] == "HB"
    assert found[2].facts["n"] == 7
    found = expand(tmp_path, "- {glob: ['g*.mtx', 'c*.mtx'], exclude: [cpx], transform: laplacian}")
    assert [(each.name, each.problem["transform"]) for each in found] == [
        ("gen@laplacian", "laplacian")
    ]
    assert len(expand(tmp_path, "- '*.mtx'\n- sym.mtx")) == 5  # the same matrix once
    monkeypatch.delenv("PLACE")
    with pytest.raises(StudyError, match="environment variable PLACE"):
        expand(tmp_path, "- ${PLACE}/*.mtx")
    with pytest.raises(StudyError, match="no matrix file matches"):
        expand(tmp_path, "- {glob: 'x*.mtx'}")


def test_names_masses_and_structures(tmp_path):
    for name in ("K", "M"):
        (tmp_path / f"{name}.mtx").write_text(header())
    found = expand(
        tmp_path,
        "- {name: beam 1, file: K.mtx, mass: M.mtx}\n- 'random_symmetric:50:4.5'\n"
        "- {generate: laplace2d, size: [3, 4], mass: {generate: laplace1d, size: [12]}}",
    )
    assert found[0].name == "beam_1" and found[0].problem["mass"] == str(tmp_path / "M.mtx")
    assert found[1].problem["matrix"] == {
        "generate": "random_symmetric", "size": [50], "density": 4.5
    }  # fmt: skip
    assert found[2].problem["mass"] == {"generate": "laplace1d", "size": [12]}
    with pytest.raises(StudyError, match="two matrices have the name 'K'.*another `name`"):
        expand(tmp_path, "- K.mtx\n- {name: K, file: M.mtx}")
    with pytest.raises(StudyError, match="there is no file .*L.mtx"):
        expand(tmp_path, "- L.mtx")


@pytest.fixture
def two_files(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.mtx").write_text(header(n=3 if name == "a" else 4))
    return tmp_path


def keys(folder, version="v", device="host", matrix="a.mtx", solver="nev: 3", extra=""):
    text = f"matrices: [{matrix}]\ncases: [{{name: c, solver: {{{solver}}}}}]\n{extra}\n"
    study = read(folder, text)
    solver_program = programs.Solver("heddle", version, device)
    runs, _ = plan.plan(study, matrices.expand(study), solver_program, plan.Sums())
    return [run.key for run in runs]


def test_what_changes_a_key(two_files):
    base = keys(two_files)
    others = [
        keys(two_files, version="w"),
        keys(two_files, device="cuda H100"),
        keys(two_files, matrix="b.mtx"),
        keys(two_files, matrix="{file: a.mtx, transform: laplacian}"),
        keys(two_files, matrix="{file: a.mtx, mass: b.mtx}"),
        keys(two_files, solver="nev: 4"),
        keys(two_files, extra="run: {threads: 1}"),
    ]
    assert len({key for found in [base, *others] for key in found}) == len(others) + 1
    repeated = keys(two_files, extra="run: {repeats: 3}")
    assert len(set(repeated)) == 3 and repeated[0] == base[0]


def test_what_does_not_change_a_key(two_files):
    base = keys(two_files)
    (two_files / "sub").mkdir()
    (two_files / "a.mtx").rename(two_files / "sub" / "renamed.mtx")
    assert keys(two_files, matrix="sub/renamed.mtx") == base
    moved = {"extra": "output: elsewhere\nname: other\nrun: {timeout_s: 5, memory_gb: 3}"}
    assert keys(two_files, matrix="{name: x, file: sub/renamed.mtx}", **moved) == base
    (two_files / "sub" / "renamed.mtx").write_text(header(n=3).replace("1 1 5", "1 1 6"))
    assert keys(two_files, matrix="sub/renamed.mtx") != base


def test_repeats_are_interleaved_and_questions_shared(tmp_path):
    text = """
matrices: ['laplace1d:30', 'laplace1d:31']
cases:
- {name: a}
- {name: b, solver: {type: lobpcg}, vary: {solver.which: [smallest, largest]}}
run: {repeats: 2}
"""
    study = read(tmp_path, text)
    solver = programs.Solver("p", "v", "host")
    runs, twins = plan.plan(study, matrices.expand(study), solver, plan.Sums())
    assert twins == []
    assert [(run.matrix[-2:], run.case, run.repeat) for run in runs[:7]] == [
        ("30", "a", 0), ("30", "b[which=smallest]", 0), ("30", "b[which=largest]", 0),
        ("30", "a", 1), ("30", "b[which=smallest]", 1), ("30", "b[which=largest]", 1),
        ("31", "a", 0),
    ]  # fmt: skip
    groups = [run.problem_group for run in runs]
    assert groups[0] == groups[1] == groups[3] != groups[2] and groups[0] != groups[6]
    parts = [plan.chosen(runs, [], (i, 2)) for i in (1, 2)]
    assert [{run.matrix for run in part} for part in parts] == [{"laplace1d-30"}, {"laplace1d-31"}]
    for pattern, count in [
        ("*30", 6), ("b[which=smallest]", 4), ("laplace1d-31/a", 2), (runs[3].key, 1), ("none", 0),
    ]:  # fmt: skip
        assert len(plan.chosen(runs, [pattern], None)) == count


def test_twins_are_named(two_files):
    text = "matrices: [a.mtx, {name: again, file: a.mtx}]\ncases: [{name: c}, {name: d}]\n"
    study = read(two_files, text)
    solver = programs.Solver("p", "v", "host")
    runs, twins = plan.plan(study, matrices.expand(study), solver, plan.Sums())
    assert len(runs) == 1 and len(twins) == 3
    assert twins[0] == "a/d is the same as a/c: it is run once"


def test_heddle_checks_each_case_before_any_run(tmp_path, heddle_program, monkeypatch):
    from heddle.commands import study

    path = tmp_path / "study.yaml"
    path.write_text(
        f"output: {tmp_path / 'out'}\nmatrices: ['laplace1d:30']\ncases:\n- {{name: good}}\n"
        "- {name: bad, solver: {type: lobpcg, nevv: 3}}\n"
    )
    with pytest.raises(StudyError, match=r"study.yaml:5: cases\[1\]: bad: .*did you mean 'nev'"):
        study._main(study.parser().parse_args([str(path)]))
    assert not (tmp_path / "out").exists()


def test_matrices_of_the_collection(tmp_path, monkeypatch):
    """With a cache that has one of two matrices, and an index that is never asked."""
    monkeypatch.setenv("HEDDLE_DATA", str(tmp_path / "cache"))
    import heddle.data

    folder = tmp_path / "cache" / "SuiteSparse" / "HB" / "bus"
    folder.mkdir(parents=True)
    (folder / "bus.mtx").write_text(header(n=8))
    (folder / "record.json").write_text(
        '{"index": {"kind": "power network problem", "group": "HB"}}'
    )
    entries = [type("Entry", (), {"group": "HB", "name": name}) for name in ("bus", "far")]
    monkeypatch.setattr(heddle.data, "query", lambda spec: entries if spec else [])
    monkeypatch.setattr(heddle.data, "resolve", lambda name: (_ for _ in ()).throw(OSError(name)))
    study = read(tmp_path, "matrices: [SuiteSparse:HB/bus, {query: {group: HB}}]\ncases: [{}]\n")
    found = matrices.expand(study, fetch=False)
    assert [(each.name, each.missing) for each in found] == [("bus", ""), ("far", "HB/far")]
    assert found[0].facts["kind"] == "power network problem" and found[0].facts["n"] == 8
    with pytest.raises(StudyError, match="HB/far"):
        matrices.expand(study)
    with pytest.raises(StudyError, match="no matrix of the collection"):
        expand(tmp_path, "- {query: {}}")
