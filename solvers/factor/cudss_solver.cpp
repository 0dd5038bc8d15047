#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/factor/cudss_solver.hpp>
#include <heddle/spmm/column_major.hpp>
#include <limits>
#include <memory>

namespace heddle::detail {
namespace {

/// Throws unless `status` is that of a success.
void check_cudss(int status, const char* what) {
  if (status == kCudssSuccess) return;
  if (status == kCudssAllocFailed) {
    throw OutOfMemory(0, fmt::format("cuDSS found too little memory in its {}", what));
  }
  throw DeviceError(fmt::format("cuDSS failed in its {} with status {}", what, status));
}

int allocate(void* owner, void** pointer, std::size_t bytes, CUstream_st*) {
  try {
    *pointer = static_cast<CudaContext*>(owner)->allocate(bytes);
    return 0;
  } catch (const std::exception&) {
    return 1;
  }
}

int deallocate(void* owner, void* pointer, std::size_t bytes, CUstream_st*) {
  static_cast<CudaContext*>(owner)->deallocate(pointer, bytes);
  return 0;
}

}  // namespace

CudssSolver::CudssSolver(CudaContext& context, const CsrMatrix<double, DeviceSpace>& lower,
                         Kind kind, bool deterministic)
    : CudssSolver(context, lower.rows()) {
  at_once_ = deterministic ? 1 : std::numeric_limits<Index>::max();
  const CudssFunctions& f = cudss_.functions;
  check_cudss(f.create(&handle_), "creation");
  if (!deterministic && !cudss_.threading.empty()) {
    check_cudss(f.set_threading(handle_, cudss_.threading.c_str()), "choice of threads");
  }
  CudssMemory memory{&context, allocate, deallocate, {}};
  std::strcpy(memory.name, "heddle");
  check_cudss(f.set_stream(handle_, context.stream()), "choice of a stream");
  check_cudss(f.set_memory(handle_, &memory), "choice of memory");
  check_cudss(f.config_create(&config_), "configuration");
  check_cudss(f.data_create(handle_, &data_), "creation of data");
  set(kCudssDeterministic, deterministic ? 1 : 0);
  set(kCudssMatching, kCudssNoMatching);  // with it, 0.8 counts no pivots
  const bool definite = kind == Kind::positive_definite;
  if (!definite) set(kCudssPivoting, kCudssDiagonalPivots);
  const CsrView<double, DeviceSpace> A = lower.view();
  check_cudss(f.matrix_csr(&matrix_, A.rows, A.rows, A.nnz, A.row_offsets, nullptr, A.columns,
                           A.values, kCudssInt64, kCudssInt32, kCudssDouble,
                           definite ? kCudssPositiveDefinite : kCudssSymmetric, kCudssLower,
                           kCudssFromZero),
              "creation of a matrix");
}

CudssSolver::~CudssSolver() {
  const CudssFunctions& f = cudss_.functions;
  if (matrix_ != nullptr) f.matrix_destroy(matrix_);
  if (data_ != nullptr) f.data_destroy(handle_, data_);
  if (config_ != nullptr) f.config_destroy(config_);
  if (handle_ != nullptr) f.destroy(handle_);
}

void CudssSolver::set(int parameter, int value) {
  check_cudss(cudss_.functions.config_set(config_, parameter, &value, sizeof(value)),
              "configuration");
}

template <class V>
void CudssSolver::get(int parameter, V* values, std::size_t count, const char* what) const {
  std::size_t written = 0;
  check_cudss(
      cudss_.functions.data_get(handle_, data_, parameter, values, count * sizeof(V), &written),
      what);
}

/// Numbers that have the type of the matrix's offsets or columns, depending on the version.
std::vector<Index> CudssSolver::indices(int parameter, std::size_t count, const char* what) const {
  std::size_t bytes = 0;
  check_cudss(cudss_.functions.data_get(handle_, data_, parameter, nullptr, 0, &bytes), what);
  std::vector<Index> result(count);
  if (bytes == count * sizeof(std::int64_t)) {
    get(parameter, result.data(), count, what);
    return result;
  }
  std::vector<std::int32_t> narrow(count);
  get(parameter, narrow.data(), count, what);
  result.assign(narrow.begin(), narrow.end());
  return result;
}

void CudssSolver::order() { execute(kCudssReordering, nullptr, nullptr); }

void CudssSolver::analyse() { execute(kCudssSymbolic, nullptr, nullptr); }

FactorCost CudssSolver::cost() const {
  std::int64_t entries = 0, operations = 0;
  get(kCudssEntries, &entries, 1, "count of entries");
  get(kCudssOperations, &operations, 1, "count of operations");
  return {static_cast<double>(entries), static_cast<double>(operations)};
}

double CudssSolver::device_bytes() const {
  std::array<std::int64_t, 16> bytes{};
  get(kCudssMemoryEstimates, bytes.data(), bytes.size(), "estimate of memory");
  return static_cast<double>(bytes[1]);
}

bool CudssSolver::factor() {
  // A factorisation that has failed makes later ones fail until this number is cleared.
  const int no_error = 0;
  check_cudss(cudss_.functions.data_set(handle_, data_, kCudssInfo, &no_error, sizeof(no_error)),
              "preparation");
  execute(kCudssFactorization, nullptr, nullptr);
  int info = 0;
  get(kCudssInfo, &info, 1, "state");
  return info == 0;
}

std::vector<double> CudssSolver::diagonal() const {
  const auto n = static_cast<std::size_t>(n_);
  Buffer<double, DeviceSpace> on_device(context_, n);
  get(kCudssDiagonal, on_device.data(), n, "diagonal");
  std::vector<double> result(n);
  context_.copy_to_host(result.data(), on_device.data(), n * sizeof(double));
  return result;
}

std::array<Index, 2> CudssSolver::inertia() const {
  const std::vector<Index> counts = indices(kCudssInertia, 2, "inertia");
  return {counts[0], counts[1]};
}

Index CudssSolver::perturbed_pivots() const {
  return indices(kCudssPerturbed, 1, "count of perturbed pivots").front();
}

void CudssSolver::execute(int phase, void* solution, void* right_side) {
  check_cudss(
      cudss_.functions.execute(handle_, phase, config_, data_, matrix_, solution, right_side),
      phase == kCudssReordering      ? "ordering"
      : phase == kCudssSymbolic      ? "analysis"
      : phase == kCudssFactorization ? "factorisation"
                                     : "solve");
}

void CudssSolver::make_blocks(Index columns) {
  const auto entries = static_cast<std::size_t>(n_ * columns);
  if (right_side_.size() >= entries) return;
  right_side_ = {context_, entries};
  solution_ = {context_, entries};
}

/// Solves for the first `columns` columns of `right_side_`.
void CudssSolver::execute_columns(int phase, Index columns) {
  const auto block = [&](double* values, Index width) {
    void* made = nullptr;
    check_cudss(cudss_.functions.matrix_dense(&made, n_, width, n_, values, kCudssDouble,
                                              kCudssColumnMajor),
                "creation of a block");
    return std::unique_ptr<void, int (*)(void*)>(made, cudss_.functions.matrix_destroy);
  };
  const Index most = std::min(at_once_, columns);
  for (Index j = 0; j < columns; j += most) {
    const Index width = std::min(most, columns - j);
    execute(phase, block(solution_.data() + j * n_, width).get(),
            block(right_side_.data() + j * n_, width).get());
  }
}

void CudssSolver::scale(const double* scaling, double* block, Index columns) {
  if (scaling == nullptr) return;
  const ConstBlockView<double, DeviceSpace> factors(scaling, n_, 1, 1);
  for (Index j = 0; j < columns; ++j) {
    const BlockView<double, DeviceSpace> column(block + j * n_, n_, 1, 1);
    scale_rows<double>(context_, factors, column, column);
  }
}

template <Scalar T>
void CudssSolver::solve(CudaContext& context, CudssPhase phase, ConstBlockView<T, DeviceSpace> X,
                        BlockView<T, DeviceSpace> Y, const double* scaling) {
  const Index b = X.cols();
  make_blocks(b);
  const auto by_columns = [&](double* block) {
    return BlockView<double, DeviceSpace>(block, b, n_, n_);
  };
  transpose_block<double, T>(context, X, 0.0, by_columns(right_side_.data()));
  scale(scaling, right_side_.data(), b);
  execute_columns(phase, b);
  scale(scaling, solution_.data(), b);
  transpose_block<T, double>(context, by_columns(solution_.data()), T{0}, Y);
  context.profile().count(2.0 * static_cast<double>(n_ * b) * (sizeof(T) + sizeof(double)), 0);
}

void CudssSolver::solve_on_host(double* X, Index columns) {
  make_blocks(columns);
  const auto bytes = static_cast<std::size_t>(n_ * columns) * sizeof(double);
  context_.copy_to_device(right_side_.data(), X, bytes);
  execute_columns(kCudssSolve, columns);
  context_.copy_to_host(X, solution_.data(), bytes);
}

#define HEDDLE_INSTANTIATE(T)                                                                \
  template void CudssSolver::solve(CudaContext&, CudssPhase, ConstBlockView<T, DeviceSpace>, \
                                   BlockView<T, DeviceSpace>, const double*);
HEDDLE_FOR_EACH_REAL(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
