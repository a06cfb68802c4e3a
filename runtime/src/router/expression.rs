//! Finds arithmetic in a message: runs of numbers, symbols, brackets and operators.
//!
//! A run is taken whole or not at all. What arithmetic does not know but touches it (`3.5.x`, `5 ± 2`, `9:00`)
//! refuses the run: a calculator that dropped a part would answer another question. A run that also reads as
//! something else (a range, a ratio, a size) counts only where the message holds nothing else.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

use super::flags;
use super::fold::is_ignorable;
use super::lexer::Token;
use super::phrases::{Hit, List, is_list};
use crate::artifact::layout::role;

/// Tokens `start..end` that form an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) start: usize,
    pub(super) end: usize,
}

/// What a token can be in an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Number,
    /// `+` or a dash: a sign or an operator.
    Sign,
    /// `* / ^ :`
    Operator,
    /// `%`
    Percent,
    /// A word of `operators` between its operands.
    Infix,
    /// A word or symbol in front of its operand (a root).
    Prefix,
    /// A word or symbol behind its operand (squared, a factorial).
    Postfix,
    /// A word that belongs to a figure (percent).
    Unit,
    Open,
    Close,
    Equals,
    Currency,
    /// Goes on with what stands before it: the second word of an operator, a group of digits, a leading dot.
    Same,
    /// A symbol or figure that arithmetic does not know.
    Foreign,
}

/// Reads one message.
struct Reader<'a> {
    message: &'a str,
    tokens: &'a [Token],
    hits: &'a [Hit],
    parts: &'a [Option<Part>],
}

/// Expressions of the message, into `out`. `message` is the text as given; `parts` is a buffer.
pub(super) fn find(
    message: &str,
    tokens: &[Token],
    hits: &[Hit],
    parts: &mut Vec<Option<Part>>,
    out: &mut Vec<Run>,
) {
    out.clear();
    parts.clear();
    for at in 0..tokens.len() {
        let known = part(message, tokens, parts, at);
        parts.push(known);
    }
    last_factorial(message, tokens, parts);
    words(hits, parts);
    let reader = Reader { message, tokens, hits, parts };
    let mut at = 0;
    while at < parts.len() {
        let start = at;
        while parts.get(at).is_some_and(Option::is_some) {
            at += 1;
        }
        if at > start {
            out.extend(reader.run(start, at));
        } else {
            at += 1;
        }
    }
}

/// In a message that holds a factorial, the mark behind its last figure is one as well: "5! / 3!".
fn last_factorial(message: &str, tokens: &[Token], parts: &mut [Option<Part>]) {
    let is_mark = |at: usize| tokens.get(at).is_some_and(|token| glyph(message, token) == '!');
    if !(0..tokens.len()).any(|at| parts.get(at) == Some(&Some(Part::Postfix)) && is_mark(at)) {
        return;
    }
    for at in 1..tokens.len() {
        let operand = matches!(parts.get(at - 1), Some(Some(Part::Number | Part::Close)));
        let touches =
            tokens.get(at - 1).zip(tokens.get(at)).is_some_and(|(before, after)| touch(before, after));
        if operand
            && touches
            && is_mark(at)
            && let Some(part) = parts.get_mut(at)
        {
            *part = Some(Part::Postfix);
        }
    }
}

/// Marks the words of `operators`: at each place the longest phrase.
fn words(hits: &[Hit], parts: &mut [Option<Part>]) {
    let mut taken = 0;
    for (number, hit) in hits.iter().enumerate().filter(|(_, hit)| is_list(hit, List::Operators)) {
        // Hits are in the order of their starts.
        let longer = hits
            .iter()
            .skip(number + 1)
            .take_while(|other| other.start == hit.start)
            .any(|other| is_list(other, List::Operators) && other.end > hit.end);
        if longer || hit.start < taken {
            continue;
        }
        taken = hit.end;
        let (mut infix, mut prefix, mut postfix, mut unit) = (false, false, false, false);
        let same = hits.iter().filter(|other| {
            other.start == hit.start && other.end == hit.end && is_list(other, List::Operators)
        });
        for other in same {
            match (other.role & role::PREFIX != 0, other.role & role::POSTFIX != 0) {
                (false, false) => infix = true,
                (true, false) => prefix = true,
                (false, true) => postfix = true,
                (true, true) => unit = true,
            }
        }
        let word = match (infix, prefix) {
            // "minus" stands between two figures or in front of one, as a dash does.
            (true, true) => Part::Sign,
            (true, false) => Part::Infix,
            (false, true) => Part::Prefix,
            (false, false) if postfix && !unit => Part::Postfix,
            (false, false) => Part::Unit,
        };
        let inside = parts.get_mut(hit.start as usize..hit.end as usize).unwrap_or_default();
        for (offset, slot) in inside.iter_mut().enumerate() {
            *slot = Some(if offset == 0 { word } else { Part::Same });
        }
    }
}

