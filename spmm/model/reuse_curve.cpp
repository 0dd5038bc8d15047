#include <algorithm>
#include <cmath>
#include <heddle/spmm/model/reuse_curve.hpp>

namespace heddle::detail {

ReuseCurve::ReuseCurve(const MatrixFeatures& A)
    : rows_(std::max(1.0, static_cast<double>(A.rows))), row_mean_(A.row_mean) {
  points_.push_back({0, 0});
  add(8, A.reuse_8);
  add(128, A.reuse_128);
  add(2048, A.reuse_2048);
  add(32768, A.reuse_32768);
  add(rows_, static_cast<double>(A.nnz) / std::max(1.0, static_cast<double>(A.cols)));
}

void ReuseCurve::add(double rows, double reuse) {
  const Point last = points_.back();
  const double log_rows = std::log(std::min(rows, rows_));
  const double log_reuse = std::max(last.log_reuse, std::log(std::max(1.0, reuse)));
  if (log_rows > last.log_rows) {
    points_.push_back({log_rows, log_reuse});
  } else {
    points_.back().log_reuse = log_reuse;
  }
}

double ReuseCurve::at(double rows) const noexcept {
  const double log_rows = std::log(std::clamp(rows, 1.0, rows_));
  const auto after = std::find_if(points_.begin(), points_.end(), [log_rows](const Point& point) {
    return point.log_rows >= log_rows;
  });
  if (after == points_.begin()) return std::exp(points_.front().log_reuse);
  if (after == points_.end()) return std::exp(points_.back().log_reuse);
  const Point& before = *(after - 1);
  const double part = (log_rows - before.log_rows) / (after->log_rows - before.log_rows);
  return std::exp(before.log_reuse + part * (after->log_reuse - before.log_reuse));
}

double ReuseCurve::rows_within(double capacity, double row_bytes,
                               double stream_bytes) const noexcept {
  const auto fits = [&](double log_rows) {
    const double rows = std::exp(log_rows);
    return rows * (row_mean_ / at(rows) * row_bytes + stream_bytes) <= capacity;
  };
  double low = 0;
  double high = std::log(rows_);
  if (fits(high)) return rows_;
  constexpr int kSteps = 30;
  for (int step = 0; step < kSteps; ++step) {
    const double middle = (low + high) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return std::exp(low);
}

}  // namespace heddle::detail
