#include <algorithm>
#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/linalg/small/dense_eigen.hpp>
#include <heddle/solvers/lanczos/nearest/nearby_shifts.hpp>
#include <limits>
#include <numeric>

namespace heddle::detail {
namespace {

/// Values that lie nearer to each other than this many times their errors share a shift.
constexpr double kOverlap = 4;

/// The distance of a shift from its group: so many times the largest error in the group, or this
/// part of the value, at most this part of the gap, and growing by this factor where the factor is
/// not certain.
constexpr double kErrorsBeside = 4;
constexpr double kBesideValue = 0.1;
constexpr double kMostOfGap = 0.4;
constexpr double kGrowth = 8;
constexpr int kTries = 5;

/// The most shifts for a group, of which each must lower the largest error by this factor.
constexpr int kRounds = 6;
constexpr double kGain = 0.5;

}  // namespace

template <Scalar T, class Ctx>
NearbyShifts<T, Ctx>::NearbyShifts(Ctx& context, Index n, IndefiniteInverse<T, Ctx>& inverse,
                                   PencilInverse<T, Ctx>& F, LinearOperator<T, Ctx>* B, Index block)
    : context_(context), inverse_(inverse), F_(F), B_(B), n_(n), block_(block), host_(1) {}

template <Scalar T, class Ctx>
bool NearbyShifts<T, Ctx>::improve(BlockView<T, Space> X, std::vector<BoundedValue>& pairs,
                                   const std::vector<bool>& passed,
                                   std::span<const double> others) {
  pairs_ = &pairs;
  std::vector<bool> done = passed;
  improved_.assign(pairs.size(), false);
  bool better = false;
  for (;;) {
    std::size_t next = pairs.size();
    for (std::size_t j = 0; j < pairs.size(); ++j) {
      const bool smaller =
          next == pairs.size() || std::abs(pairs[j].value) < std::abs(pairs[next].value);
      if (!done[j] && smaller) next = j;
    }
    if (next == pairs.size()) break;
    const Group group = group_of(next, passed);
    std::fill(done.begin() + static_cast<std::ptrdiff_t>(group.first),
              done.begin() + static_cast<std::ptrdiff_t>(group.last) + 1, true);
    if (!improve_group(X, group, others)) continue;
    std::fill(improved_.begin() + static_cast<std::ptrdiff_t>(group.first),
              improved_.begin() + static_cast<std::ptrdiff_t>(group.last) + 1, true);
    better = true;
  }
  if (better) orthogonalise(X);
  const auto smaller = [](const BoundedValue& a, const BoundedValue& b) {
    return a.value < b.value;
  };
  return better && std::is_sorted(pairs.begin(), pairs.end(), smaller);
}

/// Subtracts from each column of X its parts along the improved ones with smaller values, and from
/// those that are not improved the parts along all improved ones: a part of a vector with a large
/// value would spoil a small one.
template <Scalar T, class Ctx>
void NearbyShifts<T, Ctx>::orthogonalise(BlockView<T, Space> X) {
  const Index k = X.cols();
  MultiVector<T, Space> image(context_, n_, k);
  SmallMatrix<Wide<T>, HostSpace> G(*host_, k, k), parts(*host_, k, k);
  apply_B(X, image.view());
  fetch_gram(X, image.view(), G.view(k, k));
  const auto goes_first = [&](std::size_t i, std::size_t j) {
    if (!improved_[i]) return false;
    const double a = std::abs((*pairs_)[i].value), b = std::abs((*pairs_)[j].value);
    return !improved_[j] || a < b || (a == b && i < j);
  };
  for (Index j = 0; j < k; ++j) {
    for (Index i = 0; i < k; ++i) {
      const bool part = goes_first(static_cast<std::size_t>(i), static_cast<std::size_t>(j));
      parts.view(k, k)(i, j) = i == j ? 1 : part ? -G.view(k, k)(i, j) : 0;
    }
  }
  multiply_small(X, parts.view(k, k));
}

/// X ← X W.
template <Scalar T, class Ctx>
void NearbyShifts<T, Ctx>::multiply_small(BlockView<T, Space> X,
                                          ConstSmallView<Wide<T>, HostSpace> W) {
  SmallMatrix<Wide<T>, Space> there(context_, W.rows, W.cols);
  send(context_, W, there.view(W.rows, W.cols));
  multiply<T>(context_, 1, std::as_const(X), there.view(W.rows, W.cols), 0, X);
  context_.synchronize();  // the copy reads W until then
}

/// The group around value j.
template <Scalar T, class Ctx>
typename NearbyShifts<T, Ctx>::Group NearbyShifts<T, Ctx>::group_of(
    std::size_t j, const std::vector<bool>& passed) const {
  const std::vector<BoundedValue>& pairs = *pairs_;
  const double reach = kReach * std::max(std::abs(pairs[j].value), pairs[j].error);
  Group group{j, j};
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (passed[i] || !(std::abs(pairs[i].value - pairs[j].value) <= reach)) continue;
    group = {std::min(group.first, i), std::max(group.last, i)};
  }
  const auto overlap = [&](std::size_t i, std::size_t k) {
    return pairs[k].value - pairs[i].value <= kOverlap * (pairs[i].error + pairs[k].error);
  };
  while (group.first > 0 && overlap(group.first - 1, group.first)) --group.first;
  while (group.last + 1 < pairs.size() && overlap(group.last, group.last + 1)) ++group.last;
  return group;
}

