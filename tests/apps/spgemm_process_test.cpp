#include <gtest/gtest.h>

#include <apps/executable.hpp>
#include <apps/process.hpp>
#include <filesystem>
#include <heddle/linalg/gallery/gallery.hpp>
#include <heddle/linalg/matrix_market/matrix_market.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <heddle/spgemm/spgemm.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <support/csr_invariants.hpp>
#include <support/matrices.hpp>
#include <support/temporary_folder.hpp>
#include <utility>
#include <vector>

namespace heddle::apps {
namespace {

using test::ProcessResult;

/// Runs `heddle spgemm` without a GPU in a folder with the matrices A, 12×8, and B, 8×5.
class HeddleSpgemm : public testing::Test {
 protected:
  void SetUp() override {
    write_matrix_market(folder_.path() / "A.mtx", A_.view());
    write_matrix_market(folder_.path() / "B.mtx", B_.view());
  }

  ProcessResult run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(),
                     {"CUDA_VISIBLE_DEVICES=", test::executable("heddle"), "spgemm"});
    return test::run_process(folder_.path(), arguments);
  }

  /// Runs with these arguments and the output C.mtx, which must equal `expected`.
  void expect_product(std::vector<std::string> arguments, CsrView<double, HostSpace> expected) {
    arguments.insert(arguments.end(), {"-o", "C.mtx"});
    const ProcessResult result = run(arguments);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const auto C = read_matrix_market<double>(context_, folder_.path() / "C.mtx");
    EXPECT_TRUE(heddle::test::same_bits(C.view(), expected));
  }

  HostCsrMatrix<double> product(CsrView<double, HostSpace> left, CsrView<double, HostSpace> right) {
    return spgemm<double>(context_, left, right);
  }

  HostContext context_{2};
  heddle::test::TestMatrix<double> A_ = heddle::test::random_matrix<double>(12, 8, 3);
  heddle::test::TestMatrix<double> B_ = heddle::test::random_matrix<double>(8, 5, 2);
  heddle::test::TemporaryFolder folder_;
};

TEST_F(HeddleSpgemm, WritesTheProductOfEachKind) {
  const auto At = transpose<double>(context_, A_.view());
  const auto Bt = transpose<double>(context_, B_.view());
  expect_product({"A.mtx", "B.mtx"}, product(A_.view(), B_.view()).view());
  expect_product({"A.mtx", "--transpose"}, product(A_.view(), At.view()).view());
  const auto L = generate<double>(context_, {"laplace2d", {4, 2}});
  const auto LL = product(L.view(), L.view());
  expect_product({"laplace2d:4,2"}, LL.view());
  expect_product({"laplace2d:4,2", "--self"}, LL.view());
  expect_product({"laplace2d:4,2", "--power", "4"},
                 product(product(LL.view(), L.view()).view(), L.view()).view());
  const auto LB = product(L.view(), B_.view());
  expect_product({"laplace2d:4,2", "--galerkin", "B.mtx"}, product(Bt.view(), LB.view()).view());
}

