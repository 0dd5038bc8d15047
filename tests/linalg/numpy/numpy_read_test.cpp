#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/numpy/npy.hpp>
#include <heddle/linalg/numpy/npz.hpp>
#include <limits>
#include <string>
#include <vector>

#include "fuzz/corpus.hpp"
#include "fuzz/numpy_property.hpp"
#include "support/csr_invariants.hpp"
#include "support/dense.hpp"
#include "support/temporary_folder.hpp"

namespace heddle {
namespace {

using Eigen::MatrixXd;

/// The matrix in the files of the corpus, which NumPy 1.24 and SciPy 1.10 wrote.
MatrixXd expected_matrix() {
  MatrixXd A = MatrixXd::Zero(6, 4);
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 4; ++j) {
      if ((i + 2 * j) % 3 == 0 && i != 4) A(i, j) = 10 * (i + 1) + j + 1;
    }
  }
  return A;
}

template <class T>
MatrixXd dense(const MultiVector<T, HostSpace>& block) {
  const ConstBlockView<T, HostSpace> X = block.view();
  MatrixXd copy(X.rows(), X.cols());
  for (Index i = 0; i < X.rows(); ++i) {
    for (Index j = 0; j < X.cols(); ++j) copy(i, j) = static_cast<double>(X(i, j));
  }
  return copy;
}

template <class T>
class NumpyRead : public testing::Test {
 protected:
  HostContext context_{2};
  const std::map<std::string, std::string> seeds_ = test::corpus("numpy");
};

using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(NumpyRead, Scalars);

TYPED_TEST(NumpyRead, ArraysOfEveryTypeAndOrder) {
  for (const std::string name :
       {"c_order", "fortran", "version2", "version3", "big_endian_float32", "int_i1", "int_u1",
        "int_i2", "int_u2", "int_i4", "int_u4", "int_i8", "int_u8"}) {
    const std::string& bytes = this->seeds_.at(name + ".npy");
    EXPECT_EQ(dense(parse_npy_block<TypeParam>(this->context_, bytes, name)), expected_matrix())
        << name;
    const auto A = parse_npy<TypeParam>(this->context_, bytes, name);
    EXPECT_EQ(test::to_dense(A.view()), expected_matrix()) << name;
    EXPECT_EQ(A.nnz(), 7) << name;
  }
  const MatrixXd column = expected_matrix().col(0);
  EXPECT_EQ(dense(parse_npy_block<TypeParam>(this->context_, this->seeds_.at("column.npy"), "")),
            column);
  const MatrixXd ones = (expected_matrix().array() != 0).cast<double>().matrix();
  EXPECT_EQ(dense(parse_npy_block<TypeParam>(this->context_, this->seeds_.at("bool.npy"), "")),
            ones);
}

TYPED_TEST(NumpyRead, SparseMatricesOfEveryFormat) {
  for (const std::string name : {"csr", "csr_stored", "csr_unsorted", "csc_float32_int64",
                                 "coo_int8", "coo_duplicates", "bsr", "dia", "zip64"}) {
    const std::string& bytes = this->seeds_.at(name + ".npz");
    const auto A = parse_npz<TypeParam>(this->context_, bytes, name);
    EXPECT_EQ(test::csr_fault(A.view()), "") << name;
    EXPECT_EQ(test::to_dense(A.view()), expected_matrix()) << name;
    EXPECT_EQ(A.nnz(), 7) << name;
    EXPECT_EQ(dense(parse_npz_block<TypeParam>(this->context_, bytes, name)), expected_matrix())
        << name;
  }
}

TYPED_TEST(NumpyRead, WhatIsWrittenIsReadToTheLastBit) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "x.npy";
  for (const Index cols : {0, 1, 3}) {
    MultiVector<TypeParam, HostSpace> X(this->context_, 5, cols);
    for (Index i = 0; i < 5; ++i) {
      for (Index j = 0; j < cols; ++j) {
        X.view()(i, j) = static_cast<TypeParam>(std::sin(static_cast<double>(7 * i + j)) / 3);
      }
    }
    write_npy<TypeParam>(path, std::as_const(X).view());
    const auto read =
        parse_npy_block<TypeParam>(this->context_, test::contents(path), path.string());
    EXPECT_EQ(read.cols(), cols);
    EXPECT_EQ(dense(read), dense(X));
  }
}

