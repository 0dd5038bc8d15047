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

/// Whether a problem is a pencil without B⁻¹, which is solved in standard form.
template <Scalar T, class Ctx>
bool has_standard_form(const EigenProblem<T, Ctx>& problem) noexcept {
  return problem.B != nullptr && problem.B_inverse == nullptr;
}

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
  bool accumulate_block(Ctx& context, double alpha, ConstBlockView<T, Space> X,
                        const SpmmEpilogue<T, Space>& epilogue, BlockView<T, Space> Y) override;

 private:
  LinearOperator<T, Ctx>* A_ = nullptr;
  LinearOperator<T, Ctx>* B_inverse_ = nullptr;
  BlockView<T, Space> AX_;
};

/// The operator F that block Lanczos iterates on: ∓C with C = B⁻¹A, a Chebyshev polynomial in C, or
/// (A − σB)⁻¹B. `SpectralMap` describes its eigenvalues. The largest eigenvalues of F belong to the
/// wanted eigenvalues of C.
///
/// A pencil without B⁻¹ is solved in standard form. With A − σB = Pᵀ L Lᵀ P, the operator is
///
///     F = L⁻¹P B Pᵀ L⁻ᵀ,   F y = θ y,   x = Pᵀ L⁻ᵀ y
///
/// F is symmetric in the usual inner product, so B need only be semidefinite: its null space
/// belongs to θ = 0, that is to infinite eigenvalues λ. In the seminorm of B, components of vectors
/// in this null space would grow unseen. Source: Nour-Omid, Parlett, Ericsson, Jensen, Math. Comp.
/// 48 (1987) 663.
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

  /// Whether the vectors of the iteration are y of the standard form.
  bool in_standard_form() const noexcept { return standard_form_; }

  /// V ← the eigenvectors x for vectors y of the standard form. Does nothing otherwise.
  void to_eigenvectors(Ctx& context, Block V);

  /// A block Y of the standard form that is near to the y of a given X: L⁻¹P B X. It has as many of
  /// the columns of X as a block has. Valid until the next product.
  ConstBlock to_standard_form(Ctx& context, ConstBlock X);

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
  void apply_standard_form(Ctx& context, ConstBlock X, Block Y);

  PencilOperator<T, Ctx> C_;
  LinearOperator<T, Ctx>* B_ = nullptr;
  ShiftedInverse<T, Ctx>* inverse_ = nullptr;
  bool standard_form_ = false;
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
