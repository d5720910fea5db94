//! The floor under a case: the same traffic between the same hosts on the same engine, at the same times, with
//! nothing behind it: no protocol, no store, no provider, no faults, no verdict.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{Router, body::Bytes, extract::Path, routing::post};
use http::Request;
use onceproof::{
    plan::{Plan, Scenario},
    sim::{
        action::Change,
        cast::{Company, DATABASE},
        engine::{Cast, Cost, Engine, Play},
        event::EventEngine,
        stage::Stage,
        wire::{HTTP_PORT, STORE_PORT},
    },
};
use onceproof_gateway::{
    client::Connection,
    http::serve,
    world::{BoxFuture, BoxIo, SharedWorld},
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::{
    headline,
    traffic::{self, Exchange, Frame, Said, Talk},
    wiretap::since_boot_ms,
};

/// Longer than any answer or frame of a headline case.
const FILLER: &[u8] = &[b'x'; 64 * 1024];
const LIMIT: Duration = Duration::from_secs(10);
const BOUND_MS: u64 = 600_000;

/// A case and its floor.
pub struct Floor {
    pub plan: Plan,
    /// The plan's world without its faults.
    calm: Scenario,
    talks: Arc<Vec<Talk>>,
}

impl Floor {
    /// The floor under the case with this plan.
    pub fn of(plan: Plan) -> Self {
        let talks = Arc::new(traffic::of(&plan));
        let calm = Scenario { faults: Vec::new(), ..plan.scenario.clone() };
        Self { plan, calm, talks }
    }

    pub fn play_case(&self) -> Cost {
        headline::play(&self.plan).cost
    }

    pub fn play_floor(&self) -> Cost {
        let stage = Stage::new(&self.calm, self.plan.seed());
        let cast = Bare {
            stage: Arc::clone(&stage),
            talks: Arc::clone(&self.talks),
            left: Arc::new(AtomicUsize::new(self.talks.len())),
        };
        let play = Play {
            hosts: Company::hosts(&self.calm),
            seed: self.plan.seed(),
            stage: Arc::clone(&stage),
            cast: Arc::new(cast),
            bound_ms: BOUND_MS,
        };
        let cost = EventEngine.play(&play).expect("the engine plays a floor");
        stage.close(cost.simulated_ms);
        cost
    }

    /// How many HTTP exchanges and how many store frames it has, an answer not counted apart.
    pub fn counts(&self) -> (usize, usize) {
        let frames = |talk: &Talk| match &talk.said {
            Said::Exchange(_) => 0,
            Said::Frames(frames) => frames.len(),
        };
        let exchanges = self.talks.iter().filter(|talk| matches!(talk.said, Said::Exchange(_))).count();
        (exchanges, self.talks.iter().map(frames).sum())
    }
}

/// Hosts that repeat what was said.
struct Bare {
    stage: Arc<Stage>,
    talks: Arc<Vec<Talk>>,
    left: Arc<AtomicUsize>,
}

impl Cast for Bare {
    fn program(&self, host: &str, world: SharedWorld) -> BoxFuture<()> {
        for index in (0..self.talks.len()).filter(|index| self.talks[*index].from == host) {
            let (talks, left) = (Arc::clone(&self.talks), Arc::clone(&self.left));
            let (stage, inner) = (Arc::clone(&self.stage), Arc::clone(&world));
            world.spawn(Box::pin(async move {
                repeat(&inner, &talks[index]).await.expect("nothing hurts a floor");
                if left.fetch_sub(1, Ordering::Relaxed) == 1 {
                    stage.finish();
                }
            }));
        }
        let is_database = host == DATABASE;
        Box::pin(async move {
            match is_database {
                true => serve_frames(world).await,
                false => serve(world, HTTP_PORT, Router::new().route("/{answer_bytes}", post(answer))).await,
            }
            .expect("a port is free");
        })
    }

    fn change(&self, _change: &Change) {}

    fn curtain(&self, _now_ms: u64) {}
}

async fn answer(Path(answer_bytes): Path<usize>, _body: Bytes) -> Bytes {
    Bytes::from_static(&FILLER[..answer_bytes])
}

async fn repeat(world: &SharedWorld, talk: &Talk) -> io::Result<()> {
    match &talk.said {
        Said::Exchange(exchange) => repeat_exchange(world, &talk.to, exchange).await,
        Said::Frames(frames) => repeat_frames(world, frames).await,
    }
}

async fn repeat_exchange(world: &SharedWorld, to: &str, exchange: &Exchange) -> io::Result<()> {
    sleep_until(world, exchange.at_ms).await;
    let mut request = Request::post(format!("/{}", exchange.answer_bytes));
    for (name, value) in &exchange.headers {
        request = request.header(name, value);
    }
    let request = request.body(exchange.body.clone()).map_err(io::Error::other)?;
    let connection = Connection::open(world, to, HTTP_PORT, LIMIT).await.map_err(io::Error::other)?;
    connection.send(request, LIMIT).await.map_err(io::Error::other)?;
    Ok(())
}

/// A frame says in its first bytes how long its answer is.
async fn repeat_frames(world: &SharedWorld, frames: &[Frame]) -> io::Result<()> {
    sleep_until(world, frames.first().map_or(0, |frame| frame.at_ms)).await;
    let mut io = world.connect(DATABASE, STORE_PORT).await?;
    for frame in frames {
        sleep_until(world, frame.at_ms).await;
        let mut written = Vec::with_capacity(4 + frame.bytes);
        written.extend((frame.bytes as u32).to_be_bytes());
        written.extend((frame.answer_bytes as u32).to_be_bytes());
        written.extend(&FILLER[4..frame.bytes]);
        io.write_all(&written).await?;
        read_frame(&mut io).await?;
    }
    Ok(())
}

async fn serve_frames(world: SharedWorld) -> io::Result<()> {
    let mut listener = world.listen(STORE_PORT).await?;
    loop {
        let mut io = listener.accept().await?;
        world.spawn(Box::pin(async move {
            // It ends when the other side has said all.
            while let Ok(frame) = read_frame(&mut io).await {
                let answer_bytes = frame.first_chunk::<4>().copied().map_or(0, u32::from_be_bytes);
                let mut written = Vec::with_capacity(4 + answer_bytes as usize);
                written.extend(answer_bytes.to_be_bytes());
                written.extend(&FILLER[..answer_bytes as usize]);
                if io.write_all(&written).await.is_err() {
                    return;
                }
            }
        }));
    }
}

async fn read_frame(io: &mut BoxIo) -> io::Result<Vec<u8>> {
    let mut frame = vec![0; io.read_u32().await? as usize];
    io.read_exact(&mut frame).await?;
    Ok(frame)
}

async fn sleep_until(world: &SharedWorld, at_ms: u64) {
    let left_ms = at_ms.saturating_sub(since_boot_ms(world));
    if left_ms > 0 {
        world.sleep(Duration::from_millis(left_ms)).await;
    }
}
