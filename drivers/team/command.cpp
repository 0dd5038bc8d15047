#include <fmt/format.h>

#include <heddle/drivers/problem/archive_values.hpp>
#include <heddle/drivers/problem/request_fields.hpp>
#include <heddle/drivers/team/command.hpp>
#include <utility>
#include <variant>
#include <vector>

namespace heddle::detail {
namespace {

void pass(Archive& archive, GallerySpec& spec) {
  std::size_t sizes = spec.size.size();
  archive.text(spec.name);
  archive.values(sizes);
  spec.size.resize(sizes);
  for (Index& size : spec.size) archive.values(size);
  archive.values(spec.density, spec.seed);
}

void pass(Archive& archive, MatrixMarketFile& file) {
  pass(archive, file.path);
  archive.values(file.number, file.bytes, file.header);
}

void pass(Archive& archive, RowSource& source) {
  bool is_file = std::holds_alternative<MatrixMarketFile>(source);
  archive.values(is_file);
  if (is_file && archive.loading()) source = MatrixMarketFile{};
  std::visit([&](auto& each) { pass(archive, each); }, source);
}

void pass(Archive& archive, MatricesByRows& matrices) {
  bool pencil = matrices.B.has_value();
  archive.values(pencil, matrices.random_rhs, matrices.ones_rhs);
  if (pencil && !matrices.B) matrices.B.emplace();
  pass(archive, matrices.A);
  if (pencil) pass(archive, *matrices.B);
}

void pass(Archive& archive, VectorPart& part) {
  pass(archive, part.file);
  archive.values(part.side, part.window, part.file_number, part.offset);
}

/// A kind by its name, with its options, which follow from `given`. Those that name memory of
/// process 0 are left out.
void pass(Archive& archive, const OptionValues& given, const PreconditionerKind*& kind,
          PreconditionerOptions& options) {
  std::string name(kind != nullptr ? std::string_view(kind->name) : "none");
  archive.text(name);
  if (!archive.loading() || name == "none") return;
  kind = &preconditioner_table().get(name);
  options = kind->options(given);
}

void pass(Archive& archive, const Request& request, PreconditionerPlan& plan) {
  pass(archive, request.preconditioner.options, plan.kind, plan.options);
  pass(archive, {}, plan.strong, plan.strong_options);  // chosen without options only
  archive.values(plan.matrix, plan.lowered, plan.strong_lowered, plan.may_be_diagonal);
  archive.text(plan.precision_reason);
  archive.text(plan.strong_precision_reason);
}

void pass(Archive& archive, Command& command) {
  archive.values(command.duty, command.code, command.device, command.threads, command.numbers,
                 command.own_rows, command.keeps_vectors);
  if (command.duty == Command::Duty::vectors) pass(archive, command.part);
  if (command.duty == Command::Duty::rows) pass(archive, command.matrices);
  if (command.duty != Command::Duty::solve && command.duty != Command::Duty::rows) return;
  pass(archive, request_fields(), command.request);
  if (command.duty != Command::Duty::solve) return;
  pass(archive, command.request, command.plan);
}

}  // namespace

void send_command(Processes& processes, Command command) {
  std::vector<std::byte> memory;
  Archive archive(memory, Archive::Mode::save);
  pass(archive, command);
  std::size_t size = memory.size();
  processes.broadcast(&size, sizeof size);
  processes.broadcast(memory.data(), size);
}

Command receive_command(Processes& processes) {
  std::size_t size = 0;
  processes.broadcast(&size, sizeof size);
  std::vector<std::byte> memory(size);
  processes.broadcast(memory.data(), size);
  Command command;
  Archive archive(memory, Archive::Mode::load);
  pass(archive, command);
  return command;
}

Request own_request(const Processes& processes, Request request, bool reordered) {
  CheckpointOptions& checkpoint = request.checkpoint;
  if (checkpoint.file.empty()) return request;
  // First, because norms and check sums of A follow from them.
  checkpoint.identity.insert(checkpoint.identity.begin(),
                             {fmt::format("process: {} of {}", processes.rank(), processes.size()),
                              reordered ? "distribution: metis" : "distribution: rows"});
  if (processes.leads()) return request;
  checkpoint.file += fmt::format(".{}", processes.rank());
  // Process 0 reports a failure. Others mostly fail with it, and the next checkpoint may succeed.
  checkpoint.on_failure = [](const std::string&) {};
  return request;
}

}  // namespace heddle::detail
