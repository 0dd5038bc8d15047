#pragma once

namespace heddle::detail {

/// The CPU that the calling thread runs on, −1 where the system does not tell.
int current_cpu() noexcept;

/// Moves the calling thread from `cpu` to another CPU, where it may run on at least `least` of
/// them. What it is allowed stays as it is, so that the system may move it again. Linux only.
void leave_cpu(int cpu, int least) noexcept;

}  // namespace heddle::detail