/// A block that does not fit into one part is written part by part.
TYPED_TEST(NumpyRead, WhatIsWrittenInPartsIsReadAsAWhole) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "x.npy";
  constexpr Index kRows = 1500000;
  const auto entry = [](Index i, Index j) { return static_cast<TypeParam>(2 * i + j); };
  MultiVector<TypeParam, HostSpace> part;
  Index parts = 0;
  const BlockSource<TypeParam> source(kRows, 2, [&](const BlockWindow& window) {
    ++parts;
    part = MultiVector<TypeParam, HostSpace>(this->context_, window.rows, window.columns);
    for (Index i = 0; i < window.rows; ++i) {
      for (Index j = 0; j < window.columns; ++j) {
        part.view()(i, j) = entry(window.first_row + i, window.first_column + j);
      }
    }
    return std::as_const(part).view();
  });
  write_npy(path, source);
  EXPECT_GT(parts, 1);
  const auto read = parse_npy_block<TypeParam>(this->context_, test::contents(path), path.string());
  ASSERT_EQ(read.rows(), kRows);
  Index wrong = 0;
  for (Index i = 0; i < kRows; ++i) {
    for (Index j = 0; j < 2; ++j) wrong += read.view()(i, j) != entry(i, j);
  }
  EXPECT_EQ(wrong, 0);
}

/// The bytes of an .npy file with this header and data.
std::string npy(const std::string& header, const std::string& data) {
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes.push_back(static_cast<char>(header.size() & 0xff));
  bytes.push_back(static_cast<char>(header.size() >> 8));
  return bytes + header + data;
}

/// The bytes of an array of numbers in one dimension.
template <class Element>
std::string array(const std::string& type, const std::vector<Element>& elements) {
  std::string data(elements.size() * sizeof(Element), '\0');
  if (!elements.empty()) std::memcpy(data.data(), elements.data(), data.size());
  return npy("{'descr': '" + type + "', 'fortran_order': False, 'shape': (" +
                 std::to_string(elements.size()) + ",), }\n",
             data);
}

/// The message, without the name of the file, of the refusal by `read`.
template <class Read>
std::string refusal(const Read& read) {
  try {
    read();
    return "was read";
  } catch (const InputError& error) {
    const std::string message = error.what();
    return message.rfind("file", 0) == 0 ? message.substr(message.find(": ") + 2) : message;
  }
}

void expect_words(const std::string& message, const std::string& words) {
  EXPECT_NE(message.find(words), std::string::npos) << message << "\nlacks: " << words;
}

TEST(NumpyErrors, FilesOfTheCorpus) {
  const auto seeds = test::corpus("numpy");
  const std::vector<std::pair<std::string, std::string>> files = {
      {"complex.npy", "holds complex numbers ('<c16'), only real ones can be read"},
      {"object.npy", "holds Python objects ('|O'), which are not read: save an array of numbers"},
      {"text.npy", "holds text"},
      {"cube.npy", "has the shape (2, 3, 4), which has not one or two dimensions"},
      {"scalar.npy", "has the shape (), which has not one or two dimensions"},
      {"half.npy", "holds elements of type '<f2', known are float32, float64"},
      {"structure.npy", "is an array of structures"},
      {"nan.npy", "element [3, 2] is nan, which is not finite"}};
  HostContext context(2);
  for (const auto& [name, words] : files) {
    const std::string& seed = seeds.at(name);  // clang 14 captures no structured binding
    expect_words(refusal([&] { parse_npy_block<double>(context, seed, "file"); }), words);
    expect_words(refusal([&] { parse_npy<float>(context, seed, "file"); }), words);
  }
  const std::string& large = seeds.at("large.npy");
  EXPECT_EQ(parse_npy_block<double>(context, large, "file").view()(3, 2), 1e300);
  expect_words(refusal([&] { parse_npy_block<float>(context, large, "file"); }),
               "element [3, 2] is 1e+300, which is too large for the precision asked for");
  expect_words(refusal([&] { parse_npz<double>(context, seeds.at("complex.npz"), "file"); }),
               "complex numbers");
  expect_words(refusal([&] { parse_npz<double>(context, seeds.at("dense.npz"), "file"); }),
               "holds no sparse matrix as scipy.sparse.save_npz writes it, but 'X.npy', 'Y.npy'");
}

