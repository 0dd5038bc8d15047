#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

/// Misuse, bad input and failing devices throw one of these; numerical trouble never does: it is a
/// `SolveStatus` in the result.
namespace heddle {

/// Root of everything that heddle throws on purpose.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A call that cannot make sense: shapes that do not fit, an option out of range. The message names
/// both sides.
class InvalidArgument : public Error {
 public:
  using Error::Error;
};

/// A file that cannot be read as what it claims to be, or that cannot be written.
/// `what()` is one line: "PATH:LINE: message", without ":LINE" where no line is to blame.
class InputError : public Error {
 public:
  /// `line` counts from 1; 0 where no line is to blame.
  InputError(std::string path, std::size_t line, const std::string& message)
      : Error(place(path, line) + ": " + message), path_(std::move(path)), line_(line) {}

  const std::string& path() const noexcept { return path_; }
  std::size_t line() const noexcept { return line_; }

 private:
  static std::string place(const std::string& path, std::size_t line) {
    return line > 0 ? path + ":" + std::to_string(line) : path;
  }

  std::string path_;
  std::size_t line_;
};

/// A device that is missing, refuses or fails.
class DeviceError : public Error {
 public:
  using Error::Error;
};

/// A memory space that could not give `requested` bytes.
class OutOfMemory : public DeviceError {
 public:
  OutOfMemory(std::size_t requested, const std::string& message)
      : DeviceError(message), requested_(requested) {}

  /// Bytes asked for by the allocation that failed.
  std::size_t requested() const noexcept { return requested_; }

 private:
  std::size_t requested_;
};

}  // namespace heddle
