#include <sched.h>

#include <heddle/linalg/base/cpu_place.hpp>

namespace heddle::detail {

#ifdef __linux__

int current_cpu() noexcept { return sched_getcpu(); }

void leave_cpu(int cpu, int least) noexcept {
  cpu_set_t allowed;
  // Fails on machines with more CPUs than the set has room for.
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  if (CPU_COUNT(&allowed) < least || !CPU_ISSET(cpu, &allowed)) return;
  cpu_set_t others = allowed;
  CPU_CLR(cpu, &others);
  if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof others, &others) != 0) return;
  static_cast<void>(sched_setaffinity(0, sizeof allowed, &allowed));
}

#else

int current_cpu() noexcept { return -1; }

void leave_cpu(int, int) noexcept {}

#endif

}  // namespace heddle::detail
