#include <algorithm>
#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/lanczos/nearest/verification.hpp>
#include <limits>

namespace heddle::detail {
namespace {

/// Ritz pairs that stand for the eigenvalues next to the verified ones.
constexpr std::size_t kOthers = 16;

/// Where A is definite, values count as infinite that are this many times as large as the smallest
/// one. Rounding in the larger ones then costs ten of sixteen digits.
constexpr double kInfinite = 1e10;
/// Searches for missing pairs that find none, after which there are no more.
constexpr Index kMostSearches = 8;

/// Measured values that lie beyond a limit by this many times their errors are not at it. σ may be
/// the result of another solve, with errors of its own, which double precision underestimates at
/// times. Copies of a value differ by no more.
template <Scalar T>
constexpr double kApart = sizeof(RealOf<T>) == sizeof(double) ? 10 : 2;

/// Rounding errors of a basis, in units of ε‖F‖.
constexpr double kRoundings = 30;

}  // namespace

double error_of_inverse(double theta, double error) noexcept {
  const double size = std::abs(theta);
  return error < size ? error / (size * (size - error)) : std::numeric_limits<double>::infinity();
}

template <Scalar T>
double rounding_of_F(double largest) noexcept {
  return kRoundings * static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon()) * largest;
}

template <Scalar T, class Ctx>
NearestStorage<T, Ctx>::NearestStorage(Ctx& context, const RowRange& rows,
                                       const NearestShape& sizes, bool pencil)
    : shape(sizes),
      basis(context, rows, sizes.max_basis, sizes.block, pencil),
      ritz(DenseSolverOf<Wide<T>>(context, sizes.max_basis), sizes.max_basis, sizes.block),
      verifier(context, rows.local, sizes.pairs, pencil),
      coefficients(context, std::max(sizes.max_basis, sizes.pairs), sizes.pairs),
      host(1),
      chosen(*host, sizes.max_basis, sizes.max_basis),
      theta(*host, std::max(sizes.max_basis, sizes.pairs), 1),
      factors(context, sizes.block, 1),
      product(context, rows.local, sizes.block),
      X(context, rows.local, sizes.pairs) {}

double NearestPairs::lambda_at(double theta) const noexcept {
  constexpr double kLeast = std::numeric_limits<double>::min();
  return shift + 1 / (std::abs(theta) < kLeast ? std::copysign(kLeast, theta) : theta);
}

void NearestPairs::limit_to_finite(std::span<const double> values) noexcept {
  if (!reciprocal) return;
  double smallest = std::numeric_limits<double>::infinity();
  for (const double value : values) smallest = std::min(smallest, std::abs(value));
  target.finite = kInfinite * std::max(std::abs(target.sigma), smallest);
}

double NearestPairs::measured(double lambda) const noexcept {
  constexpr double kLeast = std::numeric_limits<double>::min();
  if (!reciprocal) return lambda;
  return 1 / (std::abs(lambda) < kLeast ? std::copysign(kLeast, lambda) : lambda);
}

double NearestPairs::measured_error(double lambda, double error) const noexcept {
  if (!reciprocal) return error;
  return error_of_inverse(lambda, error);
}

Index NearestPairs::given_between() const {
  return std::count_if(given.begin(), given.end(), [&](double value) { return target.has(value); });
}

bool NearestPairs::others_rest(const LanczosValues& ritz) const {
  for (Index j = 0; j < ritz.order(); ++j) {
    if (std::find(leading.begin(), leading.end(), j) != leading.end()) continue;
    const double theta = ritz.value(j);
    const double residual = ritz.residual(j);
    if (target.has(lambda_at(theta - residual)) || target.has(lambda_at(theta + residual))) {
      return false;
    }
  }
  return true;
}

bool MissingPairs::begin(Index missed, Index there) {
  searches = there > known ? 1 : searches + 1;
  if (searches > kMostSearches) return false;
  known = there;
  count = missed;
  return true;
}

