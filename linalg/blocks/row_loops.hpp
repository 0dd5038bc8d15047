#pragma once

#include <algorithm>
#include <heddle/linalg/base/isa.hpp>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/data/block_checks.hpp>
#include <heddle/linalg/data/small_matrix.hpp>

/// Loops over the rows of a block, in parallel.
namespace heddle {
inline namespace HEDDLE_ISA {

inline constexpr Index kMinSlabRows = 512;

/// Calls row(i) for all rows of X. An operation works on up to three blocks like X.
template <class T, class Row>
void for_each_row(const HostContext& context, const ConstBlockView<T, HostSpace>& X,
                  const Row& row) {
  if (X.empty()) return;
  const Slabs slabs = make_slabs(X.rows(), kMinSlabRows);
  parallel_for(team_size(context.threads(), 3 * bytes(X), 0), slabs.count(), [&](Index slab) {
    const Index end = slabs.end(slab);
    for (Index i = slabs.begin(slab); i < end; ++i) row(i);
  });
}

/// Whether the rows of a block follow each other without gaps.
template <class T>
bool has_no_gaps(const ConstBlockView<T, HostSpace>& X) {
  return X.ld() == X.cols();
}

/// Calls body(first row, entries) for stretches of neighbouring entries that are all entries of X:
/// its rows, or many rows at once if `together`. Rows of few entries take far longer one by one.
template <class T, class Body>
void for_each_stretch(const HostContext& context, const ConstBlockView<T, HostSpace>& X,
                      bool together, const Body& body) {
  if (!together) {
    for_each_row<T>(context, X, [&](Index i) { body(i, X.cols()); });
    return;
  }
  if (X.empty()) return;
  const Slabs slabs = make_slabs(X.rows(), kMinSlabRows);
  parallel_for(team_size(context.threads(), 3 * bytes(X), 0), slabs.count(), [&](Index slab) {
    body(slabs.begin(slab), (slabs.end(slab) - slabs.begin(slab)) * X.cols());
  });
}

/// sums[j] += Σ_i term(i, j) over the rows first … end − 1, four rows at a time, for b columns.
/// `term` is called once per entry.
template <class Term>
void add_rows(Index first, Index end, Index b, const Term& term, double* sums) {
  constexpr Index kRows = 4;
  Index i = first;
  for (; i + kRows <= end; i += kRows) {
#pragma omp simd
    for (Index j = 0; j < b; ++j) {
      double part = 0;
      for (Index r = 0; r < kRows; ++r) part += term(i + r, j);
      sums[j] += part;
    }
  }
  for (; i < end; ++i) {
#pragma omp simd
    for (Index j = 0; j < b; ++j) sums[j] += term(i, j);
  }
}

/// sums(j, 0) = Σ_s partial[s·b + j] over the slabs, in their order.
inline void add_slabs(const Slabs& slabs, const double* partial,
                      SmallView<double, HostSpace> sums) {
  const Index b = sums.rows;
  for (Index j = 0; j < b; ++j) {
    sums(j, 0) = 0;
    for (Index slab = 0; slab < slabs.count(); ++slab) sums(j, 0) += partial[slab * b + j];
  }
}

/// Computes b values per slab of rows by body(first row, end row, its b values). Returns scratch
/// memory that holds the values of slab s from index s·b on. All values are 0 before `body` is
/// called.
template <class Body>
double* per_slab(HostContext& context, const Slabs& slabs, Index b, const Body& body) {
  double* values = static_cast<double*>(
      context.scratch(sizeof(double) * static_cast<std::size_t>((slabs.count() + 1) * b)));
  std::fill_n(values, (slabs.count() + 1) * b, 0.0);
  const double entries = static_cast<double>(slabs.rows) * static_cast<double>(b);
  parallel_for(team_size(context.threads(), 3 * entries * sizeof(double), 0), slabs.count(),
               [&](Index slab) { body(slabs.begin(slab), slabs.end(slab), values + slab * b); });
  return values;
}

}  // namespace HEDDLE_ISA
}  // namespace heddle
