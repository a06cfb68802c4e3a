//! One model, many conversations: they take turns token by token, side by side in one run where the graph allows it.
//!
//! A thread owns the model. Replies that wait do so in the order in which they came, and only so many of them; one
//! more is refused. Between two tokens of those that are being written, a piece of the next prompt is read, so that a
//! long prompt holds nobody up. Several conversations in one run take other kernels than one alone, whose sums round
//! otherwise: with others beside it, a seed need not give the answer that it gives alone.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::cache::Cache;
use super::decoder::Batch;
use super::guard::Vocabulary;
use super::lookup::Lookup;
use super::writing::{Progress, Writing};
use super::{
    Bounds, Ending, LanguageModel, Model, ModelError, Processor, Prompt, Reading, Resident, Sampling, Written,
};

/// How much is done at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Replies that are written side by side; one at least.
    pub side_by_side: usize,
    /// Replies that wait for a place.
    pub waiting: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { side_by_side: 4, waiting: 32 }
    }
}

/// Tokens of a prompt that are read between two tokens of other replies, and where there are none.
const PIECE: usize = 64;
const PIECE_ALONE: usize = 256;
/// Bytes of keys and values side by side; conversations that need more take turns.
const MOST_BATCH_BYTES: usize = 512 << 20;
/// How often a waiting caller looks whether it was stopped.
const LOOK: Duration = Duration::from_millis(10);

/// A model that several threads share. Each handle is cheap to clone; when the last goes, the model is closed.
#[derive(Clone)]
pub struct Scheduler {
    inner: Arc<Inner>,
}

struct Inner {
    jobs: Option<Sender<Job>>,
    /// Replies that are written or wait.
    asked: AtomicUsize,
    processor: Arc<Processor>,
    vocabulary: Arc<Vocabulary>,
    limits: Limits,
    thread: Option<JoinHandle<()>>,
}

impl std::fmt::Debug for Scheduler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scheduler").field("limits", &self.inner.limits).finish_non_exhaustive()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // The thread ends when nobody can send any more.
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has told its callers already: their channels closed.
            let _ = thread.join();
        }
    }
}

/// A reply's place among those that are written or wait.
struct Place<'a>(&'a AtomicUsize);

impl Inner {
    fn place(&self) -> Result<Place<'_>, ModelError> {
        let Limits { side_by_side, waiting } = self.limits;
        let one_more = |asked| (asked < side_by_side + waiting).then_some(asked + 1);
        match self.asked.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more) {
            Ok(_) => Ok(Place(&self.asked)),
            Err(_) => Err(ModelError::Busy { waiting }),
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A reply that is asked for.
struct Job {
    writing: Writing,
    /// Tokens that other prompts of its skill begin with.
    shared: usize,
    cancelled: Arc<AtomicBool>,
    begun: Arc<AtomicBool>,
    events: Sender<Event>,
}

enum Event {
    Text(String),
    Done(Result<Box<Written>, ModelError>),
}

impl Scheduler {
    /// Gives a model to a thread of its own.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn start(model: Model, limits: Limits) -> Result<Self, ModelError> {
        let limits = Limits { side_by_side: limits.side_by_side.max(1), ..limits };
        let (processor, vocabulary) = (Arc::clone(&model.processor), Arc::clone(&model.vocabulary));
        let (sender, jobs) = channel();
        let mut work =
            Work { model, jobs, most: limits.side_by_side, reading: None, rows: Vec::new(), batch: None };
        let thread = std::thread::Builder::new()
            .name("model".to_owned())
            .spawn(move || while work.round() {})
            .map_err(|error| ModelError::Runtime(format!("no thread could be started: {error}")))?;
        let (jobs, thread) = (Some(sender), Some(thread));
        Ok(Self {
            inner: Arc::new(Inner {
                jobs,
                asked: AtomicUsize::new(0),
                processor,
                vocabulary,
                limits,
                thread,
            }),
        })
    }
}

impl LanguageModel for Scheduler {
    fn processor(&self) -> &Arc<Processor> {
        &self.inner.processor
    }

