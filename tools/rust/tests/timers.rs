// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
//! Times, periods, slack, clocks and errors, on the device if available and on a
//! timerfd.

use callout::{Clock, Context, Fired};
use std::fs::{read_to_string, File, OpenOptions};
use std::io::ErrorKind;
use std::os::raw::c_int;
use std::os::unix::io::AsRawFd;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const MS: Duration = Duration::from_millis(1);
const HOUR: Duration = Duration::from_secs(3600);

type Log = Vec<(u32, Fired)>;

fn contexts() -> [Context<Log>; 2] {
    [Context::new().unwrap(), Context::new_on_timerfd().unwrap()]
}

#[test]
fn says_what_it_is_on() {
    let reason = Context::<()>::new_on_timerfd().unwrap().why_timerfd();
    assert_eq!(reason.unwrap(), "a timerfd was asked for");
    let reason = Context::<()>::new().unwrap().why_timerfd();
    match OpenOptions::new().read(true).write(true).open("/dev/callout") {
        Ok(_) => assert_eq!(reason, None),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let reason = reason.unwrap();
            assert!(reason.starts_with("/dev/callout does not exist: "), "{reason}");
        }
        Err(_) => assert!(reason.is_some()),
    }
}

/// Timers come in the order of their times, none early, each once.
#[test]
fn order() {
    for mut context in contexts() {
        let begin = Clock::Monotonic.now();
        let timers: Vec<_> = [3, 1, 2]
            .into_iter()
            .map(|n| {
                let timer = context.timer(move |log: &mut Log, fired| log.push((n, fired)));
                timer.arm(n * 10 * MS).unwrap();
                timer
            })
            .collect();
        let mut log = Log::new();
        while log.len() < 3 {
            assert!(context.wait(&mut log, None).unwrap() > 0);
        }
        assert_eq!(log.iter().map(|(n, _)| *n).collect::<Vec<_>>(), [1, 2, 3]);
        for (n, fired) in &log {
            assert!(fired.due >= begin + *n * 10 * MS && fired.at >= fired.due);
            assert_eq!(fired.overrun, 0);
        }
        assert!(timers.iter().all(|timer| !timer.is_armed()));
        assert_eq!(context.wait(&mut log, Some(30 * MS)).unwrap(), 0);
    }
}

/// A timer that is moved comes once, at the later time; a cancelled timer does not come.
#[test]
fn moved_and_cancelled() {
    for mut context in contexts() {
        let moved = context.timer(|log: &mut Log, fired| log.push((1, fired)));
        let cancelled = context.timer(|log: &mut Log, fired| log.push((2, fired)));
        moved.arm(10 * MS).unwrap();
        cancelled.arm(10 * MS).unwrap();
        context.before_sleep().unwrap();
        let begin = Clock::Monotonic.now();
        moved.arm(50 * MS).unwrap();
        assert!(cancelled.cancel());
        assert!(!cancelled.cancel());
        let mut log = Log::new();
        while log.is_empty() {
            context.wait(&mut log, Some(100 * MS)).unwrap();
        }
        assert_eq!(log[0].0, 1);
        assert!(log[0].1.due >= begin + 50 * MS);
        assert_eq!(context.wait(&mut log, Some(30 * MS)).unwrap(), 0);
    }
}

/// The calls and their overruns add up to the time that has passed.
#[test]
fn period() {
    for mut context in contexts() {
        let beat = context.timer(|log: &mut Log, fired| log.push((0, fired))).period(5 * MS);
        beat.arm(5 * MS).unwrap();
        let mut log = Log::new();
        while log.len() < 5 {
            context.wait(&mut log, None).unwrap();
        }
        for (earlier, later) in log.iter().zip(&log[1..]) {
            assert_eq!(later.1.due - earlier.1.due, (1 + earlier.1.overrun as u32) * 5 * MS);
        }
        std::thread::sleep(20 * MS);
        context.turn(&mut log).unwrap();
        assert!(log[5].1.overrun >= 2);
        assert!(beat.cancel());
    }
}

/// Timers with slack come together, none before its time.
#[test]
fn slack() {
    for mut context in contexts() {
        let timers: Vec<_> = (0..100u32)
            .map(|n| {
                let timer = context.timer(move |log: &mut Log, fired| log.push((n, fired)));
                let timer = timer.slack(20 * MS);
                timer.arm(10 * MS + n * MS / 100).unwrap();
                timer
            })
            .collect();
        let mut log = Log::new();
        let mut turns = 0;
        while log.len() < 100 {
            context.wait(&mut log, None).unwrap();
            turns += 1;
        }
        assert!(turns <= 3, "{turns}");
        assert!(timers.iter().all(|timer| !timer.is_armed()));
        assert!(log.iter().all(|(_, fired)| fired.at >= fired.due));
    }
}

