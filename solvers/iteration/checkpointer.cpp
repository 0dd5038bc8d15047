#include <fmt/format.h>

#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/solvers/iteration/checkpointer.hpp>
#include <heddle/solvers/problem/checkpoint.hpp>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace heddle::detail {
namespace {

using Facts = std::vector<std::string>;

bool contains(const Facts& facts, const std::string& fact) {
  return std::find(facts.begin(), facts.end(), fact) != facts.end();
}

/// The fact of `others` that stands in the place of `fact`, which `own` has and they lack: one of
/// the same name that `own` lacks, else "nothing".
std::string counterpart(const std::string& fact, const Facts& others, const Facts& own) {
  const std::string name = fact.substr(0, fact.find(':') + 1);
  const auto found = std::find_if(others.begin(), others.end(), [&](const std::string& other) {
    return other.starts_with(name) && !contains(own, other);
  });
  return found == others.end() ? "nothing" : *found;
}

}  // namespace

Checkpointer::Checkpointer(const CheckpointOptions& options, std::vector<std::string> identity)
    : options_(options), identity_(std::move(identity)) {
  if (!kept()) return;
  check_checkpoint_file(options);
  std::error_code missing;
  file_ = std::filesystem::canonical(options.file, missing);
  if (missing) file_ = options.file;
  identity_.insert(identity_.begin(), options.identity.begin(), options.identity.end());
}

void Checkpointer::archive_identity(Archive& archive) {
  std::size_t count = identity_.size();
  archive.values(count);
  for (std::string& fact : identity_) archive.text(fact);
}

void Checkpointer::check_identity(Archive& archive) const {
  const auto refuse = [&](std::string_view theirs, std::string_view ours) {
    throw InputError(
        options_.file.string(), 0,
        fmt::format("is the checkpoint of another solve, with {} in place of {}", theirs, ours));
  };
  std::size_t count = 0;
  archive.values(count);
  Facts theirs;
  for (std::size_t i = 0; i < count; ++i) archive.text(theirs.emplace_back());
  for (std::size_t i = 0; i < std::max(count, identity_.size()); ++i) {
    if (i < count && !contains(identity_, theirs[i])) {
      refuse(theirs[i], counterpart(theirs[i], identity_, theirs));
    }
    if (i < identity_.size() && !contains(theirs, identity_[i])) {
      refuse(counterpart(identity_[i], theirs, identity_), identity_[i]);
    }
  }
}

/// Processes that were ended while they wrote may have left files of two iterations.
void Checkpointer::check_same_iteration(bool same) const {
  if (same) return;
  throw InputError(options_.file.string(), 0,
                   "is of another iteration than the checkpoints of the other processes: the run "
                   "that wrote them was ended in between");
}

void Checkpointer::pass_section(CheckpointFile& file, std::vector<std::byte>& memory) {
  std::uint64_t size = memory.size();
  file.bytes(&size, sizeof size);
  if (file.loading()) memory.resize(std::min(size, file.left()));
  file.bytes(memory.data(), memory.size());
  file.end_section();
}

void Checkpointer::discard() noexcept {
  std::error_code ignored;
  if (kept()) std::filesystem::remove(file_, ignored);
}

}  // namespace heddle::detail
