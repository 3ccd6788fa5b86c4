// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
//! An echo server that closes a connection on which nothing has come for two seconds.
//!
//!     cargo run --features mio --example idle_mio [ADDRESS]

use callout::{Context, Timer};
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};
use std::collections::HashMap;
use std::io::{self, ErrorKind, Read, Write};
use std::time::Duration;

const IDLE: Duration = Duration::from_secs(2);
const LISTENER: Token = Token(0);
const TIMERS: Token = Token(1);

#[derive(Default)]
struct Server {
    connections: HashMap<Token, Connection>,
}

struct Connection {
    stream: TcpStream,
    idle: Timer<Server>,
}

impl Connection {
    /// Fails when the peer has closed the connection, or does not read.
    fn echo(&mut self) -> io::Result<()> {
        let mut buffer = [0; 4096];
        loop {
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(n) => self.stream.write_all(&buffer[..n])?,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return self.idle.arm(IDLE),
                Err(error) => return Err(error),
            }
        }
    }
}

fn main() -> io::Result<()> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:0".into());
    let mut listener = TcpListener::bind(address.parse().expect("an address"))?;
    let mut context = Context::new()?;
    let mut poll = Poll::new()?;
    poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
    poll.registry().register(&mut context, TIMERS, Interest::READABLE)?;
    println!("{}", listener.local_addr()?);

    let mut server = Server::default();
    let mut events = Events::with_capacity(1024);
    let mut tokens = (2..).map(Token);
    loop {
        match poll.poll(&mut events, context.before_sleep()?) {
            // A debugger, or the shell's fg.
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            other => other?,
        }
        for event in &events {
            match event.token() {
                TIMERS => (),
                LISTENER => {
                    while let (Ok((mut stream, _)), Some(token)) =
                        (listener.accept(), tokens.next())
                    {
                        poll.registry().register(&mut stream, token, Interest::READABLE)?;
                        let idle = context.timer(move |server: &mut Server, _| {
                            server.connections.remove(&token);
                        });
                        idle.arm(IDLE)?;
                        server.connections.insert(token, Connection { stream, idle });
                    }
                }
                token => {
                    if let Some(Err(_)) = server.connections.get_mut(&token).map(Connection::echo) {
                        server.connections.remove(&token);
                    }
                }
            }
        }
        // After the sockets: data that has come moves its timer before the timer fires.
        context.turn(&mut server)?;
    }
}
