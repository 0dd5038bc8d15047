#include <concepts>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/blocks/complex_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/rectangular/singular_solve.hpp>
#include <limits>

namespace heddle::detail {
namespace {

/// Operations of the decomposition that take as long as a column's product with AᴴA, per row and
/// column of A. Measured on the host with about five entries per row. On a GPU it is an estimate,
/// as the decomposition runs on the host.
template <class Ctx>
constexpr double kOperationsOfProduct = std::same_as<Ctx, HostContext> ? 40 : 4;

}  // namespace

template <Scalar T, class Ctx>
void SingularSolve<T, Ctx>::solve_dense() {
  if (route_ == SingularRoute::decompose) return decompose();
  MultiVector<T, Space> identity(context_, tall_.A->cols(), n_);
  set_identity<T>(context_, identity.view(), tall_.A->column_range().first);
  if (take_triplets(identity.view(), options_.nev)) end_dense();
}

template <Scalar T, class Ctx>
void SingularSolve<T, Ctx>::decompose() {
  release_workspaces();
  decomposed_ = true;
  if (!extraction_.decompose_all(context_, options_.which, U_.view(), V_.view())) {
    end_not_finite();
    return;
  }
  measure();
  end_dense();
}

template <Scalar T, class Ctx>
void SingularSolve<T, Ctx>::end_dense() {
  result_.completeness = {CompletenessMethod::dense, true};
  if (criterion_.all_pass(errors())) {
    control_.end(SolveStatus::converged, "solved as a dense problem");
  } else {
    control_.end(SolveStatus::stagnated, "the dense solution is as good as the precision allows");
  }
}

/// Whether to decompose all of A after the eigensolver has failed.
template <Scalar T, class Ctx>
bool SingularSolve<T, Ctx>::decomposition_may_help() const {
  const SolveStatus status = control_.status();
  // A limit of iterations below the default was set on purpose.
  const bool limited = result_.iterations >= options_.max_iterations &&
                       options_.max_iterations < EigenOptions{}.max_iterations;
  return status != SolveStatus::converged && status != SolveStatus::interrupted &&
         status != SolveStatus::time_limit && !limited && may_decompose();
}

/// Whether A is small enough for the available time and memory.
template <Scalar T, class Ctx>
bool SingularSolve<T, Ctx>::may_decompose() const {
  return decomposition_.acceptable() &&
         !control_.less_time_left_than(context_, decomposition_.seconds());
}

/// The number of columns whose products with AᴴA cost as much as the decomposition of A. Infinite
/// where A is too large for it, so that block Lanczos may solve AᴴA as a dense problem instead.
template <Scalar T, class Ctx>
double SingularSolve<T, Ctx>::most_products() const {
  if (!decomposition_.acceptable()) return std::numeric_limits<double>::infinity();
  if (!may_decompose()) return std::numeric_limits<double>::max();  // until the time limit
  return decomposition_.operations() /
         (kOperationsOfProduct<Ctx> * (decomposition_.longer + decomposition_.shorter));
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class SingularSolve<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
