#pragma once

#include <heddle/linalg/data/small_matrix.hpp>
#include <heddle/linalg/data/views.hpp>
#include <random>
#include <vector>

#include "support/numbers.hpp"

namespace heddle::test {

/// An n×b host block with entries uniform in (−1, 1), as are both parts of complex ones. The
/// padding between b and ld is NaN.
template <class T>
class RandomBlock {
 public:
  RandomBlock(Index rows, Index cols, Index ld, unsigned seed)
      : data_(static_cast<std::size_t>(rows * ld), not_a_number<T>()),
        rows_(rows),
        cols_(cols),
        ld_(ld) {
    std::mt19937_64 bits(seed);
    std::uniform_real_distribution<RealOf<T>> uniform(-1, 1);
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < cols; ++j) view()(i, j) = drawn<T>([&] { return uniform(bits); });
    }
  }

  BlockView<T, HostSpace> view() { return {data_.data(), rows_, cols_, ld_}; }

  /// The whole memory, including the padding.
  std::vector<T>& data() { return data_; }

 private:
  std::vector<T> data_;
  Index rows_;
  Index cols_;
  Index ld_;
};

/// A small matrix with entries uniform in (−1, 1).
class RandomSmall {
 public:
  RandomSmall(Index rows, Index cols, unsigned seed)
      : data_(static_cast<std::size_t>(rows * cols)), rows_(rows), cols_(cols) {
    std::mt19937_64 bits(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (double& value : data_) value = uniform(bits);
  }

  SmallView<double, HostSpace> view() { return {data_.data(), rows_, cols_, rows_}; }
  std::vector<double>& data() { return data_; }

 private:
  std::vector<double> data_;
  Index rows_;
  Index cols_;
};

}  // namespace heddle::test
