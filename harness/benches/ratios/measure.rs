//! Interleaved pairs, and what they come to.

use std::{hint::black_box, time::Instant};

use rustix::time::{ClockId, clock_gettime};

/// What one repetition of a side took.
#[derive(Debug, Clone, Copy, Default)]
pub struct Side {
    /// Processor time of this thread: what others do beside it does not count.
    pub cpu_us: f64,
    pub wall_us: f64,
}

impl Side {
    /// The mean of so many repetitions.
    pub fn of<T>(repeats: usize, play: &mut impl FnMut() -> T) -> Self {
        let (cpu, wall) = (cpu_us(), Instant::now());
        for _ in 0..repeats {
            black_box(play());
        }
        let each = |us: f64| us / repeats as f64;
        Self { cpu_us: each(cpu_us() - cpu), wall_us: each(wall.elapsed().as_secs_f64() * 1e6) }
    }

    fn plus(self, other: Self) -> Self {
        Self { cpu_us: self.cpu_us + other.cpu_us, wall_us: self.wall_us + other.wall_us }
    }
}

fn cpu_us() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e6 + time.tv_nsec as f64 / 1e3
}

/// The pairs of one ratio.
#[derive(Debug, Clone, Default)]
pub struct Pairs(Vec<(Side, Side)>);

/// A ratio, and how far its pairs lie apart.
#[derive(Debug, Clone, Copy)]
pub struct Ratio {
    pub median: f64,
    pub min: f64,
    pub max: f64,
}

impl Pairs {
    /// Measures one more pair.
    pub fn push<T>(&mut self, repeats: usize, over: &mut impl FnMut() -> T, under: &mut impl FnMut() -> T) {
        let over = Side::of(repeats, over);
        self.0.push((over, Side::of(repeats, under)));
    }

    /// How the first side compares with the second.
    pub fn ratio(&self) -> Ratio {
        let mut ratios: Vec<f64> = self.0.iter().map(|(over, under)| over.cpu_us / under.cpu_us).collect();
        ratios.sort_by(f64::total_cmp);
        Ratio { median: ratios[ratios.len() / 2], min: ratios[0], max: ratios[ratios.len() - 1] }
    }

    /// The medians of both sides.
    pub fn sides(&self) -> (Side, Side) {
        (median(self.0.iter().map(|pair| pair.0)), median(self.0.iter().map(|pair| pair.1)))
    }
}

fn median(sides: impl Iterator<Item = Side>) -> Side {
    let mut sides: Vec<Side> = sides.collect();
    sides.sort_by(|one, other| one.cpu_us.total_cmp(&other.cpu_us));
    sides[sides.len() / 2]
}

/// The pairs of all rows together, round by round.
pub fn total(rows: &[Pairs]) -> Pairs {
    let round = |number: usize| {
        rows.iter()
            .map(|row| row.0[number])
            .fold((Side::default(), Side::default()), |sum, pair| (sum.0.plus(pair.0), sum.1.plus(pair.1)))
    };
    Pairs((0..rows.first().map_or(0, |row| row.0.len())).map(round).collect())
}
