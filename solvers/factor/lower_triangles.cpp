#include <algorithm>
#include <heddle/solvers/factor/lower_triangles.hpp>
#include <vector>

namespace heddle::detail {
namespace {

/// Calls visit(column, a, b) for the entries of row i of A and B up to the diagonal, which is
/// visited even if neither has it. A B without rows is the identity.
template <class Visit>
void visit_lower(const CsrView<double, HostSpace>& A, const CsrView<double, HostSpace>& B, Index i,
                 const Visit& visit) {
  std::int64_t a = A.row_offsets[i], b = B.rows == 0 ? 0 : B.row_offsets[i];
  const std::int64_t a_end = A.row_offsets[i + 1], b_end = B.rows == 0 ? 0 : B.row_offsets[i + 1];
  for (Index column = -1; column < i;) {
    column = i;
    if (a < a_end) column = std::min<Index>(column, A.columns[a]);
    if (b < b_end) column = std::min<Index>(column, B.columns[b]);
    const double in_A = a < a_end && A.columns[a] == column ? A.values[a++] : 0;
    double in_B = b < b_end && B.columns[b] == column ? B.values[b++] : 0;
    if (B.rows == 0 && column == i) in_B = 1;
    visit(column, in_A, in_B);
  }
}

}  // namespace

LowerTriangles lower_triangles(HostContext& host, const CsrView<double, HostSpace>& A,
                               const CsrView<double, HostSpace>& B) {
  Index entries = 0;
  for (Index i = 0; i < A.rows; ++i) {
    visit_lower(A, B, i, [&](Index, double, double) { ++entries; });
  }
  LowerTriangles lower{HostCsrMatrix<double>(host, A.rows, A.rows, entries),
                       Buffer<double, HostSpace>(host, static_cast<std::size_t>(entries))};
  Index at = 0;
  for (Index i = 0; i < A.rows; ++i) {
    lower.A.row_offsets()[i] = at;
    visit_lower(A, B, i, [&](Index column, double a, double b) {
      lower.A.columns()[at] = static_cast<std::int32_t>(column);
      lower.A.values()[at] = a;
      lower.B.data()[at++] = b;
    });
  }
  lower.A.row_offsets()[A.rows] = at;
  return lower;
}

bool set_values(LowerTriangles& lower, const CsrView<double, HostSpace>& A) {
  const CsrView<double, HostSpace> pattern = lower.A.view();
  std::vector<double> values(static_cast<std::size_t>(pattern.nnz));
  for (Index i = 0; i < A.rows; ++i) {
    std::int64_t at = pattern.row_offsets[i];
    for (std::int64_t k = A.row_offsets[i]; k < A.row_offsets[i + 1] && A.columns[k] <= i; ++k) {
      while (pattern.columns[at] < A.columns[k]) ++at;  // the diagonal is the last one
      if (pattern.columns[at] != A.columns[k]) return false;
      values[static_cast<std::size_t>(at)] = A.values[k];
    }
  }
  std::copy(values.begin(), values.end(), lower.A.values());
  return true;
}

}  // namespace heddle::detail
