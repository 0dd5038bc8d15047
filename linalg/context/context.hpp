#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <heddle/linalg/base/profile.hpp>

namespace heddle {

/// Row and entry counts, offsets. 64 bits: n·b passes 2³¹ long before memory ends.
using Index = std::int64_t;

/// Scalars that heddle is compiled for. Small dense matrices are always double.
template <class T>
concept Scalar = std::same_as<T, float> || std::same_as<T, double>;

/// Memory of the host.
struct HostSpace {};

/// Memory of a GPU.
struct DeviceSpace {};

/// The context type that owns memory of `Space`.
template <class Space>
struct ContextOf;

/// How often and how much a context allocated.
struct AllocationCount {
  std::size_t allocations = 0;  ///< calls of `allocate` with a size above zero
  std::size_t live_bytes = 0;
  std::size_t peak_bytes = 0;
};

/// Where work runs: a memory space, an allocator over it, an order of execution, and a profile.
/// Operations on blocks are overloads on the context, so a backend is a context plus overloads.
template <class C>
concept Context = requires(C& context, void* pointer, std::size_t bytes, bool here) {
  typename C::Space;
  { context.allocate(bytes) } -> std::same_as<void*>;
  { context.deallocate(pointer, bytes) }
  noexcept;
  {context.synchronize()};
  { context.agree(here) } -> std::same_as<bool>;
  { context.profile() } -> std::same_as<Profile&>;
  { context.enter(Phase::other) } -> std::same_as<Phase>;
  { context.allocation_count() } -> std::same_as<const AllocationCount&>;
};

/// The CPU backend: host memory, OpenMP threads, calls that return when their work is done.
///
/// Results do not depend on the number of threads: sums over rows run in fixed chunks.
class HostContext {
 public:
  using Space = HostSpace;

  /// `threads`: OpenMP threads for every operation, 0 for as many as OpenMP would use.
  /// Throws `InvalidArgument` if negative.
  explicit HostContext(int threads = 0);
  ~HostContext();
  HostContext(const HostContext&) = delete;
  HostContext& operator=(const HostContext&) = delete;

  int threads() const noexcept { return threads_; }

  /// `bytes` of uninitialised memory on a 64-byte boundary, nullptr for 0.
  /// Throws `OutOfMemory` with the size asked for.
  void* allocate(std::size_t bytes);
  void deallocate(void* pointer, std::size_t bytes) noexcept;

  /// At least `bytes` of uninitialised memory on a 64-byte boundary for the inside of one
  /// operation; the next call may move or overwrite it. It grows to the largest size asked for and
  /// is kept, so operations allocate nothing once they have run at a size. Throws `OutOfMemory`.
  void* scratch(std::size_t bytes);

  /// Nothing is ever pending on the host.
  void synchronize() noexcept {}

  /// True where any process of the context says so: here the only one. Decisions that depend on a
  /// clock, a signal or a monitor go through this, so that all processes take the same.
  bool agree(bool here) const noexcept { return here; }

  /// Opens `phase` for what follows; returns the one that was open. See `PhaseScope`.
  Phase enter(Phase phase) noexcept { return profile_.enter(phase); }

  Profile& profile() noexcept { return profile_; }
  const AllocationCount& allocation_count() const noexcept { return allocation_count_; }

 private:
  int threads_;
  Profile profile_;
  AllocationCount allocation_count_;
  void* scratch_ = nullptr;
  std::size_t scratch_bytes_ = 0;
};

template <>
struct ContextOf<HostSpace> {
  using type = HostContext;
};

static_assert(Context<HostContext>);

}  // namespace heddle
