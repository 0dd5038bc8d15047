#include <array>
#include <cstdlib>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/base/instruction_set.hpp>
#include <heddle/linalg/base/isa.hpp>
#include <string>
#include <vector>

namespace heddle {
namespace {

constexpr std::array<std::string_view, 3> kNames = {"base", "avx2", "avx512"};

std::string_view name_of(Isa isa) { return kNames[static_cast<std::size_t>(isa)]; }

/// The instruction sets that both the CPU and this build have, ascending.
std::vector<Isa> usable() {
  std::vector<Isa> found = {Isa::base};
#ifdef HEDDLE_ISA_VARIANTS
  // The features that tell x86-64-v3 and x86-64-v4 from what comes before.
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
  if (avx2) found.push_back(Isa::avx2);
  if (avx2 && avx512) found.push_back(Isa::avx512);
#endif
  return found;
}

Isa choose() {
  const std::vector<Isa> choice = usable();
  const char* const asked = std::getenv("HEDDLE_ISA");
  if (asked == nullptr || *asked == '\0') return choice.back();
  std::string names;
  for (const Isa isa : choice) {
    if (name_of(isa) == asked) return isa;
    names += (names.empty() ? "" : ", ") + std::string(name_of(isa));
  }
  throw InvalidArgument("HEDDLE_ISA=" + std::string(asked) +
                        ": this build on this CPU can use: " + names);
}

}  // namespace

Isa host_isa() {
  static const Isa isa = choose();
  return isa;
}

std::string_view instruction_set() { return name_of(host_isa()); }

}  // namespace heddle
