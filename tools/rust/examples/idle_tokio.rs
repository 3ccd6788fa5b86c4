// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
//! Idle timeouts of 100 000 connections, tasks of tokio, by one descriptor.
//!
//!     cargo run --example idle_tokio [CONNECTIONS [SECONDS]]
//!
//! A program needs `drive()` and `Idle`. The rest is a test, as tools/examples/idle.c: for SECONDS
//! a task plays the network, which sends data to connections at random or closes them. Then each
//! remaining connection times out, once, and not early.

use callout::{Clock, Context, Handle, Timer};
use std::{env, io, process::ExitCode, sync::Arc, time::Duration};
use tokio::io::unix::AsyncFd;
use tokio::sync::{mpsc, Notify};
use tokio::task::{spawn, yield_now, JoinHandle};

/// Runs the timers of a context, as a task.
async fn drive(context: Context) -> io::Result<()> {
    let mut fd = AsyncFd::new(context)?;
    loop {
        match fd.get_mut().before_sleep()? {
            Some(_) => yield_now().await,
            None => fd.readable_mut().await?.clear_ready(),
        }
        fd.get_mut().turn(&mut ())?;
    }
}

/// A timeout that is restarted whenever something happens.
struct Idle {
    timer: Timer,
    fired: Arc<Notify>,
}

impl Idle {
    fn new(timers: &Handle) -> Self {
        let fired = Arc::new(Notify::new());
        let notify = fired.clone();
        Idle { timer: timers.timer(move |_, _| notify.notify_one()), fired }
    }

    fn restart(&self, after: Duration) -> io::Result<()> {
        self.timer.arm(after)
    }

    /// Returns when the time has passed since the last restart.
    async fn expired(&self) {
        loop {
            self.fired.notified().await;
            // The timeout may have been restarted after it had fired.
            if !self.timer.is_armed() {
                return;
            }
        }
    }
}

const IDLE: Duration = Duration::from_secs(2);

enum Closed {
    ByPeer,
    TimedOut { late: Option<Duration> },
}

async fn connection(idle: Idle, mut data: mpsc::UnboundedReceiver<()>) -> io::Result<Closed> {
    loop {
        let end = Clock::Monotonic.now() + IDLE;
        idle.restart(IDLE)?;
        tokio::select! {
            biased; // data that has come goes before the timeout
            some = data.recv() => if some.is_none() {
                return Ok(Closed::ByPeer);
            },
            () = idle.expired() => {
                let late = Clock::Monotonic.now().checked_sub(end);
                return Ok(Closed::TimedOut { late });
            }
        }
    }
}

/// Each connection gets data once a second, on average. One connection in a hundred is closed
/// instead.
async fn network(mut peers: Vec<Option<mpsc::UnboundedSender<()>>>, seconds: u64) {
    let end = Clock::Monotonic.now() + Duration::from_secs(seconds);
    let mut seed = Clock::Monotonic.now().as_nanos() as u64 | 1;
    while Clock::Monotonic.now() < end {
        tokio::time::sleep(Duration::from_millis(10)).await;
        for _ in 0..=peers.len() / 100 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let i = (seed >> 33) as usize % peers.len();
            if seed >> 20 & 127 == 0 {
                peers[i] = None;
            } else if let Some(peer) = &peers[i] {
                // The connection may have timed out.
                let _ = peer.send(());
            }
        }
    }
    // All is quiet, and no peer closes its end.
    std::future::pending().await
}

#[tokio::main]
async fn main() -> io::Result<ExitCode> {
    let mut numbers = env::args().skip(1).map(|arg| arg.parse().expect("a number"));
    let (n, seconds) = (numbers.next().unwrap_or(100_000), numbers.next().unwrap_or(5));
    let context = Context::new()?;
    if let Some(reason) = context.why_timerfd() {
        println!("idle_tokio: on a timerfd: {reason}");
    }
    let timers = context.handle();
    let driver: JoinHandle<io::Result<()>> = spawn(drive(context));
    let (peers, tasks): (Vec<_>, Vec<_>) = (0..n)
        .map(|_| {
            let (peer, data) = mpsc::unbounded_channel();
            (Some(peer), spawn(connection(Idle::new(&timers), data)))
        })
        .unzip();
    let network = spawn(network(peers, seconds));

    let (mut timed_out, mut by_peer, mut early, mut latest) = (0, 0, 0, Duration::ZERO);
    for task in tasks {
        match task.await?? {
            Closed::ByPeer => by_peer += 1,
            Closed::TimedOut { late } => {
                timed_out += 1;
                early += u64::from(late.is_none());
                latest = latest.max(late.unwrap_or_default());
            }
        }
    }
    network.abort();
    driver.abort();
    let good = early == 0 && timed_out > 0 && by_peer + timed_out == n;
    println!("connections          {n:10}");
    println!("timed out            {timed_out:10}");
    println!("closed by peer       {by_peer:10}");
    println!("latest, in ms        {:10.1}", latest.as_secs_f64() * 1e3);
    println!("early                {early:10}");
    let verdict = if good { "ok: each connection was closed once, none early" } else { "FAILED" };
    println!("idle_tokio: {verdict}");
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
