/* SPDX-License-Identifier: MIT
 * What the page on the C interface calls program.c. */
#include <lockstep.h>

int main(void) { return lockstep_c_version() == 0; }
