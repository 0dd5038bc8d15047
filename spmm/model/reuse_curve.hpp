#pragma once

#include <heddle/spmm/features/features.hpp>
#include <vector>

namespace heddle::detail {

/// R(T) for every T, from the features that give it for some T: log R is linear in log T between
/// them. R(1) = 1, and R(rows) is nnz over columns.
class ReuseCurve {
 public:
  explicit ReuseCurve(const MatrixFeatures& A);

  /// R(T) for T ≥ 1.
  double at(double rows) const noexcept;

  /// The number of neighbouring rows whose rows of B, of `row_bytes` each, and whose entries of A
  /// and C, of `stream_bytes` per row of A, fit into `capacity` bytes. From 1 to the number of
  /// rows.
  double rows_within(double capacity, double row_bytes, double stream_bytes) const noexcept;

 private:
  struct Point {
    double log_rows;
    double log_reuse;
  };

  void add(double rows, double reuse);

  std::vector<Point> points_;
  double rows_;
  double row_mean_;
};

}  // namespace heddle::detail
