/* SPDX-License-Identifier: MIT
 * lockstep.h -- the C interface of lockstep, which coordinates CPU threads at sub-microsecond grain
 *
 * C99, and C++. Link with lockstep_c. docs/languages.md shows how to use it; the same functions serve other languages.
 *
 * What every function returns, unless it says otherwise, is a code:
 *   0          LOCKSTEP_OK: done
 *   negative   one of LOCKSTEP_STOPPED ... LOCKSTEP_ERROR_EXCEPTION below; lockstep_last_error() has a text
 *   positive   what a callback of yours has returned, handed on unchanged
 *
 * Callbacks of regions, loops, reductions and nodes return an int, and that is how they fail:
 *   0          go on
 *   positive   yours: the region, loop or run ends early, and the function that began it returns this number. Of several
 *              members the one of the lowest rank counts
 *   negative   the code of a function of this header, handed on: `if ((code = lockstep_member_sync_threads(me))) return code;`
 *              ends the region in the same way, with the text of that failure. LOCKSTEP_STOPPED only ends this member's
 *              part, and stops the region if it was not stopped yet
 *
 * No C++ exception leaves a function of this header. If a callback is C++ and throws, the exception is caught, ends the
 * region, loop or run as a positive result does, and becomes LOCKSTEP_ERROR_EXCEPTION with its text. A callback must not
 * be left by longjmp.
 *
 * Handles are opaque. A null handle, a null callback and a number out of range are refused with a code and a text, and
 * nothing has changed then. A handle that was destroyed must not be used. Each _destroy function accepts null.
 *
 * The binary interface only grows: a program runs with every later liblockstep_c of the same major version.
 *
 * Context pointers are handed to the callback as they are, and may be null. The callback may run on any thread of the
 * team, on several at once. What happens before a call of run, a loop or a reduction happens before each of its callbacks;
 * those happen before its return. Callbacks and what they point to are not used after that.
 */
#ifndef LOCKSTEP_C_LOCKSTEP_H
#define LOCKSTEP_C_LOCKSTEP_H

#include <stddef.h>
#include <stdint.h>

/* The version of this interface: the minor number grows with each function that is added; the major one with a change
 * that breaks programs, and with it the name of the library changes. */
#define LOCKSTEP_C_VERSION_MAJOR 1
#define LOCKSTEP_C_VERSION_MINOR 1
#define LOCKSTEP_C_VERSION (LOCKSTEP_C_VERSION_MAJOR * 1000 + LOCKSTEP_C_VERSION_MINOR)

/* On Windows a program that links the static library defines LOCKSTEP_C_STATIC. */
#if defined(_WIN32) && defined(LOCKSTEP_C_BUILDS_LIBRARY)
#define LOCKSTEP_C_API __declspec(dllexport)
#elif defined(_WIN32) && !defined(LOCKSTEP_C_STATIC)
#define LOCKSTEP_C_API __declspec(dllimport)
#elif defined(__GNUC__) && defined(LOCKSTEP_C_BUILDS_LIBRARY)
#define LOCKSTEP_C_API __attribute__((visibility("default")))
#else
#define LOCKSTEP_C_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- codes and errors ------------------------------------------------------------------------------------------- */

enum {
  LOCKSTEP_OK = 0,
  /* No failures: how something ended. They leave the text of lockstep_last_error() as it was. */
  LOCKSTEP_STOPPED = -1,    /* the region, loop or run was ended early by a request to stop */
  LOCKSTEP_TIMED_OUT = -2,  /* what the thread waited for has not happened in time; nothing was taken */
  LOCKSTEP_TERMINATED = -3, /* the event was terminated: no wait on it blocks any more */
  LOCKSTEP_BUSY = -4,       /* a try function: not to be had now */
  /* Failures, with a text. */
  LOCKSTEP_ERROR_ARGUMENT = -16, /* null, or a number that is out of range */
  LOCKSTEP_ERROR_RANK = -17,     /* a rank that the team does not have */
  LOCKSTEP_ERROR_USE = -18,      /* not allowed here or now: for instance inside a region, or while others use it */
  LOCKSTEP_ERROR_GRAPH = -19,    /* the graph makes no sense; the text names the nodes */
  LOCKSTEP_ERROR_MEMORY = -20,   /* out of memory */
  LOCKSTEP_ERROR_SYSTEM = -21,   /* the system refused, for instance to start a thread or to write a file */
  LOCKSTEP_ERROR_EXCEPTION = -22 /* a C++ exception of a callback, or one that no other code fits */
};

/* The text of the last failure on the calling thread: cause and remedy, in English, without a newline; "" before the
 * first. Successes do not change it. Valid until the next failure on this thread, or the thread's end. Never null.
 * Where run, a loop or a plan returns what a callback has returned, it says which function and which number.
 * Cost: a thread-local address. */
LOCKSTEP_C_API const char* lockstep_last_error(void);

/* The name of a code as it stands above, "LOCKSTEP_OK"; "callback result" for a positive one, "unknown code" for
 * others. Lives for ever. */
LOCKSTEP_C_API const char* lockstep_code_name(int code);

/* Functions that give a text take a buffer, as snprintf does:
 *   buffer     receives at most capacity - 1 bytes and a zero; may be null if capacity is 0
 *   length     if it is not null: the length of the whole text without the zero, also where it was cut
 * They return LOCKSTEP_OK also where the text was cut. */

