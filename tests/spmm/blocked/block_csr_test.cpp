#include <gtest/gtest.h>

#include <cstring>
#include <heddle/linalg/base/error.hpp>
#include <heddle/spmm/blocked/block_csr.hpp>
#include <numeric>
#include <random>
#include <support/matrices.hpp>
#include <support/random_block.hpp>
#include <vector>

namespace heddle {
namespace {

using test::TestMatrix;

std::vector<std::int32_t> shuffled(Index size, unsigned seed) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(seed));
  return order;
}

/// A as a dense matrix by rows, rounded to V.
template <class V>
std::vector<float> dense(const TestMatrix<double>& A) {
  std::vector<float> entries(static_cast<std::size_t>(A.rows * A.cols), 0.0f);
  for (Index i = 0; i < A.rows; ++i) {
    for (auto k = A.offsets[static_cast<std::size_t>(i)];
         k < A.offsets[static_cast<std::size_t>(i + 1)]; ++k) {
      entries[static_cast<std::size_t>(i * A.cols + A.columns[static_cast<std::size_t>(k)])] =
          V::round(A.values[static_cast<std::size_t>(k)]).value();
    }
  }
  return entries;
}

/// The dense matrix of a block CSR matrix, by the definition of the format. Counts the blocks that
/// are entered twice or hold nothing.
template <class V>
std::vector<float> expand(const BlockCsr<V, HostSpace>& A, const BlockOrder& order, int& faults) {
  std::vector<float> entries(static_cast<std::size_t>(A.rows * A.cols), 0.0f);
  for (Index p = 0; p < A.block_rows(); ++p) {
    for (Index e = A.row_offsets[static_cast<std::size_t>(p)];
         e < A.row_offsets[static_cast<std::size_t>(p + 1)]; ++e) {
      const Index block_column = A.columns[static_cast<std::size_t>(e)];
      if (e > A.row_offsets[static_cast<std::size_t>(p)] &&
          A.columns[static_cast<std::size_t>(e - 1)] >= block_column) {
        ++faults;
      }
      bool empty = true;
      for (Index k = 0; k < A.shape.area(); ++k) {
        const float value = A.values[static_cast<std::size_t>(e * A.shape.area() + k)].value();
        const Index row = p * A.shape.height + k / A.shape.width;
        const Index column = block_column * A.shape.width + k % A.shape.width;
        if (row >= A.rows || column >= A.cols) {
          faults += value != 0 ? 1 : 0;
          continue;
        }
        if (value == 0) continue;
        empty = false;
        const Index i = order.rows.empty() ? row : order.rows[static_cast<std::size_t>(row)];
        const Index j =
            order.columns.empty() ? column : order.columns[static_cast<std::size_t>(column)];
        entries[static_cast<std::size_t>(i * A.cols + j)] = value;
      }
      faults += empty ? 1 : 0;
    }
  }
  return entries;
}

/// C = A B for numbers that V holds. Products are exact in single precision. They are added in the
/// order of storage.
template <class V>
void reference_product(const BlockCsr<V, HostSpace>& A, ConstBlockView<float, HostSpace> B,
                       BlockView<float, HostSpace> C) {
  const auto in_order = [](const Buffer<std::int32_t, HostSpace>& order, Index p) {
    return order.size() == 0 ? p : order[static_cast<std::size_t>(p)];
  };
  for (Index p = 0; p < A.rows; ++p) {
    const Index block_row = p / A.shape.height;
    for (Index n = 0; n < B.cols(); ++n) {
      float sum = 0;
      for (Index e = A.row_offsets[static_cast<std::size_t>(block_row)];
           e < A.row_offsets[static_cast<std::size_t>(block_row + 1)]; ++e) {
        for (Index j = 0; j < A.shape.width; ++j) {
          const Index q = A.columns[static_cast<std::size_t>(e)] * A.shape.width + j;
          if (q >= A.cols) break;
          const Index place = (e * A.shape.height + p % A.shape.height) * A.shape.width + j;
          sum +=
              A.values[static_cast<std::size_t>(place)].value() * B(in_order(A.column_order, q), n);
        }
      }
      C(in_order(A.row_order, p), n) = sum;
    }
  }
}