template <Scalar T, class Ctx>
void NearestVerification<T, Ctx>::take_given(ConstBlockView<T, Space> X) {
  if (!pairs_.given.empty()) return;
  EigenVerifier<T, Ctx>& verifier = s_->verifier;
  const std::vector<double> zero(1);
  // The values of several vectors would have to be in order.
  for (Index j = 0; j < X.cols(); ++j) {
    verifier.set_values(zero);
    verifier.measure(context_, problem_, X.columns(j, 1), s_->product.view(), s_->basis.scratch());
    pairs_.given.push_back(pairs_.measured(verifier.values().front()));
  }
}

template <Scalar T, class Ctx>
Verdict NearestVerification<T, Ctx>::measure_best(const EigenConvergence& convergence,
                                                  bool refines) {
  const PhaseScope phase(context_, Phase::verify);
  collect();
  if (refines) refine();
  return measure(convergence);
}

/// X ← the locked vectors and the leading Ritz vectors.
template <Scalar T, class Ctx>
void NearestVerification<T, Ctx>::collect() {
  NearestStorage<T, Ctx>& s = *s_;
  improved_.clear();
  const auto locked = std::ssize(pairs_.locked);
  const auto leading = std::ssize(pairs_.leading);
  const Index k = s.basis.order();
  pairs_.count = locked + leading;
  if (locked > 0) {
    copy<T>(context_, s.basis.locked_vectors().columns(pairs_.held, locked),
            s.X.columns(0, locked));
  }
  if (leading == 0) return;
  const SmallView<Wide<T>, HostSpace> Z = s.chosen.view(k, leading);
  const ConstSmallView<Wide<T>, HostSpace> all = s.ritz.Z(k);
  for (Index l = 0; l < leading; ++l) {
    std::copy_n(&all(0, pairs_.leading[static_cast<std::size_t>(l)]), k, &Z(0, l));
  }
  const SmallView<Wide<T>, Space> there = s.coefficients.view(k, leading);
  send(context_, Z, there);
  multiply<T>(context_, 1, s.basis.V(), there, 0, s.X.columns(locked, leading));
  context_.synchronize();  // the copy reads `chosen` until then
}

/// X ← F X Θ⁻¹ in the leading Ritz vectors. The residual A x − λ B x of the new x is −B r/θ² with
/// the r = F x − θ x of the old one, and no part of the null space of B is left.
template <Scalar T, class Ctx>
void NearestVerification<T, Ctx>::refine() {
  const auto first = std::ssize(pairs_.locked);
  NearestStorage<T, Ctx>& s = *s_;
  for (Index from = first; from < pairs_.count; from += s.shape.block) {
    const Index width = std::min(s.shape.block, pairs_.count - from);
    const Block X = s.X.columns(from, width);
    const Block FX = s.product.columns(0, width);
    F_->apply(context_, X, FX);
    const SmallView<double, HostSpace> factors = s.theta.view(width, 1);
    for (Index l = 0; l < width; ++l) {
      factors(l, 0) = 1 / s.ritz.value(pairs_.leading[static_cast<std::size_t>(from - first + l)]);
    }
    const SmallView<double, Space> there = s.factors.view(width, 1);
    send(context_, factors, there);
    scale_columns<T>(context_, there, FX);
    copy<T>(context_, FX, X);
    context_.synchronize();  // the copy reads `theta` until then
  }
}