template <Scalar T, class Ctx>
bool NearbyShifts<T, Ctx>::improve_group(BlockView<T, Space> X, const Group& group,
                                         std::span<const double> others) {
  const auto first = static_cast<Index>(group.first);
  const auto count = static_cast<Index>(group.last - group.first + 1);
  const BlockView<T, Space> of_group = X.columns(first, count);
  MultiVector<T, Space> kept(context_, n_, count);
  bool better = false;
  for (int round = 0; round < kRounds; ++round) {
    copy<T>(context_, of_group, kept.view());
    const std::vector<BoundedValue> before = *pairs_;
    const double had = largest_error(group);
    if (!factor_beside(group, others)) return better;
    if (!step(of_group, group, others) || !(largest_error(group) < had)) {
      *pairs_ = before;
      copy<T>(context_, std::as_const(kept).view(), of_group);
      return better;
    }
    better = true;
    if (largest_error(group) > kGain * had || (round > 0 && all_have_digits(group))) break;
  }
  return better;
}

template <Scalar T, class Ctx>
double NearbyShifts<T, Ctx>::largest_error(const Group& group) const {
  double largest = 0;
  for (std::size_t j = group.first; j <= group.last; ++j) {
    largest = std::max(largest, (*pairs_)[j].error);
  }
  return largest;
}

/// Whether the errors of the values are rounding.
template <Scalar T, class Ctx>
bool NearbyShifts<T, Ctx>::all_have_digits(const Group& group) const {
  constexpr auto kEpsilon = static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon());
  const auto has = [&](const BoundedValue& pair) {
    return pair.error <= kEpsilon * std::abs(pair.value);
  };
  const auto first = pairs_->begin() + static_cast<std::ptrdiff_t>(group.first);
  return std::all_of(first, pairs_->begin() + static_cast<std::ptrdiff_t>(group.last) + 1, has);
}

/// Factors A − tB for a t beside the group, on the side of its smaller end.
template <Scalar T, class Ctx>
bool NearbyShifts<T, Ctx>::factor_beside(const Group& group, std::span<const double> others) {
  const std::vector<BoundedValue>& pairs = *pairs_;
  const double low = pairs[group.first].value, high = pairs[group.last].value;
  const double sign = std::abs(low) <= std::abs(high) ? -1 : 1;
  const double edge = sign < 0 ? low : high;
  double gap = std::numeric_limits<double>::infinity();
  const auto add = [&](double value) {
    if (sign * (value - edge) > 0) gap = std::min(gap, sign * (value - edge));
  };
  for (const BoundedValue& pair : pairs) add(pair.value);
  std::for_each(others.begin(), others.end(), add);
  double distance = std::max(kErrorsBeside * largest_error(group), kBesideValue * std::abs(edge));
  for (int attempt = 0; attempt < kTries; ++attempt) {
    distance = std::min(distance, kMostOfGap * gap);
    if (!(distance > 0) || !std::isfinite(distance)) return false;
    if (inverse_.factor(context_, edge + sign * distance)) return true;
    distance *= kGrowth;
  }
  return false;
}

