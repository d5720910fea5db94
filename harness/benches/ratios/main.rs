//! What a case costs, as ratios that mean the same on every machine.
//!
//! `cargo bench` prints the ratios; `cargo bench -- --cases 1000` plays the mix of sends so often and prints cases a second,
//! `cargo bench -- --cases 1000 NAME` does so for one scenario, `cargo bench -- --floor 1000` for the floor of `first-send`
//! (for a profiler).

mod batch;
mod case;
mod floor;
mod headline;
mod measure;
mod table;
mod traffic;
mod ttl;
mod wiretap;

use std::{process::ExitCode, time::Instant};

use measure::{Pairs, Side, total};

/// Interleaved pairs of a ratio.
const PAIRS: usize = 9;
/// How often each side of a pair plays its case: some tens of milliseconds.
const REPEATS: usize = 30;

#[global_allocator]
static GLOBAL: onceproof::allocator::Allocator = onceproof::allocator::ALLOCATOR;

fn main() -> ExitCode {
    // Cargo adds `--bench`.
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => ratios(),
        ["--cases", cases, ref names @ ..] if cases.parse::<u64>().is_ok() => {
            speed(cases.parse().unwrap_or_default(), if names.is_empty() { &headline::SENDS } else { names });
        }
        ["--floor", cases] if cases.parse::<u64>().is_ok() => bare(cases.parse().unwrap_or_default()),
        _ => {
            eprintln!("usage: cargo bench [-- --cases N [NAME …] | --floor N]");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn ratios() {
    let (sends, webhooks) = (headline::floors(&headline::SENDS), headline::floors(&headline::WEBHOOKS));
    let mut pairs = vec![Pairs::default(); sends.len() + webhooks.len()];
    // Round by round, so that what disturbs the machine for a while disturbs every row alike.
    for _ in 0..PAIRS {
        for (floor, pairs) in sends.iter().chain(&webhooks).zip(&mut pairs) {
            pairs.push(REPEATS, &mut || floor.play_case(), &mut || floor.play_floor());
        }
    }
    let day = ttl::day_against_24_seconds(PAIRS, REPEATS);
    let batch = batch::thousand_against_hundred(PAIRS);
    let (of_sends, of_webhooks) = pairs.split_at(sends.len());
    table::print("mean of sends (aim: 2 or less)", &sends, of_sends);
    table::print("mean of webhooks (aim: 2 or less)", &webhooks, of_webhooks);
    table::print_day(&day);
    table::print_batch(&batch);
    table::print_speed(&sends, &total(of_sends));
}

/// As the spike's `duel only N`: a seed for each case, the mix in turn, wall time.
fn speed(cases: u64, names: &[&str]) {
    let scenarios: Vec<_> = names.iter().map(|name| headline::plan(name, 0)).collect();
    let began = Instant::now();
    let (mut messages, mut iterations, mut simulated_ms) = (0, 0, 0);
    for (seed, plan) in (0..cases).zip(scenarios.iter().cycle()) {
        let mut plan = plan.clone();
        plan.scenario.world.seed = Some(seed);
        let cost = headline::play(&plan).cost;
        messages += cost.messages;
        iterations += cost.iterations;
        simulated_ms += cost.simulated_ms;
    }
    let wall = began.elapsed().as_secs_f64();
    let per_case = |n: u64| n as f64 / cases as f64;
    println!(
        "{:.0} cases/s, {:.0} us/case | iterations {:.0} messages {:.1} | {:.2e} simulated s per wall s",
        cases as f64 / wall,
        wall * 1e6 / cases as f64,
        per_case(iterations),
        per_case(messages),
        simulated_ms as f64 / 1e3 / wall
    );
}

fn bare(cases: u64) {
    let floors = headline::floors(&headline::SENDS[..1]);
    let floor = &floors[0];
    let took = Side::of(cases as usize, &mut || floor.play_floor());
    println!("{:.0} us/floor", took.cpu_us);
}