/* ---- version and surroundings ----------------------------------------------------------------------------------- */

/* LOCKSTEP_C_VERSION of the library that is loaded. The library fits this header if the major numbers are equal and this
 * number is not smaller than the header's. */
LOCKSTEP_C_API int lockstep_c_version(void);

/* The version of lockstep, for instance "0.9.0". Lives for ever. */
LOCKSTEP_C_API const char* lockstep_version(void);

/* How the library was built, and what it found on this machine, in lines "name: value\n". */
LOCKSTEP_C_API int lockstep_build_info(char* buffer, size_t capacity, size_t* length);

/* On how many CPUs the process may run: affinity, cut by a container's quota; at least 1. As it was when first asked. */
LOCKSTEP_C_API size_t lockstep_usable_cpus(void);

/* ---- how threads wait ------------------------------------------------------------------------------------------- */

/* A policy is one of these numbers, or a positive number of nanoseconds: a waiting thread spins for so long before it
 * sleeps (at most 0.53 s; more is cut). */
#define LOCKSTEP_POLICY_UNSET INT64_C(0)     /* not said: of a team the environment decides, else adaptive */
#define LOCKSTEP_POLICY_ADAPTIVE INT64_C(-1) /* spins for at most 2 us where that pays, then yields, then sleeps */
#define LOCKSTEP_POLICY_SPIN INT64_C(-2)     /* never enters the kernel: for one thread per CPU that you own alone */
#define LOCKSTEP_POLICY_BLOCK INT64_C(-3)    /* sleeps at once */

/* Times are nanoseconds. A time-out of 0 or less means: look, do not wait. */
#define LOCKSTEP_FOREVER INT64_MAX

/* For languages that handle signals on one thread. While the calling thread waits in a function of this header, it
 * calls `poll` after each `nanoseconds` (1 or more) of the wait. It does not call it while it computes, nor in a call
 * from `poll`. `poll` may request a stop, which ends waits in a region; it may call no other construct of a member.
 * Null switches it off. The setting is for the calling thread alone. Since 1.1. */
typedef void (*lockstep_poll_fn)(void* context);
LOCKSTEP_C_API int lockstep_poll_while_waiting(int64_t nanoseconds, lockstep_poll_fn poll, void* context);

/* ---- teams ------------------------------------------------------------------------------------------------------ */

/* Threads that start once and then run regions and loops together. The calling thread is member 0. */
typedef struct lockstep_team lockstep_team;

/* A member of a region. Valid for the callback that was given it, on its thread, until the callback returns. */
typedef struct lockstep_member lockstep_member;

/* For options. 0 is "not set": then the environment (LOCKSTEP_...) decides, or else the default. */
enum { LOCKSTEP_UNSET = 0, LOCKSTEP_YES = 1, LOCKSTEP_NO = 2 };

enum {
  LOCKSTEP_BIND_UNSET = 0,
  LOCKSTEP_BIND_NONE = 1,   /* members run where the system puts them */
  LOCKSTEP_BIND_CLOSE = 2,  /* as near as possible, a core's hyper-threads first: for members that share data */
  LOCKSTEP_BIND_SPREAD = 3, /* as far apart as possible: for members that need memory bandwidth */
  LOCKSTEP_BIND_CPUS = 4,   /* rank i on cpus[i % cpu_count]. ERROR_ARGUMENT for a CPU that the process may not use */
  LOCKSTEP_BIND_CORES = 5   /* on neighbouring cores, one member on each before any has two */
};

/* Called by on_start and on_exit. It cannot fail: an exception in it ends the program. */
typedef void (*lockstep_hook)(size_t rank, void* context);

/* How a team is made. Begin with `lockstep_team_options options = LOCKSTEP_TEAM_OPTIONS_INIT;`, which sets nothing, or
 * with lockstep_team_options_init(). Later versions add fields at the end; `size` tells the library which fields there
 * are. */
typedef struct lockstep_team_options {
  size_t size;            /* sizeof(lockstep_team_options) */
  size_t members;         /* with the caller, 1 to 65536; 0: one per usable CPU */
  int64_t policy;         /* a LOCKSTEP_POLICY_, or nanoseconds to spin */
  const char* name;       /* in debuggers and messages; null: "lockstep". Copied */
  const unsigned* cpus;   /* for LOCKSTEP_BIND_CPUS: numbers of the system. Copied */
  size_t cpu_count;       /* how many, 1 to 65536 */
  int32_t bind;           /* a LOCKSTEP_BIND_ */
  int32_t anticipate;     /* workers learn when the next region is due, and poll shortly before: yes */
  int32_t learn;          /* loops learn their costs, and run on as many members as pay: yes */
  int32_t cpu_separation; /* a worker moves if it shares its CPU with a member that it waits for: yes */
  int32_t ledger;         /* counts who waits where and for whom, 20 to 30 ns a construct: no */
  int32_t reserved;       /* 0 */
  lockstep_hook on_start; /* on each thread that the team starts, before its first region; null: none */
  lockstep_hook on_exit;  /* and after its last one */
  void* hook_context;     /* for both; must live as long as the team */
} lockstep_team_options;

