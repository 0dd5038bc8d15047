#pragma once

#include <cstdio>
#include <exception>
#include <filesystem>
#include <heddle/linalg/base/error.hpp>
#include <heddle/solvers/problem/result.hpp>
#include <new>
#include <string>
#include <string_view>

/// The end of a run as the caller of the process sees it, common to all executables.
namespace heddle::apps {

/// Exit codes of all executables. Results, history and the reason for the end are written for
/// `converged`, `not_converged`, `breakdown`, `verification_failed` and `interrupted`. The other
/// codes except `usage` leave a result.json with the reason, `input` only in a folder that is there
/// or was named.
enum class ExitCode : int {
  converged = 0,      ///< and verified; for executables that solve nothing: success
  usage = 1,          ///< command line or configuration
  input = 2,          ///< a file that cannot be written, or not be read in the format expected
  not_converged = 3,  ///< iteration or time limit
  breakdown = 4,      ///< numerical breakdown, stagnation, an indefinite matrix
  device = 5,         ///< a device that is missing or fails, or memory
  verification_failed = 6,  ///< fresh products did not confirm the result
  interrupted = 130,        ///< by a signal
};

/// The exit code for a solve that ended with `status`.
constexpr ExitCode exit_code(SolveStatus status) noexcept {
  switch (status) {
    case SolveStatus::converged:
      return ExitCode::converged;
    case SolveStatus::max_iterations:
    case SolveStatus::time_limit:
      return ExitCode::not_converged;
    case SolveStatus::breakdown:
    case SolveStatus::stagnated:
    case SolveStatus::indefinite:
      return ExitCode::breakdown;
    case SolveStatus::verification_failed:
      return ExitCode::verification_failed;
    case SolveStatus::interrupted:
      return ExitCode::interrupted;
  }
  return ExitCode::breakdown;
}

/// The report on a run that ended with an exception.
struct Failure {
  ExitCode code;
  std::string message;  ///< one line
};

/// The exit code and the message for an exception. heddle's exceptions are reported by their type,
/// `bad_alloc` as lack of memory, file system errors as file errors, and any other exception as a
/// failure of the program itself.
inline Failure describe_failure(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const InputError& error) {
    return {ExitCode::input, error.what()};
  } catch (const InvalidArgument& error) {
    return {ExitCode::usage, error.what()};
  } catch (const DeviceError& error) {
    return {ExitCode::device, error.what()};
  } catch (const std::bad_alloc&) {
    return {ExitCode::device, "out of host memory"};
  } catch (const std::filesystem::filesystem_error& error) {
    return {ExitCode::input, error.path1().string() + ": " + error.code().message()};
  } catch (const std::exception& error) {
    return {ExitCode::breakdown, std::string("internal error: ") + error.what()};
  } catch (...) {
    return {ExitCode::breakdown, "internal error of an unknown kind"};
  }
}

/// Runs `body`, which returns an `ExitCode`, and returns the exit code of `main`. An exception is
/// reported as one line "PROGRAM: error: …" on stderr and converted to its exit code. Output that
/// could not be written to stdout (for example on a full disk) is an error as well, except of a run
/// that was interrupted, perhaps because its terminal was closed.
template <class Body>
int run_reporting_failures(std::string_view program, Body&& body) {
  Failure failure{};
  try {
    const ExitCode code = body();
    const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    if (written || code == ExitCode::interrupted) return static_cast<int>(code);
    failure = {ExitCode::input, "standard output: cannot be written"};
  } catch (...) {
    failure = describe_failure(std::current_exception());
  }
  std::fprintf(stderr, "%.*s: error: %s\n", static_cast<int>(program.size()), program.data(),
               failure.message.c_str());
  return static_cast<int>(failure.code);
}

}  // namespace heddle::apps
