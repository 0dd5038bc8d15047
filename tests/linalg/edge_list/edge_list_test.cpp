#include <gtest/gtest.h>

#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/edge_list/edge_list.hpp>
#include <heddle/linalg/sparse/csr_algorithms.hpp>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "fuzz/corpus.hpp"
#include "fuzz/edge_list_property.hpp"
#include "support/csr_invariants.hpp"
#include "support/dense.hpp"

namespace heddle {
namespace {

using Eigen::MatrixXd;

template <class T>
class EdgeList : public testing::Test {
 protected:
  HostContext context_{2};

  MatrixXd read(const std::string& text, FirstLine first_line = FirstLine::automatic) {
    const auto A = parse_edge_list<T>(context_, text, "file.txt", first_line);
    EXPECT_EQ(test::csr_fault(A.view()), "");
    return test::to_dense(A.view());
  }
};

using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(EdgeList, Scalars);

TYPED_TEST(EdgeList, VerticesAreNumberedInAscendingOrder) {
  const MatrixXd path{{0, 1, 0}, {0, 0, 1}, {0, 0, 0}};
  EXPECT_EQ(this->read("0 1\n1 2\n"), path);
  EXPECT_EQ(this->read("1\t2\n2\t3"), path);
  EXPECT_EQ(this->read("  20 300 \r\n\n# a comment\r\n300   4000000\r\n"), path);
  EXPECT_EQ(this->read("5 7000000000000000000\n7000000000000000000 9223372036854775807\n"), path);
  EXPECT_EQ(this->read("2 9\n7 2\n"), (MatrixXd{{0, 0, 1}, {1, 0, 0}, {0, 0, 0}}));
}

TYPED_TEST(EdgeList, WeightsLoopsAndRepeatedEdges) {
  EXPECT_EQ(this->read("1 2 0.5\n2 1 -1.5e1\n1 2 .25\n2 2 1\n"), (MatrixXd{{0, 0.75}, {-15, 1}}));
  EXPECT_EQ(this->read("1 2\n1 2\n3 3\n"), (MatrixXd{{0, 2, 0}, {0, 0, 0}, {0, 0, 1}}));
}

TYPED_TEST(EdgeList, CommentsTellUndirectedGraphs) {
  const MatrixXd both{{0, 3}, {3, 0}};
  const MatrixXd one{{0, 3}, {0, 0}};
  EXPECT_EQ(this->read("# Undirected graph: toy.txt\n1 2 3\n"), both);
  EXPECT_EQ(this->read("% sym weighted\n% 1 2 2\n1 2 3\n"), both);
  EXPECT_EQ(this->read("# Undirected graph: each pair twice\n1 2 3\n2 1 3\n"), both);
  EXPECT_EQ(this->read("# Directed graph\n1 2 3\n"), one);
  EXPECT_EQ(this->read("% asym weighted\n1 2 3\n"), one);
  EXPECT_EQ(this->read("1 2 3\n# Undirected graph\n"), one);
}

TYPED_TEST(EdgeList, ManyEdgesAgreeWithTheirSumsForEveryNumberOfThreads) {
  // Long enough for several pieces; numbers close together, and far apart.
  for (const Index factor : {Index{1}, Index{10000019}}) {
    std::mt19937 engine(3);
    std::map<std::pair<Index, Index>, double> sums;
    std::map<Index, Index> ranks;
    std::string text = "# Nodes: 100\n";
    for (int k = 0; k < 60000; ++k) {
      const Index from = 5 + factor * static_cast<Index>(engine() % 100);
      const Index to = 5 + factor * static_cast<Index>(engine() % 100);
      const Index weight = static_cast<Index>(engine() % 16);
      sums[{from, to}] += static_cast<double>(weight);
      ranks[from] = ranks[to] = 0;
      text +=
          std::to_string(from) + "\t" + std::to_string(to) + " " + std::to_string(weight) + "\n";
      if (k % 1000 == 0) text += "# still going\n\n";
    }
    Index next = 0;
    for (auto& [vertex, rank] : ranks) rank = next++;
    MatrixXd expected = MatrixXd::Zero(next, next);
    for (const auto& [edge, sum] : sums) expected(ranks[edge.first], ranks[edge.second]) = sum;
    EXPECT_EQ(this->read(text), expected);
    HostContext alone(1);
    EXPECT_TRUE(test::same_bits(parse_edge_list<TypeParam>(alone, text, "").view(),
                                parse_edge_list<TypeParam>(this->context_, text, "").view()));
  }
}

TYPED_TEST(EdgeList, WrongLinesAreNamed) {
  const std::vector<std::tuple<std::string, std::size_t, std::string>> texts = {
      {"", 0, "is an edge list without edges"},
      {"# nothing\n\n", 0, "without edges"},
      {"1 2\n\n3", 3, "the second vertex of the edge is missing"},
      {"from to\n1 2\n", 1, "the vertex 'from' is not an integer of at least 0"},
      {"1 -2\n", 1, "the vertex '-2'"},
      {"1 2.5\n", 1, "the vertex '2.5'"},
      {"1 9223372036854775808\n", 1, "below 2^63"},
      {"1,2\n", 1, "the vertex '1,2'"},
      {"1 2\n1 2 3\n", 2, "'3' follows the edge, but the first edge of the file has no weight"},
      {"1 2 3\n1 2\n", 2, "the edge has no weight, but the first edge of the file has one"},
      {"1 2 3 4\n", 1, "'4' follows the edge: a line holds two vertices and a weight"},
      {"1 2 x\n", 1, "the weight 'x' is not a number"},
      {"1 2 nan\n", 1, "the weight 'nan' is not finite"},
      {"1 2 1e999\n", 1, "the weight '1e999' is too large"},
      {"1 2 1.5\n# \n1 2 3 % no\n", 3, "'%' follows the edge"},
      {"% bip unweighted\n1 1\n", 1, "the graph is bipartite"}};
  for (const auto& [text, line, words] : texts) {
    try {
      this->read(text);
      ADD_FAILURE() << "was read: " << text;
    } catch (const InputError& error) {
      EXPECT_EQ(error.line(), line) << error.what();
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos)
          << error.what() << "\nlacks: " << words;
    }
  }
  const std::string most = std::is_same_v<TypeParam, float> ? "3e38" : "1e308";
  EXPECT_THROW(this->read("1 2 " + most + "\n1 2 " + most + "\n"), InputError);
}

TYPED_TEST(EdgeList, AFirstLineThatFitsTheSizesIsRefused) {
  const std::vector<std::tuple<std::string, std::size_t, std::string>> texts = {
      {"3 3 4\n1 1 2\n2 2 2\n3 3 2\n1 3 -1\n", 1,
       "'3 3 4' may be an edge, or the sizes of the list, as 4 lines and numbers up to 3 follow: "
       "say first_line: edge (--first-line edge) or first_line: sizes (--first-line sizes)"},
      {"# a comment\n\n 4 3 \n1 2\n# more\n2 3\n\n3 4\n", 3, "'4 3' may be an edge"},
      {"4 3\n0 1\n1 2\n2 3\n", 1, "as 3 lines and numbers up to 3 follow"},
      {"9 1\n1 2\n", 1, "as 1 line and"},            // vertices without an edge
      {"3 3 2\n1 2\n2 3\n", 1, "'3 3 2' may be"},    // edges have no weights
      {"3 2\n1 2 .5\n2 3 .5\n", 1, "'3 2' may be"},  // edges have weights
      {"5 2 3\n5 1 1\n4 2 1\n3 1 1\n", 1, "'5 2 3' may be"}};
  for (const auto& [text, line, words] : texts) {
    try {
      this->read(text);
      ADD_FAILURE() << "was read: " << text;
    } catch (const InputError& error) {
      EXPECT_EQ(error.line(), line) << error.what();
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  }
  // Another number of lines, a vertex beyond the sizes, a weight that is no count.
  for (const std::string text :
       {"3 3 4\n1 1 2\n", "3 1\n1 4\n", "3 3 1.5\n1 1 2\n", "0 1\n1 2\n", "2 0\n"}) {
    EXPECT_EQ(this->read(text), this->read(text, FirstLine::edge)) << text;
  }
}

TYPED_TEST(EdgeList, AFirstLineOfSizesGivesTheShape) {
  const MatrixXd weights{{2, 0, -1, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}, {0, 0, 0, 0}};
  EXPECT_EQ(this->read("4 4 4\n1 1 2\n2 2 2\n3 3 2\n1 3 -1\n", FirstLine::sizes), weights);
  EXPECT_EQ(this->read("# c\n4 4\n0 0 2\n1 1 2\n2 2 2\n0 2 -1\n", FirstLine::sizes), weights);
  EXPECT_EQ(this->read("2 3 1\n2 3\n", FirstLine::sizes), (MatrixXd{{0, 0, 0}, {0, 0, 1}}));
  EXPECT_EQ(this->read("# Undirected\n2 1\n1 2 3\n", FirstLine::sizes), (MatrixXd{{0, 3}, {3, 0}}));
  const std::vector<std::tuple<std::string, std::size_t, std::string>> texts = {
      {"1 2 .5\n1 2 1\n", 1, "the line holds no sizes"},
      {"#\n3 2\n1 2\n", 2, "the sizes '3 2' announce 2 lines, 1 follow"},
      {"3 0\n", 1, "the line holds no sizes"},
      {"3 1\n", 1, "announce 1 lines, 0 follow"},
      {"2 1\n1 3\n", 1, "leave no room for the edge of 3, with numbers from 1"},
      {"2 2\n0 1\n1 2\n", 1, "leave no room for the edge of 2, with numbers from 0"},
      {"9000000000 1\n1 2\n", 1, "are too large"},
      {"2 1\n1 x\n", 2, "the vertex 'x'"},
      {"# Undirected\n2 3 1\n1 2\n", 0, "as many rows as columns"}};
  for (const auto& [text, line, words] : texts) {
    try {
      this->read(text, FirstLine::sizes);
      ADD_FAILURE() << "was read: " << text;
    } catch (const InputError& error) {
      EXPECT_EQ(error.line(), line) << error.what();
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  }
}

TEST(EdgeListMutations, SeedsAndChangedSeedsAreReadOrRefused) {
  test::expect_read_or_refused("edge_list", test::edge_list_fault);
}

}  // namespace
}  // namespace heddle
