#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/iteration/eigen_verifier.hpp>
#include <heddle/solvers/iteration/norm_of.hpp>
#include <heddle/solvers/iteration/worst.hpp>
#include <limits>
#include <type_traits>

namespace heddle::detail {
namespace {

/// Calls body(first, count) for successive groups of at most `width` columns out of `cols`.
template <class Body>
void for_each_slab(Index cols, Index width, const Body& body) {
  for (Index first = 0; first < cols; first += width) body(first, std::min(width, cols - first));
}

/// B V: V itself where B = I, else a fresh product in `scratch`.
template <Scalar T, class Ctx>
ConstBlockView<T, typename Ctx::Space> image(Ctx& context, LinearOperator<T, Ctx>* B,
                                             ConstBlockView<T, typename Ctx::Space> V,
                                             BlockView<T, typename Ctx::Space> scratch) {
  if (B == nullptr) return V;
  const auto BV = scratch.columns(0, V.cols());
  B->apply(context, V, BV);
  return BV;
}

/// M ← (M + Mᴴ)/2.
template <WideScalar W>
void symmetrize(SmallView<W, HostSpace> M) {
  for (Index j = 0; j < M.cols; ++j) {
    for (Index i = 0; i < j; ++i) {
      M(i, j) = 0.5 * (M(i, j) + conjugate(M(j, i)));
      M(j, i) = conjugate(M(i, j));
    }
    M(j, j) = real_part(M(j, j));
  }
}

/// The numbers that `measure` computes per pair in the context's memory.
enum Number : Index { kResidual, kDualResidual, kNorm, kSizeA, kSizeB, kSizeOfRows, kNumbers };

/// The part of residual j in the span of the other vectors of V, from VᵀR.
template <WideScalar W>
double coupling(ConstSmallView<W, HostSpace> VR, Index j) {
  return norm_of(0, VR.rows, [&](Index i) { return i == j ? 0 : std::abs(VR(i, j)); });
}

/// The share of a value that rounding in stiff rows may cost.
constexpr double kThreeDigits = 1e-3;

/// Whether a value λ with a vector in such rows has digits if its error is at most `bound`. Where
/// the vector is the result of a solve, rounding in stiff rows may cost digits, but not nearly all.
bool has_digits(const EigenConvergence& convergence, double lambda, double bound,
                const RowSizes& rows, bool solved) {
  return convergence.leaves_digits(lambda, bound, 1, rows.A * rows.B, rows.B) ||
         (solved && convergence.leaves_digits(lambda, bound, kThreeDigits, rows.sum, rows.B));
}

/// The error of values that rounding adds where entries of A lie near the smallest positive number
/// of T. In double precision no entry of a scaled problem does.
template <Scalar T>
constexpr double kUnderflow =
    std::is_same_v<T, float> ? 10 * static_cast<double>(std::numeric_limits<float>::denorm_min())
                             : 0;

template <WideScalar W>
double one_norm(SmallView<W, HostSpace> M) {
  double largest = 0;
  for (Index j = 0; j < M.cols; ++j) {
    double sum = 0;
    for (Index i = 0; i < M.rows; ++i) sum += std::abs(M(i, j));
    largest = std::max(largest, sum);
  }
  return largest;
}

}  // namespace

template <Scalar T, class Ctx>
EigenVerifier<T, Ctx>::EigenVerifier(Ctx& context, Index n, Index max_pairs, bool pencil)
    : dense_(max_pairs),
      host_(1),
      H_(*host_, max_pairs, max_pairs),
      G_(*host_, max_pairs, max_pairs),
      Z_(*host_, max_pairs, max_pairs),
      theta_host_(*host_, max_pairs, 1),
      product_(context, max_pairs, max_pairs),
      Z_device_(context, max_pairs, max_pairs),
      theta_(context, max_pairs, 1),
      numbers_host_(*host_, max_pairs, kNumbers),
      numbers_(context, max_pairs, kNumbers),
      error_norms_(context, n, pencil) {
  const auto pairs = static_cast<std::size_t>(max_pairs);
  for (std::vector<double>* list :
       {&values_, &ritz_values_, &residuals_, &dual_residuals_, &sizes_A_, &sizes_B_,
        &rows_numbers_, &squares_, &corrections_, &couplings_, &unreduced_, &roundings_, &errors_,
        &iterations_, &unavoidable_, &neighbour_couplings_, &displacements_}) {
    list->reserve(pairs);
  }
  for (std::vector<bool>* list : {&passed_, &limited_}) list->reserve(pairs);
  bounds_.reserve(2 * max_pairs + 1);
  places_.reserve(2 * max_pairs);
  union_.reserve(2 * pairs);
}

template <Scalar T, class Ctx>
DenseFailure EigenVerifier<T, Ctx>::rayleigh_ritz(Ctx& context, const EigenProblem<T, Ctx>& problem,
                                                  Which which, BlockView<T, Space> V,
                                                  BlockView<T, Space> AV, BlockView<T, Space> BV) {
  const PhaseScope phase(context, Phase::verify);
  const Index k = V.cols();
  const SmallView<Wide<T>, HostSpace> H = H_.view(k, k);
  const SmallView<Wide<T>, HostSpace> G = G_.view(k, k);
  for_each_slab(k, AV.cols(), [&](Index first, Index count) {
    const auto V_slab = V.columns(first, count);
    const auto AV_slab = AV.columns(0, count);
    const auto product = product_.view(k, count);
    problem.A->apply(context, V_slab, AV_slab);
    gram(context, V, AV_slab, product);  // Vᵀ A V   k×slab
    fetch(context, product, H.block(0, first, k, count));
    gram(context, V, image(context, problem.B, V_slab, BV), product);  // Vᵀ B V   k×slab
    fetch(context, product, G.block(0, first, k, count));
  });
  symmetrize(H);
  symmetrize(G);
  projected_norm_A_ = one_norm(H);
  projected_norm_B_ = one_norm(G);
  const SmallView<double, HostSpace> theta = theta_host_.view(k, 1);
  const SmallView<Wide<T>, HostSpace> Z = Z_.view(k, k);
  const DenseFailure failure = dense_.solve(H, G, theta, Z);
  if (failure != DenseFailure::none) return failure;
  if (which == Which::largest) {
    std::reverse(theta.data, theta.data + k);
    for (Index j = 0; j < k / 2; ++j) {
      std::swap_ranges(&Z(0, j), &Z(0, j) + k, &Z(0, k - 1 - j));
    }
  }
  values_.assign(theta.data, theta.data + k);
  send(context, Z, Z_device_.view(k, k));
  multiply(context, 1.0, V, Z_device_.view(k, k), 0.0, V);  // V ← V Z   n×k
  return DenseFailure::none;
}

template <Scalar T, class Ctx>
void EigenVerifier<T, Ctx>::measure(Ctx& context, const EigenProblem<T, Ctx>& problem,
                                    ConstBlockView<T, Space> V, BlockView<T, Space> AV,
                                    BlockView<T, Space> BV, Residuals kind) {
  const PhaseScope phase(context, Phase::verify);
  kind_ = kind;
  const Index k = V.cols();
  const SmallView<Wide<T>, HostSpace> G = G_.view(k, k);
  const SmallView<double, HostSpace> host = theta_host_.view(k, 1);
  std::copy_n(values_.begin(), k, host.data);
  send(context, host, theta_.view(k, 1));
  const SmallView<double, Space> numbers = numbers_.view(k, kNumbers);
  const auto column = [&](Number number, Index first, Index count) {
    return numbers.block(first, number, count, 1);
  };
  for_each_slab(k, AV.cols(), [&](Index first, Index count) {
    const auto V_slab = V.columns(first, count);
    const auto R = AV.columns(0, count);
    const auto product = product_.view(k, count);
    const auto BV_slab = image(context, problem.B, V_slab, BV);
    gram(context, V, BV_slab, product);  // Vᵀ B V   k×slab
    fetch(context, product, G.block(0, first, k, count));
    if (kind == Residuals::accurate) {
      accurate_residuals<T>(context, problem, V_slab, host.block(first, 0, count, 1), R);
      column_norms(context, R, column(kResidual, first, count));
    } else {
      problem.A->apply(context, V_slab, R);
      residual(context, R, BV_slab, theta_.view(k, 1).block(first, 0, count, 1), R,
               column(kResidual, first, count));  // A V − B V Θ   n×slab
    }
    error_norms_.measure_residuals(context, R, column(kDualResidual, first, count));
    gram(context, V, R, product);  // Vᵀ R   k×slab
    fetch(context, product, H_.view(k, k).block(0, first, k, count));
  });
  column_norms(context, V, column(kNorm, 0, k));
  error_norms_.measure_sizes_A(context, V, column(kSizeA, 0, k));
  error_norms_.measure_sizes_B(context, V, column(kSizeB, 0, k));
  error_norms_.measure_rows(context, V, column(kSizeOfRows, 0, k));
  const SmallView<double, HostSpace> fetched = numbers_host_.view(k, kNumbers);
  fetch(context, numbers, fetched);
  take_numbers(G, fetched);
}

/// Takes the measured numbers of the pairs, for vectors that are scaled to xᵀBx = 1.
template <Scalar T, class Ctx>
void EigenVerifier<T, Ctx>::take_numbers(ConstSmallView<Wide<T>, HostSpace> G,
                                         ConstSmallView<double, HostSpace> numbers) {
  const Index k = G.cols;
  for (std::vector<double>* list : {&residuals_, &dual_residuals_, &squares_, &couplings_,
                                    &sizes_A_, &sizes_B_, &rows_numbers_}) {
    list->clear();
  }
  orthogonality_ = 0;
  const ConstSmallView<Wide<T>, HostSpace> VR = H_.view(k, k);
  correct_values(G, VR);
  for (Index j = 0; j < k; ++j) {
    residuals_.push_back(numbers(j, kResidual) / numbers(j, kNorm));
    dual_residuals_.push_back(
        error_norms_.dual_norm(numbers(j, kDualResidual), numbers(j, kResidual)) /
        std::sqrt(real_part(G(j, j))));
    squares_.push_back(real_part(G(j, j)));
    couplings_.push_back(std::hypot(coupling(VR, j) / real_part(G(j, j)),
                                    corrections_[static_cast<std::size_t>(j)]));
    sizes_A_.push_back(numbers(j, kSizeA));
    sizes_B_.push_back(numbers(j, kSizeB));
    rows_numbers_.push_back(numbers(j, kSizeOfRows));
    for (Index i = 0; i < k; ++i) {
      keep_worst(orthogonality_, std::abs(G(i, j) - (i == j ? 1.0 : 0.0)));
    }
  }
}

/// Replaces the Ritz values by the Rayleigh quotients θ + xᵀr/xᵀBx of their vectors. The dense
/// solve leaves an error of ε times the largest value in all values. The quotients have only their
/// own rounding errors. They are not taken if they would change the order of the pairs.
template <Scalar T, class Ctx>
void EigenVerifier<T, Ctx>::correct_values(ConstSmallView<Wide<T>, HostSpace> G,
                                           ConstSmallView<Wide<T>, HostSpace> VR) {
  const Index k = G.cols;
  ritz_values_.assign(values_.begin(), values_.end());
  corrections_.clear();
  for (Index j = 0; j < k; ++j) corrections_.push_back(real_part(VR(j, j)) / real_part(G(j, j)));
  const auto corrected = [&](Index j) {
    const auto pair = static_cast<std::size_t>(j);
    return values_[pair] + corrections_[pair];
  };
  const bool ascending = k == 0 || values_.front() <= values_[static_cast<std::size_t>(k - 1)];
  for (Index j = 1; j < k; ++j) {
    if (ascending ? corrected(j - 1) > corrected(j) : corrected(j - 1) < corrected(j)) return;
  }
  for (Index j = 0; j < k; ++j) values_[static_cast<std::size_t>(j)] = corrected(j);
  std::fill(corrections_.begin(), corrections_.end(), 0.0);
}

template <Scalar T, class Ctx>
std::string EigenVerifier<T, Ctx>::refutation(const EigenConvergence& convergence) const {
  for (std::size_t j = 0; j < passed_.size(); ++j) {
    if (passed_[j]) continue;
    if (convergence.passes(values_[j], residuals_[j])) {
      return fmt::format("the error of value {}, {:.9g}, may be {:.1e}, which is too large", j + 1,
                         values_[j], errors_[j]);
    }
    return fmt::format("the residual of pair {} is {:.1e}, {:.1e} is allowed", j + 1,
                       convergence.scaled_residual(values_[j], residuals_[j]),
                       convergence.scaled_residual(values_[j], convergence.allowed(values_[j])));
  }
  if (!orthonormal()) {
    return fmt::format("|X'BX - I| is {:.1e}, {:.1e} is allowed: the vectors are not orthonormal",
                       orthogonality_, orthogonality_ / orthogonality_excess_);
  }
  return "the pairs moved";
}

/// Takes the largest entry of |VᵀBV − I| relative to what rounding allows.
template <Scalar T, class Ctx>
void EigenVerifier<T, Ctx>::judge_orthogonality(const EigenConvergence& convergence) {
  const auto k = static_cast<Index>(residuals_.size());
  const ConstSmallView<Wide<T>, HostSpace> G = G_.view(k, k);
  const auto size = [&](Index j) {
    return error_norms_.size_B(sizes_B_[static_cast<std::size_t>(j)], convergence.norm_B());
  };
  orthogonality_excess_ = 0;
  for (Index j = 0; j < k; ++j) {
    for (Index i = 0; i < k; ++i) {
      const double deviation = std::abs(G(i, j) - (i == j ? 1.0 : 0.0));
      keep_worst(orthogonality_excess_,
                 deviation / orthogonality_limit<T>(std::sqrt(size(i) * size(j))));
    }
  }
}

/// The errors of value j. Where several bounds are known, the smallest one counts.
template <Scalar T, class Ctx>
ValueErrors EigenVerifier<T, Ctx>::errors_of(std::size_t j, const EigenConvergence& convergence,
                                             const Neighbours& neighbours,
                                             const RowSizes& rows) const {
  const double measured = bounds_.bound(static_cast<Index>(j));
  const auto smaller = [&](double own) { return measured <= own ? measured : own; };
  const bool has_own = !neighbours.own_bounds.empty();
  const double own = has_own ? neighbours.own_bounds[j] : measured;
  const double own_rounding =
      has_own && !neighbours.own_roundings.empty() ? neighbours.own_roundings[j] : 0;
  ValueErrors errors;
  // Rounding of the values to which bounds of the solver itself belong is no reason to go on.
  errors.iteration = smaller(own) + std::abs(corrections_[j]) + displacements_[j];
  if (std::isfinite(own)) errors.solver = smaller(own + own_rounding) - smaller(own);
  // The quotient is θ + xᵀr with r = A x − θ B x, so that a θ that is larger counts.
  const double theta = std::max(std::abs(values_[j]), std::abs(ritz_values_[j]));
  errors.rounding = kUnderflow<T> + convergence.rounding(theta, rows.sum, rows.B);
  errors.placing = placing_error(j, convergence, neighbours);
  if (kind_ == Residuals::accurate) {
    errors.accurate = measured + std::abs(corrections_[j]) + displacements_[j] +
                      accurate_rounding(values_[j], ritz_values_[j], dual_residuals_[j], rows);
  }
  if (!neighbours.least_bounds.empty()) {
    errors.placing = std::max(errors.placing, neighbours.least_bounds[j]);
  }
  return errors;
}

template <Scalar T, class Ctx>
Verdict EigenVerifier<T, Ctx>::judge(const EigenConvergence& convergence,
                                     const Neighbours& neighbours) {
  list_pairs(neighbours);
  const Index placed = neighbours.end ? std::ssize(residuals_) : 0;
  bounds_.compute(neighbours.below, neighbours.above, -std::numeric_limits<double>::infinity(),
                  neighbours.dense ? bounds_.size() : placed);
  for (std::vector<double>* list : {&errors_, &iterations_, &unavoidable_}) list->clear();
  for (std::vector<bool>* list : {&passed_, &limited_}) list->clear();
  judge_orthogonality(convergence);
  const bool ends_at_rounding =
      neighbours.dense || (convergence.is_at_rounding() && convergence.bounds_values());
  Verdict verdict{orthonormal(), true};
  for (std::size_t j = 0; j < residuals_.size(); ++j) {
    const double lambda = values_[j];
    const RowSizes rows = sizes_of_rows(convergence, j);
    const ValueErrors errors = errors_of(j, convergence, neighbours, rows);
    const EigenConvergence local =
        convergence.in_rows(neighbours.solved ? std::max(rows.sum, rows.A) : rows.A);
    const bool zero =
        convergence.bounds_values() &&
        local.is_zero(lambda, std::min(residuals_[j], errors.iteration * convergence.norm_B()));
    const bool counts = zero || !convergence.bounds_values() ||
                        has_digits(convergence, lambda, errors.total(), rows, neighbours.solved);
    const bool at_rounding =
        zero || (ends_at_rounding && counts && local.residual_is_rounding(lambda, residuals_[j]));
    const bool digits =
        zero || (counts && convergence.value_passes(lambda, errors.iteration, errors.rounding));
    // Without a bound, as where B is singular to rounding, not even the place of λ is known.
    const bool residual =
        convergence.passes(lambda, residuals_[j]) && std::isfinite(errors.total());
    verdict.digits = verdict.digits && digits;
    verdict.residuals = verdict.residuals && residual;
    verdict.values = verdict.values && (digits || at_rounding);
    passed_.push_back(residual && (digits || at_rounding));
    iterations_.push_back(errors.iteration);
    // The whole bound of a value that rounding limits counts, where the places of others are open.
    const double unavoidable = std::min(errors.unavoidable(at_rounding), errors.total());
    unavoidable_.push_back(convergence.limited(lambda, errors.iteration, unavoidable)
                               ? std::max(unavoidable, errors.total())
                               : unavoidable);
    errors_.push_back(errors.total());
  }
  if (neighbours.end) {
    for (std::vector<double>* list : {&errors_, &unavoidable_}) places_.widen(values_, *list);
  }
  for (std::size_t j = 0; j < residuals_.size(); ++j) {
    limited_.push_back(convergence.limited(values_[j], iterations_[j], unavoidable_[j]));
  }
  return verdict;
}

template <Scalar T, class Ctx>
std::span<const double> EigenVerifier<T, Ctx>::roundings(Ctx& context,
                                                         const EigenConvergence& convergence,
                                                         ConstBlockView<T, Space> V,
                                                         std::span<const double> values) {
  const Index k = V.cols();
  const SmallView<double, Space> numbers = numbers_.view(k, 2);
  error_norms_.measure_sizes_A(context, V, numbers.block(0, 0, k, 1));
  error_norms_.measure_sizes_B(context, V, numbers.block(0, 1, k, 1));
  const SmallView<double, HostSpace> fetched = numbers_host_.view(k, 2);
  fetch(context, numbers, fetched);
  roundings_.clear();
  for (Index j = 0; j < k; ++j) {
    roundings_.push_back(
        kUnderflow<T> +
        convergence.rounding(values[static_cast<std::size_t>(j)],
                             error_norms_.size_A(fetched(j, 0), convergence.norm_A()),
                             error_norms_.size_B(fetched(j, 1), convergence.norm_B())));
  }
  return roundings_;
}

template <Scalar T, class Ctx>
void EigenVerifier<T, Ctx>::measure_accurately(Ctx& context, const EigenProblem<T, Ctx>& problem,
                                               const EigenConvergence& convergence,
                                               ConstBlockView<T, Space> V, BlockView<T, Space> AV,
                                               BlockView<T, Space> BV) {
  if (!has_accurate_residuals<T>(problem)) return;
  bool lacks_digits = false;
  for (std::size_t j = 0; j < residuals_.size(); ++j) {
    const RowSizes rows = sizes_of_rows(convergence, j);
    const double rounding = convergence.rounding(values_[j], rows.sum, rows.B);
    const double wanted = convergence.tolerance() * std::abs(values_[j]);
    lacks_digits = lacks_digits || (rounding > wanted && std::isfinite(rounding));
  }
  if (lacks_digits) measure(context, problem, V, AV, BV, Residuals::accurate);
}

template <Scalar T, class Ctx>
RowSizes EigenVerifier<T, Ctx>::sizes_of_rows(const EigenConvergence& convergence,
                                              std::size_t j) const {
  const double norm_A = convergence.norm_A();
  return {error_norms_.size_of_rows(rows_numbers_[j], sizes_B_[j], norm_A),
          error_norms_.size_A(sizes_A_[j], norm_A) / squares_[j],
          error_norms_.size_B(sizes_B_[j], convergence.norm_B()) / squares_[j]};
}

template <Scalar T, class Ctx>
void EigenVerifier<T, Ctx>::report(const EigenConvergence& convergence,
                                   EigenResult<T, Space>& result) const {
  result.eigenvalues.assign(values_.begin(),
                            values_.begin() + static_cast<std::ptrdiff_t>(residuals_.size()));
  result.residuals.clear();
  for (std::size_t j = 0; j < residuals_.size(); ++j) {
    result.residuals.push_back(convergence.scaled_residual(values_[j], residuals_[j]));
  }
  result.error_bounds = errors_;
  result.limited_by_rounding = limited_;
  result.converged = passed_;
  result.orthogonality = orthogonality_;
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class EigenVerifier<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
