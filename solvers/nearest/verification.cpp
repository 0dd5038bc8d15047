#include <algorithm>
#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/nearest/solve.hpp>
#include <limits>

/// The verification of pairs nearest to σ, and the counts that prove them complete.
namespace heddle::detail {
namespace {

/// The places of the ends of a count within their gaps, in the order in which they are tried.
constexpr double kParts[] = {0.2, 0.35, 0.1, 0.5};

/// Ritz pairs that stand for the eigenvalues next to the verified ones.
constexpr std::size_t kOthers = 16;

}  // namespace

/// X ← the locked vectors and the leading Ritz vectors.
template <Scalar T, class Ctx>
void NearestSolve<T, Ctx>::collect() {
  NearestStorage<T, Ctx>& s = *s_;
  const auto locked = std::ssize(locked_);
  const auto leading = std::ssize(leading_);
  const Index k = s.basis.order();
  count_ = locked + leading;
  if (locked > 0) copy<T>(context_, s.basis.locked_vectors(), s.X.columns(0, locked));
  if (leading == 0) return;
  const SmallView<double, HostSpace> Z = s.chosen.view(k, leading);
  const ConstSmallView<double, HostSpace> all = s.ritz.Z(k);
  for (Index l = 0; l < leading; ++l) {
    std::copy_n(&all(0, leading_[static_cast<std::size_t>(l)]), k, &Z(0, l));
  }
  const SmallView<double, Space> there = s.coefficients.view(k, leading);
  send(context_, Z, there);
  multiply<T>(context_, 1, s.basis.V(), there, 0, s.X.columns(locked, leading));
  context_.synchronize();  // the copy reads `chosen` until then
}

/// X ← F X Θ⁻¹ in the leading Ritz vectors. The residual A x − λ B x of the new x is −B r/θ² with
/// the r = F x − θ x of the old one, and no part of the null space of B is left.
template <Scalar T, class Ctx>
void NearestSolve<T, Ctx>::refine(Index first) {
  NearestStorage<T, Ctx>& s = *s_;
  for (Index from = first; from < count_; from += s.shape.block) {
    const Index width = std::min(s.shape.block, count_ - from);
    const Block X = s.X.columns(from, width);
    const Block FX = s.product.columns(0, width);
    F_->apply(context_, X, FX);
    const SmallView<double, HostSpace> factors = s.theta.view(width, 1);
    for (Index l = 0; l < width; ++l) {
      factors(l, 0) = 1 / s.ritz.value(leading_[static_cast<std::size_t>(from - first + l)]);
    }
    const SmallView<double, Space> there = s.coefficients.view(width, 1);
    send(context_, factors, there);
    scale_columns<T>(context_, there, FX);
    copy<T>(context_, FX, X);
    context_.synchronize();  // the copy reads `theta` until then
  }
}

/// Sets `others_` to the Ritz pairs nearest to σ that are not verified.
template <Scalar T, class Ctx>
void NearestSolve<T, Ctx>::list_others() {
  others_.clear();
  other_widths_.clear();
  if (dense_) return;
  std::vector<std::size_t> rest;
  for (std::size_t j = 0; j < ritz_values_.size(); ++j) {
    const auto index = static_cast<Index>(j);
    if (std::find(leading_.begin(), leading_.end(), index) == leading_.end()) rest.push_back(j);
  }
  std::sort(rest.begin(), rest.end(), [&](std::size_t i, std::size_t j) {
    return target_.distance(ritz_values_[i]) < target_.distance(ritz_values_[j]);
  });
  rest.resize(std::min(rest.size(), kOthers));
  for (const std::size_t j : rest) {
    const double theta = s_->ritz.value(static_cast<Index>(j));
    const double residual = s_->ritz.residual(static_cast<Index>(j));
    others_.push_back(ritz_values_[j]);
    other_widths_.push_back(
        std::abs(ritz_values_[j] - lambda_at(theta + std::copysign(residual, theta))));
  }
}

/// Sets `own_errors_` to bounds of the errors of the values by those of θ, whose errors are about
/// ‖F x − θ x‖²/gap. They hold for a singular B, too.
template <Scalar T, class Ctx>
void NearestSolve<T, Ctx>::bound_errors() {
  own_errors_.clear();
  if (dense_) return;
  const LanczosRitz& ritz = s_->ritz;
  bounds_.clear();
  for (Index j = 0; j < ritz.order(); ++j) bounds_.add(ritz.value(j), ritz.residual(j));
  bounds_.compute(ErrorBounds::kNoneBeyond, ErrorBounds::kNoneBeyond);
  std::vector<BoundedValue> all = locked_;
  for (const Index j : leading_) {
    const double theta = std::abs(ritz.value(j));
    const double error = bounds_.bound(j);
    all.push_back({ritz_values_[static_cast<std::size_t>(j)],
                   error < theta ? error / (theta * (theta - error))
                                 : std::numeric_limits<double>::infinity()});
  }
  std::sort(all.begin(), all.end(),
            [](const BoundedValue& a, const BoundedValue& b) { return a.value < b.value; });
  for (std::size_t j = 0; j < all.size(); ++j) {
    own_errors_.push_back(all[j].error + std::abs(all[j].value - s_->verifier.values()[j]));
  }
}

template <Scalar T, class Ctx>
Verdict NearestSolve<T, Ctx>::judge(const EigenConvergence& convergence) {
  Neighbours neighbours{.values = others_, .residuals = other_widths_, .solved = !dense_};
  if (dense_) neighbours.below = neighbours.above = ErrorBounds::kNoneBeyond;
  neighbours.dense = dense_;
  neighbours.own_bounds = own_errors_;
  return s_->verifier.judge(convergence, neighbours);
}

/// Measures the pairs in X with fresh products.
template <Scalar T, class Ctx>
Verdict NearestSolve<T, Ctx>::measure() {
  const PhaseScope phase(context_, Phase::verify);
  NearestStorage<T, Ctx>& s = *s_;
  const Block X = s.X.columns(0, count_);
  const Block BX = s.basis.scratch();
  if (s.verifier.rayleigh_ritz(context_, problem_, Which::smallest, X, s.product.view(), BX) !=
      DenseFailure::none) {
    count_ = 0;
    return {};
  }
  s.verifier.measure(context_, problem_, X, s.product.view(), BX);
  result_.orthogonality = s.verifier.orthogonality();
  verified_ = true;
  list_others();
  bound_errors();
  return judge(convergence_);
}

/// The places of the wanted values among those of X, the nearest to σ first.
template <Scalar T, class Ctx>
std::vector<std::size_t> NearestSolve<T, Ctx>::best() const {
  const std::span<const double> values = s_->verifier.values();
  std::vector<std::size_t> places =
      nearest_places(target_, values.first(static_cast<std::size_t>(count_)));
  if (std::ssize(places) > wanted_) places.resize(static_cast<std::size_t>(wanted_));
  return places;
}

/// Claims convergence if fresh products confirm all leading pairs, and the count finds no others.
template <Scalar T, class Ctx>
Claim NearestSolve<T, Ctx>::claim() {
  if (next_ != AfterNearest::thick_restart || !all_settled()) return Claim::none;
  collect();
  refine(std::ssize(locked_));
  const Verdict verdict = measure();
  if (!verdict.confirmed()) {
    const bool may_pass = verdict.residuals && convergence_.bounds_values();
    lenient_ = may_pass && strictness_ < 1 && judge(convergence_.at_rounding()).confirmed();
    if (!lenient_) {
      strictness_ *= 0.1;
      return Claim::refuted;
    }
  }
  return count() ? Claim::confirmed : Claim::none;
}

/// Whether the counted eigenvalues are those that were found, or cannot be counted. If not, a
/// search for the others is next.
template <Scalar T, class Ctx>
bool NearestSolve<T, Ctx>::count() {
  if (missing_) {
    proven_ = inside(*missing_) == expected_;
    return true;
  }
  std::vector<double> found;
  for (const std::size_t place : best()) found.push_back(s_->verifier.values()[place]);
  for (const double part : kParts) {
    const auto ends = interval_to_count(target_, found, others_, part);
    if (!ends) return proven_ = true;
    if (engine_.stop_requested()) return true;
    const std::optional<Index> expected = counted(*ends);
    if (!expected) continue;
    const Index known = inside(*ends);
    proven_ = known == *expected;
    if (known >= *expected) return true;
    missing_ = ends;
    missed_ = *expected - known;
    expected_ = *expected;
    next_ = AfterNearest::search;
    return false;
  }
  return true;
}

/// The values of X between the ends.
template <Scalar T, class Ctx>
Index NearestSolve<T, Ctx>::inside(const CountedInterval& ends) const {
  const std::span<const double> values = s_->verifier.values();
  return std::count_if(values.begin(), values.begin() + count_,
                       [&](double value) { return ends.has(value); });
}

/// The number of eigenvalues between the ends. Nothing if a factor is not certain.
template <Scalar T, class Ctx>
std::optional<Index> NearestSolve<T, Ctx>::counted(const CountedInterval& ends) {
  engine_.begin_stage("counting eigenvalues");
  if (!inverse_.factor(context_, ends.lower)) return std::nullopt;
  const Index below = inverse_.below();
  if (!inverse_.factor(context_, ends.upper)) return std::nullopt;
  return inverse_.below() - below;
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class NearestSolve<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
