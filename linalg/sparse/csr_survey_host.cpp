#include <algorithm>
#include <cmath>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/sparse/csr_survey.hpp>
#include <limits>

namespace heddle {
namespace {

template <Scalar T>
bool is_valid_row(const CsrView<T, HostSpace>& A, Index i) {
  const std::int64_t begin = A.row_offsets[i];
  const std::int64_t end = A.row_offsets[i + 1];
  if (begin < 0 || end < begin || end > A.nnz) return false;
  if ((i == 0 && begin != 0) || (i + 1 == A.rows && end != A.nnz)) return false;
  for (std::int64_t e = begin; e < end; ++e) {
    if (A.columns[e] < 0 || A.columns[e] >= A.cols) return false;
    if (e > begin && A.columns[e] <= A.columns[e - 1]) return false;
  }
  return true;
}

/// A(i, j), 0 where it is not stored.
template <Scalar T>
Wide<T> entry(const CsrView<T, HostSpace>& A, Index i, Index j) {
  const std::int32_t* const first = A.columns + A.row_offsets[i];
  const std::int32_t* const last = A.columns + A.row_offsets[i + 1];
  const std::int32_t* const place = std::lower_bound(first, last, static_cast<std::int32_t>(j));
  return place < last && *place == j ? static_cast<Wide<T>>(A.values[place - A.columns])
                                     : Wide<T>(0);
}

double difference(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double size = std::abs(a - b);
  return std::isnan(size) ? std::numeric_limits<double>::infinity() : size;
}
double difference(std::complex<double> a, std::complex<double> b) {
  return std::hypot(difference(a.real(), b.real()), difference(a.imag(), b.imag()));
}

}  // namespace

template <Scalar T>
CsrSurvey survey(HostContext&, CsrView<T, HostSpace> A) {
  CsrSurvey found;
  for (Index i = 0; i < A.rows && found.invalid_row < 0; ++i) {
    if (!is_valid_row(A, i)) found.invalid_row = i;
  }
  if (found.invalid_row >= 0) return found;
  const bool square = A.rows == A.cols;
  if (square && A.rows > 0) found.least_diagonal = std::numeric_limits<double>::infinity();
  for (Index i = 0; i < A.rows; ++i) {
    for (std::int64_t e = A.row_offsets[i]; e < A.row_offsets[i + 1]; ++e) {
      const auto value = static_cast<Wide<T>>(A.values[e]);
      const double size = std::abs(value);
      if (std::isfinite(size)) found.largest = std::max(found.largest, size);
      found.diagonal = found.diagonal && (A.columns[e] == i || size == 0);
      if (!square) continue;
      const Wide<T> mirrored = conjugate(entry(A, A.columns[e], i));
      found.asymmetry = std::max(found.asymmetry, difference(value, mirrored));
    }
    if (square) found.least_diagonal = std::min(found.least_diagonal, real_part(entry(A, i, i)));
  }
  return found;
}

#define HEDDLE_INSTANTIATE(T) template CsrSurvey survey<T>(HostContext&, CsrView<T, HostSpace>);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
