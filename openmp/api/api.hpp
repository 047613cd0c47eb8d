// SPDX-License-Identifier: MIT
// openmp/api/api.hpp -- the functions of omp.h that other files here call: Fortran's forms, the functions for devices
#ifndef LOCKSTEP_OPENMP_API_API_HPP
#define LOCKSTEP_OPENMP_API_API_HPP

#include <cstddef>
#include <cstdint>

#include "runtime/abi.hpp"
#include "runtime/allocators.hpp"

OPENMP_API void omp_set_num_threads(int);
OPENMP_API void omp_set_dynamic(int);
OPENMP_API void omp_set_nested(int);
OPENMP_API void omp_set_schedule(unsigned, int);
OPENMP_API void omp_get_schedule(unsigned*, int*);
OPENMP_API void omp_set_max_active_levels(int);
OPENMP_API int omp_get_ancestor_thread_num(int);
OPENMP_API int omp_get_team_size(int);
OPENMP_API int omp_get_place_num_procs(int);
OPENMP_API void omp_get_place_proc_ids(int, int*);
OPENMP_API int omp_get_partition_num_places();
OPENMP_API void omp_get_partition_place_nums(int*);
OPENMP_API void omp_set_default_device(int);
OPENMP_API int omp_get_default_device();
OPENMP_API int omp_get_initial_device();
OPENMP_API void omp_fulfill_event(std::uintptr_t);
OPENMP_API void omp_set_num_teams(int);
OPENMP_API void omp_set_teams_thread_limit(int);
OPENMP_API int omp_pause_resource(int, int);
OPENMP_API int omp_pause_resource_all(int);
OPENMP_API const char* omp_get_uid_from_device(int);
OPENMP_API int omp_get_device_from_uid(const char*);
OPENMP_API int omp_control_tool(int, int, void*);
OPENMP_API int omp_get_num_interop_properties(const void*);
OPENMP_API std::intptr_t omp_get_interop_int(const void*, int, int*);
OPENMP_API void* omp_get_interop_ptr(const void*, int, int*);
OPENMP_API const char* omp_get_interop_str(const void*, int, int*);
OPENMP_API const char* omp_get_interop_name(const void*, int);
OPENMP_API const char* omp_get_interop_type_desc(const void*, int);
OPENMP_API const char* omp_get_interop_rc_desc(const void*, int);
OPENMP_API void omp_display_env(int);
OPENMP_API void omp_display_affinity(const char*);
OPENMP_API std::uintptr_t omp_init_allocator(std::uintptr_t, int,
                                             const lockstep::openmp::allocators::trait*);
OPENMP_API void omp_destroy_allocator(std::uintptr_t);
OPENMP_API void omp_set_default_allocator(std::uintptr_t);
OPENMP_API std::uintptr_t omp_get_default_allocator();
OPENMP_API void* omp_calloc(std::size_t, std::size_t, std::uintptr_t);

#endif  // LOCKSTEP_OPENMP_API_API_HPP
