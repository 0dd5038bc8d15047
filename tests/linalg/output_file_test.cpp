#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <heddle/linalg/error.hpp>
#include <heddle/linalg/output_file.hpp>
#include <iterator>
#include <string>

#include "support/file_size_limit.hpp"
#include "support/temporary_folder.hpp"

namespace heddle {
namespace {

namespace fs = std::filesystem;

class OutputFileTest : public testing::Test {
 protected:
  test::TemporaryFolder folder_;

  static std::string read(const fs::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  static void write(const fs::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
  }
};

TEST_F(OutputFileTest, AppearsWithItsNameWhenCommitted) {
  const fs::path path = folder_.path() / "out.txt";
  {
    OutputFile file(path);
    file.write("one\n");
    file.write("two\n");
    EXPECT_FALSE(fs::exists(path));
    file.commit();
  }
  EXPECT_EQ(read(path), "one\ntwo\n");
  EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFileTest, WithoutCommitTheOldFileStays) {
  const fs::path path = folder_.path() / "out.txt";
  write(path, "old");
  { OutputFile(path).write("new"); }
  EXPECT_EQ(read(path), "old");
  EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFileTest, FullDiskIsAnErrorAndLeavesNothing) {
  const fs::path path = folder_.path() / "out.txt";
  const test::FileSizeLimit limit(1000);
  for (const std::size_t size : {std::size_t{2000}, std::size_t{1} << 20}) {
    try {
      OutputFile file(path);  // the small one fails at the end only, when the buffer is emptied
      file.write(std::string(size, 'x'));
      file.commit();
      ADD_FAILURE() << "wrote " << size << " bytes";
    } catch (const InputError& error) {
      EXPECT_EQ(error.path(), path.string());
      EXPECT_EQ(error.line(), 0u);
    }
    EXPECT_TRUE(folder_.empty());
  }
}

TEST_F(OutputFileTest, SymbolicLinksStay) {
  const fs::path target = folder_.path() / "target.txt";
  const fs::path link = folder_.path() / "link.txt";
  write(target, "old");
  fs::create_symlink(target, link);
  OutputFile file(link);
  file.write("new");
  file.commit();
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(read(target), "new");
}

TEST_F(OutputFileTest, PlacesThatCannotBeWritten) {
  EXPECT_THROW(OutputFile(folder_.path()), InputError);
  EXPECT_THROW(OutputFile(folder_.path() / "missing" / "out.txt"), InputError);
  EXPECT_THROW(OutputFile("/dev/null"), InputError);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  if (geteuid() == 0) return;  // root writes anywhere
  fs::permissions(folder_.path(), fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_THROW(OutputFile(folder_.path() / "out.txt"), InputError);
  fs::permissions(folder_.path(), fs::perms::owner_all);
}

}  // namespace
}  // namespace heddle
