#include <fmt/format.h>

#include <algorithm>
#include <heddle/apps/info/pencil_report.hpp>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/linalg/sparse/csr_ops.hpp>
#include <limits>

namespace heddle::apps {
namespace {

template <WideScalar W>
using MatrixView = CsrView<W, HostSpace>;

template <WideScalar W>
bool is_empty_row(const MatrixView<W>& A, Index i) {
  return std::all_of(A.values + A.row_offsets[i], A.values + A.row_offsets[i + 1],
                     [](W value) { return value == W{}; });
}

template <WideScalar W>
void count_empty_rows(const MatrixView<W>& K, const MatrixView<W>& M, PencilReport& report) {
  for (Index i = 0; i < M.rows; ++i) {
    if (!is_empty_row(M, i)) continue;
    if (report.massless++ == 0) report.first_massless = i;
    if (!is_empty_row(K, i)) continue;
    if (report.empty++ == 0) report.first_empty = i;
  }
}

/// Rayleigh quotients of the unit vectors.
template <WideScalar W>
SpectrumEnds quotients_of_diagonals(HostContext& context, const MatrixView<W>& K,
                                    const MatrixView<W>& M) {
  const Buffer<W, HostSpace> k = extract_diagonal(context, K);
  const Buffer<W, HostSpace> m = extract_diagonal(context, M);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  SpectrumEnds ends{kInfinity, -kInfinity};
  for (std::size_t i = 0; i < k.size(); ++i) {
    const double quotient = real_part(k.data()[i]) / real_part(m.data()[i]);
    ends.lower = std::min(ends.lower, quotient);
    ends.upper = std::max(ends.upper, quotient);
  }
  return ends;
}

/// Whether nothing that was seen of M speaks against a positive definite one.
bool may_be_definite(const MatrixReport& mass) {
  return mass.symmetric && mass.diagonal && mass.diagonal->not_positive == 0 &&
         mass.ritz->lower >= 0;
}

}  // namespace

template <WideScalar W>
PencilReport inspect_pencil(HostContext& context, const std::string& stiffness,
                            CsrView<W, HostSpace> K, const std::string& name,
                            CsrView<W, HostSpace> M) {
  if (K.rows != K.cols) {
    throw InvalidArgument(fmt::format("{}: a pencil needs a square matrix, this one is {} x {}",
                                      stiffness, K.rows, K.cols));
  }
  if (M.rows != K.rows || M.cols != K.cols) {
    throw InvalidArgument(fmt::format("{} is {} x {}, the mass matrix {} is {} x {}", stiffness,
                                      K.rows, K.cols, name, M.rows, M.cols));
  }
  PencilReport report;
  report.mass = inspect(context, name, M, {});
  report.diagonal = is_diagonal(M);
  for (Index k = 0; k < M.nnz; ++k) report.sum += real_part(M.values[k]);
  count_empty_rows(K, M, report);
  if (may_be_definite(report.mass)) report.quotients = quotients_of_diagonals(context, K, M);
  return report;
}

template PencilReport inspect_pencil(HostContext&, const std::string&, CsrView<double, HostSpace>,
                                     const std::string&, CsrView<double, HostSpace>);
template PencilReport inspect_pencil(HostContext&, const std::string&,
                                     CsrView<std::complex<double>, HostSpace>, const std::string&,
                                     CsrView<std::complex<double>, HostSpace>);

}  // namespace heddle::apps
