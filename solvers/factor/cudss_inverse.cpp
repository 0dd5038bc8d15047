#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/factor/cudss_inverse.hpp>
#include <heddle/solvers/factor/lower_triangles.hpp>
#include <heddle/spmm/column_major.hpp>
#include <limits>
#include <utility>

namespace heddle::detail {
namespace {

/// A pivot below this share of its diagonal entry is zero to rounding.
constexpr double kSmallestPivot = 256 * std::numeric_limits<double>::epsilon();

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

/// The objects of cuDSS for one matrix.
template <Scalar T>
struct CudssInverse<T>::Objects {
  Objects(const CudssFunctions& f, CudaContext& context) : functions(f) {
    check_cudss(f.create(&handle), "creation");
    CudssMemory memory{&context, allocate, deallocate, {}};
    std::strcpy(memory.name, "heddle");
    check_cudss(f.set_stream(handle, context.stream()), "choice of a stream");
    check_cudss(f.set_memory(handle, &memory), "choice of memory");
    check_cudss(f.config_create(&config), "configuration");
    check_cudss(f.data_create(handle, &data), "creation of data");
    set(kCudssDeterministic, 1);
    set(kCudssMatching, kCudssNoMatching);
  }
  ~Objects() {
    if (matrix != nullptr) functions.matrix_destroy(matrix);
    if (data != nullptr) functions.data_destroy(handle, data);
    if (config != nullptr) functions.config_destroy(config);
    functions.destroy(handle);
  }
  Objects(const Objects&) = delete;
  Objects& operator=(const Objects&) = delete;

  void set(int parameter, int value) {
    check_cudss(functions.config_set(config, parameter, &value, sizeof(value)), "configuration");
  }
  template <class V>
  void get(int parameter, V* values, std::size_t count, const char* what) {
    std::size_t written = 0;
    check_cudss(functions.data_get(handle, data, parameter, values, count * sizeof(V), &written),
                what);
  }

