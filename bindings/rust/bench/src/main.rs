// SPDX-License-Identifier: MIT
//! A region of two threads that work for 0 or 1 µs each, and a short loop: nanoseconds for each, medians of 11 samples.
//! The ways take turns, so that all see the same disturbances. An argument gives the repetitions of a sample: few for a
//! busy machine, where only the least of the samples means something.
use lockstep::{ffi, Team};
use std::ffi::{c_int, c_void};
use std::hint::black_box;
use std::time::Instant;

const SAMPLES: usize = 11;
const LENGTH: usize = 4096;

/// Steps of one dependent multiplication and addition each.
fn work(steps: usize) {
    let mut x = black_box(1_u64);
    for _ in 0..steps {
        x = black_box(x.wrapping_mul(3).wrapping_add(1));
    }
    black_box(x);
}

/// How many steps take so many nanoseconds.
fn steps_for(nanoseconds: f64) -> usize {
    let steps = 1_000_000;
    let best = (0..9).map(|_| timed(|| work(steps))).fold(f64::INFINITY, f64::min);
    (nanoseconds / (best / steps as f64)).round() as usize
}

fn timed(f: impl FnOnce()) -> f64 {
    let begin = Instant::now();
    f();
    begin.elapsed().as_nanos() as f64
}

unsafe extern "C" fn region(_: *mut ffi::lockstep_member, context: *mut c_void) -> c_int {
    // SAFETY: the context is the number of steps.
    work(unsafe { *context.cast::<usize>() });
    0
}

unsafe extern "C" fn block(first: i64, last: i64, context: *mut c_void) -> c_int {
    // SAFETY: the context is the start of LENGTH numbers, and parts are disjoint.
    for i in first..last {
        unsafe { *context.cast::<f64>().add(i as usize) += 1.5 };
    }
    0
}

fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    of[of.len() / 2]
}

/// Medians over samples of each way; a way runs so many repetitions at a time.
fn compare(title: &str, repetitions: usize, ways: &mut [(&str, Box<dyn FnMut(usize) + '_>)]) {
    let mut samples: Vec<Vec<f64>> = ways.iter().map(|_| Vec::new()).collect();
    for round in 0..=SAMPLES {
        for ((_, way), times) in ways.iter_mut().zip(&mut samples) {
            let time = timed(|| way(repetitions)) / repetitions as f64;
            if round > 0 {
                times.push(time); // the first round warms up
            }
        }
    }
    println!("{title}");
    for ((name, _), times) in ways.iter().zip(samples) {
        let least = times.iter().copied().fold(f64::INFINITY, f64::min);
        println!("  {name:28} {:9.0} ns  (least {least:.0})", median(times));
    }
}

fn raw_team() -> *mut ffi::lockstep_team {
    let mut team = std::ptr::null_mut();
    // SAFETY: zeros say nothing but the size; room for a team.
    unsafe {
        let mut options = std::mem::zeroed::<ffi::lockstep_team_options>();
        assert_eq!(ffi::lockstep_team_options_init(&mut options, std::mem::size_of_val(&options)), 0);
        options.members = 2;
        assert_eq!(ffi::lockstep_team_create(&options, &mut team), 0);
    }
    team
}

fn main() {
    let repetitions = std::env::args().nth(1).map_or(10_000, |word| word.parse().expect("a number"));
    let (team, raw) = (Team::new(2).expect("a team"), raw_team());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("a pool");
    for nanoseconds in [0.0, 1000.0] {
        let mut steps = steps_for(nanoseconds);
        let context: *mut c_void = (&raw mut steps).cast();
        compare(
            &format!("a region of 2 threads that work {nanoseconds} ns each ({} ns alone)", {
                (0..9).map(|_| timed(|| work(steps))).fold(f64::INFINITY, f64::min)
            }),
            repetitions,
            &mut [
                (
                    "lockstep, the C interface",
                    Box::new(|n| {
                        for _ in 0..n {
                            // SAFETY: the team and the steps live.
                            unsafe { ffi::lockstep_team_run(raw, region, context) };
                        }
                    }),
                ),
                (
                    "lockstep, Team::run",
                    Box::new(|n| {
                        for _ in 0..n {
                            team.run(|_| work(steps)).expect("a region");
                        }
                    }),
                ),
                (
                    "rayon::join in its pool",
                    Box::new(|n| {
                        pool.install(|| {
                            for _ in 0..n {
                                rayon::join(|| work(steps), || work(steps));
                            }
                        });
                    }),
                ),
                (
                    "rayon, ThreadPool::broadcast",
                    Box::new(|n| {
                        for _ in 0..n {
                            pool.broadcast(|_| work(steps));
                        }
                    }),
                ),
            ],
        );
    }
    let (mut a, mut b, mut c, mut d) = (vec![0.0; LENGTH], vec![0.0; LENGTH], vec![0.0; LENGTH], vec![0.0; LENGTH]);
    let start = b.as_mut_ptr();
    use rayon::prelude::*;
    compare(
        &format!("a loop over {LENGTH} doubles, x += 1.5"),
        repetitions,
        &mut [
            ("serial", Box::new(|n| (0..n).for_each(|_| black_box(&mut a[..]).iter_mut().for_each(|x| *x += 1.5)))),
            (
                "lockstep, the C interface",
                Box::new(|n| {
                    for _ in 0..n {
                        // SAFETY: the vector lives.
                        unsafe { ffi::lockstep_team_for_range(raw, 0, LENGTH as i64, block, start.cast()) };
                    }
                }),
            ),
            (
                "lockstep, for_each_mut",
                Box::new(|n| (0..n).for_each(|_| team.for_each_mut(&mut c, |x| *x += 1.5).expect("a loop"))),
            ),
            (
                "rayon, par_iter_mut",
                Box::new(|n| {
                    pool.install(|| (0..n).for_each(|_| d.par_iter_mut().with_min_len(512).for_each(|x| *x += 1.5)));
                }),
            ),
        ],
    );
    // SAFETY: no region runs.
    unsafe { ffi::lockstep_team_destroy(raw) };
}
