#pragma once

#include <cstdint>
#include <heddle/linalg/data/views.hpp>
#include <limits>
#include <vector>

namespace heddle::detail {

/// The rows that only weak links join to the others.
struct LooseRows {
  Index count = 0;
  /// The largest w such that links of at least w connect what all links connect.
  double link = std::numeric_limits<double>::infinity();
};

/// Finds loose rows. Keeps its memory.
class LooseRowsSearch {
 public:
  /// The loose rows of a symmetric A that is not distributed. Rows i and j have a link of |a_ij|,
  /// and row i has one of a_ii − Σ_{j≠i} |a_ij| to the ground, if that is positive. Links below
  /// `strong` are weak. Rows that strong links connect to the ground are not loose. Without such
  /// rows, the largest set that strong links connect is not loose. Links that are rounding relative
  /// to the diagonal entries do not count, nor does the only one of a component of the graph of A
  /// to the ground.
  template <Scalar T>
  LooseRows find(const CsrView<T, HostSpace>& A, double strong);

 private:
  struct Link {
    Index i, j;
    double size;
  };

  /// Disjoint sets of numbers below n.
  class Sets {
   public:
    void reset(Index n);
    std::size_t find(Index i);
    /// Whether i and j were in different sets.
    bool unite(Index i, Index j);
    Index size(Index i) { return size_[find(i)]; }

   private:
    std::vector<std::int32_t> parent_;  // as wide as the columns of matrices
    std::vector<Index> size_;
  };

  /// Calls take(link) for each link. That of row i to the ground has j = n.
  template <Scalar T, class Take>
  void for_links(const CsrView<T, HostSpace>& A, const Take& take);

  std::vector<double> diagonal_;
  std::vector<Link> weak_;
  Sets linked_;      // by strong links, with the ground as row n
  Sets components_;  // of the graph of A
};

}  // namespace heddle::detail
