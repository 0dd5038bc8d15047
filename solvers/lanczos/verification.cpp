#include <algorithm>
#include <cmath>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/lanczos/verification.hpp>

namespace heddle::detail {

template <Scalar T, class Ctx>
void Verification<T, Ctx>::collect() {
  const auto [locked, active] = s_.pairs.best();
  const Block V = s_.result.eigenvectors.columns(0, locked + active);
  copy<T>(context_, s_.basis.locked_vectors().columns(0, locked), V.columns(0, locked));
  const SmallView<Wide<T>, Space> Z = s_.coefficients.view(s_.basis.order(), active);
  send(context_, s_.ritz.Z(active), Z);
  multiply<T>(context_, 1, s_.basis.V(), Z, 0, V.columns(locked, active));
  s_.F.to_eigenvectors(context_, V);
}

template <Scalar T, class Ctx>
void Verification<T, Ctx>::clear_numbers() {
  s_.result.eigenvalues.clear();
  s_.result.residuals.clear();
  s_.result.error_bounds.clear();
  s_.result.limited_by_rounding.clear();
}

template <Scalar T, class Ctx>
bool Verification<T, Ctx>::take_dense_vectors() {
  clear_numbers();
  measured_ = true;
  failure_ = DenseFailure::none;
  s_.verifier.set_values(dense_values_);
  return true;
}

template <Scalar T, class Ctx>
DenseFailure Verification<T, Ctx>::step(Block V) {
  clear_numbers();
  return s_.verifier.rayleigh_ritz(context_, problem_, options_.which, V, s_.F.scratch(),
                                   s_.basis.scratch());
}

template <Scalar T, class Ctx>
bool Verification<T, Ctx>::rayleigh_ritz(Index count) {
  measured_ = true;
  solved_ = false;
  failure_ = step(s_.result.eigenvectors.columns(0, count));
  return failure_ == DenseFailure::none;
}

template <Scalar T, class Ctx>
Verdict Verification<T, Ctx>::measure(Index count, const EigenConvergence& convergence) {
  measure_vectors(count);
  return judge_vectors(convergence);
}

template <Scalar T, class Ctx>
typename Verification<T, Ctx>::Block Verification<T, Ctx>::measure_vectors(Index count) {
  const Block V = s_.result.eigenvectors.columns(0, std::min(count, options_.nev));
  s_.verifier.measure(context_, problem_, V, s_.F.scratch(), s_.basis.scratch());
  return V;
}

/// Judges the vectors of the last `measure_vectors`.
template <Scalar T, class Ctx>
Verdict Verification<T, Ctx>::judge_vectors(const EigenConvergence& convergence) {
  const Block V = s_.result.eigenvectors.columns(0, std::ssize(s_.verifier.residuals()));
  s_.verifier.measure_accurately(context_, problem_, convergence, V, s_.F.scratch(),
                                 s_.basis.scratch());
  return judge(convergence);
}

template <Scalar T, class Ctx>
Verdict Verification<T, Ctx>::judge(const EigenConvergence& convergence) {
  const std::span<const double> values = s_.verifier.values();
  const std::size_t wanted = s_.verifier.residuals().size();
  if (s_.shape.max_basis > 0) {
    Neighbours neighbours = s_.pairs.neighbours(values.first(wanted));
    neighbours.solved = solved_ || s_.F.in_standard_form();
    verdict_ = s_.verifier.judge(convergence, neighbours);
  } else {
    judge_dense(convergence);
  }
  s_.verifier.report(convergence, s_.result);
  return verdict_;
}

/// Judges the pairs of a dense solve, which knows all other eigenvalues, too.
template <Scalar T, class Ctx>
void Verification<T, Ctx>::judge_dense(const EigenConvergence& convergence) {
  const bool standard_form = !dense_values_.empty();
  const std::size_t wanted = s_.verifier.residuals().size();
  const std::span<const double> values = s_.verifier.values();
  const std::span<const double> others =
      (standard_form ? std::span<const double>(dense_values_) : values).subspan(wanted);
  const auto beyond =
      s_.result.eigenvectors.columns(static_cast<Index>(wanted), std::ssize(others));
  const auto roundings = s_.verifier.roundings(context_, convergence, beyond, others);
  // A value that no other one bounds would have no error at all.
  const double beyond_all = others.empty() ? ErrorBounds::kUnknown : ErrorBounds::kNoneBeyond;
  Neighbours neighbours{.values = others,
                        .roundings = roundings,
                        .below = beyond_all,
                        .above = beyond_all,
                        .end = options_.which,
                        .dense = true};
  if (standard_form) {
    std::vector<double> own(dense_errors_.begin(),
                            dense_errors_.begin() + static_cast<std::ptrdiff_t>(wanted));
    for (std::size_t j = 0; j < wanted; ++j) own[j] += std::abs(dense_values_[j] - values[j]);
    std::vector<double> errors(dense_errors_.begin() + static_cast<std::ptrdiff_t>(wanted),
                               dense_errors_.end());
    for (std::size_t j = 0; j < errors.size(); ++j) errors[j] += roundings[j];
    neighbours.residuals = errors;
    neighbours.own_bounds = own;
    neighbours.solved = true;
    verdict_ = s_.verifier.judge(convergence, neighbours);
  } else {  // known to the rounding of the dense solve
    const double noise = convergence.noise_floor() * convergence.scale(values.back());
    const std::vector<double> errors(others.size(), noise);
    neighbours.residuals = errors;
    neighbours.below = neighbours.above = ErrorBounds::kNoneBeyond;
    verdict_ = s_.verifier.judge(convergence, neighbours);
  }
}

template <Scalar T, class Ctx>
Verdict Verification<T, Ctx>::measure_best(const EigenConvergence& convergence) {
  const PhaseScope phase(context_, Phase::verify);
  collect();
  const Index count = std::min(s_.pairs.wanted().size(), options_.nev);
  if (!rayleigh_ritz(count)) return {};
  const Block V = measure_vectors(count);
  s_.verifier.reduce_residuals(context_, problem_, convergence, V, s_.F.scratch(),
                               s_.basis.scratch());
  if (judge_vectors(convergence).values || !s_.F.map().inverts() || s_.F.in_standard_form()) {
    return verdict_;
  }
  refine_by_inverse(V);
  if (!rayleigh_ritz(count)) return {};
  measure_vectors(count);
  solved_ = true;
  return judge_vectors(convergence);
}

/// V ← F V Θ⁻¹ with the θ of the values. Ritz vectors have errors of ε in every row. Those in stiff
/// rows spoil values and bounds. A solve leaves none of them.
template <Scalar T, class Ctx>
void Verification<T, Ctx>::refine_by_inverse(Block V) {
  const std::span<const double> values = s_.verifier.values();
  // F uses its own scratch memory where there is a B.
  const Block scratch = problem_.B == nullptr ? s_.F.scratch() : s_.basis.scratch();
  for (Index first = 0; first < V.cols(); first += scratch.cols()) {
    const Index count = std::min(scratch.cols(), V.cols() - first);
    const Block FV = scratch.columns(0, count);
    s_.F.apply(context_, V.columns(first, count), FV);
    factors_.clear();
    for (Index j = first; j < first + count; ++j) {
      factors_.push_back(1 / s_.F.map().theta_of(values[static_cast<std::size_t>(j)]));
    }
    const SmallView<double, Space> there = s_.factors.view(count, 1);
    send(context_, SmallView<double, HostSpace>{factors_.data(), count, 1, count}, there);
    scale_columns<T>(context_, there, FV);
    copy<T>(context_, FV, V.columns(first, count));
  }
}

template <Scalar T, class Ctx>
void Verification<T, Ctx>::measure_ritz_pairs() {
  const PhaseScope phase(context_, Phase::verify);
  collect();
  const Index count = s_.pairs.wanted().size();
  if (!rayleigh_ritz(count)) return;
  measure(count, s_.pairs.convergence());
  s_.pairs.take_measured(s_.verifier.values(), s_.verifier.residuals());
}

template <Scalar T, class Ctx>
std::span<const double> Verification<T, Ctx>::roundings() {
  const PhaseScope phase(context_, Phase::verify);
  collect();
  return s_.verifier.roundings(context_, s_.pairs.convergence(),
                               s_.result.eigenvectors.columns(0, s_.pairs.wanted().size()),
                               s_.pairs.wanted().values);
}

template <Scalar T, class Ctx>
std::string Verification<T, Ctx>::refutation() const {
  if (failure_ != DenseFailure::none) return "the vectors of the pairs are dependent";
  return s_.verifier.refutation(s_.pairs.convergence());
}

template <Scalar T, class Ctx>
void Verification<T, Ctx>::rayleigh_ritz_of_leading() {
  const PhaseScope phase(context_, Phase::verify);
  const Index count = std::min({s_.shape.block, options_.nev, s_.basis.order()});
  const Block V = s_.result.eigenvectors.columns(0, count);
  const SmallView<Wide<T>, Space> Z = s_.coefficients.view(s_.basis.order(), count);
  send(context_, s_.ritz.Z(count), Z);
  multiply<T>(context_, 1, s_.basis.V(), Z, 0, V);
  measured_ = false;
  failure_ = step(V);
}

template <Scalar T, class Ctx>
std::optional<double> Verification<T, Ctx>::farthest_value() const {
  if (failure_ != DenseFailure::none) return std::nullopt;
  return s_.verifier.values().back();
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class Verification<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
