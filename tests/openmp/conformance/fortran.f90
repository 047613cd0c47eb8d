! SPDX-License-Identifier: MIT
! fortran.f90 -- the constructs of OpenMP as gfortran compiles them, with workshare, which C has not. What it calls is what
! GCC calls for C.
module checks
  implicit none
  integer :: failures = 0
contains
  subroutine check(is_so, line)
    logical, intent(in) :: is_so
    integer, intent(in) :: line
    if (is_so) return
    !$omp atomic
    failures = failures + 1
    print '(a,i0)', 'fortran.f90: not so, line ', line
  end subroutine
end module

program constructs
  use omp_lib
  use checks
  implicit none
  call shares
  call orders
  call tasks
  if (failures > 0) then
    print '(a)', 'FAILED'
    stop 1
  end if
  print '(a)', 'done'

contains

  subroutine shares
    integer :: ran(3), copied, wrong, i, critical_sum, masters
    real(8) :: matrix(20, 20), other(20, 20)
    ran = 0; wrong = 0; critical_sum = 0; masters = 0
    !$omp parallel private(copied, i) reduction(+: wrong) num_threads(4)
    do i = 1, 20
      !$omp sections
      !$omp section
      ran(1) = ran(1) + 1
      !$omp section
      ran(2) = ran(2) + 1
      !$omp section
      ran(3) = ran(3) + 1
      !$omp end sections
      !$omp single
      copied = 10 * i
      !$omp end single copyprivate(copied)
      if (copied /= 10 * i) wrong = wrong + 1
      !$omp critical(one_name)
      critical_sum = critical_sum + 1
      !$omp end critical(one_name)
      !$omp critical
      critical_sum = critical_sum + 0
      !$omp end critical
      !$omp master
      masters = masters + 1
      !$omp end master
    end do
    !$omp workshare
    matrix = 1.5d0
    other = matrix * 2
    where (other > 2) matrix = other
    !$omp end workshare
    !$omp end parallel
    call check(all(ran == 20) .and. wrong == 0 .and. critical_sum == 80 .and. masters == 20, __LINE__)
    call check(all(matrix == 3), __LINE__)
    !$omp parallel workshare num_threads(3)
    forall (i = 1:20) matrix(i, :) = i
    !$omp end parallel workshare
    call check(sum(matrix) == 4200, __LINE__)
    print '(a,3i6)', 'shares', sum(ran), critical_sum, masters
  end subroutine

  subroutine orders
    integer :: i, j, length, sequence(100), wave(12, 12), n
    length = 0
    !$omp parallel do ordered schedule(dynamic)
    do i = 1, 100
      !$omp ordered
      length = length + 1
      sequence(length) = i
      !$omp end ordered
    end do
    call check(all(sequence == [(i, i = 1, 100)]), __LINE__)
    wave = 1
    n = 12
    !$omp parallel do ordered(2) schedule(dynamic) shared(wave, n)
    do i = 2, n
      do j = 2, n
        !$omp ordered depend(sink: i - 1, j) depend(sink: i, j - 1)
        wave(i, j) = mod(wave(i - 1, j) + wave(i, j - 1), 10007)
        !$omp ordered depend(source)
      end do
    end do
    call check(wave(12, 12) == mod(705432, 10007), __LINE__)
    print '(a,2i6)', 'orders', length, wave(12, 12)
  end subroutine

  recursive integer function fibonacci(n) result(value)
    integer, intent(in) :: n
    integer :: a, b
    value = n
    if (n < 2) return
    !$omp task shared(a) if(n > 6)
    a = fibonacci(n - 1)
    !$omp end task
    !$omp task shared(b) if(n > 6)
    b = fibonacci(n - 2)
    !$omp end task
    !$omp taskwait
    value = a + b
  end function

  subroutine tasks
    integer :: i, value, chain, row(50)
    value = 0; chain = 0; row = 0
    !$omp parallel num_threads(4)
    !$omp single
    value = fibonacci(15)
    do i = 1, 20
      !$omp task depend(inout: chain) firstprivate(i) shared(chain)
      if (chain == i - 1) chain = i
      !$omp end task
    end do
    !$omp taskloop grainsize(3) shared(row)
    do i = 1, 50
      row(i) = i
    end do
    !$omp end single
    !$omp end parallel
    call check(value == 610 .and. chain == 20 .and. sum(row) == 1275, __LINE__)
    print '(a,2i6)', 'tasks', value, chain
  end subroutine
end program
