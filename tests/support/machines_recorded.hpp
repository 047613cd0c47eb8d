// SPDX-License-Identifier: MIT
// tests/support/machines_recorded.hpp -- facts about real machines, from recordings of their /sys
//
// The recordings are test data in the source packages of hwloc (BSD licence), util-linux (GPL) and ghw (Apache licence):
// archives of /sys, made on the machines by their users. `source` names version and archive of each. No file of them is
// here, only facts, read from them once: which CPUs share what, and by which name of a file the machine tells it; and
// the sizes of the groups that the package states (`said`), in its own output beside the archive or /proc/cpuinfo in it,
// not in the recording. Of machines with more than 64 CPUs only the last cache is here. The lines: known_machines.hpp.
#pragma once

namespace lockstep::test {

inline constexpr const char* machines_recorded = R"(
machine magny_cours_sparse
recorded 4 AMD Opteron of 12 cores, engineering samples: gaps between the numbers of nodes
source hwloc 2.9.0, tests/hwloc/linux/48amd64-4d2n6c-sparse.tar.bz2; said by lstopo's output beside it
usable 0-47
package 0 0-11 +12 x4
file core thread_siblings_list
core 0 +1 x48
cache 1 Data 0 +1 x48
cache 1 Instruction 0 +1 x48
cache 2 Unified 0 +1 x48
cache 3 Unified 0-5 +6 x8
node 0 0-5 +6 x3
node 33 18-23 +6 x2
node 45 30-35
node 72 36-41 +6 x2
clock 1700000 0-47
said packages 4x12
said cores 48x1
said caches 8x6
said nodes 8x6

machine xeon_offline
recorded 4 Intel Xeon of 2 cores, SMT on, 4 CPUs offline; /sys of 2006 has masks and no lists
source hwloc 2.9.0, tests/hwloc/linux/16em64t-4s2c2t-offlines.tar.bz2; said by lstopo's output beside it
usable 0-15:3,1-10:3,8,11
package 0 0-12:4
package 1 1,9
package 3 3-15:4
package 2 6,10
file core thread_siblings
core 0,8 +1 x2
core 3,11 +1 x2
core 6
core 7,15
core 10
file cache shared_cpu_map
cache 1 Data 0,8 +1 x2
cache 1 Data 3,11 +1 x2
cache 1 Data 6
cache 1 Data 7,15
cache 1 Data 10
cache 2 Unified 0,8 +1 x2
cache 2 Unified 3,11 +1 x2
cache 2 Unified 6
cache 2 Unified 7,15
cache 2 Unified 10
cache 3 Unified 0-12:4
cache 3 Unified 1,9
cache 3 Unified 3-15:4
cache 3 Unified 6,10
file node cpumap
node 0 0-15
said packages 2x2,2x4
said cores 2x1,5x2
said caches 2x2,2x4
said nodes 1x12

machine dunnington
recorded 16 Intel Xeon of 6 cores, 4 to a node, pairs of cores with an L2; masks only
source hwloc 2.9.0, tests/hwloc/linux/96em64t-4n4d3ca2co.tar.bz2; said by lstopo's output beside it
usable 0-95
package 1 0-20:4
package 0 1-21:4
package 2 2-22:4 +1 x2
package 4 24-44:4 +1 x4
package 8 48-68:4 +1 x4
package 12 72-92:4 +1 x4
file core thread_siblings
core 0 +1 x96
file cache shared_cpu_map
cache 3 Unified 0-20:4 +1 x4
cache 3 Unified 24-44:4 +1 x4
cache 3 Unified 48-68:4 +1 x4
cache 3 Unified 72-92:4 +1 x4
file node cpumap
node 0 0-23 +24 x4
said packages 16x6
said cores 96x1
said caches 16x6
said nodes 4x24

machine xeon_e5_half
recorded 2 Intel Xeon E5-2680 v3, CPUs 0-3 and 21-23 offline, and node 0
source hwloc 2.9.0, tests/hwloc/linux/offline-cpu0-node0.tar.bz2; said by lstopo's output beside it
usable 4-20
package 0 4-20:2
package 1 5-19:2
file core thread_siblings_list
core 4 +1 x17
cache 1 Data 4 +1 x17
cache 1 Instruction 4 +1 x17
cache 2 Unified 4 +1 x17
cache 3 Unified 0-22:2 +1 x2
node 1 1-23:2
said packages 1x8,1x9
said cores 17x1
said caches 1x8,1x9
said nodes 1x8
read nodes 1x8,1x9 the CPUs of the node that is offline are a group of their own

machine xeon_e5472
recorded 2 Intel Xeon E5472, L2 for pairs of cores; the firmware says of 8 nodes that each has all CPUs
source hwloc 2.9.0, tests/hwloc/linux/8em64t-2s2ca2c-buggynuma.tar.bz2; said by lstopo's output beside it
usable 0-7
package 0 0-6:2 +1 x2
file core thread_siblings_list
core 0 +1 x8
cache 1 Data 0 +1 x8
cache 1 Instruction 0 +1 x8
cache 2 Unified 0,2 +1 x2
cache 2 Unified 4,6 +1 x2
node 0 0-7 +0 x8
said packages 2x4
said cores 8x1
said caches 4x2
said nodes 1x8

machine xeon_x7550
recorded 4 Intel Xeon X7550, SMT on; one node has two sockets
source util-linux 2.42.4, tests/ts/lscpu/dumps/x86_64-64cpu.tar.gz; said by lscpu's output beside it
usable 0-63
package 0 0-60:4
package 2 1-61:4
package 1 2-62:4
package 3 3-63:4
file core thread_siblings_list
core 0,32 +1 x32
cache 1 Data 0,32 +1 x32
cache 1 Instruction 0,32 +1 x32
cache 2 Unified 0,32 +1 x32
cache 3 Unified 0-60:4 +1 x4
file node cpumap
node 0 0-62:2
node 2 1-61:4 +2 x2
clock 1996000 0-63
said packages 4x16
said cores 32x2
said nodes 2x16,1x32
said caches 4x16

machine xeon_l5640
recorded 2 Intel Xeon L5640, SMT on, numbered in turns
source github.com/jaypipes/ghw v0.27.0, testdata/snapshots/linux-amd64-8581cf3a529e5d8b97ea876eade2f60d.tar.gz; said by /proc/cpuinfo in it
usable 0-23
package 1 0-22:2
package 0 1-23:2
core 0,12 +1 x12
cache 1 Data 0,12 +1 x12
cache 1 Instruction 0,12 +1 x12
cache 2 Unified 0,12 +1 x12
cache 3 Unified 0-22:2 +1 x2
node 0 0-22:2 +1 x2
said packages 2x12
said cores 12x2

machine epyc_7451
recorded 2 AMD EPYC 7451 of 24 cores in 8 caches and 4 nodes, SMT on
source util-linux 2.42.4, tests/ts/lscpu/dumps/x86_64-epyc_7451.tar.gz; said by lscpu's output beside it
usable 0-95
package 0 0-23,48-71 +24 x2
file core thread_siblings_list
core 0,48 +1 x48
cache 3 Unified 0-2,48-50 +3 x16
file node cpumap
node 0 0-5,48-53 +6 x8
clock 2300000 0-95
said packages 2x48
said cores 48x2
said nodes 8x12
said caches 16x6

machine ryzen_1600
recorded AMD Ryzen 5 1600: 6 cores in 2 caches, SMT on
source github.com/jaypipes/ghw v0.27.0, testdata/snapshots/linux-amd64-61797caf7c0b6bca1725ad7975ed4773.tar.gz; said by /proc/cpuinfo in it
usable 0-11
package 0 0-11
core 0,6 +1 x6
cache 1 Data 0,6 +1 x6
cache 1 Instruction 0,6 +1 x6
cache 2 Unified 0,6 +1 x6
cache 3 Unified 0-2,6-8 +3 x2
node 0 0-11
said packages 1x12
said cores 6x2

machine opteron_job
recorded 4 AMD Opteron 6134, of which a job's control group has 6 CPUs
source hwloc 2.9.0, tests/hwloc/linux/32amd64-4s2n4c-cgroup2.tar.bz2; said by lstopo's output beside it
usable 0-5
package 0 0-5
file core thread_siblings_list
core 0 +1 x6
cache 1 Data 0 +1 x6
cache 1 Instruction 0 +1 x6
cache 2 Unified 0 +1 x6
cache 3 Unified 0-3 +4 x2
node 0 0-3 +4 x8
clock 2300000 0-5
said packages 1x6
said cores 6x1
said caches 1x2,1x4
said nodes 1x2,1x4

machine core_i7_1270p
recorded Intel Core i7-1270P: 4 P-cores with SMT, 8 E-cores in clusters of 4; the lists of kinds were not recorded
source github.com/jaypipes/ghw v0.27.0, testdata/snapshots/linux-amd64-415ee03b8c4d1c4f07ae2e9d8b3d3d6d.tar.gz; said by /proc/cpuinfo in it
usable 0-15
package 0 0-15
core 0-1 +2 x4
core 8 +1 x8
cache 1 Data 0-1 +2 x4
cache 1 Data 8 +1 x8
cache 1 Instruction 0-1 +2 x4
cache 1 Instruction 8 +1 x8
cache 2 Unified 0-1 +2 x4
cache 2 Unified 8-11 +4 x2
cache 3 Unified 0-15
node 0 0-15
said packages 1x16
said cores 8x1,4x2

machine snapdragon_8_gen_2
recorded Qualcomm Snapdragon 8 Gen 2: 3 Cortex-A510, 2 A710, 2 A715, one X3; its kernel calls clusters packages
source util-linux 2.42.4, tests/ts/lscpu/dumps/arm-A510-A710-A715-X3.tar.gz; said by lscpu's output beside it
usable 0-7
package 0 0-2
package 1 3-6
package 2 7
core 0 +1 x8
cache 1 Data 0 +1 x8
cache 1 Instruction 0 +1 x8
cache 2 Unified 0
cache 2 Unified 1-2
cache 2 Unified 3 +1 x5
cache 3 Unified 0-7
capacity 280 0-2
capacity 855 3-6
capacity 1024 7
clock 2016000 0-2
clock 2803200 3-6
clock 3187200 7
said packages 1x8
said cores 1x1,1x3,1x4
said caches 1x8
read packages 1x1,1x3,1x4 lscpu gives one socket to each kind of core, numbered from 0
read cores 8x1 lscpu counts the cores of each kind from 0

machine exynos_5
recorded Samsung Exynos 5: 2 Cortex-A15; no caches, no nodes
source util-linux 2.42.4, tests/ts/lscpu/dumps/armv7.tar.gz; said by lscpu's output beside it
usable 0-1
package 0 0-1
file core thread_siblings_list
core 0 +1 x2
clock 1700000 0-1
said packages 1x2
said cores 2x1

machine kunpeng_920
recorded 2 HiSilicon Kunpeng 920 of 64 cores in 2 caches, packages 36 and 8442
source hwloc 2.9.0, tests/hwloc/linux/128arm-2pa2n8cluster4co.tar.bz2; said by lstopo's output beside it
usable 0-127
package 36 0-63
package 8442 64-127
core 0 +1 x128
cache 3 Unified 0-31 +32 x4
node 0 0-31 +32 x4
capacity 1024 0-127
said packages 2x64
said cores 128x1
said caches 4x32
said nodes 4x32

machine power9_gpus
recorded IBM AC922: 2 POWER9, SMT4, 32 of 176 CPUs, caches for pairs of cores told as masks, 6 nodes of GPU memory
source hwloc 2.9.0, tests/hwloc/linux/nvidiagpunumanodes.tar.bz2; said by lstopo's output beside it
usable 0-15,88-103
package 0 0-15
package 8 88-103
file core thread_siblings_list
core 0-3 +4 x4
core 88-91 +4 x4
file cache shared_cpu_map
cache 1 Data 0-3 +4 x4
cache 1 Data 88-91 +4 x4
cache 1 Instruction 0-3 +4 x4
cache 1 Instruction 88-91 +4 x4
cache 2 Unified 0-7 +8 x2
cache 2 Unified 88-95 +8 x2
cache 3 Unified 0-7 +8 x2
cache 3 Unified 88-95 +8 x2
node 0 0-87
node 8 88-175
memory 250
memory 251
memory 252
memory 253
memory 254
memory 255
said packages 2x16
said cores 8x4
said caches 4x8
said nodes 2x16

machine power7_780
recorded IBM Power 780: 64 POWER7 cores, SMT4, nodes with gaps, packages without numbers
source hwloc 2.9.0, tests/hwloc/linux/256ppc-8n8s4t.tar.bz2; said by lstopo's output beside it
usable 0-255
file core thread_siblings_list
core 0-3 +4 x64
file cache shared_cpu_map
cache 3 Unified 0-3 +4 x64
file node cpumap
node 0 0-31 +32 x2
node 4 64-95 +32 x2
node 8 128-159 +32 x2
node 12 192-223 +32 x2
said packages 64x4
said cores 64x4
said caches 64x4
said nodes 8x32
read packages 1x256 hwloc takes what /sys calls siblings of a core for a package; there is no number

machine power7_guest
recorded partition of an IBM Power 750: 4 POWER7 cores, SMT4; only first-level caches are told
source util-linux 2.42.4, tests/ts/lscpu/dumps/ppc64-POWER7.tar.gz; said by lscpu's output beside it
usable 0-15
file core thread_siblings_list
core 0-3 +4 x4
file cache shared_cpu_map
cache 1 Data 0-3 +4 x4
cache 1 Instruction 0-3 +4 x4
file node cpumap
node 0 0-15
said packages 4x4
said cores 4x4
said nodes 1x16
said caches 4x4
read packages 1x16 lscpu takes what /sys calls siblings of a core for a package; there is no number

machine z196_partition
recorded partition of an IBM z196, CPUs 0, 6 and 7 offline; no caches, no nodes
source util-linux 2.42.4, tests/ts/lscpu/dumps/s390-lpar.tar.gz; said by lscpu's output beside it
usable 1-5,8-19
file core thread_siblings_list
core 1 +1 x5
core 8 +1 x12
said packages 2x1,1x2,3x3,1x4
said cores 17x1
read packages 1x17 lscpu goes by lists of siblings; there is no number

machine z16
recorded IBM z16, 4 cores, SMT2
source github.com/jaypipes/ghw v0.27.0, testdata/snapshots/linux-s390x-snapshot.tar.gz; said by /proc/cpuinfo in it
usable 0-7
package 2 0-7
core 0-1 +2 x4
cache 1 Data 0 +1 x8
cache 1 Instruction 0 +1 x8
cache 2 Unified 0-7
node 0 0-7
said packages 1x8
said cores 4x2

machine milkv_pioneer
recorded Milk-V Pioneer: 64 RISC-V cores, 4 nodes in turns of 8; no caches
source util-linux 2.42.4, tests/ts/lscpu/dumps/rv64-milkvpioneer.tar.gz; said by lscpu's output beside it
usable 0-63
package 0 0-63
core 0 +1 x64
file node cpumap
node 0 0-7,16-23 +8 x2
node 2 32-39,48-55 +8 x2
capacity 1024 0-63
said packages 1x64
said cores 64x1
said nodes 4x16

machine ultra_sparc
recorded 6 UltraSPARC II, CPUs 6, 7, 10, 11, 14, 15; no cache directories, no nodes
source util-linux 2.42.4, tests/ts/lscpu/dumps/sparc64.tar.gz; said by lscpu's output beside it
usable 6-7,10-11,14-15
file core thread_siblings_list
core 6 +1 x2
core 10 +1 x2
core 14 +1 x2
said packages 6x1
said cores 6x1
said caches 6x1
read packages 1x6 lscpu goes by lists of siblings; there is no number
read caches 1x6 lscpu reads them elsewhere (l2_cache_size)

machine loongson_guest
recorded guest of KVM on a Loongson 3C6000: each of its 32 CPUs a package, one cache for all
source util-linux 2.42.4, tests/ts/lscpu/dumps/loongarch-kvm_on_loongson_3c6000.tar.gz; said by lscpu's output beside it
usable 0-31
package 0 0 +1 x32
core 0 +1 x32
cache 1 Instruction 0 +1 x32
cache 1 Data 0 +1 x32
cache 2 Unified 0 +1 x32
cache 3 Unified 0-31
file node cpumap
node 0 0-31
said packages 32x1
said cores 32x1
said nodes 1x32
said caches 1x32
)";

}  // namespace lockstep::test
