#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <string>
#include <support/temporary_folder.hpp>
#include <vector>

namespace heddle::apps::test {

/// What a finished process left behind.
struct ProcessResult {
  int exit_code = -1;  ///< −signal if one ended it
  std::string out;
  std::string err;
};

/// A process whose stdout and stderr go to files. It runs in `folder`.
class Process {
 public:
  /// Starts `words[0]` with the arguments after it. `out`: where stdout goes instead of a file.
  Process(std::filesystem::path folder, std::vector<std::string> words, std::string out = "")
      : folder_(std::move(folder)), out_(out.empty() ? (folder_ / ".out").string() : out) {
    words.insert(words.begin(), {"/usr/bin/env", "-C", folder_.string()});
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const std::string err = (folder_ / ".err").string();
    constexpr int kWrite = O_WRONLY | O_CREAT | O_TRUNC;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out_.c_str(), kWrite, 0600);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.c_str(), kWrite, 0600);
    const int error =
        posix_spawn(&pid_, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) throw std::runtime_error("cannot start " + words[3]);
  }
  ~Process() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void signal(int number) const { kill(pid_, number); }

  /// Sends a signal to the processes that this one has started.
  void signal_children(int number) const {
    const std::string task = "/proc/" + std::to_string(pid_) + "/task";
    for (const auto& thread : std::filesystem::directory_iterator(task)) {
      std::istringstream children(heddle::test::contents(thread.path() / "children"));
      for (pid_t child = 0; children >> child;) kill(child, number);
    }
  }

  /// What stands on stderr so far.
  std::string err() const { return heddle::test::contents(folder_ / ".err"); }

  ProcessResult wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = 0;
    ProcessResult result;
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    if (std::filesystem::is_regular_file(out_)) result.out = heddle::test::contents(out_);
    result.err = err();
    std::filesystem::remove(folder_ / ".err");
    std::filesystem::remove(folder_ / ".out");
    return result;
  }

 private:
  std::filesystem::path folder_;
  std::string out_;
  pid_t pid_ = 0;
};

/// Runs `words` in `folder` to the end.
inline ProcessResult run_process(const std::filesystem::path& folder,
                                 std::vector<std::string> words, std::string out = "") {
  return Process(folder, std::move(words), std::move(out)).wait();
}

}  // namespace heddle::apps::test
