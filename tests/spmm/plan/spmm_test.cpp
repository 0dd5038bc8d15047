#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <cstring>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/context.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/spmm/spmm.hpp>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "support/matrices.hpp"
#include "support/tolerance.hpp"

namespace heddle {
namespace {

using test::TestMatrix;

constexpr Index kWidths[] = {1, 2, 3, 4, 5, 7, 8, 12, 15, 16, 17, 24, 31, 32, 33, 64, 100, 128};

template <class T>
constexpr T kNaN = std::numeric_limits<T>::quiet_NaN();

/// A block that is part of a wider one: `left` columns stand before it and `right` after it.
template <class T>
class GuardedBlock {
 public:
  GuardedBlock(Index rows, Index cols, Index left, Index right)
      : rows_(rows),
        cols_(cols),
        left_(left),
        ld_(left + cols + right),
        data_(static_cast<std::size_t>(rows * ld_ + 1)) {}

  void fill_random(unsigned seed) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (T& value : data_) value = static_cast<T>(uniform(engine));
  }
  void fill(T value) { std::fill(data_.begin(), data_.end(), value); }

  BlockView<T, HostSpace> view() { return {data_.data() + left_, rows_, cols_, ld_}; }

  bool same_outside(const GuardedBlock& other) const {
    for (Index i = 0; i < static_cast<Index>(data_.size()); ++i) {
      const Index j = i % ld_;
      const bool inside = i < rows_ * ld_ && j >= left_ && j < left_ + cols_;
      const auto at = static_cast<std::size_t>(i);
      if (!inside && std::memcmp(&data_[at], &other.data_[at], sizeof(T)) != 0) return false;
    }
    return true;
  }
  bool same_bits(const GuardedBlock& other) const {
    return std::memcmp(data_.data(), other.data_.data(), data_.size() * sizeof(T)) == 0;
  }

