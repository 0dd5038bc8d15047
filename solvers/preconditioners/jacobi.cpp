#include <cmath>
#include <heddle/linalg/block_ops.hpp>
#include <heddle/linalg/csr_matrix.hpp>
#include <heddle/solvers/preconditioners/jacobi.hpp>
#include <span>

namespace heddle {
namespace {

/// 1/|d_i| as the class describes it.
template <Scalar T>
Buffer<T, HostSpace> inverse_diagonal(HostContext& context, CsrView<T, HostSpace> A) {
  const auto n = static_cast<std::size_t>(A.rows);
  Buffer<T, HostSpace> inverse(context, n);
  const std::span<T> d(inverse.data(), n);
  extract_diagonal(context, A, d);
  double mean = 0;  // kept as a mean: a sum of large entries could overflow
  double count = 0;
  for (const T& value : d) {
    if (std::isnormal(value)) mean += (std::abs(static_cast<double>(value)) - mean) / ++count;
  }
  if (count == 0) mean = 1;
  for (T& value : d) {
    value =
        static_cast<T>(1 / (std::isnormal(value) ? std::abs(static_cast<double>(value)) : mean));
  }
  return inverse;
}

}  // namespace

template <Scalar T, class Ctx>
JacobiPreconditioner<T, Ctx>::JacobiPreconditioner(Ctx& context, CsrView<T, Space> A)
    : Preconditioner<T, Ctx>(A.rows, A.cols), inverse_diagonal_(inverse_diagonal(context, A)) {}

template <Scalar T, class Ctx>
void JacobiPreconditioner<T, Ctx>::apply_block(Ctx& context, ConstBlockView<T, Space> X,
                                               BlockView<T, Space> Y) {
  const PhaseScope phase(context, Phase::preconditioner);
  const ConstBlockView<T, Space> factors(inverse_diagonal_.data(), X.rows(), 1, 1);
  scale_rows(context, factors, X, Y);
}

template class JacobiPreconditioner<float, HostContext>;
template class JacobiPreconditioner<double, HostContext>;

}  // namespace heddle
