#pragma once

#include <cmath>
#include <complex>
#include <concepts>
#include <type_traits>

namespace heddle {

/// The real scalar types that heddle is compiled for.
template <class T>
concept RealScalar = std::same_as<T, float> || std::same_as<T, double>;

/// The complex scalar types. Real and imaginary part of a number lie one behind the other.
template <class T>
concept ComplexScalar = std::same_as<T, std::complex<double>>;

/// The scalar types of sparse matrices and tall blocks. A file whose templates take real scalars
/// only says so by the macro that lists its instantiations, see instantiate.hpp.
template <class T>
concept Scalar = RealScalar<T> || ComplexScalar<T>;

/// The scalar types of small dense matrices.
template <class T>
concept WideScalar = std::same_as<T, double> || std::same_as<T, std::complex<double>>;

namespace detail {

template <class T>
struct ScalarTypes {
  using Real = T;
  using Wide = double;
};
template <class T>
struct ScalarTypes<std::complex<T>> {
  using Real = T;
  using Wide = std::complex<double>;
};

}  // namespace detail

/// The type of norms and of real and imaginary parts of numbers of type T.
template <Scalar T>
using RealOf = typename detail::ScalarTypes<T>::Real;

/// The type of small dense matrices beside blocks of T, such as XᴴY: double, or complex of double.
/// Sums over n rows in single precision would lose half of the digits of the block.
template <Scalar T>
using Wide = typename detail::ScalarTypes<T>::Wide;

/// Whether T is complex.
template <class T>
inline constexpr bool kComplex = ComplexScalar<T>;

/// The conjugate of x, which is x if it is real.
template <Scalar T>
constexpr T conjugate(T x) noexcept {
  if constexpr (kComplex<T>) {
    return std::conj(x);
  } else {
    return x;
  }
}

/// The real part of x.
template <Scalar T>
constexpr RealOf<T> real_part(T x) noexcept {
  if constexpr (kComplex<T>) {
    return x.real();
  } else {
    return x;
  }
}

/// x y by the four products of the parts. The operator of std::complex also repairs products of
/// infinite numbers, which takes several times as long.
template <Scalar T>
constexpr T product(T x, T y) noexcept {
  if constexpr (kComplex<T>) {
    return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
  } else {
    return x * y;
  }
}

/// |x|².
template <Scalar T>
constexpr RealOf<T> squared(T x) noexcept {
  if constexpr (kComplex<T>) {
    return x.real() * x.real() + x.imag() * x.imag();
  } else {
    return x * x;
  }
}

/// 2^exponent x.
template <Scalar T>
T times_power_of_two(T x, int exponent) noexcept {
  if constexpr (kComplex<T>) {
    return {std::ldexp(x.real(), exponent), std::ldexp(x.imag(), exponent)};
  } else {
    return std::ldexp(x, exponent);
  }
}

/// Whether x is neither NaN nor infinite.
template <Scalar T>
bool is_finite(T x) noexcept {
  if constexpr (kComplex<T>) {
    return std::isfinite(x.real()) && std::isfinite(x.imag());
  } else {
    return std::isfinite(x);
  }
}

}  // namespace heddle
