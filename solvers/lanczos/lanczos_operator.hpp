#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/solvers/iteration/archive.hpp>
#include <heddle/solvers/lanczos/spectral_map.hpp>
#include <heddle/solvers/operators/shifted_inverse.hpp>
#include <heddle/solvers/problem/eigen_problem.hpp>
#include <heddle/solvers/spectrum/chebyshev_series.hpp>
#include <optional>
#include <utility>

namespace heddle::detail {

/// C = B⁻¹A, or A where B = I.
template <Scalar T, class Ctx>
class PencilOperator final : public LinearOperator<T, Ctx> {
 public:
  using Space = typename Ctx::Space;

  explicit PencilOperator(const RowRange& rows) noexcept : LinearOperator<T, Ctx>(rows, rows) {}

  /// The operators of `problem` are kept by pointer. `AX` is memory for A X where B ≠ I.
  void set(const EigenProblem<T, Ctx>& problem, BlockView<T, Space> AX) noexcept;

 protected:
  void apply_block(Ctx& context, ConstBlockView<T, Space> X, BlockView<T, Space> Y) override;
  bool accumulate_block(Ctx& context, double alpha, ConstBlockView<T, Space> X, double beta,
                        BlockView<T, Space> Y) override;

 private:
  LinearOperator<T, Ctx>* A_ = nullptr;
  LinearOperator<T, Ctx>* B_inverse_ = nullptr;
  BlockView<T, Space> AX_;
};

/// The operator F that block Lanczos iterates on: ∓C with C = B⁻¹A, a Chebyshev polynomial in C, or
/// (A − σB)⁻¹B. `SpectralMap` describes its eigenvalues. The largest eigenvalues of F belong to the
/// wanted eigenvalues of C.
template <Scalar T, class Ctx>
class LanczosOperator final : public LinearOperator<T, Ctx> {
 public:
  using Space = typename Ctx::Space;
  using Block = BlockView<T, Space>;
  using ConstBlock = ConstBlockView<T, Space>;

  /// Memory for blocks of up to `block` columns. `rows`: the rows of the vectors. Throws
  /// `OutOfMemory`.
  LanczosOperator(Ctx& context, const RowRange& rows, Index block);

  /// F = −y for C = B⁻¹A of `problem`, whose operators are kept by pointer.
  void set_problem(const EigenProblem<T, Ctx>& problem, Which which) noexcept;

  /// F = T_d((c − y)/e).
  void set_filter(const ChebyshevFilter& filter) noexcept;

  /// F = (A − σB)⁻¹B, for the smallest end. `inverse` holds the factor of A − σB and is kept by
  /// pointer. `reach`: about the distance from σ to the far end of the spectrum.
  void set_inverse(ShiftedInverse<T, Ctx>& inverse, double reach) noexcept;

  /// `stop` is called between the products of a polynomial, and after products with B⁻¹, whose
  /// inner solves may have stopped for the same reason. Once it returns true, the result of `apply`
  /// is unfinished, and `stopped` is true.
  void set_stop(std::function<bool()> stop) {
    stop_ = std::move(stop);
    stopped_ = false;
  }
  bool stopped() const noexcept { return stopped_; }

  const SpectralMap& map() const noexcept { return map_; }

  /// The approximate number of products with A that take as long as one product with F.
  double effort() const noexcept;

  /// The largest |θ| passed to `raise_norm` since F last changed: a lower bound of ‖F‖.
  double norm() const noexcept { return norm_; }
  void raise_norm(double theta) noexcept { norm_ = std::max(norm_, std::abs(theta)); }

  /// Saves or loads the choice of F. Loading an inverse factors `inverse` again, and throws `Error`
  /// if that fails. `inverse` is null where there is none.
  void archive(Ctx& context, Archive& archive, ShiftedInverse<T, Ctx>* inverse);

  /// n×b of memory that is free between products.
  Block scratch() noexcept { return work_.view(); }

 protected:
  void apply_block(Ctx& context, ConstBlock X, Block Y) override;

 private:
  bool stop_now();
  void apply_inverse(Ctx& context, ConstBlock X, Block Y);
  void apply_filter(Ctx& context, ConstBlock X, Block Y);

  PencilOperator<T, Ctx> C_;
  LinearOperator<T, Ctx>* B_ = nullptr;
  ShiftedInverse<T, Ctx>* inverse_ = nullptr;
  SpectralMap map_;
  double norm_ = 0;
  bool divides_ = false;  // whether C contains B⁻¹
  std::function<bool()> stop_;
  bool stopped_ = false;
  Index block_;
  MultiVector<T, Space> work_;  // A X before B⁻¹, B X before the inverse
  std::optional<ChebyshevRecurrence<T, Ctx>> recurrence_;  // made with the first filter
};

}  // namespace heddle::detail
