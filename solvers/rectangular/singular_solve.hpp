#pragma once

#include <heddle/solvers/iteration/error_bounds.hpp>
#include <heddle/solvers/iteration/stop_control.hpp>
#include <heddle/solvers/lanczos/block_lanczos.hpp>
#include <heddle/solvers/lobpcg/lobpcg.hpp>
#include <heddle/solvers/rectangular/singular_route.hpp>
#include <heddle/solvers/rectangular/singular_values.hpp>
#include <heddle/solvers/rectangular/triplet_criterion.hpp>
#include <heddle/solvers/rectangular/triplet_extraction.hpp>
#include <optional>

namespace heddle::detail {

/// One search for singular triplets. It works on the one of A and Aᴴ that has at least as many rows
/// as columns, called `tall_`. U holds its left and V its right singular vectors.
template <Scalar T, class Ctx>
class SingularSolve {
 public:
  using Space = typename Ctx::Space;

  /// Everything is kept by reference and must outlive the search. `options` has a tolerance.
  SingularSolve(Ctx& context, const AdjointPair<T, Ctx>& pair, const SingularOptions& options,
                const Monitor& monitor);

  /// Finds the triplets, once.
  SingularResult<T, Space> run();

 private:
  void solve_dense();
  void decompose();
  void end_dense();
  bool decomposition_may_help() const;
  bool may_decompose() const;
  double most_products() const;

  void iterate();
  void do_rounds(EigenProblem<T, Ctx>& problem, double tolerance);
  void deflate();
  void end_passed();
  Index resolved_count() const;
  bool may_deflate();
  double noise_ratio() const;
  bool finds_norm() const;
  double estimate_squared_norm(const EigenProblem<T, Ctx>& problem);
  double first_tolerance(std::optional<double> one_norm, double squared_norm) const;
  const EigenResult<T, Space>& solve_eigenproblem(const EigenProblem<T, Ctx>& problem,
                                                  double tolerance);

  bool take_triplets(ConstBlockView<T, Space> X, Index count);
  void measure();
  void bound_values();
  void find_resolutions();
  bool complete_left_vectors();
  TripletErrors errors() const;

  Index applied() const;
  void release_workspaces();
  bool end_not_finite();
  void write_end();

  Ctx& context_;
  AdjointPair<T, Ctx> pair_;
  Index applied_before_;
  bool wide_;
  AdjointPair<T, Ctx> tall_;  // rows ≥ columns
  Index n_;                   // its columns
  SingularRoute route_;
  DecompositionCost decomposition_;
  const SingularOptions& options_;
  TripletCriterion<T> criterion_;
  const Monitor& monitor_;
  StopControl control_;
  MultiVector<T, Space> U_, V_;  // of tall_
  TripletExtraction<T, Ctx> extraction_;
  LobpcgWorkspace<T, Ctx> lobpcg_workspace_;
  BlockLanczosWorkspace<T, Ctx> lanczos_workspace_;
  ErrorBounds bounds_;
  std::vector<double> value_bounds_;  // of the errors of σ, without rounding
  std::vector<double> resolutions_;   // see `TripletErrors`
  Index exact_ = 0;                   // leading triplets behind which the others are sought
  double largest_left_ = 0;           // ‖A (I − VVᴴ)‖₂ for their right vectors V
  bool decomposed_ = false;           // whether all of A was decomposed
  SingularResult<T, Space> result_;
};

}  // namespace heddle::detail
