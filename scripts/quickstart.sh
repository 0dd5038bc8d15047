#!/usr/bin/env bash
# Installs what is missing, builds heddle's executables and solves a first eigenproblem.
#
# usage: scripts/quickstart.sh
#
# Works as root, or as a user with sudo where packages are missing (Debian 12, Ubuntu 24.04 and
# later). Builds in build/quickstart; results go to results/quickstart-lobpcg.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/lib/common.sh
source scripts/lib/common.sh

build=build/quickstart

install_missing "${kBuildPackages[@]}"

options=(-DCMAKE_BUILD_TYPE=Release -DHEDDLE_BUILD_TESTS=OFF)
if ! nvcc=$(find_nvcc); then
  say "No CUDA toolkit: building for the CPU"
  options+=(-DHEDDLE_CUDA=OFF)
elif ! have_gpu; then
  say "A CUDA toolkit but no GPU: building for the CPU"
  options+=(-DHEDDLE_CUDA=OFF)
else
  say "CUDA toolkit and GPU found: building for the CPU and the GPU"
  options+=(-DHEDDLE_CUDA=AUTO "-DCMAKE_CUDA_COMPILER=$nvcc")
fi

say "Configuring in $build"
mkdir -p build
use_ninja_if_present
cmake -S . -B "$build" "${options[@]}" >"$build.log" 2>&1 || {
  cat "$build.log"
  fail "configuring failed"
}
grep '^-- CUDA backend' "$build.log" || true

say "Building the executables on $(nproc) cores"
cmake --build "$build" --parallel "$(nproc)" --target heddle_program heddle-lobpcg heddle-lanczos \
  heddle-cg heddle-info heddle-spgemm heddle-spmm

say "Solving configs/quickstart.yaml"
"$build/apps/heddle" solve configs/quickstart.yaml

cat <<END

These are the smallest eigenvalues of the Laplacian on a cube, known in closed form:
configs/quickstart.yaml says how. Next:
  $build/apps/heddle solve configs/quickstart.yaml -n 20
  $build/apps/heddle info YOUR_MATRIX.mtx
  $build/apps/heddle solve YOUR_MATRIX.mtx -n 10
  $build/apps/heddle solve YOUR_CONFIG.yaml      (start from configs/)
  scripts/test.sh
END