  const CudssFunctions& functions;
  void* handle = nullptr;
  void* config = nullptr;
  void* data = nullptr;
  void* matrix = nullptr;
};

template <Scalar T>
CudssInverse<T>::CudssInverse(CudaContext&, Matrix A, Matrix B, double max_bytes)
    : cudss_(cudss()), A_(A), B_(B), max_bytes_(max_bytes) {}

template <Scalar T>
CudssInverse<T>::~CudssInverse() = default;

/// Estimates for a large GPU, in which a unit takes 5 ps: 2·10¹² operations per second, 10 ps per
/// entry of L and column, and 5 µs per row for the nested dissection on one core.
template <Scalar T>
FactorRates CudssInverse<T>::rates() const noexcept {
  return {0.1, 2, 5e-12};
}

template <Scalar T>
double CudssInverse<T>::order_cost(double rows, const FactorCost&) const noexcept {
  return 1e6 * rows;
}

template <Scalar T>
void CudssInverse<T>::order(CudaContext& context) {
  HostContext host{1};
  const LowerTriangles lower = lower_triangles(host, on_host<T>(host, context, A_).view(),
                                               on_host<T>(host, context, B_).view());
  const CsrView<double, HostSpace> A = lower.A.view();
  for (Index i = 0; i < A.rows; ++i) {
    const std::int64_t at = A.row_offsets[i + 1] - 1;
    A_diagonal_.push_back(A.values[at]);
    B_diagonal_.push_back(lower.B.data()[at]);
  }
  shifted_ = place<double>(context, A);
  const auto entries = static_cast<std::size_t>(A.nnz);
  A_values_ = {context, entries};
  B_values_ = {context, entries};
  context.copy_to_device(A_values_.data(), A.values, entries * sizeof(double));
  context.copy_to_device(B_values_.data(), lower.B.data(), entries * sizeof(double));
  objects_ = std::make_unique<Objects>(cudss_.functions, context);
  check_cudss(cudss_.functions.matrix_csr(&objects_->matrix, A.rows, A.rows, A.nnz,
                                          shifted_.row_offsets(), nullptr, shifted_.columns(),
                                          shifted_.values(), kCudssInt64, kCudssInt32, kCudssDouble,
                                          kCudssPositiveDefinite, kCudssLower, kCudssFromZero),
              "creation of a matrix");
  execute(kCudssReordering, nullptr, nullptr);
}

template <Scalar T>
void CudssInverse<T>::analyse(CudaContext&) {
  execute(kCudssSymbolic, nullptr, nullptr);
  std::int64_t entries = 0, operations = 0;
  std::array<std::int64_t, 16> bytes{};
  objects_->get(kCudssEntries, &entries, 1, "count of entries");
  objects_->get(kCudssOperations, &operations, 1, "count of operations");
  objects_->get(kCudssMemoryEstimates, bytes.data(), bytes.size(), "estimate of memory");
  if (static_cast<double>(bytes[1]) > max_bytes_) return;
  cost_ = {static_cast<double>(entries), static_cast<double>(operations)};
}

template <Scalar T>
bool CudssInverse<T>::factor(CudaContext& context, double sigma) {
  factored_ = false;
  const auto column = [&](double* values) {
    return BlockView<double, DeviceSpace>(values, shifted_.nnz(), 1, 1);
  };
  copy<double>(context, column(A_values_.data()), column(shifted_.values()));
  axpby<double>(context, -sigma, column(B_values_.data()), 1, column(shifted_.values()));
  // A factorisation that has failed makes later ones fail until this number is cleared.
  const int no_error = 0;
  check_cudss(cudss_.functions.data_set(objects_->handle, objects_->data, kCudssInfo, &no_error,
                                        sizeof(no_error)),
              "preparation");
  execute(kCudssFactorization, nullptr, nullptr);
  factored_ = pivots_are_large(context, sigma);
  return factored_;
}

template <Scalar T>
bool CudssInverse<T>::pivots_are_large(CudaContext& context, double sigma) {
  int info = 0;
  objects_->get(kCudssInfo, &info, 1, "state");
  if (info != 0) return false;
  const auto n = A_diagonal_.size();
  Buffer<double, DeviceSpace> on_device(context, n);
  objects_->get(kCudssDiagonal, on_device.data(), n, "diagonal");
  std::vector<double> roots(n);
  context.copy_to_host(roots.data(), on_device.data(), n * sizeof(double));
  for (std::size_t i = 0; i < n; ++i) {
    const double diagonal = A_diagonal_[i] - sigma * B_diagonal_[i];
    if (!(roots[i] * roots[i] > kSmallestPivot * diagonal)) return false;
  }
  return true;
}

template <Scalar T>
void CudssInverse<T>::execute(int phase, void* solution, void* right_side) {
  check_cudss(cudss_.functions.execute(objects_->handle, phase, objects_->config, objects_->data,
                                       objects_->matrix, solution, right_side),
              phase == kCudssReordering      ? "ordering"
              : phase == kCudssSymbolic      ? "analysis"
              : phase == kCudssFactorization ? "factorisation"
                                             : "solve");
}

template <Scalar T>
void CudssInverse<T>::run(CudaContext& context, int phase, ConstBlock X, Block Y) {
  const Index n = X.rows(), b = X.cols();
  const auto entries = static_cast<std::size_t>(n * b);
  if (right_side_.size() < entries) {
    right_side_ = {context, entries};
    solution_ = {context, entries};
  }
  transpose_block<double, T>(context, X, 0.0,
                             BlockView<double, DeviceSpace>(right_side_.data(), b, n, n));
  const auto column = [&](double* values) {
    void* made = nullptr;
    check_cudss(
        cudss_.functions.matrix_dense(&made, n, 1, n, values, kCudssDouble, kCudssColumnMajor),
        "creation of a vector");
    return std::unique_ptr<void, int (*)(void*)>(made, cudss_.functions.matrix_destroy);
  };
  for (Index j = 0; j < b; ++j) {
    execute(phase, column(solution_.data() + j * n).get(),
            column(right_side_.data() + j * n).get());
  }
  transpose_block<T, double>(
      context, ConstBlockView<double, DeviceSpace>(solution_.data(), b, n, n), T{0}, Y);
  context.profile().count(2.0 * static_cast<double>(entries) * (sizeof(T) + sizeof(double)), 0);
}

template <Scalar T>
void CudssInverse<T>::solve(CudaContext& context, ConstBlock X, Block Y) {
  run(context, kCudssSolve, X, Y);
}

template <Scalar T>
void CudssInverse<T>::solve_lower(CudaContext& context, ConstBlock X, Block Y) {
  run(context, kCudssForward, X, Y);
}

template <Scalar T>
void CudssInverse<T>::solve_upper(CudaContext& context, ConstBlock X, Block Y) {
  run(context, kCudssBackward, X, Y);
}

#define HEDDLE_INSTANTIATE(T) template class CudssInverse<T>;
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
