//! Reads replies of models that nothing holds to a form: think blocks, calls in every form that is in use, tokens that
//! should not be there, pieces that were cut off. What cannot be read as a call is dropped, the rest stands.

use serde_json::{Map, Value};

use crate::artifact::ToolDeclaration;
use crate::router::OpeningCall;

use super::calls::CallFormat;

const THINK: (&str, &str) = ("<think>", "</think>");
const CALL: (&str, &str) = ("<tool_call>", "</tool_call>");
/// Tokens of a chat template, such as `<|im_end|>`.
const SPECIAL: (&str, &str) = ("<|", "|>");
/// Longest special token; what is longer is text.
const LONGEST_SPECIAL: usize = 40;
/// Closing tags that stand alone.
const STRAY: [&str; 3] = ["</tool_call>", "</function>", "</parameter>"];
/// How a reply begins that is a call without marks.
const BARE: &str = "{\"name\"";

/// A reply as it comes in.
#[derive(Default)]
pub(super) struct Reply {
    held: String,
    inside: Option<(&'static str, &'static str)>,
    /// What was shown.
    text: String,
    pub(super) reasoning: String,
    /// What stood in call marks.
    calls: Vec<String>,
}

impl Reply {
    /// Takes a piece; returns what of it can be shown.
    pub(super) fn push(&mut self, piece: &str) -> String {
        self.held.push_str(piece);
        let mut shown = String::new();
        loop {
            if let Some((open, close)) = self.inside {
                // What is no name is no token of a template, but text: `xs <| f`.
                let name = self.held.split(close).next().unwrap_or_default();
                let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
                let name = name.strip_suffix('|').unwrap_or(name);
                if open == SPECIAL.0 && (name.len() > LONGEST_SPECIAL || !name.chars().all(is_name)) {
                    self.inside = None;
                    shown.push_str(open);
                    // A mark that begins within is found again: nothing but this one is passed over.
                    let ready: String = self.held.drain(..self.held.find('<').unwrap_or(0)).collect();
                    shown.push_str(&ready);
                    continue;
                }
                let Some(at) = self.held.find(close) else { break };
                let inner: String = self.held.drain(..at + close.len()).collect();
                self.end(open, inner.trim_end_matches(close));
                continue;
            }
            let open = [THINK, CALL, SPECIAL]
                .into_iter()
                .filter_map(|(open, close)| self.held.find(open).map(|at| (at, (open, close))))
                .min_by_key(|(at, _)| *at);
            let closes = self.held.find(THINK.1).filter(|at| open.is_none_or(|(begins, _)| *at < begins));
            if let Some(at) = closes {
                // The prompt opened a block that only ends here: all before it is reasoning.
                let before: String = self.held.drain(..at + THINK.1.len()).collect();
                self.reasoning.push_str(&std::mem::take(&mut self.text));
                self.reasoning.push_str(&std::mem::take(&mut shown));
                self.reasoning.push_str(before.trim_end_matches(THINK.1));
                continue;
            }
            match open {
                Some((at, marks)) => {
                    let before: String = self.held.drain(..at + marks.0.len()).collect();
                    shown.push_str(before.trim_end_matches(marks.0));
                    self.inside = Some(marks);
                }
                None => {
                    let ready = self.held.len() - self.may_begin(&shown);
                    shown.extend(self.held.drain(..ready));
                    break;
                }
            }
        }
        for stray in STRAY {
            shown = shown.replace(stray, "");
        }
        self.text.push_str(&shown);
        shown
    }

    /// Bytes at the end of what is held that may begin a mark.
    fn may_begin(&self, shown: &str) -> usize {
        let begin = self.held.trim_start();
        let fresh = self.text.trim().is_empty() && shown.trim().is_empty();
        if fresh && !begin.is_empty() && (BARE.starts_with(begin) || begin.starts_with(BARE)) {
            return self.held.len();
        }
        let marks = [THINK.0, THINK.1, CALL.0, SPECIAL.0].into_iter().chain(STRAY);
        marks
            .filter_map(|mark| {
                (1..mark.len()).rev().find(|&n| mark.get(..n).is_some_and(|start| self.held.ends_with(start)))
            })
            .max()
            .unwrap_or_default()
    }

    fn end(&mut self, open: &str, inner: &str) {
        self.inside = None;
        match open {
            open if open == THINK.0 => self.reasoning.push_str(inner),
            open if open == CALL.0 => self.calls.push(inner.to_owned()),
            _ => {}
        }
    }

    /// The rest that can be shown, and the calls of offered tools.
    pub(super) fn finish(&mut self, offered: &[ToolDeclaration]) -> (String, Vec<OpeningCall>) {
        let held = std::mem::take(&mut self.held);
        let mut rest = String::new();
        match self.inside.take() {
            Some((open, _)) if open == THINK.0 => self.reasoning.push_str(&held),
            // A call that lacks its end may be whole but for that.
            Some((open, _)) if open == CALL.0 => self.calls.push(held),
            Some((open, _)) => rest = format!("{open}{held}"),
            // A call without marks, and what follows it; anything else that begins like one is text.
            None if held.trim_start().starts_with(BARE) => {
                let mut values = serde_json::Deserializer::from_str(&held).into_iter::<Value>();
                let whole = matches!(values.next(), Some(Ok(_)));
                let end = if whole { values.byte_offset() } else { 0 };
                let (call, after) = held.split_at_checked(end).unwrap_or(("", held.as_str()));
                if read(call, offered).is_some() {
                    self.calls.push(call.to_owned());
                    rest = after.to_owned();
                } else {
                    rest = held;
                }
            }
            None => rest = held,
        }
        for stray in STRAY {
            rest = rest.replace(stray, "");
        }
        self.text.push_str(&rest);
        let calls = self.calls.iter().filter_map(|call| read(call, offered)).collect();
        (rest, calls)
    }

