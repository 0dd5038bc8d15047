#include <heddle/drivers/solve/team_calls.hpp>
#include <heddle/drivers/team/command.hpp>
#include <heddle/drivers/team/own_rows.hpp>
#include <heddle/drivers/team/own_vectors.hpp>
#include <heddle/linalg/base/shared_file.hpp>
#include <heddle/linalg/distributed/scatter.hpp>
#include <memory>
#include <utility>

namespace heddle::detail {
namespace {

/// The source of process 0 for vectors of which it has the rows X.
template <Scalar T>
BlockSource<T> gathered(Device& device, const OwnVectors& own, VectorSide side,
                        const HostBlock<T>& X, Index count) {
  auto part = std::make_shared<MultiVector<T, HostSpace>>();
  auto take = [&device, &own, side, X, part](const BlockWindow& window) {
    *part = MultiVector<T, HostSpace>(device.host(), window.rows, window.columns);
    device.together([&] {
      Processes& processes = *device.team().processes();
      send_command(processes,
                   {.duty = Command::Duty::vectors, .part = {.side = side, .window = window}});
      gather_part(processes, X.view(), rows_of(own, side), own.row_numbers, window, part->view());
    });
    return std::as_const(*part).view();
  };
  const Index rows = rows_of(own, side).rows();
  BlockSource<T> source(rows, count, std::move(take));
  source.write_rows = [&device, &own, side, X, rows, count](const std::filesystem::path& path,
                                                            std::size_t offset) {
    const VectorPart asked{
        side, {0, rows, 0, count}, std::filesystem::absolute(path), file_number(path), offset};
    bool written = false;
    device.together([&] {
      Processes& processes = *device.team().processes();
      send_command(processes, {.duty = Command::Duty::vectors, .part = asked});
      written = write_own_rows(processes, own, X, asked);
    });
    return written;
  };
  return source;
}

/// The source from which processes make rows. None for a file that cannot be read by parts.
std::optional<RowSource> row_source(const NamedMatrices::Source& source) {
  if (const auto* const spec = std::get_if<GallerySpec>(&source)) return *spec;
  const std::optional<MatrixMarketFile> file =
      file_by_parts(std::get<std::filesystem::path>(source));
  return file ? std::optional<RowSource>(*file) : std::nullopt;
}

}  // namespace

std::optional<Problem> own_rows_of(Device& device, const NamedMatrices& named,
                                   const Request& request) {
  if (device.processes() == 1) return std::nullopt;
  const std::optional<RowSource> A = row_source(named.A);
  if (!A) return std::nullopt;
  MatricesByRows matrices{.A = *A, .random_rhs = named.random_rhs, .ones_rhs = named.ones_rhs};
  if (named.B) matrices.B = row_source(*named.B);
  if (named.B && !matrices.B) return std::nullopt;
  if (!suits_own_rows(matrices, request, device.processes())) return std::nullopt;
  std::optional<Problem> problem;
  device.together([&] {
    send_command(*device.team().processes(),
                 {.duty = Command::Duty::rows, .matrices = matrices, .request = request});
    problem = own_rows(device.team(), matrices, request);
  });
  return problem;
}

VectorSource vectors_of(Device& device, const Solution& solution, VectorSide side, Index count) {
  if (const OwnVectors* const own = solution.own_vectors.get()) {
    return std::visit(
        [&](const auto& X) { return VectorSource(gathered(device, *own, side, X, count)); },
        side_of(*own, side));
  }
  return std::visit([&](const auto& X) { return VectorSource(BlockSource(X.columns(0, count))); },
                    side == VectorSide::right ? solution.vectors : solution.left_vectors);
}

}  // namespace heddle::detail
