#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <heddle/linalg/base/available_memory.hpp>
#include <heddle/linalg/base/cgroups.hpp>
#include <optional>
#include <sstream>

namespace heddle::detail {
namespace {

namespace fs = std::filesystem;

std::optional<double> read_number(const fs::path& file) {
  std::ifstream stream(file);
  double number = 0;
  if (stream >> number) return number;
  return std::nullopt;  // "max" stands for no limit
}

/// The number after `key` in a file with a key and a number per line, 0 if there is none.
double read_key(const fs::path& file, const std::string& key) {
  std::ifstream stream(file);
  std::string word;
  double number = 0;
  while (stream >> word >> number) {
    if (word == key) return number;
  }
  return 0;
}

/// Memory of this process in bytes.
struct OwnMemory {
  double mapped = 0;
  double resident = 0;
  double data = 0;  ///< the mapped part that `ulimit -d` limits
};

OwnMemory own_memory(const fs::path& root) {
  std::ifstream stream(root / "proc/self/statm");  // in pages
  double mapped = 0, resident = 0, shared = 0, text = 0, library = 0, data = 0;
  stream >> mapped >> resident >> shared >> text >> library >> data;
  const auto page = static_cast<double>(sysconf(_SC_PAGESIZE));
  return {mapped * page, resident * page, data * page};
}

/// The memory that a group with this limit leaves to this process, of which `used` bytes may be its
/// own.
double left_to_process(double limit, double used, double cache, const OwnMemory& own) {
  return limit - std::max(0.0, used - cache - own.resident);
}

std::optional<double> cgroup_memory(const fs::path& root, const OwnMemory& own) {
  const auto version2 = [&own](const fs::path& group) -> std::optional<double> {
    const std::optional<double> limit = read_number(group / "memory.max");
    if (!limit) return std::nullopt;
    return left_to_process(*limit, read_number(group / "memory.current").value_or(0),
                           read_key(group / "memory.stat", "inactive_file"), own);
  };
  const auto version1 = [&own](const fs::path& group) -> std::optional<double> {
    const std::optional<double> limit = read_number(group / "memory.limit_in_bytes");
    if (!limit) return std::nullopt;
    return left_to_process(*limit, read_number(group / "memory.usage_in_bytes").value_or(0),
                           read_key(group / "memory.stat", "total_inactive_file"), own);
  };
  return smallest_cgroup_limit(root, {"memory", version2, version1});
}

/// The soft limit of this name in proc/self/limits.
std::optional<double> process_limit(const fs::path& root, const std::string& name) {
  std::ifstream limits(root / "proc/self/limits");
  for (std::string line; std::getline(limits, line);) {
    if (line.rfind(name, 0) != 0) continue;
    std::istringstream rest(line.substr(name.size()));
    double limit = 0;
    if (rest >> limit) return limit;
  }
  return std::nullopt;  // "unlimited"
}

}  // namespace

AvailableMemory available_memory(const fs::path& root) {
  AvailableMemory least{
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE)), 0,
      "this machine"};
  const auto take = [&least](std::optional<double> bytes, double lost, const char* owner) {
    if (!bytes || *bytes - lost >= least.bytes) return;
    least = {std::max(0.0, *bytes - lost), 0, owner};
  };
  const OwnMemory own = own_memory(root);
  take(cgroup_memory(root, own), 0, "the control group of this process");
  take(process_limit(root, "Max address space"), std::max(0.0, own.mapped - own.resident),
       "the address space of this process (ulimit -v)");
  take(process_limit(root, "Max data size"), std::max(0.0, own.data - own.resident),
       "the data segment of this process (ulimit -d)");
  least.unused = std::max(0.0, least.bytes - own.resident);
  return least;
}

}  // namespace heddle::detail
