#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/formats/formats.hpp>
#include <heddle/linalg/matrix_market/matrix_market.hpp>
#include <heddle/linalg/numpy/npy.hpp>
#include <string>

#include "fuzz/corpus.hpp"
#include "support/csr_invariants.hpp"
#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/temporary_folder.hpp"

namespace heddle {
namespace {

class Formats : public testing::Test {
 protected:
  HostContext context_{1};
  test::TemporaryFolder folder_;

  Eigen::MatrixXd read(const std::string& name, const std::string& bytes) {
    return test::to_dense(read_matrix<double>(context_, folder_.write(name, bytes)).view());
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

  std::string gzipped(const std::string& bytes) {
    const auto path = folder_.path() / "packed.gz";
    const gzFile file = gzopen(path.c_str(), "wb");
    gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
    gzclose(file);
    return test::contents(path);
  }
};

const std::string kMatrixMarket = "%%matrixmarket matrix coordinate real general\n2 2 1\n1 2 5\n";
const Eigen::MatrixXd kMatrix = Eigen::Matrix2d{{0, 5}, {0, 0}};

TEST_F(Formats, FirstBytesTellTheFormatWhateverTheName) {
  const auto seeds = test::corpus("numpy");
  const Eigen::MatrixXd expected = read("a.npy", seeds.at("c_order.npy"));
  EXPECT_EQ(expected(0, 3), 14);
  for (const std::string name : {"a", "b.txt", "c.mtx", "d.npz", "e.gz", "f.npy.gz"}) {
    EXPECT_EQ(read(name, kMatrixMarket), kMatrix) << name;
    EXPECT_EQ(read(name, "\xEF\xBB\xBF" + kMatrixMarket), kMatrix) << name;
    EXPECT_EQ(read(name, gzipped(kMatrixMarket)), kMatrix) << name;
    for (const std::string seed : {"fortran.npy", "csr.npz", "zip64.npz"}) {
      EXPECT_EQ(read(name, seeds.at(seed)), expected) << name << " " << seed;
      EXPECT_EQ(read(name, gzipped(seeds.at(seed))), expected) << name << " " << seed;
    }
  }
}

TEST_F(Formats, ElseTheExtensionDoes) {
  const std::string edges = "0 1 5\n";
  for (const std::string name :
       {"a.txt", "a.tsv", "a.edges", "a.edgelist", "a.el", "A.TXT", "a.b.txt.gz"}) {
    EXPECT_EQ(read(name, edges), kMatrix) << name;
    EXPECT_EQ(read(name, gzipped(edges)), kMatrix) << name;
  }
  const auto message = [&](const std::string& name, const std::string& bytes) {
    return refusal([&] { read(name, bytes); });
  };
  EXPECT_NE(message("a.mtx", edges).find("is not a Matrix Market file"), std::string::npos);
  EXPECT_NE(message("a.npy", edges).find("is not a NumPy array"), std::string::npos);
  EXPECT_NE(message("a.npz", edges).find("zip archive is truncated"), std::string::npos);
  for (const std::string name : {"a", "a.dat", "a.gz"}) {
    EXPECT_NE(
        message(name, edges)
            .find("neither its first bytes nor its name show a format that can be read: Matrix "
                  "Market (.mtx), NumPy (.npy), SciPy sparse (.npz), edge list (.txt, .tsv, "
                  ".edges, .edgelist, .el)"),
        std::string::npos)
        << message(name, edges);
  }
  EXPECT_NE(message("a.tar.gz", std::string(257, '\0') + "ustar").find("is a tar archive"),
            std::string::npos);
  EXPECT_NE(message("none/a.mtx", edges).find("cannot be opened"), std::string::npos);
}

TEST_F(Formats, FilesOfOtherKindsAreNamed) {
  const auto bytes = [](std::string_view text) { return std::string(text); };
  const std::string harwell_boeing =
      "1SYMMETRIC STRUCTURE, FEAPLATE                                          CAN   24\n"
      "             9             2             7             0             0\n"
      "PSA                       24            24            92             0\n";
  using namespace std::string_literals;
  const std::vector<std::pair<std::string, std::string>> files = {
      {bytes("\xFD"
             "7zXZ\0\0\4"),
       "is compressed by xz"},
      {"BZh91AY&SY", "is compressed by bzip2"},
      {"\x28\xB5\x2F\xFD\x04", "is compressed by zstd"},
      {"7z\xBC\xAF\x27\x1C", "is a 7z archive"},
      {"MATLAB 5.0 MAT-file, Platform: GLNXA64", "is a MATLAB file"},
      {"MATLAB 7.3 MAT-file, Platform: GLNXA64", "is a MATLAB file"},
      {"\x89HDF\r\n\x1a\n", "is an HDF5 file"},
      {"\0\x12\x7B\x50\0\0\0\3"s, "is a binary matrix of PETSc"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
       "is a pointer of Git LFS in place of the file: fetch the file with git lfs pull"},
      {"\xFF\xFE%\0%\0M\0"s, "is text in UTF-16"},
      {"\n <!DOCTYPE html>\n<html><body>404</body></html>\n", "is a web page"},
      {"<?xml version=\"1.0\"?>\n<graphml>\n", "is a web page or another XML file"},
      {std::string(257, '\0') + "ustar", "is a tar archive"},
      {"1,2,0.5\n2,3,1\n", "is a CSV file"},
      {"# from;to\n1;2\n", "is a CSV file"},
      {harwell_boeing, "is a Harwell-Boeing file"}};
  for (const auto& [content, words] : files) {
    for (const std::string name : {"a", "a.mtx", "a.txt", "a.npy"}) {
      for (const std::string& packed : {content, gzipped(content)}) {
        const std::string message = refusal([&] { read(name, packed); });
        EXPECT_NE(message.find(words), std::string::npos) << name << ": " << message;
        EXPECT_NE(
            refusal([&] { read_block<double>(context_, folder_.write(name, packed)); }).find(words),
            std::string::npos)
            << name;
      }
    }
  }
  for (const auto& [name, words] : std::vector<std::pair<std::string, std::string>>{
           {"a.rsa", "Harwell-Boeing"}, {"a.csv", "CSV"}, {"a.MAT", "MATLAB"}, {"a.h5", "HDF5"}}) {
    const std::string& file = name;  // clang 14 captures no structured binding
    const std::string message = refusal([&] { read(file, "from,to\n"); });
    EXPECT_NE(message.find(words), std::string::npos) << message;
  }
}

TEST_F(Formats, AByteOrderMarkBeforeTextIsSkipped) {
  EXPECT_EQ(read("a.txt",
                 "\xEF\xBB\xBF"
                 "0 1 5\n"),
            kMatrix);
  EXPECT_EQ(read("a.txt", "\xEF\xBB\xBF# edges\n0 1 5\n"), kMatrix);
}

TEST_F(Formats, TheFirstLineOfAnEdgeListIsReadAsAskedFor) {
  const auto path = folder_.write("a.txt", "2 1\n1 2\n");
  EXPECT_NE(refusal([&] { read_matrix<double>(context_, path); }).find("first_line: sizes"),
            std::string::npos);
  EXPECT_EQ(test::to_dense(read_matrix<double>(context_, path, FirstLine::sizes).view()),
            (Eigen::Matrix2d{{0, 1}, {0, 0}}));
  EXPECT_EQ(test::to_dense(read_matrix<double>(context_, path, FirstLine::edge).view()),
            (Eigen::Matrix2d{{0, 1}, {1, 0}}));
}

TEST_F(Formats, BlocksComeFromEveryFormatButEdgeLists) {
  const auto seeds = test::corpus("numpy");
  for (const std::string seed : {"c_order.npy", "csr.npz"}) {
    const auto X = read_block<double>(context_, folder_.write("x", seeds.at(seed)));
    EXPECT_EQ(X.view()(5, 2), 63) << seed;
    EXPECT_EQ(X.view()(4, 0), 0) << seed;
  }
  EXPECT_EQ(read_block<double>(context_, folder_.write("x", kMatrixMarket)).view()(0, 1), 5);
  const auto list = folder_.write("x.txt", "1 2\n");
  const std::string message = refusal([&] { read_block<double>(context_, list); });
  EXPECT_NE(message.find("is taken for an edge list, which holds no vectors; they are read from "
                         "Matrix Market (.mtx), NumPy (.npy), SciPy sparse (.npz)"),
            std::string::npos)
      << message;
}

TEST_F(Formats, WhatIsWrittenIsRead) {
  const auto A = test::random_matrix<double>(40, 30, 4);
  write_matrix_market<double>(folder_.path() / "a.mtx", A.view());
  const auto read = read_matrix<double>(context_, folder_.path() / "a.mtx");
  EXPECT_TRUE(test::same_bits(read.view(), A.view()));
  const auto X = read_block<double>(context_, folder_.path() / "a.mtx");
  write_matrix_market<double>(folder_.path() / "x.mtx", X.view());
  write_npy<double>(folder_.path() / "x.npy", X.view());
  for (const std::string name : {"x.mtx", "x.npy"}) {
    const auto Y = read_block<double>(context_, folder_.path() / name);
    ASSERT_EQ(Y.rows(), 40);
    ASSERT_EQ(Y.cols(), 30);
    for (Index i = 0; i < 40; ++i) {
      for (Index j = 0; j < 30; ++j) ASSERT_EQ(Y.view()(i, j), X.view()(i, j)) << name;
    }
    const auto dense = read_matrix<double>(context_, folder_.path() / name);
    EXPECT_TRUE(test::same_bits(dense.view(), A.view())) << name;
  }
}

using Complex = std::complex<double>;

TEST_F(Formats, ComplexFilesAreToldByTheirHeader) {
  const auto seeds = test::corpus("numpy");
  const auto holds = [&](const std::string& bytes) {
    const bool plain = holds_complex_numbers(folder_.write("a", bytes));
    EXPECT_EQ(holds_complex_numbers(folder_.write("b.txt", gzipped(bytes))), plain);
    return plain;
  };
  const std::string coordinate = "%%MatrixMarket matrix coordinate ";
  EXPECT_TRUE(holds(coordinate + "complex hermitian\n1 1 1\n1 1 1 0\n"));
  EXPECT_TRUE(holds("\xEF\xBB\xBF%%matrixmarket MATRIX array\tComplex general\r\n"));
  EXPECT_TRUE(holds(coordinate + "complex general\n%" + std::string(3 << 20, 'x')));
  const std::vector<std::string> others = {kMatrixMarket,
                                           coordinate + "real general\n% complex\n1 1 0\n",
                                           coordinate,
                                           "%MatrixMarket matrix coordinate complex general\n",
                                           "1 complex complex 2\n",
                                           "1 2 3\n",
                                           "{'descr': '<c16'}",
                                           ""};
  for (const std::string& text : others) {
    EXPECT_FALSE(holds(text)) << text;
  }
  for (const auto& [name, bytes] : seeds) {
    const bool array = name.find(".arrays") == std::string::npos && name != "complex_long.npy";
    EXPECT_EQ(holds(bytes), array && name.find("complex") == 0) << name;
  }
  const std::string npy = seeds.at("complex_c_order.npy"), npz = seeds.at("complex_coo.npz");
  EXPECT_TRUE(holds(npy.substr(0, 128)));  // without data, which is for the reader to refuse
  EXPECT_FALSE(holds(npy.substr(0, 60)));
  EXPECT_FALSE(holds(npz.substr(0, npz.size() - 1)));
  EXPECT_FALSE(holds_complex_numbers(folder_.path()));
  EXPECT_FALSE(holds_complex_numbers(folder_.path() / "none.mtx"));
  EXPECT_FALSE(holds_complex_numbers(folder_.write("c.mtx", gzipped(kMatrixMarket).substr(0, 12))));
}

TEST_F(Formats, ComplexNumbersAreReadFromEveryFormat) {
  const auto read_complex = [&](const std::string& name, const std::string& bytes) {
    return test::to_dense(read_matrix<Complex>(context_, folder_.write(name, bytes)).view());
  };
  const auto seeds = test::corpus("numpy");
  const std::string text = "%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 2 5 -1\n";
  const Eigen::MatrixXcd expected = Eigen::Matrix2cd{{0, Complex(5, -1)}, {0, 0}};
  EXPECT_EQ(read_complex("a", text), expected);
  EXPECT_EQ(read_complex("a", gzipped(text)), expected);
  for (const std::string name : {"complex_c_order.npy", "complex_coo.npz"}) {
    EXPECT_EQ(read_complex("a", seeds.at(name))(5, 2), Complex(63, 1)) << name;
    const auto X = read_block<Complex>(context_, folder_.write("x", gzipped(seeds.at(name))));
    EXPECT_EQ(X.view()(5, 2), Complex(63, 1)) << name;
    EXPECT_NE(refusal([&] { read("a", seeds.at(name)); }).find("holds complex numbers"),
              std::string::npos);
  }
  EXPECT_NE(refusal([&] { read("a", text); }).find("complex numbers cannot be read as real ones"),
            std::string::npos);
  EXPECT_EQ(read_block<Complex>(context_, folder_.write("x", text)).view()(0, 1), Complex(5, -1));
  // Real files.
  EXPECT_EQ(read_complex("a", kMatrixMarket), kMatrix.cast<Complex>());
  EXPECT_EQ(read_complex("a", seeds.at("csr.npz"))(5, 2), Complex(63, 0));
  EXPECT_EQ(read_complex("a.txt", "0 1 5\n"), kMatrix.cast<Complex>());
  EXPECT_EQ(read_complex("a.txt", "# Undirected\n0 1 5\n"), (Eigen::Matrix2cd{{0, 5}, {5, 0}}));
  const auto list = folder_.write("x.txt", "1 2\n");
  EXPECT_NE(refusal([&] { read_block<Complex>(context_, list); }).find("which holds no vectors"),
            std::string::npos);
}

}  // namespace
}  // namespace heddle
