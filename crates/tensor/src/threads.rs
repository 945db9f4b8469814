//! The one parallel-for of the CPU kernels.
//!
//! Work is divided into chunks whose number comes from the shape of the operands and
//! never from the number of threads, so a result has the same bits for any [`Pool`].
//! Which thread runs which chunk is not fixed: threads claim chunks one by one.
//!
//! The threads wait for the next job by spinning for about a tenth of a millisecond and
//! then sleep: the operators of a training step follow each other within microseconds,
//! and waking a sleeping thread costs more than many of them take.

#![expect(
    unsafe_code,
    reason = "a job borrows from the stack of the thread that posts it"
)]

use std::any::Any;
use std::cell::UnsafeCell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, TryLockError};
use std::thread::JoinHandle;

use thiserror::Error;

/// The environment variable that sets the number of threads.
pub const THREADS_VAR: &str = "CAIRN_THREADS";

/// The most threads a pool may have; the count of active workers has 16 bits.
pub const MAX_THREADS: usize = 1024;

/// Turns of the waiting loop before a worker sleeps: about 0.1 ms.
const SPINS: u32 = 2000;

const ACTIVE_MASK: u64 = 0xffff;
const OPEN: u64 = 1 << 16;
const EPOCH: u64 = 1 << 17;

/// Why a pool could not be made.
#[derive(Debug, Error)]
pub enum PoolError {
    /// The number of threads is zero, too large or not a number.
    #[error("`{value}` is not a number of threads between 1 and {MAX_THREADS}")]
    Count {
        /// The value as given.
        value: String,
    },
    /// The operating system refused a thread.
    #[error("could not start thread {index} of {threads}")]
    Spawn {
        /// The index of the thread that failed.
        index: usize,
        /// The number of threads asked for.
        threads: usize,
        /// What the operating system said.
        source: std::io::Error,
    },
}

/// A fixed set of threads that run the chunks of one job at a time.
///
/// The calling thread takes part, so `Pool::new(1)` starts no thread at all.
pub struct Pool {
    shared: Arc<Shared>,
    turn: Mutex<()>,
    workers: Vec<JoinHandle<()>>,
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("threads", &self.threads())
            .finish()
    }
}

type Body<'a> = dyn Fn(usize, usize) + Sync + 'a;

/// A job as the workers see it. Only read between joining and leaving an open job.
#[derive(Clone, Copy)]
struct Job {
    body: *const Body<'static>,
    chunks: usize,
}

struct Shared {
    /// `epoch << 17 | open << 16 | active workers`. A worker joins by adding one while
    /// the open bit is set; the poster clears the bit and waits for the count to be zero.
    state: AtomicU64,
    job: UnsafeCell<Option<Job>>,
    next: AtomicUsize,
    asleep: AtomicUsize,
    sleep: Mutex<()>,
    wake: Condvar,
    stop: AtomicBool,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

// SAFETY: `job` is the only field that is not already `Sync` and `Send`. It is written
// by the thread that holds `Pool::turn` while no job is open and no worker active, and
// read by workers only after they joined an open job; the atomic `state` orders the two.
unsafe impl Sync for Shared {}
// SAFETY: as above; the pointer inside is only used while the posting call is on the stack.
unsafe impl Send for Shared {}

impl Pool {
    /// A pool of `threads` threads, the calling one included.
    ///
    /// # Errors
    /// [`PoolError::Count`] outside `1..=MAX_THREADS`, [`PoolError::Spawn`] when the
    /// operating system refuses a thread.
    pub fn new(threads: usize) -> Result<Self, PoolError> {
        if threads == 0 || threads > MAX_THREADS {
            return Err(PoolError::Count {
                value: threads.to_string(),
            });
        }
        let shared = Arc::new(Shared {
            state: AtomicU64::new(0),
            job: UnsafeCell::new(None),
            next: AtomicUsize::new(0),
            asleep: AtomicUsize::new(0),
            sleep: Mutex::new(()),
            wake: Condvar::new(),
            stop: AtomicBool::new(false),
            panic: Mutex::new(None),
        });
        let mut pool = Self {
            shared,
            turn: Mutex::new(()),
            workers: Vec::with_capacity(threads - 1),
        };
        for index in 1..threads {
            let shared = Arc::clone(&pool.shared);
            let worker = std::thread::Builder::new()
                .name(format!("cairn-{index}"))
                .spawn(move || shared.work(index))
                .map_err(|source| PoolError::Spawn {
                    index,
                    threads,
                    source,
                })?;
            pool.workers.push(worker);
        }
        Ok(pool)
    }

