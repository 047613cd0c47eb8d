! SPDX-License-Identifier: MIT
! lockstep.f90 -- the Fortran module of lockstep, which coordinates CPU threads at sub-microsecond grain
!
! Fortran 2018, over the C interface: lockstep.h says what each function does, in which order things happen, and what it
! costs. Link with lockstep_c. The names are those of C. What differs:
!
!   codes       functions return an integer(c_int): 0, or a code of lockstep.h, or what a callback returned.
!               `call lockstep_check(code)` ends the program with the message of a failure; lockstep_last_error() has it
!   callbacks   procedures with bind(c) and one of the interfaces lockstep_..._fn below, given as they are. They return 0,
!               or what is to end the region. Module procedures; internal ones as long as their host runs
!   context     a type(c_ptr), of c_loc(x) with a target x, or c_null_ptr; may be left out. In the callback:
!               call c_f_pointer(context, p)
!   handles     type(c_ptr), for teams, members, events and all others
!   ranks       from 0; the caller of run is 0. Nodes are numbered from 0
!   ranges      first to last - 1, as in C, so that parts join without a gap: for i = 1, n give 1 and n + 1; in the
!               callback write `do i = first, last - 1`
!   texts       characters go in as they are; blanks at their ends count. Functions that give a text return
!               character(:), allocatable
!   options     optional arguments in place of structures; schedule and chunk are optional as well
!   generic     lockstep_team_reduce, lockstep_member_reduce and lockstep_member_sync take real(c_double), real(c_float)
!               and integer(c_int64_t); for values of other types there are lockstep_..._reduce_bytes
!
! Threads run callbacks at the same time: what they call has to be recursive (the default since Fortran 2018; gfortran:
! -frecursive or -std=f2018), must not save what it changes, and must not be left by stop or a long jump.
module lockstep
  use, intrinsic :: iso_c_binding
  implicit none
  private

  ! --- constants ---

  integer(c_int), parameter, public :: &
      lockstep_ok = 0, lockstep_stopped = -1, lockstep_timed_out = -2, lockstep_terminated = -3, &
      lockstep_busy = -4, lockstep_error_argument = -16, lockstep_error_rank = -17, &
      lockstep_error_use = -18, lockstep_error_graph = -19, lockstep_error_memory = -20, &
      lockstep_error_system = -21, lockstep_error_exception = -22
  integer(c_int64_t), parameter, public :: &
      lockstep_policy_unset = 0, lockstep_policy_adaptive = -1, lockstep_policy_spin = -2, &
      lockstep_policy_block = -3, lockstep_forever = huge(0_c_int64_t)
  integer(c_int), parameter, public :: &
      lockstep_static = 0, lockstep_static_chunks = 1, lockstep_dynamic = 2, lockstep_guided = 3
  integer(c_int), parameter, public :: &
      lockstep_sum = 0, lockstep_product = 1, lockstep_min = 2, lockstep_max = 3
  integer(c_int), parameter, public :: &
      lockstep_bind_none = 1, lockstep_bind_close = 2, lockstep_bind_spread = 3, &
      lockstep_bind_cores = 5

  ! --- callbacks ---

  public :: lockstep_region_fn, lockstep_block_fn, lockstep_block_double_fn, &
      lockstep_block_float_fn, lockstep_block_int64_fn, lockstep_block_value_fn, &
      lockstep_combine_fn, lockstep_single_fn, lockstep_node_fn, lockstep_test_fn, &
      lockstep_wide_fn, lockstep_hook

  abstract interface
    !> The part of a member in a region.
    function lockstep_region_fn(me, context) bind(c) result(code)
      import
      type(c_ptr), value :: me, context
      integer(c_int) :: code
    end function
    !> The iterations first to last - 1 of a loop.
    function lockstep_block_fn(first, last, context) bind(c) result(code)
      import
      integer(c_int64_t), value :: first, last
      type(c_ptr), value :: context
      integer(c_int) :: code
    end function
    !> The iterations first to last - 1, reduced into `value`, which holds the neutral element.
    function lockstep_block_double_fn(first, last, value, context) bind(c) result(code)
      import
      integer(c_int64_t), value :: first, last
      real(c_double), intent(inout) :: value
      type(c_ptr), value :: context
      integer(c_int) :: code
    end function
    function lockstep_block_float_fn(first, last, value, context) bind(c) result(code)
      import
      integer(c_int64_t), value :: first, last
      real(c_float), intent(inout) :: value
      type(c_ptr), value :: context
      integer(c_int) :: code
    end function
    function lockstep_block_int64_fn(first, last, value, context) bind(c) result(code)
      import
      integer(c_int64_t), value :: first, last
      integer(c_int64_t), intent(inout) :: value
      type(c_ptr), value :: context
      integer(c_int) :: code
    end function
    !> The same for a value of any interoperable type, whose bytes are 0.
    function lockstep_block_value_fn(first, last, value, context) bind(c) result(code)
      import
      integer(c_int64_t), value :: first, last
      type(c_ptr), value :: value, context
      integer(c_int) :: code
    end function
    !> into = into op from.
    subroutine lockstep_combine_fn(into, from, context) bind(c)
      import
      type(c_ptr), value :: into, from, context
    end subroutine
    function lockstep_single_fn(context) bind(c) result(code)
      import
      type(c_ptr), value :: context
      integer(c_int) :: code
    end function
    !> A node; iterations count from 0.
    function lockstep_node_fn(iteration, context) bind(c) result(code)
      import
      integer(c_size_t), value :: iteration
      type(c_ptr), value :: context
      integer(c_int) :: code
    end function
    !> A node that decides: answer is 0 or 1.
    function lockstep_test_fn(iteration, answer, context) bind(c) result(code)
      import
      integer(c_size_t), value :: iteration
      integer(c_int), intent(out) :: answer
      type(c_ptr), value :: context
      integer(c_int) :: code
    end function
    !> A node that several members run together.
    function lockstep_wide_fn(me, iteration, context) bind(c) result(code)
      import
      type(c_ptr), value :: me
      integer(c_size_t), value :: iteration
      type(c_ptr), value :: context
      integer(c_int) :: code
    end function
    !> At the begin and the end of a team's threads.
    subroutine lockstep_hook(rank, context) bind(c)
      import
      integer(c_size_t), value :: rank
      type(c_ptr), value :: context
    end subroutine
  end interface

  ! --- what has a Fortran form: below `contains` ---

  public :: lockstep_check, lockstep_last_error, lockstep_code_name, lockstep_version, &
      lockstep_build_info
  public :: lockstep_team_create, lockstep_team_run, lockstep_team_run_on, &
      lockstep_team_for_range, lockstep_team_reduce, lockstep_team_reduce_bytes, &
      lockstep_team_ledger_table, lockstep_team_ledger_json
  public :: lockstep_member_sync, lockstep_member_sync_reduce_bytes, lockstep_member_single, &
      lockstep_member_single_nowait, lockstep_member_for_range, lockstep_member_for_range_nowait, &
      lockstep_member_reduce, &
      lockstep_member_reduce_bytes
  public :: lockstep_graph_node, lockstep_graph_test, lockstep_graph_wide_node, &
      lockstep_graph_empty_node, lockstep_graph_validate, lockstep_graph_dot
  public :: lockstep_plan_run_until, lockstep_plan_text, lockstep_plan_report, lockstep_plan_dot
  public :: lockstep_trace_stop, lockstep_trace_write, lockstep_trace_summary, &
      lockstep_trace_mark, lockstep_trace_counter, lockstep_trace_scope_begin, &
      lockstep_name_this_thread, lockstep_who_waits

  !> result = result op (all values of the function over parts of the range): the same bits for every team.
  interface lockstep_team_reduce
    module procedure team_reduce_double, team_reduce_float, team_reduce_int64
  end interface
  !> The same by all members of a region together; each gets the result.
  interface lockstep_member_reduce
    module procedure member_reduce_double, member_reduce_float, member_reduce_int64
  end interface
  !> Barrier and reduction in one: result = the values of all members, combined in the order of ranks.
  interface lockstep_member_sync
    procedure lockstep_member_sync_double, lockstep_member_sync_float, lockstep_member_sync_int64
  end interface

  ! --- the functions that are those of C as they are ---

  public :: lockstep_c_version, lockstep_usable_cpus, lockstep_poll_while_waiting, lockstep_team_destroy, &
      lockstep_default_team, lockstep_team_size, lockstep_team_request_stop, lockstep_team_pause, &
      lockstep_team_resume, lockstep_team_keep_ledger, lockstep_team_reset_ledger, &
      lockstep_member_rank, lockstep_member_size, lockstep_member_sync_threads, &
      lockstep_member_sync_double, lockstep_member_sync_float, lockstep_member_sync_int64, &
      lockstep_member_sync_count, lockstep_member_sync_and, lockstep_member_sync_or, &
      lockstep_member_broadcast, lockstep_member_block, lockstep_member_publish, &
      lockstep_member_await_step, lockstep_member_stop_requested, lockstep_member_request_stop, &
      lockstep_event_create, lockstep_event_destroy, lockstep_event_notify, lockstep_event_wait, &
      lockstep_event_wait_for, lockstep_event_try_wait, lockstep_event_terminate, &
      lockstep_mutex_create, lockstep_mutex_destroy, lockstep_mutex_lock, &
      lockstep_mutex_try_lock, lockstep_mutex_lock_for, lockstep_mutex_unlock, &
      lockstep_latch_create, lockstep_latch_destroy, lockstep_latch_count_down, &
      lockstep_latch_wait, lockstep_latch_wait_for, lockstep_latch_try_wait, &
      lockstep_semaphore_create, lockstep_semaphore_destroy, lockstep_semaphore_acquire, &
      lockstep_semaphore_acquire_for, lockstep_semaphore_try_acquire, lockstep_semaphore_release, &
      lockstep_barrier_create, lockstep_barrier_destroy, lockstep_barrier_arrive_and_wait, &
      lockstep_barrier_arrive, lockstep_barrier_wait_for, &
      lockstep_graph_create, lockstep_graph_destroy, lockstep_graph_size, lockstep_graph_edge, &
      lockstep_graph_edge_if, lockstep_graph_edge_unless, lockstep_graph_repeat_while, &
      lockstep_graph_feedback, lockstep_graph_channel, lockstep_graph_overlap, &
      lockstep_graph_cost, lockstep_graph_pin, lockstep_graph_keep_near, &
      lockstep_plan_create, lockstep_plan_destroy, lockstep_plan_run, lockstep_plan_measure, &
      lockstep_plan_refine, lockstep_plan_request_stop, lockstep_plan_members, &
      lockstep_trace_start, lockstep_is_tracing, lockstep_trace_scope_end, &
      lockstep_watchdog_start, lockstep_watchdog_stop

  interface
    ! Version and surroundings.
    function lockstep_c_version() bind(c) result(code)
      import
      integer(c_int) :: code
    end function
    function lockstep_usable_cpus() bind(c) result(out)
      import
      integer(c_size_t) :: out
    end function
    function lockstep_poll_while_waiting(nanoseconds, poll, context) bind(c) result(code)
      import
      integer(c_int64_t), value :: nanoseconds
      type(c_funptr), value :: poll
      type(c_ptr), value :: context
      integer(c_int) :: code
    end function
    ! Teams.
    function lockstep_team_destroy(team) bind(c) result(code)
      import
      type(c_ptr), value :: team
      integer(c_int) :: code
    end function
    function lockstep_default_team(team) bind(c) result(code)
      import
      type(c_ptr), intent(out) :: team
      integer(c_int) :: code
    end function
    function lockstep_team_size(team) bind(c) result(out)
      import
      type(c_ptr), value :: team
      integer(c_size_t) :: out
    end function
    function lockstep_team_request_stop(team) bind(c) result(code)
      import
      type(c_ptr), value :: team
      integer(c_int) :: code
    end function
    function lockstep_team_pause(team) bind(c) result(code)
      import
      type(c_ptr), value :: team
      integer(c_int) :: code
    end function
    function lockstep_team_resume(team) bind(c) result(code)
      import
      type(c_ptr), value :: team
      integer(c_int) :: code
    end function
    function lockstep_team_keep_ledger(team, yes) bind(c) result(code)
      import
      type(c_ptr), value :: team
      integer(c_int), value :: yes
      integer(c_int) :: code
    end function
    function lockstep_team_reset_ledger(team) bind(c) result(code)
      import
      type(c_ptr), value :: team
      integer(c_int) :: code
    end function
    ! Members, inside a region.
    function lockstep_member_rank(me) bind(c) result(out)
      import
      type(c_ptr), value :: me
      integer(c_size_t) :: out
    end function
    function lockstep_member_size(me) bind(c) result(out)
      import
      type(c_ptr), value :: me
      integer(c_size_t) :: out
    end function
    function lockstep_member_sync_threads(me) bind(c) result(code)
      import
      type(c_ptr), value :: me
      integer(c_int) :: code
    end function
    function lockstep_member_sync_double(me, operation, value, result) bind(c) result(code)
      import
      type(c_ptr), value :: me
      integer(c_int), value :: operation
      real(c_double), value :: value
      real(c_double), intent(inout) :: result
      integer(c_int) :: code
    end function
    function lockstep_member_sync_float(me, operation, value, result) bind(c) result(code)
      import
      type(c_ptr), value :: me
      integer(c_int), value :: operation
      real(c_float), value :: value
      real(c_float), intent(inout) :: result
      integer(c_int) :: code
    end function
    function lockstep_member_sync_int64(me, operation, value, result) bind(c) result(code)
      import
      type(c_ptr), value :: me
      integer(c_int), value :: operation
      integer(c_int64_t), value :: value
      integer(c_int64_t), intent(inout) :: result
      integer(c_int) :: code
    end function
    function lockstep_member_sync_count(me, condition, count) bind(c) result(code)
      import
      type(c_ptr), value :: me
      integer(c_int), value :: condition
      integer(c_size_t), intent(inout) :: count
      integer(c_int) :: code
    end function
    function lockstep_member_sync_and(me, condition, all) bind(c) result(code)
      import
      type(c_ptr), value :: me
      integer(c_int), value :: condition
      integer(c_int), intent(inout) :: all
      integer(c_int) :: code
    end function
    function lockstep_member_sync_or(me, condition, any) bind(c) result(code)
      import
      type(c_ptr), value :: me
      integer(c_int), value :: condition
      integer(c_int), intent(inout) :: any
      integer(c_int) :: code
    end function
    function lockstep_member_broadcast(me, root, value_size, value) bind(c) result(code)
      import
      type(c_ptr), value :: me, value
      integer(c_size_t), value :: root, value_size
      integer(c_int) :: code
    end function
    function lockstep_member_block(me, first, last, block_first, block_last) bind(c) result(code)
      import
      type(c_ptr), value :: me
      integer(c_int64_t), value :: first, last
      integer(c_int64_t), intent(inout) :: block_first, block_last
      integer(c_int) :: code
    end function
    function lockstep_member_publish(me, step) bind(c) result(code)
      import
      type(c_ptr), value :: me
      integer(c_size_t), value :: step
      integer(c_int) :: code
    end function
    function lockstep_member_await_step(me, rank, step) bind(c) result(code)
      import
      type(c_ptr), value :: me
      integer(c_size_t), value :: rank, step
      integer(c_int) :: code
    end function
    function lockstep_member_stop_requested(me) bind(c) result(code)
      import
      type(c_ptr), value :: me
      integer(c_int) :: code
    end function
    function lockstep_member_request_stop(me) bind(c) result(code)
      import
      type(c_ptr), value :: me
      integer(c_int) :: code
    end function
    ! Event.
    function lockstep_event_create(policy, event) bind(c) result(code)
      import
      integer(c_int64_t), value :: policy
      type(c_ptr), intent(out) :: event
      integer(c_int) :: code
    end function
    subroutine lockstep_event_destroy(event) bind(c)
      import
      type(c_ptr), value :: event
    end subroutine
    function lockstep_event_notify(event) bind(c) result(code)
      import
      type(c_ptr), value :: event
      integer(c_int) :: code
    end function
    function lockstep_event_wait(event) bind(c) result(code)
      import
      type(c_ptr), value :: event
      integer(c_int) :: code
    end function
    function lockstep_event_wait_for(event, nanoseconds) bind(c) result(code)
      import
      type(c_ptr), value :: event
      integer(c_int64_t), value :: nanoseconds
      integer(c_int) :: code
    end function
    function lockstep_event_try_wait(event) bind(c) result(code)
      import
      type(c_ptr), value :: event
      integer(c_int) :: code
    end function
    function lockstep_event_terminate(event) bind(c) result(code)
      import
      type(c_ptr), value :: event
      integer(c_int) :: code
    end function
    ! Mutex.
    function lockstep_mutex_create(policy, mutex) bind(c) result(code)
      import
      integer(c_int64_t), value :: policy
      type(c_ptr), intent(out) :: mutex
      integer(c_int) :: code
    end function
    subroutine lockstep_mutex_destroy(mutex) bind(c)
      import
      type(c_ptr), value :: mutex
    end subroutine
    function lockstep_mutex_lock(mutex) bind(c) result(code)
      import
      type(c_ptr), value :: mutex
      integer(c_int) :: code
    end function
    function lockstep_mutex_try_lock(mutex) bind(c) result(code)
      import
      type(c_ptr), value :: mutex
      integer(c_int) :: code
    end function
    function lockstep_mutex_lock_for(mutex, nanoseconds) bind(c) result(code)
      import
      type(c_ptr), value :: mutex
      integer(c_int64_t), value :: nanoseconds
      integer(c_int) :: code
    end function
    function lockstep_mutex_unlock(mutex) bind(c) result(code)
      import
      type(c_ptr), value :: mutex
      integer(c_int) :: code
    end function
    ! Latch.
    function lockstep_latch_create(expected, policy, latch) bind(c) result(code)
      import
      integer(c_size_t), value :: expected
      integer(c_int64_t), value :: policy
      type(c_ptr), intent(out) :: latch
      integer(c_int) :: code
    end function
    subroutine lockstep_latch_destroy(latch) bind(c)
      import
      type(c_ptr), value :: latch
    end subroutine
    function lockstep_latch_count_down(latch, n) bind(c) result(code)
      import
      type(c_ptr), value :: latch
      integer(c_size_t), value :: n
      integer(c_int) :: code
    end function
    function lockstep_latch_wait(latch) bind(c) result(code)
      import
      type(c_ptr), value :: latch
      integer(c_int) :: code
    end function
    function lockstep_latch_wait_for(latch, nanoseconds) bind(c) result(code)
      import
      type(c_ptr), value :: latch
      integer(c_int64_t), value :: nanoseconds
      integer(c_int) :: code
    end function
    function lockstep_latch_try_wait(latch) bind(c) result(code)
      import
      type(c_ptr), value :: latch
      integer(c_int) :: code
    end function
    ! Semaphore.
    function lockstep_semaphore_create(permits, policy, semaphore) bind(c) result(code)
      import
      integer(c_size_t), value :: permits
      integer(c_int64_t), value :: policy
      type(c_ptr), intent(out) :: semaphore
      integer(c_int) :: code
    end function
    subroutine lockstep_semaphore_destroy(semaphore) bind(c)
      import
      type(c_ptr), value :: semaphore
    end subroutine
    function lockstep_semaphore_acquire(semaphore) bind(c) result(code)
      import
      type(c_ptr), value :: semaphore
      integer(c_int) :: code
    end function
    function lockstep_semaphore_acquire_for(semaphore, nanoseconds) bind(c) result(code)
      import
      type(c_ptr), value :: semaphore
      integer(c_int64_t), value :: nanoseconds
      integer(c_int) :: code
    end function
    function lockstep_semaphore_try_acquire(semaphore) bind(c) result(code)
      import
      type(c_ptr), value :: semaphore
      integer(c_int) :: code
    end function
    function lockstep_semaphore_release(semaphore, count) bind(c) result(code)
      import
      type(c_ptr), value :: semaphore
      integer(c_size_t), value :: count
      integer(c_int) :: code
    end function
    ! Barrier.
    function lockstep_barrier_create(expected, policy, barrier) bind(c) result(code)
      import
      integer(c_size_t), value :: expected
      integer(c_int64_t), value :: policy
      type(c_ptr), intent(out) :: barrier
      integer(c_int) :: code
    end function
    subroutine lockstep_barrier_destroy(barrier) bind(c)
      import
      type(c_ptr), value :: barrier
    end subroutine
    function lockstep_barrier_arrive_and_wait(barrier) bind(c) result(code)
      import
      type(c_ptr), value :: barrier
      integer(c_int) :: code
    end function
    function lockstep_barrier_arrive(barrier, arrival) bind(c) result(code)
      import
      type(c_ptr), value :: barrier
      integer(c_int64_t), intent(out) :: arrival
      integer(c_int) :: code
    end function
    function lockstep_barrier_wait_for(barrier, arrival, nanoseconds) bind(c) result(code)
      import
      type(c_ptr), value :: barrier
      integer(c_int64_t), value :: arrival, nanoseconds
      integer(c_int) :: code
    end function
    ! Graphs.
    function lockstep_graph_create(graph) bind(c) result(code)
      import
      type(c_ptr), intent(out) :: graph
      integer(c_int) :: code
    end function
    function lockstep_graph_destroy(graph) bind(c) result(code)
      import
      type(c_ptr), value :: graph
      integer(c_int) :: code
    end function
    function lockstep_graph_size(graph) bind(c) result(out)
      import
      type(c_ptr), value :: graph
      integer(c_size_t) :: out
    end function
    function lockstep_graph_edge(graph, from, to) bind(c) result(code)
      import
      type(c_ptr), value :: graph
      integer(c_size_t), value :: from, to
      integer(c_int) :: code
    end function
    function lockstep_graph_edge_if(graph, test, to) bind(c) result(code)
      import
      type(c_ptr), value :: graph
      integer(c_size_t), value :: test, to
      integer(c_int) :: code
    end function
    function lockstep_graph_edge_unless(graph, test, to) bind(c) result(code)
      import
      type(c_ptr), value :: graph
      integer(c_size_t), value :: test, to
      integer(c_int) :: code
    end function
    function lockstep_graph_repeat_while(graph, test, first) bind(c) result(code)
      import
      type(c_ptr), value :: graph
      integer(c_size_t), value :: test, first
      integer(c_int) :: code
    end function
    function lockstep_graph_feedback(graph, from, to, delay) bind(c) result(code)
      import
      type(c_ptr), value :: graph
      integer(c_size_t), value :: from, to, delay
      integer(c_int) :: code
    end function
    function lockstep_graph_channel(graph, from, to, depth) bind(c) result(code)
      import
      type(c_ptr), value :: graph
      integer(c_size_t), value :: from, to, depth
      integer(c_int) :: code
    end function
    function lockstep_graph_overlap(graph) bind(c) result(code)
      import
      type(c_ptr), value :: graph
      integer(c_int) :: code
    end function
    function lockstep_graph_cost(graph, node, nanoseconds) bind(c) result(code)
      import
      type(c_ptr), value :: graph
      integer(c_size_t), value :: node
      integer(c_int64_t), value :: nanoseconds
      integer(c_int) :: code
    end function
    function lockstep_graph_pin(graph, node, rank) bind(c) result(code)
      import
      type(c_ptr), value :: graph
      integer(c_size_t), value :: node, rank
      integer(c_int) :: code
    end function
    function lockstep_graph_keep_near(graph, node, other) bind(c) result(code)
      import
      type(c_ptr), value :: graph
      integer(c_size_t), value :: node, other
      integer(c_int) :: code
    end function
    ! Plans.
    function lockstep_plan_create(graph, team, members, plan) bind(c) result(code)
      import
      type(c_ptr), value :: graph, team
      integer(c_size_t), value :: members
      type(c_ptr), intent(out) :: plan
      integer(c_int) :: code
    end function
    function lockstep_plan_destroy(plan) bind(c) result(code)
      import
      type(c_ptr), value :: plan
      integer(c_int) :: code
    end function
    function lockstep_plan_run(plan, iterations) bind(c) result(code)
      import
      type(c_ptr), value :: plan
      integer(c_size_t), value :: iterations
      integer(c_int) :: code
    end function
    function lockstep_plan_measure(plan, iterations) bind(c) result(code)
      import
      type(c_ptr), value :: plan
      integer(c_size_t), value :: iterations
      integer(c_int) :: code
    end function
    function lockstep_plan_refine(plan) bind(c) result(code)
      import
      type(c_ptr), value :: plan
      integer(c_int) :: code
    end function
    function lockstep_plan_request_stop(plan) bind(c) result(code)
      import
      type(c_ptr), value :: plan
      integer(c_int) :: code
    end function
    function lockstep_plan_members(plan) bind(c) result(out)
      import
      type(c_ptr), value :: plan
      integer(c_size_t) :: out
    end function
    ! Timeline and watchdog.
    function lockstep_trace_start(records_per_thread) bind(c) result(code)
      import
      integer(c_size_t), value :: records_per_thread
      integer(c_int) :: code
    end function
    function lockstep_is_tracing() bind(c) result(code)
      import
      integer(c_int) :: code
    end function
    function lockstep_trace_scope_end() bind(c) result(code)
      import
      integer(c_int) :: code
    end function
    function lockstep_watchdog_start(nanoseconds, aborts) bind(c) result(code)
      import
      integer(c_int64_t), value :: nanoseconds
      integer(c_int), value :: aborts
      integer(c_int) :: code
    end function
    function lockstep_watchdog_stop() bind(c) result(code)
      import
      integer(c_int) :: code
    end function
  end interface

  ! --- the functions that have a Fortran form, in C ---

  type, bind(c) :: c_options
    integer(c_size_t) :: size, members
    integer(c_int64_t) :: policy
    type(c_ptr) :: name, cpus
    integer(c_size_t) :: cpu_count
    integer(c_int32_t) :: bind, anticipate, learn, cpu_separation, ledger, reserved
    type(c_funptr) :: on_start, on_exit
    type(c_ptr) :: hook_context
  end type

  interface
    function c_last_error() bind(c, name="lockstep_last_error") result(out)
      import
      type(c_ptr) :: out
    end function
    function c_code_name(code) bind(c, name="lockstep_code_name") result(out)
      import
      integer(c_int), value :: code
      type(c_ptr) :: out
    end function
    function c_library_version() bind(c, name="lockstep_version") result(out)
      import
      type(c_ptr) :: out
    end function
    function c_build_info(buffer, capacity, length) bind(c, name="lockstep_build_info") result(code)
      import
      character(kind=c_char), intent(out) :: buffer(*)
      integer(c_size_t), value :: capacity
      integer(c_size_t), intent(inout) :: length
      integer(c_int) :: code
    end function
    function c_team_options_init(options, size) &
        bind(c, name="lockstep_team_options_init") result(code)
      import
      type(c_options), intent(out) :: options
      integer(c_size_t), value :: size
      integer(c_int) :: code
    end function
    function c_team_create(options, team) bind(c, name="lockstep_team_create") result(code)
      import
      type(c_options), intent(in) :: options
      type(c_ptr), intent(out) :: team
      integer(c_int) :: code
    end function
    function c_team_run(team, function, context) bind(c, name="lockstep_team_run") result(code)
      import
      type(c_ptr), value :: team, context
      type(c_funptr), value :: function
      integer(c_int) :: code
    end function
    function c_team_run_on(team, members, function, context) &
        bind(c, name="lockstep_team_run_on") result(code)
      import
      type(c_ptr), value :: team, context
      integer(c_size_t), value :: members
      type(c_funptr), value :: function
      integer(c_int) :: code
    end function
    function c_team_for_range_by(team, first, last, schedule, chunk, function, context) &
        bind(c, name="lockstep_team_for_range_by") result(code)
      import
      type(c_ptr), value :: team, context
      integer(c_int64_t), value :: first, last
      integer(c_int), value :: schedule
      integer(c_size_t), value :: chunk
      type(c_funptr), value :: function
      integer(c_int) :: code
    end function
    function c_team_reduce_double(team, first, last, operation, function, context, result) &
        bind(c, name="lockstep_team_reduce_double") result(code)
      import
      type(c_ptr), value :: team, context
      integer(c_int64_t), value :: first, last
      integer(c_int), value :: operation
      type(c_funptr), value :: function
      real(c_double), intent(inout) :: result
      integer(c_int) :: code
    end function
    function c_team_reduce_float(team, first, last, operation, function, context, result) &
        bind(c, name="lockstep_team_reduce_float") result(code)
      import
      type(c_ptr), value :: team, context
      integer(c_int64_t), value :: first, last
      integer(c_int), value :: operation
      type(c_funptr), value :: function
      real(c_float), intent(inout) :: result
      integer(c_int) :: code
    end function
    function c_team_reduce_int64(team, first, last, operation, function, context, result) &
        bind(c, name="lockstep_team_reduce_int64") result(code)
      import
      type(c_ptr), value :: team, context
      integer(c_int64_t), value :: first, last
      integer(c_int), value :: operation
      type(c_funptr), value :: function
      integer(c_int64_t), intent(inout) :: result
      integer(c_int) :: code
    end function
    function c_team_reduce(team, first, last, value_size, function, combine, context, result) &
        bind(c, name="lockstep_team_reduce") result(code)
      import
      type(c_ptr), value :: team, context, result
      integer(c_int64_t), value :: first, last
      integer(c_size_t), value :: value_size
      type(c_funptr), value :: function, combine
      integer(c_int) :: code
    end function
    function c_member_sync_reduce(me, value_size, value, combine, context) &
        bind(c, name="lockstep_member_sync_reduce") result(code)
      import
      type(c_ptr), value :: me, value, context
      integer(c_size_t), value :: value_size
      type(c_funptr), value :: combine
      integer(c_int) :: code
    end function
    function c_member_single(me, function, context) &
        bind(c, name="lockstep_member_single") result(code)
      import
      type(c_ptr), value :: me, context
      type(c_funptr), value :: function
      integer(c_int) :: code
    end function
    function c_member_single_nowait(me, function, context) &
        bind(c, name="lockstep_member_single_nowait") result(code)
      import
      type(c_ptr), value :: me, context
      type(c_funptr), value :: function
      integer(c_int) :: code
    end function
    function c_member_for_range(me, first, last, schedule, chunk, function, context) &
        bind(c, name="lockstep_member_for_range") result(code)
      import
      type(c_ptr), value :: me, context
      integer(c_int64_t), value :: first, last
      integer(c_int), value :: schedule
      integer(c_size_t), value :: chunk
      type(c_funptr), value :: function
      integer(c_int) :: code
    end function
    function c_member_for_range_nowait(me, first, last, schedule, chunk, function, context) &
        bind(c, name="lockstep_member_for_range_nowait") result(code)
      import
      type(c_ptr), value :: me, context
      integer(c_int64_t), value :: first, last
      integer(c_int), value :: schedule
      integer(c_size_t), value :: chunk
      type(c_funptr), value :: function
      integer(c_int) :: code
    end function
    function c_member_reduce_double(me, first, last, operation, function, context, result) &
        bind(c, name="lockstep_member_reduce_double") result(code)
      import
      type(c_ptr), value :: me, context
      integer(c_int64_t), value :: first, last
      integer(c_int), value :: operation
      type(c_funptr), value :: function
      real(c_double), intent(inout) :: result
      integer(c_int) :: code
    end function
    function c_member_reduce_float(me, first, last, operation, function, context, result) &
        bind(c, name="lockstep_member_reduce_float") result(code)
      import
      type(c_ptr), value :: me, context
      integer(c_int64_t), value :: first, last
      integer(c_int), value :: operation
      type(c_funptr), value :: function
      real(c_float), intent(inout) :: result
      integer(c_int) :: code
    end function
    function c_member_reduce_int64(me, first, last, operation, function, context, result) &
        bind(c, name="lockstep_member_reduce_int64") result(code)
      import
      type(c_ptr), value :: me, context
      integer(c_int64_t), value :: first, last
      integer(c_int), value :: operation
      type(c_funptr), value :: function
      integer(c_int64_t), intent(inout) :: result
      integer(c_int) :: code
    end function
    function c_member_reduce(me, first, last, value_size, function, combine, context, result) &
        bind(c, name="lockstep_member_reduce") result(code)
      import
      type(c_ptr), value :: me, context, result
      integer(c_int64_t), value :: first, last
      integer(c_size_t), value :: value_size
      type(c_funptr), value :: function, combine
      integer(c_int) :: code
    end function
    function c_graph_node(graph, name, function, context, node) &
        bind(c, name="lockstep_graph_node") result(code)
      import
      type(c_ptr), value :: graph, context
      character(kind=c_char), intent(in) :: name(*)
      type(c_funptr), value :: function
      integer(c_size_t), intent(inout) :: node
      integer(c_int) :: code
    end function
    function c_graph_test(graph, name, function, context, node) &
        bind(c, name="lockstep_graph_test") result(code)
      import
      type(c_ptr), value :: graph, context
      character(kind=c_char), intent(in) :: name(*)
      type(c_funptr), value :: function
      integer(c_size_t), intent(inout) :: node
      integer(c_int) :: code
    end function
    function c_graph_wide_node(graph, name, width, function, context, node) &
        bind(c, name="lockstep_graph_wide_node") result(code)
      import
      type(c_ptr), value :: graph, context
      character(kind=c_char), intent(in) :: name(*)
      integer(c_size_t), value :: width
      type(c_funptr), value :: function
      integer(c_size_t), intent(inout) :: node
      integer(c_int) :: code
    end function
    function c_graph_empty_node(graph, name, node) &
        bind(c, name="lockstep_graph_empty_node") result(code)
      import
      type(c_ptr), value :: graph
      character(kind=c_char), intent(in) :: name(*)
      integer(c_size_t), intent(inout) :: node
      integer(c_int) :: code
    end function
    function c_graph_validate(graph, buffer, capacity, length) &
        bind(c, name="lockstep_graph_validate") result(code)
      import
      type(c_ptr), value :: graph
      character(kind=c_char), intent(out) :: buffer(*)
      integer(c_size_t), value :: capacity
      integer(c_size_t), intent(inout) :: length
      integer(c_int) :: code
    end function
    function c_graph_dot(graph, buffer, capacity, length) &
        bind(c, name="lockstep_graph_dot") result(code)
      import
      type(c_ptr), value :: graph
      character(kind=c_char), intent(out) :: buffer(*)
      integer(c_size_t), value :: capacity
      integer(c_size_t), intent(inout) :: length
      integer(c_int) :: code
    end function
    function c_plan_run_until(plan, stop, context) &
        bind(c, name="lockstep_plan_run_until") result(code)
      import
      type(c_ptr), value :: plan, context
      type(c_funptr), value :: stop
      integer(c_int) :: code
    end function
    function c_plan_text(plan, buffer, capacity, length) &
        bind(c, name="lockstep_plan_text") result(code)
      import
      type(c_ptr), value :: plan
      character(kind=c_char), intent(out) :: buffer(*)
      integer(c_size_t), value :: capacity
      integer(c_size_t), intent(inout) :: length
      integer(c_int) :: code
    end function
    function c_plan_report(plan, buffer, capacity, length) &
        bind(c, name="lockstep_plan_report") result(code)
      import
      type(c_ptr), value :: plan
      character(kind=c_char), intent(out) :: buffer(*)
      integer(c_size_t), value :: capacity
      integer(c_size_t), intent(inout) :: length
      integer(c_int) :: code
    end function
    function c_plan_dot(plan, buffer, capacity, length) &
        bind(c, name="lockstep_plan_dot") result(code)
      import
      type(c_ptr), value :: plan
      character(kind=c_char), intent(out) :: buffer(*)
      integer(c_size_t), value :: capacity
      integer(c_size_t), intent(inout) :: length
      integer(c_int) :: code
    end function
    function c_trace_stop(file) bind(c, name="lockstep_trace_stop") result(code)
      import
      type(c_ptr), value :: file
      integer(c_int) :: code
    end function
    function c_trace_write(file) bind(c, name="lockstep_trace_write") result(code)
      import
      character(kind=c_char), intent(in) :: file(*)
      integer(c_int) :: code
    end function
    function c_trace_summary(buffer, capacity, length) &
        bind(c, name="lockstep_trace_summary") result(code)
      import
      character(kind=c_char), intent(out) :: buffer(*)
      integer(c_size_t), value :: capacity
      integer(c_size_t), intent(inout) :: length
      integer(c_int) :: code
    end function
    function c_trace_mark(name, value) bind(c, name="lockstep_trace_mark") result(code)
      import
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: value
      integer(c_int) :: code
    end function
    function c_trace_counter(name, value) bind(c, name="lockstep_trace_counter") result(code)
      import
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), value :: value
      integer(c_int) :: code
    end function
    function c_trace_scope_begin(name) bind(c, name="lockstep_trace_scope_begin") result(code)
      import
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int) :: code
    end function
    function c_name_this_thread(name) bind(c, name="lockstep_name_this_thread") result(code)
      import
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int) :: code
    end function
    function c_team_ledger_table(team, buffer, capacity, length) &
        bind(c, name="lockstep_team_ledger_table") result(code)
      import
      type(c_ptr), value :: team
      character(kind=c_char), intent(out) :: buffer(*)
      integer(c_size_t), value :: capacity
      integer(c_size_t), intent(inout) :: length
      integer(c_int) :: code
    end function
    function c_team_ledger_json(team, buffer, capacity, length) &
        bind(c, name="lockstep_team_ledger_json") result(code)
      import
      type(c_ptr), value :: team
      character(kind=c_char), intent(out) :: buffer(*)
      integer(c_size_t), value :: capacity
      integer(c_size_t), intent(inout) :: length
      integer(c_int) :: code
    end function
    function c_who_waits(buffer, capacity, length) bind(c, name="lockstep_who_waits") result(code)
      import
      character(kind=c_char), intent(out) :: buffer(*)
      integer(c_size_t), value :: capacity
      integer(c_size_t), intent(inout) :: length
      integer(c_int) :: code
    end function
  end interface

  ! Functions that give a text, as those of C do.
  abstract interface
    function text_of_nothing(buffer, capacity, length) bind(c) result(code)
      import
      character(kind=c_char), intent(out) :: buffer(*)
      integer(c_size_t), value :: capacity
      integer(c_size_t), intent(inout) :: length
      integer(c_int) :: code
    end function
    function text_of_handle(handle, buffer, capacity, length) bind(c) result(code)
      import
      type(c_ptr), value :: handle
      character(kind=c_char), intent(out) :: buffer(*)
      integer(c_size_t), value :: capacity
      integer(c_size_t), intent(inout) :: length
      integer(c_int) :: code
    end function
  end interface
  interface
    function length_of(text) bind(c, name="strlen") result(length)
      import
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function
  end interface

