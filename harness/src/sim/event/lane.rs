//! One direction of one connection: the order of its packets, and the message that is passing.

use std::net::SocketAddr;

use turmoil_net::{Packet, TcpFlags, TcpSegment, Transport};

use crate::sim::{stage::Fate, wire::Tap};

/// Names a direction of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LaneName {
    /// Where its packets come from.
    pub source: SocketAddr,
    /// Where they go.
    pub destination: SocketAddr,
}

impl LaneName {
    /// The lane of a packet, and its segment. Nothing but TCP is spoken here.
    pub fn of(packet: &Packet) -> Option<(Self, &TcpSegment)> {
        let Transport::Tcp(segment) = &packet.payload else {
            return None;
        };
        let lane = Self {
            source: SocketAddr::new(packet.src, segment.src_port),
            destination: SocketAddr::new(packet.dst, segment.dst_port),
        };
        Some((lane, segment))
    }

    /// The other direction.
    pub fn back(self) -> Self {
        Self { source: self.destination, destination: self.source }
    }

    /// A reset in this direction, as the source's kernel would send it.
    pub fn reset(self) -> Packet {
        Packet {
            src: self.source.ip(),
            dst: self.destination.ip(),
            ttl: 64,
            payload: Transport::Tcp(TcpSegment {
                src_port: self.source.port(),
                dst_port: self.destination.port(),
                seq: 0,
                ack: 0,
                flags: TcpFlags { rst: true, ..TcpFlags::default() },
                window: 0,
                payload: Default::default(),
            }),
        }
    }
}

/// Whether a segment says nothing but "received": programs cannot see it.
pub fn is_pure_ack(segment: &TcpSegment) -> bool {
    segment.payload.is_empty() && segment.flags == TcpFlags { ack: true, ..TcpFlags::default() }
}

/// Whether a segment opens a connection.
pub fn is_opening(segment: &TcpSegment) -> bool {
    segment.flags.syn && !segment.flags.ack
}

/// What the engine remembers of a lane.
#[derive(Debug)]
pub struct Lane {
    /// Finds where messages begin.
    pub tap: Tap,
    /// What becomes of the message that is passing.
    pub fate: Fate,
    /// When the last packet arrives, and its place among the packets of that millisecond: a receiver drops
    /// what comes out of order.
    pub last: (u64, u64),
}

impl Lane {
    /// A new lane.
    pub fn new(name: LaneName) -> Self {
        Self {
            tap: Tap::new(name.source.port(), name.destination.port()),
            fate: Fate::Passes,
            last: (0, 0),
        }
    }
}