    /// The number of threads named by `setting` (the value of [`THREADS_VAR`]), or the
    /// number of processors available when it is absent or empty.
    ///
    /// # Errors
    /// [`PoolError::Count`] when the setting is not a number in range.
    pub fn threads_from(setting: Option<&str>) -> Result<usize, PoolError> {
        let Some(text) = setting.map(str::trim).filter(|text| !text.is_empty()) else {
            return Ok(std::thread::available_parallelism()
                .map_or(1, std::num::NonZero::get)
                .min(MAX_THREADS));
        };
        match text.parse() {
            Ok(threads) if (1..=MAX_THREADS).contains(&threads) => Ok(threads),
            _ => Err(PoolError::Count {
                value: text.to_owned(),
            }),
        }
    }

    /// The number of threads, the caller's included.
    pub fn threads(&self) -> usize {
        self.workers.len() + 1
    }

    /// Runs `body(chunk)` for each chunk in `0..chunks`, each exactly once, in no
    /// particular order, and returns when all are done.
    ///
    /// A call from inside a chunk, or while another thread is using the pool, runs on
    /// the calling thread alone. A panic in a chunk is raised again here.
    pub fn run(&self, chunks: usize, body: impl Fn(usize) + Sync) {
        self.run_with_worker(chunks, |_, chunk| body(chunk));
    }

