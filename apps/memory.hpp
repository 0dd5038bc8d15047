#pragma once

#include <heddle/apps/problem.hpp>

namespace heddle::apps {

/// Bytes that solving `input` as `config` says will hold at its peak, the input included.
double estimated_bytes(const EigenInput<double>& input, const Config& config);

/// Throws `OutOfMemory` if `bytes` are more than the machine has.
void check_memory(double bytes);

}  // namespace heddle::apps