#define LOCKSTEP_TEAM_OPTIONS_INIT \
  { sizeof(lockstep_team_options), 0, LOCKSTEP_POLICY_UNSET, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL }

/* Sets no option, for languages without initialisers. Pass sizeof(lockstep_team_options). ERROR_ARGUMENT if that is
 * less than version 1.0 has. A program with later fields runs with this library as long as it sets none of them. */
LOCKSTEP_C_API int lockstep_team_options_init(lockstep_team_options* options, size_t size);

/* Makes a team and starts its threads. `options` may be null. `*team` is null unless the result is LOCKSTEP_OK.
 * Errors: ERROR_ARGUMENT for a bad number or an unknown choice; ERROR_SYSTEM if a thread cannot be started.
 * Cost: starts members - 1 threads, some 20 us each; keep teams. */
LOCKSTEP_C_API int lockstep_team_create(const lockstep_team_options* options, lockstep_team** team);

/* Ends the team and its threads. First waits for a region that another thread runs. Requires: no thread uses the team
 * any more. ERROR_USE, and nothing has changed: inside a region of it or of a team that was made later, if a plan on it
 * lives, and for the default team, which is never destroyed. */
LOCKSTEP_C_API int lockstep_team_destroy(lockstep_team* team);

/* One team for all parts of the process. The first call makes it, as the environment says. Never destroyed. */
LOCKSTEP_C_API int lockstep_default_team(lockstep_team** team);

/* How many members it has, the caller among them; 0 of a null team. */
LOCKSTEP_C_API size_t lockstep_team_size(const lockstep_team* team);

/* The function of a region. See the top of this file for what it returns. */
typedef int (*lockstep_region_fn)(lockstep_member* me, void* context);

/* Calls function(me, context) once on every member, the caller being rank 0; returns when all have returned.
 * Outside threads that call it together are served in turn. Inside a region of the same team it runs the function on the
 * caller alone, as the only member. In a region of another team it waits for its turn if that team was made before this
 * one; else, if this one is busy, it runs on the caller alone as well.
 * Returns LOCKSTEP_OK; LOCKSTEP_STOPPED; or what a callback returned, of the lowest rank. The team stays usable.
 * Order: what happens before the call happens before every callback, and every callback before the return.
 * Cost: two members that are awake and have a CPU each: two line transfers, some 0.1 us. Allocates nothing. */
LOCKSTEP_C_API int lockstep_team_run(lockstep_team* team, lockstep_region_fn function, void* context);

/* The same on the first `members` members. ERROR_ARGUMENT if that is 0 or more than the team has. */
LOCKSTEP_C_API int lockstep_team_run_on(lockstep_team* team, size_t members, lockstep_region_fn function, void* context);

/* Ends the region that runs, if one does; any thread may call it. Members that wait are released, and constructs return
 * LOCKSTEP_STOPPED. A callback that computes asks lockstep_member_stop_requested(). */
LOCKSTEP_C_API int lockstep_team_request_stop(lockstep_team* team);

/* Gives the threads back to the system, until resume or the next region. ERROR_USE inside a region. */
LOCKSTEP_C_API int lockstep_team_pause(lockstep_team* team);
/* Starts the threads again at once. ERROR_USE inside a region; ERROR_SYSTEM if a thread cannot be started. */
LOCKSTEP_C_API int lockstep_team_resume(lockstep_team* team);

/* ---- loops and reductions that are a region by themselves ------------------------------------------------------- */

/* How iterations are handed out; `chunk` has this meaning: */
enum {
  LOCKSTEP_STATIC = 0,        /* one block per member. Chunk: the least length of a block, 0: to be learned */
  LOCKSTEP_STATIC_CHUNKS = 1, /* chunks in turn, of this length, 1 or more */
  LOCKSTEP_DYNAMIC = 2,       /* a chunk of this length, 1 or more, to each member that asks: for uneven work */
  LOCKSTEP_GUIDED = 3         /* chunks that shrink, of this length or more, 1 or more */
};

/* Runs the iterations first to last - 1. The parts make up the range, each index is in one of them, and no part is
 * empty. */
typedef int (*lockstep_block_fn)(int64_t first, int64_t last, void* context);

/* Calls function(part_first, part_last, context) for parts of [first, last). A range with last <= first is empty. It
 * uses as many members as pay: it learns what the iterations of a callback cost (by its address), and runs a loop that
 * is too short for two members on the caller alone. So parts must not wait for each other; lockstep_team_run is for
 * that. Inside a region of the same team the loop runs on the caller alone. Returns LOCKSTEP_OK; LOCKSTEP_STOPPED; or
 * what a callback returned, of the lowest part. Then parts that have not begun are left out. Order: as
 * lockstep_team_run. Cost: alone 10 to 20 ns; with members an empty region and a claim of 6 ns by each. */
LOCKSTEP_C_API int lockstep_team_for_range(lockstep_team* team, int64_t first, int64_t last, lockstep_block_fn function,
                                           void* context);

/* The same with a schedule, LOCKSTEP_STATIC ... and its chunk. If the schedule has chunks, each is a part.
 * ERROR_ARGUMENT for an unknown schedule, and for a chunk of 0 where it has to be 1 or more. */
LOCKSTEP_C_API int lockstep_team_for_range_by(lockstep_team* team, int64_t first, int64_t last, int schedule,
                                              size_t chunk, lockstep_block_fn function, void* context);

