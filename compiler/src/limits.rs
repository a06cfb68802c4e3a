//! Sizes that the compiler refuses to go beyond. Settings with defaults, so that a front end can change them.

/// Limits of one compilation; a diagnostic that reports one names the field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Positions of one template, at most 64 (one machine word). A gap of n counts n.
    pub template_positions: usize,
    /// Words, slots and gaps of one template with its fragments written out.
    pub template_parts: usize,
    /// Nesting of `( )` and `[ ]` in one pattern.
    pub pattern_nesting: usize,
    /// Words that a gap `..n` may span.
    pub gap: usize,
    /// Slots of one template, at most 16.
    pub slots: usize,
    /// Phrases that one entry of a word list may stand for.
    pub list_phrases: usize,
    /// Guidance of a skill, in characters.
    pub guidance: usize,
    /// Guidance and exemplars of a skill that reach the prompt, in characters (reference: 3000).
    pub context: usize,
    /// Languages of one library, at most 5.
    pub languages: usize,
    /// Bytes of one source file.
    pub file_bytes: usize,
    /// Elements (triggers, exclusions, follow-ups, vetoes) of one library.
    pub elements: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            template_positions: 64,
            template_parts: 4_096,
            pattern_nesting: 8,
            gap: 12,
            slots: 16,
            list_phrases: 512,
            guidance: 600,
            context: 3_000,
            languages: 5,
            file_bytes: 16 << 20,
            elements: 1_000_000,
        }
    }
}
