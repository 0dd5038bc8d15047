#include <gtest/gtest.h>

#include <fstream>
#include <heddle/linalg/base/shared_file.hpp>
#include <iterator>
#include <string>
#include <support/file_size_limit.hpp>
#include <support/temporary_folder.hpp>

namespace heddle {
namespace {

std::span<const std::byte> bytes(const std::string& text) {
  return std::as_bytes(std::span<const char>(text));
}

class SharedFiles : public testing::Test {
 protected:
  SharedFiles() { std::ofstream(path_) << "head"; }

  std::string content() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  test::TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "file";
};

TEST_F(SharedFiles, TakeBytesAtTheirPlaces) {
  SharedFile first(path_, file_number(path_)), second(path_, file_number(path_));
  second.write(8, bytes("last"));
  first.write(4, bytes("more"));
  first.write(4, {});
  EXPECT_TRUE(first.close());
  EXPECT_TRUE(second.close());
  EXPECT_EQ(content(), "headmorelast");
}

TEST_F(SharedFiles, AreNoOthers) {
  EXPECT_EQ(file_number(folder_.path() / "missing"), 0u);
  SharedFile missing(folder_.path() / "missing", 0), other(path_, file_number(path_) + 1);
  for (SharedFile* const file : {&missing, &other}) {
    file->write(0, bytes("lost"));
    EXPECT_FALSE(file->close());
  }
  EXPECT_EQ(content(), "head");
}

TEST_F(SharedFiles, SayWhenThereIsNoRoom) {
  SharedFile file(path_, file_number(path_));
  {
    const test::FileSizeLimit limit(6);
    file.write(4, bytes("more"));
  }
  EXPECT_FALSE(file.close());
}

}  // namespace
}  // namespace heddle
