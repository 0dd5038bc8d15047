#pragma once

#include <heddle/linalg/precision/narrow_float.hpp>

/// Expands F(V) once per number type that tensor cores multiply.
#define HEDDLE_FOR_EACH_NARROW_FLOAT(F) F(::heddle::Half) F(::heddle::Bfloat16) F(::heddle::Tf32)
