//! The one parallel-for. Work is cut the same way whatever the number of threads, so results have the same bits with
//! one thread, with many, and with the `parallel` feature off.

use std::marker::PhantomData;
use std::ops::Range;

/// Calls `work(index, chunk)` for each chunk of `chunk_len` elements; the last may be shorter.
pub fn for_each_chunk_mut<T: Send>(
    data: &mut [T],
    chunk_len: usize,
    work: impl Fn(usize, &mut [T]) + Sync + Send,
) {
    #[cfg(feature = "parallel")]
    if data.len() > chunk_len && rayon::current_num_threads() > 1 {
        use rayon::prelude::*;
        data.par_chunks_mut(chunk_len).enumerate().for_each(|(index, chunk)| work(index, chunk));
        return;
    }
    data.chunks_mut(chunk_len).enumerate().for_each(|(index, chunk)| work(index, chunk));
}

/// As [`for_each_chunk_mut`] over two slices of one length, cut alike.
pub fn for_each_chunk_pair_mut<A: Send, B: Send>(
    first: &mut [A],
    second: &mut [B],
    chunk_len: usize,
    work: impl Fn(usize, &mut [A], &mut [B]) + Sync + Send,
) {
    #[cfg(feature = "parallel")]
    if first.len() > chunk_len && rayon::current_num_threads() > 1 {
        use rayon::prelude::*;
        let pairs = first.par_chunks_mut(chunk_len).zip(second.par_chunks_mut(chunk_len));
        pairs.enumerate().for_each(|(index, (a, b))| work(index, a, b));
        return;
    }
    let pairs = first.chunks_mut(chunk_len).zip(second.chunks_mut(chunk_len));
    pairs.enumerate().for_each(|(index, (a, b))| work(index, a, b));
}

/// Calls `work(index, part)` for each index of the range. Parts are what `cut(whole, index)` leaves: what lies before
/// that index and what lies from it on. Allocates nothing.
pub fn for_each_part<P: Send>(
    range: Range<usize>,
    whole: P,
    cut: impl Fn(P, usize) -> (P, P) + Sync + Send + Copy,
    work: impl Fn(usize, P) + Sync + Send + Copy,
) {
    #[cfg(feature = "parallel")]
    if range.len() > 1 && rayon::current_num_threads() > 1 {
        let middle = range.start + range.len() / 2;
        let (before, after) = cut(whole, middle);
        rayon::join(
            || for_each_part(range.start..middle, before, cut, work),
            || for_each_part(middle..range.end, after, cut, work),
        );
        return;
    }
    let mut rest = whole;
    for index in range.clone() {
        if index + 1 == range.end {
            return work(index, rest);
        }
        let (part, after) = cut(rest, index + 1);
        work(index, part);
        rest = after;
    }
}

/// How many threads share the work: nothing that a result may depend on.
pub fn threads() -> usize {
    #[cfg(feature = "parallel")]
    return rayon::current_num_threads();
    #[cfg(not(feature = "parallel"))]
    1
}

/// A slice that tasks write to in no order, each element by one of them.
pub struct Scattered<'a, T> {
    first: *mut T,
    len: usize,
    of: PhantomData<&'a mut [T]>,
}

// SAFETY: elements are reached by methods alone whose callers promise that no two threads have the same one.
unsafe impl<T: Send> Sync for Scattered<'_, T> {}

impl<'a, T: Copy> Scattered<'a, T> {
    /// The whole of it.
    pub fn new(data: &'a mut [T]) -> Self {
        Self { first: data.as_mut_ptr(), len: data.len(), of: PhantomData }
    }

    /// An element.
    ///
    /// # Safety
    /// No other thread may have it at the same time.
    ///
    /// # Panics
    /// If there is none.
    pub unsafe fn get(&self, index: usize) -> T {
        assert!(index < self.len, "an element of the slice");
        // SAFETY: it is there, and nobody else's.
        unsafe { self.first.add(index).read() }
    }

    /// Sets an element.
    ///
    /// # Safety
    /// As [`Scattered::get`].
    ///
    /// # Panics
    /// If there is none.
    pub unsafe fn set(&self, index: usize, value: T) {
        assert!(index < self.len, "an element of the slice");
        // SAFETY: it is there, and nobody else's.
        unsafe { self.first.add(index).write(value) }
    }
}

