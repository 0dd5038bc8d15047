#include <algorithm>
#include <heddle/linalg/base/error.hpp>
#include <heddle/linalg/context/host_parallel.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/files/checks.hpp>
#include <heddle/linalg/files/file_content.hpp>
#include <heddle/linalg/matrix_market/entries.hpp>
#include <heddle/linalg/matrix_market/matrix_market.hpp>
#include <heddle/linalg/matrix_market/read.hpp>
#include <heddle/linalg/sparse/csr_assembly.hpp>
#include <string>

namespace heddle {
namespace {

using matrix_market::Entries;
using matrix_market::Format;
using matrix_market::Header;

/// Throws unless `cells`, the memory that the size line demands, is in proportion to the number of
/// entries in the file, so that a damaged size line does not exhaust the memory.
void require_plausible(Index cells, const char* what, const Header& header, std::string_view name) {
  if (!detail::is_plausible(cells, header.entries)) {
    throw InputError(std::string(name), header.size_line,
                     "the size line claims " + std::to_string(header.rows) + " rows and " +
                         std::to_string(header.cols) + " columns, which makes " +
                         std::to_string(cells) + " " + what + " for only " +
                         std::to_string(header.entries) + " entries");
  }
}

/// The content of a file in parsed form.
template <Scalar T>
struct Content {
  Header header;
  Entries<T> entries;
};

template <Scalar T>
Content<T> parse(HostContext& context, std::string_view text, std::string_view name) {
  const Header header = matrix_market::parse_header(text, name);
  if (!kComplex<T> && header.field == matrix_market::Field::complex) {
    throw InputError(std::string(name), 1,
                     "the banner says 'complex': complex numbers cannot be read as real ones");
  }
  return {header, matrix_market::parse_entries<T>(context, text, header, name)};
}

template <Scalar T>
HostCsrMatrix<T> assemble(HostContext& context, const Content<T>& content, std::string_view name) {
  const Header& header = content.header;
  const Entries<T>& entries = content.entries;
  require_plausible(header.rows, "rows", header, name);
  const bool keep_zeros = header.format == Format::coordinate;
  const auto for_each = [&](Index piece, auto emit) {
    entries.for_each(piece, [&](Index row, Index col, T value) {
      if (keep_zeros || value != T{0}) emit(row, col, value);
    });
  };
  HostCsrMatrix<T> A = CsrAssembler<T>(context, header.rows, header.cols)
                           .assemble(static_cast<Index>(entries.pieces.size()), for_each);
  detail::require_finite_sums(A.values(), A.nnz(), name);
  return A;
}

template <Scalar T>
MultiVector<T, HostSpace> fill_block(HostContext& context, const Content<T>& content,
                                     std::string_view name) {
  const Header& header = content.header;
  const Entries<T>& entries = content.entries;
  const Index cells = header.rows * padded_ld<T, HostSpace>(header.cols);
  require_plausible(cells, "places", header, name);
  MultiVector<T, HostSpace> block(context, header.rows, header.cols);
  const BlockView<T, HostSpace> X = block.view();
  std::fill_n(X.data(), cells, T{0});
  const auto pieces = static_cast<Index>(entries.pieces.size());
  if (header.format == Format::array) {
    parallel_for(context.threads(), pieces, [&](Index piece) {
      entries.for_each(piece, [&](Index row, Index col, T value) { X(row, col) = value; });
    });
    return block;
  }
  // Duplicate entries must be summed in the order of the file.
  for (Index piece = 0; piece < pieces; ++piece) {
    entries.for_each(piece, [&](Index row, Index col, T value) { X(row, col) += value; });
  }
  detail::require_finite_sums(X.data(), cells, name);
  return block;
}

}  // namespace

template <Scalar T>
HostCsrMatrix<T> detail::take_matrix_market(HostContext& context, FileContent file,
                                            std::string_view name) {
  const Content<T> content = parse<T>(context, file.bytes(), name);
  file.release();
  return assemble(context, content, name);
}

template <Scalar T>
MultiVector<T, HostSpace> detail::take_matrix_market_block(HostContext& context, FileContent file,
                                                           std::string_view name) {
  const Content<T> content = parse<T>(context, file.bytes(), name);
  file.release();
  return fill_block(context, content, name);
}

template <Scalar T>
HostCsrMatrix<T> read_matrix_market(HostContext& context, const std::filesystem::path& path) {
  return detail::take_matrix_market<T>(context, detail::FileContent(context, path), path.string());
}

template <Scalar T>
HostCsrMatrix<T> parse_matrix_market(HostContext& context, std::string_view text,
                                     std::string_view name) {
  return assemble(context, parse<T>(context, text, name), name);
}

template <Scalar T>
MultiVector<T, HostSpace> read_matrix_market_block(HostContext& context,
                                                   const std::filesystem::path& path) {
  return detail::take_matrix_market_block<T>(context, detail::FileContent(context, path),
                                             path.string());
}

template <Scalar T>
MultiVector<T, HostSpace> parse_matrix_market_block(HostContext& context, std::string_view text,
                                                    std::string_view name) {
  return fill_block(context, parse<T>(context, text, name), name);
}

#define HEDDLE_INSTANTIATE(T)                                                                      \
  template HostCsrMatrix<T> detail::take_matrix_market(HostContext&, FileContent,                  \
                                                       std::string_view);                          \
  template MultiVector<T, HostSpace> detail::take_matrix_market_block(HostContext&, FileContent,   \
                                                                      std::string_view);           \
  template HostCsrMatrix<T> read_matrix_market(HostContext&, const std::filesystem::path&);        \
  template HostCsrMatrix<T> parse_matrix_market(HostContext&, std::string_view, std::string_view); \
  template MultiVector<T, HostSpace> read_matrix_market_block(HostContext&,                        \
                                                              const std::filesystem::path&);       \
  template MultiVector<T, HostSpace> parse_matrix_market_block(HostContext&, std::string_view,     \
                                                               std::string_view);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
