#pragma once

#include <heddle/linalg/context/context.hpp>
#ifdef HEDDLE_HAS_CUDA
#include <heddle/linalg/context/cuda_context.hpp>
#endif

/// Macros that list the template arguments for which heddle is compiled. A source file that defines
/// templates writes the instantiations for one scalar as a macro of its own and passes this macro
/// to one of these.

/// Expands F(T, ...) once per scalar T and passes the further arguments on. This is the only list
/// of the scalars. It must match the concept `Scalar`.
#define HEDDLE_FOR_EACH_SCALAR(F, ...) \
  F(float __VA_OPT__(, ) __VA_ARGS__) F(double __VA_OPT__(, ) __VA_ARGS__)

/// Expands F(To, From) once per pair of scalars between which values are converted.
#define HEDDLE_FOR_EACH_CONVERSION(F) \
  F(float, float) F(float, double) F(double, float) F(double, double)

/// Expands F(T, Ctx) once per scalar and per context that the build has.
#ifdef HEDDLE_HAS_CUDA
#define HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(F)      \
  HEDDLE_FOR_EACH_SCALAR(F, ::heddle::HostContext) \
  HEDDLE_FOR_EACH_SCALAR(F, ::heddle::CudaContext)
#else
#define HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(F) HEDDLE_FOR_EACH_SCALAR(F, ::heddle::HostContext)
#endif
