#include <gtest/gtest.h>

#include <apps/config_support.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "support/source_dir.hpp"

namespace heddle::apps {
namespace {

/// The texts that the fuzzer starts from too.
std::vector<std::string> corpus() {
  std::vector<std::string> texts;
  const auto folder = heddle::test::source_dir() / "tests/fuzz/corpus/config";
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    std::ifstream stream(file.path(), std::ios::binary);
    texts.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
  return texts;
}

/// `text` with one to four small damages.
std::string damaged(std::string text, const std::vector<std::string>& texts, std::mt19937& random) {
  static const std::string kAlphabet = "{}[]:,&*!|>'\"#-? \n\t\\<~%@`0123456789aeinotrs.=\x80\xff";
  const auto below = [&random](std::size_t n) { return n == 0 ? 0 : random() % n; };
  const std::size_t damages = 1 + below(4);
  for (std::size_t i = 0; i < damages; ++i) {
    const std::size_t at = below(text.size() + 1);
    switch (below(4)) {
      case 0:
        text.insert(at, 1, kAlphabet[below(kAlphabet.size())]);
        break;
      case 1:
        text.erase(at, 1 + below(6));
        break;
      case 2:
        if (at < text.size()) text[at] = kAlphabet[below(kAlphabet.size())];
        break;
      case 3: {
        const std::string& other = texts[below(texts.size())];
        const std::size_t from = below(other.size());
        text.insert(at, other.substr(from, below(30)));
        break;
      }
    }
  }
  return text;
}

TEST(ConfigMutations, DamagedFilesAreReadOrRefusedInOneLine) {
  constexpr int kMutations = 4000;
  constexpr SolverType kSolvers[] = {SolverType::lobpcg, SolverType::block_lanczos,
                                     SolverType::block_cg};
  const std::vector<std::string> texts = corpus();
  ASSERT_GE(texts.size(), 5u);
  std::mt19937 random(20240229);
  int refused = 0;
  for (int i = 0; i < kMutations; ++i) {
    const std::string text = damaged(texts[random() % texts.size()], texts, random);
    const SolverType solver = kSolvers[static_cast<std::size_t>(i) % std::size(kSolvers)];
    const std::string message = test::error_of(text, {}, solver);
    if (message.empty()) continue;
    ++refused;
    EXPECT_EQ(message.find('\n'), std::string::npos) << text << "\n" << message;
    EXPECT_EQ(message.rfind("case.yaml:", 0), 0u) << text << "\n" << message;
  }
  EXPECT_GT(refused, kMutations / 4);
  EXPECT_LT(refused, kMutations);
}

TEST(ConfigMutations, TheCorpusHoldsGoodAndBadFiles) {
  int good = 0;
  int bad = 0;
  for (const std::string& text : corpus()) ++(test::error_of(text).empty() ? good : bad);
  EXPECT_GE(good, 3);
  EXPECT_GE(bad, 3);
}

}  // namespace
}  // namespace heddle::apps