/* Operations of reductions. Sums and products of int64 wrap around. Minimum and maximum take the first of equal values;
 * with NaN among them the result has the same bits in every run, but which value it is depends on where NaN stand. */
enum { LOCKSTEP_SUM = 0, LOCKSTEP_PRODUCT = 1, LOCKSTEP_MIN = 2, LOCKSTEP_MAX = 3 };

/* Reduces the iterations first to last - 1 into `*value`, which holds the neutral element of the operation when it is
 * called: 0, 1, the largest and the smallest value of the type (infinity where it has one). */
typedef int (*lockstep_block_double_fn)(int64_t first, int64_t last, double* value, void* context);
typedef int (*lockstep_block_float_fn)(int64_t first, int64_t last, float* value, void* context);
typedef int (*lockstep_block_int64_fn)(int64_t first, int64_t last, int64_t* value, void* context);

/* `*result` = `*result` op (all values of function over parts of [first, last), in order). Before the call `*result`
 * holds the initial value. It changes only if the code is LOCKSTEP_OK and the range is not empty. The parts depend on
 * the length alone, and are combined along a fixed tree: the same bits for every team size and run. Of n iterations a
 * part has up to n / 128, or 64, or n / 1024, whichever is the middle one. Otherwise as lockstep_team_for_range. */
LOCKSTEP_C_API int lockstep_team_reduce_double(lockstep_team* team, int64_t first, int64_t last, int operation,
                                               lockstep_block_double_fn function, void* context, double* result);
LOCKSTEP_C_API int lockstep_team_reduce_float(lockstep_team* team, int64_t first, int64_t last, int operation,
                                              lockstep_block_float_fn function, void* context, float* result);
LOCKSTEP_C_API int lockstep_team_reduce_int64(lockstep_team* team, int64_t first, int64_t last, int operation,
                                              lockstep_block_int64_fn function, void* context, int64_t* result);

/* Reductions of values of any plain type, of 1 to LOCKSTEP_LARGEST_VALUE bytes, aligned as malloc aligns. They are
 * copied as bytes. Values of more than 32 bytes use the heap. */
#define LOCKSTEP_LARGEST_VALUE 65536
/* Writes the value of the iterations first to last - 1 to `*value`, whose bytes are 0 before. */
typedef int (*lockstep_block_value_fn)(int64_t first, int64_t last, void* value, void* context);
/* `*into` = `*into` op `*from`, where into stands before from. Associative. May run on several members at once. A
 * combination cannot fail. */
typedef void (*lockstep_combine_fn)(void* into, const void* from, void* context);

/* `*result` = `*result` op (all values, in order), along the same tree. The context is for both callbacks. */
LOCKSTEP_C_API int lockstep_team_reduce(lockstep_team* team, int64_t first, int64_t last, size_t value_size,
                                        lockstep_block_value_fn function, lockstep_combine_fn combine, void* context,
                                        void* result);

/* ---- members: inside a region ----------------------------------------------------------------------------------- */

/* All members of a region call the constructs that they share (those that wait, loops, single) in the same order, with
 * the same range and schedule. Once the region is stopped no member waits any more: constructs return LOCKSTEP_STOPPED,
 * and the callback of the region should return that. A construct whose callback fails stops the region, and returns the
 * code of the callback: return it from the callback of the region. */

/* From 0 to size - 1; the caller of run is 0. 0 for a null member. */
LOCKSTEP_C_API size_t lockstep_member_rank(const lockstep_member* me);
/* How many members the region has; 0 for a null member. */
LOCKSTEP_C_API size_t lockstep_member_size(const lockstep_member* me);

/* Barrier: blocks until every member has called it as often as this one. What happens before any member's call happens
 * before every return. Cost: 2 members with a CPU each 50 ns; no system call unless somebody sleeps. */
LOCKSTEP_C_API int lockstep_member_sync_threads(lockstep_member* me);

/* Barrier and reduction in one phase: `*result` = the values of all members, combined in the order of ranks; the same on
 * each, and in every run. `*result` is unchanged unless the code is LOCKSTEP_OK. */
LOCKSTEP_C_API int lockstep_member_sync_double(lockstep_member* me, int operation, double value, double* result);
LOCKSTEP_C_API int lockstep_member_sync_float(lockstep_member* me, int operation, float value, float* result);
LOCKSTEP_C_API int lockstep_member_sync_int64(lockstep_member* me, int operation, int64_t value, int64_t* result);
/* How many members passed true (non-zero); whether all did, and whether one did: 1 or 0. */
LOCKSTEP_C_API int lockstep_member_sync_count(lockstep_member* me, int condition, size_t* count);
LOCKSTEP_C_API int lockstep_member_sync_and(lockstep_member* me, int condition, int* all);
LOCKSTEP_C_API int lockstep_member_sync_or(lockstep_member* me, int condition, int* any);
/* `*value` becomes, on every member, the combination of the values of all members, in the order of ranks. `combine` may
 * run on several members at once. All members pass the same size and combine. */
LOCKSTEP_C_API int lockstep_member_sync_reduce(lockstep_member* me, size_t value_size, void* value,
                                               lockstep_combine_fn combine, void* context);
