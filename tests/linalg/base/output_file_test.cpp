#include <gtest/gtest.h>
#include <unistd.h>

#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/base/output_file.hpp>
#include <string>

#include "support/file_size_limit.hpp"
#include "support/temporary_folder.hpp"

namespace heddle {
namespace {

namespace fs = std::filesystem;
using test::contents;
using test::listing;

class OutputFileTest : public testing::Test {
 protected:
  test::TemporaryFolder folder_;
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
  EXPECT_EQ(contents(path), "one\ntwo\n");
  EXPECT_EQ(listing(folder_.path()).size(), 1u);
}

TEST_F(OutputFileTest, WithoutCommitTheOldFileStays) {
  const fs::path path = folder_.write("out.txt", "old");
  { OutputFile(path).write("new"); }
  EXPECT_EQ(contents(path), "old");
  EXPECT_EQ(listing(folder_.path()).size(), 1u);
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
    EXPECT_TRUE(listing(folder_.path()).empty());
  }
}

TEST_F(OutputFileTest, SymbolicLinksStay) {
  const fs::path target = folder_.write("target.txt", "old");
  const fs::path link = folder_.path() / "link.txt";
  fs::create_symlink(target, link);
  OutputFile file(link);
  file.write("new");
  file.commit();
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(contents(target), "new");
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
