#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/launcher.hpp>
#include <heddle/linalg/context/processes.hpp>
#include <thread>

namespace heddle {
namespace {

bool initialized() noexcept {
  int flag = 0;
  MPI_Initialized(&flag);
  return flag != 0;
}

int rank_in(MPI_Comm group) noexcept {
  int rank = 0;
  MPI_Comm_rank(group, &rank);
  return rank;
}

int size_of(MPI_Comm group) noexcept {
  int size = 0;
  MPI_Comm_size(group, &size);
  return size;
}

/// The processes of a group that run on this machine.
struct OnThisMachine {
  int size;
  int rank;

  explicit OnThisMachine(MPI_Comm group) noexcept {
    MPI_Comm machine = MPI_COMM_NULL;
    MPI_Comm_split_type(group, MPI_COMM_TYPE_SHARED, rank_in(group), MPI_INFO_NULL, &machine);
    size = size_of(machine);
    rank = rank_in(machine);
    MPI_Comm_free(&machine);
  }
};

/// Waits for all requests, which carry `bytes` together. MPI itself would spin, and take the time
/// of processes and threads that share the core. A wait for a message of a step takes some
/// microseconds, one for the next solve may take minutes. MPI may send a large message in small
/// pieces, one with each call, so that a process must not sleep while it travels.
void wait_for(std::span<MPI_Request> requests, std::size_t bytes) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kSpins = std::chrono::microseconds(50);
  constexpr double kSlowBytesPerMicrosecond = 500;
  const auto travel = std::chrono::microseconds(
      static_cast<std::int64_t>(static_cast<double>(bytes) / kSlowBytesPerMicrosecond));
  const auto yields = std::chrono::milliseconds(5) + travel;
  const Clock::time_point start = Clock::now();
  const auto count = static_cast<int>(requests.size());
  for (int done = 0;;) {
    MPI_Testall(count, requests.data(), &done, MPI_STATUSES_IGNORE);
    if (done != 0) return;
    const Clock::duration waited = Clock::now() - start;
    if (waited < kSpins) continue;
    if (waited < yields) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(kSpins);
    }
  }
}

/// The bytes that one message of MPI carries at most. It counts in 32 bits.
constexpr std::size_t kPiece = std::size_t{1} << 30;

/// Calls body(data, count) for pieces of `bytes` bytes from `data` on.
template <class Body>
void for_each_piece(void* data, std::size_t bytes, const Body& body) {
  auto* next = static_cast<char*>(data);
  for (std::size_t left = bytes; left > 0;) {
    const std::size_t count = std::min(left, kPiece);
    body(next, static_cast<int>(count));
    next += count;
    left -= count;
  }
}

/// Failures of MPI end all processes, which is its default.
class MpiProcesses final : public Processes {
 public:
  MpiProcesses(MPI_Comm group, bool ends_mpi) noexcept
      : MpiProcesses(group, ends_mpi, OnThisMachine(group)) {}

  ~MpiProcesses() override {
    gpus().reset();
    MPI_Comm_free(&group_);
    if (ends_mpi_) MPI_Finalize();
  }

  void gather_all(const void* here, void* all, std::size_t bytes) override {
    if (bytes <= kPiece) {
      const int count = static_cast<int>(bytes);
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Iallgather(here, count, MPI_BYTE, all, count, MPI_BYTE, group_, &request);
      return wait_for({&request, 1}, bytes * static_cast<std::size_t>(size()));
    }
    for (int process = 0; process < size(); ++process) {
      auto* const part = static_cast<char*>(all) + static_cast<std::size_t>(process) * bytes;
      if (process == rank()) std::copy_n(static_cast<const char*>(here), bytes, part);
      broadcast_from(process, part, bytes);
    }
  }

  void broadcast(void* data, std::size_t bytes) override { broadcast_from(0, data, bytes); }

  void begin_exchange(std::span<const Message> receive, std::span<const Message> send) override {
    constexpr int kTag = 0;
    requests_.clear();
    bytes_ = 0;
    for (const Message& message : receive) bytes_ += message.bytes;
    for (const Message& message : send) bytes_ += message.bytes;
    for (const Message& message : receive) {
      for_each_piece(message.data, message.bytes, [&](void* data, int count) {
        MPI_Irecv(data, count, MPI_BYTE, message.process, kTag, group_, &requests_.emplace_back());
      });
    }
    for (const Message& message : send) {
      for_each_piece(message.data, message.bytes, [&](void* data, int count) {
        MPI_Isend(data, count, MPI_BYTE, message.process, kTag, group_, &requests_.emplace_back());
      });
    }
  }

  void end_exchange() override { wait_for(requests_, bytes_); }

  [[noreturn]] void abort(int code) noexcept override {
    MPI_Abort(group_, code);
    std::_Exit(code);
  }

 private:
  MpiProcesses(MPI_Comm group, bool ends_mpi, OnThisMachine machine) noexcept
      : Processes(rank_in(group), size_of(group), machine.size, machine.rank),
        group_(group),
        ends_mpi_(ends_mpi) {}

  void broadcast_from(int process, void* data, std::size_t bytes) {
    for_each_piece(data, bytes, [&](void* piece, int count) {
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Ibcast(piece, count, MPI_BYTE, process, group_, &request);
      wait_for({&request, 1}, static_cast<std::size_t>(count));
    });
  }

  MPI_Comm group_;
  bool ends_mpi_;
  std::vector<MPI_Request> requests_;
  std::size_t bytes_ = 0;  // of the messages of the exchange
};

}  // namespace

std::shared_ptr<Processes> started_processes() {
  const bool foreign = initialized();
  const std::optional<int> launched = detail::launched_processes();
  if (!foreign) {
    if (launched && *launched <= 1) return nullptr;
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  }
  MPI_Comm group = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &group);
  auto processes = std::make_shared<MpiProcesses>(group, !foreign);
  if (processes->size() > 1) return processes;
  if (!foreign && launched.value_or(1) > 1) {
    throw DeviceError(detail::cannot_join(
        *launched,
        "MPI finds one, because they are of different versions of MPI, or cannot reach each other: "
        "start them by the mpirun of the MPI that heddle is built with, or by srun --mpi=pmix"));
  }
  return nullptr;
}

}  // namespace heddle
