# Sets HEDDLE_HAS_MUMPS and, where it is on, finds MUMPS.

set(HEDDLE_HAS_MUMPS OFF)
if(HEDDLE_MUMPS STREQUAL "AUTO")
  find_package(MUMPS QUIET)
elseif(HEDDLE_MUMPS)
  find_package(MUMPS REQUIRED)
endif()
if(HEDDLE_MUMPS AND MUMPS_FOUND)
  set(HEDDLE_HAS_MUMPS ON)
  message(STATUS "Factorisations of indefinite matrices: MUMPS, loaded at run time (${MUMPS_FILE})")
else()
  message(STATUS "Factorisations of indefinite matrices: Eigen")
endif()
