#include <algorithm>
#include <cmath>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/cg/loose_rows.hpp>
#include <numeric>

namespace heddle::detail {
namespace {

/// Links up to this part of a diagonal entry are rounding.
template <Scalar T>
constexpr double kRoundedLink = 10 * static_cast<double>(std::numeric_limits<RealOf<T>>::epsilon());

/// Calls entry(j, |a_ij|) for row i.
template <Scalar T, class Entry>
void for_row(const CsrView<T, HostSpace>& A, Index i, const Entry& entry) {
  for (auto k = A.row_offsets[i]; k < A.row_offsets[i + 1]; ++k) {
    entry(Index{A.columns[k]}, std::abs(static_cast<Wide<T>>(A.values[k])));
  }
}

}  // namespace

void LooseRowsSearch::Sets::reset(Index n) {
  parent_.resize(static_cast<std::size_t>(n));
  std::iota(parent_.begin(), parent_.end(), std::int32_t{0});
  size_.assign(parent_.size(), 1);
}

std::size_t LooseRowsSearch::Sets::find(Index i) {
  const auto at = [this](std::int32_t k) -> std::int32_t& {
    return parent_[static_cast<std::size_t>(k)];
  };
  auto k = static_cast<std::int32_t>(i);
  while (at(k) != k) k = at(k) = at(at(k));
  return static_cast<std::size_t>(k);
}

bool LooseRowsSearch::Sets::unite(Index i, Index j) {
  std::size_t a = find(i), b = find(j);
  if (a == b) return false;
  if (size_[a] < size_[b]) std::swap(a, b);
  parent_[b] = static_cast<std::int32_t>(a);
  size_[a] += size_[b];
  return true;
}

template <Scalar T, class Take>
void LooseRowsSearch::for_links(const CsrView<T, HostSpace>& A, const Take& take) {
  diagonal_.assign(static_cast<std::size_t>(A.rows), 0);
  for (Index i = 0; i < A.rows; ++i) {
    double own = 0, others = 0;
    for_row(A, i, [&](Index j, double a) { (i == j ? own : others) += a; });
    diagonal_[static_cast<std::size_t>(i)] = own;
    const auto terms = static_cast<double>(A.row_offsets[i + 1] - A.row_offsets[i]);
    if (own - others > terms * kRoundedLink<T> * own) take(Link{i, A.rows, own - others});
    for_row(A, i, [&](Index j, double a) {
      if (j >= i) return;
      const double least = std::min(own, diagonal_[static_cast<std::size_t>(j)]);
      if (a > kRoundedLink<T> * least) take(Link{i, j, a});
    });
  }
}

template <Scalar T>
LooseRows LooseRowsSearch::find(const CsrView<T, HostSpace>& A, double strong) {
  linked_.reset(A.rows + 1);
  weak_.clear();
  for_links(A, [&](const Link& link) {
    if (link.size >= strong) {
      linked_.unite(link.i, link.j);
    } else {
      weak_.push_back(link);
    }
  });
  std::erase_if(weak_,
                [&](const Link& link) { return linked_.find(link.i) == linked_.find(link.j); });
  if (weak_.empty()) return {};
  components_.reset(A.rows);
  for_links(A, [&](const Link& link) {
    if (link.j < A.rows) components_.unite(link.i, link.j);
  });
  std::sort(weak_.begin(), weak_.end(),
            [](const Link& a, const Link& b) { return a.size > b.size; });
  Index held = linked_.size(A.rows) - 1;
  for (Index i = 0; i < A.rows && linked_.size(A.rows) == 1; ++i) {
    held = std::max(held, linked_.size(i));
  }
  LooseRows loose;
  for (const Link& link : weak_) {
    const bool whole = link.j == A.rows && linked_.size(link.i) == components_.size(link.i);
    if (!whole && linked_.unite(link.i, link.j)) loose.link = link.size;
  }
  if (loose.link < strong) loose.count = A.rows - held;
  return loose;
}

#define HEDDLE_INSTANTIATE(T) \
  template LooseRows LooseRowsSearch::find<T>(const CsrView<T, HostSpace>&, double);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
