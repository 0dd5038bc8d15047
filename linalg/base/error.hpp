#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

/// Misuse, invalid input and device failures throw one of these exceptions. Numerical trouble never
/// throws: it is reported as a `SolveStatus` in the result.
namespace heddle {

/// Base class of all exceptions that heddle throws on purpose.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An invalid call: shapes that do not fit or an option out of range. The message names the
/// offending value and what is required, e.g. both shapes.
class InvalidArgument : public Error {
 public:
  using Error::Error;
};

/// A file that cannot be written, or that cannot be read in the format expected. `what()` is one
/// line: "PATH:LINE: message", without ":LINE" where the error belongs to no line.
class InputError : public Error {
 public:
  /// `line` counts from 1. It is 0 where the error belongs to no line.
  InputError(std::string path, std::size_t line, const std::string& message)
      : Error(place(path, line) + ": " + message), path_(std::move(path)), line_(line) {}

  /// The file.
  const std::string& path() const noexcept { return path_; }
  /// The line, counted from 1. 0 where the error belongs to no line.
  std::size_t line() const noexcept { return line_; }

 private:
  static std::string place(const std::string& path, std::size_t line) {
    return line > 0 ? path + ":" + std::to_string(line) : path;
  }

  std::string path_;
  std::size_t line_;
};

/// A device that is missing, cannot be used or fails.
class DeviceError : public Error {
 public:
  using Error::Error;
};

/// An allocation of `requested` bytes that failed, in host or device memory.
class OutOfMemory : public DeviceError {
 public:
  /// `requested`: the size of the allocation in bytes.
  OutOfMemory(std::size_t requested, const std::string& message)
      : DeviceError(message), requested_(requested) {}

  /// The size in bytes of the allocation that failed.
  std::size_t requested() const noexcept { return requested_; }

 private:
  std::size_t requested_;
};

}  // namespace heddle