/* `*value` becomes, on every member, the value of member `root`. ERROR_RANK if there is no such member. */
LOCKSTEP_C_API int lockstep_member_broadcast(lockstep_member* me, size_t root, size_t value_size, void* value);

/* The function of single. */
typedef int (*lockstep_single_fn)(void* context);
/* Member 0 calls function(context), which may be before the others have come; they wait until it has returned. Costs a
 * barrier. */
LOCKSTEP_C_API int lockstep_member_single(lockstep_member* me, lockstep_single_fn function, void* context);
/* The first member to come calls it, and no member waits. */
LOCKSTEP_C_API int lockstep_member_single_nowait(lockstep_member* me, lockstep_single_fn function, void* context);

/* The contiguous block of this member, for loops of your own: blocks cover [first, last) in the order of ranks, and their
 * lengths differ by one at most. Waits for nobody. An empty block is first = last. */
LOCKSTEP_C_API int lockstep_member_block(const lockstep_member* me, int64_t first, int64_t last, int64_t* block_first,
                                         int64_t* block_last);
/* Calls function for this member's parts of the range: none, one or several. Then waits for all members (before 1.1 it
 * did not). A chunk means the same as for lockstep_team_for_range_by, but has no meaning for LOCKSTEP_STATIC. */
LOCKSTEP_C_API int lockstep_member_for_range(lockstep_member* me, int64_t first, int64_t last, int schedule, size_t chunk,
                                             lockstep_block_fn function, void* context);
/* The same without the wait. If the next step reads what others wrote, call lockstep_member_sync_threads first. */
LOCKSTEP_C_API int lockstep_member_for_range_nowait(lockstep_member* me, int64_t first, int64_t last, int schedule,
                                                    size_t chunk, lockstep_block_fn function, void* context);

/* As lockstep_team_reduce_double and the others, by all members of the region together. Each gets the result. `*result`
 * has to be the same on all before the call. Waits for all members: one phase. */
LOCKSTEP_C_API int lockstep_member_reduce_double(lockstep_member* me, int64_t first, int64_t last, int operation,
                                                 lockstep_block_double_fn function, void* context, double* result);
LOCKSTEP_C_API int lockstep_member_reduce_float(lockstep_member* me, int64_t first, int64_t last, int operation,
                                                lockstep_block_float_fn function, void* context, float* result);
LOCKSTEP_C_API int lockstep_member_reduce_int64(lockstep_member* me, int64_t first, int64_t last, int operation,
                                                lockstep_block_int64_fn function, void* context, int64_t* result);
LOCKSTEP_C_API int lockstep_member_reduce(lockstep_member* me, int64_t first, int64_t last, size_t value_size,
                                          lockstep_block_value_fn function, lockstep_combine_fn combine, void* context,
                                          void* result);

/* This member has finished `step`, and all before it. Steps only grow; they begin at 0 in every region. */
LOCKSTEP_C_API int lockstep_member_publish(lockstep_member* me, size_t step);
/* Blocks until member `rank` has published `step` or more; what happened before that happens before the return.
 * ERROR_RANK if there is no such member; ERROR_USE for a step of this member's own that it has not published. */
LOCKSTEP_C_API int lockstep_member_await_step(lockstep_member* me, size_t rank, size_t step);

/* 1 once the region is stopped, else 0; 1 for a null member. Cost: a load. */
LOCKSTEP_C_API int lockstep_member_stop_requested(const lockstep_member* me);
/* Ends the region. Then run returns LOCKSTEP_STOPPED. */
LOCKSTEP_C_API int lockstep_member_request_stop(lockstep_member* me);

/* ---- synchronisation objects ------------------------------------------------------------------------------------ */

/* For any threads, not only those of a team. Each is an object on the heap, made with a policy or
 * LOCKSTEP_POLICY_UNSET. _destroy requires that no thread uses the object any more. */

/* One thread tells another that something has happened. Counts: each notification lets one wait return. One notifier at a
 * time, one waiter. Order: what happens before notify happens before the return of the wait that it lets through. */
typedef struct lockstep_event lockstep_event;
LOCKSTEP_C_API int lockstep_event_create(int64_t policy, lockstep_event** event);
LOCKSTEP_C_API void lockstep_event_destroy(lockstep_event* event);
/* Lets one wait return. Requires: fewer than 2^30 notifications pending. Cost: one read-modify-write. */
LOCKSTEP_C_API int lockstep_event_notify(lockstep_event* event);
/* LOCKSTEP_OK, or LOCKSTEP_TERMINATED. */
LOCKSTEP_C_API int lockstep_event_wait(lockstep_event* event);
/* LOCKSTEP_OK, LOCKSTEP_TIMED_OUT or LOCKSTEP_TERMINATED. */
LOCKSTEP_C_API int lockstep_event_wait_for(lockstep_event* event, int64_t nanoseconds);
/* LOCKSTEP_OK; or LOCKSTEP_BUSY if there is no notification, or the event was terminated. */
LOCKSTEP_C_API int lockstep_event_try_wait(lockstep_event* event);
/* From now on every wait returns LOCKSTEP_TERMINATED at once. Any thread may call it. */
LOCKSTEP_C_API int lockstep_event_terminate(lockstep_event* event);

/* Lets one thread at a time through; how often others may overtake a waiting thread is bounded. Not recursive. Order: what
 * happens before an unlock happens before the return of the next lock. */
