#include <algorithm>
#include <heddle/linalg/blocks/block_ops.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/interval/filter_plan.hpp>
#include <heddle/solvers/interval/filtered_search.hpp>

namespace heddle::detail {
namespace {

/// After a test, the basis grows at least by this part of its columns before the next one.
constexpr double kTestShare = 12;

/// A test may take as long as the products since the last one, as long as the basis grows by at
/// most this part of its columns.
constexpr double kMostTestShare = 4;

/// The blocks before the first test of a check, or of a search after it.
constexpr Index kBlocksOfCheck = 3;

/// The free blocks that a round needs at least.
constexpr Index kRoomOfRound = 6;

}  // namespace

template <Scalar T, class Ctx>
FilteredSearch<T, Ctx>::FilteredSearch(Ctx& context, LinearOperator<T, Ctx>& A, Index columns,
                                       Index block, Index pairs, std::function<bool()> stop,
                                       std::uint64_t seed)
    : size_(columns),
      block_(block),
      F_(context, A, block, std::move(stop)),
      V_(context, A.row_range(), columns, block, false),
      ritz_(columns, block),
      coefficients_(context, columns, pairs) {
  V_.reset(nullptr, seed);
}

template <Scalar T, class Ctx>
bool FilteredSearch<T, Ctx>::has_room() const noexcept {
  return size_ - V_.locked() >= kRoomOfRound * block_;
}

template <Scalar T, class Ctx>
bool FilteredSearch<T, Ctx>::multiply(Ctx& context) {
  V_.multiply(context, F_);
  if (stopped()) V_.abandon_product();
  return !stopped();
}

template <Scalar T, class Ctx>
bool FilteredSearch<T, Ctx>::test_is_due() const noexcept {
  return !empty() && (full() || V_.order() >= next_test_);
}

template <Scalar T, class Ctx>
bool FilteredSearch<T, Ctx>::take_ritz_pairs(Ctx& context) {
  V_.fetch_column(context);
  if (!ritz_.solve(V_.projected().T(), V_.projected().column())) return false;
  candidates_.take(ritz_, F_.level(), (V_.order() - kept_) / block_);
  const auto k = static_cast<double>(V_.order());
  const double product =
      kPerProduct * static_cast<double>(F_.row_range().global) * static_cast<double>(F_.degree());
  const double paid = kSmallCost<Ctx> * kPerEigenproblem * k * k * k / product;
  const double grown = std::clamp(paid, k / kTestShare, k / kMostTestShare);
  next_test_ = V_.order() + std::max(block_, static_cast<Index>(grown));
  return true;
}

template <Scalar T, class Ctx>
Index FilteredSearch<T, Ctx>::collect(Ctx& context, BlockView<T, Space> X) {
  Index all = 0;
  const auto place = [&](Index count) {
    const Index first = std::min(all, X.cols());
    all += count;
    return X.columns(first, std::min(all, X.cols()) - first);
  };
  for (const auto& [first, count] : found_) {
    const BlockView<T, Space> target = place(count);
    copy<T>(context, V_.locked_vectors().columns(first, target.cols()), target);
  }
  const BlockView<T, Space> target = place(candidates_.count());
  if (target.cols() > 0) {
    const auto Z = coefficients_.view(V_.order(), target.cols());
    send(context, ritz_.Z(target.cols()), Z);
    heddle::multiply<T>(context, 1, V_.V(), Z, 0, target);
  }
  return all;
}

template <Scalar T, class Ctx>
FrontStatus FilteredSearch<T, Ctx>::lock_candidates(Ctx& context) {
  const Index active = candidates_.count();
  const bool more = !found_.empty() && active >= block_;
  const Index locked =
      more ? active : std::clamp(size_ / 2 - V_.locked(), active, candidates_.lockable());
  found_.emplace_back(V_.locked(), active);
  V_.restart(context, ritz_.Z(locked), ritz_.theta(locked));
  V_.lock(context, locked);
  if (more) {
    candidates_.begin_search();
  } else {
    candidates_.begin_check();
  }
  return draw(context, kBlocksOfCheck * block_);
}

template <Scalar T, class Ctx>
FrontStatus FilteredSearch<T, Ctx>::search_on(Ctx& context) {
  std::vector<Index> kept;
  for (const auto& [first, count] : found_) {
    for (Index j = first; j < first + count; ++j) kept.push_back(j);
  }
  V_.clear(V_.locked());
  V_.keep_locked(context, kept);
  found_.assign({{0, std::ssize(kept)}});
  candidates_.begin_search();
  return draw(context, kBlocksOfCheck * block_);
}

template <Scalar T, class Ctx>
FrontStatus FilteredSearch<T, Ctx>::start(Ctx& context, Index first_test) {
  V_.clear();
  found_.clear();
  candidates_.begin_search();
  return draw(context, first_test);
}

template <Scalar T, class Ctx>
bool FilteredSearch<T, Ctx>::thick_restart(Ctx& context) {
  const Index room = size_ - V_.locked();
  const Index active = candidates_.count();
  if (active + 3 * block_ > room) return false;
  const Index keep = active + (V_.order() - active) / 2;
  kept_ =
      room - (room - keep + block_ - 1) / block_ * block_;  // so that whole blocks fill the rest
  candidates_.restart();
  V_.restart(context, ritz_.Z(kept_), ritz_.theta(kept_));
  next_test_ = kept_ + std::max(block_, (room - kept_) / 3);
  return true;
}

template <Scalar T, class Ctx>
FrontStatus FilteredSearch<T, Ctx>::sharpen(Ctx& context, const ChebyshevInterval& spectrum,
                                            const AngleRange& range, Index degree) {
  F_.set(spectrum, range, degree);
  const Index vectors = std::max(candidates_.count(), block_);
  candidates_.begin_search();
  kept_ = 0;
  next_test_ = vectors + kBlocksOfCheck * block_;
  return V_.combine_front(context, ritz_.combination(vectors, block_));
}

/// Starts a round with a random block.
template <Scalar T, class Ctx>
FrontStatus FilteredSearch<T, Ctx>::draw(Ctx& context, Index first_test) {
  kept_ = 0;
  next_test_ = first_test;
  return V_.draw_front(context);
}

#define HEDDLE_INSTANTIATE(T, Ctx) template class FilteredSearch<T, Ctx>;
HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
