#pragma once

namespace heddle::detail {

/// Asks the system to run the calling thread in slices of at most 0.1 ms. On a machine with more
/// runnable threads than CPUs, a thread with short slices gets the same share of a CPU in more and
/// shorter turns, and runs sooner after it wakes. A team waits for its slowest member, so that its
/// waiting times are those of single turns.
///
/// Keeps the thread's policy and nice value, and a slice that is shorter already. Does nothing for
/// policies other than the normal one, and on systems without such a request (Linux before 6.12).
void shorten_time_slice() noexcept;

}  // namespace heddle::detail