typedef struct lockstep_mutex lockstep_mutex;
LOCKSTEP_C_API int lockstep_mutex_create(int64_t policy, lockstep_mutex** mutex);
LOCKSTEP_C_API void lockstep_mutex_destroy(lockstep_mutex* mutex);
/* ERROR_USE if the calling thread holds it already. Cost: a read-modify-write and a store if no other wants it. */
LOCKSTEP_C_API int lockstep_mutex_lock(lockstep_mutex* mutex);
/* LOCKSTEP_OK; or LOCKSTEP_BUSY if a thread holds it, even the calling one. */
LOCKSTEP_C_API int lockstep_mutex_try_lock(lockstep_mutex* mutex);
/* LOCKSTEP_OK or LOCKSTEP_TIMED_OUT. ERROR_USE if the calling thread holds it already. */
LOCKSTEP_C_API int lockstep_mutex_lock_for(lockstep_mutex* mutex, int64_t nanoseconds);
/* ERROR_USE, and nothing has changed, if the calling thread does not hold it. */
LOCKSTEP_C_API int lockstep_mutex_unlock(lockstep_mutex* mutex);

/* A gate that opens once, when it has been counted down to 0. Order: what happens before a count_down happens before the
 * return of every wait. */
typedef struct lockstep_latch lockstep_latch;
/* `expected` 0 to 2^31 - 1; open from the start if it is 0. */
LOCKSTEP_C_API int lockstep_latch_create(size_t expected, int64_t policy, lockstep_latch** latch);
LOCKSTEP_C_API void lockstep_latch_destroy(lockstep_latch* latch);
/* Subtracts `n` from the count; never blocks. ERROR_ARGUMENT, and nothing has changed, if the count is below `n`. */
LOCKSTEP_C_API int lockstep_latch_count_down(lockstep_latch* latch, size_t n);
LOCKSTEP_C_API int lockstep_latch_wait(lockstep_latch* latch);
LOCKSTEP_C_API int lockstep_latch_wait_for(lockstep_latch* latch, int64_t nanoseconds);
/* LOCKSTEP_OK if it is open, else LOCKSTEP_BUSY. */
LOCKSTEP_C_API int lockstep_latch_try_wait(const lockstep_latch* latch);

/* A number of permits, at most 2^30 - 1. Order: what happens before a release happens before the return of an acquire that
 * takes one of its permits. */
typedef struct lockstep_semaphore lockstep_semaphore;
LOCKSTEP_C_API int lockstep_semaphore_create(size_t permits, int64_t policy, lockstep_semaphore** semaphore);
LOCKSTEP_C_API void lockstep_semaphore_destroy(lockstep_semaphore* semaphore);
LOCKSTEP_C_API int lockstep_semaphore_acquire(lockstep_semaphore* semaphore);
LOCKSTEP_C_API int lockstep_semaphore_acquire_for(lockstep_semaphore* semaphore, int64_t nanoseconds);
/* LOCKSTEP_OK or LOCKSTEP_BUSY. */
LOCKSTEP_C_API int lockstep_semaphore_try_acquire(lockstep_semaphore* semaphore);
/* Gives `count` permits. ERROR_ARGUMENT, and gives none, if that would make more than 2^30 - 1. A library that
 * diagnoses misuse (LOCKSTEP_DIAGNOSE_MISUSE) ends the program instead. */
LOCKSTEP_C_API int lockstep_semaphore_release(lockstep_semaphore* semaphore, size_t count);

/* Blocks a fixed number of threads until all have come, again and again. For members of a region use
 * lockstep_member_sync_threads. Order: what happens before an arrival happens before every return of its phase. */
typedef struct lockstep_barrier lockstep_barrier;
/* `expected` 1 to 2^31 - 1. */
LOCKSTEP_C_API int lockstep_barrier_create(size_t expected, int64_t policy, lockstep_barrier** barrier);
LOCKSTEP_C_API void lockstep_barrier_destroy(lockstep_barrier* barrier);
/* ERROR_USE, and nothing has changed, if as many threads as it expects have come already. */
LOCKSTEP_C_API int lockstep_barrier_arrive_and_wait(lockstep_barrier* barrier);
/* The two halves. `*arrival` becomes what wait_for needs. ERROR_USE as above. A thread that has arrived waits, in one
 * or several calls, before it arrives again. Since 1.1. */
LOCKSTEP_C_API int lockstep_barrier_arrive(lockstep_barrier* barrier, uint64_t* arrival);
/* LOCKSTEP_OK; or LOCKSTEP_TIMED_OUT: even then the arrival counts. Since 1.1. */
LOCKSTEP_C_API int lockstep_barrier_wait_for(lockstep_barrier* barrier, uint64_t arrival, int64_t nanoseconds);

/* ---- graphs and plans ------------------------------------------------------------------------------------------- */

/* Which piece of work comes before which. One thread at a time builds a graph. Nodes are numbered from 0 in the order
 * in which they are made. A node runs after all that lead to it, and never at the same time as itself. Nodes may run at
 * the same time if no path of edges leads from one to the other. */
typedef struct lockstep_graph lockstep_graph;

