#include <algorithm>
#include <heddle/linalg/context/cuda_check.hpp>
#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/context/cuda_libraries.hpp>
#include <heddle/linalg/small/real_form.hpp>
#include <heddle/linalg/small/small_checks.hpp>
#include <heddle/linalg/small/small_dense.hpp>
#include <heddle/linalg/small/small_factor.hpp>

namespace heddle {
namespace {

using Complex = std::complex<double>;

std::size_t bytes_of(std::size_t doubles) { return (doubles * sizeof(double) + 255) / 256 * 256; }

/// The scratch memory of a factorisation by cuSOLVER, in pieces aligned to 256 bytes. All pieces
/// are allocated together, because scratch memory loses its contents when it grows.
struct LargeFactor {
  double* status;  // 2 numbers
  double* scale;   // `order` numbers
  int* info;
  double* work;  // for cuSOLVER, or order² numbers
  int work_size = 0;

  LargeFactor(CudaContext& context, int order, SmallView<double, DeviceSpace> G) {
    check(detail::cuda_libraries().cusolverDnDpotrf_bufferSize(
        context.cusolver(), CUBLAS_FILL_MODE_UPPER, order, G.data, static_cast<int>(G.ld),
        &work_size));
    const auto size = static_cast<std::size_t>(order);
    const std::size_t work_bytes =
        bytes_of(std::max(static_cast<std::size_t>(work_size), size * size));
    auto* scratch =
        static_cast<std::byte*>(context.scratch(2 * bytes_of(2) + bytes_of(size) + work_bytes));
    status = reinterpret_cast<double*>(scratch);
    info = reinterpret_cast<int*>(scratch + bytes_of(2));
    scale = reinterpret_cast<double*>(scratch + 2 * bytes_of(2));
    work = reinterpret_cast<double*>(scratch + 2 * bytes_of(2) + bytes_of(size));
  }

