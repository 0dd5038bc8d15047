#include <gtest/gtest.h>

#include <cmath>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/numpy/npy.hpp>
#include <heddle/linalg/numpy/npz.hpp>
#include <string>
#include <utility>
#include <vector>

#include "fuzz/corpus.hpp"
#include "support/csr_invariants.hpp"
#include "support/dense.hpp"
#include "support/temporary_folder.hpp"

namespace heddle {
namespace {

using Complex = std::complex<double>;

class NumpyComplex : public testing::Test {
 protected:
  HostContext context_{2};
  const std::map<std::string, std::string> seeds_ = test::corpus("numpy");

  Eigen::MatrixXcd block(const std::string& bytes) {
    const auto X = parse_npy_block<Complex>(context_, bytes, "file");
    return test::to_dense(std::as_const(X).view());
  }

  template <class Read>
  std::string refusal(const Read& read) {
    try {
      read();
      return "was read";
    } catch (const InputError& error) {
      return error.what();
    }
  }
};

/// The matrix in the files complex_* and complex64_* of the corpus, which NumPy 2.4 and SciPy 1.17
/// wrote. Without imaginary parts it is that of the other files.
Eigen::MatrixXcd expected_complex(bool imaginary) {
  Eigen::MatrixXcd A = Eigen::MatrixXcd::Zero(6, 4);
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 4; ++j) {
      if ((i + 2 * j) % 3 != 0 || i == 4) continue;
      A(i, j) = {10.0 * (i + 1) + j + 1, imaginary ? i - 2.0 * j : 0};
    }
  }
  return A;
}

TEST_F(NumpyComplex, ArraysOfEveryTypeAndOrder) {
  for (const std::string name :
       {"complex_c_order", "complex64_fortran", "complex_big_endian", "complex64_big_endian"}) {
    const std::string& bytes = seeds_.at(name + ".npy");
    EXPECT_EQ(block(bytes), expected_complex(true)) << name;
    const auto A = parse_npy<Complex>(context_, bytes, name);
    EXPECT_EQ(test::csr_fault(A.view()), "") << name;
    EXPECT_EQ(test::to_dense(A.view()), expected_complex(true)) << name;
    EXPECT_EQ(A.nnz(), 7) << name;
  }
}

TEST_F(NumpyComplex, SparseMatrices) {
  for (const std::string name : {"complex_coo", "complex64_csc", "complex_csr_big_endian"}) {
    const std::string& bytes = seeds_.at(name + ".npz");
    const auto A = parse_npz<Complex>(context_, bytes, name);
    EXPECT_EQ(test::csr_fault(A.view()), "") << name;
    EXPECT_EQ(test::to_dense(A.view()), expected_complex(true)) << name;
    EXPECT_EQ(A.nnz(), 7) << name;
    const auto X = parse_npz_block<Complex>(context_, bytes, name);
    EXPECT_EQ(test::to_dense(std::as_const(X).view()), expected_complex(true)) << name;
  }
}

TEST_F(NumpyComplex, RealFilesHaveNoImaginaryPart) {
  for (const std::string name : {"c_order", "big_endian_float32", "int_i1", "int_u8"}) {
    EXPECT_EQ(block(seeds_.at(name + ".npy")), expected_complex(false)) << name;
  }
  for (const std::string name : {"csr", "csc_float32_int64", "coo_int8", "bsr", "dia"}) {
    const auto A = parse_npz<Complex>(context_, seeds_.at(name + ".npz"), name);
    EXPECT_EQ(test::to_dense(A.view()), expected_complex(false)) << name;
  }
}

TEST_F(NumpyComplex, WhatIsWrittenIsReadToTheLastBit) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "x.npy";
  for (const Index cols : {0, 1, 3}) {
    MultiVector<Complex, HostSpace> X(context_, 5, cols);
    for (Index i = 0; i < 5; ++i) {
      for (Index j = 0; j < cols; ++j) {
        X.view()(i, j) = {std::sin(static_cast<double>(7 * i + j)) / 3,
                          1e300 / static_cast<double>(i + 3)};
      }
    }
    write_npy<Complex>(path, std::as_const(X).view());
    const std::string bytes = test::contents(path);
    EXPECT_NE(bytes.find("{'descr': '<c16', 'fortran_order': False, 'shape': (5, " +
                         std::to_string(cols) + "), }"),
              bytes.npos);
    EXPECT_EQ(block(bytes), test::to_dense(std::as_const(X).view()));
  }
}

TEST_F(NumpyComplex, Refusals) {
  const auto expect_words = [](const std::string& message, const std::string& words) {
    EXPECT_NE(message.find(words), std::string::npos) << message << "\nlacks: " << words;
  };
  expect_words(refusal([&] { block(seeds_.at("complex_nan.npy")); }),
               "element [1, 0] is 3-infi, which is not finite");
  expect_words(refusal([&] { block(seeds_.at("nan.npy")); }),
               "element [3, 2] is nan, which is not finite");
  expect_words(refusal([&] { block(seeds_.at("complex_long.npy")); }),
               "holds elements of type '<c32', known are float32, float64, complex64, complex128, "
               "integers of 8 to 64 bits and bool");
  expect_words(refusal([&] { block(seeds_.at("text.npy")); }), "holds text");
  std::string truncated = seeds_.at("complex_c_order.npy");
  truncated.resize(truncated.size() - 8);  // an imaginary part
  expect_words(refusal([&] { block(truncated); }),
               "promises the shape (6, 4) of 16 bytes each, 376 bytes follow");
  for (const std::string name : {"complex64_fortran", "complex_big_endian"}) {
    const std::string& bytes = seeds_.at(name + ".npy");
    const std::string type = name == "complex64_fortran" ? "<c8" : ">c16";
    const std::string words = "holds complex numbers ('" + type + "'), only real ones can be read";
    expect_words(refusal([&] { parse_npy_block<double>(context_, bytes, "file"); }), words);
    expect_words(refusal([&] { parse_npy<float>(context_, bytes, "file"); }), words);
  }
  for (const std::string name : {"complex_coo", "complex64_csc"}) {
    const std::string& bytes = seeds_.at(name + ".npz");
    expect_words(refusal([&] { parse_npz<double>(context_, bytes, "file"); }),
                 "holds complex numbers");
    expect_words(refusal([&] { parse_npz_block<float>(context_, bytes, "file"); }),
                 "holds complex numbers");
  }
}

}  // namespace
}  // namespace heddle
