// SPDX-License-Identifier: MIT
//! Solves a tridiagonal system by Jacobi's iteration: serially, by loops, and in one region. All give the same bits.
//!
//! cargo run --release --example jacobi -- [MEMBERS] [UNKNOWNS]
use lockstep_threads::{DoubleBuffer, Result, Team};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

const TOLERANCE: f64 = 1e-10;

/// One sweep over `block`, which begins at `first`: 4 x[i] = 1 + x[i - 1] + x[i + 1]. The greatest change.
fn sweep(at: impl Fn(usize) -> f64, n: usize, first: usize, block: &mut [f64]) -> f64 {
    let mut change: f64 = 0.0;
    for (k, x) in block.iter_mut().enumerate() {
        let i = first + k;
        let left = if i == 0 { 0.0 } else { at(i - 1) };
        let right = if i + 1 == n { 0.0 } else { at(i + 1) };
        *x = (1.0 + left + right) / 4.0;
        change = change.max((*x - at(i)).abs());
    }
    change
}

fn serial(n: usize) -> (usize, Vec<f64>) {
    let (mut x, mut next) = (vec![0.0; n], vec![0.0; n]);
    for turn in 1.. {
        let change = sweep(|i| x[i], n, 0, &mut next);
        std::mem::swap(&mut x, &mut next);
        if change < TOLERANCE {
            return (turn, x);
        }
    }
    unreachable!()
}

/// Two loops for each sweep: one writes the blocks of a slice, the other is a reduction.
fn by_loops(team: &Team, n: usize) -> Result<(usize, Vec<f64>)> {
    let (mut x, mut next) = (vec![0.0; n], vec![0.0; n]);
    for turn in 1.. {
        team.for_blocks_mut(&mut next, |first, block| {
            sweep(|i| x[i], n, first, block);
        })?;
        let change = team.reduce_each(0..n, 0.0_f64, |i| (next[i] - x[i]).abs(), f64::max)?;
        std::mem::swap(&mut x, &mut next);
        if change < TOLERANCE {
            return Ok((turn, x));
        }
    }
    unreachable!()
}

/// One region for all sweeps: in each, members read one vector and write their parts of the other. The maximum over all
/// members is the barrier between sweeps.
fn in_a_region(team: &Team, n: usize) -> Result<(usize, Vec<f64>)> {
    let (mut x, mut next) = (vec![0.0; n], vec![0.0; n]);
    let mut vectors = DoubleBuffer::new(team.size(), &mut x, &mut next);
    let turns = AtomicUsize::new(0);
    team.run(|me| {
        let mut part = vectors.part(me);
        let first = part.range().start;
        for turn in 1.. {
            let (x, next) = part.get();
            let change = sweep(|i| x[i], n, first, next);
            if part.publish(|| me.sync_max(change))? < TOLERANCE {
                turns.store(turn, Relaxed);
                return Ok(());
            }
        }
        Ok(())
    })?;
    Ok((turns.into_inner(), vectors.current().to_vec()))
}

fn main() -> Result<()> {
    let number = |k: usize| std::env::args().nth(k).map(|word| word.parse().expect("a number"));
    let team = Team::new(number(1).unwrap_or(0))?;
    let n = number(2).unwrap_or(20_000);
    println!("{} members, {n} unknowns", team.size());

    let timed = |name: &str, solve: &dyn Fn() -> Result<(usize, Vec<f64>)>| {
        let begin = Instant::now();
        let (turns, x) = solve()?;
        println!("{name:12} {turns} sweeps {:8.3} ms", begin.elapsed().as_secs_f64() * 1e3);
        Ok::<_, lockstep_threads::Error>((turns, x))
    };
    let expected = timed("serial", &|| Ok(serial(n)))?;
    assert_eq!(timed("loops", &|| by_loops(&team, n))?, expected);
    assert_eq!(timed("one region", &|| in_a_region(&team, n))?, expected);
    println!("the same bits");
    Ok(())
}