template <Scalar T, class Ctx>
void NearbyShifts<T, Ctx>::apply(ConstBlockView<T, Space> X, BlockView<T, Space> Y) {
  for (Index from = 0; from < X.cols(); from += block_) {
    const Index width = std::min(block_, X.cols() - from);
    F_.apply(context_, X.columns(from, width), Y.columns(from, width));
  }
}

template <Scalar T, class Ctx>
void NearbyShifts<T, Ctx>::apply_B(ConstBlockView<T, Space> X, BlockView<T, Space> Y) {
  if (B_ == nullptr) return copy<T>(context_, X, Y);
  for (Index from = 0; from < X.cols(); from += block_) {
    const Index width = std::min(block_, X.cols() - from);
    B_->apply(context_, X.columns(from, width), Y.columns(from, width));
  }
}

/// G ← XᴴY, Hermitian.
template <Scalar T, class Ctx>
void NearbyShifts<T, Ctx>::fetch_gram(ConstBlockView<T, Space> X, ConstBlockView<T, Space> Y,
                                      SmallView<Wide<T>, HostSpace> G) {
  SmallMatrix<Wide<T>, Space> product(context_, X.cols(), Y.cols());
  gram<T>(context_, X, Y, product.view(X.cols(), Y.cols()));
  fetch(context_, product.view(X.cols(), Y.cols()), G);
  for (Index j = 0; j < G.cols; ++j) {
    for (Index i = 0; i < j; ++i) {
      G(i, j) = 0.5 * (G(i, j) + conjugate(G(j, i)));
      G(j, i) = conjugate(G(i, j));
    }
  }
}

/// Column j of X ← X factors[j].
template <Scalar T, class Ctx>
void NearbyShifts<T, Ctx>::scale(BlockView<T, Space> X, std::span<const double> factors) {
  SmallMatrix<double, HostSpace> here(*host_, X.cols(), 1);
  SmallMatrix<double, Space> there(context_, X.cols(), 1);
  for (Index j = 0; j < X.cols(); ++j) {
    here.view(X.cols(), 1)(j, 0) = factors[static_cast<std::size_t>(j)];
  }
  send(context_, here.view(X.cols(), 1), there.view(X.cols(), 1));
  scale_columns<T>(context_, there.view(X.cols(), 1), X);
  context_.synchronize();  // the copy reads `here` until then
}

/// X ← X Z and FX ← F X Z for the X Z that is nearest to eigenvectors, λ ascending. Returns Θ, or
/// nothing if numbers are not finite.
template <Scalar T, class Ctx>
std::vector<double> NearbyShifts<T, Ctx>::ritz(BlockView<T, Space> X, BlockView<T, Space> FX) {
  const Index k = X.cols();
  MultiVector<T, Space> image(context_, n_, k);
  SmallMatrix<Wide<T>, HostSpace> H(*host_, k, k), G(*host_, k, k), Z(*host_, k, k),
      ordered(*host_, k, k);
  SmallMatrix<double, HostSpace> values(*host_, k, 1);
  apply_B(X, image.view());
  fetch_gram(image.view(), FX, H.view(k, k));
  fetch_gram(X, image.view(), G.view(k, k));
  DenseSolverOf<Wide<T>> dense(k);
  if (dense.solve(H.view(k, k), G.view(k, k), values.view(k, 1), Z.view(k, k)) !=
      DenseFailure::none) {
    return {};
  }
  const double* found = values.view(k, 1).data;
  std::vector<double> theta(found, found + k);
  std::vector<Index> order(theta.size());
  std::iota(order.begin(), order.end(), Index{0});
  const double t = inverse_.shift();
  const auto lambda = [&](Index j) { return t + 1 / theta[static_cast<std::size_t>(j)]; };
  std::sort(order.begin(), order.end(), [&](Index i, Index j) { return lambda(i) < lambda(j); });
  for (Index j = 0; j < k; ++j) {
    const Index from = order[static_cast<std::size_t>(j)];
    std::copy_n(&Z.view(k, k)(0, from), k, &ordered.view(k, k)(0, j));
    theta[static_cast<std::size_t>(j)] = found[from];
  }
  multiply_small(X, ordered.view(k, k));
  multiply_small(FX, ordered.view(k, k));
  return theta;
}

