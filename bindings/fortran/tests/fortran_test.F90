! SPDX-License-Identifier: MIT
! The Fortran module: each family once, its results, its failures and their texts. Callbacks return the line where something
! was wrong.
module callbacks
  use, intrinsic :: iso_c_binding
  use lockstep
  implicit none

  integer, parameter :: n = 10007, most = 16

  type :: shared_data
    integer :: counts(n) = 0
    integer(c_int64_t) :: slots(0:most - 1) = 0
    integer :: singles = 0, firsts = 0
    integer(c_int) :: result = 0
    type(c_ptr) :: event, mutex, latch, semaphore, barrier, team, plan
    integer :: guarded = 0
    real(c_double) :: sums(0:most - 1) = 0
    integer :: order(4) = 0, clock = 0, turns = 0
  end type

contains

  integer function failures_of(ok, line)
    logical, intent(in) :: ok
    integer, intent(in) :: line
    failures_of = 0
    if (.not. ok) failures_of = line
  end function

  function count_member(me, context) bind(c) result(code)
    type(c_ptr), value :: me, context
    integer(c_int) :: code
    type(shared_data), pointer :: at
    integer(c_size_t) :: rank
    call c_f_pointer(context, at)
    rank = lockstep_member_rank(me)
    at%slots(rank) = at%slots(rank) + int(lockstep_member_size(me), c_int64_t)
    code = 0
  end function

  function fail_member(me, context) bind(c) result(code)
    type(c_ptr), value :: me, context
    integer(c_int) :: code
    type(shared_data), pointer :: at
    call c_f_pointer(context, at)
    if (lockstep_member_rank(me) + 1 == lockstep_member_size(me)) then
      code = at%result
      return
    end if
    do
      code = lockstep_member_sync_threads(me)
      if (code /= lockstep_ok) return
    end do
  end function

  function bad_rank(me, context) bind(c) result(code)
    type(c_ptr), value :: me, context
    integer(c_int) :: code
    if (c_associated(context)) continue
    code = lockstep_member_await_step(me, 99_c_size_t, 1_c_size_t)
  end function

  function count_block(first, last, context) bind(c) result(code)
    integer(c_int64_t), value :: first, last
    type(c_ptr), value :: context
    integer(c_int) :: code
    type(shared_data), pointer :: at
    integer(c_int64_t) :: i
    call c_f_pointer(context, at)
    do i = first, last - 1
      at%counts(i) = at%counts(i) + 1
    end do
    code = 0
  end function

  function fail_block(first, last, context) bind(c) result(code)
    integer(c_int64_t), value :: first, last
    type(c_ptr), value :: context
    integer(c_int) :: code
    code = 0
    if (first <= 500 .and. 500 < last) code = 17
    if (c_associated(context)) code = 18
  end function

  function sum_double(first, last, value, context) bind(c) result(code)
    integer(c_int64_t), value :: first, last
    real(c_double), intent(inout) :: value
    type(c_ptr), value :: context
    integer(c_int) :: code
    integer(c_int64_t) :: i
    do i = first, last - 1
      value = value + 1.0_c_double / real(i, c_double)
    end do
    code = merge(1, 0, c_associated(context))
  end function

  function most_float(first, last, value, context) bind(c) result(code)
    integer(c_int64_t), value :: first, last
    real(c_float), intent(inout) :: value
    type(c_ptr), value :: context
    integer(c_int) :: code
    value = max(value, real(last - 1, c_float))
    code = merge(1, 0, c_associated(context) .or. last <= first)
  end function

  function sum_int64(first, last, value, context) bind(c) result(code)
    integer(c_int64_t), value :: first, last
    integer(c_int64_t), intent(inout) :: value
    type(c_ptr), value :: context
    integer(c_int) :: code
    integer(c_int64_t) :: i
    do i = first, last - 1
      value = value + i
    end do
    code = merge(1, 0, c_associated(context))
  end function

  !> A value of another type: the first and the last index of a part.
  function pair_of(first, last, value, context) bind(c) result(code)
    integer(c_int64_t), value :: first, last
    type(c_ptr), value :: value, context
    integer(c_int) :: code
    integer(c_int64_t), pointer :: pair(:)
    call c_f_pointer(value, pair, [2])
    pair = [first, last]
    code = merge(1, 0, c_associated(context))
  end function

  subroutine join_pairs(into, from, context) bind(c)
    type(c_ptr), value :: into, from, context
    integer(c_int64_t), pointer :: a(:), b(:)
    call c_f_pointer(into, a, [2])
    call c_f_pointer(from, b, [2])
    if (a(2) /= b(1) .or. c_associated(context)) a(1) = -1
    a(2) = b(2)
  end subroutine

  function count_single(context) bind(c) result(code)
    type(c_ptr), value :: context
    integer(c_int) :: code
    type(shared_data), pointer :: at
    call c_f_pointer(context, at)
    at%singles = at%singles + 1
    code = 0
  end function

  function count_first(context) bind(c) result(code)
    type(c_ptr), value :: context
    integer(c_int) :: code
    type(shared_data), pointer :: at
    call c_f_pointer(context, at)
    at%firsts = at%firsts + 1
    code = 0
  end function

  subroutine keep_larger(into, from, context) bind(c)
    type(c_ptr), value :: into, from, context
    integer(c_int64_t), pointer :: a, b
    call c_f_pointer(into, a)
    call c_f_pointer(from, b)
    if (b > a .and. .not. c_associated(context)) a = b
  end subroutine

  !> All constructs of a member.
  function constructs(me, context) bind(c) result(code)
    type(c_ptr), value :: me, context
    integer(c_int) :: code
    type(shared_data), pointer :: at
    integer(c_int64_t) :: rank, members, first, last, i, total
    integer(c_int64_t), target :: mine
    integer(c_int64_t), target :: pair(2)
    integer(c_size_t) :: how_many
    integer(c_int) :: flag
    integer :: round
    real(c_double) :: sum
    real(c_float) :: least, highest

    call c_f_pointer(context, at)
    rank = int(lockstep_member_rank(me), c_int64_t)
    members = int(lockstep_member_size(me), c_int64_t)
    do round = 1, 20
      at%slots(rank) = round
      code = lockstep_member_sync_threads(me)
      if (code /= 0) return
      code = failures_of(all(at%slots(0:members - 1) == round), __LINE__)
      if (code /= 0) return
      code = lockstep_member_sync(me, lockstep_sum, real(rank, c_double), sum)
      if (code == 0) code = failures_of(nint(sum) == int(members * (members - 1) / 2), __LINE__)
      if (code /= 0) return
      code = lockstep_member_sync(me, lockstep_min, real(rank, c_float), least)
      if (code == 0) code = failures_of(nint(least) == 0, __LINE__)
      if (code /= 0) return
      code = lockstep_member_sync(me, lockstep_max, rank, mine)
      if (code == 0) code = failures_of(mine == members - 1, __LINE__)
      if (code /= 0) return
      code = lockstep_member_sync_count(me, merge(1, 0, rank == 0), how_many)
      if (code == 0) code = failures_of(how_many == 1, __LINE__)
      if (code /= 0) return
      code = lockstep_member_sync_and(me, merge(1, 0, rank >= 0), flag)
      if (code == 0) code = failures_of(flag == 1, __LINE__)
      if (code /= 0) return
      code = lockstep_member_sync_or(me, merge(1, 0, rank < 0), flag)
      if (code == 0) code = failures_of(flag == 0, __LINE__)
      if (code /= 0) return
      mine = rank
      code = lockstep_member_sync_reduce_bytes(me, 8_c_size_t, c_loc(mine), keep_larger)
      if (code == 0) code = failures_of(mine == members - 1, __LINE__)
      if (code /= 0) return
      mine = rank + 5
      code = lockstep_member_broadcast(me, int(members - 1, c_size_t), 8_c_size_t, c_loc(mine))
      if (code == 0) code = failures_of(mine == members + 4, __LINE__)
      if (code /= 0) return
      code = lockstep_member_single(me, count_single, context)
      if (code == 0) code = failures_of(at%singles == round, __LINE__)
      if (code == 0) code = lockstep_member_sync_threads(me)
      if (code == 0) code = lockstep_member_single_nowait(me, count_first, context)
      if (code == 0) code = lockstep_member_sync_threads(me)
      if (code == 0) code = failures_of(at%firsts == round, __LINE__)
      if (code == 0) code = lockstep_member_sync_threads(me)
      if (code /= 0) return
    end do

    code = lockstep_member_block(me, 1_c_int64_t, int(n + 1, c_int64_t), first, last)
    if (code /= 0) return
    do i = first, last - 1
      at%counts(i) = 0
    end do
    code = lockstep_member_sync_threads(me)
    if (code == 0) code = lockstep_member_for_range(me, 1_c_int64_t, int(n + 1, c_int64_t), count_block, context)
    if (code == 0) code = lockstep_member_for_range_nowait(me, 1_c_int64_t, int(n + 1, c_int64_t), count_block, context, &
        lockstep_dynamic, 10_c_int64_t)
    if (code == 0) code = lockstep_member_sync_threads(me)
    if (code == 0) code = failures_of(all(at%counts == 2), __LINE__)
    if (code /= 0) return

    sum = 0
    code = lockstep_member_reduce(me, 1_c_int64_t, int(n + 1, c_int64_t), lockstep_sum, sum_double, sum)
    at%sums(rank) = sum
    highest = 0
    if (code == 0) code = lockstep_member_reduce(me, 1_c_int64_t, int(n + 1, c_int64_t), lockstep_max, most_float, highest)
    if (code == 0) code = failures_of(nint(highest) == n, __LINE__)
    total = 0
    if (code == 0) code = lockstep_member_reduce(me, 1_c_int64_t, int(n + 1, c_int64_t), lockstep_sum, sum_int64, total)
    if (code == 0) code = failures_of(total == int(n, c_int64_t) * (n + 1) / 2, __LINE__)
    pair = 1
    if (code == 0) code = lockstep_member_reduce_bytes(me, 1_c_int64_t, int(n + 1, c_int64_t), 16_c_size_t, pair_of, &
        join_pairs, c_loc(pair))
    if (code == 0) code = failures_of(pair(1) == 1 .and. pair(2) == n + 1, __LINE__)
    if (code /= 0) return

    ! A chain of steps.
    if (rank > 0) code = lockstep_member_await_step(me, int(rank - 1, c_size_t), 1_c_size_t)
    if (code == 0) code = lockstep_member_publish(me, 1_c_size_t)
    if (code == 0) code = failures_of(lockstep_member_stop_requested(me) == 0, __LINE__)
  end function

  function stop_at_once(me, context) bind(c) result(code)
    type(c_ptr), value :: me, context
    integer(c_int) :: code
    code = merge(1, 0, c_associated(context))
    if (lockstep_member_rank(me) == 0) code = lockstep_member_request_stop(me)
    if (code == 0) code = lockstep_member_sync_threads(me)
  end function

  !> Two members with event, mutex, latch, semaphore and barrier between them.
  function objects(me, context) bind(c) result(code)
    type(c_ptr), value :: me, context
    integer(c_int) :: code
    type(shared_data), pointer :: at
    integer :: round
    call c_f_pointer(context, at)
    code = 0
    do round = 1, 200
      code = lockstep_mutex_lock(at%mutex)
      at%guarded = at%guarded + 1
      if (code == 0) code = lockstep_mutex_unlock(at%mutex)
      if (code /= 0) return
    end do
    if (lockstep_member_rank(me) == 0) then
      at%result = 42
      code = lockstep_event_notify(at%event)
      if (code == 0) code = lockstep_latch_count_down(at%latch, 1_c_size_t)
      if (code == 0) code = lockstep_semaphore_release(at%semaphore, 1_c_size_t)
    else
      code = lockstep_event_wait(at%event)
      if (code == 0) code = failures_of(at%result == 42, __LINE__)
      if (code == 0) code = lockstep_latch_wait(at%latch)
      if (code == 0) code = lockstep_semaphore_acquire(at%semaphore)
    end if
    if (code == 0) code = lockstep_barrier_arrive_and_wait(at%barrier)
    if (code == 0) code = failures_of(at%guarded == 400, __LINE__)
  end function

  !> Nodes of a chain.
  function first_node(iteration, context) bind(c) result(code)
    integer(c_size_t), value :: iteration
    type(c_ptr), value :: context
    integer(c_int) :: code
    type(shared_data), pointer :: at
    call c_f_pointer(context, at)
    at%clock = at%clock + 1
    at%order(1) = at%clock
    code = merge(0, 1, iteration < 1000000)
  end function

  function second_node(iteration, context) bind(c) result(code)
    integer(c_size_t), value :: iteration
    type(c_ptr), value :: context
    integer(c_int) :: code
    type(shared_data), pointer :: at
    call c_f_pointer(context, at)
    at%clock = at%clock + 1
    at%order(2) = at%clock
    code = 0
    if (iteration == 3) code = at%result
  end function

  function three_turns(iteration, answer, context) bind(c) result(code)
    integer(c_size_t), value :: iteration
    integer(c_int), intent(out) :: answer
    type(c_ptr), value :: context
    integer(c_int) :: code
    type(shared_data), pointer :: at
    call c_f_pointer(context, at)
    at%turns = at%turns + 1
    answer = merge(1, 0, mod(at%turns, 3) /= 0)
    code = merge(0, 1, iteration < 1000000)
  end function

  function wide(me, iteration, context) bind(c) result(code)
    type(c_ptr), value :: me
    integer(c_size_t), value :: iteration
    type(c_ptr), value :: context
    integer(c_int) :: code
    integer(c_int64_t) :: members
    members = 0
    code = lockstep_member_sync(me, lockstep_sum, 1_c_int64_t, members)
    if (code == 0) code = failures_of(members == int(lockstep_member_size(me), c_int64_t), __LINE__)
    if (c_associated(context) .and. iteration > 1000000) code = 1
  end function

  function at_seven(iteration, answer, context) bind(c) result(code)
    integer(c_size_t), value :: iteration
    integer(c_int), intent(out) :: answer
    type(c_ptr), value :: context
    integer(c_int) :: code
    answer = merge(1, 0, iteration == 7)
    code = merge(1, 0, c_associated(context))
  end function

  subroutine note_start(rank, context) bind(c)
    integer(c_size_t), value :: rank
    type(c_ptr), value :: context
    type(shared_data), pointer :: at
    call c_f_pointer(context, at)
    at%slots(rank) = at%slots(rank) + 100
  end subroutine

