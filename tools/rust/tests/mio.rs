// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
//! A loop of mio, which watches edges: it is woken for each timer, and sleeps when none is due.

use callout::{Context, Timer};
use mio::{Events, Interest, Poll, Token};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const MS: Duration = Duration::from_millis(1);
const PATIENCE: Duration = Duration::from_secs(60);

/// Turns until `calls` handlers were called. Returns the number of wake-ups.
fn turns(context: &mut Context<usize>, calls: usize) -> io::Result<usize> {
    let mut poll = Poll::new()?;
    let mut events = Events::with_capacity(8);
    let (mut called, mut turns) = (0, 0);
    let begin = Instant::now();
    poll.registry().register(context, Token(0), Interest::READABLE)?;
    while called < calls && begin.elapsed() < PATIENCE {
        poll.poll(&mut events, context.before_sleep()?.or(Some(PATIENCE)))?;
        context.turn(&mut called)?;
        turns += 1;
    }
    poll.registry().deregister(context)?;
    assert_eq!(called, calls);
    Ok(turns)
}

fn crowd(context: &Context<usize>, after: Duration) -> Vec<Timer<usize>> {
    let timer = |_| {
        let timer = context.timer(|called: &mut usize, _| *called += 1);
        timer.arm(after).unwrap();
        timer
    };
    (0..20_000).map(timer).collect()
}

/// More timers are due than a turn calls and, as they were moved, than it looks
/// at.
#[test]
fn crowds() -> io::Result<()> {
    for mut context in [Context::new()?, Context::new_on_timerfd()?] {
        let timers = crowd(&context, MS);
        turns(&mut context, timers.len())?;
        let timers = crowd(&context, MS);
        context.before_sleep()?;
        for timer in &timers {
            timer.arm(100 * MS)?;
        }
        turns(&mut context, timers.len())?;
    }
    Ok(())
}

/// A periodic timer takes two turns each time: the second sees that there is no
/// more.
#[test]
fn sleeps() -> io::Result<()> {
    for mut context in [Context::new()?, Context::new_on_timerfd()?] {
        let beat = context.timer(|called: &mut usize, _| *called += 1).period(5 * MS);
        beat.arm(5 * MS)?;
        let turns = turns(&mut context, 20)?;
        assert!(turns <= 2 * 20 + 2, "{turns}");
    }
    Ok(())
}

/// The example, which ends with the test.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start() -> io::Result<Self> {
        let path = std::env::current_exe()?.with_file_name("../examples/idle_mio");
        let mut child =
            Command::new(&path).stdout(Stdio::piped()).spawn().unwrap_or_else(|error| {
                panic!("{}: {error}: cargo build --features mio --examples", path.display())
            });
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line)?;
        Ok(Server { child, address: line.trim().into() })
    }

    fn signal(&self, name: &str) -> io::Result<()> {
        let kill = format!("kill -{name} {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status()?.success());
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The example closes each connection, and none before it was idle for two seconds.
#[test]
fn server() -> io::Result<()> {
    let server = Server::start()?;
    let mut clients = Vec::new();
    for _ in 0..300 {
        let begin = Instant::now();
        let client = TcpStream::connect(&server.address)?;
        client.set_read_timeout(Some(PATIENCE))?;
        clients.push((client, begin));
    }
    std::thread::sleep(Duration::from_secs(1));
    for (client, last) in clients.iter_mut().step_by(2) {
        let begin = Instant::now();
        // On a slow machine the connection may be closed already.
        if client.write_all(b"x").and_then(|()| client.read_exact(&mut [0])).is_ok() {
            *last = begin;
        }
    }
    for (client, last) in &mut clients {
        match client.read(&mut [0]) {
            Ok(0) => (),
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => (),
            other => panic!("{other:?}"),
        }
        assert!(last.elapsed() >= Duration::from_secs(2));
    }
    Ok(())
}

/// A server that was stopped, as by a shell or a debugger, continues.
#[test]
fn stopped_server() -> io::Result<()> {
    let server = Server::start()?;
    std::thread::sleep(100 * MS);
    server.signal("STOP")?;
    std::thread::sleep(100 * MS);
    server.signal("CONT")?;
    let begin = Instant::now();
    let mut client = TcpStream::connect(&server.address)?;
    client.set_read_timeout(Some(PATIENCE))?;
    assert_eq!(client.read(&mut [0])?, 0);
    assert!(begin.elapsed() >= Duration::from_secs(2));
    Ok(())
}

/// A server that was stopped while data came and a timer became due reads the data first.
#[test]
fn late_server() -> io::Result<()> {
    let server = Server::start()?;
    let mut client = loop {
        let begin = Instant::now();
        let mut client = TcpStream::connect(&server.address)?;
        client.set_read_timeout(Some(PATIENCE))?;
        let echoed = client.write_all(b"x").and_then(|()| client.read_exact(&mut [0]));
        // The server has armed its timer, and sleeps.
        std::thread::sleep(100 * MS);
        server.signal("STOP")?;
        // On a slow machine the connection may be closed already.
        if echoed.is_ok() && begin.elapsed() < Duration::from_secs(2) {
            break client;
        }
        server.signal("CONT")?;
    };
    client.write_all(b"y")?;
    std::thread::sleep(Duration::from_secs(3));
    server.signal("CONT")?;
    let mut echo = [0];
    client.read_exact(&mut echo)?;
    assert_eq!(&echo, b"y");
    Ok(())
}