/// Text of a token without marks of no width, in NFKC.
fn text<'m>(message: &'m str, token: &Token) -> Cow<'m, str> {
    let raw = message.get(token.start as usize..token.end as usize).unwrap_or_default();
    if raw.is_ascii() {
        Cow::Borrowed(raw)
    } else {
        Cow::Owned(raw.chars().filter(|&c| !is_ignorable(c)).nfkc().collect())
    }
}

/// First character of a token as written, marks of no width aside.
fn glyph(message: &str, token: &Token) -> char {
    let raw = message.get(token.start as usize..token.end as usize).unwrap_or_default();
    let first = raw.chars().find(|&c| !is_ignorable(c)).unwrap_or(' ');
    match first {
        '\u{FF01}'..='\u{FF5E}' => std::iter::once(first).nfkc().next().unwrap_or(first),
        _ => first,
    }
}

fn touch(before: &Token, after: &Token) -> bool {
    before.end == after.start
}

fn part(message: &str, tokens: &[Token], parts: &[Option<Part>], at: usize) -> Option<Part> {
    let token = tokens.get(at)?;
    let before = at.checked_sub(1).and_then(|before| tokens.get(before));
    let after = tokens.get(at + 1);
    let part_before = parts.last().copied().flatten();
    if token.has(flags::NUMBER) {
        return Some(number(message, token, before, part_before));
    }
    let operand_before = matches!(part_before, Some(Part::Number | Part::Close | Part::Same | Part::Percent));
    let between = operand_before && after.is_some_and(|after| starts_operand(message, after));
    let glyph = glyph(message, token);
    match glyph {
        '+' => token.has(flags::SYMBOL).then_some(Part::Sign),
        '-' | '−' | '‐' | '‑' => token.has(flags::SYMBOL).then_some(Part::Sign),
        '‒' | '–' | '—' => between.then_some(Part::Sign),
        '*' | '/' | '^' | '×' | '÷' | '·' | '∙' | '⋅' | '∶' | '∕' | '∗' => {
            token.has(flags::SYMBOL).then_some(Part::Operator)
        }
        // The bar of ½: both figures stand on the one character.
        '¼'..='¾' | '⅐'..='⅞' => Some(Part::Operator),
        // "8 : 2" divides; "8:20" and "Answer: 2" do not.
        ':' => {
            let apart = before.is_some_and(|before| !touch(before, token))
                && after.is_some_and(|after| !touch(token, after));
            (apart && between).then_some(Part::Operator)
        }
        '%' => Some(Part::Percent),
        '√' | '∛' => Some(Part::Prefix),
        // "5! + 1"; at the end of a sentence it is said with feeling.
        '!' => {
            let touches = operand_before && before.is_some_and(|before| touch(before, token));
            let goes_on = after.is_some_and(|after| {
                after.has(flags::SYMBOL | flags::BRACKET | flags::OPERATORS) || starts_operand(message, after)
            });
            (touches && goes_on).then_some(Part::Postfix)
        }
        '(' | '[' | '{' => Some(Part::Open),
        ')' | ']' | '}' => Some(Part::Close),
        '=' => Some(Part::Equals),
        '.' | ',' => {
            let leads = after.is_some_and(|after| after.has(flags::NUMBER) && touch(token, after))
                && !before
                    .is_some_and(|before| touch(before, token) && before.has(flags::WORD | flags::NUMBER));
            leads.then_some(Part::Same)
        }
        _ if glyph.general_category() == GeneralCategory::CurrencySymbol => Some(Part::Currency),
        _ => token.has(flags::SYMBOL).then_some(Part::Foreign),
    }
}

