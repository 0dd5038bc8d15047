#!/usr/bin/env bash
# Checks heddle on a GPU: builds, runs every test labelled cuda, kernel and solver tests under
# compute-sanitizer, and the GPU benchmarks; closes with a summary.
#
# usage: scripts/gpu-check.sh [--quick] [--multi] [LOGS]
#   --quick   tests and memcheck only
#   --multi   the tests and benchmarks of several GPUs only
#   LOGS      folder for the full output, by default build/gpu/logs
#
# Needs a CUDA toolkit. Without a GPU it compiles everything, the tests say that they were skipped,
# and the rest is left out. With CMAKE_PREFIX_PATH set, dependencies are taken from there; otherwise
# missing packages are installed (as root, or with sudo). Exit code 0 if nothing failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/lib/common.sh
source scripts/lib/common.sh

build=build/gpu
quick=false
multi=false
logs=$build/logs
for argument in "$@"; do
  case $argument in
    --quick) quick=true ;;
    --multi) multi=true ;;
    -*) fail "unknown option $argument; usage: scripts/gpu-check.sh [--quick] [--multi] [LOGS]" ;;
    *) logs=$argument ;;
  esac
done
mkdir -p "$logs"
kernel_tests=(linalg/block_ops_cuda_test linalg/complex_ops_cuda_test linalg/csr_ops_cuda_test
  linalg/small_dense_cuda_test
  spmm/spmm_cuda_test spgemm/spgemm_cuda_test spgemm/band_cuda_test
  spmm/transposed_cuda_test spmm/triangular_cuda_test spmm/low_precision_cuda_test
  solvers/incomplete_cholesky_cuda_test)
solver_tests=(solvers/lobpcg_cuda_test solvers/block_lanczos_cuda_test solvers/block_cg_cuda_test
  solvers/hermitian_cuda_test)
: >"$logs/summary.txt"

note() { printf '%s\n' "$*" | tee -a "$logs/summary.txt"; }

# Runs a command for at most SECONDS, writes its output to a log, and records its result.
step() { # NAME SECONDS COMMAND...
  local name=$1 limit=$2 log status=0 begin=$SECONDS
  shift 2
  log=$logs/${name// /-}.log
  timeout "$limit" "$@" >"$log" 2>&1 || status=$?
  if [[ $status -eq 0 ]]; then
    note "ok      $name ($((SECONDS - begin)) s)"
  else
    note "FAILED  $name (exit code $status after $((SECONDS - begin)) s, see $log)"
    tail -n 20 "$log"
  fi
}

# Runs one sanitizer tool on a kernel test. Only heddle's kernels are checked, except by initcheck,
# which must also track writes by cuBLAS and by sorts and scans. Tests run in double, complex ones in
# complex double. Only as many run as a tool can finish in time, because it slows shared memory
# accesses down a thousandfold.
sanitize() { # TOOL TEST
  local filter='-*Eigen*:*/0.*' kernels=(--kernel-name kns=heddle)
  [[ $1-$2 == initcheck-linalg/* || $1-$2 == initcheck-*/incomplete_* ]] && kernels=()
  case $1-$2 in
    *-*/complex_* | *-solvers/hermitian_*) filter='*' ;;
    *-spmm/spmm_*) filter='*/1.EmptyRows:*/1.Band:*/1.PowerLaw:*/1.Wide:*/2.EmptyRows:*/2.Random' ;;
    *-spgemm/band_*) filter='*/1.RectangularOnes:*/1.NoEntries:ColumnRow/1.*' ;;
    *-spgemm/*) filter='*/1.GridsAndBands:*/1.IrregularMatrices:*/1.ADense*:*/1.NoEntries' ;;
    *-spmm/low_precision_*) filter='*/0.*AllPatterns:*/0.LongBlock*:*/0.*OfNodes*:*/0.ColumnGroups*' ;;
    *-spmm/transposed_*) filter='*/1.Random:*/1.PowerLaw' ;;
    *-solvers/incomplete_*) filter='*/1.DoesWhatItDoesOnTheHost:*/1.IsPositiveDefinite*' ;;
    *-solvers/*) filter='*/1.*-*Matrices*' ;;
    *-spmm/triangular_*) filter='*/1.Grid:*/1.ALongRowAmongShortOnes' ;;
    racecheck-*small_dense*) filter='*Refuses*:*NoFactor*' ;;
  esac
  HEDDLE_EXACT_MEMORY=1 step "$1 $(basename "$2")" 150 compute-sanitizer --tool "$1" \
    "${kernels[@]}" --error-exitcode 9 "$build/tests/$2" --gtest_brief=1 --gtest_filter="$filter"
}

# The ten matrices with the most entries in the matrix folder, if it exists, for the SpMM benchmark.
largest_matrices=()
matrices=${HEDDLE_MATRIX_DIR:-$PWD/../shared/matrices}
if [[ -f $matrices/MANIFEST.tsv ]]; then
  mapfile -t largest_matrices < <(awk -F'\t' -v folder="$matrices/" '
    NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }
    { print $column["nnz_expanded"], folder $column["file"] }' "$matrices/MANIFEST.tsv" |
    sort -rn | head -n 10 | cut -d' ' -f2-)
