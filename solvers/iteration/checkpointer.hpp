#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <heddle/linalg/base/output_file.hpp>
#include <heddle/linalg/data/multivector.hpp>
#include <heddle/linalg/data/transfer.hpp>
#include <heddle/solvers/iteration/archive.hpp>
#include <heddle/solvers/problem/checkpoint.hpp>
#include <heddle/solvers/problem/result.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

/// One end of a checkpoint file: bytes that are written or read in order, and their CRC-32, which
/// ends each section.
class CheckpointFile {
 public:
  /// Throws `InputError`.
  CheckpointFile(const std::filesystem::path& path, Archive::Mode mode);
  ~CheckpointFile();

  bool loading() const noexcept { return in_ != nullptr; }

  void bytes(void* data, std::size_t count);

  /// Writes the sum of the section that ends here, or throws `InputError` if it is not the one that
  /// was written.
  void end_section();

  /// Bytes that are left to read.
  std::uint64_t left() const;

  void commit();

  /// Of the file that is written until it is complete, behind its name.
  static constexpr std::string_view kTemporarySuffix = ".part";

 private:
  struct Close {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };

  std::filesystem::path path_;
  std::unique_ptr<OutputFile> out_;
  std::unique_ptr<std::FILE, Close> in_;
  std::uint32_t sum_ = 0;
};

/// Keeps the checkpoint of one solve.
///
/// A solve calls `note` at the head of each iteration, which costs a copy of its numbers on the
/// host, and, where `due`, `write` as soon as it is known that it may stop there; until then it
/// must leave alone the long blocks that it began the iteration with. So nothing that an iteration
/// does to its numbers before it is stopped has to be undone.
///
/// `state(archive)` names those numbers, `blocks(visit)` calls `visit(block)` for those blocks:
/// after `state`, when going on, which tells how wide they are.
class Checkpointer {
 public:
  /// `identity`: what must be the same in a solve that goes on, as "name: value". Throws as
  /// `check_checkpoint_file` does.
  Checkpointer(const CheckpointOptions& options, std::vector<std::string> identity);

  bool resumes() const noexcept { return kept() && options_.resume; }

  template <class State>
  void note(const std::vector<IterationRecord>& history, const State& state) {
    if (!kept()) return;
    noted_.clear();
    noted_records_ = history.size();
    Archive archive(noted_, Archive::Mode::save);
    state(archive);
  }

  /// Whether it is time for a checkpoint, or, at a stop, the last chance.
  bool due(bool stops) const noexcept;

  /// Where that fails, `on_failure` is told, or `InputError` thrown.
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

  /// Throws `InputError` if the file is missing, damaged, or of another solve.
  template <class Ctx, class State, class Blocks>
  void resume(Ctx& context, std::vector<IterationRecord>& history, const State& state,
              const Blocks& blocks) const {
    CheckpointFile file(file_, Archive::Mode::load);
    std::vector<std::byte> memory;
    pass_section(file, memory);
    Archive archive(memory, Archive::Mode::load);
    check_identity(archive);
    std::vector<std::byte> noted;
    archive.list(noted);
    archive.list(history);
    Archive numbers(noted, Archive::Mode::load);
    state(numbers);
    blocks([&](auto block) { pass_block(context, file, block); });
    file.end_section();
  }

  /// Removes the file: there is nothing left to go on with.
  void discard() noexcept;

 private:
  using Clock = std::chrono::steady_clock;

  bool kept() const noexcept { return !options_.file.empty(); }

  template <class Ctx, class Blocks>
  void write_file(Ctx& context, std::vector<IterationRecord>& history, const Blocks& blocks) {
    std::vector<std::byte> memory;
    Archive archive(memory, Archive::Mode::save);
    archive_identity(archive);
    archive.list(noted_);
    archive.list(history, noted_records_);
    CheckpointFile file(file_, Archive::Mode::save);
    pass_section(file, memory);
    blocks([&](auto block) { pass_block(context, file, block); });
    file.end_section();
    file.commit();
  }

  void archive_identity(Archive& archive);
  void check_identity(Archive& archive) const;
  static void pass_section(CheckpointFile& file, std::vector<std::byte>& memory);

  /// Rows of a block go through host memory in portions.
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
  std::filesystem::path file_;  // behind symbolic links
  std::vector<std::string> identity_;
  std::vector<std::byte> noted_;
  std::size_t noted_records_ = 0;
  Clock::time_point written_ = Clock::now();
};

}  // namespace heddle
