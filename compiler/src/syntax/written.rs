//! A part of a pattern as an author writes it, for messages.

use std::fmt;

use super::pattern::Node;

impl fmt::Display for Node {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sequence(parts) => separated(out, parts, " "),
            Self::Alternatives(branches) => {
                out.write_str("(")?;
                separated(out, branches, "|")?;
                out.write_str(")")
            }
            Self::Optional(inner) => match &**inner {
                Self::Alternatives(branches) => {
                    out.write_str("[")?;
                    separated(out, branches, "|")?;
                    out.write_str("]")
                }
                inner => write!(out, "[{inner}]"),
            },
            Self::Word(text) | Self::Number(text) | Self::Symbol(text) => out.write_str(text),
            Self::Mark(text) => write!(out, "\\{text}"),
            Self::Prefix(text) => write!(out, "{text}*"),
            Self::Stretch(text) => write!(out, "{text}+"),
            Self::Gap(words) => write!(out, "..{words}"),
            Self::Reference { name, language: None, .. } => write!(out, "<{name}>"),
            Self::Reference { name, language: Some(language), .. } => write!(out, "<{name}.{language}>"),
            Self::Slot { name, kind, .. } => write!(out, "{{{name}:{}}}", kind.name()),
        }
    }
}

fn separated(out: &mut fmt::Formatter<'_>, parts: &[Node], separator: &str) -> fmt::Result {
    for (at, part) in parts.iter().enumerate() {
        if at > 0 {
            out.write_str(separator)?;
        }
        write!(out, "{part}")?;
    }
    Ok(())
}
