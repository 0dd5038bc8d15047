#include <algorithm>
#include <heddle/linalg/block_checks.hpp>
#include <heddle/linalg/cuda/check.hpp>
#include <heddle/linalg/cuda/small_factor.hpp>
#include <heddle/linalg/cuda_context.hpp>
#include <heddle/linalg/small_dense.hpp>

namespace heddle {
namespace {

/// Scratch memory dealt out piece by piece, each on a 256-byte boundary.
class ScratchPieces {
 public:
  explicit ScratchPieces(void* data) : data_(static_cast<std::byte*>(data)) {}

  static constexpr std::size_t padded(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

  template <class T>
  T* take(std::size_t count) {
    T* piece = reinterpret_cast<T*>(data_);
    data_ += padded(count * sizeof(T));
    return piece;
  }

 private:
  std::byte* data_;
};

/// Factors G by cuSOLVER; the status, two numbers, goes to where scratch memory begins.
void factor_large(CudaContext& context, int order, SmallView<DeviceSpace> G) {
  const int ld = static_cast<int>(G.ld);
  int work_size = 0;
  check(cusolverDnDpotrf_bufferSize(context.cusolver(), CUBLAS_FILL_MODE_UPPER, order, G.data, ld,
                                    &work_size));
  const auto work_count = static_cast<std::size_t>(work_size);
  ScratchPieces pieces(context.scratch(2 * ScratchPieces::padded(1) +
                                       ScratchPieces::padded(work_count * sizeof(double))));
  double* status = pieces.take<double>(2);
  int* info = pieces.take<int>(1);
  check(cusolverDnDpotrf(context.cusolver(), CUBLAS_FILL_MODE_UPPER, order, G.data, ld,
                         pieces.take<double>(work_count), work_size, info));
  launch_finish_factor(context.stream(), order, G.data, G.ld, info, status);
}

std::size_t square_bytes(int order) {
  return static_cast<std::size_t>(order) * static_cast<std::size_t>(order) * sizeof(double);
}

/// R ← R⁻¹ by cuBLAS, by way of `inverse`, order² numbers.
void invert_large(CudaContext& context, int order, SmallView<DeviceSpace> R, void* inverse) {
  const std::size_t row = static_cast<std::size_t>(order) * sizeof(double);
  const double one = 1;
  launch_identity(context.stream(), order, static_cast<double*>(inverse));
  check(cublasDtrsm(context.cublas(), CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N,
                    CUBLAS_DIAG_NON_UNIT, order, order, &one, R.data, static_cast<int>(R.ld),
                    static_cast<double*>(inverse), order));
  check(cudaMemcpy2DAsync(R.data, static_cast<std::size_t>(R.ld) * sizeof(double), inverse, row,
                          row, static_cast<std::size_t>(order), cudaMemcpyDeviceToDevice,
                          context.stream()));
}

}  // namespace

CholeskyStatus cholesky(CudaContext& context, SmallView<DeviceSpace> G) {
  require_square("cholesky", {G.rows, G.cols});
  const int order = static_cast<int>(G.rows);
  if (order == 0) return {true, 1};
  if (order <= kMaxFactorOrder) {
    launch_cholesky(context.stream(), order, G.data, G.ld,
                    static_cast<double*>(context.scratch(2 * sizeof(double))));
  } else {
    factor_large(context, order, G);
  }
  auto* status = static_cast<double*>(context.staging(2 * sizeof(double)));
  context.copy_to_host(status, context.scratch(2 * sizeof(double)), 2 * sizeof(double));
  return {status[0] != 0, status[1]};
}

void invert_upper(CudaContext& context, SmallView<DeviceSpace> R) {
  require_square("invert_upper", {R.rows, R.cols});
  const int order = static_cast<int>(R.rows);
  if (order == 0) return;
  if (order <= kMaxFactorOrder) {
    return launch_invert_upper(context.stream(), order, R.data, R.ld);
  }
  invert_large(context, order, R, context.scratch(square_bytes(order)));
}

void cholesky_qr_coefficients(CudaContext& context, ConstSmallView<DeviceSpace> G,
                              SmallView<DeviceSpace> M, SmallView<DeviceSpace> status) {
  require_cholesky_qr_shapes({G.rows, G.cols}, {M.rows, M.cols}, {status.rows, status.cols});
  const int order = static_cast<int>(G.rows);
  if (order == 0) return;
  if (order <= kMaxFactorOrder) {
    return launch_cholesky_qr(context.stream(), order, G.data, G.ld, M.data, M.ld, status.data);
  }
  const std::size_t kept = ScratchPieces::padded(2 * sizeof(double));
  context.scratch(kept + square_bytes(order));  // it must not grow once the factor's status is there
  launch_scale_gram(context.stream(), order, G.data, G.ld, M.data, M.ld);
  factor_large(context, order, M);
  auto* scratch = static_cast<std::byte*>(context.scratch(kept + square_bytes(order)));
  invert_large(context, order, M, scratch + kept);
  launch_finish_cholesky_qr(context.stream(), order, G.data, G.ld,
                            reinterpret_cast<const double*>(scratch), M.data, M.ld, status.data);
}

void small_multiply(CudaContext& context, double alpha, ConstSmallView<DeviceSpace> A,
                    bool transpose_a, ConstSmallView<DeviceSpace> B, bool transpose_b, double beta,
                    SmallView<DeviceSpace> C) {
  const Shape op_A = transpose_a ? Shape{A.cols, A.rows} : Shape{A.rows, A.cols};
  const Shape op_B = transpose_b ? Shape{B.cols, B.rows} : Shape{B.rows, B.cols};
  require_small_multiply_shapes(op_A, op_B, {C.rows, C.cols});
  if (C.rows == 0 || C.cols == 0) return;
  const auto ld = [](ConstSmallView<DeviceSpace> M) { return std::max<Index>(1, M.ld); };
  check(cublasDgemm_64(context.cublas(), transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N,
                       transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N, C.rows, C.cols, op_A.cols, &alpha,
                       A.data, ld(A), B.data, ld(B), &beta, C.data, C.ld));
}

}  // namespace heddle
