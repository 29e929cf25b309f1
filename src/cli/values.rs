//! Values of options, read: amounts, seconds, forms. What is no value is refused with what would be one.

/// Form of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One line a GPU, for people.
    Text,
    /// One object a line, for programs: a recording.
    Json,
    /// nvidia-smi's dialect.
    Csv {
        /// The names of the fields first.
        header: bool,
        /// Units in the cells.
        units: bool,
    },
}

/// An amount of memory with its unit, all of them powers of two; bytes where it has none.
pub(super) fn size(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let scale = match text[end..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1_u64,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        "t" | "tb" | "tib" => 1 << 40,
        unit => return Err(format!("{unit:?} is no unit: give B, KiB, MiB, GiB or TiB")),
    };
    let number: f64 = text[..end].parse().map_err(|_| format!("{text:?} is no amount: give one such as 2GiB"))?;
    let bytes = number * scale as f64;
    if bytes < 1.0 || bytes > (1_u64 << 50) as f64 {
        return Err(format!("{text:?} is not between 1 B and 1024 TiB"));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked above")]
    Ok(bytes as u64)
}

/// `text`, `json`, or `csv[,noheader][,nounits]`.
pub(super) fn form(text: &str) -> Result<Form, String> {
    let unknown = |word: &str| format!("{word:?} is no form: give text, json or csv[,noheader][,nounits]");
    let mut words = text.split(',');
    let mut form = match words.next() {
        Some("text") => Form::Text,
        Some("json") => Form::Json,
        Some("csv") => Form::Csv { header: true, units: true },
        first => return Err(unknown(first.unwrap_or_default())),
    };
    for word in words {
        match (&mut form, word) {
            (Form::Csv { header, .. }, "noheader") => *header = false,
            (Form::Csv { units, .. }, "nounits") => *units = false,
            (_, word) => return Err(unknown(word)),
        }
    }
    Ok(form)
}

/// Seconds with decimals, as milliseconds.
pub(super) fn seconds(text: &str) -> Result<u64, String> {
    let seconds: f64 = text.parse().map_err(|_| format!("{text:?} is no number of seconds"))?;
    if !(0.05..=86_400.0).contains(&seconds) {
        return Err("give 0.05 to 86400 seconds".to_owned());
    }
    // In range, so the rounded figure fits.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0.05 to 86400 seconds are 50 to 86 400 000 ms")]
    let ms = (seconds * 1000.0).round() as u64;
    Ok(ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_has_nvidia_smis_modifiers() {
        for (text, header, units) in [("csv", true, true), ("csv,noheader", false, true), ("csv,nounits,noheader", false, false)] {
            assert_eq!(form(text), Ok(Form::Csv { header, units }), "{text}");
        }
        assert_eq!(form("text"), Ok(Form::Text));
        // nvidia-smi 580 refuses a blank: "Format modifier is not recognized."
        assert!(form("csv, nounits").is_err());
    }

    #[test]
    fn an_amount_has_a_unit_or_is_in_bytes() {
        for (text, bytes) in [("2GiB", 2_147_483_648), ("1.5 g", 1_610_612_736), ("512MiB", 536_870_912), ("4096", 4096)] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for text in ["", "2 apples", "-1GiB", "0", "1e9TiB", "2000TiB"] {
            assert!(size(text).is_err(), "{text}");
        }
    }
}
