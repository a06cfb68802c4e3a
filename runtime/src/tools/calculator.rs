//! `calculator`: exact decimal arithmetic on what people write.
//!
//! Recursive descent over a token list, with bounds on length, depth and size. `+ - * /`, powers, percentages
//! (`18% of 2450`, `20 percent off 80`, `240 + 19%` is 19 % on top), roots, modulo; in symbols and in German and
//! English words. A result that does not terminate is rounded and marked with `≈`.

use bigdecimal::num_bigint::BigInt;
use bigdecimal::{BigDecimal, One, RoundingMode, Signed, ToPrimitive, Zero};
use serde_json::{Map, Value};

use super::{Tool, ToolContext, ToolFailure, numbers, text_argument};

/// Longest expression, in bytes.
const LONGEST: usize = 2_000;
/// Deepest nesting.
const DEEPEST: usize = 64;
/// Most digits of a result that is written out.
const MOST_DIGITS: u64 = 2_000;
/// Decimal places of a result that does not terminate.
const PLACES: i64 = 12;
/// Digits carried through divisions and roots.
const PRECISION: u64 = 60;

pub(super) struct Calculator;

impl Tool for Calculator {
    fn name(&self) -> &'static str {
        "calculator"
    }

    fn run(&self, arguments: &Map<String, Value>, context: &ToolContext<'_>) -> Result<String, ToolFailure> {
        let expression =
            text_argument(arguments, "expression").ok_or_else(|| ToolFailure::new("reason-no-expression"))?;
        let mark = decimal_mark(context);
        let value = calculate(&expression, mark.filter(|_| context.language_is_certain))?;
        let shown = value.show(mark.filter(|_| context.language_is_certain).unwrap_or('.'));
        let expression = expression.trim_end_matches(['=', '?', ' ']);
        Ok(format!("{expression} {shown}"))
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
    value: BigDecimal,
    exact: bool,
}

impl Outcome {
    /// `= 97.75` or `≈ 0.333333333333`, with this decimal mark.
    #[must_use]
    pub fn show(&self, mark: char) -> String {
        let value = self.value.normalized();
        let places = value.fractional_digit_count();
        let rounded = places > PLACES;
        let value =
            if rounded { value.with_scale_round(PLACES, RoundingMode::HalfEven).normalized() } else { value };
        let sign = if self.exact && !rounded { '=' } else { '≈' };
        format!("{sign} {}", value.to_plain_string().replace('.', &mark.to_string()))
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
    let mut parser = Parser { tokens: &tokens, at: 0, depth: 0, exact: true, source: expression };
    let value = parser.sum()?;
    if parser.at < tokens.len() {
        return Err(parser.confused());
    }
    let exact = parser.exact;
    if value.digits() > MOST_DIGITS || value.fractional_digit_count().unsigned_abs() > MOST_DIGITS {
        return Err(too_large());
    }
    Ok(Outcome { value, exact })
}

fn too_large() -> ToolFailure {
    ToolFailure::new("reason-too-large")
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Number(BigDecimal),
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
    ("% off", Token::PercentOff),
    ("percent of", Token::PercentOf),
    ("per cent of", Token::PercentOf),
    ("% of", Token::PercentOf),
    ("prozent von", Token::PercentOf),
    ("% von", Token::PercentOf),
    ("percent", Token::Percent),
    ("prozent", Token::Percent),
    ("square root of", Token::Root),
    ("the square root of", Token::Root),
    ("quadratwurzel aus", Token::Root),
    ("quadratwurzel von", Token::Root),
    ("wurzel aus", Token::Root),
    ("wurzel von", Token::Root),
    ("sqrt", Token::Root),
    ("√", Token::Root),
    ("cube root of", Token::CubeRoot),
    ("kubikwurzel aus", Token::CubeRoot),
    ("kubikwurzel von", Token::CubeRoot),
    ("zum quadrat", Token::Squared),
    ("im quadrat", Token::Squared),
    ("hoch zwei", Token::Squared),
    ("squared", Token::Squared),
    ("²", Token::Squared),
    ("hoch drei", Token::Cubed),
    ("cubed", Token::Cubed),
    ("³", Token::Cubed),
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
        '-' | '−' | '–' => Token::Minus,
        '*' | '×' | '·' | '∙' | '⋅' => Token::Times,
        '/' | '÷' | '∶' | ':' => Token::Over,
        '^' => Token::Power,
        '%' => Token::Percent,
        '(' | '[' => Token::Open,
        ')' | ']' => Token::Close,
        _ => return None,
    })
}

