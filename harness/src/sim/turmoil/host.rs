//! One host: what turmoil starts, and how its clock is made to jump.

use std::{cell::RefCell, net::IpAddr, rc::Rc, sync::Arc, time::Duration};

use tokio::sync::mpsc;
use turmoil::Sim;

use super::{tasks::Tasks, world::HostWorld};
use crate::sim::engine::Cast;

/// A host, whether it runs or not.
pub struct Host {
    /// Its address.
    pub ip: IpAddr,
    life: Option<Life>,
    incarnations: u32,
    cradle: Cradle,
}

/// What is known of an incarnation from outside.
struct Life {
    tasks: Arc<Tasks>,
    jump: mpsc::UnboundedSender<Duration>,
}

/// Where turmoil finds the incarnation that it is to start.
type Cradle = Rc<RefCell<Option<Newborn>>>;

/// An incarnation that has not run yet.
struct Newborn {
    world: Arc<HostWorld>,
    jumps: mpsc::UnboundedReceiver<Duration>,
}

impl Host {
    /// A host that does not run yet.
    pub fn new(ip: IpAddr) -> Self {
        Self { ip, life: None, incarnations: 0, cradle: Cradle::default() }
    }

    /// Whether a process runs there.
    pub fn is_alive(&self) -> bool {
        self.life.is_some()
    }

    /// How often it has been started.
    pub fn incarnations(&self) -> u32 {
        self.incarnations
    }

    /// Has turmoil run the program of `world`, for the first time or anew.
    pub fn start(&mut self, sim: &mut Sim<'static>, cast: &Arc<dyn Cast>, world: HostWorld) {
        let name = world.name.clone();
        let (jump, jumps) = mpsc::unbounded_channel();
        self.life = Some(Life { tasks: Arc::clone(&world.tasks), jump });
        self.cradle.replace(Some(Newborn { world: Arc::new(world), jumps }));
        self.incarnations += 1;
        if self.incarnations > 1 {
            sim.bounce(name);
            return;
        }
        let (cast, cradle) = (Arc::clone(cast), Rc::clone(&self.cradle));
        sim.host(name, move || {
            let newborn = cradle.take().expect("every start lays one into the cradle");
            live(Arc::clone(&cast), newborn)
        });
    }

    /// From here on it spawns nothing. turmoil is to crash it next.
    pub fn die(&mut self) {
        if let Some(life) = self.life.take() {
            life.tasks.close();
        }
    }

    /// Whether any of its tasks ran since this was asked last.
    pub fn was_active(&self) -> bool {
        self.life.as_ref().is_some_and(|life| life.tasks.were_active())
    }

    /// In the next step its clock goes on by this much.
    pub fn jump(&self, by: Duration) {
        if let Some(life) = &self.life {
            // Nobody listens only where a task has panicked, which the next step reports.
            let _ = life.jump.send(by);
        }
    }
}

/// The life of one incarnation, in its own runtime.
async fn live(cast: Arc<dyn Cast>, newborn: Newborn) -> turmoil::Result {
    let Newborn { world, mut jumps } = newborn;
    tokio::task::spawn_local(async move {
        while let Some(by) = jumps.recv().await {
            tokio::time::advance(by).await;
        }
    });
    let (name, tasks) = (world.name.clone(), Arc::clone(&world.tasks));
    tasks.spawn(cast.program(&name, world));
    match tasks.run().await {}
}
