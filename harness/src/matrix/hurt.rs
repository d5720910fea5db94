//! The ways to hurt a run.

use std::fmt;

use super::Place;
use crate::{
    plan::{Fault, Span},
    sim::{actors::redis, cast::DATABASE},
};

/// A dead gateway starts again after this.
const RESTART_MS: u64 = 2_000;
/// A frozen gateway thaws after this: later than every lease, and than BullMQ's lock.
const THAW_MS: u64 = 60_000;
/// A store that is down is back after this: later than a caller's patience.
const STORE_DOWN_MS: u64 = 20_000;

/// A way to hurt a run at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hurt {
    /// The gateway's process dies, and its kernel says so.
    LoudCrash,
    /// The gateway's host loses its power.
    SilentCrash,
    /// The gateway is suspended until its leases are over.
    Freeze,
    /// The message never arrives.
    Lost,
    /// The store's answer never arrives: whoever asked does not know whether the COMMIT was made.
    CommitAnswerLost,
    /// The store is down for a while.
    StoreDown,
    /// Redis loses its memory.
    RedisEmptied,
}

impl Hurt {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::LoudCrash,
        Self::SilentCrash,
        Self::Freeze,
        Self::Lost,
        Self::CommitAnswerLost,
        Self::StoreDown,
        Self::RedisEmptied,
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::LoudCrash => "loud-crash",
            Self::SilentCrash => "silent-crash",
            Self::Freeze => "freeze",
            Self::Lost => "lost",
            Self::CommitAnswerLost => "commit-answer-lost",
            Self::StoreDown => "store-down",
            Self::RedisEmptied => "redis-emptied",
        }
    }

    /// The fault that hurts so at this place; none where it cannot. `store` is the host on which the system keeps its truth.
    #[must_use]
    pub fn at(self, place: &Place, store: Option<&str>, has_redis: bool) -> Option<Fault> {
        let here = || Fault { when: Some(place.trigger()), ..Fault::default() };
        let crash = |silent| {
            let restart = Some(Span::from_ms(RESTART_MS));
            place.gateway().map(|gateway| Fault { crash: Some(gateway.into()), silent, restart, ..here() })
        };
        match (self, place) {
            (Self::LoudCrash, _) => crash(Some(false)),
            (Self::SilentCrash, _) => crash(Some(true)),
            (Self::Freeze, _) => place.gateway().map(|gateway| Fault {
                freeze: Some(gateway.into()),
                thaw: Some(Span::from_ms(THAW_MS)),
                ..here()
            }),
            (Self::Lost | Self::CommitAnswerLost, Place::Message(message)) => {
                let is_answer = [DATABASE, redis::HOST].contains(&message.from.as_str());
                let lost = || Fault { lose: Some(message.clone()), ..Fault::default() };
                (is_answer == (self == Self::CommitAnswerLost)).then(lost)
            }
            (Self::Lost | Self::CommitAnswerLost, Place::Point { .. }) => None,
            (Self::StoreDown, _) => store.map(|store| Fault {
                crash: Some(store.into()),
                restart: Some(Span::from_ms(STORE_DOWN_MS)),
                ..here()
            }),
            (Self::RedisEmptied, _) => has_redis.then(|| Fault { empty: Some(redis::HOST.into()), ..here() }),
        }
    }
}

impl fmt::Display for Hurt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
