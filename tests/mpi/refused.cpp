// SPDX-License-Identifier: MIT
// tests/mpi/refused.cpp -- types that do not go from rank to rank: REFUSED=<case> does not compile, and says why
#include <lockstep/mpi.hpp>

#include <string>

namespace {

struct large {
  double words[57];
};
struct alignas(32) aligned {
  double word;
};
template <class Type>
struct first_of {
  Type operator()(const Type& a, const Type&) const { return a; }
};
template <class Type>
void reduce(lockstep::mpi::world& world, lockstep::team& team) {
  world.run(team, [&](lockstep::member& me) {
    world.reduce_each(me, 0, 10, Type(), [](int) { return Type(); }, first_of<Type>());
  });
}

}  // namespace

void use(lockstep::mpi::world& world, lockstep::team& team);
void use(lockstep::mpi::world& world, lockstep::team& team) {
  reduce<double>(world, team);
#if REFUSED == 1
  reduce<std::string>(world, team);
#elif REFUSED == 2
  reduce<large>(world, team);
#elif REFUSED == 3
  reduce<aligned>(world, team);
#endif
}
