//! Ctrl-C: stops a reply, clears the work of an interrupted fetch, or ends the program.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Once, PoisonError};

/// Exit code of a command that Ctrl-C stopped: 128 and the number of the signal.
pub(crate) const EXIT_STOPPED: u8 = 130;

/// A reply should end.
static STOP: AtomicBool = AtomicBool::new(false);
/// Replies are being written: Ctrl-C stops the reply, not the program.
static CHATTING: AtomicBool = AtomicBool::new(false);
/// The folder of unfinished work.
static WORK: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Takes over Ctrl-C. Where that is impossible Ctrl-C ends the program as it always does; unfinished work is then
/// cleared by the next run.
pub(crate) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let installed = ctrlc::set_handler(|| {
            let work = WORK.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(work) = &work {
                // What cannot be removed now is cleared by the next run.
                let _ = std::fs::remove_dir_all(work);
            }
            if work.is_none() && CHATTING.load(Ordering::Relaxed) {
                STOP.store(true, Ordering::Relaxed);
            } else {
                std::process::exit(i32::from(EXIT_STOPPED));
            }
        });
        if let Err(error) = installed {
            anstream::eprintln!("Ctrl-C will end the program without cleaning up: {error}");
        }
    });
}

/// From here on Ctrl-C stops replies; the flag tells when.
pub(crate) fn chatting() -> &'static AtomicBool {
    install();
    CHATTING.store(true, Ordering::Relaxed);
    &STOP
}

/// A folder of unfinished work; Ctrl-C removes it. Ends when the value is dropped.
pub(crate) struct Unfinished;

impl Unfinished {
    pub(crate) fn at(folder: &Path) -> Self {
        install();
        *WORK.lock().unwrap_or_else(PoisonError::into_inner) = Some(folder.to_owned());
        Self
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        *WORK.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