fi

nvcc=$(find_nvcc) || fail "no CUDA compiler: neither on PATH nor in /usr/local/cuda"
architecture=90
if have_gpu; then architecture=native; fi
[[ -n ${CMAKE_PREFIX_PATH:-} ]] || install_missing "${kBuildPackages[@]}" libgtest-dev libbenchmark-dev
use_ninja_if_present

say "Building in $build on $(nproc) cores"
mkdir -p "$build"
step configure 120 cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DHEDDLE_CUDA=ON \
  "-DCMAKE_CUDA_COMPILER=$nvcc" "-DCMAKE_CUDA_ARCHITECTURES=$architecture" \
  -DCMAKE_CUDA_FLAGS=-lineinfo -DHEDDLE_BUILD_TESTS=ON -DHEDDLE_BUILD_LAB=ON
if $multi; then
  step build 420 cmake --build "$build" --parallel "$(nproc)" --target cuda_multi_tests \
    heddle-lobpcg heddle-lanczos heddle-cg
  step tests 300 ctest --test-dir "$build" --label-regex '^cuda_multi$' --output-on-failure
  $quick || step "scaling on two GPUs" 300 lab/scaling/run.py --build "$build"
  cat "$logs"/tests.log "$logs"/scaling-*.log 2>/dev/null || true
  say "Summary (full output in $logs)"
  cat "$logs/summary.txt"
  if grep -q '^FAILED' "$logs/summary.txt"; then exit 1; fi
  exit 0
fi
step build 420 cmake --build "$build" --parallel "$(nproc)" --target cuda_tests \
  spmm_timing gpu_dense gpu_eigen gpu_block_cg gpu_triangular step_bench low_precision_bench

say "Running the tests labelled cuda"
step tests 420 ctest --test-dir "$build" --label-regex '^cuda$' --output-on-failure
grep -E 'tests passed|Skipped' "$logs/tests.log" | tail -n 3 || true

if ! have_gpu; then
  note "skipped benchmarks and sanitizers: no GPU"
else
  if ! $quick; then
    say "Benchmarks"
    step "dense operations" 60 "$build/lab/gpu_dense" 1000000
    step "chebyshev steps" 60 "$build/lab/step_bench" cuda laplace3d 100 16
    step "lobpcg" 30 "$build/lab/gpu_eigen" lobpcg laplace3d 100
    step "lobpcg with chebyshev" 30 "$build/lab/gpu_eigen" lobpcg laplace3d 100 --degree 12
    step "block lanczos" 30 "$build/lab/gpu_eigen" lanczos laplace3d 100
    step "block cg" 60 "$build/lab/gpu_block_cg" 100 16
    step "triangular solves" 60 "$build/lab/gpu_triangular"
    step "spmm" 100 "$build/lab/spmm_timing" laplace3d:160x160x160 stencil27:128x128x128 \
      elasticity3d:56x56x56 random_uniform:1000000:16 rmat:20:16 band:16384x512 \
      "${largest_matrices[@]}" --widths 8,16,32,64 \
      --kernels row_split,row_parallel,row_cached,merge,merge_path,panel_mma,staged,staged_mma,node_block
    cat "$logs"/{chebyshev-steps,lobpcg,lobpcg-with-chebyshev,block-lanczos,block-cg,triangular-solves}.log
    tail -n 3 "$logs/spmm.log"
    step "half precision" 60 "$build/lab/low_precision_bench" elasticity3d:28,28,28 \
      stencil27:32,32,32 --band 64,512
    step "half precision steps" 60 "$build/lab/low_precision_bench" elasticity3d:28,28,28 \
      stencil27:32,32,32 --steps --widths 8,16,32
    cat "$logs"/half-precision{,-steps}.log
    if python3 -c 'import cupy' 2>/dev/null; then
      step "cupy lobpcg" 60 python3 lab/compare/cupy_solvers.py lobpcg laplace3d 100 100
      step "cupy eigsh" 60 python3 lab/compare/cupy_solvers.py eigsh 100 16
      step "cupy cg" 60 python3 lab/compare/cupy_solvers.py cg 100 16
      cat "$logs"/cupy-{lobpcg,eigsh,cg}.log
    fi
  fi
  say "Kernels and solvers under compute-sanitizer"
  tools=(memcheck)
  $quick || tools+=(racecheck initcheck)
  if command -v compute-sanitizer >/dev/null; then
    for tool in "${tools[@]}"; do
      for test in "${kernel_tests[@]}"; do sanitize "$tool" "$test" & done
    done
    for test in "${solver_tests[@]}"; do sanitize memcheck "$test" & done
    wait
  else
    note "skipped sanitizers: no compute-sanitizer"
  fi
fi

say "Summary (full output in $logs)"
cat "$logs/summary.txt"
! grep -q '^FAILED' "$logs/summary.txt"
