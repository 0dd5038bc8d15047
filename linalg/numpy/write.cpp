#include <fmt/format.h>

#include <bit>
#include <heddle/linalg/base/output_file.hpp>
#include <heddle/linalg/numpy/npy.hpp>
#include <string>

namespace heddle {
namespace {

/// Magic number, version, header length and header, padded so that the data is aligned to 64 bytes.
std::string npy_header(Index rows, Index cols, std::size_t scalar_size) {
  constexpr std::size_t kAlignment = 64;
  constexpr std::size_t kPreamble = 10;  // magic 6, version 2, length 2
  std::string text =
      fmt::format("{{'descr': '{}f{}', 'fortran_order': False, 'shape': ({}, {}), }}",
                  std::endian::native == std::endian::little ? '<' : '>', scalar_size, rows, cols);
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
void write_npy(const std::filesystem::path& path, ConstBlockView<T, HostSpace> X) {
  OutputFile file(path);
  file.write(npy_header(X.rows(), X.cols(), sizeof(T)));
  const std::size_t row_bytes = static_cast<std::size_t>(X.cols()) * sizeof(T);
  for (Index i = 0; i < X.rows() && row_bytes > 0; ++i) {
    file.write({reinterpret_cast<const char*>(X.data() + i * X.ld()), row_bytes});
  }
  file.commit();
}

template void write_npy<float>(const std::filesystem::path&, ConstBlockView<float, HostSpace>);
template void write_npy<double>(const std::filesystem::path&, ConstBlockView<double, HostSpace>);

}  // namespace heddle
