#pragma once

#include <heddle/spmm/kernels/cuda/lanes.cuh>

/// The store side of all SpMM kernels: what becomes of a finished sum of A B, and of a part of one
/// that comes later. Each entry of C is finished by one thread.
namespace heddle::detail::cuda {

/// How a sum is stored. Rows of C are not needed again soon, rows of B are, so C should not occupy
/// the caches (one H200: up to 8 % for wide blocks). A group that writes its whole range of a row
/// at once therefore streams.
enum class Storing { cached, streaming };

/// Loads values that are used once. The kernel may write them later.
__device__ inline Lane<double, 1> load_once_lane(const double* from, Lane<double, 1>*) {
  return {{__ldcs(from)}};
}
__device__ inline Lane<double, 2> load_once_lane(const double* from, Lane<double, 2>*) {
  const double2 v = __ldcs(reinterpret_cast<const double2*>(from));
  return {{v.x, v.y}};
}
__device__ inline Lane<float, 1> load_once_lane(const float* from, Lane<float, 1>*) {
  return {{__ldcs(from)}};
}
__device__ inline Lane<float, 2> load_once_lane(const float* from, Lane<float, 2>*) {
  const float2 v = __ldcs(reinterpret_cast<const float2*>(from));
  return {{v.x, v.y}};
}
__device__ inline Lane<float, 4> load_once_lane(const float* from, Lane<float, 4>*) {
  const float4 v = __ldcs(reinterpret_cast<const float4*>(from));
  return {{v.x, v.y, v.z, v.w}};
}
__device__ inline Lane<std::complex<double>, 1> load_once_lane(const std::complex<double>* from,
                                                               Lane<std::complex<double>, 1>*) {
  const double2 v = __ldcs(reinterpret_cast<const double2*>(from));
  return {{{v.x, v.y}}};
}
template <int kWidth, class T>
__device__ Lane<T, kWidth> load_once(const T* from) {
  return load_once_lane(from, static_cast<Lane<T, kWidth>*>(nullptr));
}

__device__ inline void stream_lane(double* to, const Lane<double, 1>& v) { __stcs(to, v[0]); }
__device__ inline void stream_lane(double* to, const Lane<double, 2>& v) {
  __stcs(reinterpret_cast<double2*>(to), make_double2(v[0], v[1]));
}
__device__ inline void stream_lane(float* to, const Lane<float, 1>& v) { __stcs(to, v[0]); }
__device__ inline void stream_lane(float* to, const Lane<float, 2>& v) {
  __stcs(reinterpret_cast<float2*>(to), make_float2(v[0], v[1]));
}
__device__ inline void stream_lane(float* to, const Lane<float, 4>& v) {
  __stcs(reinterpret_cast<float4*>(to), make_float4(v[0], v[1], v[2], v[3]));
}
__device__ inline void stream_lane(std::complex<double>* to,
                                   const Lane<std::complex<double>, 1>& v) {
  __stcs(reinterpret_cast<double2*>(to), make_double2(v[0].real(), v[0].imag()));
}

/// to = values.
template <Storing kStoring = Storing::cached, class T, int kWidth>
__device__ void store(const Lane<T, kWidth>& values, T* to) {
  if constexpr (kStoring == Storing::streaming) {
    stream_lane(to, values);
  } else {
    *reinterpret_cast<Lane<T, kWidth>*>(to) = values;
  }
}

/// The entries of the terms that belong to `kWidth` entries of C. Those of absent terms are unset.
template <class T, int kWidth>
struct Terms {
  Lane<T, kWidth> C, B, X, Y;
};

/// Loads the terms of `kWidth` entries from (row, column) on. A kernel that knows the row before
/// its sum can load them early.
template <int kWidth, class Product, class T = typename Product::Value>
__device__ Terms<T, kWidth> load_terms(const Product& p, Index row, Index column) {
  Terms<T, kWidth> terms;
  if (p.beta != T{0}) terms.C = load_once<kWidth>(p.C + row * p.ldc + column);
  if constexpr (Product::kTerms) {
    if (p.gamma != T{0}) terms.B = load<kWidth>(p.B + row * p.ldb + column);
    if (p.delta != T{0}) terms.X = load_once<kWidth>(p.X + row * p.ldx + column);
    if (p.eta != T{0}) terms.Y = load_once<kWidth>(p.Y + row * p.ldy + column);
  }
  return terms;
}

/// Ends `kWidth` entries of C from (row, column) on, for which `scaled` is α A B:
/// C = scaled + β C + γ B' + δ X, Y = Y + η C.
template <Storing kStoring, class Product, class T, int kWidth>
__device__ void finish_scaled(const Product& p, Index row, Index column, Lane<T, kWidth> scaled,
                              Terms<T, kWidth> terms) {
  if (p.beta != T{0}) multiply_add(p.beta, terms.C, scaled);
  if constexpr (Product::kTerms) {
    if (p.gamma != T{0}) multiply_add(p.gamma, terms.B, scaled);
    if (p.delta != T{0}) multiply_add(p.delta, terms.X, scaled);
  }
  store<kStoring>(scaled, p.C + row * p.ldc + column);
  if constexpr (Product::kTerms) {
    if (p.eta == T{0}) return;
    multiply_add(p.eta, scaled, terms.Y);
    store<kStoring>(terms.Y, p.Y + row * p.ldy + column);
  }
}
template <Storing kStoring, class Product, class T, int kWidth>
__device__ void finish_scaled(const Product& p, Index row, Index column,
                              const Lane<T, kWidth>& scaled) {
  finish_scaled<kStoring>(p, row, column, scaled, load_terms<kWidth>(p, row, column));
}

/// Ends entries of C for which `sum` is A B and `terms` were loaded before.
template <Storing kStoring = Storing::cached, class Product, class T, int kWidth>
__device__ void finish(const Product& p, Index row, Index column, const Lane<T, kWidth>& sum,
                       const Terms<T, kWidth>& terms) {
  Lane<T, kWidth> scaled;
#pragma unroll
  for (int i = 0; i < kWidth; ++i) scaled[i] = product(p.alpha, sum[i]);
  finish_scaled<kStoring>(p, row, column, scaled, terms);
}

/// Ends entries of C for which `sum` is A B.
template <Storing kStoring = Storing::cached, class Product, class T, int kWidth>
__device__ void finish(const Product& p, Index row, Index column, const Lane<T, kWidth>& sum) {
  finish<kStoring>(p, row, column, sum, load_terms<kWidth>(p, row, column));
}

/// Ends those of `kWidth` entries of C from (row, column) on that exist, in the widest pieces.
template <class Product, class T, int kWidth>
__device__ void finish_columns(const Product& p, Index row, Index column,
                               const Lane<T, kWidth>& sum) {
  if (column + kWidth <= p.N) {
    finish<Storing::streaming>(p, row, column, sum);
  } else if constexpr (kWidth > 1) {
    constexpr int kHalf = kWidth / 2;
    Lane<T, kHalf> first;
    Lane<T, kHalf> second;
#pragma unroll
    for (int v = 0; v < kHalf; ++v) {
      first[v] = sum[v];
      second[v] = sum[kHalf + v];
    }
    finish_columns(p, row, column, first);
    finish_columns(p, row, column + kHalf, second);
  }
}

/// Adds a part of the sum of A B to an entry of C that an earlier pass has ended without it, and to
/// Y, which has received η times the entry without it.
template <class T>
__device__ void add_later(const SpmmProduct<T>& p, Index row, Index column, T sum) {
  multiply_add(p.alpha, sum, p.C[row * p.ldc + column]);
  if (p.eta != T{0}) multiply_add(p.eta, product(p.alpha, sum), p.Y[row * p.ldy + column]);
}

}  // namespace heddle::detail::cuda
