#include <heddle/drivers/solve/host_copy.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <type_traits>
#include <utility>
#include <variant>

namespace heddle::detail {
namespace {

/// A with entries in double. In host memory a matrix in double is not copied.
template <Scalar T>
HostMatrix<Wide<T>> matrix_on_host(HostContext&, Device& device, CsrView<T, HostSpace> A) {
  if constexpr (WideScalar<T>) {
    return HostMatrix<T>(A);
  } else {
    return {convert<double>(device.host(), A), device.shared_host()};
  }
}

/// X with entries in double.
template <Scalar T>
HostBlock<Wide<T>> block_on_host(HostContext&, Device& device, ConstBlockView<T, HostSpace> X) {
  if (X.cols() == 0) return {};
  if constexpr (WideScalar<T>) {
    return HostBlock<T>(X);
  } else {
    MultiVector<double, HostSpace> copy(device.host(), X.rows(), X.cols());
    for (Index i = 0; i < X.rows(); ++i) {
      for (Index j = 0; j < X.cols(); ++j) copy.view()(i, j) = static_cast<double>(X(i, j));
    }
    return {std::move(copy), device.shared_host()};
  }
}

#ifdef HEDDLE_HAS_CUDA
template <Scalar T>
HostMatrix<Wide<T>> matrix_on_host(CudaContext& context, Device& device,
                                   CsrView<T, DeviceSpace> A) {
  HostCsrMatrix<T> copy = fetch<T>(context, device.host(), A);
  if constexpr (WideScalar<T>) {
    return {std::move(copy), device.shared_host()};
  } else {
    return matrix_on_host<T>(device.host(), device, std::as_const(copy).view());
  }
}

template <Scalar T>
HostBlock<Wide<T>> block_on_host(CudaContext& context, Device& device,
                                 ConstBlockView<T, DeviceSpace> X) {
  if (X.cols() == 0) return {};
  MultiVector<T, HostSpace> copy(device.host(), X.rows(), X.cols());
  fetch<T>(context, X, copy.view());
  if constexpr (WideScalar<T>) {
    return {std::move(copy), device.shared_host()};
  } else {
    return block_on_host<T>(device.host(), device, std::as_const(copy).view());
  }
}
#endif

}  // namespace

template <Scalar T, class Ctx>
HostProblem<Wide<T>> on_host(Ctx& context, Device& device, const ResidentProblem<T, Ctx>& problem) {
  const auto optional = [&](const std::optional<ResidentMatrix<T, Ctx>>& A) {
    return A ? std::optional<HostMatrix<Wide<T>>>(matrix_on_host<T>(context, device, A->view()))
             : std::nullopt;
  };
  return {.A = matrix_on_host<T>(context, device, problem.A.view()),
          .B = optional(problem.B),
          .geometric_stiffness = optional(problem.geometric_stiffness),
          .constraints = block_on_host<T>(context, device, problem.constraints),
          .initial_guess = block_on_host<T>(context, device, problem.initial_guess),
          .guess_from_random = problem.guess_from_random,
          .rhs = block_on_host<T>(context, device, problem.rhs),
          .normal_equations = problem.normal_equations,
          .A_transposed = optional(problem.A_transposed),
          .preconditioner = optional(problem.preconditioner),
          .near_null = problem.near_null,
          .coordinates = problem.coordinates};
}

template <Scalar T, class Ctx>
MultiVector<T, typename Ctx::Space> take_block(Ctx& context, HostVectors& from) {
  const HostVectors vectors = std::exchange(from, {});
  const auto* const X = std::get_if<HostBlock<T>>(&vectors);
  if (X == nullptr || X->cols() == 0) return {};
  MultiVector<T, typename Ctx::Space> placed(context, X->rows(), X->cols());
  send<T>(context, X->view(), placed.view());
  context.synchronize();
  return placed;
}

#define HEDDLE_INSTANTIATE(T, Ctx)                                                      \
  template HostProblem<Wide<T>> on_host(Ctx&, Device&, const ResidentProblem<T, Ctx>&); \
  template MultiVector<T, Ctx::Space> take_block<T, Ctx>(Ctx&, HostVectors&);
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
