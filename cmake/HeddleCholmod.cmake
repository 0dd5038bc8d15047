# Sets HEDDLE_HAS_CHOLMOD and, where it is on, finds CHOLMOD.

set(HEDDLE_HAS_CHOLMOD OFF)
if(HEDDLE_CHOLMOD STREQUAL "AUTO")
  find_package(CHOLMOD QUIET)
elseif(HEDDLE_CHOLMOD)
  find_package(CHOLMOD REQUIRED)
endif()
if(HEDDLE_CHOLMOD AND CHOLMOD_FOUND)
  set(HEDDLE_HAS_CHOLMOD ON)
  message(STATUS "Sparse factorisations: CHOLMOD (its Supernodal module is under the GPL)")
else()
  message(STATUS "Sparse factorisations: Eigen")
endif()
