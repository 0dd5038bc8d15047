#include <algorithm>
#include <heddle/spgemm/band/schedule.hpp>

namespace heddle::detail {

DiagonalPairs pair_diagonals(const DiaShape& A, const DiaShape& B) {
  struct Term {
    Index offset;
    DiagonalPair pair;
  };
  std::vector<Term> terms;
  terms.reserve(A.offsets.size() * B.offsets.size());
  for (Index a = 0; a < A.diagonals(); ++a) {
    const Index shift = A.offsets[static_cast<std::size_t>(a)];
    for (Index b = 0; b < B.diagonals(); ++b) {
      const Index offset = shift + B.offsets[static_cast<std::size_t>(b)];
      if (offset <= -A.rows || offset >= B.cols) continue;
      terms.push_back({offset, {a, b, shift}});
    }
  }
  std::stable_sort(terms.begin(), terms.end(),
                   [](const Term& x, const Term& y) { return x.offset < y.offset; });
  DiagonalPairs lists;
  lists.product = {A.rows, B.cols, {}};
  for (const auto& [offset, pair] : terms) {
    if (lists.product.offsets.empty() || lists.product.offsets.back() != offset) {
      lists.product.offsets.push_back(offset);
      lists.begins.push_back(static_cast<Index>(lists.pairs.size()));
    }
    lists.pairs.push_back(pair);
  }
  lists.begins.push_back(static_cast<Index>(lists.pairs.size()));
  return lists;
}

}  // namespace heddle::detail
