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

}  // namespace

template <Scalar T, class Ctx>
NearestStorage<T, Ctx>::NearestStorage(Ctx& context, const RowRange& rows,
                                       const NearestShape& sizes, bool pencil)
    : shape(sizes),
      basis(context, rows, sizes.max_basis, sizes.block, pencil),
      ritz(DenseEigensolver(context, sizes.max_basis), sizes.max_basis, sizes.block),
      verifier(context, rows.local, sizes.pairs, pencil),
      coefficients(context, std::max(sizes.max_basis, sizes.pairs), sizes.pairs),
      host(1),
      chosen(*host, sizes.max_basis, sizes.max_basis),
      theta(*host, std::max(sizes.max_basis, sizes.pairs), 1),
      product(context, rows.local, sizes.block),
      X(context, rows.local, sizes.pairs) {}

double NearestPairs::lambda_at(double theta) const noexcept {
  constexpr double kLeast = std::numeric_limits<double>::min();
  return shift + 1 / (std::abs(theta) < kLeast ? std::copysign(kLeast, theta) : theta);
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
  const auto locked = std::ssize(pairs_.locked);
  const auto leading = std::ssize(pairs_.leading);
  const Index k = s.basis.order();
  pairs_.count = locked + leading;
  if (locked > 0) {
    const auto first = std::ssize(pairs_.given);
    copy<T>(context_, s.basis.locked_vectors().columns(first, locked), s.X.columns(0, locked));
  }
  if (leading == 0) return;
  const SmallView<double, HostSpace> Z = s.chosen.view(k, leading);
  const ConstSmallView<double, HostSpace> all = s.ritz.Z(k);
  for (Index l = 0; l < leading; ++l) {
    std::copy_n(&all(0, pairs_.leading[static_cast<std::size_t>(l)]), k, &Z(0, l));
  }
  const SmallView<double, Space> there = s.coefficients.view(k, leading);
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
    const SmallView<double, Space> there = s.coefficients.view(width, 1);
    send(context_, factors, there);
    scale_columns<T>(context_, there, FX);
    copy<T>(context_, FX, X);
    context_.synchronize();  // the copy reads `theta` until then
  }
}

/// Sets `others_` to the Ritz pairs nearest to σ that are not verified.
template <Scalar T, class Ctx>
void NearestVerification<T, Ctx>::list_others() {
  others_.clear();
  other_widths_.clear();
  list_ends();
  std::vector<std::size_t> rest;
  for (std::size_t j = 0; j < pairs_.ritz_values.size(); ++j) {
    const auto index = static_cast<Index>(j);
    if (std::find(pairs_.leading.begin(), pairs_.leading.end(), index) == pairs_.leading.end())
      rest.push_back(j);
  }
  std::sort(rest.begin(), rest.end(), [&](std::size_t i, std::size_t j) {
    return pairs_.target.distance(pairs_.ritz_values[i]) <
           pairs_.target.distance(pairs_.ritz_values[j]);
  });
  rest.resize(std::min(rest.size(), kOthers));
  for (const std::size_t j : rest) {
    const double theta = s_->ritz.value(static_cast<Index>(j));
    const double residual = s_->ritz.residual(static_cast<Index>(j));
    others_.push_back(pairs_.ritz_values[j]);
    other_widths_.push_back(
        std::abs(pairs_.ritz_values[j] - pairs_.lambda_at(theta + std::copysign(residual, theta))));
  }
}

/// Sets `ends_` to the given values, to the ends of the count, beyond which other eigenvalues may
/// lie, and to measured values outside of them, next to which others may lie.
template <Scalar T, class Ctx>
void NearestVerification<T, Ctx>::list_ends() {
  ends_.clear();
  end_widths_.clear();
  const auto add = [&](double value) {
    ends_.push_back(value);
    end_widths_.push_back(pairs_.target.tolerance * std::abs(value) + pairs_.target.rounding);
  };
  for (const double value : pairs_.given) add(value);
  if (!pairs_.counted) return;
  for (const double end : {pairs_.counted->lower, pairs_.counted->upper}) {
    if (!std::isfinite(end)) continue;
    ends_.push_back(end);
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
  const LanczosRitz& ritz = s_->ritz;
  bounds_.clear();
  for (Index j = 0; j < ritz.order(); ++j) bounds_.add(ritz.value(j), ritz.residual(j));
  if (const auto& ends = pairs_.counted) {
    for (const double end : {ends->lower, ends->upper}) {
      bounds_.add(1 / (end - pairs_.shift), 0, false);
    }
  }
  bounds_.compute(ErrorBounds::kNoneBeyond, ErrorBounds::kNoneBeyond);
  std::vector<BoundedValue> all = pairs_.locked;
  for (const Index j : pairs_.leading) {
    const double theta = std::abs(ritz.value(j));
    const double value = pairs_.ritz_values[static_cast<std::size_t>(j)];
    // The basis may not show values next to one that is not counted, and the residual has no part
    // along locked vectors.
    const bool known = !pairs_.counted || pairs_.counted->has(value);
    double error = bounds_.bound(j);
    if (!known) error = std::max(error, ritz.residual(j));
    if (!pairs_.locked.empty() || !pairs_.given.empty()) error = theta;
    all.push_back({value, error < theta ? error / (theta * (theta - error))
                                        : std::numeric_limits<double>::infinity()});
  }
  std::sort(all.begin(), all.end(),
            [](const BoundedValue& a, const BoundedValue& b) { return a.value < b.value; });
  for (std::size_t j = 0; j < all.size(); ++j) {
    own_errors_.push_back(all[j].error + std::abs(all[j].value - s_->verifier.values()[j]));
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
  return s_->verifier.judge(convergence, neighbours);
}

/// Measures the pairs in X with fresh products.
template <Scalar T, class Ctx>
Verdict NearestVerification<T, Ctx>::measure(const EigenConvergence& convergence) {
  const PhaseScope phase(context_, Phase::verify);
  NearestStorage<T, Ctx>& s = *s_;
  const Block X = s.X.columns(0, pairs_.count);
  const Block BX = s.basis.scratch();
  if (s.verifier.rayleigh_ritz(context_, problem_, Which::smallest, X, s.product.view(), BX) !=
      DenseFailure::none) {
    pairs_.count = 0;
    return {};
  }
  s.verifier.measure(context_, problem_, X, s.product.view(), BX);
  pairs_.verified = true;
  return judge(convergence);
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

#define HEDDLE_INSTANTIATE(T, Ctx)        \
  template struct NearestStorage<T, Ctx>; \
  template class NearestVerification<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
