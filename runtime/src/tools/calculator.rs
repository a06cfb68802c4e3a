//! `calculator`: exact arithmetic on what people write.
//!
//! Recursive descent over a token list, with bounds on length, depth and size. `+ - * /`, powers, percentages
//! (`18% of 2450`, `20 percent off 80`, `240 + 19%` is 19 % on top), roots, factorials, modulo; in symbols and in
//! German and English words. Values are rational numbers, so `10 / 3 * 3` is 10; what a decimal number cannot say,
//! and a root that is no fraction, is rounded and marked with `≈`.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Pow, Signed, ToPrimitive, Zero};
use serde_json::{Map, Value};
use unicode_normalization::UnicodeNormalization;

use super::{Tool, ToolContext, ToolFailure, ToolOutput, Wants, number_words, numbers, text_argument};

/// Longest expression, in bytes.
const LONGEST: usize = 2_000;
/// Deepest nesting.
const DEEPEST: usize = 64;
/// Most digits of a result that is written out.
const MOST_DIGITS: u64 = 2_000;
/// Bits of a numerator or denominator on the way there: four times the digits of a result.
const MOST_BITS: u64 = 4 * MOST_DIGITS * 10 / 3;
/// Digits of a root that does not end.
const ROOT_DIGITS: usize = 60;
/// Places to which a rounded value is taken to be whole.
const SETTLED_PLACES: usize = 40;
/// Largest root, such as 100 in `2 ^ (1/100)`.
const LARGEST_ROOT: u32 = 100;
/// Largest number whose factorial is computed: its digits still fit.
const LARGEST_FACTORIAL: u32 = 800;

pub(super) struct Calculator;

impl Tool for Calculator {
    fn name(&self) -> &str {
        "calculator"
    }

    fn wants(&self) -> Wants<'_> {
        Wants { required: vec!["expression"], optional: vec![], sourced: Some(false) }
    }

    fn run(
        &self,
        arguments: &Map<String, Value>,
        context: &ToolContext<'_>,
    ) -> Result<ToolOutput, ToolFailure> {
        let expression =
            text_argument(arguments, "expression").ok_or_else(|| ToolFailure::new("reason-no-expression"))?;
        let mark = decimal_mark(context).filter(|_| context.language_is_certain);
        let shown = calculate(&expression, mark)?.show(mark.unwrap_or('.'));
        let expression = expression.trim_end_matches(['=', '?', ' ']);
        Ok(format!("{expression} {shown}").into())
    }
}

fn decimal_mark(context: &ToolContext<'_>) -> Option<char> {
    match context.language.replies.get("decimal-mark") {
        Some(crate::artifact::Reply::Text(text)) => text.chars().next(),
        _ => None,
    }
}

/// A result.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    value: BigRational,
    exact: bool,
}

impl Outcome {
    /// `= 97.75` or `≈ 0.333333333333`, with this decimal mark.
    #[must_use]
    pub fn show(&self, mark: char) -> String {
        let (text, whole) = numbers::write(&self.value, mark);
        let sign = if self.exact && whole { '=' } else { '≈' };
        format!("{sign} {text}")
    }
}

/// Computes an expression. `mark` is the decimal mark of its language, if that is certain.
///
/// # Errors
/// A key of the library's `replies` that says why not: not understood, division by zero, too large, no real result.
pub fn calculate(expression: &str, mark: Option<char>) -> Result<Outcome, ToolFailure> {
    if expression.len() > LONGEST {
        return Err(too_large());
    }
    let tokens = tokenize(expression, mark)?;
    // "plus 4" and "minus 10 %" go on with a sum that is not here.
    if let [Token::Plus | Token::Minus, Token::Number(_)]
    | [Token::Plus | Token::Minus, Token::Number(_), Token::Percent] = tokens.as_slice()
    {
        return Err(not_understood(expression));
    }
    let mut parser = Parser { tokens: &tokens, at: 0, depth: 0, exact: true, source: expression };
    let value = parser.sum()?;
    if parser.at < tokens.len() {
        return Err(parser.confused());
    }
    let exact = parser.exact;
    if value.numer().bits() > MOST_DIGITS * 10 / 3 {
        return Err(too_large());
    }
    Ok(Outcome { value, exact })
}

