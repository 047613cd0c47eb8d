// SPDX-License-Identifier: MIT
//! A region of two threads that work for 0 or 1 µs each, and a short loop: nanoseconds for each, medians of 11 samples.
//! Each way runs in a process of its own, so that no pool is in another's way; the processes take turns, so that all ways
//! see the same disturbances. An argument gives the repetitions of a sample: few for a busy machine, where only the least of
//! the samples means something.
use lockstep_threads::{ffi, Team};
use rayon::prelude::*;
use std::ffi::{c_int, c_void};
use std::hint::black_box;
use std::process::Command;
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

/// Of a process: nanoseconds for a region that works so many steps, an empty one, and the loop.
type Sample = [f64; 3];

/// The second time counts: the first one warms up.
fn sample(repetitions: usize, steps: usize, mut region: impl FnMut(usize), mut each: impl FnMut(&mut [f64])) -> Sample {
    let mut numbers = vec![0.0; LENGTH];
    let mut result = Sample::default();
    for _ in 0..2 {
        for (result, steps) in result.iter_mut().zip([steps, 0]) {
            *result = timed(|| (0..repetitions).for_each(|_| region(steps))) / repetitions as f64;
        }
        result[2] = timed(|| (0..repetitions).for_each(|_| each(black_box(&mut numbers)))) / repetitions as f64;
    }
    result
}

const WAYS: [&str; 5] = [
    "one thread",
    "lockstep, the C interface",
    "lockstep, the crate",
    "rayon, join and par_iter_mut",
    "rayon, broadcast",
];

fn sample_of(way: &str, repetitions: usize, steps: usize) -> Sample {
    let pool = || rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("a pool");
    let one_by_one = |numbers: &mut [f64]| numbers.iter_mut().for_each(|x| *x += 1.5);
    if way == WAYS[0] {
        sample(repetitions, steps, work, one_by_one)
    } else if way == WAYS[1] {
        let team = raw_team();
        let region = |mut steps: usize| {
            // SAFETY: the team and the steps live.
            unsafe { ffi::lockstep_team_run(team, region, (&raw mut steps).cast()) };
        };
        // SAFETY: the numbers live, LENGTH of them.
        let each = |numbers: &mut [f64]| unsafe {
            ffi::lockstep_team_for_range(team, 0, LENGTH as i64, block, numbers.as_mut_ptr().cast());
        };
        let result = sample(repetitions, steps, region, each);
        // SAFETY: no region runs.
        unsafe { ffi::lockstep_team_destroy(team) };
        result
    } else if way == WAYS[2] {
        let team = Team::new(2).expect("a team");
        let region = |steps: usize| team.run(|_| work(steps)).expect("a region");
        sample(repetitions, steps, region, |numbers| team.for_each_mut(numbers, |x| *x += 1.5).expect("a loop"))
    } else if way == WAYS[3] {
        pool().install(|| {
            let region = |steps: usize| {
                rayon::join(|| work(steps), || work(steps));
            };
            sample(repetitions, steps, region, |numbers| {
                numbers.par_iter_mut().with_min_len(512).for_each(|x| *x += 1.5)
            })
        })
    } else {
        let pool = pool();
        let region = |steps: usize| {
            pool.broadcast(|_| work(steps));
        };
        sample(repetitions, steps, region, one_by_one) // it has no loop of its own
    }
}

/// The sample of a process of its own.
fn sample_apart(way: &str, repetitions: usize, steps: usize) -> Sample {
    let this = std::env::current_exe().expect("this program");
    let arguments = [repetitions.to_string(), way.to_string(), steps.to_string()];
    let done = Command::new(this).args(arguments).output().expect("a process");
    assert!(done.status.success(), "{way}: {}", String::from_utf8_lossy(&done.stderr));
    let said = String::from_utf8(done.stdout).expect("numbers");
    let mut words = said.split_whitespace().map(|word| word.parse().expect("a number"));
    std::array::from_fn(|_| words.next().expect("three numbers"))
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize| words.get(i).map(|word| word.parse().expect("a number"));
    let repetitions = number(0).unwrap_or(10_000);
    if let (Some(way), Some(steps)) = (words.get(1), number(2)) {
        let [worked, empty, each] = sample_of(way, repetitions, steps);
        println!("{worked} {empty} {each}");
        return;
    }
    let steps = steps_for(1000.0);
    let mut samples: [Vec<Sample>; 5] = Default::default();
    for _ in 0..SAMPLES {
        for (way, into) in WAYS.iter().zip(&mut samples) {
            into.push(sample_apart(way, repetitions, steps));
        }
    }
    let titles =
        ["a region of 2 threads that work 1 µs each", "an empty region of 2 threads", "x += 1.5 over 4096 doubles"];
    for (i, title) in titles.iter().enumerate() {
        println!("{title}");
        for (way, of) in WAYS.iter().zip(&samples) {
            let times: Vec<f64> = of.iter().map(|sample| sample[i]).collect();
            let least = times.iter().copied().fold(f64::INFINITY, f64::min);
            println!("  {way:28} {:9.0} ns  (least {least:.0})", median(times));
        }
    }
}
