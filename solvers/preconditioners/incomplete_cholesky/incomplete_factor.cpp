#include <algorithm>
#include <cmath>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/solvers/preconditioners/incomplete_cholesky/incomplete_factor.hpp>
#include <heddle/solvers/preconditioners/inverse_diagonal.hpp>
#include <utility>
#include <vector>

namespace heddle::detail {
namespace {

/// The lower triangle of S A S for S = diag(scale), in double. The diagonal entry, 1, ends each
/// row.
template <WideScalar W>
struct ScaledTriangle {
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> columns;
  std::vector<W> values;

  std::int64_t begin(Index i) const { return offsets[static_cast<std::size_t>(i)]; }
  std::int64_t diagonal(Index i) const { return offsets[static_cast<std::size_t>(i) + 1] - 1; }
  Index column(std::int64_t e) const { return columns[static_cast<std::size_t>(e)]; }
  W& value(std::int64_t e) { return values[static_cast<std::size_t>(e)]; }
};

template <Scalar T>
ScaledTriangle<Wide<T>> scaled_triangle(const CsrView<T, HostSpace>& A,
                                        const std::vector<double>& scale) {
  ScaledTriangle<Wide<T>> L;
  L.offsets.reserve(static_cast<std::size_t>(A.rows) + 1);
  L.columns.reserve(static_cast<std::size_t>(A.nnz / 2 + A.rows));
  L.values.reserve(L.columns.capacity());
  for (Index i = 0; i < A.rows; ++i) {
    for (std::int64_t e = A.row_offsets[i]; e < A.row_offsets[i + 1] && A.columns[e] < i; ++e) {
      const auto j = static_cast<std::size_t>(A.columns[e]);
      L.columns.push_back(A.columns[e]);
      L.values.push_back(scale[static_cast<std::size_t>(i)] * static_cast<Wide<T>>(A.values[e]) *
                         scale[j]);
    }
    L.columns.push_back(static_cast<std::int32_t>(i));
    L.values.push_back(1);
    L.offsets.push_back(static_cast<std::int64_t>(L.columns.size()));
  }
  return L;
}

/// Σ_{k<j} l_ik conj(l_jk) over the columns k that both rows store.
template <WideScalar W>
W row_product(ScaledTriangle<W>& L, Index i, Index j) {
  W sum = 0;
  std::int64_t p = L.begin(i);
  std::int64_t q = L.begin(j);
  while (q < L.diagonal(j) && L.column(p) < j) {
    if (L.column(p) == L.column(q)) {
      sum += product(L.value(p++), conjugate(L.value(q++)));
    } else if (L.column(p) < L.column(q)) {
      ++p;
    } else {
      ++q;
    }
  }
  return sum;
}

/// Replaces L, the lower triangle of Â = S A S, by the factor of Â + shift·I, row by row. Returns
/// false at the first pivot that is not acceptable.
template <WideScalar W>
bool factor(ScaledTriangle<W>& L, double shift) {
  const Index n = static_cast<Index>(L.offsets.size()) - 1;
  for (Index i = 0; i < n; ++i) {
    double pivot = 1 + shift;
    for (std::int64_t e = L.begin(i); e < L.diagonal(i); ++e) {
      const Index j = L.column(e);
      const W l = (L.value(e) - row_product(L, i, j)) / real_part(L.value(L.diagonal(j)));
      L.value(e) = l;
      pivot -= squared(l);
    }
    if (!(pivot > kSmallestPivot)) return false;
    L.value(L.diagonal(i)) = std::sqrt(pivot);
  }
  return true;
}

/// L ← I.
template <WideScalar W>
void keep_diagonal(ScaledTriangle<W>& L) {
  std::fill(L.values.begin(), L.values.end(), W{});
  for (std::size_t i = 1; i < L.offsets.size(); ++i) L.value(L.offsets[i] - 1) = 1;
}

}  // namespace

template <Scalar T>
IncompleteFactor<T> incomplete_cholesky(HostContext& context, CsrView<T, HostSpace> A) {
  const Buffer<T, HostSpace> inverse = inverse_diagonal<T>(context, A);
  std::vector<double> scale(inverse.size());
  for (std::size_t i = 0; i < scale.size(); ++i) {
    scale[i] = std::sqrt(static_cast<double>(real_part(inverse[i])));
  }
  ScaledTriangle<Wide<T>> L = scaled_triangle(A, scale);
  const std::vector<Wide<T>> values = std::move(L.values);
  IncompleteFactor<T> result;
  const bool found = find_shift(result, [&](double shift) {
    L.values = values;
    return factor(L, shift);
  });
  if (!found) keep_diagonal(L);
  result.L = HostCsrMatrix<T>(context, A.rows, A.cols, static_cast<Index>(L.columns.size()));
  std::copy(L.offsets.begin(), L.offsets.end(), result.L.row_offsets());
  std::copy(L.columns.begin(), L.columns.end(), result.L.columns());
  for (Index i = 0; i < A.rows; ++i) {  // undo the scaling: L ← S⁻¹ L
    for (std::int64_t e = L.begin(i); e <= L.diagonal(i); ++e) {
      result.L.values()[e] = static_cast<T>(L.value(e) / scale[static_cast<std::size_t>(i)]);
    }
  }
  return result;
}

#define HEDDLE_INSTANTIATE(T) \
  template IncompleteFactor<T> incomplete_cholesky(HostContext&, CsrView<T, HostSpace>);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::detail
