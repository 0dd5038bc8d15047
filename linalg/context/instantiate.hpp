#pragma once

#include <heddle/linalg/context/context.hpp>
#ifdef HEDDLE_HAS_CUDA
#include <heddle/linalg/context/cuda_context.hpp>
#endif

/// The macros of heddle: what its templates are compiled for. A source file that defines templates
/// names the instantiations of one scalar in a macro of its own and passes that to one of these.

/// Expands F(T, ...) once for each scalar T; the further arguments are passed on. This is the one
/// list of the scalars: it must name those of the concept `Scalar`.
#define HEDDLE_FOR_EACH_SCALAR(F, ...) \
  F(float __VA_OPT__(, ) __VA_ARGS__) F(double __VA_OPT__(, ) __VA_ARGS__)

/// Expands F(To, From) once for each pair of scalars between which values are rounded.
#define HEDDLE_FOR_EACH_CONVERSION(F) \
  F(float, float) F(float, double) F(double, float) F(double, double)

/// Expands F(T, Ctx) once for each scalar and each context that the build has.
#ifdef HEDDLE_HAS_CUDA
#define HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(F)      \
  HEDDLE_FOR_EACH_SCALAR(F, ::heddle::HostContext) \
  HEDDLE_FOR_EACH_SCALAR(F, ::heddle::CudaContext)
#else
#define HEDDLE_FOR_EACH_SCALAR_AND_CONTEXT(F) HEDDLE_FOR_EACH_SCALAR(F, ::heddle::HostContext)
#endif