    /// As [`Pool::run`], with the index of the thread first, below [`Pool::threads`]:
    /// no two chunks of one call run at the same time under the same index, so the index
    /// can name a piece of scratch memory.
    pub fn run_with_worker(&self, chunks: usize, body: impl Fn(usize, usize) + Sync) {
        let turn = match self.turn.try_lock() {
            Ok(turn) => Some(turn),
            Err(TryLockError::Poisoned(turn)) => Some(turn.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        };
        if turn.is_some() && chunks > 1 && !self.workers.is_empty() {
            self.post(chunks, &body);
        } else {
            drop(turn);
            for chunk in 0..chunks {
                body(0, chunk);
            }
        }
    }

    /// Divides `data` into pieces of `len` elements (the last may be shorter) and runs
    /// `body(index, piece)` on each.
    pub fn chunks_mut<T: Send>(
        &self,
        data: &mut [T],
        len: usize,
        body: impl Fn(usize, &mut [T]) + Sync,
    ) {
        let parts = Parts::new(data, len);
        self.run(parts.count(), |i| {
            // SAFETY: `run` hands out each index once, so no piece is borrowed twice.
            body(i, unsafe { parts.get(i) });
        });
    }

    /// As [`Pool::chunks_mut`] over two slices cut in step, each by its own length.
    /// Runs as many chunks as the slice with fewer pieces has.
    pub fn chunks_mut2<T: Send, U: Send>(
        &self,
        (a, a_len): (&mut [T], usize),
        (b, b_len): (&mut [U], usize),
        body: impl Fn(usize, &mut [T], &mut [U]) + Sync,
    ) {
        let (a, b) = (Parts::new(a, a_len), Parts::new(b, b_len));
        self.run(a.count().min(b.count()), |i| {
            // SAFETY: `run` hands out each index once, so no piece is borrowed twice.
            let (a, b) = unsafe { (a.get(i), b.get(i)) };
            body(i, a, b);
        });
    }

    /// As [`Pool::chunks_mut2`] over three slices.
    pub fn chunks_mut3<T: Send, U: Send, V: Send>(
        &self,
        (a, a_len): (&mut [T], usize),
        (b, b_len): (&mut [U], usize),
        (c, c_len): (&mut [V], usize),
        body: impl Fn(usize, &mut [T], &mut [U], &mut [V]) + Sync,
    ) {
        let (a, b, c) = (
            Parts::new(a, a_len),
            Parts::new(b, b_len),
            Parts::new(c, c_len),
        );
        self.run(a.count().min(b.count()).min(c.count()), |i| {
            // SAFETY: `run` hands out each index once, so no piece is borrowed twice.
            let (a, b, c) = unsafe { (a.get(i), b.get(i), c.get(i)) };
            body(i, a, b, c);
        });
    }

    /// Publishes a job, takes part in it and waits for the workers that joined.
    fn post(&self, chunks: usize, body: &Body<'_>) {
        let shared = &*self.shared;
        // SAFETY: only the lifetime changes. `finish` below returns after the last
        // worker has left the job, and no worker can join after it closed the job, so
        // the pointer is never used once `body` is gone.
        let body: *const Body<'static> =
            unsafe { std::mem::transmute::<*const Body<'_>, *const Body<'static>>(body) };
        let job = Job { body, chunks };
        // SAFETY: this thread holds `turn`, and the last job was closed and left by all.
        unsafe { *shared.job.get() = Some(job) };
        shared.next.store(0, Ordering::Relaxed);
        let epoch = shared.state.load(Ordering::Relaxed) & !(ACTIVE_MASK | OPEN);
        shared
            .state
            .store(epoch.wrapping_add(EPOCH) | OPEN, Ordering::SeqCst);
        if shared.asleep.load(Ordering::SeqCst) > 0 {
            drop(shared.sleep.lock().unwrap_or_else(PoisonError::into_inner));
            shared.wake.notify_all();
        }
        shared.claim(0, job);
        shared.finish();
        let panic = shared
            .panic
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(payload) = panic {
            resume_unwind(payload);
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        drop(
            self.shared
                .sleep
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        );
        self.shared.wake.notify_all();
        for worker in self.workers.drain(..) {
            // A worker catches the panics of its chunks, so it has nothing to report.
            let _ = worker.join();
        }
    }
}

impl Shared {
    /// The life of a worker: wait for a job not seen before, join, claim chunks, leave.
    fn work(&self, index: usize) {
        let mut seen = 0;
        while let Some(state) = self.wait_for_job(seen) {
            let joined = self
                .state
                .compare_exchange_weak(state, state + 1, Ordering::SeqCst, Ordering::Relaxed)
                .is_ok();
            if !joined {
                continue;
            }
            seen = state & !(ACTIVE_MASK | OPEN);
            // SAFETY: the job is open and counts this worker as active, so its poster
            // neither replaces it nor returns before the `fetch_sub` below.
            if let Some(job) = unsafe { *self.job.get() } {
                self.claim(index, job);
            }
            self.state.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// The state in which an open job other than `seen` was found, `None` to stop.
    fn wait_for_job(&self, seen: u64) -> Option<u64> {
        let ready = || {
            let state = self.state.load(Ordering::SeqCst);
            (state & OPEN != 0 && state & !(ACTIVE_MASK | OPEN) != seen).then_some(state)
        };
        loop {
            for _ in 0..SPINS {
                if let Some(state) = ready() {
                    return Some(state);
                }
                if self.stop.load(Ordering::Relaxed) {
                    return None;
                }
                std::hint::spin_loop();
            }
            let guard = self.sleep.lock().unwrap_or_else(PoisonError::into_inner);
            self.asleep.fetch_add(1, Ordering::SeqCst);
            let idle = |(): &mut ()| ready().is_none() && !self.stop.load(Ordering::SeqCst);
            drop(
                self.wake
                    .wait_while(guard, idle)
                    .unwrap_or_else(PoisonError::into_inner),
            );
            self.asleep.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// Runs chunks until none is left; after a panic the remaining chunks are dropped.
    fn claim(&self, index: usize, job: Job) {
        // SAFETY: the caller is the poster or an active worker, so the body is alive.
        let body = unsafe { &*job.body };
        loop {
            let chunk = self.next.fetch_add(1, Ordering::Relaxed);
            if chunk >= job.chunks {
                return;
            }
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| body(index, chunk))) {
                self.next.store(job.chunks, Ordering::Relaxed);
                *self.panic.lock().unwrap_or_else(PoisonError::into_inner) = Some(payload);
                return;
            }
        }
    }

    /// Closes the job and waits until no worker is active in it.
    fn finish(&self) {
        self.state.fetch_and(!OPEN, Ordering::SeqCst);
        let mut spins = 0u32;
        while self.state.load(Ordering::SeqCst) & ACTIVE_MASK != 0 {
            spins += 1;
            if spins < SPINS {
                std::hint::spin_loop();
            } else {
                // The worker may have lost its processor: let it run.
                std::thread::yield_now();
            }
        }
    }
}

/// A slice cut into pieces that different threads may borrow at the same time.
struct Parts<T> {
    data: *mut T,
    total: usize,
    len: usize,
}

// SAFETY: `Parts` hands out disjoint pieces of a slice it borrows exclusively, which is
// what sending `&mut [T]` pieces to other threads asks of `T`.
unsafe impl<T: Send> Sync for Parts<T> {}

impl<T> Parts<T> {
    fn new(data: &mut [T], len: usize) -> Self {
        Self {
            data: data.as_mut_ptr(),
            total: data.len(),
            len: len.max(1),
        }
    }

    fn count(&self) -> usize {
        self.total.div_ceil(self.len)
    }

    /// # Safety
    /// The slice given to `new` is still borrowed, `index < count()`, and no piece is
    /// borrowed twice at the same time.
    #[expect(
        clippy::mut_from_ref,
        reason = "disjoint pieces are the purpose of the type"
    )]
    unsafe fn get(&self, index: usize) -> &mut [T] {
        let start = index * self.len;
        let len = self.len.min(self.total - start);
        // SAFETY: `start + len <= total`, and by contract nobody else borrows the range.
        unsafe { std::slice::from_raw_parts_mut(self.data.add(start), len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pools() -> Vec<Pool> {
        [1, 2, 4, 9]
            .into_iter()
            .map(|threads| Pool::new(threads).unwrap())
            .collect()
    }

    #[test]
    fn every_chunk_runs_once() {
        for pool in pools() {
            for chunks in [0, 1, 2, 3, 7, 64, 1000] {
                let counts: Vec<AtomicUsize> = (0..chunks).map(|_| AtomicUsize::new(0)).collect();
                for turn in 1..=20 {
                    pool.run_with_worker(chunks, |worker, chunk| {
                        assert!(worker < pool.threads());
                        counts[chunk].fetch_add(1, Ordering::Relaxed);
                    });
                    for count in &counts {
                        assert_eq!(count.load(Ordering::Relaxed), turn);
                    }
                }
            }
        }
    }

    #[test]
    fn pieces_cover_the_slice() {
        for pool in pools() {
            for (n, len) in [(0, 3), (1, 3), (7, 3), (9, 3), (1000, 7), (5, 0)] {
                let mut a = vec![0u32; n];
                pool.chunks_mut(&mut a, len, |i, part| {
                    for (j, x) in part.iter_mut().enumerate() {
                        *x += (i * len.max(1) + j) as u32 + 1;
                    }
                });
                let want: Vec<u32> = (1..=n as u32).collect();
                assert_eq!(a, want, "{n} elements in pieces of {len}");
            }
        }
    }

    #[test]
    fn slices_are_cut_in_step() {
        let pool = Pool::new(3).unwrap();
        let (mut a, mut b, mut c) = (vec![0usize; 10], vec![0usize; 20], vec![0usize; 5]);
        pool.chunks_mut3((&mut a, 2), (&mut b, 4), (&mut c, 1), |i, a, b, c| {
            a.fill(i);
            b.fill(i);
            c.fill(i);
        });
        assert_eq!(a, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]);
        assert_eq!(c, [0, 1, 2, 3, 4]);
        assert_eq!(&b[12..], [3, 3, 3, 3, 4, 4, 4, 4]);
        pool.chunks_mut2((&mut a, 2), (&mut c, 1), |i, a, c| {
            a.fill(c[0] + i);
        });
        assert_eq!(a, [0, 0, 2, 2, 4, 4, 6, 6, 8, 8]);
    }

    #[test]
    fn a_call_inside_a_chunk_runs_on_its_own_thread() {
        let pool = Pool::new(4).unwrap();
        let total = AtomicUsize::new(0);
        pool.run(8, |_| {
            pool.run(5, |_| {
                total.fetch_add(1, Ordering::Relaxed);
            });
        });
        assert_eq!(total.load(Ordering::Relaxed), 40);
    }

    #[test]
    fn a_panic_reaches_the_caller_and_the_pool_stays_usable() {
        for pool in pools() {
            let caught = catch_unwind(AssertUnwindSafe(|| {
                pool.run(16, |chunk| assert_ne!(chunk, 11, "chunk eleven"));
            }));
            assert!(caught.is_err());
            let total = AtomicUsize::new(0);
            pool.run(16, |_| {
                total.fetch_add(1, Ordering::Relaxed);
            });
            assert_eq!(total.load(Ordering::Relaxed), 16);
        }
    }

    #[test]
    fn thread_counts() {
        assert_eq!(Pool::threads_from(Some(" 3 ")).unwrap(), 3);
        assert!(Pool::threads_from(None).unwrap() >= 1);
        assert!(Pool::threads_from(Some("")).unwrap() >= 1);
        for bad in ["0", "-1", "two", "1025", "1.5"] {
            assert!(Pool::threads_from(Some(bad)).is_err(), "{bad}");
        }
        assert!(Pool::new(0).is_err());
    }
}
