"""Shows how heddle is compiled. Builds with HEDDLE_WERROR fail for warnings in lines of the project, and
for no others: cmake/own-warnings.sh with g++, clang and nvcc, Ninja and make, with a compiler cache and
without. An instruction set in CXXFLAGS is that of the build."""

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
UNUSED = "inline int %s() {\n  int unused = 1;\n  return 2;\n}\n"
FILES = {
    "a project/CMakeLists.txt": """cmake_minimum_required(VERSION 3.22)
project(warnings LANGUAGES CXX)
list(APPEND CMAKE_MODULE_PATH ${PROJECT_SOURCE_DIR}/cmake)
include(HeddleCcache)
include(HeddleWarnings)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/include)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/room ${PROJECT_BINARY_DIR}/include/room SYMBOLIC)
foreach(name own_source own_header other_header system_header)
  add_library(${name} OBJECT room/${name}.cpp)
  target_compile_options(${name} PRIVATE -O2 -Wall)
  target_include_directories(${name} PRIVATE ${PROJECT_BINARY_DIR}/include build/other ../other)
  target_include_directories(${name} SYSTEM PRIVATE ../system)
  heddle_own_warnings_are_errors(${name})
endforeach()
""",
    "a project/room/own_source.cpp": UNUSED % "f" + "int g() { return f(); }\n",
    "a project/room/own_header.cpp": "#include <room/own.hpp>\nint g() { return own(); }\n",
    "a project/room/own.hpp": UNUSED % "own",
    "a project/room/other_header.cpp": "#include <near.hpp>\n#include <far.hpp>\n",
    "a project/build/other/near.hpp": UNUSED % "near",  # as a package in an environment of Python
    "other/far.hpp": UNUSED % "far",
    # GCC's optimiser warns of this header where it is inlined, as of its AVX-512 intrinsics.
    "a project/room/system_header.cpp": "#include <late.hpp>\nint g() { return late(); }\n",
    "system/late.hpp": "inline int late() {\n  int y;\n  return y * 3;\n}\n",
}
failed = []


def expect(what, holds):
    if not holds:
        failed.append(what)
        print(f"FAILED: {what}")


def run(*command, **options):
    """(exit code, output) of a command."""
    done = subprocess.run([str(word) for word in command], text=True, capture_output=True, **options)
    return done.returncode, done.stdout + done.stderr


def make_project(folder):
    for name, text in FILES.items():
        path = Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    shutil.copytree(ROOT / "cmake", Path(folder, "a project/cmake"))
    return Path(folder, "a project")


def check_build(generator, compiler, *options):
    with tempfile.TemporaryDirectory() as folder:
        project = make_project(folder)
        build = project / "build/of a test"
        case = f"{generator}, {compiler} {' '.join(options)}: "
        code, output = run("cmake", "-S", project, "-B", build, "-G", generator, "-DHEDDLE_WERROR=ON",
                           f"-DCMAKE_CXX_COMPILER={compiler}", *options)
        expect(case + "configured: " + output, code == 0)

        def built(name):
            code, output = run("cmake", "--build", build, "--target", name)
            return code == 0, output, any(build.rglob(f"{name}.cpp.o"))

        for name, at in (("own_source", "room/own_source.cpp:2:"), ("own_header", "room/own.hpp:2:")):
            for again in ("", " again"):
                done, output, has_object = built(name)
                says = any(line.startswith(at) and "error: unused variable" in line
                           for line in output.splitlines())
                expect(f"{case}{name} fails{again}, got {output}", not done and says)
                expect(f"{case}{name} leaves no object", not has_object)
        for name in ("other_header", "system_header"):
            done, output, has_object = built(name)
            expect(f"{case}{name} is built, got {output}", done and has_object and "error" not in output)
            warns = name == "other_header" or compiler == "g++"
            expect(f"{case}{name} warns, got {output}", "warning: " in output or not warns)
        source = project / "room/own_source.cpp"
        source.write_text(source.read_text().replace("return 2", "return unused"))
        done, output, has_object = built("own_source")
        expect(f"{case}is built once mended, got {output}", done and has_object)


def check_nvcc(nvcc):
    with tempfile.TemporaryDirectory() as folder:
        project = make_project(folder)
        (project / "build/kernel.cu").write_text('#include "../room/own.hpp"\nint g() { return own(); }\n')
        for root, expected in ((project, 1), (project / "room", 1), (project / "elsewhere", 0)):
            launcher = (ROOT / "cmake/own-warnings.sh", root.resolve())
            code, output = run("sh", *launcher, nvcc, "-c", "kernel.cu", "-o", "kernel.o",
                               cwd=project / "build")
            expect(f"nvcc warns, got {output}", "own.hpp(2): warning #177-D" in output)
            expect(f"nvcc in {root}: exit code {expected}, got {output}", code == expected)
            expect("nvcc leaves no object", (project / "build/kernel.o").exists() == (code == 0))


def check_instruction_set(flags, expected):
    """A build with CXXFLAGS=flags is for the instruction set `expected` alone."""
    options = [f"-DHEDDLE_{name}=OFF" for name in ("CUDA", "CHOLMOD", "MUMPS", "MPI", "METIS", "NCCL", "BUILD_APPS",
                                                   "BUILD_TESTS", "INSTALL")]
    with tempfile.TemporaryDirectory() as build:
        code, output = run("cmake", "-S", ROOT, "-B", build, "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", *options,
                           env={**os.environ, "CXX": "g++", "CXXFLAGS": flags})
        commands = Path(build, "compile_commands.json")
        words = commands.read_text().split() if commands.exists() else []
    found = {word for word in words if word.startswith("-march=")}
    expect(f"'{flags}': {expected}, got {found} {output}", code == 0 and found == {"-march=" + expected})


for generator, tool in (("Ninja", "ninja"), ("Unix Makefiles", "make")):
    for compiler in filter(shutil.which, ("g++", "clang++")):
        if shutil.which(tool):
            check_build(generator, compiler)
check_build("Unix Makefiles", "g++", "-DHEDDLE_CCACHE=")
if nvcc := shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc"):
    check_nvcc(nvcc)
check_instruction_set("", "native")
if platform.machine() == "x86_64":
    check_instruction_set("-march=x86-64-v3", "x86-64-v3")
sys.exit(1 if failed else 0)
