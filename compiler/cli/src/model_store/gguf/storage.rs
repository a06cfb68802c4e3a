//! Block formats of weights: what a block holds, and its weights as 32-bit floats.
//!
//! Source of the layouts: ggml's block formats. `tests/data/blocks.json`, written by `tests/data/blocks.py` with the
//! dequantisation of the PyPI package gguf, is what they are checked against.

use half::{bf16, f16};

use super::BLOCK;

/// Weights in a block of the K formats.
const SUPER: usize = 256;

/// Storage of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Storage {
    F32,
    F16,
    Bf16,
    /// Per 32 weights: a 16-bit scale, 32 nibbles around 8.
    Q4_0,
    /// Per 32 weights: a 16-bit scale, a 16-bit minimum, 32 nibbles.
    Q4_1,
    /// Like `Q4_0`, with a fifth bit a weight, around 16.
    Q5_0,
    /// Like `Q4_1`, with a fifth bit a weight.
    Q5_1,
    /// Per 32 weights: a 16-bit scale, 32 signed bytes.
    Q8_0,
    /// Per 256 weights: eight 6-bit scales and minima under two 16-bit ones, nibbles.
    Q4K,
    /// Like `Q4K`, with a fifth bit a weight.
    Q5K,
    /// Per 256 weights: sixteen 8-bit scales under a 16-bit one, 6 bits a weight around 32.
    Q6K,
}

/// Thirty-two weights as whole numbers: `scale * n + minimum`.
pub(in super::super) struct Affine {
    pub(in super::super) numbers: [u8; BLOCK],
    pub(in super::super) scale: f32,
    pub(in super::super) minimum: f32,
    /// The largest number of the format.
    pub(in super::super) most: u8,
}

impl Storage {
    pub(in super::super) const ALL: [(u32, Self, &'static str); 11] = [
        (0, Self::F32, "F32"),
        (1, Self::F16, "F16"),
        (2, Self::Q4_0, "Q4_0"),
        (3, Self::Q4_1, "Q4_1"),
        (6, Self::Q5_0, "Q5_0"),
        (7, Self::Q5_1, "Q5_1"),
        (8, Self::Q8_0, "Q8_0"),
        (12, Self::Q4K, "Q4_K"),
        (13, Self::Q5K, "Q5_K"),
        (14, Self::Q6K, "Q6_K"),
        (30, Self::Bf16, "BF16"),
    ];

    /// By ggml's number.
    pub(in super::super) fn of(number: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|(known, ..)| *known == number).map(|(_, storage, _)| storage)
    }

    /// Weights in a block: a row has a multiple of it.
    pub(in super::super) fn block_weights(self) -> usize {
        match self {
            Self::Q4K | Self::Q5K | Self::Q6K => SUPER,
            _ => BLOCK,
        }
    }

    pub(in super::super) fn block_bytes(self) -> usize {
        match self {
            Self::F32 => 4 * BLOCK,
            Self::F16 | Self::Bf16 => 2 * BLOCK,
            Self::Q4_0 => 2 + BLOCK / 2,
            Self::Q4_1 => 4 + BLOCK / 2,
            Self::Q5_0 => 6 + BLOCK / 2,
            Self::Q5_1 => 8 + BLOCK / 2,
            Self::Q8_0 => 2 + BLOCK,
            Self::Q4K => 4 + 12 + SUPER / 2,
            Self::Q5K => 4 + 12 + SUPER / 8 + SUPER / 2,
            Self::Q6K => SUPER / 2 + SUPER / 4 + SUPER / 16 + 2,
        }
    }

    /// Calls `found` with each 32 weights of a block.
    pub(in super::super) fn weights(self, raw: &[u8], mut found: impl FnMut(&[f32; BLOCK])) {
        let mut out = [0_f32; BLOCK];
        match self {
            Self::F32 => {
                for (weight, bytes) in out.iter_mut().zip(raw.chunks_exact(4)) {
                    let mut four = [0; 4];
                    four.copy_from_slice(bytes);
                    *weight = f32::from_le_bytes(four);
                }
                found(&out);
            }
            Self::F16 | Self::Bf16 => {
                for (at, weight) in out.iter_mut().enumerate() {
                    let bytes = pair(raw, 2 * at);
                    *weight = match self {
                        Self::F16 => f16::from_le_bytes(bytes).to_f32(),
                        _ => bf16::from_le_bytes(bytes).to_f32(),
                    };
                }
                found(&out);
            }
            Self::Q8_0 => {
                let scale = half(raw, 0);
                for (weight, byte) in out.iter_mut().zip(raw.iter().skip(2)) {
                    *weight = scale * f32::from(i8::from_le_bytes([*byte]));
                }
                found(&out);
            }
            Self::Q6K => sixths(raw, found),
            _ => self.affine(raw, |block| {
                for (weight, number) in out.iter_mut().zip(block.numbers) {
                    *weight = block.scale * f32::from(number) + block.minimum;
                }
                found(&out);
            }),
        }
    }

