#pragma once

#include <exception>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/processes.hpp>
#include <memory>

namespace heddle::detail {

/// The exception that calls of a thread throw whose team has ended because another thread failed.
class TeamEnded : public DeviceError {
 public:
  TeamEnded() : DeviceError("another thread of this solve has failed") {}
};

/// Threads of this program in the place of processes: each thread holds a range of rows, and mostly
/// leads a GPU. They pass data through the memory that they share. Sums have the bits of as many
/// processes.
class ThreadTeam {
 public:
  /// `size` threads, at least 1.
  explicit ThreadTeam(int size);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int size() const noexcept;

  /// The team as thread `rank` sees it. Each thread uses the result for its own rank, which may
  /// outlive the team, and which is taken once.
  std::shared_ptr<Processes> member(int rank);

  /// Ends the team: the calls of all members throw `TeamEnded`, those that wait too, and what the
  /// GPUs of the members do for each other is aborted. Keeps the first failure that it is given.
  /// May be called from any thread.
  void fail(std::exception_ptr failure) noexcept;

  /// The first failure, null if there was none.
  std::exception_ptr failure() const;

 private:
  class Meeting;

  std::shared_ptr<Meeting> meeting_;

  class Member;
};

}  // namespace heddle::detail
