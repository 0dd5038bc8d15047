#pragma once

#include <functional>
#include <heddle/linalg/data/views.hpp>
#include <heddle/spmm/model/device_speed.hpp>
#include <span>
#include <string>
#include <vector>

/// SMaT's model of a product in blocks: T = T_e n_e + T_init. Source: Okanovic et al., High
/// performance unstructured SpMM computation using tensor cores, SC 2024, equation 1.
namespace heddle {

/// A measured product.
struct MeasuredTime {
  double elements = 0;  ///< n_e, blocks
  double seconds = 0;   ///< > 0
};

struct LinearTime {
  double per_element = 0;  ///< T_e
  double initial = 0;      ///< T_init

  double seconds(double elements) const noexcept { return per_element * elements + initial; }
};

/// The T_e ≥ 0 and T_init ≥ 0 for which Σ ((T_e n + T_init)/t − 1)² is least over the measurements
/// (n, t). Relative errors, because times span orders of magnitude. Throws `InvalidArgument` if
/// there are fewer than two different n, or a time that is not positive and finite.
LinearTime fit_linear_time(std::span<const MeasuredTime> measured);

/// The fit for `key` (kernel, width, precision and device), from the measurements that `measure`
/// makes at the first call with this key in this process. May be called from several threads;
/// measurements run one after the other. Throws as `fit_linear_time` and `measure` do, and then
/// measures again at the next call.
LinearTime fitted_linear_time(const std::string& key,
                              const std::function<std::vector<MeasuredTime>()>& measure);

/// T_e of a dense block on tensor cores, at the nominal speed of a GPU: the slowest of reading it
/// from memory, of moving it and the rows of B that it meets to a multiprocessor, and of
/// multiplying it by N columns. Values take `value_bytes`. With `gathered`, the rows of B are not
/// neighbours: each takes whole sectors of 32 bytes, and an index.
double nominal_block_seconds(Index height, Index width, Index N, std::size_t value_bytes,
                             bool gathered, const DeviceSpeed& device) noexcept;

}  // namespace heddle