    /// Calls `found` with each 32 weights of a block as whole numbers; not at all for formats that are none.
    pub(in super::super) fn affine(self, raw: &[u8], mut found: impl FnMut(&Affine)) {
        let (scale, second) = (half(raw, 0), half(raw, 2));
        match self {
            Self::Q4_0 => {
                let numbers = nibbles(tail(raw, 2));
                found(&Affine { numbers, scale, minimum: -8.0 * scale, most: 15 });
            }
            Self::Q4_1 => {
                let numbers = nibbles(tail(raw, 4));
                found(&Affine { numbers, scale, minimum: second, most: 15 });
            }
            Self::Q5_0 => {
                let numbers = with_fifth_bits(nibbles(tail(raw, 6)), tail(raw, 2));
                found(&Affine { numbers, scale, minimum: -16.0 * scale, most: 31 });
            }
            Self::Q5_1 => {
                let numbers = with_fifth_bits(nibbles(tail(raw, 8)), tail(raw, 4));
                found(&Affine { numbers, scale, minimum: second, most: 31 });
            }
            Self::Q4K | Self::Q5K => {
                let scales = tail(raw, 4);
                let fifth = if self == Self::Q5K { Some(tail(raw, 16)) } else { None };
                let low = tail(raw, if self == Self::Q5K { 16 + SUPER / 8 } else { 16 });
                for part in 0..SUPER / BLOCK {
                    let (part_scale, part_minimum) = six_bits(scales, part);
                    let bytes = tail(low, part / 2 * BLOCK);
                    let mut numbers = [0; BLOCK];
                    for (at, (number, byte)) in numbers.iter_mut().zip(bytes).enumerate() {
                        *number = if part % 2 == 0 { byte & 15 } else { byte >> 4 };
                        let bit = fifth.and_then(|bits| bits.get(at)).map_or(0, |bits| bits >> part & 1);
                        *number |= bit << 4;
                    }
                    found(&Affine {
                        numbers,
                        scale: scale * f32::from(part_scale),
                        minimum: -second * f32::from(part_minimum),
                        most: if fifth.is_some() { 31 } else { 15 },
                    });
                }
            }
            Self::F32 | Self::F16 | Self::Bf16 | Self::Q8_0 | Self::Q6K => {}
        }
    }
}

fn tail(raw: &[u8], from: usize) -> &[u8] {
    raw.get(from..).unwrap_or_default()
}

fn pair(raw: &[u8], at: usize) -> [u8; 2] {
    match tail(raw, at) {
        [low, high, ..] => [*low, *high],
        _ => [0; 2],
    }
}

fn half(raw: &[u8], at: usize) -> f32 {
    f16::from_le_bytes(pair(raw, at)).to_f32()
}

/// Sixteen bytes: the low nibbles come first, then the high ones.
fn nibbles(bytes: &[u8]) -> [u8; BLOCK] {
    let mut numbers = [0; BLOCK];
    let (low, high) = numbers.split_at_mut(BLOCK / 2);
    for ((low, high), byte) in low.iter_mut().zip(high).zip(bytes) {
        *low = byte & 15;
        *high = byte >> 4;
    }
    numbers
}

/// The fifth bit of each number, in four bytes.
fn with_fifth_bits(mut numbers: [u8; BLOCK], bits: &[u8]) -> [u8; BLOCK] {
    for (at, number) in numbers.iter_mut().enumerate() {
        let bit = bits.get(at / 8).map_or(0, |byte| byte >> (at % 8) & 1);
        *number |= bit << 4;
    }
    numbers
}

/// Scale and minimum of a part of a K block, packed into twelve bytes.
fn six_bits(scales: &[u8], part: usize) -> (u8, u8) {
    let byte = |at: usize| scales.get(at).copied().unwrap_or_default();
    if part < 4 {
        return (byte(part) & 63, byte(part + 4) & 63);
    }
    let low = byte(part + 4);
    ((low & 15) | (byte(part - 4) >> 6 << 4), (low >> 4) | (byte(part) >> 6 << 4))
}

/// The weights of a `Q6_K` block.
fn sixths(raw: &[u8], mut found: impl FnMut(&[f32; BLOCK])) {
    let scale = half(raw, SUPER / 2 + SUPER / 4 + SUPER / 16);
    for side in 0..2 {
        let low = tail(raw, side * 64);
        let high = tail(raw, SUPER / 2 + side * 32);
        let scales = tail(raw, SUPER / 2 + SUPER / 4 + side * 8);
        for part in 0..4 {
            let mut out = [0_f32; BLOCK];
            for (at, weight) in out.iter_mut().enumerate() {
                let byte = |bytes: &[u8], at: usize| bytes.get(at).copied().unwrap_or_default();
                let nibble = byte(low, at + 32 * (part % 2));
                let nibble = if part < 2 { nibble & 15 } else { nibble >> 4 };
                let number = i16::from(nibble | (byte(high, at) >> (2 * part) & 3) << 4) - 32;
                let part_scale = i8::from_le_bytes([byte(scales, at / 16 + 2 * part)]);
                *weight = scale * f32::from(part_scale) * f32::from(number);
            }
            found(&out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_what_the_reference_makes_of_them() {
        let text = include_str!("../../../tests/data/blocks.json");
        let cases: serde_json::Value = serde_json::from_str(text).expect("JSON");
        let cases = cases.as_object().expect("an object");
        assert_eq!(cases.len(), Storage::ALL.len(), "every format has a case");
        for (_, storage, name) in Storage::ALL {
            let numbers = |key: &str| -> Vec<f64> {
                let values = cases[name][key].as_array().expect("a list");
                values.iter().map(|value| value.as_f64().expect("a number")).collect()
            };
            let raw: Vec<u8> = numbers("bytes").iter().map(|byte| *byte as u8).collect();
            let expected: Vec<f32> = numbers("weights").iter().map(|weight| *weight as f32).collect();
            assert!(raw.len().is_multiple_of(storage.block_bytes()), "{name}");
            let mut found = Vec::new();
            for block in raw.chunks_exact(storage.block_bytes()) {
                storage.weights(block, |weights| found.extend_from_slice(weights));
            }
            assert_eq!(found.len(), expected.len(), "{name}");
            for (at, (found, expected)) in found.iter().zip(&expected).enumerate() {
                let close = (found - expected).abs() <= expected.abs() * 1e-6 + 1e-9;
                assert!(close, "{name}, weight {at}: {found}, not {expected}");
            }
        }
    }
}
