#pragma once

#include <algorithm>
#include <heddle/linalg/base/isa.hpp>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/data/block_checks.hpp>

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