fn too_large() -> ToolFailure {
    ToolFailure::new("reason-too-large")
}

fn not_understood(text: impl Into<String>) -> ToolFailure {
    ToolFailure::new("reason-not-understood").with("text", text)
}

fn no_real_result() -> ToolFailure {
    ToolFailure::new("reason-no-real-result")
}

fn whole(number: u32) -> BigRational {
    BigRational::from(BigInt::from(number))
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Number(BigRational),
    Plus,
    Minus,
    Times,
    Over,
    Power,
    Percent,
    PercentOf,
    PercentOff,
    Modulo,
    Root,
    CubeRoot,
    Squared,
    Cubed,
    Factorial,
    Open,
    Close,
}

/// Words and phrases of operators, longest first; what they do. German and English.
const PHRASES: &[(&str, Token)] = &[
    ("multiplied by", Token::Times),
    ("multipliziert mit", Token::Times),
    ("divided by", Token::Over),
    ("geteilt durch", Token::Over),
    ("dividiert durch", Token::Over),
    ("to the power of", Token::Power),
    ("percent off", Token::PercentOff),
    ("per cent off", Token::PercentOff),
    ("% off", Token::PercentOff),
    ("percent of", Token::PercentOf),
    ("per cent of", Token::PercentOf),
    ("% of", Token::PercentOf),
    ("prozent von", Token::PercentOf),
    ("% von", Token::PercentOf),
    ("percent", Token::Percent),
    ("per cent", Token::Percent),
    ("prozent", Token::Percent),
    ("square root of", Token::Root),
    ("the square root of", Token::Root),
    ("quadratwurzel aus", Token::Root),
    ("quadratwurzel von", Token::Root),
    ("cube root of", Token::CubeRoot),
    ("the cube root of", Token::CubeRoot),
    ("third root of", Token::CubeRoot),
    ("kubikwurzel aus", Token::CubeRoot),
    ("kubikwurzel von", Token::CubeRoot),
    ("dritte wurzel aus", Token::CubeRoot),
    ("dritte wurzel von", Token::CubeRoot),
    ("wurzel aus", Token::Root),
    ("wurzel von", Token::Root),
    ("sqrt", Token::Root),
    ("√", Token::Root),
    ("∛", Token::CubeRoot),
    ("zum quadrat", Token::Squared),
    ("im quadrat", Token::Squared),
    ("hoch zwei", Token::Squared),
    ("squared", Token::Squared),
    ("hoch drei", Token::Cubed),
    ("cubed", Token::Cubed),
    ("hoch", Token::Power),
    ("addiert mit", Token::Plus),
    ("plus", Token::Plus),
    ("minus", Token::Minus),
    ("times", Token::Times),
    ("mal", Token::Times),
    ("x", Token::Times),
    ("durch", Token::Over),
    ("over", Token::Over),
    ("modulo", Token::Modulo),
    ("mod", Token::Modulo),
];

fn symbol(c: char) -> Option<Token> {
    Some(match c {
        '+' => Token::Plus,
        '-' | '−' | '‐' | '‑' | '‒' | '–' | '—' => Token::Minus,
        '*' | '×' | '·' | '∙' | '⋅' | '∗' => Token::Times,
        '/' | '÷' | '∶' | ':' | '⁄' | '∕' => Token::Over,
        '^' => Token::Power,
        '%' => Token::Percent,
        '!' => Token::Factorial,
        '(' | '[' | '{' => Token::Open,
        ')' | ']' | '}' => Token::Close,
        _ => return None,
    })
}

/// Digits and signs above the line as they stand on it.
fn superscript(c: char) -> Option<char> {
    match c {
        '⁰' | '¹' | '²' | '³' | '⁴'..='⁹' | '⁻' => std::iter::once(c).nfkc().next(),
        _ => None,
    }
}

