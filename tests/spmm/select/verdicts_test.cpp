#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <heddle/spmm/select/pattern_hash.hpp>
#include <heddle/spmm/select/verdicts.hpp>
#include <heddle/spmm/spmm.hpp>
#include <iterator>
#include <vector>

namespace heddle::detail {
namespace {

namespace fs = std::filesystem;

class VerdictFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    file_ = (folder_ / "made" / "verdicts").string();
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string text() const {
    std::ifstream stream(file_);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  void write(const std::string& text) const {
    fs::create_directories(fs::path(file_).parent_path());
    std::ofstream(file_) << text;
  }

  /// What an object without memory finds in the file.
  std::optional<std::string> found(const VerdictKey& key) {
    warning_.clear();
    return Verdicts().find(key, file_, warning_);
  }
  void keep(const VerdictKey& key, const std::string& kernel) {
    warning_.clear();
    Verdicts().keep(key, kernel, file_, warning_);
  }

  fs::path folder_;
  std::string file_;
  std::string warning_;
  const VerdictKey key_{0x1234abcd, 10, 11, 12, 16, 8, "NVIDIA H200"};
};

TEST_F(VerdictFile, IsReadByAnotherProcess) {
  EXPECT_FALSE(found(key_));
  EXPECT_EQ(warning_, "");
  keep(key_, "merge");
  EXPECT_EQ(warning_, "");
  EXPECT_EQ(found(key_), "merge");
  keep(key_, "row_split");  // the last one counts
  EXPECT_EQ(found(key_), "row_split");
  for (const VerdictKey& other : {VerdictKey{1, 10, 11, 12, 16, 8, "NVIDIA H200"},
                                  VerdictKey{0x1234abcd, 10, 11, 12, 17, 8, "NVIDIA H200"},
                                  VerdictKey{0x1234abcd, 10, 11, 12, 16, 4, "NVIDIA H200"},
                                  VerdictKey{0x1234abcd, 10, 11, 12, 16, 8, "NVIDIA H100"}}) {
    EXPECT_FALSE(found(other));
  }
}

TEST_F(VerdictFile, MemoryNeedsNoFile) {
  Verdicts verdicts;
  verdicts.keep(key_, "merge", "", warning_);
  EXPECT_EQ(verdicts.find(key_, "", warning_), "merge");
  EXPECT_EQ(warning_, "");
}

TEST_F(VerdictFile, DamagedLinesArePassedOver) {
  keep(key_, "merge");
  VerdictKey other = key_;
  other.N = 3;
  keep(other, "row_split");
  std::string damaged = text();
  damaged[damaged.find("merge")] = 'M';
  write(damaged.substr(0, damaged.size() - 1) + "\nnonsense\n");
  EXPECT_FALSE(found(key_));
  EXPECT_NE(warning_.find("2 damaged lines"), std::string::npos) << warning_;
  EXPECT_EQ(found(other), "row_split");
}

TEST_F(VerdictFile, ForeignFilesAreLeftAlone) {
  const std::string foreign = "a letter\n";
  write(foreign);
  EXPECT_FALSE(found(key_));
  EXPECT_NE(warning_.find("is not a file of verdicts"), std::string::npos) << warning_;
  keep(key_, "merge");
  EXPECT_NE(warning_.find("is not a file of verdicts"), std::string::npos) << warning_;
  EXPECT_EQ(text(), foreign);
}

TEST_F(VerdictFile, AFolderInItsPlaceIsReported) {
  fs::create_directories(file_);
  keep(key_, "merge");
  EXPECT_NE(warning_.find("cannot be written"), std::string::npos) << warning_;
}

TEST(DefaultVerdictFile, FollowsTheEnvironment) {
  ::setenv("XDG_CACHE_HOME", "/some/cache", 1);
  EXPECT_EQ(default_verdict_file(), "/some/cache/heddle/spmm-verdicts");
  ::setenv("XDG_CACHE_HOME", "relative", 1);  // not valid
  ::setenv("HOME", "/home/me", 1);
  EXPECT_EQ(default_verdict_file(), "/home/me/.cache/heddle/spmm-verdicts");
  ::unsetenv("XDG_CACHE_HOME");
  ::unsetenv("HOME");
  EXPECT_EQ(default_verdict_file(), "");
}

TEST(PatternHash, TellsPatternsApart) {
  const std::vector<std::int64_t> offsets = {0, 2, 3};
  const std::vector<std::int32_t> columns = {0, 1, 1};
  const std::uint64_t hash = pattern_hash(2, offsets.data(), columns.data());
  EXPECT_EQ(hash, pattern_hash(2, offsets.data(), columns.data()));
  const std::vector<std::int64_t> moved = {0, 1, 3};
  EXPECT_NE(hash, pattern_hash(2, moved.data(), columns.data()));
  const std::vector<std::int32_t> swapped = {1, 0, 1};
  EXPECT_NE(hash, pattern_hash(2, offsets.data(), swapped.data()));
  const std::vector<std::int32_t> other = {0, 1, 0};
  EXPECT_NE(hash, pattern_hash(2, offsets.data(), other.data()));
}

}  // namespace
}  // namespace heddle::detail