/* The function of a node; `iteration` counts from 0 in each run. */
typedef int (*lockstep_node_fn)(size_t iteration, void* context);
/* The function of a node that decides: it sets `*answer` to 0 or 1. */
typedef int (*lockstep_test_fn)(size_t iteration, int* answer, void* context);
/* The function of a node that several members run together. */
typedef int (*lockstep_wide_fn)(lockstep_member* me, size_t iteration, void* context);

LOCKSTEP_C_API int lockstep_graph_create(lockstep_graph** graph);
/* ERROR_USE, and nothing has changed, if a plan of the graph lives. */
LOCKSTEP_C_API int lockstep_graph_destroy(lockstep_graph* graph);

/* Adds a node. `*node` becomes its number; `node` may be null. The name is copied; messages and pictures number equal
 * names. */
LOCKSTEP_C_API int lockstep_graph_node(lockstep_graph* graph, const char* name, lockstep_node_fn function, void* context,
                                       size_t* node);
/* Adds a node that decides, for edge_if, edge_unless and repeat_while. */
LOCKSTEP_C_API int lockstep_graph_test(lockstep_graph* graph, const char* name, lockstep_test_fn function, void* context,
                                       size_t* node);
/* Adds a node that `width` members run together, with all constructs of members among them. 0: all of the plan. */
LOCKSTEP_C_API int lockstep_graph_wide_node(lockstep_graph* graph, const char* name, size_t width,
                                            lockstep_wide_fn function, void* context, size_t* node);
/* Adds a node that does nothing: a point where paths meet. */
LOCKSTEP_C_API int lockstep_graph_empty_node(lockstep_graph* graph, const char* name, size_t* node);
/* How many nodes the graph has; 0 for a null graph. */
LOCKSTEP_C_API size_t lockstep_graph_size(const lockstep_graph* graph);

/* What `from` does happens before `to`. ERROR_ARGUMENT from a node to itself, and for a number that is no node. */
LOCKSTEP_C_API int lockstep_graph_edge(lockstep_graph* graph, size_t from, size_t to);
/* The same, and `to` is skipped where `test` answers 0, or 1. */
LOCKSTEP_C_API int lockstep_graph_edge_if(lockstep_graph* graph, size_t test, size_t to);
LOCKSTEP_C_API int lockstep_graph_edge_unless(lockstep_graph* graph, size_t test, size_t to);
/* All nodes on paths from `first` to `test` run again while `test` answers 1. */
LOCKSTEP_C_API int lockstep_graph_repeat_while(lockstep_graph* graph, size_t test, size_t first);
/* Iteration i of `to` comes after iteration i - delay of `from`. A delay of 0 makes it an edge. */
LOCKSTEP_C_API int lockstep_graph_feedback(lockstep_graph* graph, size_t from, size_t to, size_t delay);
/* An edge that lets iterations overlap: `from` may be up to `depth` iterations ahead of `to`. The data lies in an array
 * of `depth` places: iteration i of both nodes uses place i % depth, and no other node does. ERROR_ARGUMENT for a depth
 * of 0. Since 1.1. */
LOCKSTEP_C_API int lockstep_graph_channel(lockstep_graph* graph, size_t from, size_t to, size_t depth);
/* Iterations overlap as far as feedback and channels allow (before 1.1 each feedback said so). Without this call they
 * follow each other. A plan is refused if an edge lets its beginning run ahead of its end without a bound: see
 * lockstep::graph::overlap. */
LOCKSTEP_C_API int lockstep_graph_overlap(lockstep_graph* graph);

/* Hints for the plan: how long the node takes; that only the member of this rank runs it; that it goes to the same
 * member as `other`. */
LOCKSTEP_C_API int lockstep_graph_cost(lockstep_graph* graph, size_t node, int64_t nanoseconds);
LOCKSTEP_C_API int lockstep_graph_pin(lockstep_graph* graph, size_t node, size_t rank);
LOCKSTEP_C_API int lockstep_graph_keep_near(lockstep_graph* graph, size_t node, size_t other);

/* A text: what is wrong with the graph, with names of nodes; "" if nothing is. Making a plan fails with the same text. */
LOCKSTEP_C_API int lockstep_graph_validate(const lockstep_graph* graph, char* buffer, size_t capacity, size_t* length);
/* A text for Graphviz. */
LOCKSTEP_C_API int lockstep_graph_dot(const lockstep_graph* graph, char* buffer, size_t capacity, size_t* length);

/* A graph on a team: which member runs which node when. Graph and team outlive it. One thread at a time uses a plan. */
typedef struct lockstep_plan lockstep_plan;

/* A plan for the first `members` members of the team; 0: all. ERROR_GRAPH, with a text that names the nodes, if the graph
 * makes no sense or needs more members than there are; ERROR_ARGUMENT if the team has fewer members. If the graph changes
 * later, the next run makes the plan anew first; ERROR_ARGUMENT from each run, with the same text, if the graph makes no
 * sense then. */
LOCKSTEP_C_API int lockstep_plan_create(const lockstep_graph* graph, lockstep_team* team, size_t members,
                                        lockstep_plan** plan);
/* ERROR_USE, and nothing has changed, while the plan runs. */
LOCKSTEP_C_API int lockstep_plan_destroy(lockstep_plan* plan);

