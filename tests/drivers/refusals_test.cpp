#include <gtest/gtest.h>

#include <drivers/chain.hpp>
#include <drivers/refusal.hpp>
#include <heddle/drivers/solve.hpp>
#include <heddle/linalg/base/error.hpp>
#include <string>

namespace heddle {
namespace {

using test::Chain;
using test::refusal;

/// The message that a solve of `problem` is refused with; empty if it is not.
const Chain<std::int64_t> kChain(8);
const std::vector<double> kNumbers(64, 1);

TEST(Refusals, Matrices) {
  const std::vector<std::int64_t> offsets{0, 2, 4};
  const std::vector<std::int32_t> columns{0, 1, 0, 1};
  const std::vector<double> skewed{1, 0.5, 0.25, 1};
  const std::vector<double> indefinite{1, 2, 2, 1};
  EXPECT_EQ(
      refusal({.A = Matrix(2, 3, offsets, columns, skewed)}),
      "A: the matrix is 2 x 3, it must be square; normal_equations finds its singular values, "
      "or least-squares solutions");
  EXPECT_EQ(refusal({.A = {}}), "A: the matrix has no rows");
  EXPECT_EQ(refusal({.A = Matrix(2, 2, offsets, columns, skewed)}),
            "A: the matrix is not symmetric: entry (1, 2) is 0.5, entry (2, 1) is 0.25");
  const Matrix mass(2, 2, offsets, columns, indefinite);
  EXPECT_EQ(refusal({.A = kChain.matrix(), .B = mass}),
            "B: the mass matrix has order 2, the matrix has order 8");
  EXPECT_NE(refusal({.A = mass, .B = mass}).find("B: the mass matrix is not positive definite"),
            std::string::npos);
}

TEST(Refusals, Blocks) {
  const Matrix A = kChain.matrix();
  EXPECT_EQ(refusal({.A = A, .constraints = Block(3, 1, std::span(kNumbers).first(3))}),
            "constraints: the block has 3 rows, the matrix has order 8");
  EXPECT_EQ(refusal({.A = A, .rhs = Block(2, 2, std::span(kNumbers).first(4))}, {}),
            "rhs: the block has 2 rows, the matrix has order 8");
  EXPECT_EQ(refusal({.A = A,
                     .initial_guess = Block(8, 3, std::span(kNumbers).first(24)),
                     .rhs = Block(8, 2, std::span(kNumbers).first(16))},
                    {}),
            "initial_guess: the initial guess has 3 columns, there are 2 right-hand sides");
}

TEST(Refusals, UnusedParts) {
  const Matrix A = kChain.matrix();
  const Block ones(8, 1, std::span(kNumbers).first(8));
  EXPECT_EQ(refusal({.A = A, .constraints = ones, .rhs = ones}, {}),
            "constraints: block_cg takes none");
  EXPECT_EQ(refusal({.A = A, .constraints = ones, .normal_equations = true}),
            "constraints: does not go with normal_equations");
  EXPECT_EQ(refusal({.A = A, .constraints = ones, .rhs = ones, .normal_equations = true}, {}),
            "constraints: does not go with normal_equations");
  EXPECT_EQ(refusal({.A = A, .B = A, .normal_equations = true}),
            "B: does not go with normal_equations");
}

TEST(Refusals, Transposes) {
  const std::vector<std::int64_t> offsets{0, 1, 2};
  const std::vector<std::int32_t> columns{0, 1};
  const std::vector<double> values{1, 2};
  const Matrix wide(2, 3, offsets, columns, values);
  EXPECT_EQ(refusal({.A = wide, .normal_equations = true, .A_transposed = wide}),
            "A: the matrix is 2 x 3, A_transposed 2 x 3");
  EXPECT_EQ(refusal({.A = wide, .normal_equations = true}), "");
}

TEST(Refusals, Requests) {
  const Problem problem{.A = kChain.matrix()};
  EXPECT_EQ(refusal(problem, {.nev = 9}),
            "nev is 9, but the matrix has order 8: nev must be at most 8");
  EXPECT_EQ(refusal(problem, {.nev = 20}),
            "nev is 20, but the matrix has order 8: nev must be at most 8");
  EXPECT_EQ(refusal(problem, {.method = Method::block_cg}),
            "method: block_cg needs right-hand sides, the problem has none");
  const Problem system{.A = kChain.matrix(), .rhs = Block(8, 8, kNumbers)};
  EXPECT_EQ(refusal(system, {.method = Method::lobpcg}),
            "method: lobpcg is for eigenproblems, the problem has 8 right-hand sides");
  EXPECT_EQ(refusal(problem, {.nev = 1, .preconditioner = {.type = "magic"}}),
            "no preconditioner is named \"magic\", the names are: jacobi, block_jacobi, chebyshev, "
            "incomplete_cholesky, multigrid");
  EXPECT_EQ(refusal(problem, {.nev = 1, .which = Which::largest, .preconditioner = {}}), "");
  EXPECT_EQ(refusal(problem, {.nev = 1, .spmm = {.kernel = "magic"}, .device = DeviceChoice::host})
                .substr(0, 44),
            "spmm.kernel: magic is not known on the host;");
}

TEST(Refusals, CudssOnTheHost) {
  EXPECT_EQ(refusal({.A = kChain.matrix()}, {.method = Method::block_lanczos,
                                             .nev = 1,
                                             .factorization = FactorLibrary::cudss,
                                             .device = DeviceChoice::host}),
            "factorization: cudss factors in the memory of a GPU, and this solve runs on the host: "
            "use auto or host, or device: cuda");
}

TEST(Refusals, PreconditionersInShortNumberTypes) {
  const Problem problem{.A = kChain.matrix()};
  const auto refused = [&](std::string type, PreconditionerPrecision precision,
                           OptionValues options = {}) {
    return refusal(problem, {.method = Method::lobpcg,
                             .nev = 1,
                             .preconditioner = {.type = std::move(type),
                                                .options = std::move(options),
                                                .precision = precision}});
  };
  for (const auto precision : {PreconditionerPrecision::half, PreconditionerPrecision::bf16,
                               PreconditionerPrecision::tf32}) {
    for (const char* type : {"auto", "chebyshev", "block_jacobi", "multigrid"}) {
      EXPECT_EQ(refused(type, precision), "") << type;
    }
  }
  EXPECT_EQ(refused("incomplete_cholesky", PreconditionerPrecision::half),
            "preconditioner.precision: half: incomplete_cholesky has no products in half, bf16 or "
            "tf32; block_jacobi, chebyshev, multigrid have; use auto or double");
  EXPECT_EQ(refused("jacobi", PreconditionerPrecision::tf32),
            "preconditioner.precision: tf32: jacobi has no form in single precision; use auto or "
            "double");
  EXPECT_EQ(
      refused("chebyshev", PreconditionerPrecision::bf16, {{"degree", Index{15}}}),
      "chebyshev of degree 15: bf16 has the digits for degrees up to 14; use degree: auto, or "
      "single or double precision");
  EXPECT_EQ(refused("chebyshev", PreconditionerPrecision::half, {{"degree", Index{40}}}), "");
}

TEST(Refusals, PrecisionsOfPreconditioners) {
  const PreconditionerRequest single{.precision = PreconditionerPrecision::single};
  const Problem problem{.A = kChain.matrix()};
  EXPECT_EQ(refusal(problem, {.method = Method::lobpcg, .nev = 1, .preconditioner = single}), "");
  EXPECT_EQ(refusal(problem, {.nev = 1, .preconditioner = single}),
            "");  // by block Lanczos
  const Problem system{.A = kChain.matrix(), .rhs = Block(8, 8, kNumbers)};
  EXPECT_EQ(refusal(system, {.preconditioner = single}), "");
  EXPECT_EQ(refusal(system, {.algorithm = CgAlgorithm::pseudo_block, .preconditioner = single}),
            "preconditioner.precision: single: algorithm pseudo_block needs a preconditioner that "
            "is symmetric to the digits of double precision, breakdown_free does not; use auto or "
            "double");
  EXPECT_EQ(refusal(problem, {.method = Method::lobpcg,
                              .nev = 1,
                              .preconditioner = {.type = "jacobi", .precision = single.precision}}),
            "preconditioner.precision: single: jacobi has no form in single precision; use auto or "
            "double");
  EXPECT_EQ(refusal(problem, {.method = Method::lobpcg,
                              .nev = 1,
                              .preconditioner = {.type = "none", .precision = single.precision}}),
            "preconditioner.precision: single: there is no preconditioner; use auto or double");
  EXPECT_EQ(refusal({.A = kChain.matrix(), .preconditioner = kChain.matrix()},
                    {.method = Method::lobpcg, .nev = 1, .preconditioner = single}),
            "preconditioner.precision: single: the problem brings its own in double precision; use "
            "auto or double");
  EXPECT_EQ(refusal(problem, {.method = Method::lobpcg,
                              .nev = 1,
                              .preconditioner = {.precision = PreconditionerPrecision::full},
                              .precision = Precision::mixed}),
            "preconditioner.precision: double needs a solve in double precision; use auto, or "
            "precision: double");
  Chain<std::int64_t> graded(8);
  graded.values.back() = 1e-30;
  EXPECT_NE(
      refusal({.A = graded.matrix()},
              {.method = Method::lobpcg, .nev = 1, .preconditioner = single})
          .find("single: diagonal entry (8, 8) of the matrix is 1e-30, single precision needs"),
      std::string::npos);
}

TEST(Refusals, SinglePrecision) {
  Chain<std::int64_t> huge(8);
  for (double& value : huge.values) value *= 1e300;
  EXPECT_EQ(refusal({.A = huge.matrix()}, {.nev = 1, .precision = Precision::single}),
            "A: the matrix has an entry of size 2e+300, single precision ends at 3.4e+38: use "
            "precision: double");
  EXPECT_EQ(refusal({.A = kChain.matrix(), .preconditioner = huge.matrix()},
                    {.nev = 1, .precision = Precision::single}),
            "preconditioner: the preconditioner has an entry of size 2e+300, single precision ends "
            "at 3.4e+38: use precision: double");
}

}  // namespace
}  // namespace heddle
