// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
//! A context is an event source of mio: readable when timers are due.

use crate::Context;
use mio::{event::Source, unix::SourceFd, Interest, Registry, Token};
use std::io;
use std::os::unix::io::AsRawFd;

impl<S> Source for Context<S> {
    fn register(&mut self, registry: &Registry, token: Token, what: Interest) -> io::Result<()> {
        SourceFd(&self.as_raw_fd()).register(registry, token, what)
    }

    fn reregister(&mut self, registry: &Registry, token: Token, what: Interest) -> io::Result<()> {
        SourceFd(&self.as_raw_fd()).reregister(registry, token, what)
    }

    fn deregister(&mut self, registry: &Registry) -> io::Result<()> {
        SourceFd(&self.as_raw_fd()).deregister(registry)
    }
}