/// Numerator and denominator of a character such as ½.
fn vulgar_fraction(c: char) -> Option<(BigRational, BigRational)> {
    if !matches!(c, '¼'..='¾' | '⅐'..='⅞') {
        return None;
    }
    let written: String = std::iter::once(c).nfkc().collect();
    let (numerator, denominator) = written.split_once('⁄')?;
    Some((numbers::read(numerator, None)?, numbers::read(denominator, None)?))
}

/// The text in lower case with full-width forms as plain ones and without marks that have no width.
fn plain(expression: &str) -> String {
    let wide = |c: char| matches!(c, '\u{FF01}'..='\u{FF5E}' | '\u{3000}');
    let mut out = String::with_capacity(expression.len());
    for c in expression.chars() {
        match c {
            '\u{AD}'
            | '\u{200B}'..='\u{200F}'
            | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{2069}'
            | '\u{FEFF}' => {}
            _ if wide(c) => out.extend(std::iter::once(c).nfkc().flat_map(char::to_lowercase)),
            _ => out.extend(c.to_lowercase()),
        }
    }
    out.replace("**", "^")
}

fn tokenize(expression: &str, mark: Option<char>) -> Result<Vec<Token>, ToolFailure> {
    let text = plain(expression);
    let ends = |c: char| matches!(c, '=' | '?' | '.' | ',' | ';') || c.is_whitespace();
    let mut text = text.trim_start_matches(|c: char| c == '=' || c.is_whitespace()).trim_end_matches(ends);
    // "3 + 4!" is said with feeling; "5!", "(3 + 4)!" and "3! + 4!" are factorials.
    if let Some(rest) = text.strip_suffix('!')
        && !rest.trim_end().bytes().all(|byte| byte.is_ascii_digit())
        && !rest.ends_with([')', ']', '}'])
        && !rest.contains('!')
    {
        text = rest.trim_end_matches(|c: char| c == '!' || ends(c));
    }
    let text = without_shell(text);
    let mark = decimal_mark_of(text).or(mark);
    let mut tokens: Vec<Token> = Vec::new();
    let mut at = 0;
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = text.get(at..).unwrap_or_default();
        if c.is_whitespace() || matches!(c, '$' | '€' | '£' | '¥') {
            at += c.len_utf8();
            continue;
        }
        if c.is_ascii_digit()
            || (matches!(c, '.' | ',')
                && rest.get(1..).is_some_and(|r| r.starts_with(|c: char| c.is_ascii_digit())))
        {
            let end = number_end(rest);
            let written = rest.get(..end).unwrap_or_default();
            // "2 3" is no sum that a calculator should guess at.
            if matches!(tokens.last(), Some(Token::Number(_) | Token::Close)) {
                return Err(not_understood(written));
            }
            let number = numbers::read(written, mark).ok_or_else(|| not_understood(written))?;
            tokens.push(Token::Number(number));
            at += end;
            continue;
        }
        if let Some((numerator, denominator)) = vulgar_fraction(c) {
            // 1½ is one and a half.
            let before = match tokens.last() {
                Some(Token::Number(number)) => Some(number.clone()),
                _ => None,
            };
            if let Some(number) = before {
                tokens.pop();
                tokens.extend([Token::Open, Token::Number(number), Token::Plus]);
                tokens.extend([
                    Token::Number(numerator),
                    Token::Over,
                    Token::Number(denominator),
                    Token::Close,
                ]);
            } else {
                tokens.extend([Token::Open, Token::Number(numerator), Token::Over]);
                tokens.extend([Token::Number(denominator), Token::Close]);
            }
            at += c.len_utf8();
            continue;
        }
        if superscript(c).is_some() {
            let power: String = rest.chars().map_while(superscript).collect();
            let length: usize =
                rest.chars().take_while(|&c| superscript(c).is_some()).map(char::len_utf8).sum();
            let (sign, digits) = match power.strip_prefix(['−', '-']) {
                Some(digits) => (true, digits),
                None => (false, power.as_str()),
            };
            let number = numbers::read(digits, None).ok_or_else(|| not_understood(rest))?;
            tokens.extend([Token::Power, Token::Number(if sign { -number } else { number })]);
            at += length;
            continue;
        }
        let phrase = PHRASES.iter().find(|(phrase, _)| {
            let word = phrase.chars().next_back().is_some_and(char::is_alphabetic);
            rest.strip_prefix(*phrase).is_some_and(|tail| {
                !word || !tail.starts_with(|c: char| c.is_alphabetic()) || phrase.chars().count() == 1
            }) && (phrase.len() > 1 || !tokens.is_empty())
        });
        if let Some((phrase, token)) = phrase {
            tokens.push(token.clone());
            at += phrase.len();
        } else if let Some((number, length)) = number_words::read(rest) {
            if matches!(tokens.last(), Some(Token::Number(_) | Token::Close)) {
                return Err(not_understood(rest.get(..length).unwrap_or_default()));
            }
            tokens.push(Token::Number(BigRational::from(BigInt::from(number))));
            at += length;
        } else if let Some(token) = symbol(c) {
            // A bracket behind a figure multiplies it.
            if token == Token::Open && matches!(tokens.last(), Some(Token::Number(_) | Token::Close)) {
                tokens.push(Token::Times);
            }
            tokens.push(token);
            at += c.len_utf8();
        } else {
            let word: String = rest.chars().take_while(|c| c.is_alphanumeric()).collect();
            return Err(not_understood(if word.is_empty() { c.to_string() } else { word }));
        }
    }
    Ok(tokens)
}

