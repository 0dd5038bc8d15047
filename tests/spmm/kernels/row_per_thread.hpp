#pragma once

namespace heddle::test {

/// Adds the kernel "row_per_thread" to the table of CUDA kernels, once per process: one thread per
/// row of C, without any care for speed.
void register_row_per_thread();

/// Products that the kernel has computed in this process.
int row_per_thread_products();

}  // namespace heddle::test
