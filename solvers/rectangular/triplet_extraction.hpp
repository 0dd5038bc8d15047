#pragma once

#include <heddle/linalg/orthogonal/orthogonalize.hpp>
#include <heddle/solvers/operators/normal_equations.hpp>
#include <heddle/solvers/problem/options.hpp>
#include <memory>
#include <vector>

namespace heddle {

/// Columns of A that `TripletExtraction::decompose_all` asks for at once.
inline constexpr Index kPanelColumns = 16;

/// Singular triplets of A from a space of right vectors, and their residuals, everything from
/// fresh products with A and Aᵀ. A has at least as many rows as columns.
template <Scalar T, class Ctx>
class TripletExtraction {
 public:
  using Space = typename Ctx::Space;

  /// Room for spaces of up to `max_cols` columns. The operators must outlive this object.
  TripletExtraction(Ctx& context, const AdjointPair<T, Ctx>& pair, Index max_cols,
                    std::uint64_t seed);

  /// The best triplets that the space of the orthonormal X n×c holds at the wanted end: A X = Q R,
  /// R = P diag(σ) Zᵀ, U = Q P, V = X Z. U m×k and V n×k, k ≤ c; V may share memory with X. False
  /// if products are not finite.
  bool extract(Ctx& context, Which which, ConstBlockView<T, Space> X, BlockView<T, Space> U,
               BlockView<T, Space> V);

  /// The triplets at the wanted end of all of A, by a dense decomposition on the host in double:
  /// exact to the rounding of U m×k and V n×k. Takes blocks of up to `kPanelColumns` columns beside
  /// what this object holds, and some of A's size on the host. False if products are not finite.
  bool decompose_all(Ctx& context, Which which, BlockView<T, Space> U, BlockView<T, Space> V);

  /// The best triplets that U and V hold: Uᵀ A V = P diag(σ) Zᵀ, U ← U P, V ← V Z, for orthonormal
  /// U m×k and V n×k whose triplets are the ones from `first` on of the last `extract`. False if
  /// products are not finite.
  bool refine(Ctx& context, Which which, Index first, BlockView<T, Space> U, BlockView<T, Space> V);

  /// Measures the triplets (σ, U, V) of the last `extract`, as `refine` left them.
  void measure(Ctx& context, ConstBlockView<T, Space> U, ConstBlockView<T, Space> V);

  /// σ, best first.
  const std::vector<double>& values() const noexcept { return values_; }

  /// The largest σ of the last `extract`, wanted or not.
  double largest() const noexcept { return largest_; }

  /// max(‖A v − σ u‖₂, ‖Aᵀu − σ v‖₂) of each triplet.
  const std::vector<double>& residuals() const noexcept { return residuals_; }

  /// max(|UᵀU − I|, |VᵀV − I|).
  double orthogonality() const noexcept { return orthogonality_; }

  /// Of all calls so far.
  const OrthoCounts& counts() const noexcept { return counts_; }

 private:
  bool factor(Ctx& context, ConstBlockView<T, Space> X);
  bool decompose(Which which, Index c);
  void add_residuals(Ctx& context, LinearOperator<T, Ctx>& A, ConstBlockView<T, Space> X,
                     ConstBlockView<T, Space> Y, BlockView<T, Space> scratch);
  void add_orthogonality(Ctx& context, ConstBlockView<T, Space> X);

  AdjointPair<T, Ctx> pair_;
  Orthogonalizer<T, Ctx> orthogonalizer_;
  std::unique_ptr<HostContext> host_;  // its address must stay when this object moves
  MultiVector<T, Space> W_, Q_;        // A X, its orthonormal basis
  SmallMatrix<double, HostSpace> R_, P_, Z_, sigma_;
  SmallMatrix<double, Space> small_, theta_, norms_;
  OrthoCounts counts_;
  std::uint64_t seed_;
  std::vector<double> values_;
  std::vector<double> residuals_;
  double largest_ = 0;
  double orthogonality_ = 0;
};

}  // namespace heddle
