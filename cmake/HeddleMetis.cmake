# Sets HEDDLE_HAS_METIS and, where it is on, finds METIS: parts of graphs for several processes, and an order of rows.

set(HEDDLE_HAS_METIS OFF)
if(HEDDLE_METIS STREQUAL "AUTO")
  find_package(METIS QUIET)
elseif(HEDDLE_METIS STREQUAL "ON")
  find_package(METIS REQUIRED)
endif()
if(HEDDLE_METIS AND METIS_FOUND)
  set(HEDDLE_HAS_METIS ON)
  message(STATUS "Partitions of graphs: METIS")
elseif(HEDDLE_HAS_MPI OR HEDDLE_HAS_NCCL)
  message(STATUS "Partitions of graphs: not in this build, it has no METIS")
endif()