/// Each clock has its times. An alarm clock needs a right, and its error says so.
#[test]
fn clocks() {
    use Clock::*;
    for mut context in contexts() {
        for clock in [Monotonic, Boottime, Realtime, BoottimeAlarm, RealtimeAlarm] {
            let timer =
                context.timer(move |log: &mut Log, fired| log.push((0, fired))).clock(clock);
            let time = clock.now() + 10 * MS;
            let mut log = Log::new();
            match timer.arm_at(time) {
                Ok(()) => (),
                Err(error) if matches!(clock, BoottimeAlarm | RealtimeAlarm) => {
                    println!("{error}");
                    assert!(error.to_string().contains(&format!("the clock {clock:?}: ")));
                    assert!(!timer.is_armed());
                    continue;
                }
                Err(error) => panic!("{error}"),
            }
            while log.is_empty() {
                context.wait(&mut log, None).unwrap();
            }
            assert_eq!(log[0].1.due, time);
            assert!(clock.now() >= time);
        }
    }
    let system = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    assert!(Realtime.now() >= system && Realtime.now() < system + HOUR);
}

/// A time that is too long never comes.
#[test]
fn far() {
    for mut context in contexts() {
        let timer = context.timer(|log: &mut Log, fired| log.push((0, fired)));
        assert_eq!(timer.remaining(), None);
        timer.arm(Duration::MAX).unwrap();
        assert_eq!(context.wait(&mut Log::new(), Some(MS)).unwrap(), 0);
        assert!(timer.remaining().unwrap() > 100 * 365 * 24 * HOUR);
        timer.arm(HOUR).unwrap();
        assert_eq!(timer.remaining(), Some(HOUR));
        context.turn(&mut Log::new()).unwrap();
        assert!(timer.remaining().unwrap() <= HOUR);
        assert_eq!(
            format!("{:?}", context.timer(|_, _| ())),
            "Timer { clock: Monotonic, remaining: None }"
        );
    }
}

/// A timer that another thread arms, and that is the first, wakes the loop up.
#[test]
fn another_thread_wakes() {
    for mut context in contexts() {
        let late = context.timer(|log: &mut Log, fired| log.push((1, fired)));
        late.arm(HOUR).unwrap();
        let handle = context.handle();
        let thread = std::thread::spawn(move || {
            // Most likely the loop sleeps. If not, it learns of the timer all
            // the same.
            std::thread::sleep(50 * MS);
            let timer = handle.timer(|log: &mut Log, fired| log.push((2, fired)));
            timer.arm(10 * MS).unwrap();
            timer
        });
        let mut log = Log::new();
        context.wait(&mut log, Some(Duration::from_secs(60))).unwrap();
        assert_eq!(log[0].0, 2);
        assert!(!thread.join().unwrap().is_armed());
    }
}

/// A loop that watches edges does not sleep after a turn that failed: it tries again.
#[test]
fn failed_turn() {
    extern "C" {
        fn dup2(from: c_int, to: c_int) -> c_int;
    }
    let mut context = Context::new_on_timerfd().unwrap();
    let timer = context.timer(|log: &mut Log, fired| log.push((1, fired)));
    timer.arm(Duration::ZERO).unwrap();
    assert_eq!(context.before_sleep().unwrap(), None);
    timer.arm(HOUR).unwrap();
    // The timerfd, which has expired, is another file now, so that it cannot be moved.
    let epoll = read_to_string(format!("/proc/self/fdinfo/{}", context.as_raw_fd())).unwrap();
    let timerfd = epoll.split_once("tfd:").unwrap().1.split_whitespace().next().unwrap();
    let timerfd = timerfd.parse().unwrap();
    let null = File::open("/dev/null").unwrap();
    // SAFETY: both are open, and the context closes the second.
    assert_eq!(unsafe { dup2(null.as_raw_fd(), timerfd) }, timerfd);
    for _ in 0..2 {
        assert!(context.turn(&mut Log::new()).is_err());
        assert_eq!(context.before_sleep().unwrap(), Some(Duration::ZERO));
    }
}

#[test]
fn context_is_gone() {
    for context in contexts() {
        let handle = context.handle();
        let timer = context.timer(|_, _| panic!("fires"));
        timer.arm(Duration::ZERO).unwrap();
        drop(context);
        assert!(!timer.is_armed() && !timer.cancel());
        let timer = timer.clock(Clock::Boottime).period(MS).slack(MS);
        for timer in [timer, handle.timer(|_, _| ())] {
            let error = timer.arm(MS).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NotConnected);
            assert_eq!(error.to_string(), "the timer's context was dropped");
        }
    }
}
