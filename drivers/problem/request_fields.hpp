#pragma once

#include <heddle/drivers/problem/fields.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::detail {

/// The solvers of a problem, as bits: the readers of a field of a request.
inline constexpr unsigned kLobpcg = 1;
inline constexpr unsigned kBlockLanczos = 2;
inline constexpr unsigned kInterval = 4;        ///< block Lanczos for all pairs in an interval
inline constexpr unsigned kSingularValues = 8;  ///< LOBPCG or block Lanczos for singular triplets
inline constexpr unsigned kBlockCg = 16;
inline constexpr unsigned kLeastSquares = 32;  ///< block CG for least squares
inline constexpr unsigned kNearest = 64;       ///< block Lanczos for the pairs nearest to a number

inline constexpr unsigned kEndSolvers = kLobpcg | kBlockLanczos | kSingularValues;
inline constexpr unsigned kEigensolvers = kEndSolvers | kInterval | kNearest;
inline constexpr unsigned kLinearSolvers = kBlockCg | kLeastSquares;
inline constexpr unsigned kPreconditioned = kLobpcg | kLinearSolvers;
inline constexpr unsigned kWithCheckpoint = kLobpcg | kBlockLanczos | kBlockCg;

/// The table of all fields of a request, in the order of the configuration. Every member of
/// `Request` has a row: from it follow its key, option and documentation, its keyword, the message
/// to other processes, and its checks.
const FieldTable<Request>& request_fields();

/// The methods that may read what one of `readers` does, in the order of `Method`, with `automatic`
/// last where it may stand for an eigensolver among them.
std::vector<Method> methods_of(unsigned readers);

/// The key in a configuration of a field as `RequestError::field` names it.
std::string key_of(std::string_view field);

}  // namespace heddle::detail