    /// # Errors
    /// Those of [`Model::write`]; and [`ModelError::Busy`] if too many replies wait already.
    fn write(
        &mut self,
        prompt: Prompt<'_>,
        sampling: &Sampling,
        bounds: Bounds<'_>,
        stop: &AtomicBool,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<Written, ModelError> {
        let inner = &self.inner;
        let start = Instant::now();
        let _place = inner.place()?;
        let (tokens, shared) = inner.processor.split_prompt(prompt)?;
        let prompt_tokens = tokens.len();
        let writing = Writing::new(&inner.processor, &inner.vocabulary, tokens, (sampling, bounds), start)?;
        let (cancelled, begun) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (events, received) = channel();
        let job =
            Job { writing, shared, cancelled: Arc::clone(&cancelled), begun: Arc::clone(&begun), events };
        let ended = || ModelError::Runtime("the thread that runs the model has ended".to_owned());
        inner.jobs.as_ref().ok_or_else(ended)?.send(job).map_err(|_| ended())?;
        loop {
            match received.recv_timeout(LOOK) {
                Ok(Event::Text(text)) => on_text(&text),
                Ok(Event::Done(written)) => return written.map(|written| *written),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(ended()),
            }
            if stop.load(Ordering::Relaxed) {
                cancelled.store(true, Ordering::Relaxed);
                if !begun.load(Ordering::Relaxed) {
                    let ending = Ending::Stopped;
                    return Ok(Written { ending, ..Written::behind(prompt_tokens, 0) });
                }
            }
        }
    }
}

/// A reply that is being written.
struct Row {
    job: Job,
    cache: Cache,
    /// Its newest token, which is not computed yet.
    newest: u32,
    lookup: Lookup,
}

/// What the thread has in hand.
struct Work {
    model: Model,
    jobs: Receiver<Job>,
    most: usize,
    /// The prompt that is being read.
    reading: Option<(Job, Reading)>,
    rows: Vec<Row>,
    /// The rows side by side, in their order.
    batch: Option<Batch>,
}

/// Gives a job what it waits for; a caller that is gone needs nothing.
fn finish(job: Job, failure: Option<ModelError>) -> Vec<u32> {
    let events = job.events;
    let (written, tokens) = job.writing.finish(&mut |text| {
        let _ = events.send(Event::Text(text.to_owned()));
    });
    let _ = events.send(Event::Done(match failure {
        Some(failure) => Err(failure),
        None => Ok(Box::new(written)),
    }));
    tokens
}

/// Hands text to a caller; the job of one that is gone is cancelled.
fn show<'j>(events: &'j Sender<Event>, cancelled: &'j AtomicBool) -> impl FnMut(&str) + 'j {
    move |text| {
        if events.send(Event::Text(text.to_owned())).is_err() {
            cancelled.store(true, Ordering::Relaxed);
        }
    }
}

impl Job {
    /// Whether nobody wants it any more.
    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    fn take(&mut self, logits: &mut [f32]) -> Result<Progress, ModelError> {
        self.writing.take(logits, &mut show(&self.events, &self.cancelled))
    }
}

impl Work {
    /// A piece of a prompt and a token of each reply. False: nobody will ask any more.
    fn round(&mut self) -> bool {
        if self.reading.is_none() && self.rows.len() < self.most {
            let idle = self.rows.is_empty();
            let job = if idle {
                self.jobs.recv().map_err(|_| TryRecvError::Disconnected)
            } else {
                self.jobs.try_recv()
            };
            match job {
                Ok(job) => self.begin(job),
                Err(TryRecvError::Disconnected) if idle => return false,
                Err(_) => {}
            }
        }
        self.read();
        self.drop_cancelled();
        match self.rows.len() {
            0 => {}
            1 => self.advance(true),
            rows => {
                let longest = self.rows.iter().map(|row| row.cache.length).max().unwrap_or_default();
                let fits = self.model.decoder.batch_bytes(rows, longest) <= MOST_BATCH_BYTES;
                if self.model.decoder.can_batch() && (fits || self.batch.is_some()) {
                    self.advance_together();
                } else {
                    self.advance(false);
                }
            }
        }
        true
    }

    fn begin(&mut self, mut job: Job) {
        job.begun.store(true, Ordering::Relaxed);
        if job.is_cancelled() {
            job.writing.stop();
            finish(job, None);
            return;
        }
        // Caches of rows and of conversations that pause are together as many as rows may be.
        self.model.most_residents = self.most - self.rows.len();
        match self.model.begin(job.writing.tokens().to_vec(), job.shared) {
            Ok(reading) => {
                job.writing.prefilled(reading.tokens.len() - reading.known);
                self.reading = Some((job, reading));
            }
            Err(error) => drop(finish(job, Some(error))),
        }
    }

