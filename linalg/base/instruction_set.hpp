#pragma once

#include <string_view>

namespace heddle {

/// The instruction set of the host kernels that this process uses: "avx512", "avx2" or "base", what
/// the compiler's options allow everywhere. It is the best one that heddle was compiled for and
/// that the CPU has, or the one that the environment variable HEDDLE_ISA names. A build for one
/// instruction set (HEDDLE_NATIVE, other processors than x86-64) has "base" only. Throws
/// `InvalidArgument` if HEDDLE_ISA names another one.
///
/// Results have the same bits for every number of threads with one instruction set. Between
/// instruction sets they differ by rounding: avx2 and avx512 fuse multiplications and additions.
std::string_view instruction_set();

}  // namespace heddle
