"""Shows that check-layout.py, draw-rooms.py, check-docs.py and check-packaging.py can fail: a tree
that breaks a rule gives a finding, and a tree that breaks none gives none. Shows that the filter of
Doxygen describes what it is meant to, and nothing else."""

import subprocess
import sys
import tempfile
from itertools import combinations
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent.parent
CLASS = """template <class T>
class Wide final : public Base<T> {
 public:
  Wide() : a_(g()), b_{g()} {}
  explicit Wide(int a) : a_(a) { f(); f(); }
  ~Wide();
  Wide& operator=(const Wide&) = delete;
  using F = void (*)(int);  // f(); f();
  friend bool operator==(const Wide&, const Wide&);
  struct Inner {
    int f();
    std::string text = "f(); } g();";
  };
  std::function<void(int)> call = [](int k) { g(k); };
  int count = size(2);
"""
MEMBERS = """  template <class A, class B = std::pair<A, int>>
  auto first(A a = {}, B b = {}) const noexcept(sizeof(A) > 1) -> decltype(a < b) { return g(a); }
  explicit operator bool() const { return a_ < 0; }
  [[nodiscard]] T& operator()(int i) { if (i) { g(); } return a_; }
 private:
  std::vector<Wide<T>> last(
      std::function<void(int)> f,
      int k);
"""
CLEAN = {
    "linalg/CMakeLists.txt": "heddle_module(linalg PUBLIC_HEADERS data/views.hpp SOURCES)",
    "linalg/data/views.hpp": "struct A {\n  int a;\n};\n",
    "solvers/CMakeLists.txt": "heddle_module(solvers PUBLIC_HEADERS\n  lobpcg/lobpcg.hpp\n  SOURCES)",
    "solvers/lobpcg/lobpcg.hpp": "#include <heddle/linalg/data/views.hpp>\n",
    "solvers/lobpcg/solve.hpp": "#include <heddle/solvers/lobpcg/lobpcg.hpp>\n",
    "tests/solvers/lobpcg/solve_test.cpp": "#include <heddle/solvers/lobpcg/solve.hpp>\n",
    "tests/support/tolerance.hpp": "void f() {\n" + "  g();\n" * 58 + "}\n" + "// end\n" * 390,
    "tests/support/functions.hpp": CLASS + "  void f() const;\n" * 30 + "};\n",
    "docs/architecture.md": "<!-- rooms: begin -->\n<!-- rooms: end -->\n",
}
BROKEN = {  # what check-layout.py must say: the files that make it say so
    "stands above it": {"linalg/data/up.cpp": "#include <heddle/solvers/lobpcg/lobpcg.hpp>\n"},
    "is not installed": {
        "linalg/data/inner.hpp": "",
        "linalg/data/views.hpp": "#include <heddle/linalg/data/inner.hpp>\n"},
    "is inside the room": {"solvers/cg/a.cpp": "#include <heddle/solvers/lobpcg/solve.hpp>\n"},
    "is a detail of": {
        "linalg/data/detail/a.hpp": "",
        "linalg/small/a.cpp": "#include <heddle/linalg/data/detail/a.hpp>\n"},
    "circle of includes": {
        "linalg/a/a.hpp": "#include <heddle/linalg/b/b.hpp>\n",
        "linalg/b/b.hpp": "#include <heddle/linalg/c.hpp>\n",
        "linalg/c.hpp": "#include <heddle/linalg/a/a.hpp>\n"},
    "linalg/a/x and linalg/a/y lie on a circle of includes": {
        "linalg/a/x/x.hpp": "#include <heddle/linalg/a/y/y.hpp>\n",
        "linalg/a/y/y.hpp": "#include <heddle/linalg/a/x/x.hpp>\n"},
    "circle of imports": {
        "python/heddle/a/x.py": "def f():\n    from heddle.b import y\n",
        "python/heddle/b/y.py": "from ..a.x import f\n"},
    "lines in a file": {"lab/long.cpp": "int a;\n" * 451},
    "351 lines in a file, at most 350": {"drivers/long.cpp": "int a;\n" * 351},
    "lines in a function": {"linalg/data/f.cpp": "void f(\n    int a) {\n" + "  g();\n\n" * 29 + "}\n"},
    "31 member functions in Wide": {
        "linalg/data/wide.hpp": CLASS + "  void f();\n" * 27 + MEMBERS + "};\n"},
    "apps uses the public headers": {
        "apps/a.cpp": "#include <heddle/linalg/data/inner.hpp>\n", "linalg/data/inner.hpp": ""},
    "lab uses the public headers": {
        "lab/a.cpp": "#include <heddle/linalg/data/inner.hpp>\n", "linalg/data/inner.hpp": ""},
    "there is no solvers/lanczos/": {"tests/solvers/lanczos/a_test.cpp": ""},
}


