#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/iteration/convergence.hpp>
#include <heddle/solvers/iteration/earlier_parts.hpp>
#include <heddle/solvers/iteration/error_bounds.hpp>
#include <heddle/solvers/lanczos/certificate/certificate.hpp>
#include <heddle/solvers/lanczos/certificate/counting_places.hpp>
#include <heddle/solvers/lanczos/certificate/stiffness.hpp>
#include <heddle/solvers/lanczos/constrained_pencil.hpp>
#include <heddle/solvers/lanczos/nearest/nearest_eigenpairs.hpp>
#include <limits>
#include <optional>
#include <utility>

namespace heddle {
namespace detail {
namespace {

/// `automatic` counts where rows of A have this stiffness, and the solve had no inverse.
constexpr double kStiff = 1e3;

/// It counts where that costs at most so much of the solve.
constexpr double kShare = 0.1;

/// Solves that a factor's test of certainty takes.
constexpr double kSolvesOfTest = 5;

/// The part of a gap that is counted. Its end may be an eigenvalue.
constexpr double kPartOfGap = 0.9;

/// What the reason says of a solve whose pairs could not be proven.
constexpr const char* kUncertain =
    "; the eigenvalues up to the last one could not be counted with certainty";

/// Pairs beyond the wanted ones that are computed rather than a nearer place sought.
constexpr Index kFurtherPairs = 32;

/// Places that are tried on the way to fewer pairs: halvings end at the resolution of doubles.
constexpr int kNearerPlaces = 50;

template <Scalar T, class Ctx>
class Certificate {
 public:
  using Space = typename Ctx::Space;
  using Result = EigenResult<T, Space>;

  /// Everything is kept by reference.
  Certificate(Ctx& context, const EigenProblem<T, Ctx>& problem, IndefiniteInverse<T, Ctx>& inverse,
              const CertifyOptions& options, Result& found, const Monitor& monitor)
      : context_(context),
        problem_(problem),
        inverse_(inverse),
        options_(options),
        found_(found),
        monitor_(monitor),
        sign_(options.which == Which::smallest ? 1 : -1) {}

  void run() {
    const bool complete =
        found_.completeness.proven || std::ssize(found_.eigenvalues) >= inverse_.rows();
    if (found_.status != SolveStatus::converged || complete || !wanted()) return;
    begin_stage();
    const Index solved = inverse_.columns_applied();
    try {
      prove();
    } catch (const OutOfMemory& error) {
      found_.reason += fmt::format("; eigenvalues were not counted: {}", error.what());
    }
    found_.inverse_applications += inverse_.columns_applied() - solved;
  }

 private:
  /// A place with the eigenvalues before it.
  struct Counted {
    CountingPlace place;
    Index eigenvalues = 0;
  };

  /// The number of pairs that are computed where that replaces further counts.
  Index few() const { return options_.nev + std::max(options_.nev, kFurtherPairs); }
  double norm_B() const { return problem_.B == nullptr ? 1 : problem_.B->one_norm().value_or(1); }
  bool wanted();
  bool meets_stiff_rows() const;
  double residual_of(std::size_t j) const;
  double reach_of_bounds() const;
  void begin_stage();
  void prove();
  std::optional<Counted> count_at(const CountingPlace& place);
  bool proven_by(const std::optional<Counted>& counted);
  bool raise_bounds(const Counted& counted);
  Counted with_fewer(Counted counted);
  void find_missing(const Counted& behind, Index missing);
  Index missing_among(const Result& computed) const;
  static void add_counts(const Result& computed, Result& result);
  void adopt(Result computed, Index missing);
  void refuse(SolveStatus status, Index missing, const std::string& why);