/// The decimal mark that the figures themselves tell: of "2,5 + 1.500" it is the comma. With a currency beside them,
/// figures such as 1.500 hold thousands.
fn decimal_mark_of(text: &str) -> Option<char> {
    let mut told = None;
    let figures = text.split(|c: char| !(c.is_ascii_digit() || c == '.' || c == ','));
    for figure in figures.map(|figure| figure.trim_matches(['.', ','])) {
        let found = numbers::mark_told(figure).or_else(|| {
            let money = text.contains(['€', '$', '£', '¥']);
            money.then(|| numbers::mark_of_thousands(figure)).flatten()
        });
        match (told, found) {
            (None, found) => told = found,
            (Some(known), Some(found)) if known != found => return None,
            _ => {}
        }
    }
    told
}

/// What people write around a sum when they ask for it.
const SHELLS: [&str; 25] = [
    "what is",
    "what's",
    "whats",
    "how much is",
    "how much are",
    "calculate",
    "compute",
    "work out",
    "the answer to",
    "was ist",
    "was sind",
    "wie viel ist",
    "wieviel ist",
    "wie viel sind",
    "wieviel sind",
    "was ergibt",
    "was macht",
    "berechne",
    "rechne",
    "please",
    "bitte",
    "hallo",
    "hello",
    "hi",
    "mal",
];

/// The text without the words of a question around it. "mal" stays where it multiplies.
fn without_shell(text: &str) -> &str {
    let mut text = text.trim();
    loop {
        let before = text;
        for shell in SHELLS {
            let rest = text.strip_prefix(shell).filter(|rest| !rest.starts_with(char::is_alphanumeric));
            if let Some(rest) = rest {
                text = rest.trim_start_matches(|c: char| c == ',' || c == ':' || c.is_whitespace());
            }
        }
        for shell in ["please", "bitte", "gleich", "equals", "equal"] {
            let rest = text.strip_suffix(shell).filter(|rest| !rest.ends_with(char::is_alphanumeric));
            if let Some(rest) = rest {
                text = rest.trim_end_matches(|c: char| c == ',' || c.is_whitespace());
            }
        }
        if text == before {
            return text;
        }
    }
}

/// End of a number: digits with `.`, `,`, `'` or a narrow space between them, and groups of three behind a space.
fn number_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = usize::from(matches!(bytes.first(), Some(b'.' | b',')));
    loop {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        let separator = match text.get(at..).and_then(|rest| rest.chars().next()) {
            Some(c @ ('.' | ',' | '\'' | '’' | '\u{A0}' | '\u{2009}' | '\u{202F}' | '_')) => c.len_utf8(),
            Some(' ') => {
                let group =
                    bytes.get(at + 1..at + 4).is_some_and(|group| group.iter().all(u8::is_ascii_digit));
                let longer = bytes.get(at + 4).is_some_and(u8::is_ascii_digit);
                if at > 3 && !text.get(..at).is_some_and(|t| t.contains(' ')) || !group || longer {
                    return at;
                }
                1
            }
            _ => return at,
        };
        if !bytes.get(at + separator).is_some_and(u8::is_ascii_digit) {
            return at;
        }
        at += separator;
    }
}