def run(script, files, *arguments):
    """(exit code, output) of a script on a tree of its own; the clean tree is its base."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {**CLEAN, **files}.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = [subprocess.run([sys.executable, SCRIPTS / script, *words, folder], text=True,
                               capture_output=True) for words in (arguments or [()])]
    return done[-1].returncode, done[-1].stdout + done[-1].stderr


def rooms(count, arrows):
    """So many rooms in solvers/, and so many arrows between them, none on a circle."""
    files = {f"solvers/r{k}/r.hpp": "" for k in range(count)}
    for a, b in list(combinations(range(count), 2))[:arrows]:
        files[f"solvers/r{a}/r.hpp"] += f"#include <heddle/solvers/r{b}/r.hpp>\n"
    return files


failed = []


def expect(what, holds):
    if not holds:
        failed.append(what)
        print(f"FAILED: {what}")


code, output = run("check-layout.py", {})
expect("a clean tree has no findings: " + output, code == 0 and output == "")
for what, files in BROKEN.items():
    code, output = run("check-layout.py", files)
    expect(f"'{what}' is found, got: {output}", code == 1 and what in output)
expect("a picture that is not up to date is found",
       run("draw-rooms.py", {}, ("--check",))[0] == 1)
expect("a picture that was written is up to date",
       run("draw-rooms.py", rooms(14, 38), ("--write",), ("--check",))[0] == 0)
expect("too many rooms are found", "rooms" in run("draw-rooms.py", rooms(16, 15), ("--write",))[1])
expect("too many arrows are found", "arrows" in run("draw-rooms.py", rooms(15, 41), ("--write",))[1])
expect("a circle is found", "circle" in run("draw-rooms.py", BROKEN["circle of includes"], ("--write",))[1])
expect("an arrow upward is found",
       "upward" in run("draw-rooms.py", BROKEN["stands above it"], ("--write",))[1])
for wrong in ("[a](missing.md)", "[a](#missing)", "`linalg/missing.hpp`", "`Suite.Missing`", "`kMissing`"):
    code, output = run("check-docs.py", {"docs/page.md": f"# Heading\n[a](#heading) {wrong}\n"})
    expect(f"{wrong} is found, got: {output}", code == 1 and output.startswith("docs/page.md:2: "))
code, output = run("check-docs.py", {
    "docs/page.md": "[a](architecture.md) `linalg/data/f.cpp` `Suite.Name` `kConstant`",
    "linalg/data/f.cpp": "int kConstant;", "tests/support/f.cpp": "TEST(Suite, Name) {}"})
expect("right names are no findings: " + output, code == 0)
CONSTANTS = {"linalg/data/f.cpp": "constexpr double kHalf = 0.5; constexpr int kMany = 20'000;"}
code, output = run("check-docs.py", CONSTANTS | {"docs/page.md": "| `kHalf`, `kMany` | 0.5, 2000 rows | why |"})
expect("a number that differs from the constant is found: " + output, code == 1 and "kMany is [20000.0]" in output)
code, output = run("check-docs.py", CONSTANTS | {"docs/page.md": "| `kHalf`, `kMany` | 0.5, 20 000 rows | why |"})
expect("numbers of constants are no findings: " + output, code == 0)

FIGURES = {
    "docs/performance.md": "# P\n<!-- figures: begin -->\n<!-- figures: end -->\n",
    "docs/performance/a.json": '{"place": 1, "title": "A", "text": "T.", "machine": "m", "versions": "1", "commit": null, '
    '"command": ["run"], "other": "B", "unit": "s", "rows": [{"case": "x", "heddle": 2, "by": "", "other": 1}]}'}
code, output = run("check-docs.py", FIGURES)
expect("a page without its figures is found: " + output, code == 1 and "performance.md:1: not what" in output)
with tempfile.TemporaryDirectory() as folder:
    for name, text in {**CLEAN, **FIGURES}.items():
        Path(folder, name).parent.mkdir(parents=True, exist_ok=True)
        Path(folder, name).write_text(text)
    for script, wanted in (("draw-performance.py", 0), ("check-docs.py", 0)):
        code = subprocess.run([sys.executable, SCRIPTS / script, folder]).returncode
        expect(f"{script} accepts a page with its figures", code == wanted)
    drawn = Path(folder, "docs/performance.md").read_text()
    expect("a loss is bold: " + drawn, "| x | 2 | 1 | **0.500** |" in drawn)
    for name, right, wrong in (("docs/performance.md", "0.500", "0.900"), ("docs/performance/a.svg", "0.500", "0.900")):
        path = Path(folder, name)
        kept = path.read_text()
        path.write_text(kept.replace(right, wrong))
        done = subprocess.run([sys.executable, SCRIPTS / "check-docs.py", folder], text=True, capture_output=True)
        expect(f"a changed figure in {name} is found: {done.stdout}", done.returncode == 1 and name in done.stdout)
        path.write_text(kept)

TESTED = {"tests/support/f.cpp": "#include <a>\nvoid f() {\n  int  a = g(1);  // why\n}\n"}
for right in ("int a = g(1);", "#include <b>\nint a =\n    g(1);  // other"):
    code, output = run("check-docs.py", TESTED | {"docs/page.md": f"```cpp\n{right}\n```\n"})
    expect(f"'{right}' stands in a test: {output}", code == 0)
code, output = run("check-docs.py", TESTED | {"docs/page.md": "\n```cpp\nint a = g(2);\n```\n"})
expect("an example in no test is found: " + output, code == 1 and "docs/page.md:2: an example" in output)

LONG = "One " + "word " * 34 + "more"  # 36 words
for right in ("Two words. " + LONG[:-5] + ".", f"```sh\n{LONG}\n```", "| " + "cell " * 15 + "| b |", "- " + LONG[:-5] + ".\n- Another.",
              "`beside` in code", "| a \\| b | c |"):
    code, output = run("check-docs.py", {"docs/page.md": right + "\n"})
    expect(f"'{right[:30]}' breaks no rule for words: {output}", code == 0)
for wrong, what in ((LONG + ".", "a sentence of 36 words"), (f"- {LONG[:59]}\n  {LONG[59:]}.", "a sentence of 36 words"),
                    ("| a | " + "cell " * 16 + "|", "a cell of 16 words"), ("heddle beside others.", "'beside'")):
    code, output = run("check-docs.py", {"docs/page.md": "# Heading\n\n" + wrong + "\n"})
    expect(f"{what} is found: {output}", code == 1 and output.startswith("docs/page.md:3: ") and what in output)

MESSAGES = {
    "apps/f.cpp": 'f("stagnated");\nerror(fmt::format("the matrix is {} x {}, "\n    "it must be \\"square\\""));\n',
    "python/heddle/f.py": 'raise ValueError(\n    f"{name} holds |{x!r}|, "\n    "not a number")\n'}
for right in ('the matrix is … x …, it must be "square"', "is … x …, it must be", "stagnated", r"… holds \|…\|, not a number"):
    code, output = run("check-docs.py", MESSAGES | {"docs/troubleshooting.md": f"| `{right}` | a | b |"})
    expect(f"{right} is a message: {output}", code == 0)
for wrong in ("the matrix is … x …, it must be round", "it must be … the matrix is", "stag", "fmt::format(", "not a number …, but a word"):
    code, output = run("check-docs.py", MESSAGES | {"docs/troubleshooting.md": f"\n| `{wrong}` | a | b |"})
    expect(f"{wrong} is no message: {output}", code == 1 and "docs/troubleshooting.md:2: no message" in output)

HOST, SPACK = "packaging/docker/Dockerfile.host", "packaging/spack/spack_repo/heddle/"
RECIPE, META = SPACK + "packages/heddle/package.py", "packaging/conda/meta.yaml"
PACKAGING = {str(path.relative_to(SCRIPTS.parent)): path.read_text()  # as it is in this tree
             for pattern in ("packaging/**/*", "CITATION.cff", "LICENSE", "CMakeLists.txt", "cmake/*.cmake",
                             "scripts/lib/common.sh")
             for path in SCRIPTS.parent.glob(pattern) if path.is_file()}
SPOILT = [  # what check-packaging.py must say, the file, and the change that makes it say so
    ("needs a tag", HOST, "FROM debian:12 AS", "FROM debian AS"),
    ("no stage make", HOST, "--from=build", "--from=make"),
    ("is not in the sources", HOST, "scripts/lib/common.sh scripts", "scripts/missing.sh scripts"),
    ("without -y", HOST, "install -y", "install"),
    ("without --no-install-recommends", HOST, "--no-install-recommends", ""),
    ("the lists of packages stay", HOST, "&& rm -rf /var/lib/apt/lists/*\nCOPY --from", "\nCOPY --from"),
    ("RUNS: no instruction", HOST, "RUN useradd", "RUNS useradd"),
    ("needs an absolute path", HOST, "WORKDIR /work", "WORKDIR work"),
    ("runs as root", HOST, "USER heddle", "USER root"),
    ("needs the form", HOST, 'CMD ["heddle", "help"]', "CMD heddle help"),
    ("no option HEDDLE_FAST", HOST, "-DHEDDLE_NATIVE=OFF", "-DHEDDLE_FAST=OFF"),
    ("no option HEDDLE_APPS", RECIPE, '"HEDDLE_BUILD_APPS"', '"HEDDLE_APPS"'),
    ("package.py:", RECIPE, "def cmake_args(self):", "def cmake_args(self)"),
    ("version 0.0.9", RECIPE, 'version("0.1.0")', 'version("0.0.9")'),
    ("CudaPackage comes from", RECIPE, "import CudaPackage", "import ROCmPackage"),
    ("no variant metal", RECIPE, '"HEDDLE_METIS", "metis"', '"HEDDLE_METIS", "metal"'),
    ("the api v2", SPACK + "repo.yaml", "  api: v2.0\n", ""),
    ("there is no script", META, "script: build.sh", "script: built.sh"),
    ("version 0.0.9", META, 'version = "0.1.0"', 'version = "0.0.9"'),
    ("version 0.0.9", "CITATION.cff", "version: 0.1.0", "version: 0.0.9"),
    ("authors is missing", "CITATION.cff", "authors:\n  - name", "editors:\n  - name"),
    ("is no DOI", "CITATION.cff", "doi: 10.", "doi: doi.org/10."),
    ("LICENSE is another", "LICENSE", "BSD 3-Clause", "MIT"),
]
code, output = run("check-packaging.py", PACKAGING)
expect("the packaging of this tree has no findings: " + output, code == 0 and output == "")
for what, name, right, wrong in SPOILT:
    code, output = run("check-packaging.py", {**PACKAGING, name: PACKAGING[name].replace(right, wrong)})
    expect(f"'{what}' is found in {name}, got: {output}", code == 1 and what in output)

HEADER = """/// A thing.
struct Thing {
  /// 0×0.
  Thing() = default;

  int rows = 0;
  int odd = 0;
  /// Both ends.
  int first();
  int last();

  /// One of them.
  int one;
  int other;  ///< the other one
  int third;
};
template <class T>
void add(CudaContext& context, T t);
template <class T>
void unsaid(T t);
"""
DESCRIBED = """/// A thing.
struct Thing {



/** The number of rows. */ int rows = 0;
  int odd = 0;
/** @{ */ /** Both ends. */
  int first();
  int last(); /** @} */

  /// One of them.
  int one;
  int other;  ///< the other one
  int third;
};
/** The same on a GPU. Work is queued on the stream of the context. */ template <class T>
void add(CudaContext& context, T t);
template <class T>
void unsaid(T t);
"""
with tempfile.TemporaryDirectory() as folder:
    header = Path(folder) / "thing.hpp"
    header.write_text(HEADER)
    done = subprocess.run([sys.executable, str(SCRIPTS / "lib/doxygen_filter.py"), str(header)],
                          capture_output=True, text=True)
    expect(f"the filter of Doxygen describes: {done.stdout}{done.stderr}", done.stdout == DESCRIBED)
sys.exit(1 if failed else 0)
