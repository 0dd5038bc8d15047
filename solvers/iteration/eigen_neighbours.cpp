#include <algorithm>
#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/iteration/eigen_verifier.hpp>

// The part of `EigenVerifier` that treats the pairs other than the verified ones.
namespace heddle::detail {

/// Lists the pairs and their neighbours for the bounds of their errors, and the distance of each
/// value to the one that has its place among all values that are known.
template <Scalar T, class Ctx>
void EigenVerifier<T, Ctx>::list_pairs(const Neighbours& neighbours) {
  bounds_.clear();
  for (std::size_t j = 0; j < residuals_.size(); ++j) {
    const double in_span = neighbours.dense ? dual_residuals_[j] : 0;
    bounds_.add(values_[j], dual_residuals_[j], true, std::max(couplings_[j], in_span));
  }
  for (std::size_t j = 0; j < neighbours.values.size(); ++j) {
    const double residual = neighbours.residuals[j];
    bounds_.add(neighbours.values[j], residual, neighbours.joint, neighbours.dense ? residual : 0);
  }
  bounds_.set_parts(neighbours.couplings, std::ssize(residuals_));
  if (neighbours.unseen) bounds_.add(*neighbours.unseen, 0, false);
  displacements_.assign(residuals_.size(), 0);
  if (!neighbours.end) return;
  union_.assign(values_.begin(), values_.begin() + std::ssize(residuals_));
  union_.insert(union_.end(), neighbours.values.begin(), neighbours.values.end());
  std::sort(union_.begin(), union_.end());
  if (*neighbours.end == Which::largest) std::reverse(union_.begin(), union_.end());
  for (std::size_t j = 0; j < displacements_.size(); ++j) {
    displacements_[j] = std::abs(values_[j] - union_[j]);
  }
  places_.clear(*neighbours.end);
  for (std::size_t j = 0; j < neighbours.values.size(); ++j) {
    // Residuals of vectors that have not converged are wide. They count on the side away from the
    // wanted end, and `bounds_` judges the other side. A value without digits is infinite.
    const bool smallest = *neighbours.end == Which::smallest;
    const double value = neighbours.values[j];
    const double rounding = neighbours.roundings.empty() ? 0 : neighbours.roundings[j];
    const double inner = rounding < 0.5 * std::abs(value) ? rounding : 0;
    const double outer = std::max(inner, neighbours.residuals[j]);
    places_.add(value - (smallest ? inner : outer), value + (smallest ? outer : inner));
  }
}

/// The least bound of value j where rounding decides which eigenvalue has its place.
template <Scalar T, class Ctx>
double EigenVerifier<T, Ctx>::placing_error(std::size_t j, const EigenConvergence& convergence,
                                            const Neighbours& neighbours) const {
  // More zeros than wanted pairs: no search tells which of them are the first ones. The value that
  // has place j may be any of those that count as zero.
  const EigenConvergence zeros =
      neighbours.solved ? convergence.in_rows(sizes_of_rows(convergence, j).sum) : convergence;
  double farthest = -1;
  for (const double each : neighbours.values) {
    if (zeros.is_zero(each, 0)) farthest = std::max(farthest, std::abs(each));
  }
  if (farthest >= 0 && zeros.is_zero(values_[j], 0)) return farthest + std::abs(values_[j]);
  // Of values that the criterion takes for zeros, a search may have found any.
  const double residual = dual_residuals_[j];
  if (neighbours.end && !neighbours.dense && std::isfinite(residual) &&
      convergence.takes_for_zero(values_[j])) {
    return residual;
  }
  // The iteration ended at the level of rounding, and no vector beyond the wanted ones shows that
  // this value is not its neighbour.
  const bool alone = neighbours.end && neighbours.values.empty() && !neighbours.dense;
  return alone && convergence.is_at_rounding() ? convergence.unresolved(values_[j]) : 0;
}

template <Scalar T, class Ctx>
std::span<const double> EigenVerifier<T, Ctx>::couplings(
    Ctx& context, const EigenProblem<T, Ctx>& problem, ConstBlockView<T, Space> V,
    ConstBlockView<T, Space> U, BlockView<T, Space> AU, BlockView<T, Space> BU) {
  const PhaseScope phase(context, Phase::verify);
  const Index k = V.cols();
  neighbour_couplings_.clear();
  for (Index first = 0; first < U.cols(); first += AU.cols()) {
    const Index count = std::min(AU.cols(), U.cols() - first);
    const auto U_slab = U.columns(first, count);
    const auto R = AU.columns(0, count);
    const auto product = product_.view(k, count);
    const SmallView<Wide<T>, HostSpace> VAU = H_.view(k, count);
    const SmallView<Wide<T>, HostSpace> VBU = Z_.view(k, count);
    problem.A->apply(context, U_slab, R);
    gram(context, V, R, product);  // Vᵀ A U   k×slab
    fetch(context, product, VAU);
    if (problem.B != nullptr) problem.B->apply(context, U_slab, BU.columns(0, count));
    const ConstBlockView<T, Space> image = problem.B == nullptr ? U_slab : BU.columns(0, count);
    gram(context, V, image, product);  // Vᵀ B U   k×slab
    fetch(context, product, VBU);
    for (Index i = 0; i < count; ++i) {
      for (Index j = 0; j < k; ++j) {
        const Wide<T> part = VAU(j, i) - values_[static_cast<std::size_t>(j)] * VBU(j, i);
        if constexpr (kComplex<T>) {
          neighbour_couplings_.push_back(std::abs(part));
        } else {
          neighbour_couplings_.push_back(part);
        }
      }
    }
  }
  return neighbour_couplings_;
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class EigenVerifier<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
