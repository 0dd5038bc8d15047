#include <gtest/gtest.h>

#include <cmath>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/spmm/features/features.hpp>
#include <heddle/spmm/model/kernel_models.hpp>
#include <heddle/spmm/model/model.hpp>
#include <heddle/spmm/model/reuse_curve.hpp>
#include <heddle/spmm/model/traffic.hpp>
#include <map>

namespace heddle {
namespace {

MatrixFeatures features_of(const GallerySpec& spec) {
  HostContext context(2);
  return matrix_features<double>(context, generate<double>(context, spec).view());
}

std::map<std::string_view, KernelPrediction> by_name(const MatrixFeatures& A, Index N,
                                                     std::size_t bytes = 8,
                                                     const DeviceSpeed& device = {}) {
  std::map<std::string_view, KernelPrediction> all;
  for (const KernelPrediction& prediction : predict_kernels(A, N, bytes, device)) {
    all[prediction.kernel] = prediction;
  }
  return all;
}

// N complex columns have the bytes of 2 N real ones, and twice their products.
TEST(ProductModel, ComplexProductsTakeFourOperations) {
  const MatrixFeatures A = features_of({"laplace3d", {40, 40, 40}});
  const auto terms = [&](std::string_view kernel, Index N, std::size_t bytes) {
    for (const KernelTerms& each : kernel_terms(A, N, bytes, DeviceSpeed{})) {
      if (each.kernel == kernel) return each;
    }
    return KernelTerms{};
  };
  for (const char* kernel : {"row_split", "row_parallel", "row_cached", "merge", "staged"}) {
    for (const Index N : {8, 16, 64}) {
      const KernelTerms real = terms(kernel, 2 * N, 8);
      if (real.issue == 0) continue;
      const KernelTerms complex = terms(kernel, N, 16);
      EXPECT_GT(complex.issue, 1.1 * real.issue) << kernel << N;
      EXPECT_LT(complex.issue, 2 * real.issue) << kernel << N;
      EXPECT_NEAR(complex.l2 / real.l2, 1.2, 0.25) << kernel << N;
    }
  }
}

TEST(ReuseCurve, PassesThroughTheFeaturesAndGrows) {
  const MatrixFeatures A = features_of({"stencil27", {20, 20, 20}});
  const detail::ReuseCurve curve(A);
  EXPECT_DOUBLE_EQ(curve.at(1), 1);
  EXPECT_NEAR(curve.at(8), A.reuse_8, 1e-12 * A.reuse_8);
  EXPECT_NEAR(curve.at(128), A.reuse_128, 1e-12 * A.reuse_128);
  EXPECT_NEAR(curve.at(8000), static_cast<double>(A.nnz) / 8000, 1e-9);
  EXPECT_NEAR(curve.at(1e9), curve.at(8000), 1e-9);
  // Between two features, log R is linear in log T.
  EXPECT_NEAR(curve.at(32), std::sqrt(A.reuse_8 * A.reuse_128), 1e-12 * A.reuse_128);
  double before = 0;
  for (double rows = 1; rows < 9000; rows *= 1.3) {
    EXPECT_GE(curve.at(rows), before);
    before = curve.at(rows);
  }
}

TEST(ReuseCurve, RowsFillTheCapacity) {
  const MatrixFeatures A = features_of({"laplace2d", {100, 100}});
  const detail::ReuseCurve curve(A);
  constexpr double kRowBytes = 128;
  constexpr double kStream = 200;
  EXPECT_DOUBLE_EQ(curve.rows_within(1e12, kRowBytes, kStream), 10000);
  for (const double capacity : {1e4, 1e5, 1e6}) {
    const double rows = curve.rows_within(capacity, kRowBytes, kStream);
    EXPECT_NEAR(rows * (A.row_mean / curve.at(rows) * kRowBytes + kStream), capacity,
                1e-5 * capacity);
  }
  EXPECT_DOUBLE_EQ(curve.rows_within(1, kRowBytes, kStream), 1);
}

TEST(ProductModel, NamesKernelsOnceInTheOrderOfTheirTimes) {
  const MatrixFeatures A = features_of({"elasticity3d", {6, 6, 6}});
  const auto predictions = predict_kernels(A, 16, 8, {});
  EXPECT_EQ(predictions.size(), detail::kernel_models().size());
  EXPECT_EQ(by_name(A, 16).size(), predictions.size());
  for (std::size_t k = 1; k < predictions.size(); ++k) {
    EXPECT_LE(predictions[k - 1].seconds, predictions[k].seconds);
  }
}

TEST(ProductModel, NoPartTakesLongerThanTheProduct) {
  for (const GallerySpec& spec : {GallerySpec{"laplace3d", {30, 30, 30}}, GallerySpec{"rmat", {12}},
                                  GallerySpec{"band", {3000, 90}}}) {
    const MatrixFeatures A = features_of(spec);
    for (const Index N : {1, 3, 16, 128}) {
      for (const std::size_t bytes : {4u, 8u}) {
        for (const KernelPrediction& p : predict_kernels(A, N, bytes, {})) {
          const double parts[] = {p.times.memory, p.times.l2,      p.times.l1,   p.times.issue,
                                  p.times.tensor, p.times.latency, p.times.tail, p.times.launch};
          double sum = 0;
          for (const double part : parts) {
            EXPECT_GE(part, 0) << p.kernel;
            EXPECT_LE(part, p.seconds) << p.kernel;
            sum += part;
          }
          EXPECT_LE(p.seconds, sum * (1 + 1e-12)) << p.kernel;
          EXPECT_TRUE(std::isfinite(p.seconds)) << p.kernel;
        }
      }
    }
  }
}

// What the bytes are for a band, which every cache serves: A, and each row of B and C once.
TEST(ProductModel, TermsAreTheTimesWithoutTheEfficiencies) {
  const MatrixFeatures A = features_of({"stencil27", {20, 20, 20}});
  const auto predictions = by_name(A, 16);
  const auto terms = kernel_terms(A, 16, 8, {});
  ASSERT_EQ(terms.size(), predictions.size());
  for (const KernelTerms& term : terms) {
    SCOPED_TRACE(term.kernel);
    const KernelPrediction& prediction = predictions.at(term.kernel);
    EXPECT_EQ(term.storage_bytes, prediction.storage_bytes);
    EXPECT_EQ(term.tensor, prediction.times.tensor);
    EXPECT_DOUBLE_EQ(term.memory, prediction.memory_bytes / DeviceSpeed{}.memory_bytes);
    for (const detail::KernelModel& model : detail::kernel_models()) {
      if (model.kernel != term.kernel) continue;
      EXPECT_EQ(model.constants.memory * term.memory, prediction.times.memory);
      EXPECT_EQ(model.constants.l2 * term.l2, prediction.times.l2);
      EXPECT_EQ(model.constants.launch * term.launch, prediction.times.launch);
    }
  }
  EXPECT_TRUE(kernel_terms(A, 0, 8, {}).empty());
}

TEST(ProductModel, ALargeBandMovesItsCompulsoryBytes) {
  MatrixFeatures A = features_of({"band", {40000, 20}});
  const double scale = 100;  // far beyond the caches
  A.rows = A.cols = static_cast<Index>(scale * 40000);
  A.nnz = static_cast<Index>(scale * static_cast<double>(A.nnz));
  const double compulsory =
      static_cast<double>(A.nnz) * 12 + static_cast<double>(A.rows) * (8 + 2 * 16 * 8);
  const auto all = by_name(A, 16);
  EXPECT_NEAR(all.at("row_split").memory_bytes, compulsory, 0.01 * compulsory);
  EXPECT_GT(all.at("row_split").l2_bytes, compulsory);
}

TEST(ProductModel, ValuesThatAreFloatsTakeFourBytesWhereKernelsStoreThemSo) {
  MatrixFeatures A = features_of({"band", {40000, 20}});
  A.values_are_floats = false;
  const auto wide = by_name(A, 16);
  A.values_are_floats = true;
  const auto narrow = by_name(A, 16);
  const double saved = 4 * static_cast<double>(A.nnz);
  for (const std::string_view name : {"row_split", "merge", "narrow_merge", "panel_mma"}) {
    EXPECT_NEAR(wide.at(name).storage_bytes - narrow.at(name).storage_bytes, saved, 1e-9 * saved)
        << name;
    EXPECT_LE(narrow.at(name).seconds, wide.at(name).seconds) << name;
  }
  EXPECT_EQ(wide.at("row_broadcast").seconds, narrow.at("row_broadcast").seconds);
}

TEST(ProductModel, WhatFitsIntoTheCacheStaysThere) {
  const MatrixFeatures A = features_of({"laplace2d", {50, 50}});
  EXPECT_EQ(by_name(A, 8).at("row_split").memory_bytes, 0);
}

TEST(ProductModel, RandomColumnsAreReadAgain) {
  const MatrixFeatures random = features_of({"random_uniform", {300000}, 8});
  MatrixFeatures ordered = random;
  ordered.reuse_8 = ordered.reuse_128 = 4;
  ordered.reuse_2048 = ordered.reuse_32768 = 7;
  const auto scattered = by_name(random, 64).at("row_split");
  const auto close = by_name(ordered, 64).at("row_split");
  EXPECT_GT(scattered.memory_bytes, 2 * close.memory_bytes);
  EXPECT_GT(scattered.seconds, 1.5 * close.seconds);
}

// Random rows of 32 bytes each take a request, and that as long as 96 bytes. Those of a stencil lie
// side by side, four in a line.
TEST(ProductModel, RequestsForAPartOfALineAreNoCheaper) {
  const auto bytes_of_B = [](const MatrixFeatures& A, Index N) {
    const double N_bytes = static_cast<double>(N) * 8;
    return by_name(A, N).at("row_parallel").l2_bytes - static_cast<double>(A.rows) * N_bytes;
  };
  const MatrixFeatures random = features_of({"random_uniform", {264 * 1024}, 32});
  EXPECT_NEAR(bytes_of_B(random, 4), bytes_of_B(random, 8), 0.02 * bytes_of_B(random, 8));
  EXPECT_LT(bytes_of_B(random, 8), bytes_of_B(random, 16));
  MatrixFeatures stencil = random;
  stencil.reuse_8 = 4.0 / 3;
  const detail::ReuseCurve reuse(stencil);
  const auto product = detail::shape_of(stencil, reuse, 4, 8, {});
  EXPECT_NEAR(detail::lines_per_row(product, 32), 0.25, 1e-12);
  EXPECT_LT(bytes_of_B(stencil, 4), 0.6 * bytes_of_B(random, 4));
}

TEST(ProductModel, LinesOfRowsOfB) {
  const MatrixFeatures A = features_of({"random_uniform", {300000}, 8});
  const detail::ReuseCurve reuse(A);
  const auto lines = [&](Index N, std::size_t bytes) {
    return detail::lines_per_row(detail::shape_of(A, reuse, N, bytes, {}),
                                 static_cast<double>(N) * static_cast<double>(bytes));
  };
  EXPECT_NEAR(lines(1, 8), 1, 0.01);
  EXPECT_NEAR(lines(16, 8), 1, 0.01);
  EXPECT_NEAR(lines(32, 8), 2, 0.01);
  EXPECT_NEAR(lines(12, 8), 1.5, 0.01);  // 96 bytes: every other row crosses the end of a line
  EXPECT_NEAR(lines(12, 4), 1.25, 0.01);
}

TEST(ProductModel, TheBusiestMultiprocessorCounts) {
  const MatrixFeatures A = features_of({"laplace1d", {9}});
  const detail::ReuseCurve reuse(A);
  const DeviceSpeed device;
  const auto product = detail::shape_of(A, reuse, 1, 8, device);
  const auto multiprocessors = static_cast<double>(device.multiprocessors);
  EXPECT_DOUBLE_EQ(detail::imbalance(product, 1), multiprocessors);
  EXPECT_DOUBLE_EQ(detail::imbalance(product, multiprocessors), 1);
  EXPECT_DOUBLE_EQ(detail::imbalance(product, 1.6 * multiprocessors), 2 / 1.6);
  EXPECT_LT(detail::imbalance(product, 100.5 * multiprocessors), 1.01);
}

// A grid of 90000 rows, one of which has 50000 entries more. The rest is as fast as the grid alone;
// parts and carries of the long row are added one after the other.
TEST(ProductModel, OneLongRowLeavesTheOthersAsTheyAre) {
  const MatrixFeatures even = features_of({"laplace2d", {300, 300}});
  MatrixFeatures uneven = even;
  uneven.row_max = 50000;
  uneven.nnz += uneven.row_max;
  uneven.row_mean = static_cast<double>(uneven.nnz) / static_cast<double>(uneven.rows);
  uneven.row_deviation = 50000 / std::sqrt(static_cast<double>(uneven.rows));
  const KernelPrediction without = by_name(even, 16).at("row_parallel");
  const KernelPrediction with = by_name(uneven, 16).at("row_parallel");
  EXPECT_LT(with.times.issue, 1.3 * without.times.issue);
  EXPECT_LT(with.times.latency, 1.3 * without.times.latency);
  EXPECT_GT(with.times.launch, without.times.launch);
  for (const std::string_view kernel : {"row_parallel", "merge", "merge_path", "narrow_merge"}) {
    EXPECT_GT(by_name(uneven, 16).at(kernel).times.tail, by_name(even, 16).at(kernel).times.tail)
        << kernel;
  }
}

TEST(ProductModel, FasterDevicesAreFaster) {
  const MatrixFeatures A = features_of({"laplace3d", {60, 60, 60}});
  DeviceSpeed fast;
  fast.memory_bytes *= 2;
  fast.multiprocessors *= 2;
  const auto base = by_name(A, 64);
  for (const auto& [kernel, prediction] : by_name(A, 64, 8, fast)) {
    EXPECT_LT(prediction.seconds, base.at(kernel).seconds) << kernel;
  }
}

TEST(ProductModel, OneLongRowCostsRowKernelsMost) {
  MatrixFeatures A = features_of({"laplace2d", {300, 300}});
  const auto even = by_name(A, 8);
  A.row_max = 50000;
  const auto uneven = by_name(A, 8);
  EXPECT_GT(uneven.at("row_split").seconds, 10 * even.at("row_split").seconds);
  EXPECT_LT(uneven.at("merge_path").seconds, 0.2 * uneven.at("row_split").seconds);
}

TEST(ProductModel, SaysNothingWithoutEntriesOrColumns) {
  MatrixFeatures empty;
  empty.rows = empty.cols = 5;
  EXPECT_TRUE(predict_kernels(empty, 8, 8, {}).empty());
  EXPECT_TRUE(predict_kernels(features_of({"laplace1d", {9}}), 0, 8, {}).empty());
}

// Constants were fitted to one H100. These are times measured on one H200, of matrices that were
// kept aside, in milliseconds and double precision.
TEST(ProductModel, MeetsTimesOfMatricesKeptAside) {
  struct Measured {
    GallerySpec spec;
    Index N;
    std::string_view kernel;
    double ms;
  };
  for (const Measured& measured : {Measured{{"laplace3d", {40, 40, 40}}, 16, "row_split", 0.00912},
                                   Measured{{"laplace3d", {40, 40, 40}}, 64, "merge_path", 0.0462},
                                   Measured{{"laplace3d", {40, 40, 40}}, 64, "node_block", 0.0362},
                                   Measured{{"stencil27", {32, 32, 32}}, 64, "row_split", 0.0319},
                                   Measured{{"stencil27", {32, 32, 32}}, 16, "panel_mma", 0.0123},
                                   Measured{{"wathen", {100, 100}}, 64, "row_split", 0.0219},
                                   Measured{{"wathen", {100, 100}}, 16, "merge_path", 0.0145}}) {
    const MatrixFeatures A = features_of(measured.spec);
    const double predicted = 1e3 * by_name(A, measured.N).at(measured.kernel).seconds;
    EXPECT_LT(std::abs(std::log2(predicted / measured.ms)), 1)
        << measured.spec.name << ' ' << measured.kernel << ": predicted " << predicted;
  }
}

}  // namespace
}  // namespace heddle
