//! A scenario played in less time, with all periods in proportion. Only benchmarks do this.

use super::{Fault, Scenario, Span, Step};

impl Scenario {
    /// This scenario with every span divided by its `shrink_time_by`, which is 1 afterwards.
    #[must_use]
    pub fn shrunk(&self) -> Self {
        let mut shrunk = self.clone();
        let divisor = std::mem::replace(&mut shrunk.world.shrink_time_by, 1);
        let producer = &mut shrunk.world.producer;
        let spans = [&mut shrunk.world.key_retention, &mut producer.timeout]
            .into_iter()
            .chain(&mut producer.retry)
            .chain(shrunk.steps.iter_mut().flat_map(of_step))
            .chain(shrunk.faults.iter_mut().flat_map(of_fault))
            .chain(shrunk.answers.iter_mut().flat_map(|answer| &mut answer.after));
        for span in spans {
            *span = span.divided_by(divisor);
        }
        shrunk
    }
}

fn of_step(step: &mut Step) -> impl Iterator<Item = &mut Span> {
    let Step { at, send, deliver, status, .. } = step;
    let retries = send.iter_mut().flat_map(|send| send.retry.iter_mut().flatten());
    let delivered = deliver.iter_mut().flat_map(|of| of.retry.iter_mut().chain([&mut of.timeout]));
    let statuses = status.iter_mut().flat_map(|of| of.retry.iter_mut().chain([&mut of.timeout]));
    std::iter::once(at).chain(retries).chain(delivered).chain(statuses)
}

fn of_fault(fault: &mut Fault) -> impl Iterator<Item = &mut Span> {
    let Fault { at, by, restart, thaw, heal, lose_last, fail_over, .. } = fault;
    [at, by, restart, thaw, heal, lose_last, fail_over].into_iter().flatten()
}

impl Span {
    /// This span divided by `n`; what lasts any time still lasts 1 ms.
    fn divided_by(self, n: u32) -> Self {
        let least = self.ms().min(1);
        Self::from_ms((self.ms() / u64::from(n.max(1))).max(least))
    }
}
