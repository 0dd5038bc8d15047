#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <heddle/linalg/context/gpu_connection.hpp>
#include <heddle/linalg/context/thread_team.hpp>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace heddle::detail {

/// Where the threads of a team meet. All that they share is guarded by one mutex. A thread copies
/// from memory of another one without the mutex. No call throws before such copies have ended, as
/// the thread that it throws to may free the memory.
class ThreadTeam::Meeting {
 public:
  explicit Meeting(int size)
      : shown_(static_cast<std::size_t>(size)),
        gpus_(static_cast<std::size_t>(size)),
        letters_(static_cast<std::size_t>(size) * static_cast<std::size_t>(size)) {}

  int size() const noexcept { return static_cast<int>(shown_.size()); }

  /// Calls read(shown) when all threads have come, where shown[k] is what thread k shows. Returns
  /// when all of them have read it. `gpus` is the connection of the thread's GPU, null without one.
  template <class Read>
  void meet(int rank, const void* here, const std::shared_ptr<GpuConnection>& gpus,
            const Read& read) {
    std::unique_lock lock(mutex_);
    shown_[static_cast<std::size_t>(rank)] = here;
    gpus_[static_cast<std::size_t>(rank)] = gpus;
    wait_for_all(lock);
    read_unlocked(lock, [&] { read(shown_); });
    wait_for_all(lock);
  }

  /// Lets thread `to` take bytes from memory of thread `from`.
  void send(int from, int to, const Processes::Message& message) {
    const std::lock_guard lock(mutex_);
    letters(from, to).push_back({message.data, message.bytes});
    change();
  }

  /// Copies what thread `from` sends next to thread `to`.
  void receive(int from, int to, const Processes::Message& message) {
    std::unique_lock lock(mutex_);
    std::deque<Letter>& box = letters(from, to);
    const auto next = [&box] {
      return std::find_if(box.begin(), box.end(), [](const Letter& each) { return !each.taken; });
    };
    wait_until(lock, [&] { return next() != box.end(); });
    const auto letter = next();
    const void* const source = letter->data;
    if (letter->bytes != message.bytes) {
      lock.unlock();
      const auto failure = std::make_exception_ptr(InvalidArgument("sizes of one message differ"));
      fail(failure);
      std::rethrow_exception(failure);
    }
    read_unlocked(lock, [&] {
      std::copy_n(static_cast<const std::byte*>(source), message.bytes,
                  static_cast<std::byte*>(message.data));
    });
    next()->taken = true;
    change();
  }

  /// Waits until thread `to` has taken all that thread `from` sent.
  void wait_until_taken(int from, int to) {
    std::unique_lock lock(mutex_);
    std::deque<Letter>& box = letters(from, to);
    wait_until(lock, [&box] {
      return std::all_of(box.begin(), box.end(), [](const Letter& each) { return each.taken; });
    });
    box.clear();
  }

  /// Forgets the connection of a thread that leaves.
  void leave(int rank) noexcept {
    const std::lock_guard lock(mutex_);
    gpus_[static_cast<std::size_t>(rank)] = nullptr;
  }

  void fail(std::exception_ptr failure) noexcept {
    std::vector<std::shared_ptr<GpuConnection>> gpus;
    {
      std::unique_lock lock(mutex_);
      if (!ended_) {
        ended_ = true;
        failure_ = std::move(failure);
        gpus.swap(gpus_);
        gpus_.resize(gpus.size());
        change();
      }
      wait_for_readers(lock);
    }
    for (const std::shared_ptr<GpuConnection>& each : gpus) {
      if (each) each->abort();
    }
  }

  std::exception_ptr failure() const {
    const std::lock_guard lock(mutex_);
    return failure_;
  }

 private:
  struct Letter {
    const void* data;
    std::size_t bytes;
    bool taken = false;
  };

  std::deque<Letter>& letters(int from, int to) {
    return letters_[static_cast<std::size_t>(from * size() + to)];
  }

  /// Wakes all threads that wait for a change. The mutex is locked.
  void change() noexcept {
    changes_.fetch_add(1, std::memory_order_release);
    changed_.notify_all();
  }

  /// Calls read() without the lock.
  template <class Read>
  void read_unlocked(std::unique_lock<std::mutex>& lock, const Read& read) noexcept {
    ++reading_;
    lock.unlock();
    read();
    lock.lock();
    if (--reading_ == 0 && ended_) changed_.notify_all();
  }

