! SPDX-License-Identifier: MIT
! A rod is held at 1 at one end and at 0 at the other. Each step replaces each inner value by the mean of its neighbours,
! until the largest change is small. One region for all steps: each member keeps its block, and one barrier with a maximum
! in it ends a step.
module rod
  use, intrinsic :: iso_c_binding
  use lockstep
  implicit none

  type :: rod_state
    real(c_double), allocatable :: x(:, :) !< two arrays, read and written in turn
    real(c_double) :: tolerance
    integer :: steps = 0, newest = 1
  end type

contains

  function smooth(me, context) bind(c) result(code)
    type(c_ptr), value :: me, context
    integer(c_int) :: code
    type(rod_state), pointer :: at
    integer(c_int64_t) :: first, last, i
    integer :: from, to, steps
    real(c_double) :: change

    call c_f_pointer(context, at)
    code = lockstep_member_block(me, 2_c_int64_t, size(at%x, 1, kind=c_int64_t), first, last)
    if (code /= 0) return
    from = 1
    to = 2
    steps = 0
    do
      change = 0
      do i = first, last - 1
        at%x(i, to) = 0.5_c_double * (at%x(i - 1, from) + at%x(i + 1, from))
        change = max(change, abs(at%x(i, to) - at%x(i, from)))
      end do
      steps = steps + 1
      code = lockstep_member_sync(me, lockstep_max, change, change)  ! all members see all values, and agree
      if (code /= 0) return
      from = 3 - from
      to = 3 - to
      if (change < at%tolerance) exit
    end do
    if (lockstep_member_rank(me) == 0) then
      at%steps = steps
      at%newest = from
    end if
  end function

  function add_up(first, last, value, context) bind(c) result(code)
    integer(c_int64_t), value :: first, last
    real(c_double), intent(inout) :: value
    type(c_ptr), value :: context
    integer(c_int) :: code
    type(rod_state), pointer :: at
    call c_f_pointer(context, at)
    value = value + sum(at%x(first:last - 1, at%newest))
    code = 0
  end function

end module rod

program smoothing
  use, intrinsic :: iso_c_binding
  use lockstep
  use rod
  implicit none

  integer, parameter :: n = 102
  type(c_ptr) :: team
  type(rod_state), target :: state
  real(c_double) :: sum

  allocate (state%x(n, 2))
  state%x = 0
  state%x(1, :) = 1
  state%tolerance = 1e-7_c_double
  call lockstep_check(lockstep_team_create(team))  ! one member per usable CPU
  call lockstep_check(lockstep_team_run(team, smooth, c_loc(state)))
  sum = 0
  call lockstep_check(lockstep_team_reduce(team, 1_c_int64_t, n + 1_c_int64_t, lockstep_sum, add_up, sum, c_loc(state)))
  print "(i0, a, f0.6)", state%steps, " steps, sum ", sum
  call lockstep_check(lockstep_team_destroy(team))
end program smoothing
