# SPDX-License-Identifier: MIT
# Run in a clean root by ./do packages debian: the packages installed, used and removed. In /lockstep are they and a program.
set -eux
cd /lockstep
dpkg -i liblockstep*.deb

# Without the package of the command, and then with it.
for components in '' 'COMPONENTS compiled shared header_only c tool openmp'; do
  mkdir -p "asks$components"
  cat >"asks$components/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.22)
project(asks LANGUAGES CXX)
find_package(lockstep CONFIG REQUIRED $components)
add_executable(program ../consumer/program.cpp ../consumer/second_unit.cpp)
target_link_libraries(program PRIVATE lockstep::lockstep)
END
  cmake -G Ninja -S "asks$components" -B "asks$components/build"
  cmake --build "asks$components/build"
  "asks$components/build/program"
  dpkg -i lockstep_*.deb
done

c++ -std=c++11 consumer/*.cpp $(pkg-config --cflags --libs lockstep) -o shared
./shared
ldd ./shared | grep liblockstep.so
c++ -std=c++11 consumer/*.cpp $(pkg-config --cflags lockstep) -l:liblockstep.a -o static
./static
c++ -std=c++11 consumer/*.cpp $(pkg-config --cflags --libs lockstep-header-only) -o headers
./headers

printf '#include <lockstep.h>\n#include <stdio.h>\nint main(void) { return puts(lockstep_version()) < 0; }\n' >c.c
cc -std=c99 c.c $(pkg-config --cflags --libs lockstep-c) -o c
./c

# A team, a region with barriers and a reduction, from C: with the shared library, and with the static one.
cc -std=c99 smoothing.c $(pkg-config --cflags --libs lockstep-c) -lm -o smoothing
ldd smoothing | grep liblockstep_c.so.1
./smoothing | grep '^[0-9]* steps, sum 50\.99'
cc -std=c99 -DLOCKSTEP_C_STATIC smoothing.c $(pkg-config --cflags lockstep-c) -l:liblockstep_c.a -l:liblockstep.a \
  -lstdc++ -lm -o smoothing_static
./smoothing_static | grep '^[0-9]* steps, sum 50\.99'

# The command, and an OpenMP program on lockstep.
lockstep --help
printf '#include <omp.h>\nint main() { int n = 0;\n#pragma omp parallel reduction(+ : n)\nn = 1;\nreturn n != 3; }\n' >omp.cpp
c++ -fopenmp omp.cpp -o omp
OMP_NUM_THREADS=3 lockstep run -v -- ./omp

dpkg -r lockstep liblockstep-dev liblockstep-c1 liblockstep0.9
test ! -e /usr/include/lockstep