end module callbacks

program fortran_test
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  use lockstep
  use callbacks
  implicit none

  integer :: failures = 0, k
  integer, parameter :: sizes(3) = [1, 2, 5]
  type(c_ptr) :: team
  real(c_double) :: first_sum = 0
  character(1024) :: directory

  call get_command_argument(1, directory)
  call check(lockstep_last_error() == "", __LINE__)
  do k = 1, size(sizes)
    call code_is(lockstep_team_create(team, members=sizes(k)), lockstep_ok, __LINE__)
    call check(lockstep_team_size(team) == sizes(k), __LINE__)
    call regions(team, sizes(k))
    call loops(team)
    call member_constructs(team, sizes(k))
    call graphs(team)
    call channels(team)
    call code_is(lockstep_team_destroy(team), lockstep_ok, __LINE__)
  end do
  call options
  call objects_between_members
  call looks
  if (failures > 0) then
    write (error_unit, "(i0, a)") failures, " checks failed"
    error stop 1
  end if

contains

  subroutine check(ok, line)
    logical, intent(in) :: ok
    integer, intent(in) :: line
    if (ok) return
    failures = failures + 1
    write (error_unit, "(a, i0, 2a)") "fortran_test.F90:", line, ": wrong; the last failure: ", lockstep_last_error()
  end subroutine

  subroutine code_is(code, expected, line)
    integer(c_int), intent(in) :: code, expected
    integer, intent(in) :: line
    if (code /= expected) write (error_unit, "(a, i0, 2a)") "code ", code, ", ", lockstep_code_name(code)
    call check(code == expected, line)
  end subroutine

  !> The code of a failure, and a word of its text.
  subroutine fails(code, expected, word, line)
    integer(c_int), intent(in) :: code, expected
    character(*), intent(in) :: word
    integer, intent(in) :: line
    call code_is(code, expected, line)
    call check(index(lockstep_last_error(), word) > 0, line)
  end subroutine

  subroutine regions(team, members)
    type(c_ptr), intent(in) :: team
    integer, intent(in) :: members
    type(shared_data), target :: at
    integer :: round
    do round = 1, 50
      call code_is(lockstep_team_run(team, count_member, c_loc(at)), lockstep_ok, __LINE__)
    end do
    call check(all(at%slots(0:members - 1) == 50 * members), __LINE__)
    call code_is(lockstep_team_run_on(team, 1, count_member, c_loc(at)), lockstep_ok, __LINE__)
    call check(at%slots(0) == 50 * members + 1, __LINE__)
    call fails(lockstep_team_run_on(team, members + 1, count_member, c_loc(at)), lockstep_error_argument, "members", &
        __LINE__)
    at%result = 23
    call fails(lockstep_team_run(team, fail_member, c_loc(at)), 23, "a callback has returned 23", __LINE__)
    at%result = lockstep_stopped
    call code_is(lockstep_team_run(team, fail_member, c_loc(at)), lockstep_stopped, __LINE__)
    call fails(lockstep_team_run(team, bad_rank), lockstep_error_rank, "rank 99", __LINE__)
    call code_is(lockstep_team_run(team, stop_at_once), lockstep_stopped, __LINE__)
    call code_is(lockstep_team_pause(team), lockstep_ok, __LINE__)
    call code_is(lockstep_team_resume(team), lockstep_ok, __LINE__)
    call code_is(lockstep_team_request_stop(team), lockstep_ok, __LINE__)
    call fails(lockstep_team_run(c_null_ptr, stop_at_once), lockstep_error_argument, "null pointer", __LINE__)
  end subroutine

  subroutine loops(team)
    type(c_ptr), intent(in) :: team
    type(shared_data), target :: at
    integer(c_int64_t), parameter :: first = 1, behind = n + 1
    integer(c_int64_t), target :: pair(2)
    integer(c_int64_t) :: total
    integer(c_int) :: schedule
    integer :: i
    real(c_double) :: sum, serial
    real(c_float) :: highest
    call code_is(lockstep_team_for_range(team, first, behind, count_block, c_loc(at)), lockstep_ok, __LINE__)
    do schedule = lockstep_static, lockstep_guided
      call code_is(lockstep_team_for_range(team, first, behind, count_block, c_loc(at), schedule), lockstep_ok, __LINE__)
      call code_is(lockstep_team_for_range(team, first, behind, count_block, c_loc(at), schedule, 100_c_int64_t), &
          lockstep_ok, __LINE__)
    end do
    call check(all(at%counts == 9), __LINE__)
    call code_is(lockstep_team_for_range(team, behind, first, count_block, c_loc(at)), lockstep_ok, __LINE__)
    call check(all(at%counts == 9), __LINE__)
    call fails(lockstep_team_for_range(team, first, behind, fail_block), 17, "a callback has returned 17", __LINE__)
    call fails(lockstep_team_for_range(team, first, behind, count_block, c_loc(at), 9_c_int), lockstep_error_argument, &
        "schedule 9", __LINE__)
    call fails(lockstep_team_for_range(team, first, behind, count_block, c_loc(at), lockstep_dynamic, 0_c_int64_t), &
        lockstep_error_argument, "chunk", __LINE__)

    sum = 0
    call code_is(lockstep_team_reduce(team, first, behind, lockstep_sum, sum_double, sum), lockstep_ok, __LINE__)
    serial = 0
    do i = 1, n
      serial = serial + 1.0_c_double / i
    end do
    call check(abs(sum - serial) < 1e-10_c_double * serial, __LINE__)
    if (k == 1) first_sum = sum
    ! The same bits in each team.
    call check(transfer(sum, total) == transfer(first_sum, total), __LINE__)
    highest = 0
    call code_is(lockstep_team_reduce(team, first, behind, lockstep_max, most_float, highest), lockstep_ok, __LINE__)
    call check(nint(highest) == n, __LINE__)
    total = 5
    call code_is(lockstep_team_reduce(team, first, behind, lockstep_sum, sum_int64, total), lockstep_ok, __LINE__)
    call check(total == int(n, c_int64_t) * (n + 1) / 2 + 5, __LINE__)
    pair = 1
    call code_is(lockstep_team_reduce_bytes(team, first, behind, 16_c_size_t, pair_of, join_pairs, c_loc(pair)), &
        lockstep_ok, __LINE__)
    call check(pair(1) == 1 .and. pair(2) == behind, __LINE__)
    call fails(lockstep_team_reduce(team, first, behind, 7_c_int, sum_int64, total), lockstep_error_argument, &
        "operation 7", __LINE__)
  end subroutine

  subroutine member_constructs(team, members)
    type(c_ptr), intent(in) :: team
    integer, intent(in) :: members
    type(shared_data), target :: at
    integer(c_int64_t) :: bits
    integer :: rank
    call code_is(lockstep_team_run(team, constructs, c_loc(at)), lockstep_ok, __LINE__)
    do rank = 0, members - 1
      call check(transfer(at%sums(rank), bits) == transfer(first_sum, bits), __LINE__)
    end do
  end subroutine

  subroutine graphs(team)
    type(c_ptr), intent(in) :: team
    type(shared_data), target :: at
    type(c_ptr) :: graph, plan
    integer(c_size_t) :: one, two, test, all_of_them, last
    call code_is(lockstep_graph_create(graph), lockstep_ok, __LINE__)
    call code_is(lockstep_graph_node(graph, "one", first_node, c_loc(at), one), lockstep_ok, __LINE__)
    call code_is(lockstep_graph_node(graph, "two", second_node, c_loc(at), two), lockstep_ok, __LINE__)
    call code_is(lockstep_graph_test(graph, "again", three_turns, c_loc(at), test), lockstep_ok, __LINE__)
    call code_is(lockstep_graph_wide_node(graph, "all", 0, wide, node=all_of_them), lockstep_ok, __LINE__)
    call code_is(lockstep_graph_empty_node(graph, "end", last), lockstep_ok, __LINE__)
    call check(one == 0 .and. two == 1 .and. last == 4 .and. lockstep_graph_size(graph) == 5, __LINE__)
    call code_is(lockstep_graph_edge(graph, one, two), lockstep_ok, __LINE__)
    call code_is(lockstep_graph_edge(graph, two, test), lockstep_ok, __LINE__)
    call code_is(lockstep_graph_repeat_while(graph, test, one), lockstep_ok, __LINE__)
    call code_is(lockstep_graph_edge(graph, test, all_of_them), lockstep_ok, __LINE__)
    call code_is(lockstep_graph_edge(graph, all_of_them, last), lockstep_ok, __LINE__)
    call code_is(lockstep_graph_cost(graph, one, 1000_c_int64_t), lockstep_ok, __LINE__)
    call check(lockstep_graph_validate(graph) == "", __LINE__)
    call check(index(lockstep_graph_dot(graph), "digraph") > 0, __LINE__)
    call code_is(lockstep_plan_create(graph, team, 0_c_size_t, plan), lockstep_ok, __LINE__)
    call code_is(lockstep_plan_run(plan, 2_c_size_t), lockstep_ok, __LINE__)
    call check(at%clock == 12 .and. at%order(1) == 11 .and. at%order(2) == 12, __LINE__)
    call code_is(lockstep_plan_run_until(plan, at_seven), lockstep_ok, __LINE__)
    call check(at%turns == 27, __LINE__)
    at%result = 31
    call fails(lockstep_plan_run(plan, 100_c_size_t), 31, "a callback has returned 31", __LINE__)
    call check(len(lockstep_plan_text(plan)) > 0 .and. len(lockstep_plan_report(plan)) > 0, __LINE__)
    call check(index(lockstep_plan_dot(plan), "digraph") > 0, __LINE__)
    call fails(lockstep_graph_destroy(graph), lockstep_error_use, "a plan of this graph lives", __LINE__)
    call code_is(lockstep_plan_destroy(plan), lockstep_ok, __LINE__)
    call code_is(lockstep_graph_edge(graph, two, one), lockstep_ok, __LINE__)
    call check(index(lockstep_graph_validate(graph), "one") > 0, __LINE__)
    call fails(lockstep_plan_create(graph, team, 0_c_size_t, plan), lockstep_error_graph, "two", __LINE__)
    call code_is(lockstep_graph_destroy(graph), lockstep_ok, __LINE__)
  end subroutine

  subroutine channels(team)
    type(c_ptr), intent(in) :: team
    type(shared_data), target :: at
    type(c_ptr) :: graph, plan
    integer(c_size_t) :: one, two
    call code_is(lockstep_graph_create(graph), lockstep_ok, __LINE__)
    call code_is(lockstep_graph_empty_node(graph, "begin", one), lockstep_ok, __LINE__)
    call code_is(lockstep_graph_node(graph, "count", first_node, c_loc(at), two), lockstep_ok, __LINE__)
    call fails(lockstep_graph_channel(graph, one, two, 0_c_size_t), lockstep_error_argument, "0 places given", __LINE__)
    call code_is(lockstep_graph_channel(graph, one, two, 2_c_size_t), lockstep_ok, __LINE__)
    call code_is(lockstep_plan_create(graph, team, 0_c_size_t, plan), lockstep_ok, __LINE__)
    call code_is(lockstep_plan_run(plan, 500_c_size_t), lockstep_ok, __LINE__)
    call check(at%clock == 500, __LINE__)
    call code_is(lockstep_plan_destroy(plan), lockstep_ok, __LINE__)
    call code_is(lockstep_graph_destroy(graph), lockstep_ok, __LINE__)
  end subroutine

  subroutine options
    type(shared_data), target :: at
    type(c_ptr) :: team
    call code_is(lockstep_team_create(team, members=3, policy=lockstep_policy_block, name="named", &
        bind=lockstep_bind_none, anticipate=.false., learn=.true., cpu_separation=.false., ledger=.true., &
        on_start=note_start, hook_context=c_loc(at)), lockstep_ok, __LINE__)
    call code_is(lockstep_team_run(team, count_member, c_loc(at)), lockstep_ok, __LINE__)
    call check(all(at%slots(0:2) == [3, 103, 103]), __LINE__)
    call check(index(lockstep_team_ledger_json(team), "named") > 0, __LINE__)
    call check(len(lockstep_team_ledger_table(team)) > 0, __LINE__)
    call code_is(lockstep_team_destroy(team), lockstep_ok, __LINE__)
    call fails(lockstep_team_create(team, members=70000), lockstep_error_argument, "70000", __LINE__)
    call check(.not. c_associated(team), __LINE__)
    call code_is(lockstep_team_create(team, members=1, cpus=[0]), lockstep_ok, __LINE__)
    call code_is(lockstep_team_destroy(team), lockstep_ok, __LINE__)
    call code_is(lockstep_default_team(team), lockstep_ok, __LINE__)
    call check(lockstep_team_size(team) >= 1, __LINE__)
    call fails(lockstep_team_destroy(team), lockstep_error_use, "never destroyed", __LINE__)
  end subroutine

  subroutine objects_between_members
    type(shared_data), target :: at
    type(c_ptr) :: team
    call code_is(lockstep_team_create(team, members=2), lockstep_ok, __LINE__)
    call code_is(lockstep_event_create(lockstep_policy_unset, at%event), lockstep_ok, __LINE__)
    call code_is(lockstep_mutex_create(lockstep_policy_unset, at%mutex), lockstep_ok, __LINE__)
    call code_is(lockstep_latch_create(1_c_size_t, lockstep_policy_unset, at%latch), lockstep_ok, __LINE__)
    call code_is(lockstep_semaphore_create(0_c_size_t, lockstep_policy_unset, at%semaphore), lockstep_ok, __LINE__)
    call code_is(lockstep_barrier_create(2_c_size_t, lockstep_policy_unset, at%barrier), lockstep_ok, __LINE__)
    call code_is(lockstep_event_wait_for(at%event, 1000_c_int64_t), lockstep_timed_out, __LINE__)
    call code_is(lockstep_event_try_wait(at%event), lockstep_busy, __LINE__)
    call code_is(lockstep_latch_try_wait(at%latch), lockstep_busy, __LINE__)
    call code_is(lockstep_latch_wait_for(at%latch, 1000_c_int64_t), lockstep_timed_out, __LINE__)
    call code_is(lockstep_semaphore_try_acquire(at%semaphore), lockstep_busy, __LINE__)
    call code_is(lockstep_semaphore_acquire_for(at%semaphore, 1000_c_int64_t), lockstep_timed_out, __LINE__)
    call code_is(lockstep_team_run(team, objects, c_loc(at)), lockstep_ok, __LINE__)
    call code_is(lockstep_mutex_try_lock(at%mutex), lockstep_ok, __LINE__)
    call fails(lockstep_mutex_lock(at%mutex), lockstep_error_use, "holds the mutex already", __LINE__)
    call fails(lockstep_mutex_lock_for(at%mutex, 0_c_int64_t), lockstep_error_use, "holds the mutex already", __LINE__)
    call code_is(lockstep_mutex_unlock(at%mutex), lockstep_ok, __LINE__)
    call code_is(lockstep_event_terminate(at%event), lockstep_ok, __LINE__)
    call code_is(lockstep_event_wait(at%event), lockstep_terminated, __LINE__)
    call lockstep_event_destroy(at%event)
    call lockstep_mutex_destroy(at%mutex)
    call lockstep_latch_destroy(at%latch)
    call lockstep_semaphore_destroy(at%semaphore)
    call lockstep_barrier_destroy(at%barrier)
    call code_is(lockstep_team_destroy(team), lockstep_ok, __LINE__)
  end subroutine

  subroutine looks
    type(shared_data), target :: at
    type(c_ptr) :: team
    call check(index(lockstep_build_info(), lockstep_version()) > 0, __LINE__)
    call check(lockstep_c_version() >= 1000, __LINE__)
    call check(lockstep_usable_cpus() >= 1, __LINE__)
    call check(lockstep_code_name(lockstep_error_graph) == "LOCKSTEP_ERROR_GRAPH", __LINE__)
    call lockstep_check(lockstep_ok)
    call code_is(lockstep_team_create(team, members=2), lockstep_ok, __LINE__)
    call code_is(lockstep_trace_start(1024_c_size_t), lockstep_ok, __LINE__)
    call check(lockstep_is_tracing() == 1, __LINE__)
    call code_is(lockstep_name_this_thread("fortran"), lockstep_ok, __LINE__)
    call code_is(lockstep_trace_scope_begin("assemble"), lockstep_ok, __LINE__)
    call code_is(lockstep_trace_mark("half way", 50_c_int64_t), lockstep_ok, __LINE__)
    call code_is(lockstep_trace_counter("residual", 0.5_c_double), lockstep_ok, __LINE__)
    call code_is(lockstep_team_run(team, count_member, c_loc(at)), lockstep_ok, __LINE__)
    call code_is(lockstep_trace_scope_end(), lockstep_ok, __LINE__)
    call code_is(lockstep_trace_write(trim(directory)//"/fortran_trace.json"), lockstep_ok, __LINE__)
    call code_is(lockstep_trace_stop(trim(directory)//"/fortran_trace.json"), lockstep_ok, __LINE__)
    call fails(lockstep_trace_stop(), lockstep_error_use, "no trace runs", __LINE__)
    call check(index(lockstep_trace_summary(), "assemble") > 0, __LINE__)
    call code_is(lockstep_watchdog_start(60000000000_c_int64_t, 0_c_int), lockstep_ok, __LINE__)
    call check(len(lockstep_who_waits()) > 0, __LINE__)
    call code_is(lockstep_watchdog_stop(), lockstep_ok, __LINE__)
    call code_is(lockstep_team_destroy(team), lockstep_ok, __LINE__)
  end subroutine

end program fortran_test
