#pragma once

#include <heddle/linalg/context/owned_host_context.hpp>
#include <heddle/linalg/orthogonal/orthogonalize.hpp>
#include <heddle/solvers/operators/normal_equations.hpp>
#include <heddle/solvers/problem/options.hpp>
#include <vector>

namespace heddle::detail {

/// Extracts singular triplets of A from a space of right vectors and measures their errors, with
/// fresh products with A and Aᴴ only. A has at least as many rows as columns.
template <Scalar T, class Ctx>
class TripletExtraction {
 public:
  using Space = typename Ctx::Space;

  /// Allocates memory for spaces of up to `max_cols` columns. The operators must outlive this
  /// object.
  TripletExtraction(Ctx& context, const AdjointPair<T, Ctx>& pair, Index max_cols,
                    std::uint64_t seed);

  /// The k best triplets at the wanted end that the space of the orthonormal X n×c contains:
  /// A X = Q R, R = P diag(σ) Zᴴ, U = Q P, V = X Z. U m×k and V n×k with k ≤ c. V may share memory
  /// with X. Returns false if products are not finite.
  bool extract(Ctx& context, Which which, ConstBlockView<T, Space> X, BlockView<T, Space> U,
               BlockView<T, Space> V);

  /// X ← an orthonormal basis of its columns, completed by random ones where these are dependent.
  /// `first_row`: the global index of its row 0. Returns false if X is not finite.
  bool orthonormalize(Ctx& context, BlockView<T, Space> X, Index first_row);

  /// The k triplets at the wanted end of A, U m×k and V n×k, by `dense_triplets`. Returns false if
  /// products are not finite.
  bool decompose_all(Ctx& context, Which which, BlockView<T, Space> U, BlockView<T, Space> V);

  /// The best triplets that the spaces of the orthonormal U m×k and V n×k contain:
  /// Uᴴ A V = P diag(σ) Zᴴ, U ← U P, V ← V Z. U and V hold the triplets from number `first` on of
  /// the last `extract`. Returns false if products are not finite.
  bool refine(Ctx& context, Which which, Index first, BlockView<T, Space> U, BlockView<T, Space> V);

  /// Measures the errors of the triplets (σ, U, V) that `extract`, `decompose_all` or `refine`
  /// computed last.
  void measure(Ctx& context, ConstBlockView<T, Space> U, ConstBlockView<T, Space> V);

  /// σ of the triplets: descending for `Which::largest`, else ascending.
  const std::vector<double>& values() const noexcept { return values_; }

  /// The largest σ of the last `extract` or `decompose_all`, wanted or not.
  double largest() const noexcept { return largest_; }

  /// max(‖A v − σ u‖₂, ‖Aᴴu − σ v‖₂) of each triplet that `measure` was given.
  const std::vector<double>& residuals() const noexcept { return residuals_; }

  /// max(|UᴴU − I|, |VᴴV − I|) of the vectors that `measure` was given.
  double orthogonality() const noexcept { return orthogonality_; }

  /// The counts of all calls so far.
  const OrthoCounts& counts() const noexcept { return counts_; }

 private:
  BlockView<T, Space> products(Index rows, Index cols);
  bool factor(Ctx& context, ConstBlockView<T, Space> X);
  bool decompose(Which which, Index c);
  void add_residuals(Ctx& context, LinearOperator<T, Ctx>& A, ConstBlockView<T, Space> X,
                     ConstBlockView<T, Space> Y, BlockView<T, Space> scratch);
  void add_orthogonality(Ctx& context, ConstBlockView<T, Space> X);

  AdjointPair<T, Ctx> pair_;
  Orthogonalizer<T, Ctx> orthogonalizer_;
  OwnedHostContext host_;
  MultiVector<T, Space> W_, Q_;  // products with A or Aᴴ, an orthonormal basis of A X
  SmallMatrix<Wide<T>, HostSpace> R_, P_, Z_;
  SmallMatrix<double, HostSpace> sigma_;
  SmallMatrix<Wide<T>, Space> small_;
  SmallMatrix<double, Space> theta_, norms_;
  OrthoCounts counts_;
  std::uint64_t seed_;
  std::vector<double> values_;
  std::vector<double> residuals_;
  double largest_ = 0;
  double orthogonality_ = 0;
};

}  // namespace heddle::detail
