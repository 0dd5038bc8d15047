#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "fuzz/matrix_market_property.hpp"
#include "support/sanitized.hpp"
#include "support/source_dir.hpp"

namespace heddle {
namespace {

namespace fs = std::filesystem;

/// The seeds of the fuzz target, in the order of their names.
std::vector<std::string> corpus() {
  std::vector<fs::path> paths;
  for (const auto& entry :
       fs::directory_iterator(test::source_dir() / "tests/fuzz/corpus/matrix_market")) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> texts;
  for (const fs::path& path : paths) {
    std::ifstream stream(path, std::ios::binary);
    texts.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
  return texts;
}

/// Changes a text at random: bytes, words that mean something, lines left out, doubled or swapped.
class Mutator {
 public:
  explicit Mutator(unsigned seed) : engine_(seed) {}

  std::size_t below(std::size_t bound) { return engine_() % std::max<std::size_t>(bound, 1); }

  std::string mutate(std::string text) {
    for (std::size_t change = 0; change <= below(3); ++change) text = change_once(std::move(text));
    return text;
  }

 private:
  std::string change_once(std::string text) {
    const std::size_t at = below(text.size() + 1);
    switch (below(6)) {
      case 0:
        if (at < text.size()) text[at] = static_cast<char>(below(256));
        return text;
      case 1:
        return text.erase(at, below(12));
      case 2:
        return text.insert(at, kWords[below(kWords.size())]);
      case 3:
        return text.insert(at, text, below(text.size()), below(40));
      case 4:
        return text.substr(0, at);
      default:
        return replace_word(std::move(text), at);
    }
  }

  std::string replace_word(std::string text, std::size_t at) {
    const std::size_t begin = std::min(text.find_first_not_of(" \n\t\r", at), text.size());
    const std::size_t end = std::min(text.find_first_of(" \n\t\r", begin), text.size());
    return text.replace(begin, end - begin, kWords[below(kWords.size())]);
  }

  inline static const std::vector<std::string> kWords = {"0",
                                                         "1",
                                                         "2",
                                                         "3",
                                                         "-1",
                                                         "+2",
                                                         "1e308",
                                                         "-1e308",
                                                         "1e-999",
                                                         "1D5",
                                                         "nan",
                                                         "inf",
                                                         ".",
                                                         "1.5",
                                                         "\n",
                                                         "\r\n",
                                                         " ",
                                                         "\t",
                                                         "%",
                                                         "general",
                                                         "array",
                                                         "real",
                                                         "pattern",
                                                         "symmetric",
                                                         "integer",
                                                         "complex",
                                                         "hermitian",
                                                         "2000000000",
                                                         "1000000",
                                                         "skew-symmetric",
                                                         "99999999999999999999",
                                                         "coordinate",
                                                         "4294967296",
                                                         std::string(1, '\0')};

  std::mt19937_64 engine_;
};

TEST(MatrixMarketMutations, SeedsAreReadOrRefused) {
  const auto seeds = corpus();
  ASSERT_FALSE(seeds.empty());
  for (const std::string& text : seeds) EXPECT_EQ(test::matrix_market_fault(text), "") << text;
}

TEST(MatrixMarketMutations, ManyMutationsAreReadOrRefused) {
  constexpr int kMutations = test::kSanitized ? 20000 : 200000;
  const auto seeds = corpus();
  ASSERT_FALSE(seeds.empty());
  Mutator mutator(2024);
  for (int i = 0; i < kMutations; ++i) {
    const std::string text = mutator.mutate(seeds[mutator.below(seeds.size())]);
    ASSERT_EQ(test::matrix_market_fault(text), "") << "mutation " << i << ":\n" << text;
  }
}

}  // namespace
}  // namespace heddle