/// Sets `others_` to the Ritz pairs nearest to σ that are not verified, as many between the limits
/// as beyond them, if they are there. They are not refined: their values are taken as near to s as
/// the rounding of F allows.
template <Scalar T, class Ctx>
void NearestVerification<T, Ctx>::list_others() {
  others_.clear();
  other_widths_.clear();
  list_ends();
  const LanczosRitzOf<Wide<T>>& ritz = s_->ritz;
  const double rounding = rounding_of_F<T>(ritz);
  const auto nearer = [&](std::size_t j, double error) {
    const double theta = ritz.value(static_cast<Index>(j));
    return pairs_.lambda_at(theta + std::copysign(rounding + error, theta));
  };
  const auto value = [&](std::size_t j) { return nearer(j, 0); };
  std::vector<std::size_t> rest;
  for (std::size_t j = 0; j < pairs_.ritz_values.size(); ++j) {
    const auto index = static_cast<Index>(j);
    if (!pairs_.target.is_finite(pairs_.ritz_values[j])) continue;
    if (std::find(pairs_.leading.begin(), pairs_.leading.end(), index) == pairs_.leading.end())
      rest.push_back(j);
  }
  std::sort(rest.begin(), rest.end(), [&](std::size_t i, std::size_t j) {
    return pairs_.target.distance(value(i)) < pairs_.target.distance(value(j));
  });
  std::size_t between = 0, beyond = 0;
  std::erase_if(rest, [&](std::size_t j) {
    return (pairs_.target.has(value(j)) ? between : beyond)++ >= kOthers;
  });
  for (const std::size_t j : rest) {
    const double nearest = nearer(j, ritz.residual(static_cast<Index>(j)));
    others_.push_back(value(j));
    other_widths_.push_back(std::abs(pairs_.measured(value(j)) - pairs_.measured(nearest)));
  }
}

/// Sets `ends_` to what is measured of the given values, of the ends of the count, beyond which
/// other eigenvalues may lie, and of the values outside of them, next to which others may lie.
template <Scalar T, class Ctx>
void NearestVerification<T, Ctx>::list_ends() {
  ends_.clear();
  end_widths_.clear();
  const auto add = [&](double value) {
    const double width = pairs_.target.tolerance * std::abs(value) + pairs_.target.rounding;
    ends_.push_back(pairs_.measured(value));
    end_widths_.push_back(pairs_.measured_error(value, width));
  };
  for (const double value : pairs_.given) add(value);
  if (!pairs_.counted) return;
  for (const double end : {pairs_.counted->lower, pairs_.counted->upper}) {
    if (!std::isfinite(end) || (end == 0 && pairs_.reciprocal)) continue;
    ends_.push_back(pairs_.measured(end));
    end_widths_.push_back(0);
  }
  for (const double value : values()) {
    if (!pairs_.counted->has(value)) add(value);
  }
}

/// Sets `own_errors_` to bounds of the errors of the values by those of θ, whose errors are about
/// ‖F x − θ x‖²/gap. They hold for a singular B, too.
template <Scalar T, class Ctx>
void NearestVerification<T, Ctx>::bound_errors() {
  own_errors_.clear();
  own_roundings_.clear();
  const LanczosRitzOf<Wide<T>>& ritz = s_->ritz;
  bounds_.clear();
  for (Index j = 0; j < ritz.order(); ++j) bounds_.add(ritz.value(j), ritz.residual(j));
  if (const auto& ends = pairs_.counted) {
    for (const double end : {ends->lower, ends->upper}) {
      if (end != pairs_.shift) bounds_.add(1 / (end - pairs_.shift), 0, false);
    }
  }
  bounds_.compute(ErrorBounds::kNoneBeyond, ErrorBounds::kNoneBeyond);
  std::vector<BoundedValue> all;
  const double of_F = rounding_of_F<T>(ritz);
  const auto add = [&](double value, double error, double rounding) {
    all.push_back({pairs_.measured(value), pairs_.measured_error(value, error),
                   pairs_.measured_error(value, rounding)});
  };
  for (const BoundedValue& each : pairs_.locked) add(each.value, each.error, 0);
  for (const Index j : pairs_.leading) {
    const double theta = std::abs(ritz.value(j));
    const double value = pairs_.ritz_values[static_cast<std::size_t>(j)];
    // The basis may not show values next to one that is not counted, and the residual has no part
    // along locked vectors.
    const bool known = !pairs_.counted || pairs_.counted->has(value);
    double error = bounds_.bound(j);
    if (!known) error = std::max(error, ritz.residual(j));
    if (others_held()) error = theta;
    add(value, error_of_inverse(theta, error), error_of_inverse(theta, of_F));
  }
  if (!improved_.empty()) all = improved_;
  const bool measured = improved_.empty() && !inverse_residuals_.empty();
  std::sort(all.begin(), all.end(),
            [](const BoundedValue& a, const BoundedValue& b) { return a.value < b.value; });
  // Residuals of Ritz pairs do not show the rounding errors of F, which stiff rows enlarge.
  std::vector<double> of_factor;
  if (!pairs_.reciprocal && improved_.empty()) {
    of_factor = F_->inverse().errors_along(context_, s_->X.columns(0, pairs_.count));
  }
  of_factor.resize(all.size(), 0.0);
  for (std::size_t j = 0; j < all.size(); ++j) {
    if (measured) {
      const double theta = std::abs(theta_of(values_[j]));
      const double error = error_of_inverse(theta, inverse_residuals_[j]);
      all[j].error = std::min(all[j].error, pairs_.measured_error(values_[j], error));
    }
    const double difference = std::abs(all[j].value - s_->verifier.values()[j]);
    own_errors_.push_back(all[j].error + difference + of_factor[j]);
    own_roundings_.push_back(all[j].rounding);
  }
}