fn starts_operand(message: &str, token: &Token) -> bool {
    token.has(flags::NUMBER)
        || matches!(glyph(message, token), '(' | '[' | '{' | '√' | '∛' | '.' | ',' | '¼'..='¾' | '⅐'..='⅞')
}

/// A figure; or the next group of one, as in `46 700`; or a code that is no quantity.
fn number(message: &str, token: &Token, before: Option<&Token>, part_before: Option<Part>) -> Part {
    let text = text(message, token);
    let bytes = text.as_bytes();
    if matches!(part_before, Some(Part::Number | Part::Same))
        && let Some(before) = before
        && before.has(flags::NUMBER)
    {
        // The second figure of ½ stands on the same character.
        let gap = message.get(before.end as usize..token.start as usize).unwrap_or_default();
        let whole = text.split(['.', ',']).next().unwrap_or_default();
        let group = whole.len() == 3 && whole.bytes().all(|byte| byte.is_ascii_digit());
        if group && matches!(gap, " " | "\u{A0}" | "\u{202F}" | "\u{2009}") {
            return Part::Same;
        }
    }
    // A leading zero is a telephone number's or a code's; `1.2.3` is a version, an address or a date.
    let code = bytes.first() == Some(&b'0') && bytes.get(1).is_some_and(u8::is_ascii_digit);
    if code || !separators_fit(&text) { Part::Foreign } else { Part::Number }
}

/// Whether the marks in a figure separate thousands or decimals.
fn separators_fit(text: &str) -> bool {
    let mut kinds = ['.', ','].into_iter().filter(|&mark| text.contains(mark));
    let (first, second) = (kinds.next(), kinds.next());
    match (first, second) {
        (Some(mark), None) => {
            text.matches(mark).count() == 1 || text.split(mark).skip(1).all(|group| group.len() == 3)
        }
        _ => true,
    }
}

