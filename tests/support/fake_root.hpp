#pragma once

#include <filesystem>
#include <string>

#include "support/temporary_folder.hpp"

namespace heddle::test {

/// A folder with the files of proc and sys that a test writes.
class FakeRoot {
 public:
  FakeRoot& write(const std::string& file, const std::string& text) {
    std::filesystem::create_directories((path() / file).parent_path());
    folder_.write(file, text);
    return *this;
  }
  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

}  // namespace heddle::test
