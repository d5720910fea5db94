//! What does not pass between hosts, and the connections that have lost something by it.
//!
//! turmoil drops what a partition meets and nothing more. What TCP makes of that is added here: an opening
//! that nobody answers hangs, and a connection that lost a segment is reset when its link is mended.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::{IpAddr, SocketAddr},
    sync::{Mutex, MutexGuard},
    task::Waker,
};

/// A direction between two hosts.
pub type Road = (IpAddr, IpAddr);
/// An end of a connection: its own address, then its peer's. What it sends goes in this direction.
pub type End = (SocketAddr, SocketAddr);

/// All links of one run.
#[derive(Debug, Default)]
pub struct Links {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    cuts: BTreeSet<Road>,
    /// Hosts that died silently: nothing reaches or leaves them.
    dark: BTreeSet<IpAddr>,
    /// Ends that sent something that was lost.
    holed: BTreeSet<End>,
    torn: BTreeSet<End>,
    /// Open ends, and who waits to read there.
    open: BTreeMap<End, Option<Waker>>,
}

impl Links {
    /// Cuts a road. These ends had sent something that is under way on it.
    pub fn cut(&self, road: Road, under_way: impl IntoIterator<Item = End>) {
        let mut state = self.lock();
        state.cuts.insert(road);
        state.holed.extend(under_way);
    }

    /// Mends a road, and tears the connections that lost something on it.
    pub fn mend(&self, road: Road) {
        let mut state = self.lock();
        state.cuts.remove(&road);
        let (tear, keep) =
            std::mem::take(&mut state.holed).into_iter().partition(|end: &End| road_of(*end) == road);
        state.holed = keep;
        for (here, there) in tear {
            state.tear((here, there));
            state.tear((there, here));
        }
    }

    /// Whether nothing that is sent on this road arrives, and nobody is told.
    pub fn swallows(&self, road: Road) -> bool {
        let state = self.lock();
        let (from, to) = road;
        state.cuts.contains(&road) || state.dark.contains(&from) || state.dark.contains(&to)
    }

    /// The host falls silent, or is heard again.
    pub fn darken(&self, host: IpAddr, dark: bool) {
        let mut state = self.lock();
        if dark {
            state.dark.insert(host);
        } else {
            state.dark.remove(&host);
        }
    }

    /// A connection is open at this end.
    pub fn open(&self, end: End) {
        self.lock().open.insert(end, None);
    }

    /// This end closes; its last word may be lost.
    pub fn close(&self, end: End) {
        self.note_sent(end);
        let mut state = self.lock();
        state.open.remove(&end);
        state.torn.remove(&end);
    }

    /// Something is sent from this end: into a cut, it leaves a hole that turmoil never fills.
    pub fn note_sent(&self, end: End) {
        let mut state = self.lock();
        if state.cuts.contains(&road_of(end)) {
            state.holed.insert(end);
        }
    }

    /// Whether the connection was reset at this end.
    pub fn is_torn(&self, end: End) -> bool {
        self.lock().torn.contains(&end)
    }

    /// Who is to be woken when this end is torn.
    pub fn wait(&self, end: End, waker: &Waker) {
        if let Some(waiting) = self.lock().open.get_mut(&end) {
            *waiting = Some(waker.clone());
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics while it looks at links")
    }
}

impl State {
    fn tear(&mut self, end: End) {
        if let Some(waiting) = self.open.get_mut(&end) {
            self.torn.insert(end);
            if let Some(waker) = waiting.take() {
                waker.wake();
            }
        }
    }
}

fn road_of((here, there): End) -> Road {
    (here.ip(), there.ip())
}
