// SPDX-License-Identifier: MIT
//! Regions, loops and reductions: results, panics, stops.
use lockstep_threads::{Error, Schedule, Stopped, Team, TeamOptions};
use std::cell::Cell;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

const SIZES: [usize; 5] = [1, 2, 3, 4, 9];

fn text_of(panic: Box<dyn std::any::Any + Send>) -> String {
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => panic.downcast::<&str>().expect("a text").to_string(),
    }
}

fn panic_of(f: impl FnOnce()) -> String {
    text_of(catch_unwind(AssertUnwindSafe(f)).expect_err("it panics"))
}

/// Without AssertUnwindSafe around it.
#[test]
fn a_team_is_safe_to_unwind_past() {
    let team = Team::new(2).unwrap();
    assert!(catch_unwind(|| team.run(|me| assert!(me.size() > 2))).is_err());
    team.run(|me| me.sync_threads()).unwrap();
}

#[test]
fn every_member_is_called_once_with_its_rank() {
    for size in SIZES {
        let team = Team::new(size).unwrap();
        assert_eq!(team.size(), size);
        let calls: Vec<AtomicUsize> = (0..size).map(|_| AtomicUsize::new(0)).collect();
        for _ in 0..100 {
            team.run(|me| {
                assert_eq!(me.size(), size);
                calls[me.rank()].fetch_add(1, Relaxed);
            })
            .unwrap();
        }
        assert!(calls.iter().all(|count| count.load(Relaxed) == 100));
    }
}

#[test]
fn a_region_on_some_members_leaves_the_others_out() {
    let team = Team::new(4).unwrap();
    let count = AtomicUsize::new(0);
    team.run_on(3, |me| {
        assert_eq!(me.size(), 3);
        count.fetch_add(1 << (8 * me.rank()), Relaxed);
    })
    .unwrap();
    assert_eq!(count.into_inner(), 0x010101);
    assert!(matches!(team.run_on(5, |_| ()), Err(Error::Argument(text)) if text.contains('5')));
    assert!(matches!(team.run_on(0, |_| ()), Err(Error::Argument(_))));
}

#[test]
fn bad_numbers_of_members_are_refused() {
    assert!(matches!(Team::new(65537), Err(Error::Argument(_))));
    let error = TeamOptions::new().name("a\0b").build().unwrap_err();
    assert!(error.to_string().contains("zero"), "{error}");
    assert!(Team::new(0).unwrap().size() >= 1);
}

#[test]
fn the_global_team_is_one() {
    let (a, b) = (Team::global().unwrap(), Team::global().unwrap());
    assert!(std::ptr::eq(a, b));
    let count = AtomicUsize::new(0);
    a.run(|_| {
        count.fetch_add(1, Relaxed);
    })
    .unwrap();
    assert_eq!(count.into_inner(), a.size());
}