template <Scalar T, class Ctx>
Verdict NearestVerification<T, Ctx>::judge(const EigenConvergence& convergence) {
  list_others();
  bound_errors();
  std::vector<double> near = others_, widths = other_widths_;
  near.insert(near.end(), ends_.begin(), ends_.end());
  widths.insert(widths.end(), end_widths_.begin(), end_widths_.end());
  Neighbours neighbours{.values = near, .residuals = widths, .solved = true};
  neighbours.own_bounds = own_errors_;
  neighbours.own_roundings = own_roundings_;
  return s_->verifier.judge(convergence, neighbours);
}

/// Measures the pairs in X with fresh products.
template <Scalar T, class Ctx>
Verdict NearestVerification<T, Ctx>::measure(const EigenConvergence& convergence) {
  const PhaseScope phase(context_, Phase::verify);
  NearestStorage<T, Ctx>& s = *s_;
  const Block X = s.X.columns(0, pairs_.count);
  const Block BX = s.basis.scratch();
  values_.clear();
  if (s.verifier.rayleigh_ritz(context_, problem_, Which::smallest, X, s.product.view(), BX) !=
      DenseFailure::none) {
    pairs_.count = 0;
    return {};
  }
  s.verifier.measure(context_, problem_, X, s.product.view(), BX);
  s.verifier.measure_accurately(context_, problem_, convergence, X, s.product.view(), BX);
  for (Index j = 0; j < pairs_.count; ++j) {
    values_.push_back(pairs_.measured(s.verifier.values()[static_cast<std::size_t>(j)]));
  }
  // Residuals in the basis have no part along locked and given vectors.
  inverse_residuals_.clear();
  if (others_held() && F_ && F_->inverse().shift() == pairs_.shift) {
    std::vector<double> theta;
    for (const double value : values_) theta.push_back(theta_of(value));
    inverse_residuals_ =
        residuals_of_inverse<T>(context_, *F_, problem_.B, X, theta, s.product.view(), BX);
  }
  pairs_.verified = true;
  return judge(convergence);
}

template <Scalar T, class Ctx>
double NearestVerification<T, Ctx>::error(std::size_t place) const {
  const EigenVerifier<T, Ctx>& verifier = s_->verifier;
  return pairs_.measured_error(verifier.values()[place], verifier.errors()[place]);
}