/// As [`for_each_chunk_mut`], where some chunks may take much longer than others: threads take one after the other, first to
/// last. Best with those first that take long.
pub fn for_each_uneven<T: Send>(
    data: &mut [T],
    chunk_len: usize,
    work: impl Fn(usize, &mut [T]) + Sync + Send,
) {
    #[cfg(feature = "parallel")]
    if data.len() > chunk_len && rayon::current_num_threads() > 1 {
        use std::sync::atomic::{AtomicUsize, Ordering};
        let (len, chunks) = (data.len(), data.len().div_ceil(chunk_len));
        let (shared, next) = (Shared(data.as_mut_ptr()), AtomicUsize::new(0));
        let take = || {
            let shared = &shared;
            loop {
                let chunk = next.fetch_add(1, Ordering::Relaxed);
                if chunk >= chunks {
                    return;
                }
                let start = chunk * chunk_len;
                // SAFETY: it is within the slice, and each chunk is taken once.
                let own = unsafe {
                    std::slice::from_raw_parts_mut(shared.0.add(start), chunk_len.min(len - start))
                };
                work(chunk, own);
            }
        };
        return side_by_side(rayon::current_num_threads().min(chunks), &take);
    }
    data.chunks_mut(chunk_len).enumerate().for_each(|(index, chunk)| work(index, chunk));
}

/// The first of some elements that threads share.
#[cfg(feature = "parallel")]
struct Shared<T>(*mut T);

// SAFETY: whoever has one reaches elements that no other thread does.
#[cfg(feature = "parallel")]
unsafe impl<T: Send> Sync for Shared<T> {}

#[cfg(feature = "parallel")]
fn side_by_side(threads: usize, work: &(impl Fn() + Sync)) {
    if threads < 2 {
        return work();
    }
    rayon::join(|| side_by_side(threads / 2, work), || side_by_side(threads - threads / 2, work));
}

/// Both, side by side where there are threads for it.
pub fn both<A: Send, B: Send>(first: impl FnOnce() -> A + Send, second: impl FnOnce() -> B + Send) -> (A, B) {
    #[cfg(feature = "parallel")]
    if rayon::current_num_threads() > 1 {
        return rayon::join(first, second);
    }
    (first(), second())
}

/// Runs `work`, many short loops in a row, where they start fastest: on one of the threads that they use, while another that
/// has nothing else to do stays awake for its share of them. To wake it up takes longer than most of them do.
pub fn within<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    #[cfg(feature = "parallel")]
    if rayon::current_num_threads() > 1 {
        use std::sync::atomic::{AtomicBool, Ordering};
        let is_done = AtomicBool::new(false);
        let work = || {
            let result = work();
            is_done.store(true, Ordering::Release);
            result
        };
        let wait = || {
            while !is_done.load(Ordering::Acquire) {
                // Seldom enough not to be in the way of who hands out the work.
                (0..PAUSES).for_each(|_| std::hint::spin_loop());
                rayon::yield_now();
            }
        };
        return rayon::join(work, wait).0;
    }
    work()
}

/// Pauses between two looks for work: some hundreds of nanoseconds.
#[cfg(feature = "parallel")]
const PAUSES: usize = 16;

/// `work(0), work(1), ...` in order of index, computed in any.
pub fn map<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync + Send) -> Vec<T> {
    #[cfg(feature = "parallel")]
    if count > 1 && rayon::current_num_threads() > 1 {
        use rayon::prelude::*;
        return (0..count).into_par_iter().map(work).collect();
    }
    (0..count).map(work).collect()
}

#[cfg(all(test, feature = "parallel"))]
mod tests {
    use super::*;

    /// Every element is worked on once, whatever the chunks and threads.
    #[test]
    fn uneven_work_is_done_once() {
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            for (len, chunk_len) in [(0, 3), (1, 1), (2, 3), (100, 1), (101, 7)] {
                let mut counts = vec![0; len];
                pool.install(|| {
                    for_each_uneven(&mut counts, chunk_len, |chunk, counts| {
                        // The first take longest.
                        (0..1000 / (chunk + 1)).for_each(|_| std::hint::spin_loop());
                        counts.iter_mut().zip(chunk * chunk_len..).for_each(|(count, k)| *count += k + 1);
                    });
                });
                assert!(counts.iter().zip(1..).all(|(count, k)| *count == k), "{threads} {len} {chunk_len}");
            }
        }
    }
}
