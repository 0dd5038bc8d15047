#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <heddle/spmm/spmm.hpp>
#include <string>
#include <vector>

#include "support/matrices.hpp"
#include "support/numbers.hpp"
#include "support/random_block.hpp"
#include "support/tolerance.hpp"

namespace heddle::test {

/// Columns `left` … `left + N − 1` of a wider block are multiplied, `right` stand behind them.
struct Layout {
  Index left;
  Index right;
};

/// A product C = α A B + β C to compute: its operands on the host, the reference, and the size of
/// each sum. For β = 0, C is NaN.
template <class T>
class ProductCase {
 public:
  ProductCase(const TestMatrix<T>& A, Index N, Layout layout, T alpha, T beta)
      : A_(A),
        N_(N),
        layout_(layout),
        alpha_(alpha),
        beta_(beta),
        B_(A.cols, ld(), ld(), 7),
        C_(A.rows, ld(), ld(), 8),
        expected_(C_),
        size_(C_) {
    TestMatrix<T> magnitude = A;
    RandomBlock<T> B_magnitude = B_;
    take_magnitudes(magnitude.values);
    take_magnitudes(B_magnitude.data());
    take_magnitudes(size_.data());
    reference_spmm<T>(alpha, A.view(), part(B_), beta, part(expected_));
    reference_spmm<T>(std::abs(alpha), magnitude.view(), part(B_magnitude), std::abs(beta),
                      part(size_));
    if (beta != T{0}) return;
    for (Index i = 0; i < A.rows; ++i) {
      for (Index j = 0; j < N; ++j) part(C_)(i, j) = not_a_number<T>();
    }
  }

  T alpha() const { return alpha_; }
  T beta() const { return beta_; }

  /// All memory of B and, before the product, of C.
  const std::vector<T>& B() { return B_.data(); }
  const std::vector<T>& C() { return C_.data(); }

  /// B and C as they stand in copies of that memory.
  template <class Space>
  ConstBlockView<T, Space> B_in(const Buffer<T, Space>& memory) const {
    return {memory.data() + layout_.left, A_.cols, N_, ld()};
  }
  template <class Space>
  BlockView<T, Space> C_in(Buffer<T, Space>& memory) const {
    return {memory.data() + layout_.left, A_.rows, N_, ld()};
  }

  /// All memory of C after the product by a plan on the host.
  std::vector<T> on_host(HostContext& context, const SpmmPlan<T, HostContext>& plan) {
    std::vector<T> result = C_.data();
    plan.multiply(context, alpha_, {B_.data().data() + layout_.left, A_.cols, N_, ld()}, beta_,
                  {result.data() + layout_.left, A_.rows, N_, ld()});
    return result;
  }

  /// Expects of all memory of C after the product that each entry agrees with the reference to
  /// rounding in its own sum and that nothing else has changed.
  void expect(const std::vector<T>& result, const std::string& what) {
    for (Index i = 0; i < A_.rows; ++i) {
      const auto row = static_cast<std::size_t>(i);
      const auto length = static_cast<double>(A_.offsets[row + 1] - A_.offsets[row]);
      for (Index j = 0; j < ld(); ++j) {
        const auto at = static_cast<std::size_t>(i * ld() + j);
        if (j < layout_.left || j >= layout_.left + N_) {
          ASSERT_EQ(std::memcmp(&result[at], &C_.data()[at], sizeof(T)), 0)
              << what << ": changed beside C, row " << i << ", column " << j - layout_.left;
          continue;
        }
        ASSERT_LE(distance(result[at], expected_.data()[at]),
                  tolerance<T>(std::abs(size_.data()[at]), length + 2))
            << what << ": entry (" << i << ", " << j - layout_.left << ") is "
            << text_of(result[at]) << ", not " << text_of(expected_.data()[at]);
      }
    }
  }

 private:
  Index ld() const { return layout_.left + N_ + layout_.right; }

  BlockView<T, HostSpace> part(RandomBlock<T>& block) {
    return block.view().columns(layout_.left, N_);
  }

  const TestMatrix<T>& A_;
  Index N_;
  Layout layout_;
  T alpha_;
  T beta_;
  RandomBlock<T> B_;
  RandomBlock<T> C_;
  RandomBlock<T> expected_;
  RandomBlock<T> size_;
};

}  // namespace heddle::test
