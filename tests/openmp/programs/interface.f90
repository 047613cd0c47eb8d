! SPDX-License-Identifier: MIT
! The functions of omp_lib; compiled with integers of 4 and of 8 bytes. Says what does not hold.
program omp_lib_functions
  use omp_lib
  use, intrinsic :: iso_c_binding, only : c_intptr_t
  implicit none
  integer :: complaints = 0
  integer :: chunk, places(1024), length
  integer (omp_sched_kind) :: kind
  integer (omp_lock_kind) :: lock
  integer (omp_nest_lock_kind) :: nest_lock
  integer (omp_allocator_handle_kind) :: allocator
  type (omp_alloctrait) :: traits(2)
  character (len=12) :: text
  integer :: total, i
  ! Functions of omp_lib are of the usual kind, or not.
  interface check
    procedure check_4, check_8
  end interface

  call check (omp_get_num_threads () == 1 .and. omp_get_thread_num () == 0, 'outside')
  call check (.not. omp_in_parallel () .and. omp_get_level () == 0, 'no region')
  call omp_set_num_threads (3)
  call check (omp_get_max_threads () == 3, 'threads')
  call omp_set_dynamic (.true.)
  call check (omp_get_dynamic (), 'dynamic')
  call omp_set_dynamic (.false.)
  call check (.not. omp_get_dynamic (), 'not dynamic')
  call omp_set_max_active_levels (2)
  call check (omp_get_max_active_levels () == 2, 'levels')
  call check (omp_get_supported_active_levels () > 1, 'supported levels')
  call check (omp_get_thread_limit () > 1, 'limit')
  call omp_set_schedule (omp_sched_guided, 7)
  call omp_get_schedule (kind, chunk)
  call check (kind == omp_sched_guided .and. chunk == 7, 'schedule')
  call omp_set_default_device (2)
  call check (omp_get_default_device () == 2, 'device')
  call omp_set_default_device (0)
  call omp_set_num_teams (4)
  call omp_set_teams_thread_limit (5)
  call check (omp_get_max_teams () == 4 .and. omp_get_teams_thread_limit () == 5, 'teams')
  call check (omp_is_initial_device () .and. omp_get_num_devices () == 0, 'devices')
  call check (omp_get_wtime () > 0 .and. omp_get_wtick () > 0, 'time')
  call check (.not. omp_get_cancellation () .and. omp_get_max_task_priority () == 0, 'process')
  call check (omp_get_proc_bind () == omp_proc_bind_true .and. omp_get_num_places () == 2, 'places')
  call check (omp_get_place_num () == 0 .and. omp_get_place_num_procs (1) == 1, 'place')
  places = -1
  call omp_get_partition_place_nums (places)
  call check (places(1) == 0 .and. places(2) == 1 .and. places(3) == -1, 'partition')
  places = -1
  call omp_get_place_proc_ids (1, places)
  call check (places(1) >= 0 .and. places(2) == -1, 'cpus')

  total = 0
  !$omp parallel num_threads (3) reduction (+: total)
    total = total + omp_get_thread_num () + 1
    call check (omp_in_parallel () .and. omp_get_level () == 1, 'region')
    call check (omp_get_ancestor_thread_num (1) == omp_get_thread_num (), 'ancestor')
    call check (omp_get_team_size (1) == 3 .and. omp_get_ancestor_thread_num (7) == -1, 'team')
  !$omp end parallel
  call check (total == 6, 'sum')

  call omp_init_lock (lock)
  call omp_init_nest_lock (nest_lock)
  call check (omp_test_lock (lock) .and. .not. omp_test_lock (lock), 'lock')
  call omp_unset_lock (lock)
  call check (omp_test_nest_lock (nest_lock) == 1 .and. omp_test_nest_lock (nest_lock) == 2, 'nested lock')
  call omp_unset_nest_lock (nest_lock)
  call omp_unset_nest_lock (nest_lock)
  total = 0
  !$omp parallel num_threads (4) private (i)
    do i = 1, 5000
      call omp_set_lock (lock)
      total = total + 1
      call omp_unset_lock (lock)
      call omp_set_nest_lock (nest_lock)
      call omp_set_nest_lock (nest_lock)
      total = total + 0
      call omp_unset_nest_lock (nest_lock)
      call omp_unset_nest_lock (nest_lock)
    end do
  !$omp end parallel
  call check (total == 20000, 'locks')
  call omp_destroy_lock (lock)
  call omp_destroy_nest_lock (nest_lock)

  call omp_set_affinity_format ('n%n of %N  ')
  length = omp_get_affinity_format (text)
  call check (length == 11 .and. text == 'n%n of %N', 'format')
  length = omp_capture_affinity (text, 'L%.3L')
  call check (length == 4 .and. text == 'L  0', 'captured')

  traits = [omp_alloctrait (omp_atk_alignment, 64), omp_alloctrait (omp_atk_pool_size, 4096)]
  allocator = omp_init_allocator (omp_default_mem_space, 2, traits)
  call check (allocator /= omp_null_allocator, 'allocator')
  call omp_set_default_allocator (allocator)
  call check (omp_get_default_allocator () == allocator, 'default allocator')
  call omp_set_default_allocator (omp_default_mem_alloc)
  call omp_destroy_allocator (allocator)
  call check (omp_pause_resource_all (omp_pause_soft) == 0, 'pause')
  if (complaints > 0) stop 1

contains

  subroutine check_4 (holds, what)
    logical (4), intent (in) :: holds
    character (len=*), intent (in) :: what
    if (holds) return
    print *, 'not so: ', what
    !$omp atomic
    complaints = complaints + 1
  end subroutine

  subroutine check_8 (holds, what)
    logical (8), intent (in) :: holds
    character (len=*), intent (in) :: what
    call check_4 (logical (holds, 4), what)
  end subroutine
end program