impl Reader<'_> {
    fn get(&self, at: usize) -> Option<Part> {
        self.parts.get(at).copied().flatten()
    }

    /// The expression in tokens `start..end`, all of which are parts; None if it is refused.
    fn run(&self, start: usize, end: usize) -> Option<Run> {
        let (start, end) = self.trim(start, end)?;
        let shape = self.parse(start, end)?;
        if !self.stands_alone(start, end)
            || !self.is_all(start, end)
            || self.reads_otherwise(start, end, shape)
        {
            return None;
        }
        Some(Run { start, end })
    }

    /// Drops what belongs to the sentence: brackets without a partner, a list marker, words at the ends, `=`.
    fn trim(&self, mut start: usize, mut end: usize) -> Option<(usize, usize)> {
        loop {
            let before = (start, end);
            let balance = |from: usize, to: usize| {
                let mut depth = 0_i32;
                let mut lowest = 0;
                for at in from..to {
                    match self.get(at) {
                        Some(Part::Open) => depth += 1,
                        Some(Part::Close) => depth -= 1,
                        _ => {}
                    }
                    lowest = lowest.min(depth);
                }
                (depth, lowest)
            };
            let (depth, lowest) = balance(start, end);
            match (self.get(start), self.get(start + 1)) {
                // "1) 3 + 4"
                (Some(Part::Number), Some(Part::Close)) if lowest < 0 => start += 2,
                (Some(Part::Open), _) if depth > 0 => start += 1,
                (Some(Part::Close | Part::Equals), _) => start += 1,
                // "Rechne mal 3 + 4": a word that could be an operator and has no operand before it.
                (Some(Part::Infix), _) if !self.has_operand_before(start) => start += 1,
                (Some(Part::Same), _) if !self.leads(start) => start += 1,
                _ => {}
            }
            match end.checked_sub(1).and_then(|last| self.get(last)) {
                Some(Part::Close) if depth < 0 => end -= 1,
                Some(Part::Open) => end -= 1,
                // An operator word that ends the message, as in "3 + 4 mal".
                Some(Part::Infix) if self.ends_text(end) => end -= 1,
                _ => {}
            }
            if start >= end {
                return None;
            }
            if (start, end) == before {
                return Some(before);
            }
        }
    }

    /// A dot in front of a figure, and not the rest of a word.
    fn leads(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| !token.has(flags::WORD | flags::NUMBER))
    }

    /// What stands before the run could be an operand that is not understood: a word that carries a meaning.
    fn has_operand_before(&self, start: usize) -> bool {
        let before = start.checked_sub(1).and_then(|at| self.tokens.get(at));
        before.is_some_and(|before| {
            before.has(flags::NUMBER)
                || (before.has(flags::WORD)
                    && !before.has(flags::ASKS | flags::REQUESTS | flags::POLITE | flags::STOPWORDS))
        })
    }

    fn ends_text(&self, end: usize) -> bool {
        self.tokens.iter().skip(end).all(|token| token.is_mark())
    }

    /// Reads the run as operands and operators; None if that is not what it is.
    fn parse(&self, start: usize, end: usize) -> Option<Shape> {
        let mut shape = Shape::default();
        let mut operand = false;
        let mut depth = 0_u32;
        let mut after_percent = false;
        let mut last_span = None;
        for at in start..end {
            let part = self.get(at)?;
            let percent = std::mem::replace(&mut after_percent, false);
            match part {
                Part::Number => {
                    let span = self.tokens.get(at).map(|token| (token.start, token.end));
                    if operand && !percent {
                        return None;
                    }
                    shape.numbers += u32::from(span != last_span);
                    last_span = span;
                    shape.raised |= self.raised(at);
                    operand = true;
                }
                Part::Sign | Part::Operator | Part::Infix => {
                    if operand {
                        shape.operators += 1;
                        let sign = self.tokens.get(at).map_or(' ', |token| glyph(self.message, token));
                        let known =
                            self.tokens.get(shape.operator).map_or(' ', |token| glyph(self.message, token));
                        let same =
                            shape.operators == 1 || (sign == known && shape.repeated + 1 == shape.operators);
                        shape.repeated +=
                            u32::from(same && matches!(sign, '/' | '-' | '–' | 'x' | 'X' | '×' | ':'));
                        shape.operator = at;
                    } else if part != Part::Sign {
                        return None;
                    }
                    operand = false;
                }
                Part::Percent | Part::Unit | Part::Postfix => {
                    if !operand {
                        return None;
                    }
                    shape.unary |= part == Part::Postfix;
                    shape.percent |= part != Part::Postfix;
                    after_percent = part == Part::Percent;
                }
                Part::Prefix => {
                    if operand {
                        return None;
                    }
                    shape.unary = true;
                }
                Part::Open => {
                    // "2(3 + 4)" multiplies.
                    let touches = at.checked_sub(1).and_then(|before| self.tokens.get(before));
                    let touches = touches.zip(self.tokens.get(at)).is_some_and(|(a, b)| touch(a, b));
                    if operand && !touches {
                        return None;
                    }
                    shape.operators += u32::from(operand);
                    shape.brackets = true;
                    depth += 1;
                    operand = false;
                }
                Part::Close => {
                    if !operand || depth == 0 {
                        return None;
                    }
                    depth -= 1;
                }
                Part::Equals => {
                    if !operand || depth > 0 || at + 1 < end {
                        return None;
                    }
                }
                Part::Same => after_percent = percent,
                Part::Currency => {}
                Part::Foreign => return None,
            }
        }
        let sum = shape.numbers >= 2 && (shape.operators > 0 || shape.percent);
        (operand && depth == 0 && (sum || (shape.numbers == 1 && (shape.unary || shape.raised))))
            .then_some(shape)
    }

    /// A figure with a raised one, such as 7².
    fn raised(&self, at: usize) -> bool {
        let raw =
            self.tokens.get(at).and_then(|token| self.message.get(token.start as usize..token.end as usize));
        raw.is_some_and(|raw| {
            !raw.is_ascii() && raw.chars().any(|c| matches!(c, '⁰' | '¹' | '²' | '³' | '⁴'..='⁹' | '⁻'))
        })
    }

    /// Nothing arithmetic that is not understood stands beside the run.
    fn stands_alone(&self, start: usize, end: usize) -> bool {
        let (Some(first), Some(last)) = (self.tokens.get(start), self.tokens.get(end - 1)) else {
            return false;
        };
        let before = start.checked_sub(1).and_then(|at| self.tokens.get(at));
        let farther = start.checked_sub(2).and_then(|at| self.tokens.get(at));
        let after = self.tokens.get(end);
        let beyond = self.tokens.get(end + 1);
        let word_like = flags::WORD | flags::NUMBER | flags::URL;
        if first.has(flags::CONTINUES) || after.is_some_and(|after| after.has(flags::CONTINUES)) {
            return false;
        }
        if let Some(before) = before {
            let signed = self.get(start) == Some(Part::Sign) && !first.has(flags::WORD);
            // "x - 3 + 4" and "0151 - 23": what stands in front of the sign is an operand. In "what is -5 + 3" it is not.
            let joined = self.tokens.get(start + 1).is_some_and(|next| touch(first, next));
            let signed = signed && !(joined && !touch(before, first) && !before.is_content());
            if before.has(flags::NUMBER | flags::QUOTE | flags::MASKED)
                || (signed && before.has(flags::WORD))
                || (touch(before, first) && before.has(word_like))
                || self.is_mathematical(before)
            {
                return false;
            }
            let glued = touch(before, first) && farther.is_some_and(|farther| touch(farther, before));
            if glued && farther.is_some_and(|farther| farther.has(flags::NUMBER)) {
                return false;
            }
        }
        if let Some(after) = after {
            if after.has(flags::NUMBER | flags::QUOTE | flags::MASKED)
                || (touch(last, after) && after.has(word_like))
                || self.is_mathematical(after)
            {
                return false;
            }
            let glued = touch(last, after) && beyond.is_some_and(|beyond| touch(after, beyond));
            if glued && beyond.is_some_and(|beyond| beyond.has(word_like | flags::SYMBOL)) {
                return false;
            }
        }
        true
    }

    /// No other figure or operator stands in the message: the run is all that is to be computed. A number in front of a
    /// mark may count the task: "1. 3 + 4", "Aufgabe 2: 3 + 4".
    fn is_all(&self, start: usize, end: usize) -> bool {
        let counts = |at: usize| {
            self.get(at) == Some(Part::Number)
                && self.get(start) != Some(Part::Prefix)
                && at < start
                && self.tokens.get(at + 1).is_some_and(|next| matches!(next.glyph, b')' | b'.' | b':'))
        };
        (0..self.parts.len()).filter(|at| !(start..end).contains(at)).all(|at| match self.get(at) {
            Some(
                Part::Number | Part::Foreign | Part::Operator | Part::Percent | Part::Prefix | Part::Postfix,
            ) => counts(at),
            // Words such as "mal" and "over" mean other things, too; next to a figure they are operators.
            Some(Part::Infix | Part::Unit) => {
                let trimmed = (at + 1 == start && !self.has_operand_before(at))
                    || (at == end && self.ends_text(at + 1));
                trimmed || !self.touches_figure(at)
            }
            _ => true,
        })
    }

    fn touches_figure(&self, at: usize) -> bool {
        let figure = |at: Option<usize>| at.and_then(|at| self.get(at)) == Some(Part::Number);
        figure(at.checked_sub(1)) || figure(Some(at + 1))
    }

    /// A mark that means something in a formula: `±`, `≤`, `~`.
    fn is_mathematical(&self, token: &Token) -> bool {
        let glyph = glyph(self.message, token);
        token.has(flags::MARK | flags::SYMBOL)
            && (glyph.general_category() == GeneralCategory::MathSymbol
                || matches!(glyph, '‰' | '‱' | '#' | '@' | '\\' | '§' | '…' | 'π' | '∞'))
    }

    /// Whether the run reads as something other than a sum: a date, a range, a ratio, a size.
    fn reads_otherwise(&self, start: usize, end: usize, shape: Shape) -> bool {
        // "20-30 €" is a range of prices.
        let price = |at: usize| self.get(at) == Some(Part::Currency);
        let from = start + usize::from(price(start));
        let to = end - usize::from(price(end - 1));
        let tokens = self.tokens.get(from..to).unwrap_or_default();
        let joined = tokens.windows(2).all(|pair| matches!(pair, [a, b] if touch(a, b)));
        let plain = !shape.brackets && !shape.unary && !shape.percent && !shape.raised;
        if joined && plain {
            let first = tokens.first().map_or(0, |token| token.start as usize);
            let last = tokens.last().map_or(0, |token| token.end as usize);
            let raw = self.message.get(first..last).unwrap_or_default();
            let written: Cow<'_, str> =
                if raw.is_ascii() { raw.into() } else { raw.nfkc().collect::<String>().into() };
            if joined_reads_otherwise(&written) {
                return true;
            }
        }
        let Some(operator) = self.tokens.get(shape.operator) else { return false };
        let dash = matches!(glyph(self.message, operator), '-' | '‐' | '‑' | '‒' | '–' | '—');
        let priced =
            (start..end).any(|at| matches!(self.get(at), Some(Part::Currency | Part::Percent | Part::Unit)));
        if dash && priced && shape.numbers == 2 && shape.operators == 1 && self.ascends(start, end) {
            // "5-10 %" and "$10-$20" are ranges whatever stands around them.
            return true;
        }
        let ratio = shape.repeated == shape.operators && shape.operators > 1;
        if !plain || !(ratio || (shape.numbers == 2 && shape.operators == 1)) {
            return false;
        }
        if ratio && dash && self.is_date_or_telephone(start, end) {
            return true;
        }
        let word = operator.has(flags::WORD) && !matches!(text(self.message, operator).as_ref(), "x" | "X");
        if word {
            // "10 durch 5 Städte": the second figure counts something.
            let next = self.tokens.iter().skip(end).find(|token| !token.is_mark());
            return next.is_some_and(|next| next.is_content());
        }
        let weak = match glyph(self.message, operator) {
            '-' | '‐' | '‑' | '‒' | '–' | '—' => {
                ratio || self.ascends(start, end) || self.is_score(start, end)
            }
            '/' | ':' | '∶' | '×' | 'x' | 'X' => true,
            _ => false,
        };
        // A ratio of three, "50/30/20", is as weak as one of two.
        let outside = self
            .tokens
            .iter()
            .enumerate()
            .filter(|(at, _)| !(start..end).contains(at) && !self.is_lead_in(*at));
        let mut outside = outside.map(|(_, token)| token);
        weak && outside.any(|token| token.is_content() || token.has(flags::QUOTE | flags::URL))
    }

    /// Part of a greeting, thanks or a polite phrase.
    fn is_lead_in(&self, at: usize) -> bool {
        self.hits.iter().any(|hit| {
            (hit.start as usize..hit.end as usize).contains(&at)
                && [List::Openers, List::Closers, List::Polite].iter().any(|&list| is_list(hit, list))
        })
    }

    fn figures(&self, start: usize, end: usize) -> impl Iterator<Item = Cow<'_, str>> {
        (start..end)
            .filter(|&at| self.get(at) == Some(Part::Number))
            .filter_map(|at| self.tokens.get(at))
            .map(|token| text(self.message, token))
    }

    /// Two numbers, the second larger: "1914 - 1918", "10 – 12", "1,5 - 2,5", "1.000 - 2.000".
    fn ascends(&self, start: usize, end: usize) -> bool {
        // Both are written alike, so their marks mean the same.
        let mut values = self.figures(start, end).map(|text| {
            let plain: String = text.chars().filter(|&c| c != '\'' && c != '’').collect();
            plain.replace(',', ".").parse::<f64>().ok()
        });
        matches!((values.next().flatten(), values.next().flatten()), (Some(a), Some(b)) if a < b)
    }

    /// Two figures of at most two digits: "3 - 1", "9 - 5".
    fn is_score(&self, start: usize, end: usize) -> bool {
        self.figures(start, end).all(|text| text.len() <= 2)
    }

    /// "2024 - 11 - 12", "+49 - 30 - 123456".
    fn is_date_or_telephone(&self, start: usize, end: usize) -> bool {
        let lengths: Vec<usize> = self.figures(start, end).map(|text| text.len()).collect();
        let date = matches!(lengths.as_slice(), [4, 1..=2, 1..=2] | [1..=2, 1..=2, 4]);
        let plus = self.tokens.get(start).is_some_and(|token| token.glyph == b'+');
        date || plus
    }
}

