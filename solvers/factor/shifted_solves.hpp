#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/views.hpp>
#include <heddle/solvers/factor/factor_costs.hpp>
#include <heddle/solvers/factor/shifted_factor.hpp>
#include <memory>
#include <vector>

namespace heddle::detail {

/// Numbers in double as real ones: complex numbers as their parts, one behind the other, which is
/// the order of the rows of a real form.
inline double* real_numbers(double* numbers) noexcept { return numbers; }
inline const double* real_numbers(const double* numbers) noexcept { return numbers; }
inline double* real_numbers(std::complex<double>* numbers) noexcept {
  return reinterpret_cast<double*>(numbers);
}
inline const double* real_numbers(const std::complex<double>* numbers) noexcept {
  return reinterpret_cast<const double*>(numbers);
}

/// The entries of X in double, one column after the other.
template <Scalar T>
std::vector<Wide<T>> by_columns(ConstBlockView<T, HostSpace> X) {
  std::vector<Wide<T>> columns(static_cast<std::size_t>(X.rows() * X.cols()));
  for (Index i = 0; i < X.rows(); ++i) {
    for (Index j = 0; j < X.cols(); ++j) {
      columns[static_cast<std::size_t>(j * X.rows() + i)] = static_cast<Wide<T>>(X(i, j));
    }
  }
  return columns;
}

/// A `ShiftedFactor` by one library, with solves of blocks in the context's memory.
template <Scalar T, class Ctx>
class ShiftedSolves {
 public:
  using Space = typename Ctx::Space;

  virtual ~ShiftedSolves() = default;

  virtual ShiftedFactor& shifted() noexcept = 0;

  /// As `ShiftedFactor::factor`.
  virtual bool factor(Ctx& context, double sigma) = 0;

  /// Y = (A − σB)⁻¹X. Y may be X.
  virtual void solve(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) = 0;
};

/// Y = (A − σB)⁻¹X by `factor`, of the real form of complex matrices, between copies of X to the
/// host and of Y back. Y may be X.
template <Scalar T, class Ctx>
void solve_on_host(Ctx& context, ShiftedFactor& factor, ConstBlockView<T, typename Ctx::Space> X,
                   BlockView<T, typename Ctx::Space> Y);

/// Solves by `library` on the host. Complex matrices are factored in their real form, which has
/// each eigenvalue twice. Blocks are copied there and back. A and B are read in this call
/// only. `max_bytes` limits the host memory of the factor. Throws `OutOfMemory`.
template <Scalar T, class Ctx>
std::unique_ptr<ShiftedSolves<T, Ctx>> host_solves(Ctx& context,
                                                   const CsrView<T, typename Ctx::Space>& A,
                                                   const CsrView<T, typename Ctx::Space>& B,
                                                   double max_bytes,
                                                   const FactorLibraryRow& library);

/// Solves by cuDSS, whose blocks stay in the memory of the GPU. `max_bytes` limits the device
/// memory of the factor. `deterministic`: see `CudssSolver`. Throws `OutOfMemory`, and
/// `DeviceError` if cuDSS cannot be loaded.
template <Scalar T>
std::unique_ptr<ShiftedSolves<T, CudaContext>> cudss_solves(CudaContext& context,
                                                            const CsrView<T, DeviceSpace>& A,
                                                            const CsrView<T, DeviceSpace>& B,
                                                            double max_bytes, bool deterministic);

}  // namespace heddle::detail
