#include <fmt/format.h>

#include <bit>
#include <heddle/linalg/base/output_file.hpp>
#include <heddle/linalg/context/instantiate.hpp>
#include <heddle/linalg/numpy/npy.hpp>
#include <string>

namespace heddle {
namespace {

/// Magic number, version, header length and header, padded so that the data is aligned to 64 bytes.
template <Scalar T>
std::string npy_header(Index rows, Index cols) {
  constexpr std::size_t kAlignment = 64;
  constexpr std::size_t kPreamble = 10;  // magic 6, version 2, length 2
  std::string text =
      fmt::format("{{'descr': '{}{}{}', 'fortran_order': False, 'shape': ({}, {}), }}",
                  std::endian::native == std::endian::little ? '<' : '>', kComplex<T> ? 'c' : 'f',
                  sizeof(T), rows, cols);
  text.resize((kPreamble + text.size() + 1 + kAlignment - 1) / kAlignment * kAlignment - kPreamble,
              ' ');
  text.back() = '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header.push_back(static_cast<char>(text.size() & 0xff));
  header.push_back(static_cast<char>(text.size() >> 8));
  return header + text;
}

}  // namespace

template <Scalar T>
void write_npy(const std::filesystem::path& path, const BlockSource<T>& X) {
  OutputFile file(path);
  const std::string header = npy_header<T>(X.rows, X.cols);
  file.write(header);
  if (X.write_rows && X.write_rows(file.flush(), header.size())) return file.commit();
  X.for_each_part(0, X.cols, [&](const ConstBlockView<T, HostSpace>& part) {
    const std::size_t row_bytes = static_cast<std::size_t>(part.cols()) * sizeof(T);
    for (Index i = 0; i < part.rows(); ++i) {
      file.write({reinterpret_cast<const char*>(part.data() + i * part.ld()), row_bytes});
    }
  });
  file.commit();
}

#define HEDDLE_INSTANTIATE(T) \
  template void write_npy(const std::filesystem::path&, const BlockSource<T>&);
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
