#pragma once

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace heddle::apps::test {

/// A process whose standard streams are a pseudo-terminal of its own, as if a user had started it.
class TerminalProcess {
 public:
  /// Starts `words` in `folder`, as `Process` does, in a terminal of this many columns.
  TerminalProcess(const std::filesystem::path& folder, std::vector<std::string> words,
                  unsigned short columns = 100) {
    words.insert(words.begin(), {"/usr/bin/env", "-C", folder.string(), "TERM=xterm"});
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const winsize size{24, columns, 0, 0};
    pid_ = forkpty(&terminal_, nullptr, nullptr, &size);
    if (pid_ < 0) throw std::runtime_error("no pseudo-terminal");
    if (pid_ == 0) {
      execv(arguments[0], arguments.data());
      _exit(127);
    }
  }
  ~TerminalProcess() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    if (terminal_ >= 0) close(terminal_);
  }
  TerminalProcess(const TerminalProcess&) = delete;
  TerminalProcess& operator=(const TerminalProcess&) = delete;

  /// All that was shown so far.
  const std::string& shown() const { return shown_; }

  /// Waits until `text` is shown behind the character number `from`, for a minute at most.
  bool wait_for(const std::string& text, std::size_t from = 0) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (shown_.find(text, from) == std::string::npos) {
      if (std::chrono::steady_clock::now() > end || !read_some(100)) return false;
    }
    return true;
  }

  void press(char key) { [[maybe_unused]] const auto written = write(terminal_, &key, 1); }
  void press_ctrl_c() { press('\x03'); }

  void resize(unsigned short columns) {
    const winsize size{24, columns, 0, 0};
    ioctl(terminal_, TIOCSWINSZ, &size);
  }

  /// Closes the terminal's window.
  void hang_up() {
    close(terminal_);
    terminal_ = -1;
  }

  /// The exit code, −signal if one ended it.
  int wait() {
    while (terminal_ >= 0 && read_some(1000)) {
    }
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  /// False once the process has closed the terminal.
  bool read_some(int milliseconds) {
    pollfd ready{terminal_, POLLIN, 0};
    if (poll(&ready, 1, milliseconds) == 0) return true;
    std::array<char, 4096> portion{};
    const ssize_t count = read(terminal_, portion.data(), portion.size());
    if (count <= 0) return false;
    shown_.append(portion.data(), static_cast<std::size_t>(count));
    return true;
  }

  int terminal_ = -1;
  pid_t pid_ = 0;
  std::string shown_;
};

}  // namespace heddle::apps::test
