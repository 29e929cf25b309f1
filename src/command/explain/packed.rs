//! What is packed, unpacked on the way: gzip, and the first file of a zip, which is where `torch.save` puts its pickle. Other packings are
//! named and refused. Nothing is unpacked into memory or onto a disk.

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::DeflateDecoder;

use crate::command::gzip::{self, AHEAD};
use crate::model::SafeText;

/// How a file in a zip begins, and how an empty zip does.
const ZIP: &[u8] = b"PK\x03\x04";
const EMPTY_ZIP: &[u8] = b"PK\x05\x06";
/// How others begin, their names, and what unpacks them.
const OTHERS: [(&[u8], &str, &str); 4] = [
    (&[0x28, 0xb5, 0x2f, 0xfd], "zstd", "zstd -dc"),
    (&[0xfd, b'7', b'z', b'X', b'Z', 0], "xz", "xz -dc"),
    (b"BZh", "bzip2", "bzip2 -dc"),
    (b"7z\xbc\xaf", "7-Zip", "7z x -so"),
];
/// Bytes of the name of a file in a zip, at most.
const LONGEST_NAME: u16 = 1024;

/// The stream behind the packing, whatever that is.
pub(super) struct Unpacked {
    /// What is inside.
    pub(super) reader: Box<dyn BufRead + Send>,
    /// Its name in the zip, where it is of one.
    pub(super) inner: Option<SafeText>,
}

/// Looks through the packing.
///
/// # Errors
/// When it is a packing that cannot be read, or the stream fails.
pub(super) fn unpacked(mut reader: Box<dyn BufRead + Send>) -> anyhow::Result<Unpacked> {
    let beginning = reader.fill_buf()?;
    if let Some((_, name, tool)) = OTHERS.iter().find(|(magic, ..)| beginning.starts_with(magic)) {
        anyhow::bail!("it is packed by {name}: unpack it on the way ({tool} FILE | vramtop explain)");
    }
    anyhow::ensure!(!beginning.starts_with(EMPTY_ZIP), "it is a zip without files");
    if beginning.starts_with(ZIP) {
        return first_of_zip(reader);
    }
    Ok(Unpacked { reader: gzip::unpacked(reader)?, inner: None })
}

/// The first file of a zip, by its local header (APPNOTE.TXT of the format, 4.3.7).
fn first_of_zip(mut reader: Box<dyn BufRead + Send>) -> anyhow::Result<Unpacked> {
    let mut header = [0; 30];
    reader.read_exact(&mut header).map_err(|error| cut(&error))?;
    let u16_at = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
    let (flags, method, name_length, extra_length) = (u16_at(6), u16_at(8), u16_at(26), u16_at(28));
    let size = u32::from_le_bytes([header[18], header[19], header[20], header[21]]);
    anyhow::ensure!(name_length <= LONGEST_NAME, "the first file of this zip has a name of {name_length} bytes");
    let mut name = vec![0; usize::from(name_length)];
    reader.read_exact(&mut name).map_err(|error| cut(&error))?;
    io::copy(&mut reader.by_ref().take(extra_length.into()), &mut io::sink())?;
    let inner = SafeText::new(&String::from_utf8_lossy(&name));
    anyhow::ensure!(flags & 1 == 0, "{inner} in this zip is encrypted");
    // Whoever writes to a stream gives the size behind the file (bit 3), or beyond 4 GiB in another place; a pickle knows its own end.
    let is_pickle = Path::new(inner.as_str()).extension().is_some_and(|end| end == "pkl" || end == "pickle");
    let knows_size = flags & 8 == 0 && size != u32::MAX;
    let reader: Box<dyn BufRead + Send> = match method {
        0 if knows_size => Box::new(reader.take(size.into())),
        0 if is_pickle => reader,
        8 => Box::new(BufReader::with_capacity(AHEAD, DeflateDecoder::new(reader))),
        _ => anyhow::bail!("{inner} in this zip is packed in a way that is not read here: unpack it first (unzip -p FILE | vramtop explain)"),
    };
    Ok(Unpacked { reader, inner: Some(inner) })
}

fn cut(error: &io::Error) -> anyhow::Error {
    anyhow::anyhow!("this zip is cut within its first header: {error}")
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::DeflateEncoder;

    use super::*;

    /// A zip's local header as the format's description has it, and the file behind it.
    fn zip(flags: u16, method: u16, size: u32, name: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = b"PK\x03\x04\x14\0".to_vec();
        bytes.extend(flags.to_le_bytes());
        bytes.extend(method.to_le_bytes());
        // Time, date and checksum.
        bytes.extend([0; 8]);
        bytes.extend(size.to_le_bytes());
        bytes.extend(size.to_le_bytes());
        bytes.extend(u16::try_from(name.len()).unwrap_or(0).to_le_bytes());
        bytes.extend(4_u16.to_le_bytes());
        bytes.extend(name.as_bytes());
        bytes.extend(b"FB\0\0");
        bytes.extend(data);
        bytes.extend(b"PK\x01\x02 the directory");
        bytes
    }

    fn read(bytes: Vec<u8>) -> Result<(String, Vec<u8>), String> {
        let unpacked = unpacked(Box::new(io::Cursor::new(bytes))).map_err(|error| error.to_string())?;
        let (mut reader, mut all) = (unpacked.reader, Vec::new());
        reader.read_to_end(&mut all).map_err(|error| error.to_string())?;
        Ok((unpacked.inner.map_or_else(String::new, |name| name.to_string()), all))
    }

    #[test]
    fn the_first_file_of_a_zip_is_read_without_its_directory() {
        assert_eq!(read(zip(0, 0, 5, "job.log", b"hello")), Ok(("job.log".to_owned(), b"hello".to_vec())));
        let mut packed = DeflateEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(b"hello").ok();
        let packed = packed.finish().unwrap_or_default();
        assert_eq!(read(zip(8, 8, 0, "job.log", &packed)), Ok(("job.log".to_owned(), b"hello".to_vec())));
        // As torch.save writes: not packed, its size behind it; whoever reads the pickle stops at its end.
        let (name, bytes) = read(zip(8, 0, 0, "archive/data.pkl", b"\x80\x02}.")).unwrap_or_default();
        assert!(name == "archive/data.pkl" && bytes.starts_with(b"\x80\x02}."), "{name}");
    }

    #[test]
    fn what_cannot_be_unpacked_is_said() {
        for (bytes, says) in [
            (zip(1, 0, 5, "job.log", b"hello"), "encrypted"),
            (zip(0, 12, 5, "job.log", b"hello"), "not read here"),
            (zip(8, 0, 0, "job.log", b"hello"), "not read here"),
            (b"PK\x03\x04\x14\0".to_vec(), "is cut"),
            (b"PK\x05\x06".to_vec(), "without files"),
            (vec![0x28, 0xb5, 0x2f, 0xfd, 0], "zstd -dc"),
        ] {
            assert!(read(bytes).is_err_and(|error| error.contains(says)), "{says}");
        }
    }
}
