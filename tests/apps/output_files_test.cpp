#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <heddle/apps/report/output_files.hpp>
#include <heddle/linalg/base/error.hpp>
#include <set>
#include <string>
#include <string_view>
#include <support/file_size_limit.hpp>
#include <support/temporary_folder.hpp>
#include <vector>

namespace heddle::apps {
namespace {

using heddle::test::contents;
using heddle::test::listing;
using heddle::test::TemporaryFolder;

TEST(OutputFiles, AppearTogetherAtTheEnd) {
  const TemporaryFolder folder;
  const auto directory = folder.path() / "deep" / "results";
  {
    OutputFiles files(directory);
    files.add("a.txt", [](const auto& path) { write_text(path, "first"); });
    files.add("b.txt", [](const auto& path) { write_text(path, "second"); });
    EXPECT_EQ(listing(directory).count("a.txt"), 0u);
    files.commit();
  }
  EXPECT_EQ(listing(directory), (std::set<std::string>{"a.txt", "b.txt"}));
  EXPECT_EQ(contents(directory / "b.txt"), "second");
}

TEST(OutputFiles, LeaveNothingWithoutCommitAndKeepWhatWasThere) {
  const TemporaryFolder folder;
  folder.write("a.txt", "old");
  {
    OutputFiles files(folder.path());
    files.add("a.txt", [](const auto& path) { write_text(path, "new"); });
  }
  EXPECT_EQ(listing(folder.path()), std::set<std::string>{"a.txt"});
  EXPECT_EQ(contents(folder.path() / "a.txt"), "old");
  {
    OutputFiles files(folder.path() / "made");
    EXPECT_EQ(listing(folder.path() / "made"), std::set<std::string>{});
  }
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "made"));
}

TEST(OutputFiles, FilesOfAnEarlierRunAreKeptUntilAnotherHasSucceeded) {
  const TemporaryFolder folder;
  const auto write = [](const std::string& text) {
    return [text](const std::filesystem::path& path) { write_text(path, text); };
  };
  const std::vector<std::string_view> names{"a.txt", "b.txt", "none.txt"};
  for (const char* name : {"a.txt", "b.txt", "c.txt"}) folder.write(name, "first");
  for (const char* text : {"second", "third"}) {  // runs that are killed or fail
    OutputFiles files(folder.path());
    files.start(names);
    EXPECT_EQ(listing(folder.path()), (std::set<std::string>{"c.txt", "previous"}));
    files.add("a.txt", write(text));
    files.commit();
    files.start(names);  // once per run
    EXPECT_EQ(contents(folder.path() / "a.txt"), text);
    EXPECT_EQ(contents(folder.path() / "previous/a.txt"), "first");
    EXPECT_EQ(contents(folder.path() / "previous/b.txt"), "first");
  }
  OutputFiles files(folder.path());
  files.start(names);
  files.add("b.txt", write("fourth"));
  files.commit();
  files.forget_previous(names);
  EXPECT_EQ(listing(folder.path()), (std::set<std::string>{"b.txt", "c.txt"}));
  EXPECT_EQ(contents(folder.path() / "b.txt"), "fourth");
}

TEST(OutputFiles, AFolderInTheWayLeavesEverythingAsItWas) {
  const TemporaryFolder folder;
  folder.write("a.txt", "old");
  folder.write("c.txt", "old");
  std::filesystem::create_directory(folder.path() / "b.txt");
  {
    OutputFiles files(folder.path());
    EXPECT_THROW(files.start({"a.txt", "b.txt", "c.txt"}), InputError);
    for (const char* name : {"a.txt", "b.txt"}) {
      files.add(name, [](const auto& path) { write_text(path, "new"); });
    }
    EXPECT_THROW(files.commit(), InputError);
  }
  EXPECT_EQ(contents(folder.path() / "a.txt"), "old");
  EXPECT_EQ(listing(folder.path()), (std::set<std::string>{"a.txt", "b.txt", "c.txt"}));
}

/// The name that process `id` would give its staging folder.
std::string staging_of(const std::filesystem::path& folder, pid_t id) {
  OutputFiles files(folder);
  std::string name;
  files.add("x", [&](const auto& path) { name = path.parent_path().filename().string(); });
  const std::string own = "-" + std::to_string(getpid()) + ".part";
  return name.replace(name.find(own), own.size(), "-" + std::to_string(id) + ".part");
}

TEST(OutputFiles, WhatAKilledProcessLeftIsRemoved) {
  const TemporaryFolder folder;
  const pid_t ended = fork();
  if (ended == 0) _exit(0);
  waitpid(ended, nullptr, 0);
  const std::string dead = staging_of(folder.path(), ended);
  const std::string alive = staging_of(folder.path(), getppid());
  for (const std::string& name : {dead, alive, dead + ".txt", std::string(".heddle-other.part")}) {
    std::filesystem::create_directory(folder.path() / name);
    folder.write(name + "/result.json", "half");
  }
  const OutputFiles files(folder.path());
  EXPECT_EQ(listing(folder.path()),
            (std::set<std::string>{alive, dead + ".txt", ".heddle-other.part"}));
}

TEST(OutputFiles, AFullDiskAtTheStartLeavesNoFolder) {
  const TemporaryFolder folder;
  const auto deep = folder.path() / "deep" / "results";
  {
    const heddle::test::FileSizeLimit limit(0);
    EXPECT_THROW(OutputFiles{deep}, InputError);
  }
  EXPECT_EQ(listing(folder.path()), std::set<std::string>{});
}

TEST(OutputFiles, AFailureIsNamedByTheFileItWasFor) {
  const TemporaryFolder folder;
  OutputFiles files(folder.path());
  try {
    files.add("a.txt", [](const std::filesystem::path& path) {
      throw InputError(path.string(), 0, "cannot be written: No space left on device");
    });
    FAIL() << "the error was lost";
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()),
              (folder.path() / "a.txt").string() + ": cannot be written: No space left on device");
  }
}

TEST(OutputFiles, AFolderThatCannotBeIsRefusedBeforeItIsMade) {
  const TemporaryFolder folder;
  const auto file = folder.write("file", "x");
  EXPECT_THROW(check_output_directory(file / "results"), InputError);
  EXPECT_THROW(check_output_directory(file), InputError);
  EXPECT_THROW(OutputFiles(file / "results"), InputError);
  check_output_directory(folder.path() / "not" / "there");
  EXPECT_EQ(listing(folder.path()), std::set<std::string>{"file"});
}

}  // namespace
}  // namespace heddle::apps