contains

  ! --- texts and codes ---

  !> Nothing if the code is 0; else ends the program with its message.
  subroutine lockstep_check(code)
    integer(c_int), intent(in) :: code
    character(:), allocatable :: text
    if (code == lockstep_ok) return
    if (code < 0 .and. code > lockstep_error_argument) then
      text = "lockstep: the result is "//lockstep_code_name(code)
    else
      text = lockstep_last_error()
    end if
    error stop text
  end subroutine

  !> The text of the last failure on the calling thread; "" before the first.
  function lockstep_last_error() result(text)
    character(:), allocatable :: text
    text = copied(c_last_error())
  end function

  function lockstep_code_name(code) result(text)
    integer(c_int), intent(in) :: code
    character(:), allocatable :: text
    text = copied(c_code_name(code))
  end function

  function lockstep_version() result(text)
    character(:), allocatable :: text
    text = copied(c_library_version())
  end function

  function lockstep_build_info() result(text)
    character(:), allocatable :: text
    text = given(c_build_info)
  end function

  !> A copy of a text of C.
  function copied(from) result(text)
    type(c_ptr), intent(in) :: from
    character(:), allocatable :: text
    character(kind=c_char), pointer :: bytes(:)
    call c_f_pointer(from, bytes, [length_of(from)])
    text = joined(bytes)
  end function

  function joined(bytes) result(text)
    character(kind=c_char), intent(in) :: bytes(:)
    character(:), allocatable :: text
    integer :: i
    allocate (character(size(bytes)) :: text)
    do i = 1, size(bytes)
      text(i:i) = bytes(i)
    end do
  end function

  !> A text for C, with a zero at its end.
  subroutine put_in_c(text, bytes)
    character(*), intent(in) :: text
    character(kind=c_char), allocatable, intent(out) :: bytes(:)
    integer :: i
    allocate (bytes(len(text) + 1))
    do i = 1, len(text)
      bytes(i) = text(i:i)
    end do
    bytes(len(text) + 1) = c_null_char
  end subroutine

  !> The text of a function that gives one; "" if it fails. A text may grow between two calls: again then.
  function given(give) result(text)
    procedure(text_of_nothing) :: give
    character(:), allocatable :: text
    character(kind=c_char), allocatable :: buffer(:)
    integer(c_size_t) :: length
    length = 1000
    do
      allocate (buffer(length + 1))
      if (give(buffer, size(buffer, kind=c_size_t), length) /= lockstep_ok) length = 0
      if (length < size(buffer, kind=c_size_t)) exit
      deallocate (buffer)
    end do
    text = joined(buffer(:length))
  end function

  function given_of(give, handle) result(text)
    procedure(text_of_handle) :: give
    type(c_ptr), intent(in) :: handle
    character(:), allocatable :: text
    character(kind=c_char), allocatable :: buffer(:)
    integer(c_size_t) :: length
    length = 1000
    do
      allocate (buffer(length + 1))
      if (give(handle, buffer, size(buffer, kind=c_size_t), length) /= lockstep_ok) length = 0
      if (length < size(buffer, kind=c_size_t)) exit
      deallocate (buffer)
    end do
    text = joined(buffer(:length))
  end function

  pure function context_of(context) result(pointer)
    type(c_ptr), intent(in), optional :: context
    type(c_ptr) :: pointer
    pointer = c_null_ptr
    if (present(context)) pointer = context
  end function

  ! --- teams ---

  !> What is not given is as the environment says, else the default: lockstep_team_options in lockstep.h.
  function lockstep_team_create(team, members, policy, name, bind, cpus, anticipate, learn, &
      cpu_separation, ledger, on_start, on_exit, hook_context) result(code)
    type(c_ptr), intent(out) :: team
    integer, intent(in), optional :: members
    integer(c_int64_t), intent(in), optional :: policy
    character(*), intent(in), optional :: name
    integer(c_int), intent(in), optional :: bind
    integer, intent(in), optional :: cpus(:) !< rank i on the i-th of these
    logical, intent(in), optional :: anticipate, learn, cpu_separation, ledger
    procedure(lockstep_hook), optional :: on_start, on_exit
    type(c_ptr), intent(in), optional :: hook_context
    integer(c_int) :: code
    type(c_options) :: options
    character(kind=c_char), allocatable, target :: name_in_c(:)
    integer(c_int), allocatable, target :: cpus_in_c(:)

    code = c_team_options_init(options, c_sizeof(options))
    if (present(members)) options%members = int(members, c_size_t)
    if (present(policy)) options%policy = policy
    if (present(name)) then
      call put_in_c(name, name_in_c)
      options%name = c_loc(name_in_c)
    end if
    if (present(bind)) options%bind = int(bind, c_int32_t)
    if (present(cpus)) then
      allocate (cpus_in_c(max(size(cpus), 1)))
      cpus_in_c(:size(cpus)) = int(cpus, c_int)
      options%bind = 4
      options%cpus = c_loc(cpus_in_c)
      options%cpu_count = size(cpus, kind=c_size_t)
    end if
    options%anticipate = choice(anticipate)
    options%learn = choice(learn)
    options%cpu_separation = choice(cpu_separation)
    options%ledger = choice(ledger)
    if (present(on_start)) options%on_start = c_funloc(on_start)
    if (present(on_exit)) options%on_exit = c_funloc(on_exit)
    options%hook_context = context_of(hook_context)
    code = c_team_create(options, team)
  end function

  !> 0: not said; 1: yes; 2: no.
  pure function choice(yes) result(value)
    logical, intent(in), optional :: yes
    integer(c_int32_t) :: value
    value = 0
    if (present(yes)) value = merge(1_c_int32_t, 2_c_int32_t, yes)
  end function

  function lockstep_team_run(team, f, context) result(code)
    type(c_ptr), intent(in) :: team
    procedure(lockstep_region_fn) :: f
    type(c_ptr), intent(in), optional :: context
    integer(c_int) :: code
    code = c_team_run(team, c_funloc(f), context_of(context))
  end function

  !> On the first `members` members.
  function lockstep_team_run_on(team, members, f, context) result(code)
    type(c_ptr), intent(in) :: team
    integer, intent(in) :: members
    procedure(lockstep_region_fn) :: f
    type(c_ptr), intent(in), optional :: context
    integer(c_int) :: code
    code = c_team_run_on(team, int(members, c_size_t), c_funloc(f), context_of(context))
  end function

  !> Without a schedule: lockstep_static, on as many members as pay.
  function lockstep_team_for_range(team, first, last, f, context, schedule, chunk) result(code)
    type(c_ptr), intent(in) :: team
    integer(c_int64_t), intent(in) :: first, last
    procedure(lockstep_block_fn) :: f
    type(c_ptr), intent(in), optional :: context
    integer(c_int), intent(in), optional :: schedule
    integer(c_int64_t), intent(in), optional :: chunk
    integer(c_int) :: code
    code = c_team_for_range_by(team, first, last, schedule_of(schedule), &
        chunk_of(schedule, chunk), c_funloc(f), context_of(context))
  end function

  pure function schedule_of(schedule) result(value)
    integer(c_int), intent(in), optional :: schedule
    integer(c_int) :: value
    value = lockstep_static
    if (present(schedule)) value = schedule
  end function

  !> 1, except for lockstep_static, where 0 means: to be learned.
  pure function chunk_of(schedule, chunk) result(value)
    integer(c_int), intent(in), optional :: schedule
    integer(c_int64_t), intent(in), optional :: chunk
    integer(c_size_t) :: value
    value = merge(0_c_size_t, 1_c_size_t, schedule_of(schedule) == lockstep_static)
    if (present(chunk)) value = int(max(chunk, 0_c_int64_t), c_size_t)
  end function

  function team_reduce_double(team, first, last, operation, f, result, context) result(code)
    type(c_ptr), intent(in) :: team
    integer(c_int64_t), intent(in) :: first, last
    integer(c_int), intent(in) :: operation
    procedure(lockstep_block_double_fn) :: f
    real(c_double), intent(inout) :: result
    type(c_ptr), intent(in), optional :: context
    integer(c_int) :: code
    code = c_team_reduce_double(team, first, last, operation, c_funloc(f), context_of(context), &
        result)
  end function

  function team_reduce_float(team, first, last, operation, f, result, context) result(code)
    type(c_ptr), intent(in) :: team
    integer(c_int64_t), intent(in) :: first, last
    integer(c_int), intent(in) :: operation
    procedure(lockstep_block_float_fn) :: f
    real(c_float), intent(inout) :: result
    type(c_ptr), intent(in), optional :: context
    integer(c_int) :: code
    code = c_team_reduce_float(team, first, last, operation, c_funloc(f), context_of(context), &
        result)
  end function

  function team_reduce_int64(team, first, last, operation, f, result, context) result(code)
    type(c_ptr), intent(in) :: team
    integer(c_int64_t), intent(in) :: first, last
    integer(c_int), intent(in) :: operation
    procedure(lockstep_block_int64_fn) :: f
    integer(c_int64_t), intent(inout) :: result
    type(c_ptr), intent(in), optional :: context
    integer(c_int) :: code
    code = c_team_reduce_int64(team, first, last, operation, c_funloc(f), context_of(context), &
        result)
  end function

  !> `result` points to the initial value, of `bytes` bytes; it becomes the result.
  function lockstep_team_reduce_bytes(team, first, last, bytes, f, combine, result, context) &
      result(code)
    type(c_ptr), intent(in) :: team
    integer(c_int64_t), intent(in) :: first, last
    integer(c_size_t), intent(in) :: bytes
    procedure(lockstep_block_value_fn) :: f
    procedure(lockstep_combine_fn) :: combine
    type(c_ptr), intent(in) :: result
    type(c_ptr), intent(in), optional :: context
    integer(c_int) :: code
    code = c_team_reduce(team, first, last, bytes, c_funloc(f), c_funloc(combine), &
        context_of(context), result)
  end function

  function lockstep_team_ledger_table(team) result(text)
    type(c_ptr), intent(in) :: team
    character(:), allocatable :: text
    text = given_of(c_team_ledger_table, team)
  end function

  function lockstep_team_ledger_json(team) result(text)
    type(c_ptr), intent(in) :: team
    character(:), allocatable :: text
    text = given_of(c_team_ledger_json, team)
  end function

  ! --- members ---

  !> `value` points to this member's; it becomes the combination of those of all.
  function lockstep_member_sync_reduce_bytes(me, bytes, value, combine, context) result(code)
    type(c_ptr), intent(in) :: me
    integer(c_size_t), intent(in) :: bytes
    type(c_ptr), intent(in) :: value
    procedure(lockstep_combine_fn) :: combine
    type(c_ptr), intent(in), optional :: context
    integer(c_int) :: code
    code = c_member_sync_reduce(me, bytes, value, c_funloc(combine), context_of(context))
  end function

  function lockstep_member_single(me, f, context) result(code)
    type(c_ptr), intent(in) :: me
    procedure(lockstep_single_fn) :: f
    type(c_ptr), intent(in), optional :: context
    integer(c_int) :: code
    code = c_member_single(me, c_funloc(f), context_of(context))
  end function

  function lockstep_member_single_nowait(me, f, context) result(code)
    type(c_ptr), intent(in) :: me
    procedure(lockstep_single_fn) :: f
    type(c_ptr), intent(in), optional :: context
    integer(c_int) :: code
    code = c_member_single_nowait(me, c_funloc(f), context_of(context))
  end function

  function lockstep_member_for_range(me, first, last, f, context, schedule, chunk) result(code)
    type(c_ptr), intent(in) :: me
    integer(c_int64_t), intent(in) :: first, last
    procedure(lockstep_block_fn) :: f
    type(c_ptr), intent(in), optional :: context
    integer(c_int), intent(in), optional :: schedule
    integer(c_int64_t), intent(in), optional :: chunk
    integer(c_int) :: code
    code = c_member_for_range(me, first, last, schedule_of(schedule), chunk_of(schedule, chunk), &
        c_funloc(f), context_of(context))
  end function

  function lockstep_member_for_range_nowait(me, first, last, f, context, schedule, chunk) result(code)
    type(c_ptr), intent(in) :: me
    integer(c_int64_t), intent(in) :: first, last
    procedure(lockstep_block_fn) :: f
    type(c_ptr), intent(in), optional :: context
    integer(c_int), intent(in), optional :: schedule
    integer(c_int64_t), intent(in), optional :: chunk
    integer(c_int) :: code
    code = c_member_for_range_nowait(me, first, last, schedule_of(schedule), chunk_of(schedule, chunk), &
        c_funloc(f), context_of(context))
  end function

  function member_reduce_double(me, first, last, operation, f, result, context) result(code)
    type(c_ptr), intent(in) :: me
    integer(c_int64_t), intent(in) :: first, last
    integer(c_int), intent(in) :: operation
    procedure(lockstep_block_double_fn) :: f
    real(c_double), intent(inout) :: result
    type(c_ptr), intent(in), optional :: context
    integer(c_int) :: code
    code = c_member_reduce_double(me, first, last, operation, c_funloc(f), context_of(context), &
        result)
  end function

  function member_reduce_float(me, first, last, operation, f, result, context) result(code)
    type(c_ptr), intent(in) :: me
    integer(c_int64_t), intent(in) :: first, last
    integer(c_int), intent(in) :: operation
    procedure(lockstep_block_float_fn) :: f
    real(c_float), intent(inout) :: result
    type(c_ptr), intent(in), optional :: context
    integer(c_int) :: code
    code = c_member_reduce_float(me, first, last, operation, c_funloc(f), context_of(context), &
        result)
  end function

  function member_reduce_int64(me, first, last, operation, f, result, context) result(code)
    type(c_ptr), intent(in) :: me
    integer(c_int64_t), intent(in) :: first, last
    integer(c_int), intent(in) :: operation
    procedure(lockstep_block_int64_fn) :: f
    integer(c_int64_t), intent(inout) :: result
    type(c_ptr), intent(in), optional :: context
    integer(c_int) :: code
    code = c_member_reduce_int64(me, first, last, operation, c_funloc(f), context_of(context), &
        result)
  end function

  function lockstep_member_reduce_bytes(me, first, last, bytes, f, combine, result, context) &
      result(code)
    type(c_ptr), intent(in) :: me
    integer(c_int64_t), intent(in) :: first, last
    integer(c_size_t), intent(in) :: bytes
    procedure(lockstep_block_value_fn) :: f
    procedure(lockstep_combine_fn) :: combine
    type(c_ptr), intent(in) :: result
    type(c_ptr), intent(in), optional :: context
    integer(c_int) :: code
    code = c_member_reduce(me, first, last, bytes, c_funloc(f), c_funloc(combine), &
        context_of(context), result)
  end function

  ! --- graphs and plans ---

  !> `node` becomes its number.
  function lockstep_graph_node(graph, name, f, context, node) result(code)
    type(c_ptr), intent(in) :: graph
    character(*), intent(in) :: name
    procedure(lockstep_node_fn) :: f
    type(c_ptr), intent(in), optional :: context
    integer(c_size_t), intent(out), optional :: node
    integer(c_int) :: code
    integer(c_size_t) :: number
    number = 0
    code = c_graph_node(graph, name//c_null_char, c_funloc(f), context_of(context), number)
    if (present(node)) node = number
  end function

  function lockstep_graph_test(graph, name, f, context, node) result(code)
    type(c_ptr), intent(in) :: graph
    character(*), intent(in) :: name
    procedure(lockstep_test_fn) :: f
    type(c_ptr), intent(in), optional :: context
    integer(c_size_t), intent(out), optional :: node
    integer(c_int) :: code
    integer(c_size_t) :: number
    number = 0
    code = c_graph_test(graph, name//c_null_char, c_funloc(f), context_of(context), number)
    if (present(node)) node = number
  end function

  !> `width` members run it together; 0: all.
  function lockstep_graph_wide_node(graph, name, width, f, context, node) result(code)
    type(c_ptr), intent(in) :: graph
    character(*), intent(in) :: name
    integer, intent(in) :: width
    procedure(lockstep_wide_fn) :: f
    type(c_ptr), intent(in), optional :: context
    integer(c_size_t), intent(out), optional :: node
    integer(c_int) :: code
    integer(c_size_t) :: number
    number = 0
    code = c_graph_wide_node(graph, name//c_null_char, int(width, c_size_t), c_funloc(f), &
        context_of(context), number)
    if (present(node)) node = number
  end function

  function lockstep_graph_empty_node(graph, name, node) result(code)
    type(c_ptr), intent(in) :: graph
    character(*), intent(in) :: name
    integer(c_size_t), intent(out), optional :: node
    integer(c_int) :: code
    integer(c_size_t) :: number
    number = 0
    code = c_graph_empty_node(graph, name//c_null_char, number)
    if (present(node)) node = number
  end function

  !> What is wrong with the graph; "" if nothing is.
  function lockstep_graph_validate(graph) result(text)
    type(c_ptr), intent(in) :: graph
    character(:), allocatable :: text
    text = given_of(c_graph_validate, graph)
  end function

  function lockstep_graph_dot(graph) result(text)
    type(c_ptr), intent(in) :: graph
    character(:), allocatable :: text
    text = given_of(c_graph_dot, graph)
  end function

  function lockstep_plan_run_until(plan, stop, context) result(code)
    type(c_ptr), intent(in) :: plan
    procedure(lockstep_test_fn) :: stop
    type(c_ptr), intent(in), optional :: context
    integer(c_int) :: code
    code = c_plan_run_until(plan, c_funloc(stop), context_of(context))
  end function

  function lockstep_plan_text(plan) result(text)
    type(c_ptr), intent(in) :: plan
    character(:), allocatable :: text
    text = given_of(c_plan_text, plan)
  end function

  function lockstep_plan_report(plan) result(text)
    type(c_ptr), intent(in) :: plan
    character(:), allocatable :: text
    text = given_of(c_plan_report, plan)
  end function

  function lockstep_plan_dot(plan) result(text)
    type(c_ptr), intent(in) :: plan
    character(:), allocatable :: text
    text = given_of(c_plan_dot, plan)
  end function

  ! --- timeline and watchdog ---

  !> Writes the trace to the file, if one is given.
  function lockstep_trace_stop(file) result(code)
    character(*), intent(in), optional :: file
    integer(c_int) :: code
    character(kind=c_char), allocatable, target :: file_in_c(:)
    if (present(file)) then
      call put_in_c(file, file_in_c)
      code = c_trace_stop(c_loc(file_in_c))
    else
      code = c_trace_stop(c_null_ptr)
    end if
  end function

  function lockstep_trace_write(file) result(code)
    character(*), intent(in) :: file
    integer(c_int) :: code
    code = c_trace_write(file//c_null_char)
  end function

  function lockstep_trace_summary() result(text)
    character(:), allocatable :: text
    text = given(c_trace_summary)
  end function

  function lockstep_trace_mark(name, value) result(code)
    character(*), intent(in) :: name
    integer(c_int64_t), intent(in) :: value
    integer(c_int) :: code
    code = c_trace_mark(name//c_null_char, value)
  end function

  function lockstep_trace_counter(name, value) result(code)
    character(*), intent(in) :: name
    real(c_double), intent(in) :: value
    integer(c_int) :: code
    code = c_trace_counter(name//c_null_char, value)
  end function

  function lockstep_trace_scope_begin(name) result(code)
    character(*), intent(in) :: name
    integer(c_int) :: code
    code = c_trace_scope_begin(name//c_null_char)
  end function

  function lockstep_name_this_thread(name) result(code)
    character(*), intent(in) :: name
    integer(c_int) :: code
    code = c_name_this_thread(name//c_null_char)
  end function

  function lockstep_who_waits() result(text)
    character(:), allocatable :: text
    text = given(c_who_waits)
  end function

end module lockstep