    /// All that was shown.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Whether something stood where a call does.
    pub(super) fn had_calls(&self) -> bool {
        !self.calls.is_empty()
    }
}

/// A call in one of the forms, of a tool that was offered. Texts are trimmed; missing arguments are none.
fn read(text: &str, offered: &[ToolDeclaration]) -> Option<OpeningCall> {
    let text = text.trim();
    if text.starts_with("<function=") {
        let closed =
            if text.contains("</function>") { text.to_owned() } else { format!("{text}</function>") };
        return CallFormat::Xml.read(&format!("{}{closed}{}", CALL.0, CALL.1), offered);
    }
    let call: Map<String, Value> = serde_json::from_str(text).ok()?;
    let name = call.get("name")?.as_str()?.trim();
    offered.iter().find(|tool| tool.name == name)?;
    let mut arguments = match call.get("arguments").or_else(|| call.get("parameters")) {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(arguments)) => arguments.clone(),
        // Some models write the object as a text.
        Some(Value::String(text)) => serde_json::from_str(text).ok()?,
        Some(_) => return None,
    };
    for value in arguments.values_mut() {
        if let Value::String(text) = value {
            *text = text.trim().to_owned();
        }
    }
    Some(OpeningCall { tool: name.to_owned(), arguments })
}

#[cfg(test)]
mod tests {
    use super::super::calls::tests::tools;
    use super::*;

    /// Text, reasoning and calls of a reply that comes in pieces of some letters.
    fn of(reply: &str, piece: usize) -> (String, String, Vec<String>) {
        let mut read = Reply::default();
        let letters: Vec<char> = reply.chars().collect();
        for piece in letters.chunks(piece) {
            read.push(&piece.iter().collect::<String>());
        }
        let (_, calls) = read.finish(&tools());
        let calls = calls.iter().map(|call| format!("{} {}", call.tool, Value::from(call.arguments.clone())));
        let calls = calls.collect();
        (read.text().trim().to_owned(), read.reasoning.trim().to_owned(), calls)
    }

    #[test]
    fn replies_are_read_whatever_the_pieces_are() {
        let sum = "calculator {\"expression\":\"1+2\"}";
        let cases: [(&str, &str, &str, &[&str]); 18] = [
            ("{\"name\": \"Anna\", \"age\": 5}", "{\"name\": \"Anna\", \"age\": 5}", "", &[]),
            ("{\"name\" is a key.", "{\"name\" is a key.", "", &[]),
            ("{\"name\": \"calculator\", \"arguments\": {\"expression\": \"1+2\"}} So.", "So.", "", &[sum]),
            (
                "A <|x| x + 1|> and xs <| f and ys |> g<|im_end|>",
                "A <|x| x + 1|> and xs <| f and ys |> g",
                "",
                &[],
            ),
            ("Plain text, 3 < 4 <b>.", "Plain text, 3 < 4 <b>.", "", &[]),
            ("<think>hm</think>\n\nYes.", "Yes.", "hm", &[]),
            ("it reasons\n</think>\nYes.", "Yes.", "it reasons", &[]),
            ("Well <think>a</think>then <think>b</think>so.", "Well then so.", "ab", &[]),
            ("Yes.<think>cut off", "Yes.", "cut off", &[]),
            (
                "<tool_call>{\"name\": \"calculator\", \"arguments\": {\"expression\": \" 1+2 \"}}</tool_call>",
                "",
                "",
                &[sum],
            ),
            (
                "<tool_call>\n<function=calculator>\n<parameter=expression>\n1+2\n</parameter>\n</function>\n</tool_call>",
                "",
                "",
                &[sum],
            ),
            ("<tool_call><function=calculator><parameter=expression>1+2</parameter>", "", "", &[sum]),
            ("{\"name\": \"calculator\", \"arguments\": {\"expression\": \"1+2\"}}", "", "", &[sum]),
            (
                "A<tool_call>{\"name\": \"now\"}</tool_call>B<tool_call>{oops</tool_call>C<tool_call>{\"name\":\"calculator\",\"arguments\":\"{\\\"expression\\\":\\\"1+2\\\"}\"}</tool_call>",
                "ABC",
                "",
                &["now {}", sum],
            ),
            ("<tool_call>{\"name\": \"delete_all\", \"arguments\": {}}</tool_call>Done.", "Done.", "", &[]),
            ("Yes.<|im_end|>", "Yes.", "", &[]),
            ("Yes.</function></tool_call>", "Yes.", "", &[]),
            (
                "a <| b that is no token and goes on for a while, longer than any",
                "a <| b that is no token and goes on for a while, longer than any",
                "",
                &[],
            ),
        ];
        for (reply, text, reasoning, calls) in cases {
            for piece in [1, 3, 7, 1_000] {
                let found = of(reply, piece);
                let calls: Vec<String> = calls.iter().map(|call| (*call).to_owned()).collect();
                assert_eq!(found, (text.to_owned(), reasoning.to_owned(), calls), "{reply:?} by {piece}");
            }
        }
    }
}
