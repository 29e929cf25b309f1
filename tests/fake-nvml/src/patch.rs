//! Copies of the library without some of its symbols.
//!
//! A symbol is taken away by changing the first letter of its name in the table of
//! dynamic names. The hash table still leads to the entry by the old name's hash,
//! where the names differ, and never leads there by the new name's.

use std::io;
use std::path::Path;

/// Section type of the dynamic symbols.
const SHT_DYNSYM: u32 = 11;
const SYMBOL_SIZE: usize = 24;

/// Writes to `dst` a copy of the library `src` in which `dlsym` does not find
/// `symbols`.
///
/// # Errors
///
/// If a file cannot be read or written, `src` is not a 64-bit little-endian ELF
/// library, or it has no such symbol.
pub fn library_without(src: &Path, dst: &Path, symbols: &[&str]) -> io::Result<()> {
    let mut image = std::fs::read(src)?;
    for symbol in symbols {
        hide(&mut image, symbol).map_err(|why| io::Error::other(format!("{}: {why}", src.display())))?;
    }
    // A file of its own, so that a library loaded from `dst` before stays whole.
    match std::fs::remove_file(dst) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => std::fs::write(dst, image),
    }
}

fn hide(image: &mut [u8], symbol: &str) -> Result<(), String> {
    let (symbols, names) = tables(image).ok_or("no ELF library with dynamic symbols")?;
    let wanted = [symbol.as_bytes(), b"\0"].concat();
    for place in symbols.step_by(SYMBOL_SIZE) {
        let offset = number(image, place, 4).ok_or("a symbol outside the file")?;
        let name = names + offset;
        if image.get(name..name + wanted.len()) == Some(&wanted) {
            image[name] = b'_';
            return Ok(());
        }
    }
    Err(format!("no symbol `{symbol}`"))
}

/// Where the dynamic symbols are, and where their names start.
fn tables(image: &[u8]) -> Option<(std::ops::Range<usize>, usize)> {
    // 64-bit, little-endian.
    if image.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let (start, size, count) = (number(image, 0x28, 8)?, number(image, 0x3a, 2)?, number(image, 0x3c, 2)?);
    let section = |index: usize| start + index * size;
    let found = (0..count).map(section).find(|at| number(image, at + 4, 4) == Some(SHT_DYNSYM as usize))?;
    let symbols = number(image, found + 0x18, 8)?;
    let length = number(image, found + 0x20, 8)?;
    let linked = section(number(image, found + 0x28, 4)?);
    Some((symbols..symbols + length, number(image, linked + 0x18, 8)?))
}

fn number(image: &[u8], at: usize, bytes: usize) -> Option<usize> {
    let mut wide = [0; 8];
    wide[..bytes].copy_from_slice(image.get(at..at + bytes)?);
    usize::try_from(u64::from_le_bytes(wide)).ok()
}