/// Replaces the pairs of the group by t + 1/θ with bounds from R = F X − X Θ. False if they have
/// none.
template <Scalar T, class Ctx>
bool NearbyShifts<T, Ctx>::take(ConstBlockView<T, Space> R, std::span<const double> theta,
                                const Group& group, std::span<const double> others) {
  std::vector<BoundedValue>& pairs = *pairs_;
  const Index k = R.cols();
  const double t = inverse_.shift();
  MultiVector<T, Space> image(context_, n_, k);
  SmallMatrix<Wide<T>, HostSpace> G(*host_, k, k);
  apply_B(R, image.view());
  fetch_gram(R, image.view(), G.view(k, k));
  ErrorBounds bounds;
  for (Index j = 0; j < k; ++j) {
    bounds.add(theta[static_cast<std::size_t>(j)],
               std::sqrt(std::max(0.0, real_part(G.view(k, k)(j, j)))));
  }
  const auto add = [&](double value) {
    if (value != t) bounds.add(1 / (value - t), 0, false);
  };
  for (std::size_t j = 0; j < pairs.size(); ++j) {
    if (j < group.first || j > group.last) add(pairs[j].value);
  }
  std::for_each(others.begin(), others.end(), add);
  bounds.compute(ErrorBounds::kNoneBeyond, ErrorBounds::kNoneBeyond);
  double largest = 0;
  for (const double each : theta) largest = std::max(largest, std::abs(each));
  const double rounding = rounding_of_F<T>(largest);
  for (std::size_t j = 0; j < theta.size(); ++j) {
    const double error = error_of_inverse(theta[j], bounds.bound(static_cast<Index>(j)));
    if (!std::isfinite(error) || !std::isfinite(1 / theta[j])) return false;
    pairs[group.first + j] = {t + 1 / theta[j], error, error_of_inverse(theta[j], rounding)};
  }
  return true;
}

/// A step of the formulas above with the last factor. False if numbers are not finite.
template <Scalar T, class Ctx>
bool NearbyShifts<T, Ctx>::step(BlockView<T, Space> X, const Group& group,
                                std::span<const double> others) {
  const Index k = X.cols();
  MultiVector<T, Space> product(context_, n_, k), image(context_, n_, k);
  const BlockView<T, Space> FX = product.view();
  std::vector<double> factors;
  for (std::size_t j = group.first; j <= group.last; ++j) {
    factors.push_back((*pairs_)[j].value - inverse_.shift());
  }
  apply(X, FX);
  copy<T>(context_, FX, X);
  scale(X, factors);
  apply(X, FX);
  const std::vector<double> theta = ritz(X, FX);
  if (theta.empty()) return false;
  scale(X, theta);
  axpby<T>(context_, 1, FX, -1, X);
  if (!take(X, theta, group, others)) return false;
  for (std::size_t j = 0; j < theta.size(); ++j) factors[j] = 1 / theta[j];
  scale(FX, factors);
  apply_B(FX, image.view());
  SmallMatrix<Wide<T>, HostSpace> squares(*host_, k, k);
  fetch_gram(FX, image.view(), squares.view(k, k));
  for (std::size_t j = 0; j < factors.size(); ++j) {
    const auto column = static_cast<Index>(j);
    factors[j] = 1 / std::sqrt(real_part(squares.view(k, k)(column, column)));
  }
  copy<T>(context_, FX, X);
  scale(X, factors);
  return true;
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class NearbyShifts<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
