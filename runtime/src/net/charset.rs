//! From bytes to text: by a byte order mark, what the server says, what the page says, what the bytes look like.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8};

/// Bytes in which a page may say its encoding (HTML: 1024).
const DECLARED_WITHIN: usize = 1024;

/// The text of a body. `content_type` is what the server said. Bytes that are none in the encoding become U+FFFD;
/// where what is declared does not fit the bytes, they decide.
#[must_use]
pub fn decode<'b>(body: &'b [u8], content_type: Option<&str>) -> Cow<'b, str> {
    if let Some((encoding, _)) = Encoding::for_bom(body) {
        return encoding.decode(body).0;
    }
    let head = body.get(..body.len().min(DECLARED_WITHIN)).unwrap_or_default();
    let declared = content_type
        .and_then(|kind| label(kind.as_bytes()))
        .or_else(|| label(head))
        // A page whose `meta` could be read is in no 16-bit encoding, whatever it says.
        .map(|encoding| {
            if encoding == encoding_rs::UTF_16LE || encoding == encoding_rs::UTF_16BE {
                UTF_8
            } else {
                encoding
            }
        });
    match declared {
        Some(encoding) => {
            let (text, had_errors) = encoding.decode_without_bom_handling(body);
            // A page that is cut may end within a letter.
            let only_the_end =
                had_errors && text.matches('\u{FFFD}').count() <= 1 && text.ends_with('\u{FFFD}');
            if !had_errors || only_the_end { text } else { guess(body) }
        }
        None => guess(body),
    }
}

fn guess(body: &[u8]) -> Cow<'_, str> {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(body, true);
    detector.guess(None, Utf8Detection::Allow).decode_without_bom_handling(body).0
}

/// The encoding behind `charset=`.
fn label(text: &[u8]) -> Option<&'static Encoding> {
    let at = memchr::memmem::find_iter(text, b"charset").next().or_else(|| {
        let lower = text.to_ascii_lowercase();
        memchr::memmem::find(&lower, b"charset")
    })?;
    let rest = text.get(at + b"charset".len()..)?.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let rest = rest.strip_prefix(b"\"").or_else(|| rest.strip_prefix(b"'")).unwrap_or(rest);
    let end = rest.iter().position(|byte| !(byte.is_ascii_alphanumeric() || b"-_:.".contains(byte)));
    Encoding::for_label(rest.get(..end.unwrap_or(rest.len()))?)
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn declared_undeclared_and_wrongly_declared_encodings_are_read() {
        let german = "Größe und Übermut führen über die schöne Brücke; Äpfel schmecken süß.";
        let (latin, ..) = encoding_rs::WINDOWS_1252.encode(german);
        assert_eq!(decode(german.as_bytes(), Some("text/html; charset=utf-8")), german);
        assert_eq!(decode(&latin, Some("text/html; Charset=\"ISO-8859-1\"")), german);
        let page = [b"<meta charset=windows-1252>".as_slice(), &latin].concat();
        assert!(decode(&page, Some("text/html")).ends_with(german));
        // Said to be UTF-8 and is not.
        assert_eq!(decode(&latin, Some("text/html; charset=utf-8")), german);
        assert_eq!(decode(&latin, None), german);
        let utf16: Vec<u8> =
            [0xFF, 0xFE].into_iter().chain(german.encode_utf16().flat_map(u16::to_le_bytes)).collect();
        assert_eq!(decode(&utf16, Some("text/html; charset=utf-8")), german);
        assert_eq!(decode(b"", None), "");
        assert_eq!(decode(b"plain", Some("text/html; charset=nonsense")), "plain");
        // Cut within a letter.
        assert_eq!(decode(b"Gr\xC3", Some("text/html; charset=utf-8")), "Gr\u{FFFD}");
    }
}