struct Parser<'t> {
    tokens: &'t [Token],
    at: usize,
    depth: usize,
    exact: bool,
    source: &'t str,
}

impl Parser<'_> {
    fn confused(&self) -> ToolFailure {
        not_understood(self.source.trim())
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn eat(&mut self, token: &Token) -> bool {
        let found = self.peek() == Some(token);
        self.at += usize::from(found);
        found
    }

    fn checked(&self, value: BigRational) -> Result<BigRational, ToolFailure> {
        if value.numer().bits() > MOST_BITS || value.denom().bits() > MOST_BITS {
            Err(too_large())
        } else {
            Ok(value)
        }
    }

    /// Whether the tokens from here to the current place are one percentage, such as `19%`.
    fn is_percentage(&self, from: usize) -> bool {
        matches!(self.tokens.get(from..self.at), Some([Token::Number(_), Token::Percent]))
    }

    fn sum(&mut self) -> Result<BigRational, ToolFailure> {
        let from = self.at;
        let mut value = self.product()?;
        // "240 + 19%": the percentage is one of what stands before it. "50% + 50%" adds two of them.
        let of_percentage = self.is_percentage(from);
        loop {
            let add = if self.eat(&Token::Plus) {
                true
            } else if self.eat(&Token::Minus) {
                false
            } else {
                return Ok(value);
            };
            let from = self.at;
            let mut right = self.product()?;
            if self.is_percentage(from) && !of_percentage {
                right *= &value;
            }
            value = self.checked(if add { value + right } else { value - right })?;
            value = self.settled(value);
        }
    }

    fn product(&mut self) -> Result<BigRational, ToolFailure> {
        let mut value = self.signed()?;
        loop {
            if self.eat(&Token::Times) {
                value *= self.signed()?;
            } else if self.eat(&Token::Over) {
                let right = self.signed()?;
                value = divide(value, &self.settled(right))?;
            } else if self.eat(&Token::Modulo) || self.percent_is_modulo() {
                let right = self.signed()?;
                if right.is_zero() {
                    return Err(ToolFailure::new("reason-division-by-zero"));
                }
                value -= (&value / &right).floor() * &right;
            } else {
                return Ok(value);
            }
            value = self.settled(self.checked(value)?);
        }
    }

    /// A percent sign right before an operand divides with remainder.
    fn percent_is_modulo(&mut self) -> bool {
        let next = self.tokens.get(self.at + 1);
        let modulo = self.peek() == Some(&Token::Percent)
            && matches!(next, Some(Token::Number(_) | Token::Open | Token::Root | Token::CubeRoot));
        self.at += usize::from(modulo);
        modulo
    }

    fn signed(&mut self) -> Result<BigRational, ToolFailure> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(too_large());
        }
        let value = if self.eat(&Token::Minus) {
            -self.signed()?
        } else if self.eat(&Token::Plus) {
            self.signed()?
        } else {
            self.share()?
        };
        self.depth -= 1;
        Ok(value)
    }

    /// `20% of 50` and `20% off 50`: one operand of what stands around it.
    fn share(&mut self) -> Result<BigRational, ToolFailure> {
        let mut value = self.power()?;
        loop {
            if self.eat(&Token::PercentOf) {
                value = value * self.signed()? / whole(100);
            } else if self.eat(&Token::PercentOff) {
                let right = self.signed()?;
                value = &right - &right * value / whole(100);
            } else {
                return Ok(value);
            }
            value = self.checked(value)?;
        }
    }

    /// A rounded value without the trace of its rounding: √2 · √8 is 4.
    fn settled(&self, value: BigRational) -> BigRational {
        if self.exact {
            return value;
        }
        let scale = BigRational::from(numbers::ten_to(SETTLED_PLACES));
        let near = (&value * &scale).round() / scale;
        let distance = (&near - &value).abs() * BigRational::from(numbers::ten_to(SETTLED_PLACES + 5));
        if distance < BigRational::one() { near } else { value }
    }

    fn power(&mut self) -> Result<BigRational, ToolFailure> {
        let base = self.postfix()?;
        if self.eat(&Token::Power) {
            // Right-associative; a sign belongs to the exponent.
            let exponent = self.exponent()?;
            return self.raise(&base, &exponent);
        }
        Ok(base)
    }

    /// With its sign. A share such as `% of 5` belongs to the whole power.
    fn exponent(&mut self) -> Result<BigRational, ToolFailure> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(too_large());
        }
        let value = if self.eat(&Token::Minus) {
            -self.exponent()?
        } else if self.eat(&Token::Plus) {
            self.exponent()?
        } else {
            self.power()?
        };
        self.depth -= 1;
        Ok(value)
    }

    fn raise(&mut self, base: &BigRational, exponent: &BigRational) -> Result<BigRational, ToolFailure> {
        if base.is_zero() && exponent.is_negative() {
            return Err(ToolFailure::new("reason-division-by-zero"));
        }
        let degree = exponent.denom().to_u32().filter(|&degree| degree <= LARGEST_ROOT);
        let bits = base.numer().bits().max(base.denom().bits()).saturating_sub(1);
        let fits = |power: i32| bits.saturating_mul(u64::from(power.unsigned_abs())) <= MOST_BITS;
        let Some((degree, power)) = degree.zip(exponent.numer().to_i32()).filter(|&(_, power)| fits(power))
        else {
            return self.raise_roughly(base, exponent);
        };
        let raised = Pow::pow(base.clone(), power);
        if degree == 1 { Ok(raised) } else { self.root(&raised, degree) }
    }

    /// A power that is too fine or too long for exact figures, in floating point.
    fn raise_roughly(
        &mut self,
        base: &BigRational,
        exponent: &BigRational,
    ) -> Result<BigRational, ToolFailure> {
        let (base, exponent) = (base.to_f64().unwrap_or(f64::NAN), exponent.to_f64().unwrap_or(f64::NAN));
        let value = base.powf(exponent);
        self.exact = false;
        if value.is_nan() {
            return Err(if base < 0.0 { no_real_result() } else { too_large() });
        }
        // Whole powers of whole numbers are computed exactly or not at all.
        if !value.is_finite() || value == 0.0 || (base.fract() == 0.0 && exponent.fract() == 0.0) {
            return Err(too_large());
        }
        BigRational::from_float(value).ok_or_else(too_large)
    }

    fn root(&mut self, value: &BigRational, degree: u32) -> Result<BigRational, ToolFailure> {
        if value.is_negative() && degree.is_multiple_of(2) {
            return Err(no_real_result());
        }
        let (numerator, denominator) = (value.numer().nth_root(degree), value.denom().nth_root(degree));
        let root = BigRational::new(numerator, denominator);
        if &Pow::pow(root.clone(), degree) == value {
            return Ok(root);
        }
        self.exact = false;
        // Digits behind the mark, and more for a small value, so that as many of them say something.
        let small = value.denom().bits().saturating_sub(value.numer().bits()) as usize / degree as usize;
        let places = ROOT_DIGITS + small;
        let scale = numbers::ten_to(places);
        let scaled = value * BigRational::from(Pow::pow(scale.clone(), degree));
        Ok(BigRational::new(scaled.to_integer().nth_root(degree), scale))
    }

    fn postfix(&mut self) -> Result<BigRational, ToolFailure> {
        let mut value = self.primary()?;
        loop {
            if self.eat(&Token::Squared) {
                value = Pow::pow(value, 2_u32);
            } else if self.eat(&Token::Cubed) {
                value = Pow::pow(value, 3_u32);
            } else if self.eat(&Token::Factorial) {
                value = factorial(&value)?;
            } else if self.peek() == Some(&Token::Percent)
                && !matches!(self.tokens.get(self.at + 1), Some(Token::Number(_) | Token::Open))
            {
                self.at += 1;
                value /= whole(100);
            } else {
                return self.checked(value);
            }
        }
    }

    fn primary(&mut self) -> Result<BigRational, ToolFailure> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(too_large());
        }
        let value = match self.peek().cloned() {
            Some(Token::Number(value)) => {
                self.at += 1;
                value
            }
            Some(Token::Open) => {
                self.at += 1;
                let value = self.sum()?;
                if !self.eat(&Token::Close) {
                    return Err(self.confused());
                }
                value
            }
            Some(root @ (Token::Root | Token::CubeRoot)) => {
                self.at += 1;
                let negative = self.eat(&Token::Minus);
                let mut value = self.primary()?;
                // √25% is the root of a quarter.
                if self.peek() == Some(&Token::Percent)
                    && !matches!(self.tokens.get(self.at + 1), Some(Token::Number(_) | Token::Open))
                {
                    self.at += 1;
                    value /= whole(100);
                }
                self.root(&if negative { -value } else { value }, if root == Token::Root { 2 } else { 3 })?
            }
            _ => return Err(self.confused()),
        };
        self.depth -= 1;
        Ok(value)
    }
}