  void factor(CudaContext& context, int order, SmallView<double, DeviceSpace> G) const {
    check(detail::cuda_libraries().cusolverDnDpotrf(context.cusolver(), CUBLAS_FILL_MODE_UPPER,
                                                    order, G.data, static_cast<int>(G.ld), work,
                                                    work_size, info));
    launch_finish_factor(context.stream(), order, G.data, G.ld, info, status);
  }
};

/// R ← R⁻¹ by cuBLAS. `inverse` is working memory of order² numbers.
void invert_large(CudaContext& context, int order, SmallView<double, DeviceSpace> R,
                  double* inverse) {
  const std::size_t row = static_cast<std::size_t>(order) * sizeof(double);
  const double one = 1;
  launch_identity(context.stream(), order, inverse);
  check(detail::cuda_libraries().cublasDtrsm(
      context.cublas(), CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT,
      order, order, &one, R.data, static_cast<int>(R.ld), inverse, order));
  check(cudaMemcpy2DAsync(R.data, static_cast<std::size_t>(R.ld) * sizeof(double), inverse, row,
                          row, static_cast<std::size_t>(order), cudaMemcpyDeviceToDevice,
                          context.stream()));
}

/// `cholesky_qr_coefficients` for orders that do not fit in one thread block.
void large_cholesky_qr(CudaContext& context, ConstSmallView<double, DeviceSpace> T,
                       SmallView<double, DeviceSpace> N, SmallView<double, DeviceSpace> status) {
  const Index b = T.cols;
  const Index c = T.rows - b;
  const int order = static_cast<int>(b);
  const ConstSmallView<double, DeviceSpace> C = T.block(0, 0, c, b);
  const ConstSmallView<double, DeviceSpace> G = T.block(c, 0, b, b);
  const SmallView<double, DeviceSpace> M = N.block(c, 0, b, b);
  const LargeFactor large(context, order, M);
  const auto row = static_cast<std::size_t>(b) * sizeof(double);
  check(cudaMemcpy2DAsync(M.data, static_cast<std::size_t>(M.ld) * sizeof(double), G.data,
                          static_cast<std::size_t>(G.ld) * sizeof(double), row,
                          static_cast<std::size_t>(b), cudaMemcpyDeviceToDevice, context.stream()));
  if (c > 0) small_multiply(context, -1, C, true, C, false, 1, M);  // H = G − CᵀC
  launch_scale_remainder(context.stream(), order, M.data, M.ld, G.data, G.ld, large.scale,
                         status.data);
  large.factor(context, order, M);
  invert_large(context, order, M, large.work);
  launch_finish_cholesky_qr(context.stream(), order, large.status, large.scale, M.data, M.ld,
                            status.data);
  if (c > 0) small_multiply(context, -1, C, false, M, false, 0, N.block(0, 0, c, b));
}

/// C = α op(A) op(B) + β C by a function of cuBLAS for numbers that it calls `Number`.
template <class Number, class W, class Gemm>
void multiply_by(Gemm gemm, CudaContext& context, double alpha, ConstSmallView<W, DeviceSpace> A,
                 bool transpose_a, ConstSmallView<W, DeviceSpace> B, bool transpose_b, double beta,
                 SmallView<W, DeviceSpace> C) {
  const Shape op_A = transpose_a ? Shape{A.cols, A.rows} : Shape{A.rows, A.cols};
  const Shape op_B = transpose_b ? Shape{B.cols, B.rows} : Shape{B.rows, B.cols};
  require_small_multiply_shapes(op_A, op_B, {C.rows, C.cols});
  if (C.rows == 0 || C.cols == 0) return;
  const auto operation = [](bool transpose) {
    if (!transpose) return CUBLAS_OP_N;
    return kComplex<W> ? CUBLAS_OP_C : CUBLAS_OP_T;
  };
  const auto ld = [](const ConstSmallView<W, DeviceSpace>& M) { return std::max<Index>(1, M.ld); };
  const auto data = [](const W* numbers) { return reinterpret_cast<const Number*>(numbers); };
  const W factors[] = {alpha, beta};
  check(gemm(context.cublas(), operation(transpose_a), operation(transpose_b), C.rows, C.cols,
             op_A.cols, data(&factors[0]), data(A.data), ld(A), data(B.data), ld(B),
             data(&factors[1]), reinterpret_cast<Number*>(C.data), C.ld));
}

}  // namespace

void cholesky_qr_coefficients(CudaContext& context, ConstSmallView<double, DeviceSpace> T,
                              SmallView<double, DeviceSpace> N,
                              SmallView<double, DeviceSpace> status) {
  require_cholesky_qr_shapes({T.rows, T.cols}, {N.rows, N.cols}, {status.rows, status.cols});
  if (T.cols == 0) return;
  if (!fits_one_block(T.cols, context.device().shared_bytes_per_block)) {
    return large_cholesky_qr(context, T, N, status);
  }
  launch_cholesky_qr(context.stream(), static_cast<int>(T.rows - T.cols), static_cast<int>(T.cols),
                     T.data, T.ld, N.data, N.ld, status.data);
}

/// N is the real form of the complex coefficients of the real form of T, because a triangular
/// factor with a positive diagonal is unique.
void cholesky_qr_coefficients(CudaContext& context, ConstSmallView<Complex, DeviceSpace> T,
                              SmallView<Complex, DeviceSpace> N,
                              SmallView<double, DeviceSpace> status) {
  require_cholesky_qr_shapes({T.rows, T.cols}, {N.rows, N.cols}, {status.rows, status.cols});
  const Index entries = 4 * T.rows * T.cols;
  auto* const memory = static_cast<double*>(
      context.outer_scratch(2 * static_cast<std::size_t>(entries) * sizeof(double)));
  const SmallView<double, DeviceSpace> real_T{memory, 2 * T.rows, 2 * T.cols, 2 * T.rows};
  const SmallView<double, DeviceSpace> real_N{memory + entries, 2 * T.rows, 2 * T.cols, 2 * T.rows};
  detail::write_real_form(context, T, real_T);
  cholesky_qr_coefficients(context, real_T, real_N, status);
  detail::read_real_form(context, real_N, N);
}

void small_multiply(CudaContext& context, double alpha, ConstSmallView<double, DeviceSpace> A,
                    bool transpose_a, ConstSmallView<double, DeviceSpace> B, bool transpose_b,
                    double beta, SmallView<double, DeviceSpace> C) {
  multiply_by<double>(detail::cuda_libraries().cublasDgemm_64, context, alpha, A, transpose_a, B,
                      transpose_b, beta, C);
}

void small_multiply(CudaContext& context, double alpha, ConstSmallView<Complex, DeviceSpace> A,
                    bool transpose_a, ConstSmallView<Complex, DeviceSpace> B, bool transpose_b,
                    double beta, SmallView<Complex, DeviceSpace> C) {
  multiply_by<cuDoubleComplex>(detail::cuda_libraries().cublasZgemm_64, context, alpha, A,
                               transpose_a, B, transpose_b, beta, C);
}

}  // namespace heddle
