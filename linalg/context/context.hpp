#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <heddle/linalg/base/profile.hpp>
#include <heddle/linalg/context/processes.hpp>
#include <heddle/linalg/context/scalar.hpp>
#include <memory>
#include <utility>

namespace heddle {
namespace detail {
class HostMemory;
}

/// Counts of rows and entries, and offsets. 64 bits, because n·b exceeds 2³¹ for blocks that fit in
/// memory.
using Index = std::int64_t;

/// Memory of the host.
struct HostSpace {};

/// Memory of a GPU.
struct DeviceSpace {};

/// The type of the contexts that own memory of `Space`.
template <class Space>
struct ContextOf;

/// How many allocations a context made, and of how many bytes.
struct AllocationCount {
  std::size_t allocations = 0;  ///< calls of `allocate` with a size above zero
  std::size_t live_bytes = 0;   ///< bytes held now
  std::size_t peak_bytes = 0;   ///< the most bytes held at once
};

/// The concept of a backend: a memory space, an allocator of its memory, an order of execution, and
/// a profile. Operations on blocks are overloads for the context type, so a backend consists of a
/// context and these overloads.
template <class C>
concept Context = requires(C& context, void* pointer, std::size_t bytes, bool here) {
  typename C::Space;
  { context.allocate(bytes) } -> std::same_as<void*>;
  { context.deallocate(pointer, bytes) }
  noexcept;
  {context.synchronize()};
  { context.agree(here) } -> std::same_as<bool>;
  { context.same(bytes) } -> std::same_as<bool>;
  { context.profile() } -> std::same_as<Profile&>;
  { context.enter(Phase::other) } -> std::same_as<Phase>;
  { context.allocation_count() } -> std::same_as<const AllocationCount&>;
};

/// The CPU backend: host memory and threads. A call returns when its work is done.
///
/// With `processes`, blocks hold the rows of this process. Block operations that sum over rows then
/// add the sums of all processes, in the order of these, so that all of them get the same bits.
/// A `DistributedCsrView` says which of its columns other processes hold.
///
/// Results do not depend on the number of threads, because sums over rows are split into chunks
/// that depend on the shapes alone.
class HostContext {
 public:
  using Space = HostSpace;

  /// `threads` is the number of threads of every operation. 0: OMP_NUM_THREADS, else what CPUs,
  /// affinity and cgroup quota allow. `processes`: the processes that share the rows. Null: this
  /// process holds all rows. Throws `InvalidArgument` if `threads` is negative.
  explicit HostContext(int threads = 0, std::shared_ptr<Processes> processes = nullptr);
  ~HostContext();
  HostContext(const HostContext&) = delete;
  HostContext& operator=(const HostContext&) = delete;

  /// The number of threads.
  int threads() const noexcept { return threads_; }

  /// The processes that share the rows. Null: this process holds all rows, or works apart.
  Processes* processes() const noexcept { return apart_ ? nullptr : processes_.get(); }

  /// Whether this process works apart from the others from now on: with blocks and matrices of
  /// which it has all rows. Returns whether it did before. `Apart` sets it for a scope.
  bool set_apart(bool apart) noexcept { return std::exchange(apart_, apart); }

  /// Returns `bytes` of uninitialised memory, aligned to 64 bytes, or nullptr for 0 bytes. Throws
  /// `OutOfMemory` with the size requested.
  void* allocate(std::size_t bytes);

  /// Frees memory of this context. Large pieces stay with it for later allocations, see
  /// `detail::HostMemory`.
  void deallocate(void* pointer, std::size_t bytes) noexcept;

  /// Bytes that were freed and stay with the context.
  std::size_t kept_bytes() const noexcept;

  /// Returns them to the system.
  void release_kept_memory() noexcept;

  /// Returns at least `bytes` of uninitialised memory, aligned to 64 bytes, for temporaries of one
  /// operation. The next call may move or overwrite it. It grows to the largest size requested and
  /// is kept, so operations allocate nothing once they have run at a size. Throws `OutOfMemory`.
  void* scratch(std::size_t bytes);

  /// A second such memory, for an operation that calls others, which use `scratch`.
  void* outer_scratch(std::size_t bytes);

  /// A no-op: calls on the host have finished when they return.
  void synchronize() noexcept {}

  /// The logical OR of `here` over all processes of the context, `here` if there is one. Decisions
  /// that depend on a clock, a signal, a monitor or the rows of a process use it, so that all
  /// processes decide alike.
  bool agree(bool here) const { return processes() ? processes()->any(here) : here; }

  /// The numbers by which random entries of the rows of this process are drawn, in memory of the
  /// context, where processes hold rows in another order than the matrix. Null: consecutive ones.
  /// See `fill_random`. The caller keeps them alive.
  const std::int32_t* row_numbers() const noexcept { return row_numbers_; }
  void set_row_numbers(const std::int32_t* numbers) noexcept { row_numbers_ = numbers; }

  /// Whether `number` is the same on all processes of the context.
  bool same(std::uint64_t number) const { return !processes() || processes()->same(number); }

  /// Opens `phase` for the work that follows and returns the phase that was open. See `PhaseScope`.
  Phase enter(Phase phase) noexcept { return profile_.enter(phase); }

  Profile& profile() noexcept { return profile_; }
  const AllocationCount& allocation_count() const noexcept { return allocation_count_; }

 private:
  int threads_;
  std::shared_ptr<Processes> processes_;
  bool apart_ = false;
  const std::int32_t* row_numbers_ = nullptr;
  Profile profile_;
  AllocationCount allocation_count_;
  std::unique_ptr<detail::HostMemory> memory_;
  struct Scratch {
    void* data = nullptr;
    std::size_t bytes = 0;
  };
  void* grown(Scratch& scratch, std::size_t bytes);

  Scratch scratch_, outer_scratch_;
};

template <>
struct ContextOf<HostSpace> {
  using type = HostContext;
};

static_assert(Context<HostContext>);

}  // namespace heddle