/* Runs so many iterations. Returns LOCKSTEP_OK; LOCKSTEP_STOPPED; or what the first node to fail has returned. It may be
 * run again then. Inside a region of the same team it runs on the caller alone. ERROR_USE from a node of the same plan.
 * Order: what happens before the call happens before every node, and every node before the return.
 * Cost: a region of the team; an edge between members one line transfer, some 50 ns. */
LOCKSTEP_C_API int lockstep_plan_run(lockstep_plan* plan, size_t iterations);
/* Runs iterations until stop(iteration, &answer, context) answers 1. The calling thread calls it before each iteration.
 * If iterations overlap, earlier ones may be under way then. */
LOCKSTEP_C_API int lockstep_plan_run_until(lockstep_plan* plan, lockstep_test_fn stop, void* context);
/* As run, with a look at the clock at each node, for refine and report. */
LOCKSTEP_C_API int lockstep_plan_measure(lockstep_plan* plan, size_t iterations);
/* Makes the plan anew with the times that measure has found. LOCKSTEP_OK also if nothing was measured since. */
LOCKSTEP_C_API int lockstep_plan_refine(lockstep_plan* plan);
/* Ends the run of this plan, if there is one. Any thread may call it. */
LOCKSTEP_C_API int lockstep_plan_request_stop(lockstep_plan* plan);
/* How many members the plan uses; 0 for a null plan. */
LOCKSTEP_C_API size_t lockstep_plan_members(const lockstep_plan* plan);
/* Texts: the plan line by line; what is predicted and measured, and where time is lost; lanes for Graphviz. */
LOCKSTEP_C_API int lockstep_plan_text(const lockstep_plan* plan, char* buffer, size_t capacity, size_t* length);
LOCKSTEP_C_API int lockstep_plan_report(const lockstep_plan* plan, char* buffer, size_t capacity, size_t* length);
LOCKSTEP_C_API int lockstep_plan_dot(const lockstep_plan* plan, char* buffer, size_t capacity, size_t* length);

/* ---- timeline, ledger, watchdog --------------------------------------------------------------------------------- */

/* From now on threads record what they do. A record has 88 bytes; `records_per_thread` of 0 means 2^17. ERROR_USE if a
 * trace runs already; ERROR_MEMORY. Cost while it runs: 17 to 50 ns a record. */
LOCKSTEP_C_API int lockstep_trace_start(size_t records_per_thread);
/* Ends the trace, and writes it to `file` unless that is null: Trace Event JSON, for Perfetto. ERROR_USE if none runs;
 * ERROR_SYSTEM if it cannot be written. */
LOCKSTEP_C_API int lockstep_trace_stop(const char* file);
/* Writes what the running trace has recorded so far, or else the trace that ran last. */
LOCKSTEP_C_API int lockstep_trace_write(const char* file);
/* The same as a text: a table of what each thread did. */
LOCKSTEP_C_API int lockstep_trace_summary(char* buffer, size_t capacity, size_t* length);
/* 1 while a trace runs, else 0. */
LOCKSTEP_C_API int lockstep_is_tracing(void);
/* A mark on the timeline of the calling thread; a value that changes over time. Nothing while no trace runs. A null name
 * is ERROR_ARGUMENT. */
LOCKSTEP_C_API int lockstep_trace_mark(const char* name, uint64_t value);
LOCKSTEP_C_API int lockstep_trace_counter(const char* name, double value);
/* A part of the timeline of the calling thread, with a name, from begin to end. Parts nest, to a depth of 64. In the
 * ledger, constructs in the part have its name. 63 bytes of the name are copied. ERROR_USE for an end without a begin,
 * or too deep a begin. */
LOCKSTEP_C_API int lockstep_trace_scope_begin(const char* name);
LOCKSTEP_C_API int lockstep_trace_scope_end(void);
/* Names the calling thread in timelines and messages, and in debuggers. At most 47 characters; null: no name. */
LOCKSTEP_C_API int lockstep_name_this_thread(const char* name);

/* Switches the ledger of a team on (non-zero) or off; sets all its numbers to 0. ERROR_USE inside a region. */
LOCKSTEP_C_API int lockstep_team_keep_ledger(lockstep_team* team, int yes);
LOCKSTEP_C_API int lockstep_team_reset_ledger(lockstep_team* team);
/* Texts: who waited where, how long, and for whom; as a table for terminals, and as one JSON object. */
LOCKSTEP_C_API int lockstep_team_ledger_table(const lockstep_team* team, char* buffer, size_t capacity, size_t* length);
LOCKSTEP_C_API int lockstep_team_ledger_json(const lockstep_team* team, char* buffer, size_t capacity, size_t* length);

/* When a wait lasts longer than `nanoseconds` (at least 1 ms), prints to stderr which threads are stuck, on what, and
 * which are missing. If `aborts` is not zero, it then ends the program with abort(). Replaces a watchdog that runs.
 * ERROR_SYSTEM if the system gives no thread. */
LOCKSTEP_C_API int lockstep_watchdog_start(int64_t nanoseconds, int aborts);
/* Does nothing if none runs. */
LOCKSTEP_C_API int lockstep_watchdog_stop(void);
/* A text: what the watchdog would print now, of all threads; "" if it does not watch. */
LOCKSTEP_C_API int lockstep_who_waits(char* buffer, size_t capacity, size_t* length);

#ifdef __cplusplus
}
#endif

#endif /* LOCKSTEP_C_LOCKSTEP_H */
