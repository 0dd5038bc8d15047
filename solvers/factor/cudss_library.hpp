#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

struct CUstream_st;

/// cuDSS, NVIDIA's sparse direct solver. heddle is neither compiled nor linked with it: the library
/// is loaded at run time, where the user has it.
///
/// Types and numbers are those of `cudss.h` and `cudss_data_types.h` of cuDSS 1.0.0, as far as
/// heddle uses them. Those of 0.8.0 are the same. Handles are pointers to structures of cuDSS.
/// Source: https://docs.nvidia.com/cuda/cudss
namespace heddle::detail {

/// cudssConfigParam_t
enum CudssConfig : int { kCudssMatching = 3, kCudssPivoting = 7, kCudssDeterministic = 24 };

/// cudssDataParam_t. The type of the datum is in brackets.
enum CudssData : int {
  kCudssInfo = 0,              ///< [int] the first pivot that is not positive, from 1 on; else 0
  kCudssEntries = 1,           ///< [int64] entries of L
  kCudssPerturbed = 2,         ///< [index] pivots that were 0 to rounding and were replaced
  kCudssInertia = 3,           ///< [2 indices] positive and negative pivots
  kCudssDiagonal = 8,          ///< [n values, device] the diagonal of L, in the order of A
  kCudssMemoryEstimates = 13,  ///< [16 int64] bytes; the second one: most device memory
  kCudssOperations = 26        ///< [int64] of the factorisation
};

/// cudssPhase_t. The phases of a solve can be run one by one.
enum CudssPhase : int {
  kCudssReordering = 1 << 0,
  kCudssSymbolic = 1 << 1,
  kCudssFactorization = 1 << 2,
  kCudssForward = (1 << 4) | (1 << 5),   ///< permutation and L⁻¹
  kCudssBackward = (1 << 7) | (1 << 8),  ///< L⁻ᵀ and permutation
  kCudssSolve = 1008                     ///< all of it
};

/// cudssStatus_t, cudaDataType_t, cudssMatrixType_t, cudssMatrixViewType_t, cudssIndexBase_t,
/// cudssLayout_t, cudssMatchingAlg_t, cudssPivotType_t, libraryPropertyType_t
inline constexpr int kCudssSuccess = 0;
inline constexpr int kCudssAllocFailed = 2;
inline constexpr int kCudssDouble = 1;
inline constexpr int kCudssInt32 = 10;
inline constexpr int kCudssInt64 = 24;
inline constexpr int kCudssSymmetric = 1;
inline constexpr int kCudssPositiveDefinite = 3;
inline constexpr int kCudssLower = 1;
inline constexpr int kCudssFromZero = 0;
inline constexpr int kCudssColumnMajor = 0;
inline constexpr int kCudssNoMatching = 0;
inline constexpr int kCudssDiagonalPivots = 4;
inline constexpr int kCudssMajorVersion = 0;
inline constexpr int kCudssMinorVersion = 1;
inline constexpr int kCudssPatchLevel = 2;

/// cudssDeviceMemHandler_t: where cuDSS gets its device memory. Functions return 0, or another
/// number for failure.
struct CudssMemory {
  void* owner;
  int (*allocate)(void* owner, void** pointer, std::size_t bytes, CUstream_st* stream);
  int (*deallocate)(void* owner, void* pointer, std::size_t bytes, CUstream_st* stream);
  char name[64];
};

/// The functions of the library. All return a cudssStatus_t.
struct CudssFunctions {
  int (*create)(void** handle);
  int (*destroy)(void* handle);
  int (*set_stream)(void* handle, CUstream_st* stream);
  int (*set_memory)(void* handle, const CudssMemory* memory);
  int (*config_create)(void** config);
  int (*config_destroy)(void* config);
  int (*config_set)(void* config, int parameter, const void* value, std::size_t bytes);
  int (*data_create)(void* handle, void** data);
  int (*data_destroy)(void* handle, void* data);
  int (*data_set)(void* handle, void* data, int parameter, const void* value, std::size_t bytes);
  int (*data_get)(void* handle, void* data, int parameter, void* value, std::size_t bytes,
                  std::size_t* written);
  int (*execute)(void* handle, int phase, void* config, void* data, void* matrix, void* solution,
                 void* right_side);
  int (*matrix_dense)(void** matrix, std::int64_t rows, std::int64_t cols, std::int64_t ld,
                      const void* values, int value_type, int layout);
  int (*matrix_csr)(void** matrix, std::int64_t rows, std::int64_t cols, std::int64_t nnz,
                    const void* row_begins, const void* row_ends, const void* columns,
                    const void* values, int offset_type, int index_type, int value_type, int type,
                    int view, int base);
  int (*matrix_destroy)(void* matrix);
  int (*property)(int property, int* value);
  int (*set_threading)(void* handle, const char* file);
};

/// The library and its version.
struct CudssLibrary {
  CudssFunctions functions;
  std::string version;  ///< as "1.0.0"
  /// The file of its layer for threads of the host, with which ordering takes a third of the time.
  /// Empty where it cannot be loaded.
  std::string threading{};
};

/// Loads the first of `files` that can be loaded, which stays loaded. Throws `DeviceError` with the
/// reason for each file if there is none, or if it is not cuDSS of a version from 0.8 to 1.
CudssLibrary load_cudss(std::span<const std::string> files);

/// The library of this process, libcudss.so.1 or libcudss.so.0 where the system's loader finds
/// them. Loaded by the first call. Throws `DeviceError` as `load_cudss` does.
const CudssLibrary& cudss();

/// Why `cudss` throws. Empty: it does not.
const std::string& cudss_missing();

}  // namespace heddle::detail
