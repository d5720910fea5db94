//! The table that `cargo bench` prints.

use onceproof::sim::engine::Cost;

use crate::{
    batch::Batch,
    floor::Floor,
    measure::{Pairs, Ratio, total},
    ttl::Day,
};

/// Prints the ratios of some floors with what they are made of, and their mean.
pub fn print(mean: &str, floors: &[Floor], pairs: &[Pairs]) {
    println!("\nstrict, keyed; processor time of {} interleaved pairs: median (min-max)\n", crate::PAIRS);
    println!("{:<40}{:<20}{:>9}{:>9}   case: floor", "case / floor", "ratio", "case us", "floor us");
    for (floor, pairs) in floors.iter().zip(pairs) {
        row(&floor.plan.name, pairs, 1);
        let (exchanges, frames) = floor.counts();
        let (case, bare) = (floor.play_case(), floor.play_floor());
        println!("   {}; {exchanges} exchanges, {frames} frames", costs(case, bare));
    }
    row(mean, &total(pairs), floors.len());
    println!();
}

/// Prints what a day costs against 24 seconds.
pub fn print_day(day: &Day) {
    row("\n24 h / 24 s (aim: 1.1 or less)", &day.pairs, 1);
    println!("   {}", costs(day.day, day.seconds));
}

/// Prints what an item costs in a large batch against a small one.
pub fn print_batch(batch: &Batch) {
    let Ratio { median, min, max } = batch.pairs.ratio();
    let each = |ratio: f64| ratio * batch.small as f64 / batch.large as f64;
    println!(
        "an item of {} / an item of {}            {:.2} ({:.2}-{:.2})",
        batch.large,
        batch.small,
        each(median),
        each(min),
        each(max)
    );
}

fn row(name: &str, pairs: &Pairs, cases: usize) {
    let Ratio { median, min, max } = pairs.ratio();
    let (over, under) = pairs.sides();
    let each = |us: f64| us / cases as f64;
    let ratio = format!("{median:.2} ({min:.2}-{max:.2})");
    print!("{name:<40}{ratio:<20}{:>9.0}{:>9.0}", each(over.cpu_us), each(under.cpu_us));
}

fn costs(over: Cost, under: Cost) -> String {
    format!(
        "messages {}:{}, packets {}:{}, iterations {}:{}",
        over.messages, under.messages, over.packets, under.packets, over.iterations, under.iterations
    )
}

/// Prints how fast sends are played.
pub fn print_speed(floors: &[Floor], mean: &Pairs) {
    let costs: Vec<Cost> = floors.iter().map(Floor::play_case).collect();
    let wall_s = mean.sides().0.wall_us / 1e6;
    let sum = |of: fn(&Cost) -> u64| costs.iter().map(of).sum::<u64>() as f64;
    println!(
        "\nby the clock on the wall: {:.0} cases, {:.0} iterations, {:.0} messages a second; {:.1e} simulated s a second",
        floors.len() as f64 / wall_s,
        sum(|cost| cost.iterations) / wall_s,
        sum(|cost| cost.messages) / wall_s,
        sum(|cost| cost.simulated_ms) / 1e3 / wall_s
    );
}
