//! Where callers want their answers: pointers that may be null or too short.

use std::ffi::{c_char, c_uint};

use crate::codes::{Answer, Code, INSUFFICIENT_SIZE, INVALID_ARGUMENT};

/// A place for one answer.
pub(crate) struct Out<T>(*mut T);

impl<T> Out<T> {
    /// Wraps a caller's pointer.
    ///
    /// # Safety
    ///
    /// The pointer is null or may be written to until the call is over.
    pub(crate) unsafe fn new(place: *mut T) -> Self {
        Self(place)
    }

    /// Writes the answer.
    pub(crate) fn put(&self, value: T) -> Answer {
        if self.0.is_null() {
            return Err(INVALID_ARGUMENT);
        }
        // SAFETY: not null, so by `new` it may be written to.
        unsafe { self.0.write(value) };
        Ok(())
    }

    /// What the caller wrote there before.
    pub(crate) fn get(&self) -> Result<T, Code>
    where
        T: Copy,
    {
        if self.0.is_null() {
            return Err(INVALID_ARGUMENT);
        }
        // SAFETY: not null, and callers of those functions that read set it first.
        Ok(unsafe { self.0.read() })
    }
}

/// A place for a text of a length that the caller gives.
pub(crate) struct Text {
    place: *mut c_char,
    length: usize,
}

impl Text {
    /// Wraps a caller's buffer.
    ///
    /// # Safety
    ///
    /// `place` is null or has room for `length` bytes until the call is over.
    pub(crate) unsafe fn new(place: *mut c_char, length: c_uint) -> Self {
        Self { place, length: length as usize }
    }

    /// Writes the text and a zero byte.
    pub(crate) fn put(&self, text: &[u8]) -> Answer {
        if self.place.is_null() {
            return Err(INVALID_ARGUMENT);
        }
        if text.len() >= self.length {
            return Err(INSUFFICIENT_SIZE);
        }
        // SAFETY: the buffer has room for the text and one byte more.
        unsafe {
            self.place.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), text.len());
            self.place.add(text.len()).write(0);
        }
        Ok(())
    }
}

/// Copies a text into an array of a C struct, cut to fit, ended with a zero byte.
pub(crate) fn fill(array: &mut [c_char], text: &str) {
    array.fill(0);
    let room = array.len().saturating_sub(1);
    for (place, byte) in array[..room].iter_mut().zip(text.bytes()) {
        *place = byte as c_char;
    }
}
