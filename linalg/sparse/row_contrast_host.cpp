#include <algorithm>
#include <cmath>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <heddle/linalg/sparse/row_contrast.hpp>
#include <limits>

namespace heddle {
namespace {

/// Calls take(j, |a_ij|) for the entries of row i.
template <Scalar T, class Take>
void for_row(const CsrView<T, HostSpace>& A, Index i, const Take& take) {
  for (std::int64_t e = A.row_offsets[i]; e < A.row_offsets[i + 1]; ++e) {
    take(Index{A.columns[e]}, static_cast<double>(std::abs(A.values[e])));
  }
}

template <Scalar T>
double size_of(const Buffer<T, HostSpace>& diagonal, Index i) {
  return static_cast<double>(std::abs(diagonal.data()[i]));
}

}  // namespace

template <Scalar T>
double row_span(HostContext& context, CsrView<T, HostSpace> A, CsrView<T, HostSpace> B) {
  const Buffer<T, HostSpace> diagonal = extract_diagonal(context, A);
  Buffer<T, HostSpace> mass;
  if (B.rows > 0) mass = extract_diagonal(context, B);
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  for (Index i = 0; i < A.rows; ++i) {
    double size = 0;
    for_row(A, i, [&](Index j, double entry) {
      const double other = size_of(diagonal, j);
      size = std::max(size, j != i && other > entry ? entry * (entry / other) : entry);
    });
    const double ratio = B.rows > 0 ? size / size_of(mass, i) : size;
    if (!(ratio > 0) || !std::isfinite(ratio)) continue;
    least = std::min(least, ratio);
    most = std::max(most, ratio);
  }
  return most > 0 ? most / least : 1;
}

template <Scalar T>
void mark_dominant_rows(HostContext& context, CsrView<T, HostSpace> A, double factor,
                        BlockView<T, HostSpace> marks) {
  const Buffer<T, HostSpace> diagonal = extract_diagonal(context, A);
  MultiVector<T, HostSpace> sums(context, A.rows, 1);
  absolute_row_sums<T>(context, A, sums.view());
  for (Index i = 0; i < A.rows; ++i) {
    const double own = size_of(diagonal, i);
    const double others = static_cast<double>(real_part(sums.view()(i, 0))) - own;
    marks(i, 0) = own > 0 && own >= factor * others ? T{1} : T{0};
  }
}

template <Scalar T>
void leave_out_like_neighbours(HostContext& context, CsrView<T, HostSpace> A, double factor,
                               ConstBlockView<T, HostSpace> marks, BlockView<T, HostSpace> left) {
  const Buffer<T, HostSpace> diagonal = extract_diagonal(context, A);
  for (Index i = 0; i < A.rows; ++i) {
    bool stays = marks(i, 0) != T{0};
    for_row(A, i, [&](Index j, double entry) {
      if (entry == 0 || j == i || marks(j, 0) != T{0}) return;
      stays = stays && size_of(diagonal, i) >= factor * size_of(diagonal, j);
    });
    left(i, 0) = stays ? T{1} : T{0};
  }
}

#define HEDDLE_INSTANTIATE(T)                                                              \
  template double row_span<T>(HostContext&, CsrView<T, HostSpace>, CsrView<T, HostSpace>); \
  template void mark_dominant_rows<T>(HostContext&, CsrView<T, HostSpace>, double,         \
                                      BlockView<T, HostSpace>);                            \
  template void leave_out_like_neighbours<T>(HostContext&, CsrView<T, HostSpace>, double,  \
                                             ConstBlockView<T, HostSpace>,                 \
                                             BlockView<T, HostSpace>);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
