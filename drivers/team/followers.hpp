#pragma once

#include <functional>
#include <heddle/linalg/context/thread_team.hpp>
#include <memory>
#include <thread>
#include <vector>

namespace heddle::detail {

/// Threads of this program that follow the thread of the caller as processes 1, 2, … of a team. The
/// caller is process 0.
class Followers {
 public:
  /// The function of each thread, and the one by which the caller ends it.
  struct Duty {
    std::function<void(const std::shared_ptr<Processes>&)> serve;
    std::function<void(Processes&)> dismiss;
  };

  /// Starts `size` - 1 threads. Throws `std::system_error` if the system has no more threads.
  Followers(int size, Duty duty);

  /// Dismisses the threads, or waits for the end of those of a team that failed.
  ~Followers();
  Followers(const Followers&) = delete;
  Followers& operator=(const Followers&) = delete;

  /// The team as the caller sees it.
  const std::shared_ptr<Processes>& leader() const noexcept { return leader_; }

  /// Runs `body`, in which the caller and its followers work together. If one of them fails, throws
  /// the exception of the first that did, and all have ended: every later call throws it again.
  template <class Body>
  auto together(const Body& body) {
    try {
      return body();
    } catch (...) {
      team_.fail(std::current_exception());
      std::rethrow_exception(team_.failure());
    }
  }

 private:
  Duty duty_;
  ThreadTeam team_;
  std::shared_ptr<Processes> leader_;
  std::vector<std::jthread> threads_;
};

}  // namespace heddle::detail
