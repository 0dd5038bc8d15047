#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace heddle {
namespace detail {
class GpuConnection;
}

/// The processes that solve one problem together. Process k holds the k-th range of the rows of
/// every distributed matrix and block. All processes make the same calls in the same order: each
/// call below, except `abort`, waits for the others. Memory is that of the host.
class Processes {
 public:
  virtual ~Processes() = default;
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  int rank() const noexcept { return rank_; }  ///< number of this process, from 0
  int size() const noexcept { return size_; }  ///< number of processes
  /// Whether this is process 0.
  bool leads() const noexcept { return rank_ == 0; }

  /// The number of these processes that run on this machine, this one included, and the number of
  /// this one among them, from 0.
  int on_this_machine() const noexcept { return on_this_machine_; }
  int rank_on_this_machine() const noexcept { return rank_on_this_machine_; }

  /// The connection between the GPUs of these processes. Null until the first context on a GPU. It
  /// is kept here because its end waits for all processes, as that of MPI does.
  std::shared_ptr<detail::GpuConnection>& gpus() noexcept { return gpus_; }

  /// all[k·bytes …] ← the `bytes` at `here` of process k, for all k.
  virtual void gather_all(const void* here, void* all, std::size_t bytes) = 0;

  /// Copies `bytes` at `data` of process 0 to all other processes.
  virtual void broadcast(void* data, std::size_t bytes) = 0;

  /// Bytes that go to or come from another process.
  struct Message {
    int process = 0;  ///< the other process, as sender or receiver
    void* data = nullptr;
    std::size_t bytes = 0;  ///< the size of the message
  };

  /// Begins to send and to receive messages. Every message that a process sends is received by its
  /// target in the same call, with the same size, and messages between two processes arrive in
  /// order. The memory must stay untouched until `end_exchange` has returned or thrown. One
  /// exchange at a time. Only the processes that appear in messages take part.
  virtual void begin_exchange(std::span<const Message> receive, std::span<const Message> send) = 0;
  virtual void end_exchange() = 0;

  /// Ends all processes, with `code` as the exit code of the whole program.
  [[noreturn]] virtual void abort(int code) noexcept = 0;

  /// values[i] ← the sum of values[i] of all processes, added in the order of the processes: the
  /// same bits on all of them and in every run.
  void sum(std::span<double> values);

  /// values[i] ← the largest values[i] of all processes, NaN if one is NaN.
  void largest(std::span<double> values);

  /// The logical OR of `here` over all processes.
  bool any(bool here);

  /// Whether `number` is the same on all processes.
  bool same(std::uint64_t number);

 protected:
  /// The number of this process and of all, and the same of those on this machine.
  Processes(int rank, int size, int on_this_machine, int rank_on_this_machine) noexcept
      : rank_(rank),
        size_(size),
        on_this_machine_(on_this_machine),
        rank_on_this_machine_(rank_on_this_machine) {}

 private:
  std::span<const double> gather_all(std::span<const double> values);

  int rank_;
  int size_;
  int on_this_machine_;
  int rank_on_this_machine_;
  std::shared_ptr<detail::GpuConnection> gpus_;
  std::vector<double> all_;  // kept, so that a sum allocates at its first size only
};

/// The processes that mpirun, srun or another launcher started together with this one, over MPI.
/// Null if there is only this one.
///
/// Initialises MPI if a launcher started several processes and nobody else has done so. It is then
/// ended with the last copy of the pointer, which all processes must reach, or by
/// `Processes::abort`. Without a launcher, and where it started one process, MPI is not touched.
/// Throws `DeviceError` if a launcher started several processes and this build has no MPI, or MPI
/// does not find the others: each of them would solve the whole problem.
std::shared_ptr<Processes> started_processes();

}  // namespace heddle