 private:
  Index rows_;
  Index cols_;
  Index left_;
  Index ld_;
  std::vector<T> data_;
};

struct Layout {
  Index left;
  Index right;
};

template <class T>
TestMatrix<T> absolute(TestMatrix<T> matrix) {
  for (T& value : matrix.values) value = std::abs(value);
  return matrix;
}

template <class T>
GuardedBlock<T> absolute(GuardedBlock<T> block) {
  const auto view = block.view();
  for (Index i = 0; i < view.rows(); ++i) {
    for (Index j = 0; j < view.cols(); ++j) view(i, j) = std::abs(view(i, j));
  }
  return block;
}

/// Multiplies with the plan and compares each entry with the reference, to rounding in its own sum.
template <class T>
void expect_product(HostContext& context, const SpmmPlan<T, HostContext>& plan,
                    const TestMatrix<T>& A, Index N, Layout layout, T alpha, T beta) {
  GuardedBlock<T> B(A.cols, N, layout.left, layout.right);
  GuardedBlock<T> C(A.rows, N, layout.left, layout.right);
  B.fill_random(7);
  C.fill_random(8);
  GuardedBlock<T> size = absolute(C);
  GuardedBlock<T> expected = C;
  reference_spmm<T>(static_cast<double>(alpha), A.view(), B.view(), static_cast<double>(beta),
                    expected.view());
  reference_spmm<T>(std::abs(static_cast<double>(alpha)), absolute(A).view(), absolute(B).view(),
                    std::abs(static_cast<double>(beta)), size.view());
  if (beta == T{0}) C.fill(kNaN<T>);
  const GuardedBlock<T> before = C;

  plan.multiply(context, alpha, B.view(), beta, C.view());

  EXPECT_TRUE(C.same_outside(before)) << "N = " << N << ", columns beside C changed";
  for (Index i = 0; i < A.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    const auto length = static_cast<double>(A.offsets[row + 1] - A.offsets[row]);
    for (Index j = 0; j < N; ++j) {
      ASSERT_NEAR(C.view()(i, j), expected.view()(i, j),
                  test::tolerance<T>(static_cast<double>(size.view()(i, j)), length + 2))
          << "entry (" << i << ", " << j << ") of " << A.rows << "x" << N << ", alpha " << alpha
          << ", beta " << beta;
    }
  }
}

/// All widths, in layouts with and without columns beside the block, aligned and not, and with the
/// scalings that take different paths.
template <class T>
void expect_products(const TestMatrix<T>& A) {
  HostContext context(2);
  const SpmmPlan<T, HostContext> plan(context, A.view());
  for (const Index N : kWidths) {
    const auto width = static_cast<Index>(16 / sizeof(T));
    const Index padding = (width - N % width) % width;
    for (const Layout layout : {Layout{0, padding}, Layout{0, 0}, Layout{3, 2}}) {
      expect_product<T>(context, plan, A, N, layout, T{1}, T{0});
    }
    expect_product<T>(context, plan, A, N, {3, 2}, static_cast<T>(-0.7), static_cast<T>(1.3));
    expect_product<T>(context, plan, A, N, {0, padding}, T{1}, T{1});
  }
}

template <class T>
class Spmm : public testing::Test {};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(Spmm, Scalars);

TYPED_TEST(Spmm, ReferenceIsTheDenseProduct) {
  using T = TypeParam;
  using Dense = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const TestMatrix<T> A = test::random_matrix<T>(13, 9, 4);
  Dense dense = Dense::Zero(A.rows, A.cols);
  for (Index i = 0; i < A.rows; ++i) {
    for (auto k = A.offsets[static_cast<std::size_t>(i)];
         k < A.offsets[static_cast<std::size_t>(i) + 1]; ++k) {
      const auto at = static_cast<std::size_t>(k);
      dense(i, A.columns[at]) = static_cast<double>(A.values[at]);
    }
  }
  GuardedBlock<T> B(A.cols, 5, 0, 0);
  GuardedBlock<T> C(A.rows, 5, 0, 0);
  B.fill_random(1);
  C.fill_random(2);
  Dense b(A.cols, 5);
  Dense c(A.rows, 5);
  for (Index j = 0; j < 5; ++j) {
    for (Index i = 0; i < A.cols; ++i) b(i, j) = static_cast<double>(B.view()(i, j));
    for (Index i = 0; i < A.rows; ++i) c(i, j) = static_cast<double>(C.view()(i, j));
  }
  const Dense expected = 0.5 * dense * b + 2 * c;
  reference_spmm<T>(0.5, A.view(), B.view(), 2, C.view());
  for (Index i = 0; i < A.rows; ++i) {
    for (Index j = 0; j < 5; ++j) {
      EXPECT_NEAR(C.view()(i, j), expected(i, j),
                  test::tolerance<T>(2 + static_cast<double>(A.cols), 1, 1));
    }
  }
}

TYPED_TEST(Spmm, Random) { expect_products(test::random_matrix<TypeParam>(120, 120, 9)); }

TYPED_TEST(Spmm, EmptyRows) {
  const auto A = test::random_matrix<TypeParam>(90, 90, 1);
  expect_products(A);
}

TYPED_TEST(Spmm, NoEntriesAtAll) {
  expect_products(
      test::matrix_with_pattern<TypeParam>(17, 11, [](Index) { return std::vector<Index>{}; }));
}

TYPED_TEST(Spmm, Diagonal) { expect_products(test::band_matrix<TypeParam>(61, 61, 0)); }

TYPED_TEST(Spmm, Band) { expect_products(test::band_matrix<TypeParam>(80, 80, 7)); }

TYPED_TEST(Spmm, PowerLaw) { expect_products(test::power_law_matrix<TypeParam>(150, 150, 140)); }

TYPED_TEST(Spmm, Wide) { expect_products(test::random_matrix<TypeParam>(23, 211, 20)); }

TYPED_TEST(Spmm, Tall) { expect_products(test::random_matrix<TypeParam>(211, 23, 6)); }

TYPED_TEST(Spmm, Dense) { expect_products(test::band_matrix<TypeParam>(33, 29, 33)); }

TYPED_TEST(Spmm, RowsWithEqualColumns) {
  for (const Index dofs : {2, 3, 4, 5, 6, 7}) {
    expect_products(test::node_block_matrix<TypeParam>(7, dofs));
  }
}

TYPED_TEST(Spmm, GridInStrips) {
  using T = TypeParam;
  const TestMatrix<T> A = test::grid_matrix<T>(79, 83, 3);
  HostContext context(3);
  const SpmmPlan<T, HostContext> plan(context, A.view());
  EXPECT_NE(plan.reason(8).find("strips of 3278 rows"), std::string::npos) << plan.reason(8);
  for (const Index N : {1, 8, 70}) {
    expect_product<T>(context, plan, A, N, {0, 0}, T{1}, T{0});
  }
}

TYPED_TEST(Spmm, HeavyRows) {
  using T = TypeParam;
  const Index cols = 3 * 8192 + 5;
  const TestMatrix<T> A = test::matrix_with_pattern<T>(5, cols, [&](Index i) {
    std::vector<Index> columns;
    const Index step = i == 1 || i == 4 ? 1 : 5000;
    for (Index j = 0; j < cols; j += step) columns.push_back(j);
    return columns;
  });
  HostContext context(2);
  const SpmmPlan<T, HostContext> plan(context, A.view());
  for (const Index N : {1, 3, 16, 100}) {
    expect_product<T>(context, plan, A, N, {0, 1}, T{1}, T{0});
    expect_product<T>(context, plan, A, N, {0, 0}, T{2}, static_cast<T>(0.5));
  }
}

// Blocks beyond the caches are stored past them, if aligned.
TYPED_TEST(Spmm, LargeBlocks) {
  using T = TypeParam;
  const Index N = 512 / static_cast<Index>(sizeof(T));
  const TestMatrix<T> A = test::random_matrix<T>(70000, 16, 1);
  HostContext context(2);
  const SpmmPlan<T, HostContext> plan(context, A.view());
  MultiVector<T, HostSpace> B(context, A.cols, N);
  MultiVector<T, HostSpace> C(context, A.rows, N);
  MultiVector<T, HostSpace> expected(context, A.rows, N);
  for (Index i = 0; i < A.cols; ++i) {
    for (Index j = 0; j < N; ++j) B.view()(i, j) = static_cast<T>(i - 2 * j);
  }
  plan.multiply(context, T{1}, B.view(), T{0}, C.view());
  reference_spmm<T>(1, A.view(), B.view(), 0, expected.view());
  const double scale = 2 * static_cast<double>(N) * static_cast<double>(A.cols);
  for (Index i = 0; i < A.rows; ++i) {
    for (Index j = 0; j < N; ++j) {
      ASSERT_NEAR(C.view()(i, j), expected.view()(i, j), test::tolerance<T>(scale, 1));
    }
  }
}

TYPED_TEST(Spmm, ShapesWithoutRowsOrColumns) {
  using T = TypeParam;
  HostContext context(2);
  const auto nothing = [](Index) { return std::vector<Index>{}; };
  for (const auto& [rows, cols] : {std::pair<Index, Index>{0, 0}, {0, 5}, {5, 0}}) {
    const TestMatrix<T> A = test::matrix_with_pattern<T>(rows, cols, nothing);
    const SpmmPlan<T, HostContext> plan(context, A.view());
    for (const Index N : {0, 1, 8}) {
      expect_product<T>(context, plan, A, N, {1, 1}, T{1}, T{0});
      expect_product<T>(context, plan, A, N, {1, 1}, T{1}, T{2});
    }
  }
}

TYPED_TEST(Spmm, ZeroAlphaReadsNeitherMatrixNorBlock) {
  using T = TypeParam;
  HostContext context(2);
  TestMatrix<T> A = test::random_matrix<T>(20, 20, 4);
  std::fill(A.values.begin(), A.values.end(), kNaN<T>);
  const SpmmPlan<T, HostContext> plan(context, A.view());
  GuardedBlock<T> B(20, 9, 0, 0);
  GuardedBlock<T> C(20, 9, 2, 2);
  B.fill(kNaN<T>);
  C.fill_random(3);
  GuardedBlock<T> expected = C;
  for (Index i = 0; i < 20; ++i) {
    for (Index j = 0; j < 9; ++j) expected.view()(i, j) *= 2;
  }
  plan.multiply(context, T{0}, B.view(), T{2}, C.view());
  EXPECT_TRUE(C.same_bits(expected));

  C.fill(kNaN<T>);
  plan.multiply(context, T{0}, B.view(), T{0}, C.view());
  for (Index i = 0; i < 20; ++i) {
    for (Index j = 0; j < 9; ++j) EXPECT_EQ(C.view()(i, j), T{0});
  }
}

TYPED_TEST(Spmm, SameBitsForEveryNumberOfThreads) {
  using T = TypeParam;
  const TestMatrix<T> A = test::matrix_with_pattern<T>(400, 9000, [](Index i) {
    std::vector<Index> columns;
    for (Index j = i; j < 9000; j += i == 17 ? 1 : 700) columns.push_back(j);
    return columns;
  });
  for (const Index N : {1, 7, 32}) {
    GuardedBlock<T> B(A.cols, N, 0, 0);
    B.fill_random(1);
    std::vector<GuardedBlock<T>> results;
    for (const int threads : {1, 2, 3}) {
      HostContext context(threads);
      const SpmmPlan<T, HostContext> plan(context, A.view());
      GuardedBlock<T> C(A.rows, N, 0, 0);
      plan.multiply(context, T{1}, B.view(), T{0}, C.view());
      results.push_back(C);
    }
    EXPECT_TRUE(results[1].same_bits(results[0])) << "N = " << N;
    EXPECT_TRUE(results[2].same_bits(results[0])) << "N = " << N;
  }
}

TYPED_TEST(Spmm, NeverAllocatesWhileMultiplying) {
  using T = TypeParam;
  HostContext context(2);
  const TestMatrix<T> A = test::random_matrix<T>(50, 9000, 4500);
  const SpmmPlan<T, HostContext> plan(context, A.view());
  const auto planned = context.allocation_count().allocations;
  for (const Index N : {1, 8, 100}) {
    expect_product<T>(context, plan, A, N, {0, 0}, T{1}, T{0});
  }
  EXPECT_EQ(context.allocation_count().allocations, planned);
}

TYPED_TEST(Spmm, CountsTrafficAndArithmetic) {
  using T = TypeParam;
  HostContext context(1);
  const TestMatrix<T> A = test::random_matrix<T>(30, 40, 5);
  const SpmmPlan<T, HostContext> plan(context, A.view());
  const double nnz = static_cast<double>(A.columns.size());
  EXPECT_EQ(plan.compulsory_bytes(6),
            nnz * (4 + sizeof(T)) + 31.0 * 8 + 70.0 * 6 * static_cast<double>(sizeof(T)));

  context.profile().reset();
  expect_product<T>(context, plan, A, 6, {0, 0}, T{1}, T{0});
  EXPECT_EQ(context.profile()[Phase::other].bytes, plan.compulsory_bytes(6));
  EXPECT_EQ(context.profile()[Phase::other].flops, 2 * 6 * nnz);

  context.profile().reset();
  expect_product<T>(context, plan, A, 6, {0, 0}, T{1}, T{1});
  EXPECT_EQ(context.profile()[Phase::other].bytes,
            plan.compulsory_bytes(6) + 30.0 * 6 * static_cast<double>(sizeof(T)));
}

TYPED_TEST(Spmm, NamesItsKernelAndWhy) {
  using T = TypeParam;
  HostContext context(1);
  const TestMatrix<T> A = test::node_block_matrix<T>(5, 3);
  const SpmmPlan<T, HostContext> automatic(context, A.view());
  EXPECT_EQ(automatic.kernel(8), "row_split");
  EXPECT_NE(automatic.reason(8).find("100 % of the entries"), std::string::npos)
      << automatic.reason(8);
  const SpmmPlan<T, HostContext> asked(context, A.view(), {"reference"});
  EXPECT_EQ(asked.kernel(8), "reference");
  EXPECT_EQ(asked.reason(8), "reference was asked for");
  expect_product<T>(context, asked, A, 8, {1, 0}, T{1}, static_cast<T>(0.5));
}

TYPED_TEST(Spmm, RefusesUnknownKernels) {
  HostContext context(1);
  const auto A = test::band_matrix<TypeParam>(4, 4, 1);
  try {
    const SpmmPlan<TypeParam, HostContext> plan(context, A.view(), {"row_splitt"});
    FAIL() << "accepted";
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(),
                 "SpMM kernel 'row_splitt' is not known on the host; known: auto, rule, "
                 "rule_row_mean, measure, row_split, reference");
  }
}

TYPED_TEST(Spmm, RefusesShapesThatDoNotFit) {
  using T = TypeParam;
  HostContext context(1);
  const auto A = test::random_matrix<T>(4, 6, 2);
  const SpmmPlan<T, HostContext> plan(context, A.view());
  const auto message = [&](Index b_rows, Index b_cols, Index c_rows, Index c_cols) {
    GuardedBlock<T> B(b_rows, b_cols, 0, 0);
    GuardedBlock<T> C(c_rows, c_cols, 0, 0);
    try {
      plan.multiply(context, T{1}, B.view(), T{0}, C.view());
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(message(5, 3, 4, 3), "C = A B does not fit: A is 4x6, B is 5x3, C is 4x3");
  EXPECT_EQ(message(6, 3, 6, 3), "C = A B does not fit: A is 4x6, B is 6x3, C is 6x3");
  EXPECT_EQ(message(6, 3, 4, 2), "C = A B does not fit: A is 4x6, B is 6x3, C is 4x2");
  EXPECT_EQ(message(6, 3, 4, 3), "accepted");
}

}  // namespace
}  // namespace heddle
