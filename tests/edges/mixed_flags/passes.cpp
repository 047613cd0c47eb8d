// SPDX-License-Identifier: MIT
// tests/edges/mixed_flags/passes.cpp -- two units that pass an object of the library; a program if their flags agree
#include <lockstep/mutex.hpp>

void use(lockstep::mutex& mutex);

#if defined(USES)
void use(lockstep::mutex& mutex) {
  mutex.lock();
  mutex.unlock();
}
#else
int main() {
  lockstep::mutex mutex;
  use(mutex);
}
#endif
