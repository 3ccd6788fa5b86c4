// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
//! Handlers may do anything to timers, and both stay sound whatever is dropped, forgotten or
//! moved. Run under valgrind, too. Code that must not compile is in the crate's documents.

use callout::{Context, Handle, Timer};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{mpsc, Arc, Mutex};
use std::thread;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);
const NOW: Duration = Duration::ZERO;

#[derive(Default)]
struct State {
    timers: Vec<Timer<State>>,
    calls: usize,
}

/// Counts the live handlers that hold it.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Relaxed);
        Counted(count.clone())
    }

    fn count(&self) -> usize {
        self.0.load(Relaxed)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

fn run(context: &mut Context<State>, state: &mut State) {
    assert!(context.wait(state, Some(Duration::from_secs(60))).unwrap() > 0);
}

fn armed(context: &Context<State>, after: Duration) -> Timer<State> {
    let timer = context.timer(|state: &mut State, _| state.calls += 1);
    timer.arm(after).unwrap();
    timer
}

/// A context is `Send` and `Sync` even if the state is not.
#[test]
fn send_and_sync() {
    fn is_send_and_sync<T: Send + Sync>() {}
    is_send_and_sync::<Context<Rc<()>>>();
    is_send_and_sync::<Handle<Rc<()>>>();
    is_send_and_sync::<Timer<Rc<()>>>();
}

/// A handler lives until it returns, and no longer.
#[test]
fn handler_drops_its_timer() {
    let handlers = Arc::new(AtomicUsize::new(0));
    let mut context = Context::new().unwrap();
    let counted = Counted::new(&handlers);
    let handler = move |state: &mut State, _| {
        state.timers.clear();
        state.calls += counted.count();
    };
    let timer = context.timer(handler).period(MS);
    timer.arm(NOW).unwrap();
    let mut state = State { timers: vec![timer], calls: 0 };
    run(&mut context, &mut state);
    assert_eq!((state.calls, handlers.load(Relaxed)), (1, 0));
    assert_eq!(context.wait(&mut state, Some(5 * MS)).unwrap(), 0);
}

/// If the first handler called drops the other timers that are due, these are not called.
#[test]
fn handler_drops_the_others() {
    let mut context = Context::new().unwrap();
    let mut state = State::default();
    for _ in 0..10 {
        let timer = context.timer(|state: &mut State, _| {
            state.calls += 1;
            state.timers.clear();
        });
        timer.arm(NOW).unwrap();
        state.timers.push(timer);
    }
    run(&mut context, &mut state);
    assert_eq!(context.wait(&mut state, Some(5 * MS)).unwrap(), 0);
    assert_eq!(state.calls, 1);
}

/// Timers that a handler makes, and its own when it arms it, fire in later
/// turns.
#[test]
fn handler_arms() {
    let mut context = Context::new().unwrap();
    let handle = context.handle();
    let timer = context.timer(move |state: &mut State, _| {
        state.calls += 1;
        let timer = handle.timer(|state: &mut State, _| state.calls += 10);
        timer.arm(NOW).unwrap();
        if state.calls % 10 < 3 {
            state.timers[0].arm(NOW).unwrap();
        }
        state.timers.push(timer);
    });
    timer.arm(NOW).unwrap();
    let mut state = State { timers: vec![timer], calls: 0 };
    while state.calls < 33 {
        run(&mut context, &mut state);
    }
    assert_eq!(state.calls, 33);
}

/// After a panic, the turn's other handlers, and the handler itself, are called
/// later.
#[test]
fn handler_panics() {
    let mut context = Context::new().unwrap();
    let others: Vec<_> = (0..3).map(|_| armed(&context, NOW)).collect();
    let mut panics = 0;
    let timer = context.timer(move |state: &mut State, _| {
        panics += 1;
        state.calls += 100;
        assert_ne!(panics, 1, "a panic that is expected");
    });
    timer.arm(NOW).unwrap();
    let later = armed(&context, NOW);
    let mut state = State::default();
    catch_unwind(AssertUnwindSafe(|| run(&mut context, &mut state))).unwrap_err();
    assert_eq!(context.before_sleep().unwrap(), Some(Duration::ZERO));
    timer.arm(NOW).unwrap();
    while state.calls < 204 {
        run(&mut context, &mut state);
    }
    assert_eq!(state.calls, 204);
    assert!(!timer.is_armed() && !later.is_armed() && !others[0].is_armed());
}

/// Other timers may be due that the descriptor does not signal again: the loop does not
/// sleep.
#[test]
fn turn_that_panics() {
    let mut context = Context::new().unwrap();
    let timer = context.timer(|_: &mut State, _| panic!("a panic that is expected"));
    let mut state = State::default();
    timer.arm(5 * MS).unwrap();
    assert_eq!(context.turn(&mut state).unwrap(), 0);
    assert_eq!(context.before_sleep().unwrap(), None);
    catch_unwind(AssertUnwindSafe(|| run(&mut context, &mut state))).unwrap_err();
    assert_eq!(context.before_sleep().unwrap(), Some(Duration::ZERO));
}

/// A timer that is forgotten fires; its handler is never dropped.
#[test]
fn forgotten_timer() {
    let handlers = Arc::new(AtomicUsize::new(0));
    let mut context = Context::new().unwrap();
    let counted = Counted::new(&handlers);
    let timer = context.timer(move |state: &mut State, _| state.calls += counted.count());
    timer.arm(NOW).unwrap();
    std::mem::forget(timer);
    std::mem::forget(armed(&context, Duration::from_secs(3600)));
    let mut state = State::default();
    run(&mut context, &mut state);
    drop(context);
    assert_eq!((state.calls, handlers.load(Relaxed)), (1, 1));
}

/// Timers of a context that is forgotten do not fire, and can be dropped.
#[test]
fn forgotten_context() {
    let context = Context::new().unwrap();
    let timer = armed(&context, NOW);
    std::mem::forget(context);
    assert!(timer.cancel());
}

/// A timer owns its handler when the context is gone: a timer that waits, a timer of a
/// turn, and a timer that only another handler holds.
#[test]
fn timers_outlive_the_context() {
    let handlers = Arc::new(AtomicUsize::new(0));
    let mut context = Context::new().unwrap();
    let others: Vec<_> = (0..3).map(|_| armed(&context, NOW)).collect();
    let inner = armed(&context, MS);
    let counted = Counted::new(&handlers);
    let outer = context.timer(move |_: &mut State, _| {
        assert!(inner.is_armed() && counted.count() > 0);
        panic!("a panic that is expected");
    });
    outer.arm(NOW).unwrap();
    let last = armed(&context, NOW);
    let mut state = State::default();
    catch_unwind(AssertUnwindSafe(|| run(&mut context, &mut state))).unwrap_err();
    drop(context);
    assert!(!last.is_armed() && !last.cancel() && last.arm(NOW).is_err());
    assert_eq!(handlers.load(Relaxed), 1);
    drop(outer);
    assert_eq!(handlers.load(Relaxed), 0);
    drop((others, last));
}

/// A handler cannot lock a mutex around its own context: the mutex is held during a
/// turn.
#[test]
fn handler_cannot_drop_its_context() {
    let shared = Arc::new(Mutex::new(Some(Context::new().unwrap())));
    let weak = Arc::downgrade(&shared);
    let timer = shared.lock().unwrap().as_ref().unwrap().timer(move |state: &mut State, _| {
        assert!(weak.upgrade().unwrap().try_lock().is_err());
        state.calls += 1;
    });
    timer.arm(NOW).unwrap();
    let mut state = State::default();
    run(shared.lock().unwrap().as_mut().unwrap(), &mut state);
    assert_eq!(state.calls, 1);
}

/// A handler may drop another context, together with the timers in it.
#[test]
fn handler_drops_another_context() {
    let mut context = Context::new().unwrap();
    let other = Context::new().unwrap();
    let timer = armed(&other, NOW);
    let mut held = Some((other, armed(&context, MS)));
    let dropper = context.timer(move |state: &mut State, _| {
        drop(held.take());
        state.calls += 1;
    });
    dropper.arm(NOW).unwrap();
    let mut state = State::default();
    run(&mut context, &mut state);
    assert!(timer.arm(NOW).is_err());
    assert_eq!(context.wait(&mut state, Some(5 * MS)).unwrap(), 0);
    assert_eq!(state.calls, 1);
}

/// A context that moves to another thread runs its handlers there, with a state of that thread.
#[test]
fn context_moves() {
    let mut context: Context<Vec<Rc<thread::ThreadId>>> = Context::new().unwrap();
    let timer = context.timer(|log: &mut Vec<_>, _| log.push(Rc::new(thread::current().id())));
    timer.arm(NOW).unwrap();
    let mut log = Vec::new();
    context.wait(&mut log, None).unwrap();
    timer.arm(NOW).unwrap();
    assert_eq!(*log[0], thread::current().id());
    let mover = thread::spawn(move || {
        let mut log = Vec::new();
        context.wait(&mut log, None).unwrap();
        *log[0] == thread::current().id()
    });
    assert!(mover.join().unwrap());
    assert!(!timer.is_armed());
}

/// Another thread drops a timer while its handler runs: the handler continues, and is dropped at
/// its end.
#[test]
fn dropped_while_it_runs() {
    let handlers = Arc::new(AtomicUsize::new(0));
    let mut context = Context::new().unwrap();
    let counted = Counted::new(&handlers);
    let (begun, begins) = mpsc::channel();
    let (dropped, is_dropped) = mpsc::channel();
    let timer = context.timer(move |state: &mut State, _| {
        begun.send(()).unwrap();
        is_dropped.recv().unwrap();
        state.calls += counted.count();
    });
    timer.arm(NOW).unwrap();
    let dropper = thread::spawn(move || {
        begins.recv().unwrap();
        drop(timer);
        dropped.send(()).unwrap();
    });
    let mut state = State::default();
    run(&mut context, &mut state);
    dropper.join().unwrap();
    assert_eq!((state.calls, handlers.load(Relaxed)), (1, 0));
}

/// Threads make, arm, move, cancel and drop timers while the loop turns, and until after it ended.
#[test]
fn threads() {
    let handlers = Arc::new(AtomicUsize::new(0));
    let mut context = Context::new().unwrap();
    let threads: Vec<_> = (0..4u32)
        .map(|seed| {
            let (handle, handlers) = (context.handle(), handlers.clone());
            thread::spawn(move || {
                let mut timers = Vec::new();
                for n in 0..2000 {
                    let counted = Counted::new(&handlers);
                    let timer = handle.timer(move |state: &mut State, _| {
                        state.calls += usize::from(counted.count() > 0);
                    });
                    if timer.arm((n * seed) % 3 * MS).is_err() {
                        return;
                    }
                    timers.push(timer);
                    if n % 5 == 0 {
                        timers.swap_remove(n as usize * 7 % timers.len());
                    } else if n % 5 == 1 {
                        timers[n as usize * 11 % timers.len()].cancel();
                    } else if n % 5 == 2 {
                        let _ = timers[n as usize * 13 % timers.len()].arm(MS);
                    }
                }
            })
        })
        .collect();
    let mut state = State::default();
    while state.calls < 1000 && !threads.iter().all(|thread| thread.is_finished()) {
        context.wait(&mut state, Some(MS)).unwrap();
    }
    drop(context);
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(handlers.load(Relaxed), 0);
}