TEST(NumpyErrors, Headers) {
  HostContext context(1);
  const auto message = [&](const std::string& bytes) {
    return refusal([&] { parse_npy_block<double>(context, bytes, "file"); });
  };
  const std::string type = "{'descr': '<f8', ";
  const std::string order = "'fortran_order': False, ";
  const std::string number(8, '\0');
  EXPECT_EQ(message(npy(type + order + "'shape': (1,)}", number)), "was read");
  EXPECT_EQ(message(npy("{\"shape\": (1L, 1L), " + order + "\"descr\": \"<f8\"}  \n", number)),
            "was read");
  expect_words(message("%%MatrixMarket"), "is not a NumPy array");
  expect_words(message(""), "is not a NumPy array");
  expect_words(message(std::string("\x93NUMPY\x07\x01", 8)), "version 7.1");
  expect_words(message("\x93NUMPY"), "ends within the header");
  expect_words(message(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff{", 13)), "ends within");
  const std::string rest = order + "'shape': (1,)}";
  for (const std::string& header :
       {std::string(), std::string("{}"), "{" + rest, type + "'shape': (1,)}", type + order + "}",
        type + order + "'shape': (-1,)}", type + order + "'shape': (1.5,)}",
        type + order + "'shape': (1,)} more", type + order + "'shape': (1,), 'shape': (1,)}",
        type + order + "'shape': (1,", type + "'fortran_order': Perhaps, 'shape': (1,)}",
        type + order + "'shape': (99999999999999999999,)}", std::string("{'descr: 1")}) {
    expect_words(message(npy(header, number)), "header of the NumPy array is damaged");
  }
  for (const std::string descr : {"f", "<f", "<fx", "<q8", "|f16", "<i3", "<M8[s]", ""}) {
    expect_words(message(npy("{'descr': '" + descr + "', " + rest, number)), "known are float32");
  }
  const std::string shape = type + order + "'shape': ";
  expect_words(message(npy(shape + "(2,)}", number)),
               "promises the shape (2,) of 8 bytes each, 8 bytes follow");
  expect_words(message(npy(shape + "(1,)}", number + "x")), "9 bytes follow");
  expect_words(message(npy(shape + "(4294967296, 4294967296)}", number)), "promises");
  expect_words(message(npy(shape + "(0, 9223372036854775807)}", "")), "promises");
  expect_words(message(npy(shape + "(3000000000, 0)}", "")), "32-bit");
  expect_words(message(npy(shape + "(2000000000, 0)}", "")), "but no elements");
}

/// A CSR matrix [[1, 0], [0, 2]] as arrays, of which a test spoils one.
class SparseArraysErrors : public testing::Test {
 protected:
  HostContext context_{1};
  std::map<std::string, std::string> files_ = {
      {"format", npy("{'descr': '|S3', 'fortran_order': False, 'shape': (), }", "csr")},
      {"shape", array<std::int64_t>("<i8", {2, 2})},
      {"data", array<double>("<f8", {1, 2})},
      {"indices", array<std::int32_t>("<i4", {0, 1})},
      {"indptr", array<std::int32_t>("<i4", {0, 1, 2})}};

  void set_format(const std::string& format) {
    files_["format"] = npy("{'descr': '|S" + std::to_string(format.size()) +
                               "', 'fortran_order': False, 'shape': (), }",
                           format);
  }

  HostCsrMatrix<double> read() {
    detail::SparseArrays arrays;
    for (const auto& [name, bytes] : files_) {
      arrays.emplace(name, detail::parse_npy_array(bytes, "file"));
    }
    return detail::assemble_sparse_arrays<double>(context_, arrays, "file");
  }

  void expect_refused(const std::string& which, const std::string& bytes,
                      const std::string& words) {
    const auto whole = files_;
    files_[which] = bytes;
    expect_words(refusal([&] { read(); }), words);
    files_ = whole;
  }
};

TEST_F(SparseArraysErrors, CompressedRows) {
  const auto ints = [](const std::vector<std::int32_t>& numbers) { return array("<i4", numbers); };
  EXPECT_EQ(test::to_dense(read().view()), (Eigen::Matrix2d{{1, 0}, {0, 2}}));
  expect_refused("indices", ints({0, 2}),
                 "element [1] of 'indices' is 2, an index outside the 2 x 2 matrix");
  expect_refused("indices", ints({-1, 0}), "element [0] of 'indices' is -1");
  expect_refused("indices", array<std::uint64_t>("<u8", {0, ~std::uint64_t{0}}),
                 "[1] of 'indices'");
  expect_refused("indices", ints({0}), "'indices' holds 1 numbers where the others take 2");
  expect_refused("indices", array<double>("<f8", {0, 1}), "'indices' does not hold integers");
  expect_refused("indices", array<std::complex<double>>("<c16", {0, 1}), "does not hold integers");
  expect_refused("indptr", ints({0, 2}), "'indptr' holds 2 numbers where the others take 3");
  expect_refused("indptr", ints({0, 2, 1}), "element [2] of 'indptr' is 1: offsets ascend");
  expect_refused("indptr", ints({0, 1, 3}), "from 0 to at most 2");
  expect_refused("indptr", ints({1, 1, 2}), "element [0] of 'indptr' is 1");
  expect_refused("shape", ints({2}), "has 1 numbers, not two");
  expect_refused("shape", ints({-2, 2}), "shape (-2, 2)");
  expect_refused("shape", array<std::int64_t>("<i8", {2, std::int64_t{1} << 31}), "2147483647");
  expect_refused("shape", ints({2000000000, 2}), "claims 2000000000 rows for only 2 entries");
  expect_refused("data", array<double>("<f8", {1, std::nan("")}), "element [1] is nan");
  set_format("lil");
  expect_words(refusal([&] { read(); }), "the format 'lil', known are csr, csc, coo, bsr and dia");
  set_format("coo");
  expect_words(refusal([&] { read(); }), "lacks the array 'row'");
  set_format("bsr");
  expect_words(refusal([&] { read(); }), "'data' has the shape (2,), which has not 3 dimensions");
  files_.erase("data");
  expect_words(refusal([&] { read(); }), "lacks the array 'data'");
}

TEST_F(SparseArraysErrors, OtherFormats) {
  const std::string numbers(2 * 8, '\0');
  set_format("coo");
  files_["row"] = files_["col"] = array<std::int16_t>("<i2", {0, 1});
  EXPECT_EQ(test::to_dense(read().view()), (Eigen::Matrix2d{{1, 0}, {0, 2}}));
  expect_refused("row", array<std::int16_t>("<i2", {0, 2}), "[1] of 'row' is 2");
  expect_refused("col", array<std::int16_t>("<i2", {0}), "'col' holds 1 numbers");
  const double most = std::numeric_limits<double>::max();
  files_["row"] = files_["col"] = array<std::int16_t>("<i2", {0, 0});
  expect_refused("data", array<double>("<f8", {most, most}), "sum that is not finite");
  set_format("dia");
  const std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': ";
  files_["data"] = npy(header + "(1, 2)}", numbers);
  expect_refused("offsets", array<std::int32_t>("<i4", {0, 1}), "'offsets' holds 2 numbers");
  files_["offsets"] = array<std::int64_t>("<i8", {std::numeric_limits<std::int64_t>::min()});
  EXPECT_EQ(read().nnz(), 0);  // a diagonal beyond the matrix
  set_format("bsr");
  files_["data"] = npy(header + "(1, 2, 1)}", numbers);
  expect_refused("shape", array<std::int32_t>("<i4", {3, 2}),
                 "blocks of 2 x 1 do not divide the 3 x 2 matrix");
}

/// An archive of the corpus with one field of its directory changed.
class ZipErrors : public testing::Test {
 protected:
  HostContext context_{1};
  std::string bytes_ = test::corpus("numpy").at("csr.npz");
  std::size_t entry_ = bytes_.find("PK\x01\x02");

  std::string refused() {
    return refusal([&] { parse_npz<double>(context_, bytes_, "file"); });
  }
};

TEST_F(ZipErrors, Members) {
  const std::string whole = bytes_;
  ASSERT_NE(entry_, std::string::npos);
  EXPECT_EQ(refused(), "was read");
  bytes_[entry_ + 8] = static_cast<char>(bytes_[entry_ + 8] | 1);
  expect_words(refused(), "'indices.npy' is encrypted");
  bytes_ = whole;
  bytes_[entry_ + 10] = 12;
  expect_words(refused(),
               "'indices.npy' is compressed by method 12, known are stored and deflated");
  bytes_ = whole;
  bytes_[entry_ + 16] = static_cast<char>(bytes_[entry_ + 16] ^ 1);
  expect_words(refused(), "the checksum of member 'indices.npy' is wrong");
  bytes_ = whole;
  bytes_[entry_ + 27] = 0x70;  // almost 2 GB
  expect_words(refused(), "which is impossible");
  bytes_ = whole;
  bytes_[entry_ + 24] = static_cast<char>(bytes_[entry_ + 24] + 1);
  expect_words(refused(), "the compressed data of member 'indices.npy' are damaged");
  bytes_ = whole;
  bytes_[entry_ + 45] = 0x70;
  expect_words(refused(), "refers to bytes behind its end");
  bytes_ = whole;
  const std::size_t name = whole.find("indptr", entry_);
  bytes_.replace(name, 6, "format");
  expect_words(refused(), "two members of the name 'format.npy'");
}

TEST_F(ZipErrors, TruncatedAndMultipart) {
  const std::string whole = bytes_;
  bytes_.resize(whole.size() - 1);
  expect_words(refused(), "the zip archive is truncated");
  bytes_.resize(whole.size() / 2);
  expect_words(refused(), "the zip archive is truncated");
  bytes_ = whole;
  bytes_[whole.size() - 22 + 4] = 1;
  expect_words(refused(), "in several parts");
  bytes_ = whole.substr(1);  // all offsets are off by one
  expect_words(refused(), "directory of the zip archive is damaged");
}

TEST(NumpyMutations, SeedsAndChangedSeedsAreReadOrRefused) {
  test::expect_read_or_refused("numpy", test::numpy_fault);
}

}  // namespace
}  // namespace heddle
