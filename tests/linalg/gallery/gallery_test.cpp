#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/csr_invariants.hpp"
#include "support/dense.hpp"

namespace heddle {
namespace {

/// A small matrix of every structure.
const std::vector<GallerySpec>& small_specs() {
  static const std::vector<GallerySpec> specs{
      {"laplace1d", {37}},
      {"laplace2d", {7, 5}},
      {"laplace3d", {4, 3, 5}},
      {"stencil27", {3, 5, 4}},
      {"elasticity3d", {3, 2, 1}},
      {"elasticity3d_mass", {3, 2, 1}},
      {"wathen", {4, 3}},
      {"trefethen", {50}},
      {"mikota_stiffness", {20}},
      {"mikota_mass", {20}},
      {"column", {10}},
      {"column_geometric", {10}},
      {"random_uniform", {40, 30}, 3.5},
      {"random_symmetric", {60}, 5},
      {"rmat", {6}, 4},
      {"random_geometric", {80}, 6},
      {"lattice4d", {5, 6, 5, 3}},
      {"band", {40, 7}},
  };
  return specs;
}

TEST(GalleryStructures, AreAllTestedHere) {
  std::vector<std::string> listed;
  std::vector<std::string> tested;
  for (const GalleryStructure& structure : gallery_structures()) {
    if (!structure.complex) listed.emplace_back(structure.name);
  }
  for (const GallerySpec& spec : small_specs()) tested.push_back(spec.name);
  EXPECT_EQ(listed, tested);
}

TEST(GalleryStructures, SayWhatTheirParametersMean) {
  for (const GalleryStructure& structure : gallery_structures()) {
    EXPECT_FALSE(structure.size.empty()) << structure.name;
    EXPECT_FALSE(structure.description.empty()) << structure.name;
    EXPECT_EQ(structure.density.empty(), structure.default_density == 0) << structure.name;
  }
}

template <class T>
class Gallery : public ::testing::Test {};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Gallery, Scalars);

TYPED_TEST(Gallery, RowsAreSortedAndComplete) {
  HostContext context(2);
  for (const GallerySpec& spec : small_specs()) {
    SCOPED_TRACE(spec.name);
    const auto A = generate<TypeParam>(context, spec);
    ASSERT_EQ(test::csr_fault(A.view()), "");
    const auto finite = [](TypeParam value) { return std::isfinite(value); };
    EXPECT_TRUE(std::all_of(A.view().values, A.view().values + A.nnz(), finite));
  }
}

/// The rows first … last − 1 of A are those of `part`, to the bit.
template <class T>
void expect_rows(const CsrView<T, HostSpace>& A, const CsrView<T, HostSpace>& part, Index first,
                 Index last) {
  ASSERT_EQ(part.rows, last - first);
  EXPECT_EQ(part.cols, A.cols);
  const std::int64_t* const offsets = A.row_offsets + first;
  ASSERT_EQ(part.nnz, offsets[last - first] - offsets[0]);
  for (Index i = 0; i <= part.rows; ++i) {
    EXPECT_EQ(part.row_offsets[i], offsets[i] - offsets[0]);
  }
  for (Index k = 0; k < part.nnz; ++k) {
    EXPECT_EQ(part.columns[k], A.columns[offsets[0] + k]);
    EXPECT_EQ(part.values[k], A.values[offsets[0] + k]);
  }
}

TYPED_TEST(Gallery, RowsOfAWindowAreThoseOfTheWholeMatrix) {
  HostContext context(2);
  for (const GallerySpec& spec : small_specs()) {
    SCOPED_TRACE(spec.name);
    const auto A = generate<TypeParam>(context, spec);
    const Index n = A.rows();
    for (const auto& [first, last] :
         std::vector<std::pair<Index, Index>>{{0, 1}, {0, n / 3}, {n / 3, n - 2}, {n - 2, n}}) {
      const auto part = generate<TypeParam>(context, spec, {first, last});
      expect_rows(A.view(), part.view(), first, last);
    }
    EXPECT_EQ(generate<TypeParam>(context, spec, {n, n}).rows(), 0);
    EXPECT_THROW(generate<TypeParam>(context, spec, {n + 1, n + 2}), InvalidArgument);
    EXPECT_THROW(generate<TypeParam>(context, spec, {-1, 1}), InvalidArgument);
    EXPECT_THROW(generate<TypeParam>(context, spec, {2, 1}), InvalidArgument);
  }
}

TEST(GalleryWindows, HaveTheCoordinatesOfTheirNodes) {
  HostContext context(1);
  const GallerySpec spec{"elasticity3d", {3, 2, 2}};
  const auto all = node_coordinates(context, spec);
  const auto part = node_coordinates(context, spec, {5, 11});
  ASSERT_EQ(part.rows(), 6);
  for (Index i = 0; i < 6; ++i) {
    for (Index d = 0; d < 3; ++d) EXPECT_EQ(part.view()(i, d), all.view()(5 + i, d));
  }
}

TYPED_TEST(Gallery, IsSymmetricToTheBitButForRandomUniform) {
  HostContext context(2);
  for (const GallerySpec& spec : small_specs()) {
    const auto matrix = generate<TypeParam>(context, spec);
    const Eigen::MatrixXd A = test::to_dense(matrix.view());
    const bool symmetric = A.rows() == A.cols() && A == A.transpose();
    EXPECT_EQ(symmetric, spec.name != "random_uniform") << spec.name;
  }
}

TYPED_TEST(Gallery, IsPositiveDefiniteButForSomeStructures) {
  HostContext context(2);
  const std::set<std::string> others{"random_uniform", "rmat", "random_geometric",
                                     "column_geometric"};
  for (const GallerySpec& spec : small_specs()) {
    if (others.count(spec.name) > 0) continue;
    const auto matrix = generate<TypeParam>(context, spec);
    EXPECT_GT(test::cholesky_factor(test::to_dense(matrix.view())).size(), 0) << spec.name;
  }
}

TYPED_TEST(Gallery, HasTheSameBitsForEveryNumberOfThreads) {
  HostContext one(1);
  for (const GallerySpec& spec : small_specs()) {
    SCOPED_TRACE(spec.name);
    const auto expected = generate<TypeParam>(one, spec);
    for (const int threads : {2, 3, 7}) {
      HostContext many(threads);
      EXPECT_TRUE(test::same_bits(expected.view(), generate<TypeParam>(many, spec).view()));
    }
  }
}

TEST(GalleryScalars, FloatIsDoubleRounded) {
  HostContext context(2);
  for (const GallerySpec& spec : small_specs()) {
    if (spec.name == "random_symmetric") continue;  // edges met twice are added up after rounding
    SCOPED_TRACE(spec.name);
    const auto exact = generate<double>(context, spec);
    const auto rounded = convert<float>(context, exact.view());
    EXPECT_TRUE(test::same_bits(generate<float>(context, spec).view(), rounded.view()));
  }
}

TEST(GallerySeeds, ChangeRandomStructuresOnly) {
  HostContext context(2);
  const std::set<std::string> random{"wathen", "random_uniform", "random_symmetric", "rmat",
                                     "random_geometric"};
  for (GallerySpec spec : small_specs()) {
    const auto first = generate<double>(context, spec);
    const Eigen::MatrixXd A = test::to_dense(first.view());
    spec.seed += 1;
    const auto second = generate<double>(context, spec);
    const Eigen::MatrixXd B = test::to_dense(second.view());
    EXPECT_EQ(A.rows() == B.rows() && A == B, random.count(spec.name) == 0) << spec.name;
  }
}

TEST(GallerySizes, OneIsTheSmallest) {
  HostContext context(2);
  for (const char* name : {"laplace1d", "trefethen", "mikota_stiffness", "mikota_mass"}) {
    EXPECT_EQ(generate<double>(context, {name, {1}}).nnz(), 1) << name;
  }
  EXPECT_EQ(generate<double>(context, {"laplace3d", {1, 1, 1}}).nnz(), 1);
  EXPECT_EQ(generate<double>(context, {"stencil27", {1, 1, 1}}).nnz(), 1);
  EXPECT_EQ(generate<double>(context, {"band", {1, 5}}).nnz(), 1);
  EXPECT_EQ(generate<double>(context, {"wathen", {1, 1}}).nnz(), 64);
  EXPECT_EQ(generate<double>(context, {"elasticity3d", {1, 1, 1}}).nnz(), 144);
  EXPECT_EQ(generate<double>(context, {"random_uniform", {1}, 1}).nnz(), 1);
  EXPECT_EQ(generate<double>(context, {"rmat", {1}, 1}).rows(), 2);
  EXPECT_EQ(generate<double>(context, {"random_geometric", {2}, 0.5}).rows(), 2);
}

/// The message with which a spec is refused, empty if it is not.
std::string refusal(const GallerySpec& spec) {
  HostContext context(1);
  try {
    generate<double>(context, spec);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

void expect_refused(const GallerySpec& spec, const std::vector<std::string>& parts) {
  const std::string message = refusal(spec);
  EXPECT_FALSE(message.empty()) << spec.name << " was accepted";
  for (const std::string& part : parts) {
    EXPECT_NE(message.find(part), std::string::npos) << "no \"" << part << "\" in: " << message;
  }
}

TEST(GalleryErrors, UnknownNamesBringTheNearest) {
  expect_refused({"laplac3d", {4, 4, 4}}, {"\"laplac3d\"", "did you mean \"laplace3d\"?", "band"});
  EXPECT_EQ(refusal({"helmholtz", {4}}).find("did you mean"), std::string::npos);
  expect_refused({"helmholtz", {4}}, {"\"helmholtz\"", "there are laplace1d, laplace2d"});
}

TEST(GalleryErrors, WrongSizesAreNamed) {
  expect_refused({"laplace3d", {4, 4}}, {"laplace3d [4, 4]", "[nx, ny, nz]", "got 2"});
  expect_refused({"laplace1d", {4, 4}}, {"[n]", "got 2"});
  expect_refused({"trefethen", {}}, {"got 0"});
  expect_refused({"random_uniform", {4, 4, 4}}, {"[n] or [rows, cols]", "got 3"});
  expect_refused({"laplace2d", {4, 0}}, {"size 2", "at least 1", "got 0"});
  expect_refused({"laplace2d", {-3, 4}}, {"size 1", "got -3"});
  expect_refused({"band", {4, -1}}, {"size 2", "at least 0"});
  expect_refused({"lattice4d", {5, 5, 4, 3}}, {"size 3", "at least 5", "got 4"});
}

TEST(GalleryErrors, TooManyRowsAreRefusedBeforeAnythingIsAllocated) {
  constexpr Index kHuge = std::numeric_limits<Index>::max();
  expect_refused({"laplace3d", {5000, 5000, 5000}}, {"125000000000 rows", "2147483647"});
  expect_refused({"laplace1d", {2147483648}}, {"2147483648 rows", "2147483647"});
  for (const GallerySpec& small : small_specs()) {
    expect_refused({small.name, std::vector<Index>(small.size.size(), kHuge), small.density},
                   {small.name, "2147483647"});
  }
}

TEST(GalleryErrors, DensitiesThatDoNotFitAreNamed) {
  expect_refused({"laplace1d", {4}, 3}, {"no density", "3"});
  expect_refused({"random_uniform", {40}, -1}, {"positive", "-1"});
  expect_refused({"rmat", {4}, std::numeric_limits<double>::quiet_NaN()}, {"nan"});
  expect_refused({"rmat", {4}, std::numeric_limits<double>::infinity()}, {"inf"});
  expect_refused({"random_uniform", {40, 8}}, {"density 16", "8 columns"});
  expect_refused({"random_symmetric", {8}, 8}, {"density 8", "7 other columns"});
  expect_refused({"rmat", {3}, 9}, {"density 9", "8 vertices"});
  expect_refused({"random_geometric", {5}}, {"density 8", "neighbours"});
}

}  // namespace
}  // namespace heddle