fn divide(left: BigRational, right: &BigRational) -> Result<BigRational, ToolFailure> {
    if right.is_zero() { Err(ToolFailure::new("reason-division-by-zero")) } else { Ok(left / right) }
}

fn factorial(value: &BigRational) -> Result<BigRational, ToolFailure> {
    if !value.is_integer() || value.is_negative() {
        return Err(no_real_result());
    }
    let number =
        value.to_integer().to_u32().filter(|&number| number <= LARGEST_FACTORIAL).ok_or_else(too_large)?;
    Ok(BigRational::from((1..=number).fold(BigInt::one(), |product, factor| product * factor)))
}

#[cfg(test)]
mod tests {
    use super::calculate;

    fn value(expression: &str) -> String {
        match calculate(expression, None) {
            Ok(outcome) => outcome.show('.'),
            Err(failure) => failure.key.to_owned(),
        }
    }

    #[test]
    fn plausible_inputs_are_read() {
        for (expression, expected) in [
            ("98765 * 4321", "= 426763565"),
            ("98,765 * 4,321", "= 426763565"),
            ("18% of 2450", "= 441"),
            ("18 Prozent von 2450", "= 441"),
            ("18 % von 50", "= 9"),
            ("2 x 3", "= 6"),
            ("2x3", "= 6"),
            ("(17*23)/4 =", "= 97.75"),
            ("$1200 * 1.19", "= 1428"),
            ("2^20", "= 1048576"),
            ("2**10", "= 1024"),
            ("Quadratwurzel von 144", "= 12"),
            ("square root of 2", "≈ 1.414213562373"),
            ("12 mal 12", "= 144"),
            ("7 × 8 ÷ 4 − 1", "= 13"),
            ("10 geteilt durch 4", "= 2.5"),
            ("1/3", "≈ 0.333333333333"),
            ("0.1 + 0.2", "= 0.3"),
            ("240 + 19%", "= 285.6"),
            ("20 percent off 80", "= 64"),
            ("17 % 5", "= 2"),
            ("17 mod 5", "= 2"),
            ("5 squared", "= 25"),
            ("-3^2", "= -9"),
            ("2^-2", "= 0.25"),
            ("1.234,5 * 2", "= 2469"),
            ("3 plus 4 times 2", "= 11"),
            ("50%", "= 0.5"),
            ("27 ^ (1/3)", "= 3"),
            ("Kubikwurzel aus 27", "= 3"),
            ("1 000 000 / 8", "= 125000"),
            ("10 / 3 * 3", "= 10"),
            ("1/3 + 1/3 + 1/3", "= 1"),
            ("1% of 2^70", "= 11805916207174113034.24"),
            ("1 / 8000000000", "= 0.000000000125"),
            ("1 / 3000000", "≈ 0.000000333333333333"),
            ("2^-100", "≈ 7.88860905221 × 10^-31"),
            ("10 – 4 + 2", "= 8"),
            ("8 : 2 + 3", "= 7"),
            ("√16 + 2", "= 6"),
            ("∛27", "= 3"),
            ("dritte Wurzel aus 27", "= 3"),
            ("sqrt(1/4)", "= 0.5"),
            ("7²", "= 49"),
            ("2¹⁰ + 10⁻¹", "= 1024.1"),
            ("½ + ½", "= 1"),
            ("1½ * 2", "= 3"),
            ("[1+2]*{3}", "= 9"),
            ("2(3+4)", "= 14"),
            ("(1+2)(3+4)", "= 21"),
            ("5! + 3 * 2", "= 126"),
            ("3 + 4!", "= 7"),
            ("3! + 4!", "= 30"),
            ("(3 + 4)!", "= 5040"),
            ("√25%", "= 0.5"),
            ("(√2*√8) mod 4", "≈ 0"),
            ("√2*√2 - 2", "≈ 0"),
            ("100 / 20% of 50", "= 10"),
            ("3 * 20% off 50", "= 120"),
            ("-7 mod 3", "= 2"),
            ("2^0.001", "≈ 1.000693387463"),
            ("1.500,50 + 1.500", "= 3000.5"),
            ("1.234.567 + 1.000", "= 1235567"),
            ("2,5 + 1.500", "= 1502.5"),
            ("1.500 € + 500 €", "= 2000"),
            ("1 234,50 + 1", "= 1235.5"),
            ("5!", "= 120"),
            ("50% + 50%", "= 1"),
            (".5 + .5", "= 1"),
            ("1’234.50 + 1", "= 1235.5"),
            ("５＋３", "= 8"),
            ("7 % -3", "= -2.93"),
            ("two plus two", "= 4"),
            ("What is seventeen plus three?", "= 20"),
            ("square root of forty two hundred", "≈ 64.807406984079"),
            ("Was ist siebenundzwanzig mal drei, bitte?", "= 81"),
            ("3 plus 4 mal fünf", "= 23"),
            ("3 times 2 million", "reason-not-understood"),
            ("hundred minus one", "= 99"),
            ("10²% of 5", "= 5"),
            ("10^2 % of 5", "= 5"),
            ("2^-1", "= 0.5"),
            ("2^3^2", "= 512"),
        ] {
            assert_eq!(value(expression), expected, "{expression}");
        }
    }