/// What a run is made of.
#[derive(Clone, Copy, Default)]
struct Shape {
    numbers: u32,
    /// Operators between two operands.
    operators: u32,
    /// How many of them in a row from the first are the same dash, slash, colon or x.
    repeated: u32,
    /// Token of the last of them.
    operator: usize,
    unary: bool,
    percent: bool,
    brackets: bool,
    raised: bool,
}

/// Whether digits joined by one of `- . / :` read as a date, a time, a score, a range, a version or a code.
fn joined_reads_otherwise(text: &str) -> bool {
    let Some(joiner) = text.chars().find(|c| !c.is_ascii_digit()) else { return false };
    // The minus sign proper joins nothing else.
    let joiner = if matches!(joiner, '‐' | '‒' | '–' | '—') { '-' } else { joiner };
    if !matches!(joiner, '-' | '.' | '/' | ':') {
        return false;
    }
    let same = |c: char| c == joiner || (joiner == '-' && matches!(c, '‐' | '‒' | '–' | '—'));
    let parts: Vec<&str> = text.split(same).collect();
    if parts.iter().any(|part| part.is_empty() || !part.bytes().all(|byte| byte.is_ascii_digit())) {
        return false;
    }
    let number = |at: usize| parts.get(at).and_then(|part| part.parse::<u32>().ok()).unwrap_or(u32::MAX);
    let length = |at: usize| parts.get(at).map_or(0, |part| part.len());
    let day = |at: usize| (1..=31).contains(&number(at));
    let month = |at: usize| (1..=12).contains(&number(at));
    match (parts.len(), joiner) {
        // A time; a version of two parts is a decimal number and no expression anyway.
        (2, ':') => number(0) <= 24 && length(1) == 2 && number(1) < 60,
        (3, ':') => number(0) <= 24 && number(1) < 60 && number(2) < 60,
        // Day and month in either order; month and year; 24/7; a season such as 2023/24.
        (2, '/') => {
            (day(0) && month(1))
                || (month(0) && (day(1) || length(1) == 4))
                || text == "24/7"
                || (length(0) == 4 && length(1) == 2)
        }
        // A score; a range, such as a pair of years.
        (2, '-') => {
            (length(0) <= 2 && length(1) <= 2)
                || (length(0) == 4 && length(1) == 2)
                || (length(0) <= 4 && length(1) <= 4 && number(0) < number(1))
        }
        // Dates with year first or last.
        (3, '/') => {
            (length(0) == 4 && month(1) && day(2))
                || (matches!(length(2), 2 | 4) && (day(0) || month(0)) && (day(1) || month(1)))
        }
        // Dates, telephone numbers, ISBNs.
        (3.., '-') => true,
        (_, '.') => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::joined_reads_otherwise;

    #[test]
    fn dates_times_scores_and_versions_are_no_expressions() {
        for text in [
            "2024-05-01",
            "9/11",
            "24/7",
            "3-1",
            "18:30",
            "1.2.3",
            "01/05/2024",
            "1990-1995",
            "973-1048",
            "2023/24",
            "555-1234-99",
            "978-3-16-148410-0",
            "1914–1918",
            "5/2024",
        ] {
            assert!(joined_reads_otherwise(text), "{text}");
        }
        for text in [
            "98765-4321",
            "500-300",
            "144/12*2",
            "2^20",
            "100/4",
            "1000/8",
            "7*6",
            "3+4",
            "1/0",
            "80/20",
            "100/10/2",
        ] {
            assert!(!joined_reads_otherwise(text), "{text}");
        }
    }
}
