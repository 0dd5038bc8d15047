#!/usr/bin/env bash
# heddle against SLEPc: 7-point Laplacian on SIZE x SIZE x SIZE points, 16 pairs, tolerance 1e-8, 2
# threads, and 2 processes of one thread, against 2 MPI ranks; the smallest ones by LOBPCG, or the
# largest by block Lanczos against Krylov-Schur. Or 16 random right-hand sides by block CG against PETSc's CG, one after the other.
# The programs take turns, so that both see the same machine, and only the solve itself counts, with
# cg and with multigrid the setup of the preconditioner, too. Prints median seconds, iterations (of
# block Lanczos: cycles) and the ratio to heddle.
#
# usage: lab/compare/run.sh [lobpcg|multigrid|lanczos|cg [ROUNDS [SIZE]]]      (default lobpcg 5 50)
# lobpcg: heddle with chebyshev; multigrid: with multigrid, against GAMG in one step alone.
#
# Needs the packages of scripts/quickstart.sh and: slepc-dev pkg-config mpi-default-bin.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=scripts/lib/common.sh
source scripts/lib/common.sh

solver=${1:-lobpcg}
rounds=${2:-5}
size=${3:-50}
build=build/compare

# Options of the two sides. The preconditioner of SLEPc's LOBPCG is by default an inner GMRES of 5
# steps with block Jacobi and ILU(0); "norm" is heddle's criterion too (SLEPc's own default is
# "relative").
program=slepc-eigen
config=laplace3d
case $solver in
  multigrid)
    heddle=(heddle-lobpcg --preconditioner multigrid)
    declare -A slepc_options=(["SLEPc, one step of GAMG"]="-st_ksp_type preonly -st_pc_type gamg")
    order=("SLEPc, one step of GAMG")
    ;;
  cg)
    program=petsc-cg
    config=laplace3d_cg
    heddle=(heddle-cg --preconditioner multigrid)
    declare -A slepc_options=(
      ["PETSc, CG with GAMG"]="-pc_type gamg"
      ["PETSc, CG with hypre BoomerAMG"]="-pc_type hypre -pc_hypre_type boomeramg"
    )
    order=("PETSc, CG with GAMG" "PETSc, CG with hypre BoomerAMG")
    ;;
  lobpcg)
    heddle=(heddle-lobpcg --preconditioner chebyshev)
    declare -A slepc_options=(
      ["SLEPc, as it comes, criterion norm"]=""
      ["SLEPc, inner GMRES with SSOR"]="-st_pc_type sor"
      ["SLEPc, inner GMRES with Jacobi"]="-st_pc_type jacobi"
      ["SLEPc, one step of block Jacobi"]="-st_ksp_type preonly -st_pc_type bjacobi"
      ["SLEPc, one step of GAMG"]="-st_ksp_type preonly -st_pc_type gamg"
    )
    order=("SLEPc, one step of GAMG" "SLEPc, as it comes, criterion norm" "SLEPc, inner GMRES with SSOR"
      "SLEPc, inner GMRES with Jacobi" "SLEPc, one step of block Jacobi")
    ;;
  lanczos)
    heddle=(heddle-lanczos --set solver.type=block_lanczos --set solver.which=largest)
    declare -A slepc_options=(
      ["SLEPc, Krylov-Schur, criterion norm"]="-eps_type krylovschur -eps_largest_real"
    )
    order=("SLEPc, Krylov-Schur, criterion norm")
    ;;
  *) fail "unknown solver $solver; usage: lab/compare/run.sh [lobpcg|multigrid|lanczos|cg [ROUNDS [SIZE]]]" ;;
esac

use_ninja_if_present
say "Building in $build"
cmake --preset release -B "$build" -DHEDDLE_CUDA=OFF -DHEDDLE_BUILD_TESTS=OFF \
  -DHEDDLE_BUILD_COMPARISON=ON -DHEDDLE_MPI=ON >/dev/null
cmake --build "$build" --target "${heddle[0]}" "$program"

# The ranks are the parallelism: a threaded BLAS below them would only be in the way.
export OPENBLAS_NUM_THREADS=1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

run_heddle() { # THREADS [LAUNCHER...]
  "${@:2}" "$build/apps/${heddle[0]}" "lab/compare/$config.yaml" --quiet "${heddle[@]:1}" \
    --set "problem.matrix.size=[$size, $size, $size]" --set "threads=$1" >/dev/null
  # The setup counts where the other side's preconditioner is set up within its solve.
  python3 - "$build/result/result.json" "$solver" <<'PYTHON'
import json, sys
result = json.load(open(sys.argv[1]))
setup = result["seconds"]["setup"] if sys.argv[2] in ("cg", "multigrid") else 0
print(result["iterations"], result["seconds"]["solve"] + setup)
PYTHON
}

run_slepc() { # OPTIONS...
  OMP_NUM_THREADS=1 mpirun -n 2 "$build/lab/compare/$program" -size "$size" "$@" |
    sed -n 's/^\(iterations\|seconds\): //p' | tr '\n' ' '
  echo
}

median() { sort -g | sed -n "$(((rounds + 1) / 2))p"; }

declare -A lines=()
for ((round = 1; round <= rounds; ++round)); do
  say "Round $round of $rounds"
  lines[heddle]+=$(run_heddle 2)$'\n'
  lines["heddle, 2 processes"]+=$(run_heddle 1 mpirun -n 2)$'\n'
  for name in "${order[@]}"; do
    read -ra options <<<"${slepc_options[$name]}"
    lines[$name]+=$(run_slepc "${options[@]}")$'\n'
  done
done

heddle_seconds=$(awk 'NF {print $2}' <<<"${lines[heddle]}" | median)
printf '%-40s %10s %10s %8s\n' "" iterations seconds ratio
for name in heddle "heddle, 2 processes" "${order[@]}"; do
  iterations=$(awk 'NF {print $1}' <<<"${lines[$name]}" | median)
  seconds=$(awk 'NF {print $2}' <<<"${lines[$name]}" | median)
  ratio=$(awk -v s="$seconds" -v h="$heddle_seconds" 'BEGIN {printf "%.2f", s / h}')
  printf '%-40s %10d %10.2f %8s\n' "$name" "$iterations" "$seconds" "$ratio"
done