/// Products in single precision of the rounded values, entry by entry in A's own order.
template <class V>
std::vector<float> row_by_row(const TestMatrix<double>& A, ConstBlockView<float, HostSpace> B) {
  std::vector<float> C;
  for (Index i = 0; i < A.rows; ++i) {
    for (Index n = 0; n < B.cols(); ++n) {
      float sum = 0;
      for (auto k = A.offsets[static_cast<std::size_t>(i)];
           k < A.offsets[static_cast<std::size_t>(i + 1)]; ++k) {
        sum += V::round(A.values[static_cast<std::size_t>(k)]).value() *
               B(A.columns[static_cast<std::size_t>(k)], n);
      }
      C.push_back(sum);
    }
  }
  return C;
}

template <class V>
class BlockedFormats : public testing::Test {
 protected:
  static std::vector<TestMatrix<double>> matrices() {
    return {test::random_matrix<double>(83, 61, 3),       test::band_matrix<double>(70, 70, 9),
            test::power_law_matrix<double>(50, 200, 180), test::random_matrix<double>(16, 16, 0),
            test::random_matrix<double>(5, 300, 40),      TestMatrix<double>{0, 7, {0}, {}, {}}};
  }
  static std::vector<float> rounded_block(Index rows, Index N) {
    test::RandomBlock<float> random(rows, N, N, 3);
    for (float& value : random.data()) value = V::round(value).value();
    return random.data();
  }
};
using Types = testing::Types<Half, Bfloat16, Tf32>;
TYPED_TEST_SUITE(BlockedFormats, Types);

TYPED_TEST(BlockedFormats, BlocksHoldExactlyTheMatrix) {
  using V = TypeParam;
  HostContext context(2);
  for (const TestMatrix<double>& A : this->matrices()) {
    const BlockOrder orders[] = {
        {}, {shuffled(A.rows, 1), {}}, {shuffled(A.rows, 2), shuffled(A.cols, 3)}};
    for (const BlockOrder& order : orders) {
      for (const BlockShape shape : {BlockShape{16, 8}, BlockShape{16, 16}, BlockShape{8, 8}}) {
        const auto blocked = make_block_csr<V>(context, A.view(), shape, order);
        int faults = 0;
        EXPECT_EQ(expand(blocked, order, faults), dense<V>(A));
        EXPECT_EQ(faults, 0);
        EXPECT_EQ(blocked.blocks(),
                  count_blocks(context, pattern_of(A.view()), shape, order).blocks());
      }
    }
  }
}

TYPED_TEST(BlockedFormats, ProductsHaveTheBitsOfTheSumsRowByRow) {
  using V = TypeParam;
  constexpr Index kColumns = 5;
  HostContext context(2);
  for (const TestMatrix<double>& A : this->matrices()) {
    const std::vector<float> block = this->rounded_block(A.cols, kColumns);
    const ConstBlockView<float, HostSpace> B(block.data(), A.cols, kColumns, kColumns);
    const std::vector<float> expected = row_by_row<V>(A, B);
    for (const BlockOrder& order : {BlockOrder{}, BlockOrder{shuffled(A.rows, 1), {}}}) {
      for (const BlockShape shape : {BlockShape{16, 8}, BlockShape{16, 16}, BlockShape{8, 4}}) {
        std::vector<float> C(expected.size(), -1.0f);
        const BlockView<float, HostSpace> view(C.data(), A.rows, kColumns, kColumns);
        reference_product(make_block_csr<V>(context, A.view(), shape, order), B, view);
        EXPECT_EQ(C, expected);
      }
    }
  }
}

TYPED_TEST(BlockedFormats, SameBitsForEveryNumberOfThreads) {
  using V = TypeParam;
  HostContext one(1);
  HostContext three(3);
  const auto A = test::power_law_matrix<double>(700, 500, 300);
  const BlockOrder order{shuffled(A.rows, 4), {}};
  const auto equal = [](const auto& a, const auto& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(a[0])) == 0;
  };
  const auto blocks = make_block_csr<V>(one, A.view(), {16, 16}, order);
  const auto blocks3 = make_block_csr<V>(three, A.view(), {16, 16}, order);
  EXPECT_TRUE(equal(blocks.row_offsets, blocks3.row_offsets));
  EXPECT_TRUE(equal(blocks.columns, blocks3.columns));
  EXPECT_TRUE(equal(blocks.values, blocks3.values));
}

}  // namespace
}  // namespace heddle
