#pragma once

namespace heddle::detail {

/// The CPU that the calling thread runs on, −1 where the system does not tell.
int current_cpu() noexcept;

/// Moves the calling thread from `cpu` to another CPU, where it may run on at least `least` of
/// them. It may run on the same CPUs after as before, so that the system may move it again. Linux
/// takes them for the choice of the program from then on, and adds none that come later. Linux
/// only.
void leave_cpu(int cpu, int least) noexcept;

}  // namespace heddle::detail
