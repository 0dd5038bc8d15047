#include <algorithm>
#include <cstring>
#include <heddle/linalg/base/error.hpp>
#include <initializer_list>

#include "spmm/kernels/row_per_thread.hpp"
#include "spmm/plan/spmm_cuda_fixture.hpp"

namespace heddle {
namespace {

using test::all_kernels;
using test::Case;
using test::DeviceMatrix;
using test::kernels_for;
using test::Layout;
using test::number;
using test::SpmmCuda;
using test::TestMatrix;
using test::upload;

TYPED_TEST_SUITE(SpmmCuda, test::SpmmScalars);

/// Kernels that take real matrices only.
template <class T>
class SpmmCudaOfRealMatrices : public SpmmCuda<T> {};
using RealScalars = testing::Types<float, double>;
TYPED_TEST_SUITE(SpmmCudaOfRealMatrices, RealScalars);

TYPED_TEST(SpmmCuda, Random) { this->expect_products(test::random_matrix<TypeParam>(120, 120, 9)); }

TYPED_TEST(SpmmCuda, EmptyRows) {
  this->expect_products(test::random_matrix<TypeParam>(90, 90, 1));
}

TYPED_TEST(SpmmCuda, ManyEmptyRowsAtBothEndsAndBetween) {
  this->expect_products(test::matrix_with_pattern<TypeParam>(700, 60, [](Index i) {
    std::vector<Index> columns;
    if (i == 150 || i == 151 || i == 420) {
      for (Index j = i % 7; j < 60; ++j) columns.push_back(j);
    }
    return columns;
  }));
}

TYPED_TEST(SpmmCuda, NoEntriesAtAll) {
  this->expect_products(
      test::matrix_with_pattern<TypeParam>(17, 11, [](Index) { return std::vector<Index>{}; }));
}

TYPED_TEST(SpmmCuda, Diagonal) { this->expect_products(test::band_matrix<TypeParam>(61, 61, 0)); }

TYPED_TEST(SpmmCuda, Band) { this->expect_products(test::band_matrix<TypeParam>(80, 80, 7)); }

TYPED_TEST(SpmmCuda, WideBand) {
  this->expect_products(test::band_matrix<TypeParam>(300, 300, 60));
}

/// The first `rows` rows of the 27-point stencil on nx × ny × … points.
template <class T>
TestMatrix<T> stencil(Index nx, Index ny, Index rows) {
  return test::matrix_with_pattern<T>(rows, rows, [=](Index i) {
    std::vector<Index> columns;
    for (Index z = -1; z <= 1; ++z) {
      for (Index y = -1; y <= 1; ++y) {
        for (Index x = -1; x <= 1; ++x) {
          const Index column = i + x + nx * (y + ny * z);
          const bool inside = i % nx + x >= 0 && i % nx + x < nx && i / nx % ny + y >= 0 &&
                              i / nx % ny + y < ny && column >= 0 && column < rows;
          if (inside) columns.push_back(column);
        }
      }
    }
    return columns;
  });
}

// Blocks of rows are boxes of the grid. The last row of the grid is incomplete.
TYPED_TEST(SpmmCuda, Stencil) { this->expect_products(stencil<TypeParam>(13, 9, 13 * 9 * 7 - 5)); }

// Row blocks of 128 rows, whose warps have several panels: the grid has more of them than the
// device holds thread blocks, the band long parts of A, for which stripes are widest.
TYPED_TEST(SpmmCudaOfRealMatrices, TensorCoresOnRowBlocksOfManyPanels) {
  using T = TypeParam;
  const auto expect = [&](const TestMatrix<T>& A, std::initializer_list<Index> widths) {
    const DeviceMatrix<T> device(this->context(), A);
    const SpmmPlan<T, CudaContext> plan(this->context(), device.view(), {"staged_mma"});
    for (const Index N : widths) {
      for (const Layout layout : {Layout{0, 0}, Layout{0, (4 - N % 4) % 4}, Layout{3, 2}}) {
        Case<T> product(A, N, layout, static_cast<T>(-0.7),
                        static_cast<T>(layout.left == 0 ? 0 : 1.3));
        product.expect(product.multiply(this->context(), plan),
                       std::to_string(A.rows) + " rows, N " + std::to_string(N));
        if (this->HasFatalFailure()) return;
      }
    }
  };
  expect(stencil<T>(41, 40, 41 * 40 * 33 - 5), {13, 33});
  expect(test::band_matrix<T>(13'000, 13'000, 100), {1, 8, 16, 31, 64, 100});
}

TYPED_TEST(SpmmCuda, PowerLaw) {
  this->expect_products(test::power_law_matrix<TypeParam>(150, 150, 140));
}

TYPED_TEST(SpmmCuda, Wide) { this->expect_products(test::random_matrix<TypeParam>(23, 211, 20)); }

TYPED_TEST(SpmmCuda, Tall) { this->expect_products(test::random_matrix<TypeParam>(211, 23, 6)); }

TYPED_TEST(SpmmCuda, Dense) { this->expect_products(test::band_matrix<TypeParam>(33, 29, 33)); }

TYPED_TEST(SpmmCuda, RowsWithEqualColumns) {
  this->expect_products(test::node_block_matrix<TypeParam>(13, 3));
}

TYPED_TEST(SpmmCudaOfRealMatrices, NodeBlocksOfAllSizes) {
  for (Index b = 2; b <= 8; ++b) {
    const TestMatrix<TypeParam> A = test::random_node_matrix<TypeParam>(150, 151, b, 4);
    const DeviceMatrix<TypeParam> device(this->context(), A);
    const SpmmPlan<TypeParam, CudaContext> plan(this->context(), device.view(), {"node_block"});
    for (const Index N : {1, 2, 3, 5, 7, 8, 11, 12, 16, 21, 33, 40, 64, 130}) {
      for (const Layout layout : {Layout{0, 0}, Layout{0, (4 - N % 4) % 4}, Layout{3, 2}}) {
        Case<TypeParam> product(A, N, layout, static_cast<TypeParam>(-0.7),
                                static_cast<TypeParam>(layout.left == 0 ? 0 : 1.3));
        product.expect(product.multiply(this->context(), plan),
                       "b " + std::to_string(b) + ", N " + std::to_string(N));
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(SpmmCuda, OneRow) { this->expect_products(test::band_matrix<TypeParam>(1, 300, 300)); }

TYPED_TEST(SpmmCuda, HeavyRowsAcrossBlocks) {
  const Index cols = 6000;
  this->expect_products(test::matrix_with_pattern<TypeParam>(9, cols, [&](Index i) {
    std::vector<Index> columns;
    for (Index j = i; j < cols; j += i == 1 || i == 2 || i == 7 ? 1 : 1500) columns.push_back(j);
    return columns;
  }));
}

// More teams than a warp has lanes carry parts of one row.
TYPED_TEST(SpmmCuda, ARowWithManyCarries) {
  const Index cols = 60000;
  const TestMatrix<TypeParam> A = test::matrix_with_pattern<TypeParam>(700, cols, [&](Index i) {
    std::vector<Index> columns;
    for (Index j = i % 5; j < cols; j += i == 350 ? 1 : 20000) columns.push_back(j);
    return columns;
  });
  const DeviceMatrix<TypeParam> device(this->context(), A);
  for (const std::string& kernel :
       kernels_for<TypeParam>({"row_parallel", "merge", "merge_path", "nonzero_parallel",
                               "narrow_merge", "staged_segments"})) {
    const SpmmPlan<TypeParam, CudaContext> plan(this->context(), device.view(), {kernel});
    for (const Index N : {1, 3, 4, 17, 48}) {
      Case<TypeParam> product(A, N, {0, 0}, number<TypeParam>(-0.7, 0.6),
                              number<TypeParam>(1.3, -0.4));
      product.expect(product.multiply(this->context(), plan), kernel + ", N " + std::to_string(N));
    }
  }
}

// More rows and nonzeros than small tiles of narrow_merge are for: short rows with runs of empty
// ones, and long rows.
TYPED_TEST(SpmmCudaOfRealMatrices, LargeTilesOfFewColumns) {
  const auto expect = [&](Index rows, const auto& length_of) {
    constexpr Index cols = 500;
    const TestMatrix<TypeParam> A = test::matrix_with_pattern<TypeParam>(rows, cols, [&](Index i) {
      std::vector<Index> columns;
      for (Index j = 0; j < length_of(i); ++j) columns.push_back(i % 7 + 3 * j);
      return columns;
    });
    const DeviceMatrix<TypeParam> device(this->context(), A);
    const SpmmPlan<TypeParam, CudaContext> plan(this->context(), device.view(), {"narrow_merge"});
    for (const Index N : {1, 2, 4}) {
      Case<TypeParam> product(A, N, {0, 0}, static_cast<TypeParam>(-0.7),
                              static_cast<TypeParam>(1.3));
      product.expect(product.multiply(this->context(), plan),
                     std::to_string(rows) + " rows, N " + std::to_string(N));
    }
  };
  expect(1'200'000, [](Index i) {
    return i / 3000 % 2 == 1 ? 0 : i % 97 == 0 ? 60 : i % 3 == 0 ? 1 : 0;
  });
  expect(12'000, [](Index i) { return 90 + i % 40; });
}

// Kernels that load several entries of A at once need not find them aligned.
TYPED_TEST(SpmmCuda, ArraysOfAWithoutAlignment) {
  using T = TypeParam;
  const TestMatrix<T> A = test::power_law_matrix<T>(150, 150, 140);
  for (const auto& [columns_before, values_before] :
       {std::pair<Index, Index>{1, 1}, {3, 3}, {0, 1}, {2, 0}}) {
    std::vector<std::int32_t> columns(static_cast<std::size_t>(columns_before), 0);
    std::vector<T> values(static_cast<std::size_t>(values_before), T{0});
    columns.insert(columns.end(), A.columns.begin(), A.columns.end());
    values.insert(values.end(), A.values.begin(), A.values.end());
    const auto offsets_there = upload(this->context(), A.offsets);
    const auto columns_there = upload(this->context(), columns);
    const auto values_there = upload(this->context(), values);
    const CsrView<T, DeviceSpace> view{A.rows,
                                       A.cols,
                                       static_cast<Index>(A.columns.size()),
                                       offsets_there.data(),
                                       columns_there.data() + columns_before,
                                       values_there.data() + values_before};
    for (const std::string& kernel :
         kernels_for<T>({"merge", "merge_path", "narrow_merge", "row_split"})) {
      const SpmmPlan<T, CudaContext> plan(this->context(), view, {kernel});
      for (const Index N : {1, 4, 8, 32}) {
        Case<T> product(A, N, {0, 0}, T{1}, T{0});
        product.expect(product.multiply(this->context(), plan),
                       kernel + ", N " + std::to_string(N));
      }
    }
  }
}

TYPED_TEST(SpmmCuda, ShapesWithoutRowsOrColumns) {
  using T = TypeParam;
  const auto nothing = [](Index) { return std::vector<Index>{}; };
  for (const auto& [rows, cols] : {std::pair<Index, Index>{0, 0}, {0, 5}, {5, 0}}) {
    const TestMatrix<T> A = test::matrix_with_pattern<T>(rows, cols, nothing);
    const DeviceMatrix<T> device(this->context(), A);
    for (const std::string& name : all_kernels<T>()) {
      const SpmmPlan<T, CudaContext> plan(this->context(), device.view(), {name});
      for (const Index N : {0, 1, 8}) {
        Case<T> product(A, N, {1, 1}, T{1}, T{2});
        product.expect(product.multiply(this->context(), plan), name);
      }
    }
  }
}

TYPED_TEST(SpmmCuda, ZeroAlphaReadsNeitherMatrixNorBlock) {
  using T = TypeParam;
  TestMatrix<T> A = test::random_matrix<T>(20, 20, 4);
  Case<T> scaled(A, 9, {0, 0}, T{0}, T{2});
  Case<T> cleared(A, 9, {0, 0}, T{0}, T{0});
  std::fill(A.values.begin(), A.values.end(), test::not_a_number<T>());
  const DeviceMatrix<T> device(this->context(), A);
  for (const std::string& name : all_kernels<T>()) {
    const SpmmPlan<T, CudaContext> plan(this->context(), device.view(), {name});
    scaled.expect(scaled.multiply(this->context(), plan), name);
    cleared.expect(cleared.multiply(this->context(), plan), name);
  }
}

TYPED_TEST(SpmmCuda, ARegisteredKernelIsChosenByItsName) {
  using T = TypeParam;
  test::register_row_per_thread();
  const TestMatrix<T> A = test::power_law_matrix<T>(300, 300, 290);
  const DeviceMatrix<T> device(this->context(), A);
  const SpmmPlan<T, CudaContext> plan(this->context(), device.view(), {"row_per_thread"});
  EXPECT_EQ(plan.kernel(8), "row_per_thread");
  EXPECT_EQ(plan.reason(8), "asked for");
  Case<T> product(A, 8, {1, 2}, number<T>(-0.7, 0.6), number<T>(1.3, -0.4));
  const int before = test::row_per_thread_products();
  product.expect(product.multiply(this->context(), plan), "row_per_thread");
  EXPECT_EQ(test::row_per_thread_products(), before + 1);
}

/// A with all values rounded to floats.
TestMatrix<double> with_floats(TestMatrix<double> A) {
  for (double& value : A.values) value = static_cast<float>(value);
  return A;
}

using SpmmCudaInDouble = SpmmCuda<double>;

// Kernels read values that are all floats from narrow copies.
TEST_F(SpmmCudaInDouble, ValuesThatAreFloats) {
  expect_products(with_floats(test::power_law_matrix<double>(150, 150, 140)));
  expect_products(with_floats(test::node_block_matrix<double>(13, 3)));
  expect_products(with_floats(test::band_matrix<double>(300, 300, 60)));
}

// Another matrix differs in one value, which is no float. All rows but its own have the same bits.
TEST_F(SpmmCudaInDouble, ValuesThatAreFloatsGiveTheSameBits) {
  for (const TestMatrix<double>& A : {with_floats(test::power_law_matrix<double>(600, 600, 590)),
                                      with_floats(test::band_matrix<double>(900, 900, 7)),
                                      with_floats(test::node_block_matrix<double>(60, 3))}) {
    TestMatrix<double> other = A;
    other.values.back() += 1e-14;
    ASSERT_NE(static_cast<float>(other.values.back()), other.values.back());
    const DeviceMatrix<double> narrow(context(), A);
    const DeviceMatrix<double> wide(context(), other);
    for (const auto& row : detail::cuda_kernel_table().rows()) {
      if (!row.traits.repeatable) continue;
      const SpmmOptions options{std::string(row.traits.name)};
      const SpmmPlan<double, CudaContext> plan(context(), narrow.view(), options);
      const SpmmPlan<double, CudaContext> wide_plan(context(), wide.view(), options);
      for (const Index N : {1, 4, 7, 16, 64}) {
        Case<double> product(A, N, {0, 0}, 1.0, 0.0);
        const std::vector<double> C = product.multiply(context(), plan);
        const std::vector<double> wide_C = product.multiply(context(), wide_plan);
        const auto compared = static_cast<std::size_t>((A.rows - 1) * N);
        EXPECT_EQ(std::memcmp(C.data(), wide_C.data(), compared * sizeof(double)), 0)
            << row.traits.name << ", N " << N;
        EXPECT_NE(C, wide_C) << row.traits.name << ", N " << N;
      }
    }
  }
}

TYPED_TEST(SpmmCuda, SameBitsEveryTime) {
  using T = TypeParam;
  const TestMatrix<T> A = test::power_law_matrix<T>(3000, 3000, 2900);
  const DeviceMatrix<T> device(this->context(), A);
  for (const auto& row : detail::cuda_kernel_table().rows()) {
    if (!row.traits.repeatable || !row.template takes<T>()) continue;
    const std::string_view name = row.traits.name;
    const SpmmPlan<T, CudaContext> plan(this->context(), device.view(), {std::string(name)});
    for (const Index N : {1, 7, 32}) {
      Case<T> product(A, N, {0, 0}, T{1}, T{0});
      const std::vector<T> first = product.multiply(this->context(), plan);
      for (int again = 0; again < 3; ++again) {
        const std::vector<T> second = product.multiply(this->context(), plan);
        ASSERT_EQ(std::memcmp(first.data(), second.data(), first.size() * sizeof(T)), 0)
            << name << ", N " << N;
      }
    }
  }
}

TYPED_TEST(SpmmCuda, AllocatesNothingOnceAWidthIsPrepared) {
  using T = TypeParam;
  const TestMatrix<T> A = test::power_law_matrix<T>(300, 300, 290);
  const DeviceMatrix<T> device(this->context(), A);
  Buffer<T, DeviceSpace> B(this->context(), 300 * 16);
  Buffer<T, DeviceSpace> C(this->context(), 300 * 16);
  for (const auto& row : detail::cuda_kernel_table().rows()) {
    if (!row.template takes<T>()) continue;
    const std::string_view name = row.traits.name;
    const SpmmPlan<T, CudaContext> plan(this->context(), device.view(), {std::string(name)});
    const auto multiply = [&] {
      plan.multiply(this->context(), T{1}, ConstBlockView<T, DeviceSpace>(B.data(), 300, 16, 16),
                    T{0}, BlockView<T, DeviceSpace>(C.data(), 300, 16, 16));
    };
    plan.prepare(this->context(), 16);
    if (!row.traits.prepares_by_width) multiply();
    const auto prepared = this->context().allocation_count().allocations;
    multiply();
    multiply();
    EXPECT_EQ(this->context().allocation_count().allocations, prepared) << name;
  }
}

TYPED_TEST(SpmmCuda, RefusesUnknownKernels) {
  const DeviceMatrix<TypeParam> device(this->context(), test::band_matrix<TypeParam>(4, 4, 1));
  try {
    const SpmmPlan<TypeParam, CudaContext> plan(this->context(), device.view(), {"row_splitt"});
    FAIL() << "accepted";
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("'row_splitt' is not known for CUDA; known: auto"),
              std::string::npos)
        << error.what();
  }
}

using SpmmCudaOfComplexMatrices = SpmmCuda<std::complex<double>>;

TEST_F(SpmmCudaOfComplexMatrices, KernelsOfRealMatricesAreRefusedAndNeverChosen) {
  using T = std::complex<double>;
  // Dense node blocks and panels of a band: kernels of real matrices would be fastest.
  const DeviceMatrix<T> device(context(), test::node_block_matrix<T>(3000, 4));
  std::vector<std::string> refused;
  for (const auto& row : detail::cuda_kernel_table().rows()) {
    if (row.takes<T>()) continue;
    const std::string name(row.traits.name);
    refused.push_back(name);
    try {
      const SpmmPlan<T, CudaContext> plan(context(), device.view(), {name});
      ADD_FAILURE() << name << " accepted";
    } catch (const InvalidArgument& error) {
      EXPECT_EQ(std::string(error.what())
                    .find("SpMM kernel '" + name + "' takes real matrices " +
                          "only; those for complex ones: row_split, "),
                0u)
          << error.what();
    }
  }
  EXPECT_FALSE(refused.empty());
  for (const char* way : {"auto", "rule", "rule_row_mean"}) {
    const SpmmPlan<T, CudaContext> plan(context(), device.view(), {way});
    for (const Index N : test::kWidths) {
      const std::string_view name = plan.kernel(N);
      EXPECT_EQ(std::find(refused.begin(), refused.end(), name), refused.end()) << way << name;
    }
  }
}

// Numbers are loaded by 16 bytes, while std::complex asks for 8.
TEST_F(SpmmCudaOfComplexMatrices, RefusesAddressesBetweenNumbers) {
  using T = std::complex<double>;
  const DeviceMatrix<T> device(context(), test::random_matrix<T>(6, 6, 2));
  const SpmmPlan<T, CudaContext> plan(context(), device.view());
  const Buffer<double, DeviceSpace> memory(context(), 2 * 6 * 3 + 1);
  const auto* const between = reinterpret_cast<const T*>(memory.data() + 1);
  Buffer<T, DeviceSpace> C(context(), 6 * 3);
  const auto message = [&](const auto& call) -> std::string {
    try {
      call();
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "accepted";
  };
  const auto expected = [](const std::string& what) {
    return "C = A B on a GPU: the address of " + what + " is no multiple of 16 bytes";
  };
  EXPECT_EQ(message([&] {
              plan.multiply(context(), T{1}, ConstBlockView<T, DeviceSpace>(between, 6, 3, 3), T{0},
                            BlockView<T, DeviceSpace>(C.data(), 6, 3, 3));
            }),
            expected("B"));
  CsrView<T, DeviceSpace> A = device.view();
  A.values = between;
  EXPECT_EQ(message([&] { const SpmmPlan<T, CudaContext> other(context(), A); }),
            expected("the values of A"));
}

TYPED_TEST(SpmmCuda, RefusesShapesThatDoNotFit) {
  using T = TypeParam;
  const DeviceMatrix<T> device(this->context(), test::random_matrix<T>(4, 6, 2));
  const SpmmPlan<T, CudaContext> plan(this->context(), device.view());
  EXPECT_THROW(
      plan.multiply(this->context(), T{1}, ConstBlockView<T, DeviceSpace>(nullptr, 5, 3, 3), T{0},
                    BlockView<T, DeviceSpace>(nullptr, 4, 3, 3)),
      InvalidArgument);
  EXPECT_THROW(
      plan.multiply(this->context(), T{1}, ConstBlockView<T, DeviceSpace>(nullptr, 6, 3, 3), T{0},
                    BlockView<T, DeviceSpace>(nullptr, 4, 2, 2)),
      InvalidArgument);
}

}  // namespace
}  // namespace heddle