#[test]
fn hooks_run_on_each_thread_that_is_started() {
    use std::sync::Arc;
    let (started, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let team = TeamOptions::new()
        .members(3)
        .on_start({
            let started = started.clone();
            move |rank| {
                started.fetch_add(1 << (8 * rank), Relaxed);
            }
        })
        .on_exit({
            let ended = ended.clone();
            move |rank| {
                ended.fetch_add(1 << (8 * rank), Relaxed);
            }
        })
        .build()
        .unwrap();
    team.run(|_| ()).unwrap();
    assert_eq!(started.load(Relaxed), 0x010100);
    drop(team);
    assert_eq!(ended.load(Relaxed), 0x010100);
}

// --- members ---

#[test]
fn values_of_members_are_combined_on_each() {
    for size in SIZES {
        let team = Team::new(size).unwrap();
        team.run(|me| {
            let (rank, n) = (me.rank(), me.size());
            for round in 0..50 {
                assert_eq!(me.sync_sum(rank as f64 + 0.5)?, (n * (n - 1)) as f64 / 2.0 + 0.5 * n as f64);
                assert_eq!(me.sync_sum(rank as f32)?, (n * (n - 1)) as f32 / 2.0);
                assert_eq!(me.sync_max(rank as i64 - 3)?, n as i64 - 4);
                assert_eq!(me.sync_min(-(rank as i32))?, 1 - n as i32);
                assert_eq!(me.sync_max(u64::MAX - rank as u64)?, u64::MAX);
                assert_eq!(me.sync_min(usize::MAX - rank)?, usize::MAX - (n - 1));
                assert_eq!(me.sync_min(u32::MAX - rank as u32)?, u32::MAX - (n as u32 - 1));
                assert_eq!(me.sync_sum(u64::MAX)?, u64::MAX.wrapping_mul(n as u64));
                assert_eq!(me.sync_product(2_u32)?, 1 << n);
                assert_eq!(me.sync_count(rank % 2 == 0)?, n.div_ceil(2));
                assert!(me.sync_all(true)? && !me.sync_all(rank != 0)?);
                assert!(me.sync_any(rank == 0)? && !me.sync_any(false)?);
                assert_eq!(me.broadcast(round % n, rank * 10 + round)?, (round % n) * 10 + round);
                // The first digit in the order of ranks: not commutative.
                assert_eq!(me.sync_reduce(rank as u32 + 1, |a, _| a)?, 1);
                assert_eq!(me.sync_reduce(rank as u32 + 1, |_, b| b)?, n as u32);
            }
            Ok(())
        })
        .unwrap();
    }
}

#[test]
fn one_member_does_it_and_the_others_see_it() {
    let team = Team::new(3).unwrap();
    let value = AtomicUsize::new(0);
    team.run(|me| {
        for round in 1..100 {
            me.single(|| value.store(round, Relaxed))?;
            assert_eq!(value.load(Relaxed), round);
            me.sync_threads()?;
        }
        Ok(())
    })
    .unwrap();
}

#[test]
fn members_have_each_index_once() {
    for size in SIZES {
        let team = Team::new(size).unwrap();
        for how in [Schedule::Static, Schedule::Chunks(3), Schedule::Dynamic(5), Schedule::Guided(2)] {
            let counts: Vec<AtomicUsize> = (0..100).map(|_| AtomicUsize::new(0)).collect();
            team.run(|me| {
                let mut own = 0;
                me.for_blocks(10..90, how, |part| {
                    own += part.len();
                    part.for_each(|i| {
                        counts[i].fetch_add(1, Relaxed);
                    });
                })?;
                assert_eq!(me.sync_sum(own)?, 80);
                for i in me.block(0..10) {
                    counts[i].fetch_add(1, Relaxed);
                }
                for i in me.block(90..100) {
                    counts[i].fetch_add(1, Relaxed);
                }
                Ok(())
            })
            .unwrap();
            assert!(counts.iter().all(|count| count.load(Relaxed) == 1), "{how:?}");
        }
    }
}

#[test]
fn steps_are_awaited() {
    let team = Team::new(4).unwrap();
    let trace = lockstep_threads::Mutex::new(Vec::new());
    team.run(|me| {
        if me.rank() > 0 {
            me.await_step(me.rank() - 1, 1)?;
        }
        trace.lock().push(me.rank());
        me.publish(1);
        Ok(())
    })
    .unwrap();
    assert_eq!(trace.into_inner(), [0, 1, 2, 3]);
    let text = panic_of(|| {
        let _ = team.run(|me| me.await_step(me.rank(), 1));
    });
    assert!(text.contains("own step"), "{text}");
    let text = panic_of(|| {
        let _ = team.run(|me| me.broadcast(4, 1).map(|_| ()));
    });
    assert!(text.contains('4'), "{text}");
}

// --- loops ---

#[test]
fn loops_reach_each_index_once() {
    for size in SIZES {
        let team = Team::new(size).unwrap();
        for length in [0, 1, 2, 7, 1000] {
            for how in
                [Schedule::Static, Schedule::Grain(2), Schedule::Chunks(3), Schedule::Dynamic(1), Schedule::Guided(4)]
            {
                let mut x = vec![1_usize; length];
                team.for_blocks_mut_by(&mut x, how, |first, block: &mut [usize]| {
                    for (k, x) in block.iter_mut().enumerate() {
                        *x += first + k;
                    }
                })
                .unwrap();
                assert!(x.iter().enumerate().all(|(i, &x)| x == i + 1), "{how:?} {length}");
            }
            let mut x = vec![1_usize; length];
            team.for_each_mut(&mut x, |x| *x += 1).unwrap();
            assert_eq!(x, vec![2; length]);
            let count = AtomicUsize::new(0);
            team.for_each(3..3 + length, |i| {
                count.fetch_add(i, Relaxed);
            })
            .unwrap();
            assert_eq!(count.into_inner(), (3..3 + length).sum());
        }
    }
}

#[test]
fn a_loop_over_values_that_own_memory_drops_each_once() {
    let team = Team::new(3).unwrap();
    let mut x: Vec<String> = (0..500).map(|i| i.to_string()).collect();
    team.for_each_mut(&mut x, |x| *x = format!("{x}!")).unwrap();
    assert!(x.iter().enumerate().all(|(i, x)| *x == format!("{i}!")));
}

#[test]
fn values_without_size_can_be_looped_over() {
    let team = Team::new(2).unwrap();
    let count = AtomicUsize::new(0);
    team.for_each_mut(&mut [(); 1000], |()| {
        count.fetch_add(1, Relaxed);
    })
    .unwrap();
    assert_eq!(count.into_inner(), 1000);
}

#[test]
#[allow(clippy::reversed_empty_ranges)]
fn odd_ranges_and_chunks() {
    let team = Team::new(2).unwrap();
    team.for_each(10..0, |_| unreachable!()).unwrap();
    assert!(matches!(team.for_each(0..usize::MAX, |_| ()), Err(Error::Argument(_))));
    for how in [Schedule::Chunks(0), Schedule::Dynamic(0), Schedule::Guided(0)] {
        let result = team.for_blocks_by(0..9, how, |_| ());
        assert!(matches!(result, Err(Error::Argument(_))), "{how:?}");
    }
}

// --- reductions ---

#[test]
fn members_reduce_to_the_bits_of_their_team() {
    let x: Vec<f64> = (0..10_000).map(|i| 1.0 / (1.0 + i as f64)).collect();
    let part_sum = |part: std::ops::Range<usize>| part.map(|i| x[i]).fold(0.0, |a, b| a + b);
    let team = Team::new(3).unwrap();
    let expected = team.reduce(0..x.len(), 0.0, part_sum, |a, b| a + b).unwrap();
    assert!((expected - x.iter().sum::<f64>()).abs() < 1e-12);
    team.run(|me| {
        assert_eq!(me.reduce(0..x.len(), 0.0, part_sum, |a, b| a + b)?.to_bits(), expected.to_bits());
        Ok(())
    })
    .unwrap();
}

#[test]
fn any_plain_type_can_be_reduced_in_order() {
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Span {
        first: usize,
        last: usize,
        is_in_order: bool,
        padding: [u64; 9],
    }
    for size in SIZES {
        let team = Team::new(size).unwrap();
        let whole = team
            .reduce_each(
                1..5000,
                Span { first: 0, last: 0, is_in_order: true, padding: [7; 9] },
                |i| Span { first: i, last: i, is_in_order: true, padding: [7; 9] },
                |a, b| Span {
                    first: a.first,
                    last: b.last,
                    is_in_order: a.is_in_order && b.is_in_order && a.last + 1 == b.first,
                    padding: a.padding,
                },
            )
            .unwrap();
        assert_eq!(whole, Span { first: 0, last: 4999, is_in_order: true, padding: [7; 9] });
    }
}

#[test]
fn the_initial_value_of_an_empty_reduction_stays() {
    let team = Team::new(2).unwrap();
    assert_eq!(team.reduce_each(5..5, 3, |_| unreachable!(), |_: i32, _| unreachable!()), Ok(3));
}

// --- panics ---

#[test]
fn the_panic_of_the_lowest_rank_comes_back() {
    for size in SIZES {
        let team = Team::new(size).unwrap();
        for who in 0..size {
            let text = panic_of(|| {
                let _ = team.run(|me| {
                    if me.rank() == who {
                        panic!("rank {who}");
                    }
                    loop {
                        me.sync_threads()?; // waits for ever, but for the stop
                    }
                    #[allow(unreachable_code)]
                    Ok(())
                });
            });
            assert_eq!(text, format!("rank {who}"));
        }
        let text = panic_of(|| {
            let _ = team.run(|me| -> () { panic!("rank {}", me.rank()) });
        });
        assert_eq!(text, "rank 0");
        team.run(|me| me.sync_threads()).unwrap();
    }
}

#[test]
fn a_panic_ends_a_loop_early() {
    for size in [1, 2] {
        let team = Team::new(size).unwrap();
        let mut x = vec![0; 1000];
        let text = panic_of(|| {
            let _ = team.for_blocks_mut_by(&mut x, Schedule::Dynamic(10), |first, block: &mut [i32]| {
                block.fill(1);
                assert!(first != 50, "at 50");
            });
        });
        assert_eq!(text, "at 50");
        assert!(x[..60].iter().all(|&x| x == 1), "parts before it were begun");
        if size == 1 {
            assert!(x[60..].iter().all(|&x| x == 0), "parts after it were not");
        }
        team.for_each_mut(&mut x, |x| *x = 2).unwrap();
        assert!(x.iter().all(|&x| x == 2));
    }
}

#[test]
fn panics_of_both_closures_of_a_reduction_come_back() {
    for size in [1, 2] {
        let team = Team::new(size).unwrap();
        let text = panic_of(|| {
            let _ = team.reduce_each(0..1000, 0, |i| if i == 500 { panic!("fold") } else { i }, |a, b| a + b);
        });
        assert_eq!(text, "fold");
        let text = panic_of(|| {
            let _ = team.reduce(0..1000, 0, |part| part.len(), |_, _| panic!("combine"));
        });
        assert_eq!(text, "combine");
        if size > 1 {
            let text = panic_of(|| {
                let _ = team.run(|me| me.sync_reduce(1, |_, _| panic!("operation")).map(|_| ()));
            });
            assert_eq!(text, "operation");
        }
        assert_eq!(team.reduce_each(0..10, 0, |i| i, |a, b| a + b), Ok(45));
    }
}

#[test]
fn panics_inside_constructs_of_a_member_come_back() {
    let team = Team::new(2).unwrap();
    assert_eq!(
        panic_of(|| {
            let _ = team.run(|me| me.single(|| panic!("single")));
        }),
        "single"
    );
    assert_eq!(
        panic_of(|| {
            let _ = team.run(|me| me.for_blocks(0..10, Schedule::Static, |_| -> () { panic!("block") }));
        }),
        "block"
    );
}

#[test]
fn a_payload_whose_destructor_panics_is_endured() {
    struct Bomb(Cell<bool>);
    impl Drop for Bomb {
        fn drop(&mut self) {
            if self.0.get() {
                panic!("again");
            }
        }
    }
    let team = Team::new(2).unwrap();
    for _ in 0..20 {
        let result = catch_unwind(AssertUnwindSafe(|| {
            let _ = team.run(|_| -> () { std::panic::panic_any(Bomb(Cell::new(true))) });
        }));
        let bomb = result.unwrap_err().downcast::<Bomb>().expect("the payload");
        bomb.0.set(false);
    }
}

// --- stops ---

#[test]
fn a_request_to_stop_ends_the_region() {
    for size in SIZES {
        let team = Team::new(size).unwrap();
        let result = team.run(|me| {
            if me.rank() == me.size() - 1 {
                me.request_stop();
            }
            loop {
                me.sync_threads()?;
            }
            #[allow(unreachable_code)]
            Ok(())
        });
        assert_eq!(result, Err(Error::Stopped));
        assert_eq!(team.run(|_| Err(Stopped)), Err(Error::Stopped));
        team.run(|me| assert!(!me.stop_requested())).unwrap();
    }
}

#[test]
fn another_thread_may_stop_a_team() {
    let team = Team::new(2).unwrap();
    let begun = AtomicUsize::new(0);
    std::thread::scope(|s| {
        s.spawn(|| {
            while begun.load(Relaxed) == 0 {
                std::thread::yield_now();
            }
            team.request_stop();
        });
        let result = team.run(|me| {
            begun.store(1, Relaxed);
            while !me.stop_requested() {
                std::thread::yield_now();
            }
        });
        assert_eq!(result, Err(Error::Stopped));
    });
}

// --- inside a region ---

#[test]
fn a_region_inside_a_region_of_the_same_team_runs_on_its_caller_alone() {
    let team = Team::new(2).unwrap();
    team.run(|_| {
        team.run(|inner| assert_eq!((inner.rank(), inner.size()), (0, 1))).unwrap();
        let mut x = [1; 10];
        team.for_each_mut(&mut x, |x| *x += 1).unwrap();
        assert_eq!(x, [2; 10]);
        assert!(matches!(team.pause(), Err(Error::Use(_))));
        let text = panic_of(|| {
            let _ = team.for_each(0..1, |_| panic!("inner"));
        });
        assert_eq!(text, "inner");
    })
    .unwrap();
}

#[test]
fn a_paused_team_starts_again() {
    let team = Team::new(2).unwrap();
    team.pause().unwrap();
    team.run(|me| me.sync_threads()).unwrap();
    team.pause().unwrap();
    team.resume().unwrap();
    team.run(|me| me.sync_threads()).unwrap();
}

#[test]
fn the_ledger_is_a_table() {
    let team = TeamOptions::new().members(2).ledger(true).build().unwrap();
    team.run(|me| me.sync_threads()).unwrap();
    assert!(team.ledger_table().unwrap().contains("sync_threads"));
    team.keep_ledger(false).unwrap();
}
