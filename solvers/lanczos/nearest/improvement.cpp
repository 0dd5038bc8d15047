#include <algorithm>
#include <cmath>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/lanczos/nearest/nearby_shifts.hpp>
#include <heddle/solvers/lanczos/nearest/verification.hpp>
#include <numeric>

/// The improvement of measured pairs that have not passed.
namespace heddle::detail {

/// Measures the pairs in X, of which only the values have errors that further shifts reduce.
template <Scalar T, class Ctx>
void NearestVerification<T, Ctx>::take_values(const std::vector<BoundedValue>& pairs,
                                              const EigenConvergence& convergence) {
  values_.clear();
  for (const BoundedValue& pair : pairs) values_.push_back(pair.value);
  NearestStorage<T, Ctx>& s = *s_;
  s.verifier.set_values(values_);
  const Block X = s.X.columns(0, pairs_.count);
  s.verifier.measure(context_, problem_, X, s.product.view(), s.basis.scratch());
  s.verifier.measure_accurately(context_, problem_, convergence, X, s.product.view(),
                                s.basis.scratch());
  values_.assign(s.verifier.values().begin(), s.verifier.values().end());
}

template <Scalar T, class Ctx>
Verdict NearestVerification<T, Ctx>::improve(const EigenConvergence& convergence,
                                             IndefiniteInverse<T, Ctx>& inverse) {
  NearestStorage<T, Ctx>& s = *s_;
  const Block X = s.X.columns(0, pairs_.count);
  std::vector<BoundedValue> before;
  for (std::size_t j = 0; j < values_.size(); ++j) {
    before.push_back({values_[j], s.verifier.errors()[j]});
  }
  MultiVector<T, Space> kept(context_, X.rows(), X.cols());
  copy<T>(context_, std::as_const(X), kept.view());
  const auto failed = [&] {
    const std::vector<bool>& passed = s.verifier.passed();
    return s.verifier.orthonormal() ? std::count(passed.begin(), passed.end(), false)
                                    : std::ssize(passed) + 1;
  };
  const auto failed_before = failed();
  const Target target = pairs_.target;
  if (improve_with_neighbours(before, inverse)) {
    take_values(improved_, convergence);
    const Verdict verdict = judge(convergence);
    if (failed() < failed_before) return verdict;
  }
  pairs_.target = target;
  improved_.clear();
  copy<T>(context_, std::as_const(kept).view(), X);
  take_values(before, convergence);
  return judge(convergence);
}

/// The Ritz pairs that are not measured, with values that those of pairs which have not passed may
/// be mixtures of.
template <Scalar T, class Ctx>
std::vector<Index> NearestVerification<T, Ctx>::neighbours_of_failed() const {
  std::vector<Index> near;
  for (Index j = 0; j < s_->ritz.order(); ++j) {
    if (std::find(pairs_.leading.begin(), pairs_.leading.end(), j) != pairs_.leading.end())
      continue;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const double reach = kReach * std::max(std::abs(values_[i]), s_->verifier.errors()[i]);
      const double value = pairs_.ritz_values[static_cast<std::size_t>(j)];
      if (s_->verifier.passed()[i] || !(std::abs(value - values_[i]) <= reach)) continue;
      near.push_back(j);
      break;
    }
  }
  return near;
}

/// Improves X and the pairs `measured`, together with Ritz vectors of which those of X may be
/// mixtures. The nearest ones to σ are `improved_` and X. False if there are fewer than before.
template <Scalar T, class Ctx>
bool NearestVerification<T, Ctx>::improve_with_neighbours(std::vector<BoundedValue> measured,
                                                          IndefiniteInverse<T, Ctx>& inverse) {
  NearestStorage<T, Ctx>& s = *s_;
  const Block X = s.X.columns(0, pairs_.count);
  const std::vector<Index> near = neighbours_of_failed();
  const auto extra = std::ssize(near);
  MultiVector<T, Space> unordered(context_, X.rows(), X.cols() + extra);
  copy<T>(context_, std::as_const(X), unordered.columns(0, X.cols()));
  if (extra > 0) take_ritz_vectors(near, unordered.columns(X.cols(), extra));
  const double rounding = rounding_of_F<T>(s.ritz);
  for (const Index j : near) {
    measured.push_back({pairs_.ritz_values[static_cast<std::size_t>(j)],
                        error_of_inverse(s.ritz.value(j), rounding)});
  }
  std::vector<std::size_t> order(measured.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t i, std::size_t j) { return measured[i].value < measured[j].value; });
  MultiVector<T, Space> Y(context_, X.rows(), unordered.cols());
  std::vector<BoundedValue> pairs;
  std::vector<bool> passed;
  for (const std::size_t j : order) {
    copy<T>(context_, std::as_const(unordered).columns(static_cast<Index>(j), 1),
            Y.columns(std::ssize(pairs), 1));
    pairs.push_back(measured[j]);
    passed.push_back(j < s.verifier.passed().size() && s.verifier.passed()[j]);
  }
  const auto in = [](const std::vector<Index>& list, Index j) {
    return std::find(list.begin(), list.end(), j) != list.end();
  };
  std::vector<double> others;
  for (Index j = 0; j < s.ritz.order(); ++j) {
    if (in(pairs_.leading, j) || in(near, j)) continue;
    others.push_back(pairs_.ritz_values[static_cast<std::size_t>(j)]);
  }
  NearbyShifts<T, Ctx> shifts(context_, X.rows(), inverse, *F_, problem_.B, s.shape.block);
  return shifts.improve(Y.view(), pairs, passed, others) && choose(Y.view(), pairs);
}

/// Y ← the Ritz vectors of these numbers.
template <Scalar T, class Ctx>
void NearestVerification<T, Ctx>::take_ritz_vectors(const std::vector<Index>& numbers, Block Y) {
  NearestStorage<T, Ctx>& s = *s_;
  const Index k = s.basis.order(), count = Y.cols();
  SmallMatrix<Wide<T>, HostSpace> chosen(*s.host, k, count);
  SmallMatrix<Wide<T>, Space> there(context_, k, count);
  const ConstSmallView<Wide<T>, HostSpace> all = s.ritz.Z(k);
  for (Index l = 0; l < count; ++l) {
    std::copy_n(&all(0, numbers[static_cast<std::size_t>(l)]), k, &chosen.view(k, count)(0, l));
  }
  send(context_, chosen.view(k, count), there.view(k, count));
  multiply<T>(context_, 1, s.basis.V(), there.view(k, count), 0, Y);
  context_.synchronize();  // the copy reads `chosen` until then
}

/// Sets X and `improved_` to the pairs of Y nearest to σ.
template <Scalar T, class Ctx>
bool NearestVerification<T, Ctx>::choose(ConstBlockView<T, Space> Y,
                                         const std::vector<BoundedValue>& pairs) {
  std::vector<double> values;
  for (const BoundedValue& pair : pairs) {
    values.push_back(pair.value);
    narrow_limit(pair.value, pair.error + pair.rounding);
  }
  std::vector<std::size_t> places = nearest_places(pairs_.target, values);
  if (std::ssize(places) < pairs_.count) return false;
  places.resize(static_cast<std::size_t>(pairs_.count));
  std::sort(places.begin(), places.end());
  improved_.clear();
  for (const std::size_t j : places) {
    copy<T>(context_, Y.columns(static_cast<Index>(j), 1), s_->X.columns(std::ssize(improved_), 1));
    improved_.push_back(pairs[j]);
  }
  return true;
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class NearestVerification<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
