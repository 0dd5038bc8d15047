#pragma once

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <heddle/linalg/context/context.hpp>
#include <heddle/linalg/data/buffer.hpp>
#include <string>
#include <string_view>
#include <vector>

/// An array in the format of NumPy's .npy files, as it stands in memory.
namespace heddle::detail {

enum class NpyKind { boolean, integer, natural, real, complex, bytes, unicode };

struct NpyArray {
  NpyKind kind = NpyKind::real;
  std::string type{};  ///< of an element, as NumPy writes it, such as "<f8"
  std::size_t item_bytes = 0;
  bool swapped = false;  ///< the bytes of a number are in the other order than this machine's
  std::vector<Index> shape;
  std::vector<Index> strides;  ///< in elements, per dimension
  const char* data = nullptr;  ///< not aligned

  Index size() const noexcept;
  Index dimensions() const noexcept { return static_cast<Index>(shape.size()); }
};

/// The array in `bytes`, which must outlive it. Throws `InputError` unless `bytes` is exactly one
/// whole array of numbers or text.
NpyArray parse_npy_array(std::string_view bytes, std::string_view name);

/// Whether `bytes`, the beginning of an array of any length, says that the elements are complex.
/// False for bytes without a whole header.
bool begins_complex_npy(std::string_view bytes);

/// The text of an array of kind `bytes` or `unicode` that holds one word. Characters beyond ASCII
/// become '?'. Empty for other arrays.
std::string npy_text(const NpyArray& array);

/// The shape as NumPy writes it, e.g. "(3, 2)".
std::string describe_shape(const NpyArray& array);

template <class Element>
inline constexpr bool kComplexElement = false;
template <class Real>
inline constexpr bool kComplexElement<std::complex<Real>> = true;

/// Reads element k, in storage order, of an array whose elements have type `Element`.
template <class Element>
class NpyLoader {
 public:
  explicit NpyLoader(const NpyArray& array) noexcept : data_(array.data), swap_(array.swapped) {}

  Element operator()(Index k) const noexcept {
    std::array<char, sizeof(Element)> bytes;
    std::memcpy(bytes.data(), data_ + k * static_cast<Index>(sizeof(Element)), sizeof(Element));
    if (swap_) {
      for (auto part = bytes.begin(); part != bytes.end(); part += kPart) {
        std::reverse(part, part + kPart);
      }
    }
    Element element;
    std::memcpy(&element, bytes.data(), sizeof(Element));
    return element;
  }

 private:
  /// The bytes of the element, or of each part of a complex one.
  static constexpr std::ptrdiff_t kPart = sizeof(Element) / (kComplexElement<Element> ? 2 : 1);

  const char* data_;
  bool swap_;
};

/// Calls body(load), where load(k) is element k of an array of integers, in their own type.
template <class Body>
void with_integers(const NpyArray& array, const Body& body) {
  const bool natural = array.kind != NpyKind::integer;
  switch (array.item_bytes) {
    case 1:
      return natural ? body(NpyLoader<std::uint8_t>(array)) : body(NpyLoader<std::int8_t>(array));
    case 2:
      return natural ? body(NpyLoader<std::uint16_t>(array)) : body(NpyLoader<std::int16_t>(array));
    case 4:
      return natural ? body(NpyLoader<std::uint32_t>(array)) : body(NpyLoader<std::int32_t>(array));
    default:
      return natural ? body(NpyLoader<std::uint64_t>(array)) : body(NpyLoader<std::int64_t>(array));
  }
}

/// The element of an array, rounded to T.
template <Scalar T, class Element>
T to_scalar(Element element) noexcept {
  if constexpr (kComplexElement<Element>) {
    return {static_cast<RealOf<T>>(element.real()), static_cast<RealOf<T>>(element.imag())};
  } else {
    return static_cast<RealOf<T>>(element);
  }
}

/// Calls body(load), where load(k) is element k of an array of numbers of T, in their own type.
template <Scalar T, class Body>
void with_numbers(const NpyArray& array, const Body& body) {
  if constexpr (kComplex<T>) {
    if (array.kind == NpyKind::complex) {
      return array.item_bytes == 8 ? body(NpyLoader<std::complex<float>>(array))
                                   : body(NpyLoader<std::complex<double>>(array));
    }
  }
  if (array.kind != NpyKind::real) return with_integers(array, body);
  return array.item_bytes == 4 ? body(NpyLoader<float>(array)) : body(NpyLoader<double>(array));
}

/// Throws an `InputError` unless the array holds numbers, which are not complex if T is real.
template <Scalar T>
void require_numbers(const NpyArray& array, std::string_view name);

/// Throws the `InputError` for element k of an array of numbers, which T cannot hold as a finite
/// number.
template <Scalar T>
[[noreturn]] void refuse_number(const NpyArray& array, Index k, std::string_view name);

}  // namespace heddle::detail
