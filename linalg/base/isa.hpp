#pragma once

#include <type_traits>

/// Kernels that are compiled once per instruction set. `heddle_isa_sources` in
/// cmake/HeddleTargets.cmake compiles a source file with HEDDLE_ISA = base, avx2 and avx512. In
/// such a file
///   - what other files call is a function template with an `Isa` as its first parameter, and is
///     instantiated for `kIsa`;
///   - all else is in an unnamed namespace or in `inline namespace HEDDLE_ISA`. A function that two
///     variants share by name may come from either, and then runs on a CPU that lacks its
///     instructions. `cmake/CheckIsaSymbols.cmake` looks for such functions after each build.
#ifndef HEDDLE_ISA
#define HEDDLE_ISA base
#endif

namespace heddle {

/// Instruction sets that kernels are compiled for: what the build's options say, x86-64-v3 (AVX2
/// and FMA), x86-64-v4 (AVX-512).
enum class Isa { base, avx2, avx512 };

/// The one that this process uses. Throws as `instruction_set` does.
Isa host_isa();

inline namespace HEDDLE_ISA {

/// The one that this file is being compiled for.
inline constexpr Isa kIsa = Isa::HEDDLE_ISA;

}  // namespace HEDDLE_ISA

template <Isa kValue>
using IsaConstant = std::integral_constant<Isa, kValue>;

/// Calls call(IsaConstant<I>()) for I = host_isa().
template <class Call>
void with_host_isa(const Call& call) {
#ifdef HEDDLE_ISA_VARIANTS
  switch (host_isa()) {
    case Isa::avx512:
      return call(IsaConstant<Isa::avx512>());
    case Isa::avx2:
      return call(IsaConstant<Isa::avx2>());
    case Isa::base:
      break;
  }
#endif
  call(IsaConstant<Isa::base>());
}

}  // namespace heddle
