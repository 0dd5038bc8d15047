#!/usr/bin/env bash
# Builds and runs every test of heddle. The closing lines name what failed, with the first error of
# what could not be built, and the times. The last one is "N passed, N failed, N skipped".
#
# usage: scripts/test.sh [--quick] [PART...]
#   --format    clang-format and shellcheck over the sources, the layout of the tree, links, packaging
#   --release   optimised build with warnings as errors, the lab included, its tests (host; data where there is a
#               matrix folder; cuda where there is a GPU), an installed package and its consumer;
#               with a CUDA toolkit all GPU code is compiled too
#   --sanitize  host tests, and each fuzz target for 20 seconds, under AddressSanitizer and
#               UndefinedBehaviorSanitizer, built with clang
#   --python    the Python package, linked to the libraries of build/test, its tests and examples.
#               Packages that it needs from PyPI are installed in build/python. Where PyPI cannot be
#               reached, this part fails. With HEDDLE_PYPI=skip it is skipped instead
#   --quick     --format and --release without the data tests
# Without a part all of them run, each also where another one failed. Builds in build/test,
# build/sanitize and build/python, with the output of each in build/logs.
# Installs missing packages (as root, or with sudo). Real matrices: HEDDLE_MATRIX_DIR, by default
# ../shared/matrices where that exists. Exit code 0 if nothing failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/lib/common.sh
source scripts/lib/common.sh
# shellcheck source=scripts/lib/results.sh
source scripts/lib/results.sh

cores=$(nproc)

configure_and_build() { # PRESET FOLDER TARGET OPTIONS...
  local preset=$1 build=$2 target=$3
  shift 3
  cmake --preset "$preset" -B "$build" -DHEDDLE_WERROR=ON "$@" &&
    cmake --build "$build" --target "$target" --parallel "$cores"
}

run_ctest() { # FOLDER OPTIONS...
  local folder=$1 report=$PWD/$1/ctest.xml
  shift
  run_tests "$folder" "$report" ctest --test-dir "$folder" --output-on-failure --parallel "$cores" \
    --output-junit "$report" "$@"
}

sources_are_formatted() {
  command -v clang-format-14 >/dev/null || return 77
  find . -not -path './build*' -regex '.*\.\(hpp\|cpp\|cu\|cuh\)' -print0 |
    xargs -0 clang-format-14 --dry-run --Werror
}