    #[test]
    fn what_cannot_be_computed_says_why() {
        for (expression, expected) in [
            ("1/0", "reason-division-by-zero"),
            ("5 mod 0", "reason-division-by-zero"),
            ("0^-1", "reason-division-by-zero"),
            ("sqrt -4", "reason-no-real-result"),
            ("square root of -4", "reason-no-real-result"),
            ("1.2.3 + 1", "reason-not-understood"),
            ("192.168.0.1/24", "reason-not-understood"),
            ("3 = 4", "reason-not-understood"),
            ("5'10 + 3", "reason-not-understood"),
            ("1/(√2*√2-2)", "reason-division-by-zero"),
            ("2 + = 3", "reason-not-understood"),
            ("(1)2", "reason-not-understood"),
            ("3.5! + 1", "reason-no-real-result"),
            ("9999!", "reason-too-large"),
            ("sqrt (-4)", "reason-no-real-result"),
            ("9^9^9", "reason-too-large"),
            ("two plus too", "reason-not-understood"),
            ("two three", "reason-not-understood"),
            ("2 +", "reason-not-understood"),
            ("plus 4", "reason-not-understood"),
            ("minus 10 %", "reason-not-understood"),
            ("", "reason-not-understood"),
            ("2 3", "reason-not-understood"),
        ] {
            assert_eq!(value(expression), expected, "{expression}");
        }
        assert_eq!(value(&"(".repeat(1_500)), "reason-too-large");
        assert_eq!(value(&"9".repeat(3_000)), "reason-too-large");
        assert_eq!(value(&"-".repeat(1_500)), "reason-too-large");
    }
}
