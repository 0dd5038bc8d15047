#pragma once

#include <heddle/linalg/context/cuda_context.hpp>
#include <heddle/linalg/data/views.hpp>
#include <heddle/solvers/factor/shifted_factor.hpp>
#include <memory>

namespace heddle::detail {

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

/// Y = (A − σB)⁻¹X by `factor`, between copies of X to the host and of Y back. Y may be X.
template <Scalar T, class Ctx>
void solve_on_host(Ctx& context, ShiftedFactor& factor, ConstBlockView<T, typename Ctx::Space> X,
                   BlockView<T, typename Ctx::Space> Y);

/// Solves by `library` on the host. Blocks are copied there and back. A and B are read in this call
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
