#include <fmt/format.h>

#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/spmm/triangular/level_order.hpp>

namespace heddle::detail {
namespace {

/// The position of the diagonal entry of row i: the row's end in a lower triangle, its beginning in
/// an upper one.
template <Scalar T>
std::int64_t diagonal_of(const CsrView<T, HostSpace>& A, Index i, Triangle triangle) {
  return triangle == Triangle::lower ? A.row_offsets[i + 1] - 1 : A.row_offsets[i];
}

/// Checks that every row depends on earlier rows only, because otherwise a solve would wait
/// forever.
template <Scalar T>
void check_triangle(const CsrView<T, HostSpace>& A, Triangle triangle) {
  const bool lower = triangle == Triangle::lower;
  const char* kind = lower ? "a lower" : "an upper";
  if (A.rows != A.cols) {
    throw InvalidArgument(
        fmt::format("{} triangular matrix must be square, it is {}x{}", kind, A.rows, A.cols));
  }
  for (Index i = 0; i < A.rows; ++i) {
    const std::int64_t diagonal = diagonal_of(A, i, triangle);
    bool has_diagonal = A.row_offsets[i] < A.row_offsets[i + 1];
    for (std::int64_t e = A.row_offsets[i]; e < A.row_offsets[i + 1]; ++e) {
      const Index j = A.columns[e];
      if (lower ? j > i : j < i) {
        throw InvalidArgument(
            fmt::format("row {} of {} triangular matrix has an entry in column {}", i, kind, j));
      }
      if ((j == i) != (e == diagonal)) has_diagonal = false;
    }
    if (has_diagonal) continue;
    throw InvalidArgument(
        fmt::format("row {} of {} triangular matrix must hold its diagonal entry once, at its {}",
                    i, kind, lower ? "end" : "beginning"));
  }
}

/// The level of each row: one more than the highest level of the rows it depends on.
template <Scalar T>
std::vector<std::int32_t> levels_of_rows(const CsrView<T, HostSpace>& A, Triangle triangle) {
  std::vector<std::int32_t> level(static_cast<std::size_t>(A.rows));
  for (Index k = 0; k < A.rows; ++k) {
    const Index i = triangle == Triangle::lower ? k : A.rows - 1 - k;
    std::int32_t above = 0;
    for (std::int64_t e = A.row_offsets[i]; e < A.row_offsets[i + 1]; ++e) {
      if (A.columns[e] != i) {
        above = std::max(above, level[static_cast<std::size_t>(A.columns[e])] + 1);
      }
    }
    level[static_cast<std::size_t>(i)] = above;
  }
  return level;
}

/// Sorts the rows by level, stably. Returns the index at which each level begins.
std::vector<Index> sort_by_level(const std::vector<std::int32_t>& level, std::int32_t* rows) {
  const Index count = level.empty() ? 0 : Index{*std::max_element(level.begin(), level.end())} + 1;
  std::vector<Index> begins(static_cast<std::size_t>(count) + 1);
  for (const std::int32_t l : level) ++begins[static_cast<std::size_t>(l) + 1];
  for (std::size_t l = 1; l < begins.size(); ++l) begins[l] += begins[l - 1];
  std::vector<Index> next(begins.begin(), begins.end());
  for (std::size_t i = 0; i < level.size(); ++i) {
    rows[next[static_cast<std::size_t>(level[i])]++] = static_cast<std::int32_t>(i);
  }
  return begins;
}

}  // namespace

template <Scalar T>
LevelOrder<T> order_by_levels(HostContext& context, CsrView<T, HostSpace> A, Triangle triangle) {
  check_triangle(A, triangle);
  LevelOrder<T> order{HostCsrMatrix<T>(context, A.rows, A.cols, A.nnz - A.rows),
                      {context, static_cast<std::size_t>(A.rows)},
                      {context, static_cast<std::size_t>(A.rows)},
                      {}};
  order.level_begins = sort_by_level(levels_of_rows(A, triangle), order.rows.data());
  HostCsrMatrix<T>& to = order.entries;
  to.row_offsets()[0] = 0;
  for (Index k = 0; k < A.rows; ++k) {
    const Index i = order.rows[static_cast<std::size_t>(k)];
    const std::int64_t diagonal = diagonal_of(A, i, triangle);
    const std::int64_t first = to.row_offsets()[k];
    const std::int64_t count = A.row_offsets[i + 1] - A.row_offsets[i] - 1;
    for (std::int64_t e = 0; e < count; ++e) {
      const std::int64_t from =
          triangle == Triangle::lower ? A.row_offsets[i] + e : A.row_offsets[i + 1] - 1 - e;
      to.columns()[first + e] = A.columns[from];
      to.values()[first + e] = A.values[from];
    }
    to.row_offsets()[k + 1] = first + count;
    order.inverse_diagonal[static_cast<std::size_t>(k)] = RealOf<T>{1} / A.values[diagonal];
  }
  return order;
}

void check_triangular_shapes(Index order, Shape X, Shape Y) {
  if (X.rows == order && Y.rows == order && X.cols == Y.cols) return;
  throw InvalidArgument(fmt::format("Y = A⁻¹X does not fit: A is {}x{}, X is {}x{}, Y is {}x{}",
                                    order, order, X.rows, X.cols, Y.rows, Y.cols));
}

#define HEDDLE_INSTANTIATE(T) \
  template LevelOrder<T> order_by_levels(HostContext&, CsrView<T, HostSpace>, Triangle);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
