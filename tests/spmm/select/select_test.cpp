#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <heddle/spmm/kernels/cuda/row_split/row_shape.hpp>
#include <heddle/spmm/kernels/kernel_table.hpp>
#include <heddle/spmm/select/select.hpp>
#include <set>

namespace heddle::detail {
namespace {

/// Rows of the given mean and spread; the longest three deviations above the mean.
MatrixFeatures matrix(double mean, double variation, double reuse) {
  MatrixFeatures features;
  features.rows = 100000;
  features.cols = 100000;
  features.nnz = static_cast<Index>(mean * 100000);
  features.row_mean = mean;
  features.row_deviation = variation * mean;
  features.row_max = static_cast<Index>(mean + 3 * features.row_deviation);
  features.reuse_8 = reuse;
  return features;
}

TEST(SelectKernel, RowMeanRuleSplitsNonzerosOfShortRows) {
  EXPECT_EQ(choose_by_row_mean(matrix(9.34, 0, 1)).kernel, "merge");
  EXPECT_EQ(choose_by_row_mean(matrix(9.35, 0, 1)).kernel, "row_split");
}

TEST(SelectKernel, EvenRowsAreSplitByRows) {
  EXPECT_EQ(choose_by_features(matrix(7, 0.05, 1.3), 16, 8).kernel, "row_split");
  EXPECT_EQ(choose_by_features(matrix(16, 0, 1), 16, 8).kernel, "row_cached");
  EXPECT_EQ(choose_by_features(matrix(7, 0.05, 1.3), 1, 8).kernel, "row_split");
  EXPECT_EQ(choose_by_features(matrix(78, 0.05, 4.5), 1, 8).kernel, "row_parallel");
}

TEST(SelectKernel, UnevenRowsAreCutIntoSegmentsOrSplitByNonzeros) {
  EXPECT_EQ(choose_by_features(matrix(30, 8, 1.2), 16, 8).kernel, "merge_path");
  EXPECT_EQ(choose_by_features(matrix(300, 3, 1.2), 16, 8).kernel, "merge");
  EXPECT_EQ(choose_by_features(matrix(30, 8, 1.2), 8, 8).kernel, "row_parallel");
}

TEST(SelectKernel, OneHeavyRowMakesRowsUneven) {
  MatrixFeatures features = matrix(7, 0.05, 1.3);
  features.row_max = 100000;
  EXPECT_EQ(choose_by_features(features, 16, 8).kernel, "merge_path");
}

TEST(SelectKernel, SharedColumnsGoToPanels) {
  EXPECT_EQ(choose_by_features(matrix(78, 0.2, 4.5), 8, 8).kernel, "panel_mma");
  EXPECT_EQ(choose_by_features(matrix(27, 0.05, 2.6), 32, 8).kernel, "panel_mma");
  EXPECT_EQ(choose_by_features(matrix(27, 0.05, 2.6), 8, 8).kernel, "row_split");
  EXPECT_NE(choose_by_features(matrix(78, 0.2, 4.5), 1, 8).kernel, "panel_mma");
}

TEST(SelectKernel, NodeBlocksAreTakenWhereTheySaveBytes) {
  MatrixFeatures features = matrix(78, 0.2, 4.5);
  features.node_size = 3;
  const auto kernel = [&](double fill, Index N, std::size_t bytes) {
    features.node_fill = fill;
    return choose_by_features(features, N, bytes).kernel;
  };
  EXPECT_EQ(kernel(1, 12, 8), "node_block");
  EXPECT_EQ(kernel(1, 5, 4), "node_block");
  EXPECT_NE(kernel(1, 4, 8), "node_block");
  // A node row has 78/(3 fill) blocks, and 1/2 (in single 3/2) are padding. Bytes per entry:
  // (8 + 4/9)(1/fill + 1.5/78) against 12, (4 + 4/9)(1/fill + 4.5/78) against 8.
  EXPECT_EQ(kernel(0.714, 12, 8), "node_block");
  EXPECT_EQ(kernel(0.713, 12, 8), "panel_mma");
  EXPECT_EQ(kernel(0.574, 12, 4), "node_block");
  EXPECT_EQ(kernel(0.573, 12, 4), "panel_mma");
  EXPECT_EQ(choose_by_features(features, 12, 4).reason,
            "eight neighbouring rows use a row of B 4.5 times");
  EXPECT_NE(kernel(1, 24, 8), "node_block");
  EXPECT_EQ(kernel(1, 24, 4), "node_block");
  EXPECT_EQ(kernel(1, 64, 8), "node_block");
  features.node_size = 4;
  EXPECT_EQ(kernel(1, 16, 8), "node_block");
  EXPECT_NE(kernel(1, 64, 8), "node_block");
  features.node_size = 3;
  features.rows = 20000;  // too few lanes for narrow blocks
  EXPECT_NE(kernel(1, 8, 8), "node_block");
  EXPECT_EQ(kernel(1, 16, 8), "node_block");
  features.rows = 14000;
  EXPECT_NE(kernel(1, 64, 8), "node_block");
  features.rows = 100000;
  features.node_fill = 0.9;
  EXPECT_EQ(choose_by_features(features, 12, 8).reason,
            "entries fill 90 % of the 3x3 blocks that hold them");
  features.row_max = 100000;
  EXPECT_EQ(choose_by_features(features, 12, 8).kernel, "panel_mma");
}

// The values are those of the 27-point stencil, the 3-D elasticity and a 4-D lattice.
TEST(SelectKernel, BoxesOfAGridAreStaged) {
  MatrixFeatures stencil = matrix(26.6, 0.06, 2.4);
  stencil.reuse_grid = 8.1;
  EXPECT_EQ(choose_by_features(stencil, 16, 8).kernel, "staged");
  EXPECT_EQ(choose_by_features(stencil, 64, 4).kernel, "staged");
  EXPECT_NE(choose_by_features(stencil, 1, 4).kernel, "staged");
  MatrixFeatures elasticity = matrix(78, 0.2, 4.5);
  elasticity.reuse_grid = 14;
  EXPECT_EQ(choose_by_features(elasticity, 16, 8).kernel, "panel_mma");
  MatrixFeatures lattice = matrix(39, 0, 1.9);
  lattice.reuse_grid = 3.9;
  EXPECT_EQ(choose_by_features(lattice, 16, 8).kernel, "row_split");
  stencil.row_max = 100000;
  EXPECT_NE(choose_by_features(stencil, 16, 8).kernel, "staged");
}

// With these features, real matrices go to node blocks, panels, staged rows and the merge path.
TEST(SelectKernel, ComplexMatricesGoToKernelsThatTakeThem) {
  const auto takes_complex = [](std::string_view name) {
    return cuda_kernel_table().find(name)->traits.takes_complex;
  };
  for (const double variation : {0.05, 1.5, 8.0}) {
    for (const double reuse : {1.0, 2.6, 4.5}) {
      for (const Index N : {1, 4, 8, 16, 64}) {
        MatrixFeatures features = matrix(30, variation, reuse);
        features.reuse_grid = 3 * reuse;
        features.node_size = 3;
        features.node_fill = 1;
        constexpr std::size_t kBytes = sizeof(std::complex<double>);
        const auto names = contenders(features, N, kBytes, {});
        EXPECT_FALSE(names.empty());
        EXPECT_TRUE(std::all_of(names.begin(), names.end(), takes_complex));
        EXPECT_TRUE(takes_complex(choose_by_model(features, N, kBytes, {}).kernel));
        EXPECT_TRUE(takes_complex(choose_by_features(features, N, kBytes).kernel));
        EXPECT_TRUE(takes_complex(choose_by_row_mean(features).kernel));
      }
    }
  }
}

TEST(SelectKernel, ContendersAreDistinctWithinTheErrorAndBeginWithTheChoice) {
  for (const double variation : {0.0, 1.5, 8.0}) {
    for (const double reuse : {1.0, 2.5, 5.0}) {
      for (const Index N : {1, 8, 16, 64}) {
        MatrixFeatures features = matrix(20, variation, reuse);
        features.reuse_grid = 2 * reuse;
        const auto names = contenders(features, N, 8, {});
        EXPECT_EQ(names.front(), choose_by_model(features, N, 8, {}).kernel);
        EXPECT_EQ(std::set<std::string_view>(names.begin(), names.end()).size(), names.size());
        const auto predicted = predicted_kernels(features, N, 8, {});
        const double bound = predicted.front().seconds * std::exp2(2 * kModelError);
        for (const KernelPrediction& prediction : predicted) {
          EXPECT_NE(cuda_kernel_table().find(prediction.kernel), nullptr) << prediction.kernel;
          const bool listed =
              std::find(names.begin(), names.end(), prediction.kernel) != names.end();
          EXPECT_EQ(listed, prediction.seconds <= bound) << prediction.kernel;
        }
      }
    }
  }
}

TEST(SelectKernel, TheModelSaysWhy) {
  const std::string why = choose_by_model(matrix(20, 0, 2), 16, 8, {}).reason;
  EXPECT_NE(why.find("predicted "), std::string::npos) << why;
  EXPECT_NE(why.find("bound by "), std::string::npos) << why;
}

TEST(SelectKernel, WithoutEntriesTheRuleChooses) {
  MatrixFeatures empty = matrix(0, 0, 0);
  EXPECT_EQ(choose_by_model(empty, 8, 8, {}).kernel, choose_by_features(empty, 8, 8).kernel);
  EXPECT_EQ(contenders(empty, 8, 8, {}).size(), 1u);
}

TEST(SelectKernel, RowGroupsFollowTheRowLength) {
  EXPECT_EQ(cuda::row_groups(matrix(0, 0, 1)), 1);
  EXPECT_EQ(cuda::row_groups(matrix(7, 0, 1)), 2);
  EXPECT_EQ(cuda::row_groups(matrix(1000, 0, 1)), 32);
}

TEST(SelectKernel, LongRowsAreThoseThatLaneGroupsOfOtherRowsTakeLongFor) {
  const auto limit = [](double row_mean, Index N) {
    return cuda::long_row_shape(matrix(row_mean, 0, 1), N, sizeof(double)).limit;
  };
  EXPECT_EQ(limit(3, 1), 32);
  EXPECT_EQ(limit(16, 1), 128);
  EXPECT_EQ(limit(100, 1), 512);  // no more than a segment
  EXPECT_EQ(limit(20, 64), 64);
  EXPECT_EQ(limit(1000, 1), 2000);  // even if all rows are long
}

TEST(SelectKernel, SegmentsOfLongRowsAreShorterForWideBlocks) {
  const auto length = [](double row_mean, Index N, Index scalar_bytes) {
    return cuda::long_row_shape(matrix(row_mean, 0, 1), N, scalar_bytes).length;
  };
  EXPECT_EQ(length(3, 2, sizeof(double)), 512);
  EXPECT_EQ(length(3, 3, sizeof(double)), 256);
  EXPECT_EQ(length(3, 8, sizeof(float)), 256);
  EXPECT_EQ(length(3, 128, sizeof(double)), 64);
  EXPECT_EQ(length(1000, 128, sizeof(double)), 2000);
}

TEST(SelectKernel, LanesOfAGroupIdleAsLittleAsStripesAllow) {
  EXPECT_EQ(cuda::lanes_of_group(1), 1);
  EXPECT_EQ(cuda::lanes_of_group(6), 8);
  EXPECT_EQ(cuda::lanes_of_group(24), 8);
  EXPECT_EQ(cuda::lanes_of_group(32), 32);
  EXPECT_EQ(cuda::lanes_of_group(48), 16);
  EXPECT_EQ(cuda::lanes_of_group(64), 32);
}

constexpr DeviceSizes kH200 = {.multiprocessors = 132, .threads_per_multiprocessor = 2048};

TEST(SelectKernel, ForcedRowsGetGroupsWhereTheyAreFewOrUneven) {
  const MatrixFeatures even = matrix(32, 0.1, 1);
  EXPECT_EQ(forced_row_groups(even, 8, kH200), 1);
  EXPECT_EQ(forced_row_groups(even, 1, kH200), cuda::row_groups(even));
  EXPECT_EQ(forced_row_groups(matrix(32, 1.5, 1), 64, kH200), 8);
  MatrixFeatures few = even;
  few.rows = 100;
  EXPECT_EQ(forced_row_groups(few, 64, kH200), 8);
}

TEST(SelectKernel, ASmallDeviceIsBusyWithFewerRows) {
  const MatrixFeatures even = matrix(32, 0.1, 1);
  const DeviceSizes small = {.multiprocessors = 40, .threads_per_multiprocessor = 1024};
  EXPECT_EQ(forced_row_groups(even, 1, small), 1);
}

TEST(SelectKernel, ShortRowsAreDoneInNarrowStripes) {
  EXPECT_EQ(cuda::row_lanes(matrix(7, 0.1, 1)), 16);
  EXPECT_EQ(cuda::row_lanes(matrix(27, 0.1, 1)), 32);
}

}  // namespace
}  // namespace heddle::detail