    /// Reads a piece of the prompt in hand.
    fn read(&mut self) {
        let Some((mut job, mut reading)) = self.reading.take() else { return };
        if job.is_cancelled() {
            job.writing.stop();
            finish(job, None);
            let length = reading.cache.length;
            reading.tokens.truncate(length);
            self.model.keep(Resident { tokens: reading.tokens, cache: reading.cache });
            return;
        }
        let piece = if self.rows.is_empty() { PIECE_ALONE } else { PIECE };
        let logits = match self.model.read(&mut reading, piece) {
            Ok(Some(logits)) => logits,
            Ok(None) => {
                self.reading = Some((job, reading));
                return;
            }
            Err(error) => return drop(finish(job, Some(error))),
        };
        let mut logits = logits;
        let lookup = Lookup::new(job.writing.speculates() && self.model.decoder.is_in_place());
        match job.take(&mut logits) {
            Ok(Progress::Next(newest)) => {
                self.split();
                self.rows.push(Row { job, cache: reading.cache, newest, lookup });
            }
            Ok(Progress::Done) => {
                let tokens = finish(job, None);
                self.model.keep(Resident { tokens, cache: reading.cache });
            }
            Err(error) => drop(finish(job, Some(error))),
        }
    }

    fn drop_cancelled(&mut self) {
        let outcomes = self.rows.iter_mut().map(|row| {
            let cancelled = row.job.is_cancelled();
            if cancelled {
                row.job.writing.stop();
            }
            if cancelled { Ok(Progress::Done) } else { Ok(Progress::Next(row.newest)) }
        });
        let outcomes = outcomes.collect();
        self.settle(outcomes);
    }

    /// A token of each row by itself; `alone`: guessed ones along with it.
    fn advance(&mut self, alone: bool) {
        self.split();
        let mut outcomes = Vec::with_capacity(self.rows.len());
        for row in &mut self.rows {
            let mut on_text = show(&row.job.events, &row.job.cancelled);
            let (writing, cache, newest) = (&mut row.job.writing, &mut row.cache, row.newest);
            outcomes.push(if alone {
                self.model.advance(writing, cache, newest, &mut row.lookup, &mut on_text)
            } else {
                self.model.advance_one(writing, cache, newest, &mut on_text)
            });
        }
        self.settle(outcomes);
    }

    /// A token of each row, in one run.
    fn advance_together(&mut self) {
        if self.batch.as_ref().is_some_and(|batch| !batch.has_room()) {
            self.split();
        }
        let outcomes = match self.step_batch() {
            Ok(all) => all
                .into_iter()
                .zip(&mut self.rows)
                .map(|(mut logits, row)| {
                    self.model.vocabulary.check(&logits)?;
                    row.job.writing.count_step(0);
                    row.job.take(&mut logits)
                })
                .collect(),
            // What the rows have computed so far stands; each is told.
            Err(error) => {
                let cause = error.to_string();
                self.rows.iter().map(|_| Err(ModelError::Graph(cause.clone()))).collect()
            }
        };
        self.settle(outcomes);
    }

    fn step_batch(&mut self) -> Result<Vec<Vec<f32>>, ModelError> {
        if self.batch.is_none() {
            let caches: Vec<&Cache> = self.rows.iter().map(|row| &row.cache).collect();
            self.batch = Some(self.model.decoder.batch(&caches)?);
        }
        let newest: Vec<u32> = self.rows.iter().map(|row| row.newest).collect();
        match &mut self.batch {
            Some(batch) => self.model.decoder.step_batch(batch, &newest),
            None => Ok(Vec::new()),
        }
    }

    /// Takes the rows apart: each cache holds what was computed for it.
    fn split(&mut self) {
        let Some(batch) = self.batch.take() else { return };
        let mut caches: Vec<&mut Cache> = self.rows.iter_mut().map(|row| &mut row.cache).collect();
        if let Err(error) = self.model.decoder.unbatch(&batch, &mut caches) {
            let cause = error.to_string();
            for row in self.rows.drain(..) {
                finish(row.job, Some(ModelError::Graph(cause.clone())));
            }
        }
    }

    /// Goes on with rows whose token was written, and ends the others.
    fn settle(&mut self, outcomes: Vec<Result<Progress, ModelError>>) {
        if outcomes.iter().any(|outcome| !matches!(outcome, Ok(Progress::Next(_)))) {
            self.split();
        }
        let rows = std::mem::take(&mut self.rows);
        for (mut row, outcome) in rows.into_iter().zip(outcomes) {
            match outcome {
                Ok(Progress::Next(newest)) => {
                    row.newest = newest;
                    self.rows.push(row);
                }
                Ok(Progress::Done) => {
                    let tokens = finish(row.job, None);
                    self.model.keep(Resident { tokens, cache: row.cache });
                }
                Err(error) => drop(finish(row.job, Some(error))),
            }
        }
    }
}