  Ctx& context_;
  const EigenProblem<T, Ctx>& problem_;
  IndefiniteInverse<T, Ctx>& inverse_;
  const CertifyOptions& options_;
  Result& found_;
  const Monitor& monitor_;
  double sign_;    // of keys
  Index all_ = 0;  // eigenvalues
};

template <Scalar T, class Ctx>
bool Certificate<T, Ctx>::wanted() {
  if (options_.certify != Certify::automatic) return options_.certify == Certify::inertia;
  const FactorEstimate factor = inverse_.estimate(context_);
  if (inverse_.rows() <= kAlwaysCounted && factor.operations <= kAlwaysFactored) return true;
  if (factor.bytes > inverse_.max_bytes()) return false;
  double spent = static_cast<double>(found_.operator_applications);
  if (found_.inverse_applications > 0) {
    spent += factor.once + factor.factor +
             static_cast<double>(found_.inverse_applications) * factor.column;
  }
  const double cost = factor.once + factor.factor + kSolvesOfTest * factor.column;
  return cost <= kShare * spent || meets_stiff_rows();
}

/// Whether the solve was one without an inverse, and rows of A differ much.
template <Scalar T, class Ctx>
bool Certificate<T, Ctx>::meets_stiff_rows() const {
  if (found_.inverse_applications > 0) return false;
  const double last = std::abs(found_.eigenvalues.back()) * norm_B();
  return stiffness<T, Ctx>(context_, *problem_.A,
                           std::as_const(found_.eigenvectors).columns(0, options_.nev),
                           last) >= kStiff;
}

template <Scalar T, class Ctx>
void Certificate<T, Ctx>::begin_stage() {
  if (options_.certify == Certify::automatic) return monitor_.begin_stage("counting eigenvalues");
  const FactorEstimate factor = inverse_.estimate(context_);
  monitor_.begin_stage(
      fmt::format("counting eigenvalues by a factor of about {:.0e} operations and {:.0f} MiB",
                  factor.operations, factor.bytes / (1024 * 1024)));
}

/// ‖A x − λ x‖₂ of pair j for ‖x‖₂ = 1.
template <Scalar T, class Ctx>
double Certificate<T, Ctx>::residual_of(std::size_t j) const {
  return found_.residuals[j] *
         (problem_.A->one_norm().value_or(0) + std::abs(found_.eigenvalues[j]));
}

/// The key up to which bounds e of the errors assume no further eigenvalues: λ + ρ²/e, for ρ = ‖r‖.
/// Without a B, as ρ is its norm in B⁻¹, and without an inverse F, as bounds in its space are far
/// smaller than ρ²/gap where A has stiff rows.
template <Scalar T, class Ctx>
double Certificate<T, Ctx>::reach_of_bounds() const {
  double reach = -std::numeric_limits<double>::infinity();
  if (problem_.B != nullptr || found_.inverse_applications > 0) return reach;
  for (std::size_t j = 0; j < found_.eigenvalues.size(); ++j) {
    const double residual = residual_of(j), bound = found_.error_bounds[j];
    if (residual <= bound) continue;  // it needs no gap
    reach =
        std::max(reach, sign_ * found_.eigenvalues[j] + kPartOfGap * residual * (residual / bound));
  }
  return reach;
}

/// The eigenvalues before `place`. Nothing if their number is not certain.
template <Scalar T, class Ctx>
auto Certificate<T, Ctx>::count_at(const CountingPlace& place) -> std::optional<Counted> {
  if (monitor_.stops() || !inverse_.factor(context_, sign_ * place.key)) return std::nullopt;
  return Counted{place, sign_ > 0 ? inverse_.below() : all_ - inverse_.below()};
}

/// Whether as many eigenvalues were counted as were found, which is a proof.
template <Scalar T, class Ctx>
bool Certificate<T, Ctx>::proven_by(const std::optional<Counted>& counted) {
  if (!counted || counted->eigenvalues != counted->place.found) return false;
  found_.completeness = {CompletenessMethod::inertia, true};
  return true;
}

template <Scalar T, class Ctx>
void Certificate<T, Ctx>::prove() {
  std::vector<double> keys;
  for (const double value : found_.eigenvalues) keys.push_back(sign_ * value);
  const CountingPlaces places(
      keys, *std::max_element(found_.error_bounds.begin(), found_.error_bounds.end()),
      options_.tolerance > 0 ? options_.tolerance : kDefaultTolerance<T>,
      problem_.A->one_norm().value_or(1) / norm_B(), reach_of_bounds());
  if (!places.usable()) {
    found_.reason += "; without error bounds the eigenvalues were not counted";
    return;
  }
  const ConstrainedPencil<T, Ctx> constraints(context_, problem_, inverse_);
  all_ = inverse_.rows() - constraints.rank();

  std::optional<Counted> wide;
  if (const std::optional<CountingPlace> gap = places.gap()) wide = count_at(*gap);
  if (proven_by(wide)) return;
  std::optional<Counted> behind;
  const int attempts = places.vague() ? CountingPlaces::kBefore : CountingPlaces::kBeyond;
  for (int attempt = 0; attempt < attempts && !behind; ++attempt) {
    behind = count_at(places.beyond(attempt));
  }
  if (behind && wide && wide->eigenvalues > behind->eigenvalues && !raise_bounds(*behind)) {
    return find_missing(*wide, wide->eigenvalues - wide->place.found);
  }
  if (proven_by(behind)) return;
  if (behind && places.vague() && behind->eigenvalues > behind->place.found) {
    return find_missing(*behind, behind->eigenvalues - behind->place.found);
  }
  std::optional<Counted> tight;
  if (const std::optional<CountingPlace> place = places.at_bound()) tight = count_at(*place);
  if (proven_by(tight)) return;
  if (tight && tight->eigenvalues >= std::max(options_.nev, tight->place.found + 1)) {
    return find_missing(*tight, tight->eigenvalues - tight->place.found);
  }
  for (int attempt = 0; attempt < CountingPlaces::kBefore; ++attempt) {
    const std::optional<CountingPlace> place = places.before(attempt);
    const std::optional<Counted> before = place ? count_at(*place) : std::nullopt;
    if (!before) continue;
    const Index missing = before->eigenvalues - place->found;
    if (missing == 0 && place->proves) {
      found_.completeness = {CompletenessMethod::inertia, true};
      return;
    }
    if (missing <= 0) break;
    const bool enough = before->eigenvalues >= options_.nev || !behind;
    return find_missing(enough ? *before : *behind, missing);
  }
  if (behind && behind->eigenvalues > behind->place.found && behind->eigenvalues <= few()) {
    return find_missing(*behind, 0);
  }
  found_.reason += kUncertain;
}

/// Raises the bounds of errors to those of a gap that ends at the place of `counted`: bounds that
/// assume a wider one are refuted. Returns whether each of these values keeps the digits that the
/// criterion promises: six where it promises none, or rounding limits the value already.
template <Scalar T, class Ctx>
bool Certificate<T, Ctx>::raise_bounds(const Counted& counted) {
  bool kept = true;
  for (std::size_t j = 0; j < found_.eigenvalues.size(); ++j) {
    double& bound = found_.error_bounds[j];
    const double residual = residual_of(j);
    if (residual <= bound) continue;  // it needs no gap
    const double gap = std::max(0.0, counted.place.key - sign_ * found_.eigenvalues[j]);
    bound += std::min(residual, ErrorBounds::change(residual, gap));
    const double tolerance = options_.tolerance > 0 ? options_.tolerance : kDefaultTolerance<T>;
    const bool promised =
        options_.criterion == Criterion::eigenvalue && !found_.limited_by_rounding[j];
    const double digits = promised ? tolerance : std::max(kSixDigits, tolerance);
    kept = kept && bound <= digits * std::abs(found_.eigenvalues[j]);
  }
  return kept;
}

/// A place before that of `counted`, with the wanted pairs and few more before it, where halving
/// comes to one: the place behind a value with a wide bound may have thousands before it. In single
/// precision such a bound is that of rounded entries, so that no pair has digits.
template <Scalar T, class Ctx>
auto Certificate<T, Ctx>::with_fewer(Counted counted) -> Counted {
  if (sizeof(RealOf<T>) < sizeof(double)) return counted;
  double step = counted.place.key - sign_ * found_.eigenvalues.front();
  std::optional<double> too_near;  // fewer than the wanted pairs lie before it
  for (int tried = 0; tried < kNearerPlaces && counted.eigenvalues > few(); ++tried) {
    if (monitor_.stops()) break;
    const double high = counted.place.key;
    const double key = too_near ? *too_near + (high - *too_near) / 2 : high - step;
    if (!(key < high)) break;
    const std::optional<Counted> here = count_at({.key = key});
    if (here && here->eigenvalues >= options_.nev) {
      counted = *here;
      step *= 2;
    } else {
      too_near = key;
    }
  }
  return counted;
}

/// Computes all pairs before the place of `behind`, or the wanted ones where these are far fewer.
/// `missing` pairs of the solve are missing. It is 0 where no certain count lies so near to the
/// last value that it tells.
template <Scalar T, class Ctx>
void Certificate<T, Ctx>::find_missing(const Counted& behind, Index missing) {
  const Counted counted = with_fewer(behind);
  if (counted.eigenvalues < options_.nev) {
    return refuse(SolveStatus::verification_failed, missing, "no certain factor finds them");
  }
  NearestOptions all;
  static_cast<EigenOptions&>(all) = options_;
  all.sigma = sign_ * counted.place.key;
  all.limit_to(sign_ > 0 ? Side::below : Side::above);
  all.nev = counted.eigenvalues;
  all.counts = sign_ > 0 ? LimitCounts{0, counted.eigenvalues}
                         : LimitCounts{all_ - counted.eigenvalues, all_};
  all.block_size = 0;
  all.checkpoint = {};
  const double passed = found_.history.empty() ? 0 : found_.history.back().seconds;
  all.time_limit_s = std::max(0.0, options_.time_limit_s - passed);
  EigenProblem<T, Ctx> problem = problem_;
  problem.initial_guess = {};
  problem.null_vectors = {};
  monitor_.begin_stage("finding missing pairs with the inverse");
  const EarlierParts earlier{found_.iterations, passed, found_.operator_applications};
  const Monitor watched = earlier.watch(monitor_);
  Result computed = nearest_eigenpairs<T, Ctx>(context_, problem, inverse_, all, watched);
  if (missing == 0) missing = missing_among(computed);
  if (computed.status != SolveStatus::converged) {
    const bool ended = computed.status == SolveStatus::time_limit ||
                       computed.status == SolveStatus::interrupted ||
                       computed.status == SolveStatus::max_iterations;
    return refuse(ended ? computed.status : SolveStatus::verification_failed, missing,
                  "the search for them ended: " + computed.reason);
  }
  if (std::ssize(computed.eigenvalues) != counted.eigenvalues) {
    return refuse(SolveStatus::verification_failed, missing, "an inverse did not find them");
  }
  if (missing > 0) return adopt(std::move(computed), missing);
  add_counts(computed, found_);
  found_.completeness = {CompletenessMethod::inertia, true};
}

/// The largest number of `computed` values before a found one and its error, less that of the found
/// values before it: each Ritz value has an eigenvalue before it that no other one has.
template <Scalar T, class Ctx>
Index Certificate<T, Ctx>::missing_among(const Result& computed) const {
  Index missing = 0;
  for (std::size_t j = 0; j < found_.eigenvalues.size(); ++j) {
    const double edge = sign_ * found_.eigenvalues[j] - found_.error_bounds[j];
    const auto before = std::count_if(computed.eigenvalues.begin(), computed.eigenvalues.end(),
                                      [&](double value) { return sign_ * value < edge; });
    missing = std::max<Index>(missing, before - static_cast<Index>(j));
  }
  return missing;
}

/// Adds what the solve of `computed` took to `result`.
template <Scalar T, class Ctx>
void Certificate<T, Ctx>::add_counts(const Result& computed, Result& result) {
  const double begin = result.history.empty() ? 0 : result.history.back().seconds;
  EarlierParts{result.iterations, begin, result.operator_applications}.append(computed.history,
                                                                              result.history);
  result.iterations += computed.iterations;
  result.operator_applications += computed.operator_applications;
  result.orthogonalization += computed.orthogonalization;
}

/// Replaces the pairs by the first of `computed`, which are all up to some number, ascending.
template <Scalar T, class Ctx>
void Certificate<T, Ctx>::adopt(Result computed, Index missing) {
  const auto all = std::ssize(computed.eigenvalues);
  Result merged = std::move(found_);
  MultiVector<T, Space> X(context_, computed.eigenvectors.view().rows(), options_.nev);
  const auto take = [&](auto& to, const auto& from) {
    to.clear();
    for (Index j = 0; j < options_.nev; ++j) {
      to.push_back(from[static_cast<std::size_t>(sign_ > 0 ? j : all - 1 - j)]);
    }
  };
  take(merged.eigenvalues, computed.eigenvalues);
  take(merged.residuals, computed.residuals);
  take(merged.error_bounds, computed.error_bounds);
  take(merged.limited_by_rounding, computed.limited_by_rounding);
  take(merged.converged, computed.converged);
  for (Index j = 0; j < options_.nev; ++j) {
    copy<T>(context_,
            std::as_const(computed.eigenvectors).view().columns(sign_ > 0 ? j : all - 1 - j, 1),
            X.columns(j, 1));
  }
  merged.eigenvectors = std::move(X);
  merged.orthogonality = computed.orthogonality;
  merged.inverse_reaches_more_digits = false;
  merged.completeness = {CompletenessMethod::inertia, true};
  add_counts(computed, merged);
  merged.reason = fmt::format(
      "{}; a count of the eigenvalues showed that the solve had missed, or left without digits, "
      "{}, "
      "which the inverse of A - sigma B then found",
      computed.reason, missing == 1 ? "a pair" : fmt::format("{} pairs", missing));
  found_ = std::move(merged);
}

/// Ends with the pairs of the solve, none of which is known to have its place. They stay as they
/// are where none is known to be missing.
template <Scalar T, class Ctx>
void Certificate<T, Ctx>::refuse(SolveStatus status, Index missing, const std::string& why) {
  if (missing == 0) {
    found_.reason += kUncertain;
    return;
  }
  found_.status = status;
  found_.converged.assign(found_.converged.size(), false);
  found_.completeness = {CompletenessMethod::inertia, false};
  found_.reason = fmt::format("a count of the eigenvalues shows that {} missing, and {}; {}",
                              missing == 1 ? "a pair is" : fmt::format("{} pairs are", missing),
                              why, found_.reason);
}

}  // namespace
}  // namespace detail

template <Scalar T, class Ctx>
EigenResult<T, typename Ctx::Space> certified(Ctx& context, const EigenProblem<T, Ctx>& problem,
                                              IndefiniteInverse<T, Ctx>& inverse,
                                              const CertifyOptions& options,
                                              EigenResult<T, typename Ctx::Space> found,
                                              const Monitor& monitor) {
  detail::Certificate<T, Ctx>(context, problem, inverse, options, found, monitor).run();
  return found;
}

#define HEDDLE_INSTANTIATE(T, Ctx)                                                                 \
  template EigenResult<T, Ctx::Space> certified(Ctx&, const EigenProblem<T, Ctx>&,                 \
                                                IndefiniteInverse<T, Ctx>&, const CertifyOptions&, \
                                                EigenResult<T, Ctx::Space>, const Monitor&);
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