fn tokenize(expression: &str, mark: Option<char>) -> Result<Vec<Token>, ToolFailure> {
    let text = expression.to_lowercase().replace("**", "^");
    let text = text.trim().trim_end_matches(['=', '?', '!', ' ']);
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = text.get(at..).unwrap_or_default();
        if c.is_whitespace() || matches!(c, '$' | '€' | '£' | '¥' | '=') {
            at += c.len_utf8();
            continue;
        }
        if c.is_ascii_digit()
            || (c == '.' && rest.get(1..).is_some_and(|r| r.starts_with(|c: char| c.is_ascii_digit())))
        {
            let end = number_end(rest);
            let written = rest.get(..end).unwrap_or_default();
            let number = numbers::read(written, mark).ok_or_else(too_large)?;
            // "3(4+5)" and "2 3" are not sums that a calculator should guess at.
            if matches!(tokens.last(), Some(Token::Number(_))) {
                return Err(ToolFailure::new("reason-not-understood").with("text", written));
            }
            tokens.push(Token::Number(number));
            at += end;
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
        } else if let Some(token) = symbol(c) {
            tokens.push(token);
            at += c.len_utf8();
        } else {
            let word: String = rest.chars().take_while(|c| c.is_alphanumeric()).collect();
            let shown = if word.is_empty() { c.to_string() } else { word };
            return Err(ToolFailure::new("reason-not-understood").with("text", shown));
        }
    }
    Ok(tokens)
}

