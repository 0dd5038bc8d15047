#pragma once

#include <heddle/linalg/base/isa.hpp>
#include <heddle/spmm/kernels/product.hpp>
#include <vector>

namespace heddle::detail {

/// `complex_rows` for one instruction set.
template <Isa kVariant, ComplexScalar T>
void complex_rows_kernel(const SpmmProduct<T, HostSpace>& product, const std::vector<Index>& chunks,
                         int threads);

/// The product with α ≠ 0 of a complex matrix, vectorised over the columns of B. A row of complex
/// numbers b is loaded as a row of real ones, of which the kernel sums Σ Re(a) b and Σ Im(a) b. The
/// second sum is turned by i once per row, so that the loop over entries has no shuffles. Threads
/// take the rows chunks[c] … chunks[c + 1] − 1 in turn.
///
/// Deterministic: each entry of C is one sum in the order of the row, and then of the terms.
/// Operands whose coefficient is 0 are not read. The caller checks the shapes.
template <ComplexScalar T>
void complex_rows(const SpmmProduct<T, HostSpace>& product, const std::vector<Index>& chunks,
                  int threads) {
  with_host_isa([&](auto isa) { complex_rows_kernel<isa()>(product, chunks, threads); });
}

/// The first rows of pieces of about equal work of the rows of A, and A.rows.
template <ComplexScalar T>
std::vector<Index> row_chunks(const CsrView<T, HostSpace>& A) {
  constexpr Index kWork = 8192;  // entries, and rows
  std::vector<Index> chunks{0};
  for (Index i = 0; i < A.rows; ++i) {
    const Index first = chunks.back();
    const Index entries = A.row_offsets[i + 1] - A.row_offsets[first];
    if (entries + i - first >= kWork) chunks.push_back(i + 1);
  }
  if (chunks.back() != A.rows) chunks.push_back(A.rows);
  return chunks;
}

}  // namespace heddle::detail
