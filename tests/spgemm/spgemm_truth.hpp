#pragma once

#include <cmath>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/spgemm/spgemm.hpp>
#include <string>

#include "support/csr_invariants.hpp"
#include "support/tolerance.hpp"

/// What a product of sparse matrices is compared with.
namespace heddle {

/// |A|, entry by entry.
template <class T>
HostCsrMatrix<T> absolute(HostContext& host, CsrView<T, HostSpace> A) {
  HostCsrMatrix<T> result = convert<T>(host, A);
  for (Index k = 0; k < A.nnz; ++k) result.values()[k] = std::abs(A.values[k]);
  return result;
}

/// The first difference of C from A B: another pattern, or a value that differs by more than
/// rounding, whose size |A| |B| limits. Empty if there is none.
template <class T>
std::string fault_of_product(HostContext& host, CsrView<T, HostSpace> A, CsrView<T, HostSpace> B,
                             CsrView<T, HostSpace> C) {
  const std::string fault = test::csr_fault(C);
  if (!fault.empty()) return fault;
  const HostCsrMatrix<T> exact = reference_spgemm(host, A, B);
  const HostCsrMatrix<T> absolute_A = absolute(host, A);
  const HostCsrMatrix<T> absolute_B = absolute(host, B);
  const HostCsrMatrix<T> size = reference_spgemm(host, absolute_A.view(), absolute_B.view());
  if (C.rows != A.rows || C.cols != B.cols) return "another shape";
  if (C.nnz != exact.nnz()) {
    return std::to_string(C.nnz) + " entries, not " + std::to_string(exact.nnz());
  }
  const CsrView<T, HostSpace> R = exact.view();
  for (Index i = 0; i < C.rows; ++i) {
    if (C.row_offsets[i + 1] != R.row_offsets[i + 1]) return "length of row " + std::to_string(i);
    const auto terms = static_cast<double>(A.row_offsets[i + 1] - A.row_offsets[i]);
    for (Index e = R.row_offsets[i]; e < R.row_offsets[i + 1]; ++e) {
      const std::string at = "(" + std::to_string(i) + ", " + std::to_string(R.columns[e]) + ")";
      if (C.columns[e] != R.columns[e]) return "no entry " + at;
      const double error = std::abs(static_cast<double>(C.values[e]) - R.values[e]);
      const double bound = test::tolerance<T>(size.view().values[e], terms, 2);
      if (!(error <= bound)) return "value " + at + " is wrong by " + std::to_string(error);
    }
  }
  return "";
}

}  // namespace heddle