template <Scalar T, class Ctx>
bool NearestVerification<T, Ctx>::lacks_digits(bool excuses) const {
  if (!F_->inverse().graded()) return false;
  const double digits = std::max(kSixDigits, pairs_.target.tolerance);
  for (std::size_t j = 0; j < values_.size(); ++j) {
    const bool has_digits = error(j) <= digits * std::abs(values_[j]);
    if (!has_digits && !(excuses && s_->verifier.limited()[j])) return true;
  }
  return false;
}

template <Scalar T, class Ctx>
double NearestVerification<T, Ctx>::rounding(std::size_t place) const {
  const Target& target = pairs_.target;
  const double size = std::abs(values_[place]) + std::abs(target.sigma);
  const double least = std::numeric_limits<double>::epsilon() * size;
  const double own = kApart<T> * std::max(error(place), least);
  return own > 0 ? std::min(target.rounding, own) : target.rounding;
}

template <Scalar T, class Ctx>
bool NearestVerification<T, Ctx>::choose_again(Index wanted) {
  bool again = false;
  for (std::size_t j = 0; j < values_.size(); ++j) {
    again = narrow_limit(values_[j], error(j)) || again;
  }
  const auto leading = std::ssize(pairs_.leading);
  if (again || !lacks_pairs(wanted) || leading <= pairs_.further) return again;
  pairs_.further = 2 * leading;
  return true;
}

/// Narrows `Target::noise` if it lets in a value that lies beyond a limit. Whether it has.
template <Scalar T, class Ctx>
bool NearestVerification<T, Ctx>::narrow_limit(double value, double error) {
  Target& target = pairs_.target;
  const double beyond = std::max(target.lower - value, value - target.upper);
  if (!(beyond > kApart<T> * error) || beyond > target.noise) return false;
  target.noise = 0.5 * beyond;
  return true;
}

template <Scalar T, class Ctx>
void NearestVerification<T, Ctx>::report(const EigenConvergence& convergence,
                                         const std::vector<std::size_t>& places,
                                         EigenResult<T, Space>& result) {
  const EigenVerifier<T, Ctx>& verifier = s_->verifier;
  result.orthogonality = verifier.orthogonality();
  MultiVector<T, Space>& X = s_->X;
  const bool ascending = std::is_sorted(places.begin(), places.end());
  MultiVector<T, Space> ordered;
  if (!ascending) ordered = MultiVector<T, Space>(context_, X.rows(), std::ssize(places));
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::size_t j = places[i];
    const double value = verifier.values()[j];
    result.eigenvalues.push_back(values_[j]);
    result.residuals.push_back(convergence.scaled_residual(value, verifier.residuals()[j]));
    result.error_bounds.push_back(error(j));
    result.limited_by_rounding.push_back(verifier.limited()[j]);
    result.converged.push_back(verifier.passed()[j]);
    if (ascending && i == j) continue;
    copy<T>(context_, X.columns(static_cast<Index>(j), 1),
            (ascending ? X : ordered).columns(static_cast<Index>(i), 1));
  }
  if (!ascending) X = std::move(ordered);
}

/// The places of the wanted values among those of X, the nearest to σ first.
template <Scalar T, class Ctx>
std::vector<std::size_t> NearestVerification<T, Ctx>::best(Index wanted) const {
  std::vector<std::size_t> places = nearest_places(pairs_.target, values());
  if (std::ssize(places) > wanted) places.resize(static_cast<std::size_t>(wanted));
  return places;
}

template <Scalar T, class Ctx>
Index NearestVerification<T, Ctx>::inside(const CountedInterval& ends) const {
  const auto has = [&](double value) { return ends.has(value); };
  const std::span<const double> all = values();
  return std::count_if(all.begin(), all.end(), has) +
         std::count_if(pairs_.given.begin(), pairs_.given.end(), has);
}

#define HEDDLE_INSTANTIATE(T) template double rounding_of_F<T>(double) noexcept;
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

#define HEDDLE_INSTANTIATE(T, Ctx)        \
  template struct NearestStorage<T, Ctx>; \
  template class NearestVerification<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
