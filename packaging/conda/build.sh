#!/usr/bin/env bash
# Run by conda build, which sets the variables.
set -euo pipefail
with_mpi=ON
# shellcheck disable=SC2154  # a line of conda_build_config.yaml
[[ $mpi != nompi ]] || with_mpi=OFF
# shellcheck disable=SC2086,SC2154  # CMAKE_ARGS is a list of words
cmake -S . -B build -G Ninja ${CMAKE_ARGS} -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_INSTALL_PREFIX="$PREFIX" -DCMAKE_INSTALL_LIBDIR=lib -DBUILD_SHARED_LIBS=ON \
  -DHEDDLE_NATIVE=OFF -DHEDDLE_CUDA=OFF -DHEDDLE_CHOLMOD=OFF -DHEDDLE_MUMPS=OFF -DHEDDLE_MPI=$with_mpi -DHEDDLE_METIS=ON \
  -DHEDDLE_BUILD_TESTS=OFF
cmake --build build --parallel "${CPU_COUNT:-2}"
cmake --install build
