// SPDX-License-Identifier: MIT
//! Two slices in turns.
use lockstep_threads::{DoubleBuffer, Error, Stopped, Team};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// What a region panics with.
fn panic_of(f: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(f)).expect_err("it panics");
    payload
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| payload.downcast_ref::<&str>().map(|s| s.to_string()))
        .expect("a text")
}

#[test]
fn all_read_what_all_have_written_in_the_step_before() {
    for members in [1, 2, 3, 7] {
        for length in [0, 1, 5, 1000] {
            let team = Team::new(members).unwrap();
            let (mut x, mut y) = (vec![0_usize; length], vec![0_usize; length]);
            let mut buffer = DoubleBuffer::new(members, &mut x, &mut y);
            for region in 0..3 {
                let reached = AtomicUsize::new(0);
                team.run(|me| {
                    let mut part = buffer.part(me);
                    reached.fetch_add(part.range().len(), Relaxed);
                    for step in 0..20 {
                        let (now, next) = part.get();
                        assert!(now.iter().all(|x| *x == 20 * region + step));
                        next.fill(20 * region + step + 1);
                        if step % 2 == 0 {
                            part.publish(|| me.sync_threads())?;
                        } else {
                            assert_eq!(part.publish(|| me.sync_sum(1))?, me.size());
                        }
                    }
                    Ok(())
                })
                .unwrap();
                assert_eq!(reached.into_inner(), length);
                assert!(buffer.current().iter().all(|x| *x == 20 * (region + 1)));
            }
        }
    }
}

#[test]
fn what_does_not_wait_for_all_is_refused() {
    let team = Team::new(2).unwrap();
    let (mut x, mut y) = (vec![0; 10], vec![0; 10]);
    let mut buffer = DoubleBuffer::new(2, &mut x, &mut y);
    let refused = panic_of(|| {
        team.run(|me| {
            let mut part = buffer.part(me);
            if me.rank() == 0 {
                part.publish(|| Ok(()))?; // the other has not come, and never does
            }
            me.sync_threads()
        })
        .unwrap();
    });
    assert!(refused.contains("not all members have come"), "{refused}");
    assert!(panic_of(|| drop(team.run(|me| drop(buffer.part(me))))).contains("reset()"));
    buffer.reset();
    team.run(|me| buffer.part(me).publish(|| me.sync_threads())).unwrap();
}

/// One member meets the others by another construct than publish(): the barriers match, and the turns do not.
#[test]
fn members_in_different_turns_are_refused() {
    let team = Team::new(3).unwrap();
    let (mut x, mut y) = (vec![0; 10], vec![0; 10]);
    let buffer = DoubleBuffer::new(3, &mut x, &mut y);
    let refused = panic_of(|| {
        team.run(|me| {
            let mut part = buffer.part(me);
            for step in 0..10 {
                if me.rank() == 1 && step == 5 {
                    me.sync_threads()?;
                } else {
                    part.publish(|| me.sync_threads())?;
                }
            }
            Ok(())
        })
        .unwrap();
    });
    assert!(refused.contains("not all members have come"), "{refused}");
}

#[test]
fn a_part_has_one_user() {
    let team = Team::new(2).unwrap();
    let (mut x, mut y) = (vec![0; 10], vec![0; 10]);
    let buffer = DoubleBuffer::new(2, &mut x, &mut y);
    let again = panic_of(|| {
        team.run(|me| {
            let _part = buffer.part(me);
            let _same = buffer.part(me);
        })
        .unwrap();
    });
    assert!(again.contains("is in use"), "{again}");
    let others = panic_of(|| drop(team.run_on(1, |me| drop(buffer.part(me)))));
    assert!(others.contains("made for 2 members, used by 1"), "{others}");
    team.run(|me| drop(buffer.part(me))).unwrap();
}

#[test]
fn a_stopped_region_leaves_a_buffer_that_can_be_reset() {
    let team = Team::new(2).unwrap();
    let (mut x, mut y) = (vec![0; 10], vec![0; 10]);
    let mut buffer = DoubleBuffer::new(2, &mut x, &mut y);
    let outcome = team.run(|me| {
        let mut part = buffer.part(me);
        if me.rank() == 1 {
            me.request_stop();
            return Err(Stopped);
        }
        while part.publish(|| me.sync_threads()).is_ok() {}
        let used = catch_unwind(AssertUnwindSafe(|| part.get().1.fill(1)));
        assert!(used.is_err(), "a part is of no use after that");
        Ok(())
    });
    assert_eq!(outcome, Err(Error::Stopped));
    buffer.reset();
    team.run(|me| {
        let mut part = buffer.part(me);
        part.get().1.fill(3);
        part.publish(|| me.sync_threads())
    })
    .unwrap();
    assert!(buffer.current().iter().all(|x| *x == 3));
}

#[test]
fn bad_buffers_are_refused() {
    let (mut x, mut y) = (vec![0; 10], vec![0; 9]);
    assert!(panic_of(|| drop(DoubleBuffer::new(2, &mut x, &mut y))).contains("different lengths"));
    let (mut x, mut y) = (vec![0; 10], vec![0; 10]);
    assert!(panic_of(|| drop(DoubleBuffer::new(0, &mut x, &mut y))).contains("no member"));
}
