#pragma once

#include <heddle/linalg/context/context.hpp>
#ifdef HEDDLE_HAS_CUDA
#include <heddle/linalg/context/cuda_context.hpp>
#endif

/// Macros that list the template arguments for which heddle is compiled. A source file that defines
/// templates writes the instantiations for one scalar as a macro of its own and passes this macro
/// to one of these.

/// Expands F(T, ...) once per real scalar T and passes the further arguments on. This is the only
/// list of the real scalars. It must match the concept `RealScalar`.
#define HEDDLE_FOR_EACH_REAL(F, ...) \
  F(float __VA_OPT__(, ) __VA_ARGS__) F(double __VA_OPT__(, ) __VA_ARGS__)

/// Expands F(T, ...) once per complex scalar. It must match the concept `ComplexScalar`.
#define HEDDLE_FOR_EACH_COMPLEX(F, ...) F(std::complex<double> __VA_OPT__(, ) __VA_ARGS__)

/// Expands F(T, ...) once per scalar.
#define HEDDLE_FOR_EACH_SCALAR(F, ...)               \
  HEDDLE_FOR_EACH_REAL(F __VA_OPT__(, ) __VA_ARGS__) \
  HEDDLE_FOR_EACH_COMPLEX(F __VA_OPT__(, ) __VA_ARGS__)

/// Expands F(To, From) once per pair of real scalars between which values are converted.
#define HEDDLE_FOR_EACH_CONVERSION(F) \
  F(float, float) F(float, double) F(double, float) F(double, double)

/// Expands EACH(F, Ctx) once per context that the build has.
#ifdef HEDDLE_HAS_CUDA
#define HEDDLE_FOR_EACH_CONTEXT(EACH, F) \
  EACH(F, ::heddle::HostContext)         \
  EACH(F, ::heddle::CudaContext)
#else
#define HEDDLE_FOR_EACH_CONTEXT(EACH, F) EACH(F, ::heddle::HostContext)
#endif

/// Expands F(T, Ctx) once per real, once per complex, once per scalar, and per context.
#define HEDDLE_FOR_EACH_REAL_AND_CONTEXT(F) HEDDLE_FOR_EACH_CONTEXT(HEDDLE_FOR_EACH_REAL, F)
#define HEDDLE_FOR_EACH_COMPLEX_AND_CONTEXT(F) HEDDLE_FOR_EACH_CONTEXT(HEDDLE_FOR_EACH_COMPLEX, F)
#define HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(F) HEDDLE_FOR_EACH_CONTEXT(HEDDLE_FOR_EACH_SCALAR, F)
