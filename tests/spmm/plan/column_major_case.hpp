#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <heddle/spmm/spmm.hpp>
#include <limits>
#include <vector>

#include "support/matrices.hpp"
#include "support/random_block.hpp"
#include "support/tolerance.hpp"

namespace heddle::test {

/// Blocks that are stored by columns, as the rows of their transposes, each row followed by `gap`
/// entries, and the reference by rows. For β = 0, C is NaN.
template <class T>
struct ColumnMajorCase {
  ColumnMajorCase(const TestMatrix<T>& A_of, Index N_of, Index gap, T alpha_of, T beta_of)
      : A(A_of),
        N(N_of),
        alpha(alpha_of),
        beta(beta_of),
        ldb(A.cols + gap),
        ldc(A.rows + gap),
        Bt(static_cast<std::size_t>(N * ldb), kMark),
        Ct(static_cast<std::size_t>(N * ldc), kMark),
        B(A.cols, N, N, 3),
        C(A.rows, N, N, 4) {
    for (Index i = 0; i < A.cols; ++i) {
      for (Index j = 0; j < N; ++j) Bt[static_cast<std::size_t>(j * ldb + i)] = B.view()(i, j);
    }
    for (Index i = 0; i < A.rows; ++i) {
      for (Index j = 0; j < N; ++j) {
        Ct[static_cast<std::size_t>(j * ldc + i)] =
            beta == T{0} ? std::numeric_limits<T>::quiet_NaN() : C.view()(i, j);
      }
    }
    reference_spmm<T>(static_cast<double>(alpha), A.view(), B.view(), static_cast<double>(beta),
                      C.view());
  }

  /// Expects the reference in C and nothing changed between its columns.
  void expect(const std::vector<T>& result) {
    for (Index j = 0; j < N; ++j) {
      for (Index i = 0; i < ldc; ++i) {
        const T found = result[static_cast<std::size_t>(j * ldc + i)];
        if (i >= A.rows) {
          ASSERT_EQ(found, kMark) << "behind column " << j;
          continue;
        }
        const auto row = static_cast<std::size_t>(i);
        const auto length = static_cast<double>(A.offsets[row + 1] - A.offsets[row]);
        // All operands are at most 1 in magnitude except for α, β ≤ 2.
        ASSERT_NEAR(found, C.view()(i, j), tolerance<T>(2 * length + 2, length + 2))
            << N << " columns: entry (" << i << ", " << j << ")";
      }
    }
  }

  static constexpr T kMark = T{77};

  const TestMatrix<T>& A;
  Index N;
  T alpha;
  T beta;
  Index ldb;
  Index ldc;
  std::vector<T> Bt;
  std::vector<T> Ct;
  RandomBlock<T> B;
  RandomBlock<T> C;  ///< the reference
};

/// Calls expect(case) for narrow and wide blocks, several slabs, and every kind of α and β.
template <class T, class F>
void for_column_major_cases(const TestMatrix<T>& A, const F& expect) {
  for (const Index N : {1, 2, 7, 8, 16, 33, 64, 65, 150}) {
    expect(ColumnMajorCase<T>(A, N, 0, T{1}, T{0}));
    expect(ColumnMajorCase<T>(A, N, 3, static_cast<T>(-0.7), static_cast<T>(1.3)));
    expect(ColumnMajorCase<T>(A, N, 1, T{0}, T{2}));
  }
}

}  // namespace heddle::test
