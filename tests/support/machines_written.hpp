// SPDX-License-Identifier: MIT
// tests/support/machines_written.hpp -- machines of which there was no recording, written after what others have published
//
// Of each, `after` names the source. Where a source does not tell a number (the capacity of a core), `after` says so. None
// is here whose case a recording shows (machines_recorded.hpp). What these show and no recording does: Intel's lists of
// kinds, kinds within a cache, a last-level cache for each kind, clocks that differ in one kind, SMT8, several nodes in a
// package whose L2 is the last cache, an L2 of each core as the last one.
// Files cost time: of large machines the caches below the last one are left out. The lines: known_machines.hpp.
#pragma once

namespace lockstep::test {

inline constexpr const char* machines_written = R"(
machine ryzen_7950x3d
after an AMD Ryzen 9 7950X3D: 2 chiplets of 8 cores, the first with a larger cache and a lower clock: lscpu
package 0 0-31
core 0,16 +1 x16
cache 1 Data 0,16 +1 x16
cache 1 Instruction 0,16 +1 x16
cache 2 Unified 0,16 +1 x16
cache 3 Unified 0-7,16-23
cache 3 Unified 8-15,24-31
node 0 0-31
clock 5250000 0-7,16-23
clock 5750000 8-15,24-31

machine alder_lake
after an Intel Core i9-12900K: 8 P-cores with SMT, 8 E-cores in clusters of 4: Intel's data sheet, lscpu
package 0 0-23
core 0-1 +2 x8
core 16 +1 x8
cache 1 Data 0-1 +2 x8
cache 1 Data 16 +1 x8
cache 1 Instruction 0-1 +2 x8
cache 1 Instruction 16 +1 x8
cache 2 Unified 0-1 +2 x8
cache 2 Unified 16-19 +4 x2
cache 3 Unified 0-23
node 0 0-23
hybrid core 0-15
hybrid atom 16-23
clock 5100000 0-15
clock 3900000 16-23

machine dgx_spark
after an NVIDIA DGX Spark (GB10): two caches with 5 big and 5 little cores each, package 36: hwloc's test nvidia-dgx-gb10; the capacities are ours
package 36 0-19
core 0 +1 x20
cache 1 Data 0 +1 x20
cache 1 Instruction 0 +1 x20
cache 2 Unified 0 +1 x20
cache 3 Unified 0-9 +10 x2
node 0 0-19
capacity 718 0-4,10-14
capacity 1024 5-9,15-19

machine rk3399
after a Rockchip RK3399 (4 Cortex-A53, 2 Cortex-A72): big.LITTLE with a cache for each kind: Linux' rk3399.dtsi
package 0 0-5
core 0 +1 x6
cache 1 Data 0 +1 x6
cache 1 Instruction 0 +1 x6
cache 2 Unified 0-3
cache 2 Unified 4-5
capacity 381 0-3
capacity 1024 4-5

machine power8_smt8
after an IBM S822LC: 2 POWER8 of 10 cores, SMT8, nodes 0 and 8, a cache for each core: numactl, ppc64_cpu
package 0 0-79
package 8 80-159
core 0-7 +8 x20
cache 3 Unified 0-7 +8 x20
node 0 0-79
node 8 80-159

machine a64fx
after a Fujitsu PRIMEHPC FX700: 4 groups of 12 cores, each a node, whose L2 is the last cache: A64FX Microarchitecture Manual
package 0 0-47
core 0 +1 x48
cache 2 Unified 0-11 +12 x4
node 0 0-11 +12 x4

machine altra
after an Ampere Altra Q80-30, whose system cache /sys does not show: each core has its own L2: lscpu
package 0 0-79
core 0 +1 x80
cache 2 Unified 0 +1 x80
node 0 0-79
)";

}  // namespace lockstep::test