scripts_are_clean() {
  command -v shellcheck >/dev/null || return 77
  shellcheck -x scripts/*.sh scripts/lib/*.sh lab/compare/*.sh packaging/conda/*.sh \
    cmake/*.sh .ci/run
}

python_is_there() { command -v python3 >/dev/null || return 77; }

layout_is_kept() { python_is_there && python3 scripts/check-layout.py; }

drawing_is_current() { python_is_there && python3 scripts/draw-rooms.py --check; }

documents_name_what_is_there() { python_is_there && python3 scripts/check-docs.py; }

site_is_built() { python_is_there && python3 scripts/build-site.py; }

packaging_is_sound() { python_is_there && python3 scripts/check-packaging.py; }

layout_checks_can_fail() { python_is_there && python3 scripts/lib/checks_test.py; }

closing_lines_are_right() { python_is_there && python3 scripts/lib/results_test.py; }

compile_settings_hold() { python_is_there && python3 scripts/lib/compile_test.py; }

run_format() {
  check "Formatting of the C++ sources (clang-format 14)" sources_are_formatted || true
  check "Scripts (shellcheck)" scripts_are_clean || true
  check "Layout: includes, folders, lengths, mirrored tests" layout_is_kept || true
  check "Drawing of the folders in docs/architecture.md" drawing_is_current || true
  check "Documents: links, files, tests, constants, figures, words" documents_name_what_is_there || true
  check "Site of the documents (MkDocs)" site_is_built || true
  check "Packaging: Dockerfiles, recipes, CITATION.cff" packaging_is_sound || true
  check "The checks of layout, documents and packaging can fail" layout_checks_can_fail || true
  check "The closing lines of scripts/test.sh" closing_lines_are_right || true
  check "Compile settings: whose warnings fail a build, instruction set" compile_settings_hold || true
}

# For the instruction set of this machine alone. Under another one g++ 12 warns inside other headers,
# which stops no build, and of no line of heddle: the libraries were compiled for x86-64-v3, they
# and the tests for AVX-512.
build_release() {
  local cuda=(-DHEDDLE_CUDA=OFF) nvcc
  if nvcc=$(find_nvcc); then
    cuda=(-DHEDDLE_CUDA=ON "-DCMAKE_CUDA_COMPILER=$nvcc")
    if ! have_gpu; then
      say "CUDA code is compiled for one architecture, its tests are skipped: no GPU here"
      cuda+=(-DCMAKE_CUDA_ARCHITECTURES=90)
    fi
  else
    say "CUDA code is not compiled: no CUDA toolkit here"
  fi
  configure_and_build release build/test all -DHEDDLE_BUILD_LAB=ON "${cuda[@]}"
}

run_release() {
  build "Release build, warnings as errors" build_release || return 0
  run_ctest build/test "$@"
}

# An environment of Python with all that the package and its tests need of PyPI.
fill_environment() { # FOLDER
  python3 -m venv "$1" || return 1
  "$1/bin/pip" install --quiet 'scikit-build-core>=0.10' 'nanobind>=2.4' 'numpy>=1.22' \
    'scipy>=1.8' PyYAML pooch Jinja2 matplotlib pytest pytest-xdist networkx mypy types-PyYAML tqdm \
    joblib pandas scikit-learn && return 0
  [[ ${HEDDLE_PYPI:-} != skip ]] || return 77
  say "The packages of PyPI cannot be installed. HEDDLE_PYPI=skip leaves out the Python package"
  return 1
}

install_python_package() { # ENVIRONMENT PREFIX
  rm -rf "$2"
  cmake --install build/test --prefix "$2" >/dev/null &&
    "$1/bin/pip" install --quiet --no-build-isolation --no-deps . \
      --config-settings=build-dir=build/python/wheel \
      --config-settings=cmake.define.HEDDLE_WERROR=ON \
      --config-settings="cmake.define.heddle_DIR=$2/lib/cmake/heddle"
}

run_python() {
  local environment=$PWD/build/python/environment
  build "Release build for the Python package" build_release || return 0
  build "Packages of PyPI for the Python package" fill_environment "$environment" || return 0
  # Chromium opens the report of a study in a test, which is skipped without it.
  (install_missing chromium:chromium) || say "Chromium cannot be installed: a test is skipped"
  build "Python package, warnings as errors" \
    install_python_package "$environment" "$PWD/build/python/prefix" || return 0
  HEDDLE_PROGRAMS=$PWD/build/test/apps run_tests tests/python build/python/pytest.xml \
    "$environment/bin/python" -m pytest -q tests/python --junitxml=build/python/pytest.xml \
    --numprocesses "$cores" --dist loadfile
}

run_sanitize() {
  build "Build with AddressSanitizer and UndefinedBehaviorSanitizer" \
    configure_and_build sanitize build/sanitize all || return 0
  # Without this option a reference to a variable of a function that has returned is not found.
  ASAN_OPTIONS=detect_stack_use_after_return=1 run_ctest build/sanitize --label-regex 'host|fuzz'
}

parts=()
release_options=()
for argument in "$@"; do
  case $argument in
    --format | --release | --sanitize | --python) parts+=("${argument#--}") ;;
    --quick)
      parts+=(format release)
      release_options=(--label-exclude data)
      ;;
    -h | --help)
      sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    *) fail "unknown option $argument (see scripts/test.sh --help)" ;;
  esac
done
[[ ${#parts[@]} -gt 0 ]] || parts=(format release python sanitize)

part=packages
check "Packages of the system" install_missing "${kBuildPackages[@]}" "${kTestPackages[@]}" || true
use_ninja_if_present
export OMP_WAIT_POLICY=passive # tests share the cores: a waiting thread must not spin
matrices=${HEDDLE_MATRIX_DIR:-$PWD/../shared/matrices}
if [[ -f $matrices/MANIFEST.tsv ]]; then
  say "Real matrices: $matrices"
else
  say "No matrix folder (HEDDLE_MATRIX_DIR): the data tests will be skipped"
fi

for part in "${parts[@]}"; do
  case $part in
    release) run_release "${release_options[@]}" ;;
    *) "run_$part" ;;
  esac
done
close_results
