#pragma once

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/iteration/archive.hpp>
#include <heddle/solvers/iteration/checkpoint_file.hpp>
#include <heddle/solvers/problem/checkpoint.hpp>
#include <heddle/solvers/problem/result.hpp>
#include <string>
#include <vector>

namespace heddle::detail {

/// Keeps the checkpoint of one solve.
///
/// A solve calls `capture` at the head of each iteration. This copies the solve's numbers within
/// host memory. As soon as it is known whether the solve may stop in this iteration, the solve
/// calls `due`, and `write` if that returns true. Until then it must not change the long blocks
/// with which the iteration began. It may change the numbers that were copied.
///
/// `state(archive)` saves or loads those numbers. `blocks(visit)` calls `visit(block)` for those
/// blocks. On resumption it is called after `state`, which restores the widths of the blocks.
class Checkpointer {
 public:
  /// `identity`: the facts that must be the same in a solve that resumes, as "name: value". Throws
  /// as `check_checkpoint_file` does.
  Checkpointer(const CheckpointOptions& options, std::vector<std::string> identity);

  bool resumes() const noexcept { return kept() && options_.resume; }

  /// Copies the numbers of the solve, and remembers the length of its history.
  template <class State>
  void capture(const std::vector<IterationRecord>& history, const State& state) {
    if (!kept()) return;
    captured_.clear();
    captured_records_ = history.size();
    Archive archive(captured_, Archive::Mode::save);
    state(archive);
  }

  /// Whether a checkpoint is to be written: the solve stops, or the time between two checkpoints
  /// has passed on any process of the context.
  template <Context Ctx>
  bool due(Ctx& context, bool stops) const {
    return kept() && (stops || context.agree(seconds_since_write() >= options_.every_s));
  }

  /// Writes what `capture` copied, the blocks and the history up to then. A failure is reported to
  /// `on_failure` or, where that is empty, thrown as `InputError`.
  template <class Ctx, class Blocks>
  void write(Ctx& context, std::vector<IterationRecord>& history, const Blocks& blocks) {
    try {
      write_file(context, history, blocks);
    } catch (const InputError& error) {
      if (!options_.on_failure) throw;
      options_.on_failure(error.what());
    }
    written_ = Clock::now();
  }

  /// Restores the numbers, the blocks and the history from the file.
  /// Throws `InputError` if the file is missing, damaged, or of another solve.
  template <class Ctx, class State, class Blocks>
  void resume(Ctx& context, std::vector<IterationRecord>& history, const State& state,
              const Blocks& blocks) const {
    CheckpointFile file(file_, Archive::Mode::load);
    std::vector<std::byte> memory;
    pass_section(file, memory);
    Archive archive(memory, Archive::Mode::load);
    check_identity(archive);
    std::vector<std::byte> captured;
    archive.list(captured);
    archive.list(history);
    check_same_iteration(context.same(history.size()));
    Archive numbers(captured, Archive::Mode::load);
    try {
      state(numbers);
    } catch (const ArchiveError& error) {
      throw InputError(file_.string(), 0, error.what());
    }
    blocks([&](auto block) { pass_block(context, file, block); });
    file.end_section();
  }

  /// Deletes the file, because a converged solve cannot be resumed.
  void discard() noexcept;

 private:
  using Clock = std::chrono::steady_clock;

  bool kept() const noexcept { return !options_.file.empty(); }

  double seconds_since_write() const noexcept {
    return std::chrono::duration<double>(Clock::now() - written_).count();
  }

  template <class Ctx, class Blocks>
  void write_file(Ctx& context, std::vector<IterationRecord>& history, const Blocks& blocks) {
    std::vector<std::byte> memory;
    Archive archive(memory, Archive::Mode::save);
    archive_identity(archive);
    archive.list(captured_);
    archive.list(history, captured_records_);
    CheckpointFile file(file_, Archive::Mode::save);
    pass_section(file, memory);
    blocks([&](auto block) { pass_block(context, file, block); });
    file.end_section();
    file.commit();
  }

  void archive_identity(Archive& archive);
  void check_identity(Archive& archive) const;
  void check_same_iteration(bool same) const;
  static void pass_section(CheckpointFile& file, std::vector<std::byte>& memory);

  /// Writes or reads the rows of a block in portions that are staged in host memory.
  template <class Ctx, class T>
  static void pass_block(Ctx& context, CheckpointFile& file,
                         BlockView<T, typename Ctx::Space> block) {
    constexpr Index kRows = 16384;
    HostContext host(1);
    const Index ld = block.ld();
    MultiVector<T, HostSpace> portion(host, std::min(kRows, block.rows()), block.cols());
    for (Index first = 0; first < block.rows() && block.cols() > 0; first += kRows) {
      const Index count = std::min(kRows, block.rows() - first);
      const BlockView<T, typename Ctx::Space> there(block.data() + first * ld, count, block.cols(),
                                                    ld);
      const BlockView<T, HostSpace> here(portion.view().data(), count, block.cols(), portion.ld());
      if (!file.loading()) fetch<T>(context, there, here);
      for (Index i = 0; i < count; ++i) {
        file.bytes(&here(i, 0), static_cast<std::size_t>(here.cols()) * sizeof(T));
      }
      if (!file.loading()) continue;
      send<T>(context, here, there);
      context.synchronize();
    }
  }

  const CheckpointOptions& options_;
  std::filesystem::path file_;  // with symbolic links resolved
  std::vector<std::string> identity_;
  std::vector<std::byte> captured_;
  std::size_t captured_records_ = 0;
  Clock::time_point written_ = Clock::now();
};

}  // namespace heddle::detail