TEST_F(HeddleSpgemm, ReportsAsText) {
  const ProcessResult result = run({"laplace2d:9,9", "--format", "csr"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (const char* part : {"A A\n", "81 rows, 81 columns, 877 entries", "1709 multiplications",
                           "format: csr (asked for)", " ms on the host\n"}) {
    EXPECT_NE(result.out.find(part), std::string::npos) << part << " is not in:\n" << result.out;
  }
}

TEST_F(HeddleSpgemm, ReportsAsJson) {
  const ProcessResult result = run({"laplace2d:9,9", "--galerkin", "laplace2d:9,9", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto products = nlohmann::json::parse(result.out).at("products");
  ASSERT_EQ(products.size(), 2u);
  EXPECT_EQ(products[0].at("formula"), "A P");
  EXPECT_EQ(products[0].at("nnz"), 877);
  EXPECT_EQ(products[0].at("multiplications"), 1709);
  EXPECT_EQ(products[0].at("device"), "the host");
  EXPECT_GT(products[0].at("seconds"), 0.0);
  EXPECT_EQ(products[1].at("formula"), "Pᵀ (A P)");
}

/// By diagonals the product has the same pattern and, with small integers, the same values.
TEST_F(HeddleSpgemm, MultipliesBandsByDiagonals) {
  const auto L = generate<double>(context_, {"laplace2d", {30, 20}});
  const auto LL = product(L.view(), L.view());
  expect_product({"laplace2d:30,20"}, LL.view());
  expect_product({"laplace2d:30,20", "--format", "dia"}, LL.view());
  expect_product({"laplace2d:30,20", "--format", "csr", "--power", "3"},
                 product(LL.view(), L.view()).view());
  expect_product({"laplace2d:30,20", "--power", "3"}, product(LL.view(), L.view()).view());

  const auto report = [&](std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    const ProcessResult result = run(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return nlohmann::json::parse(result.out).at("products").at(0);
  };
  const auto band = report({"laplace2d:30,20"});
  EXPECT_EQ(band.at("format"), "dia");
  EXPECT_NE(band.at("format_reason").get<std::string>().find("A has 5 diagonals, 96.7 % full"),
            std::string::npos)
      << band;
  EXPECT_EQ(band.at("nnz"), LL.nnz());
  EXPECT_EQ(report({"laplace2d:30,20", "--format", "csr"}).at("format"), "csr");
  const auto graph = report({"rmat:7:4"});
  EXPECT_EQ(graph.at("format"), "csr");
  EXPECT_NE(graph.at("format_reason").get<std::string>().find("bands from 75 % on"),
            std::string::npos);
}

TEST_F(HeddleSpgemm, RefusesDiagonalsOfAScatteredMatrix) {
  const ProcessResult result = run({"random_uniform:3000:2", "--format", "dia"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("use --format csr"), std::string::npos) << result.err;
  const ProcessResult shapes = run({"A.mtx", "A.mtx", "--format", "dia"});
  EXPECT_EQ(shapes.exit_code, 1);
  EXPECT_NE(shapes.err.find("A is 12x8, B is 12x8"), std::string::npos) << shapes.err;
  EXPECT_EQ(run({"A.mtx", "B.mtx", "--format", "ell"}).exit_code, 1);
}

TEST_F(HeddleSpgemm, WorksInSinglePrecision) {
  const ProcessResult result = run({"A.mtx", "B.mtx", "--precision", "single", "-o", "C.mtx"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto C = read_matrix_market<float>(context_, folder_.path() / "C.mtx");
  const auto A = convert<float>(context_, A_.view());
  const auto B = convert<float>(context_, B_.view());
  const auto expected = spgemm<float>(context_, A.view(), B.view());
  EXPECT_TRUE(heddle::test::same_bits(C.view(), expected.view()));
}

TEST_F(HeddleSpgemm, RefusesAProductBeyondTheRangeOfItsNumbers) {
  folder_.write("big.mtx",
                "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 1 1e160\n");
  folder_.write("row.mtx", "%%MatrixMarket matrix coordinate real general\n2 1 1\n1 1 1e160\n");
  const ProcessResult result = run({"big.mtx", "row.mtx", "-o", "C.mtx"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("entry (2, 1) of A B is beyond the range of double precision: scale "
                            "the factors"),
            std::string::npos)
      << result.err;
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "C.mtx"));
  folder_.write("root.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1e20\n");
  const ProcessResult single = run({"root.mtx", "--precision", "single"});
  EXPECT_NE(single.err.find("of A A is beyond the range of single precision: choose double"),
            std::string::npos)
      << single.err;
  EXPECT_EQ(run({"root.mtx"}).exit_code, 0);
}

TEST_F(HeddleSpgemm, MultipliesMatricesWithoutEntriesByDiagonals) {
  const std::string head = "%%MatrixMarket matrix coordinate real general\n";
  for (const std::string shape : {"3 0", "0 3", "3 3", "0 0"}) {
    folder_.write(shape + ".mtx", head + shape + " 0\n");
  }
  for (const auto& [left, right, product] : {std::tuple{"3 0", "0 3", "3 3"},
                                             {"0 3", "3 0", "0 0"},
                                             {"3 3", "3 3", "3 3"},
                                             {"0 0", "0 0", "0 0"},
                                             {"3 3", "3 0", "3 0"},
                                             {"0 3", "3 3", "0 3"}}) {
    for (const std::string format : {"csr", "dia", "auto"}) {
      const ProcessResult result = run({left + std::string(".mtx"), right + std::string(".mtx"),
                                        "--format", format, "-o", "C.mtx"});
      ASSERT_EQ(result.exit_code, 0) << left << " " << right << " " << format << result.err;
      const auto C = read_matrix_market<double>(context_, folder_.path() / "C.mtx");
      EXPECT_EQ(std::to_string(C.rows()) + " " + std::to_string(C.cols()), product);
      EXPECT_EQ(C.nnz(), 0);
    }
  }
}

TEST_F(HeddleSpgemm, RefusesWhatDoesNotFit) {
  const ProcessResult shapes = run({"A.mtx", "A.mtx"});
  EXPECT_EQ(shapes.exit_code, 1);
  EXPECT_NE(shapes.err.find("A is 12x8, B is 12x8"), std::string::npos) << shapes.err;
  const ProcessResult two = run({"A.mtx", "B.mtx", "--transpose"});
  EXPECT_EQ(two.exit_code, 1);
  EXPECT_NE(two.err.find("B excludes --transpose"), std::string::npos) << two.err;
  EXPECT_EQ(run({}).exit_code, 1);
  EXPECT_EQ(run({"A.mtx", "--power", "1"}).exit_code, 1);
  EXPECT_EQ(run({"none.mtx"}).exit_code, 2);
  const ProcessResult unwritable = run({"A.mtx", "B.mtx", "-o", "missing/C.mtx"});
  EXPECT_EQ(unwritable.exit_code, 2) << unwritable.err;
}

}  // namespace
}  // namespace heddle::apps
