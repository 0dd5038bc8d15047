#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <heddle/linalg/base/time_slice.hpp>

namespace heddle::detail {
namespace {

/// The first version of Linux' `struct sched_attr`, which C libraries declare only lately.
struct SchedulingAttributes {
  std::uint32_t size = sizeof(SchedulingAttributes);
  std::uint32_t policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0;  ///< for the normal policy: the slice in ns, 0 for the system's
  std::uint64_t deadline = 0;
  std::uint64_t period = 0;
};

constexpr std::uint64_t kSlice = 100'000;  // ns, the shortest one that Linux grants

}  // namespace

void shorten_time_slice() noexcept {
#ifdef SYS_sched_setattr
  SchedulingAttributes attributes;
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0) return;
  if (attributes.policy != SCHED_OTHER) return;
  if (attributes.runtime != 0 && attributes.runtime <= kSlice) return;
  attributes.size = sizeof attributes;
  attributes.runtime = kSlice;
  // A refusal leaves the thread as it was, which is right, too.
  static_cast<void>(syscall(SYS_sched_setattr, 0, &attributes, 0));
#endif
}

}  // namespace heddle::detail
