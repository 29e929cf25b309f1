//! Input that may be packed by gzip, unpacked on the way. It opens no file and knows no other packing.

use std::io::{self, BufRead, BufReader};

use flate2::bufread::MultiGzDecoder;

/// How gzip's files begin (RFC 1952, 2.3.1).
pub(super) const MAGIC: &[u8] = &[0x1f, 0x8b];
/// Bytes that are read ahead of what was unpacked.
pub(super) const AHEAD: usize = 1 << 16;

/// The text behind the packing, if there is one; of several packed files the text of all. It waits for the first bytes.
///
/// # Errors
/// When these cannot be read.
pub(super) fn unpacked(mut input: impl BufRead + Send + 'static) -> io::Result<Box<dyn BufRead + Send>> {
    Ok(if input.fill_buf()?.starts_with(MAGIC) { Box::new(BufReader::with_capacity(AHEAD, MultiGzDecoder::new(input))) } else { Box::new(input) })
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Read as _, Write as _};

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn text(bytes: Vec<u8>) -> Option<String> {
        let mut text = String::new();
        unpacked(Cursor::new(bytes)).ok()?.read_to_string(&mut text).ok()?;
        Some(text)
    }

    #[test]
    fn packed_or_not_it_is_the_same_text() {
        let packed = |text: &str| {
            let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
            packed.write_all(text.as_bytes()).ok();
            packed.finish().unwrap_or_default()
        };
        assert_eq!(text(b"one\n".to_vec()).as_deref(), Some("one\n"));
        assert_eq!(text([packed("one\n"), packed("two\n")].concat()).as_deref(), Some("one\ntwo\n"));
        assert_eq!(text(Vec::new()).as_deref(), Some(""));
        assert_eq!(text(MAGIC.to_vec()), None);
    }
}
