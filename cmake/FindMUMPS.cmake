# Finds the sequential MUMPS in double precision with its header dmumps_c.h. Sets MUMPS_FOUND,
# MUMPS_INCLUDE_DIR, and MUMPS_FILE, the name by which the library is loaded at run time.

find_path(MUMPS_INCLUDE_DIR dmumps_c.h PATH_SUFFIXES mumps MUMPS)
find_library(MUMPS_LIBRARY NAMES dmumps_seq)
mark_as_advanced(MUMPS_INCLUDE_DIR MUMPS_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(MUMPS REQUIRED_VARS MUMPS_LIBRARY MUMPS_INCLUDE_DIR)

if(MUMPS_FOUND)
  get_filename_component(real_library ${MUMPS_LIBRARY} REALPATH)  # its version is in its name
  get_filename_component(MUMPS_FILE ${real_library} NAME)
endif()
