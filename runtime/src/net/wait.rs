//! Waiting that ends: when something comes, when nothing came for too long, or when somebody stops it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often somebody's wish to stop is looked for.
const TICK: Duration = Duration::from_millis(50);

/// Nothing came for so long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Silence(pub(crate) Duration);

impl std::fmt::Display for Silence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "it said nothing for {} s", self.0.as_secs_f64())
    }
}

/// Waits for what is to come, at most `silence`. None: somebody stopped it.
pub(crate) async fn within<T>(
    coming: impl Future<Output = T>,
    silence: Duration,
    stop: &AtomicBool,
) -> Result<Option<T>, Silence> {
    let mut coming = std::pin::pin!(coming);
    let start = Instant::now();
    loop {
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        if let Ok(came) = tokio::time::timeout(TICK, &mut coming).await {
            return Ok(Some(came));
        }
        if start.elapsed() > silence {
            return Err(Silence(silence));
        }
    }
}

/// Threads that wait for the network, so that whoever needs an answer can block.
pub(crate) struct Waits {
    runtime: tokio::runtime::Runtime,
}

impl std::fmt::Debug for Waits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Waits")
    }
}

impl Waits {
    /// For one caller: its own thread does the work.
    #[cfg(feature = "model")]
    pub(crate) fn alone() -> std::io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(Self { runtime })
    }

    /// For several callers at once, with `parsers` threads for what takes the processor.
    #[cfg(feature = "tools")]
    pub(crate) fn shared(parsers: usize) -> std::io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .max_blocking_threads(parsers)
            .thread_name("skillc-net")
            .enable_all()
            .build()?;
        Ok(Self { runtime })
    }

    /// Runs to the end.
    pub(crate) fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }
}

/// A pause.
#[cfg(feature = "tools")]
pub(crate) async fn pause(time: Duration) {
    tokio::time::sleep(time).await;
}