/// End of a number: digits with `.`, `,`, `'` or a narrow space between them, and groups of three behind a space.
fn number_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    loop {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        let separator = match text.get(at..).and_then(|rest| rest.chars().next()) {
            Some(c @ ('.' | ',' | '\'' | '’' | '\u{A0}' | '\u{202F}' | '_')) => c.len_utf8(),
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
        ToolFailure::new("reason-not-understood").with("text", self.source.trim())
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn eat(&mut self, token: &Token) -> bool {
        let found = self.peek() == Some(token);
        self.at += usize::from(found);
        found
    }

    fn checked(&self, value: BigDecimal) -> Result<BigDecimal, ToolFailure> {
        let size = value.digits().saturating_add(value.fractional_digit_count().unsigned_abs());
        if size > 4 * MOST_DIGITS { Err(too_large()) } else { Ok(value) }
    }

    fn sum(&mut self) -> Result<BigDecimal, ToolFailure> {
        let mut value = self.product()?;
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
            // "240 + 19%": the percentage is one of what stands before it.
            let percentage =
                matches!(self.tokens.get(from..self.at), Some([Token::Number(_), Token::Percent]));
            if percentage {
                right *= &value;
            }
            value = self.checked(if add { value + right } else { value - right })?;
        }
    }

    fn product(&mut self) -> Result<BigDecimal, ToolFailure> {
        let mut value = self.signed()?;
        loop {
            if self.eat(&Token::Times) {
                value *= self.signed()?;
            } else if self.eat(&Token::Over) {
                let right = self.signed()?;
                value = self.divide(&value, &right)?;
            } else if self.eat(&Token::Modulo) || self.percent_is_modulo() {
                let right = self.signed()?;
                if right.is_zero() {
                    return Err(ToolFailure::new("reason-division-by-zero"));
                }
                value %= &right;
            } else if self.eat(&Token::PercentOf) {
                value = value * self.signed()? / BigDecimal::from(100);
            } else if self.eat(&Token::PercentOff) {
                let right = self.signed()?;
                value = &right - &right * value / BigDecimal::from(100);
            } else {
                return Ok(value);
            }
            value = self.checked(value)?;
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

    fn divide(&mut self, left: &BigDecimal, right: &BigDecimal) -> Result<BigDecimal, ToolFailure> {
        if right.is_zero() {
            return Err(ToolFailure::new("reason-division-by-zero"));
        }
        let quotient = (left / right).with_prec(left.digits().max(right.digits()) + PRECISION);
        if &(&quotient * right) == left {
            return Ok(quotient.normalized());
        }
        self.exact = false;
        Ok(quotient)
    }

    fn signed(&mut self) -> Result<BigDecimal, ToolFailure> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(too_large());
        }
        let value = if self.eat(&Token::Minus) {
            -self.signed()?
        } else if self.eat(&Token::Plus) {
            self.signed()?
        } else {
            self.power()?
        };
        self.depth -= 1;
        Ok(value)
    }

    fn power(&mut self) -> Result<BigDecimal, ToolFailure> {
        let base = self.postfix()?;
        if self.eat(&Token::Power) {
            // Right-associative; a sign belongs to the exponent.
            let exponent = self.signed()?;
            return self.raise(&base, &exponent);
        }
        Ok(base)
    }

    fn raise(&mut self, base: &BigDecimal, exponent: &BigDecimal) -> Result<BigDecimal, ToolFailure> {
        if exponent.is_integer() {
            let exponent = exponent.to_i64().filter(|n| n.unsigned_abs() <= 100_000).ok_or_else(too_large)?;
            if base.is_zero() && exponent < 0 {
                return Err(ToolFailure::new("reason-division-by-zero"));
            }
            let digits = base.digits().saturating_add(base.fractional_digit_count().unsigned_abs());
            if digits.saturating_mul(exponent.unsigned_abs()) > 8 * MOST_DIGITS && !base.abs().is_one() {
                return Err(too_large());
            }
            let mut result = BigDecimal::one();
            let mut square = base.clone();
            let mut left = exponent.unsigned_abs();
            while left > 0 {
                if left & 1 == 1 {
                    result *= &square;
                }
                left >>= 1;
                if left > 0 {
                    square = square.square();
                }
            }
            return if exponent < 0 { self.divide(&BigDecimal::one(), &result) } else { Ok(result) };
        }
        if exponent == &BigDecimal::new(BigInt::from(5), 1) {
            return self.root(base, 2);
        }
        let (Some(b), Some(e)) = (base.to_f64(), exponent.to_f64()) else { return Err(too_large()) };
        let value = b.powf(e);
        self.exact = false;
        if value.is_nan() {
            return Err(ToolFailure::new("reason-no-real-result"));
        }
        let value = BigDecimal::try_from(value).map_err(|_| too_large())?;
        Ok(value.with_prec(12))
    }

    fn root(&mut self, value: &BigDecimal, degree: u32) -> Result<BigDecimal, ToolFailure> {
        if degree == 2 && value.is_negative() {
            return Err(ToolFailure::new("reason-no-real-result"));
        }
        let root = if degree == 2 { value.sqrt() } else { Some(value.cbrt()) };
        let root = root.ok_or_else(|| ToolFailure::new("reason-no-real-result"))?.with_prec(PRECISION);
        let whole = root.with_scale_round(PLACES, RoundingMode::HalfEven).normalized();
        let back = if degree == 2 { whole.square() } else { whole.cube() };
        if &back == value {
            return Ok(whole);
        }
        self.exact = false;
        Ok(root)
    }

    fn postfix(&mut self) -> Result<BigDecimal, ToolFailure> {
        let mut value = self.primary()?;
        loop {
            if self.eat(&Token::Squared) {
                value = value.square();
            } else if self.eat(&Token::Cubed) {
                value = value.cube();
            } else if self.peek() == Some(&Token::Percent)
                && !matches!(self.tokens.get(self.at + 1), Some(Token::Number(_) | Token::Open))
            {
                self.at += 1;
                value = value / BigDecimal::from(100);
            } else {
                return self.checked(value);
            }
        }
    }

    fn primary(&mut self) -> Result<BigDecimal, ToolFailure> {
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
            Some(Token::Root) => {
                self.at += 1;
                let value = self.primary()?;
                self.root(&value, 2)?
            }
            Some(Token::CubeRoot) => {
                self.at += 1;
                let value = self.primary()?;
                self.root(&value, 3)?
            }
            _ => return Err(self.confused()),
        };
        self.depth -= 1;
        Ok(value)
    }
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
            ("27 ^ (1/3)", "≈ 3"),
            ("Kubikwurzel aus 27", "= 3"),
            ("1 000 000 / 8", "= 125000"),
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
            ("sqrt -4", "reason-not-understood"),
            ("sqrt (-4)", "reason-no-real-result"),
            ("9^9^9", "reason-too-large"),
            ("two plus two", "reason-not-understood"),
            ("2 +", "reason-not-understood"),
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
