//! Numbers and texts, in bytes and in lines.

use std::io::Read;

use super::{MOST_DIGITS, MOST_TEXT, Machine};
use crate::inside::snapshot::opcode::Opcode;
use crate::inside::snapshot::refusal::{Refusal, Why};
use crate::inside::snapshot::value::Value;

impl<R: Read> Machine<R> {
    /// An integer of `n` bytes, lowest first, in two's complement.
    pub(super) fn long(&mut self, n: u64) -> Result<Result<(), Why>, Refusal> {
        if n > MOST_TEXT {
            return Err(self.source.refuse(Why::TooMuch { what: "bytes in one number", most: MOST_TEXT }));
        }
        self.scratch.clear();
        self.source.append(usize::try_from(n).unwrap_or(0), &mut self.scratch)?;
        Ok(self.put(integer(&self.scratch)))
    }

    /// A text whose length stands before it, in `width` bytes.
    pub(super) fn text(&mut self, width: u8) -> Result<Result<(), Why>, Refusal> {
        let length = match width {
            1 => self.source.byte()?.into(),
            4 => u32::from_le_bytes(self.source.array()?).into(),
            _ => u64::from_le_bytes(self.source.array()?),
        };
        if length > MOST_TEXT {
            return Err(self.source.refuse(Why::TooMuch { what: "bytes in one text", most: MOST_TEXT }));
        }
        self.scratch.clear();
        self.source.append(usize::try_from(length).unwrap_or(0), &mut self.scratch)?;
        let kept = self.store.text(&String::from_utf8_lossy(&self.scratch));
        Ok(kept.and_then(|text| self.put(text)))
    }

    /// The operations of the first protocols, which have what they need in a line of text.
    pub(super) fn line(&mut self, opcode: Opcode) -> Result<Result<(), Why>, Refusal> {
        let most = if opcode == Opcode::TextLine { usize::try_from(MOST_TEXT).unwrap_or(usize::MAX) } else { MOST_DIGITS };
        self.scratch.clear();
        self.source.line(most, &mut self.scratch)?;
        let line = String::from_utf8_lossy(&self.scratch).trim_end_matches('\r').to_owned();
        Ok(match opcode {
            Opcode::TextLine => self.store.text(&unescaped(&line)).and_then(|text| self.put(text)),
            Opcode::FloatLine => self.put(Value::Number),
            Opcode::PutLine => line.parse().map_err(|_| Why::Malformed("a number of the memo that is none")).and_then(|at| self.remember(at)),
            Opcode::GetLine => line.parse().map_err(|_| Why::Malformed("a number of the memo that is none")).and_then(|at| self.get(at)),
            _ => match line.as_str() {
                "01" => self.put(Value::Bool(true)),
                "00" => self.put(Value::Bool(false)),
                digits => match digits.trim_end_matches('L').parse::<i128>() {
                    Ok(n) => self.put(i64::try_from(n).map_or(Value::Number, Value::Int)),
                    Err(_) => Err(Why::Malformed("a number that is none")),
                },
            },
        })
    }
}

/// Two's complement, lowest byte first; an integer of more than 64 bits is no size.
fn integer(bytes: &[u8]) -> Value {
    if bytes.is_empty() {
        return Value::Int(0);
    }
    let fill = if bytes[bytes.len() - 1] & 0x80 == 0 { 0 } else { 0xff };
    let mut word = [fill; 8];
    for (to, from) in word.iter_mut().zip(bytes) {
        *to = *from;
    }
    // An address in the upper half has a ninth byte of zero before its sign.
    match bytes.get(8..) {
        None | Some([] | [0]) => Value::Int(i64::from_le_bytes(word)),
        Some(_) => Value::Number,
    }
}

/// `\uXXXX` and `\UXXXXXXXX` as the characters that they are.
fn unescaped(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('\\') {
        let digits = match rest.as_bytes().get(at + 1) {
            Some(b'u') => 4,
            Some(b'U') => 8,
            _ => 0,
        };
        let code = rest.get(at + 2..at + 2 + digits).and_then(|hex| u32::from_str_radix(hex, 16).ok());
        if let Some(code) = code {
            text.push_str(&rest[..at]);
            text.push(char::from_u32(code).unwrap_or('\u{fffd}'));
            rest = &rest[at + 2 + digits..];
        } else {
            text.push_str(&rest[..=at]);
            rest = &rest[at + 1..];
        }
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_two_s_complement() {
        // pickle.dumps(x, 2) of -1, 255, -256, 140119919034368 and 2**63.
        assert_eq!(integer(&[0xff]), Value::Int(-1));
        assert_eq!(integer(&[0xff, 0x00]), Value::Int(255));
        assert_eq!(integer(&[0x00, 0xff]), Value::Int(-256));
        assert_eq!(integer(&[0, 0, 0, 0x36, 0x70, 0x7f]), Value::Int(140_119_919_034_368));
        assert_eq!(integer(&[0, 0, 0, 0, 0, 0, 0, 0x80, 0]), Value::Int(i64::MIN), "an address, as the same 64 bits");
        assert_eq!(integer(&[0; 12]), Value::Number);
    }

    #[test]
    fn escapes_of_the_first_protocols() {
        assert_eq!(unescaped("mod\\u00e8le\\u005c\\U0001f600 \\x"), "modèle\\😀 \\x");
    }
}