  /// Waits until no thread reads memory of another one. The team has ended: none begins to.
  void wait_for_readers(std::unique_lock<std::mutex>& lock) noexcept {
    changed_.wait(lock, [this] { return reading_ == 0; });
  }

  void throw_if_ended(std::unique_lock<std::mutex>& lock) {
    if (!ended_) return;
    wait_for_readers(lock);
    throw TeamEnded();
  }

  /// Waits until `done`, which is asked under the lock. A wait of a step takes microseconds, in
  /// which a thread is not put to sleep. One for the next solve may take minutes.
  template <class Done>
  void wait_until(std::unique_lock<std::mutex>& lock, const Done& done) {
    using Clock = std::chrono::steady_clock;
    constexpr auto kSpins = std::chrono::microseconds(50);
    const Clock::time_point sleep = Clock::now() + kSpins;
    while (!ended_ && !done()) {
      const std::uint64_t seen = changes_.load(std::memory_order_relaxed);
      lock.unlock();
      while (changes_.load(std::memory_order_acquire) == seen && Clock::now() < sleep) {
        std::this_thread::yield();
      }
      lock.lock();
      if (changes_.load(std::memory_order_relaxed) == seen && !ended_) changed_.wait(lock);
    }
    throw_if_ended(lock);
  }

  void wait_for_all(std::unique_lock<std::mutex>& lock) {
    if (++arrived_ == size()) {
      arrived_ = 0;
      ++round_;
      change();
    } else {
      wait_until(lock, [this, mine = round_] { return round_ != mine; });
    }
    throw_if_ended(lock);
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<std::uint64_t> changes_{0};
  int arrived_ = 0;  // threads in the current round
  int reading_ = 0;  // threads that read memory of others
  std::uint64_t round_ = 0;
  bool ended_ = false;
  std::exception_ptr failure_;
  std::vector<const void*> shown_;
  std::vector<std::shared_ptr<GpuConnection>> gpus_;
  std::vector<std::deque<Letter>> letters_;
};

class ThreadTeam::Member final : public Processes {
 public:
  Member(std::shared_ptr<Meeting> meeting, int rank)
      : Processes(rank, meeting->size(), meeting->size(), rank), meeting_(std::move(meeting)) {}

  ~Member() override {
    meeting_->leave(rank());
    gpus().reset();
  }

  void gather_all(const void* here, void* all, std::size_t bytes) override {
    meeting_->meet(rank(), here, gpus(), [&](const std::vector<const void*>& shown) {
      auto* next = static_cast<char*>(all);
      for (const void* const part : shown) {
        if (bytes > 0) std::memcpy(next, part, bytes);
        next += bytes;
      }
    });
  }

  void broadcast(void* data, std::size_t bytes) override {
    meeting_->meet(rank(), data, gpus(), [&](const std::vector<const void*>& shown) {
      if (rank() != 0 && bytes > 0) std::memcpy(data, shown.front(), bytes);
    });
  }

  void begin_exchange(std::span<const Message> receive, std::span<const Message> send) override {
    receive_.assign(receive.begin(), receive.end());
    send_.assign(send.begin(), send.end());
    for (const Message& message : send_) meeting_->send(rank(), message.process, message);
  }

  void end_exchange() override {
    for (const Message& message : receive_) meeting_->receive(message.process, rank(), message);
    for (const Message& message : send_) meeting_->wait_until_taken(rank(), message.process);
  }

  [[noreturn]] void abort(int code) noexcept override {
    std::fflush(nullptr);
    std::_Exit(code);
  }

 private:
  std::shared_ptr<Meeting> meeting_;
  std::vector<Message> receive_;
  std::vector<Message> send_;
};

ThreadTeam::ThreadTeam(int size) : meeting_(std::make_shared<Meeting>(size)) {}
ThreadTeam::~ThreadTeam() = default;

int ThreadTeam::size() const noexcept { return meeting_->size(); }

std::shared_ptr<Processes> ThreadTeam::member(int rank) {
  return std::make_shared<Member>(meeting_, rank);
}

void ThreadTeam::fail(std::exception_ptr failure) noexcept { meeting_->fail(std::move(failure)); }

std::exception_ptr ThreadTeam::failure() const { return meeting_->failure(); }

}  // namespace heddle::detail
