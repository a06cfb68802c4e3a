//! Lays records out as an artifact.

use std::collections::HashMap;

use bytemuck::Pod;

use super::layout::*;

/// A string of [`Section::Text`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StringRef {
    /// Byte offset.
    pub start: u32,
    /// Byte length.
    pub len: u32,
}

/// Collects sections; field names are those of [`Section`].
#[derive(Clone, Default)]
#[expect(missing_docs, reason = "each field is the section of its name in `layout::Section`")]
pub struct PackBuilder {
    text: Vec<u8>,
    interned: HashMap<String, StringRef>,
    pub scalars: Scalars,
    pub word_slots: Vec<WordSlot>,
    pub misspellings: Vec<Misspelling>,
    pub words: Vec<Word>,
    pub folds: Vec<Fold>,
    pub latin_folds: Vec<u32>,
    pub ascii_ids: Vec<u32>,
    pub prefixes: Vec<Prefix>,
    pub prefix_buckets: Vec<u32>,
    pub ids: Vec<u32>,
    pub phrase_edges: Vec<PhraseEdge>,
    pub phrase_nodes: Vec<PhraseNode>,
    pub terminals: Vec<Terminal>,
    pub templates: Vec<Template>,
    pub code: Vec<u64>,
    pub program: Vec<u32>,
    pub slots: Vec<Slot>,
    pub elements: Vec<Element>,
    pub trigger_index: Vec<IndexEntry>,
    pub trigger_postings: Vec<Posting>,
    pub predicate_index: Vec<IndexEntry>,
    pub predicate_postings: Vec<Posting>,
    pub skills: Vec<Skill>,
    pub keywords: Vec<Keyword>,
    pub predicates: Vec<Predicate>,
    pub regexes: Vec<Regex>,
    pub tools: Vec<Named>,
    pub languages: Vec<Language>,
    pub files: Vec<Named>,
    pub hosts: Vec<Host>,
    pub openings: Vec<Opening>,
    pub opening_arguments: Vec<OpeningArgument>,
    cold: Vec<u8>,
}

impl PackBuilder {
    /// Stores a string once and returns where.
    pub fn string(&mut self, text: &str) -> StringRef {
        if let Some(&at) = self.interned.get(text) {
            return at;
        }
        let at = StringRef { start: narrow(self.text.len()), len: narrow(text.len()) };
        self.text.extend_from_slice(text.as_bytes());
        self.interned.insert(text.to_owned(), at);
        at
    }

    /// Appends ids to the pool and returns their range.
    pub fn id_range(&mut self, ids: &[u32]) -> (u32, u32) {
        let start = narrow(self.ids.len());
        self.ids.extend_from_slice(ids);
        (start, narrow(ids.len()))
    }

    /// Appends a JSON blob and returns its range in the cold section.
    pub fn cold_json(&mut self, value: &serde_json::Value) -> (u32, u32) {
        let text = value.to_string();
        let start = narrow(self.cold.len());
        self.cold.extend_from_slice(text.as_bytes());
        (start, narrow(text.len()))
    }

    /// The artifact's bytes.
    #[must_use]
    pub fn finish(self) -> Vec<u8> {
        let scalars = [self.scalars];
        let sections: [&[u8]; SECTIONS] = [
            &self.text,
            bytes(&scalars),
            bytes(&self.word_slots),
            bytes(&self.misspellings),
            bytes(&self.words),
            bytes(&self.folds),
            bytes(&self.latin_folds),
            bytes(&self.ascii_ids),
            bytes(&self.prefixes),
            bytes(&self.prefix_buckets),
            bytes(&self.ids),
            bytes(&self.phrase_edges),
            bytes(&self.phrase_nodes),
            bytes(&self.terminals),
            bytes(&self.templates),
            bytes(&self.code),
            bytes(&self.program),
            bytes(&self.slots),
            bytes(&self.elements),
            bytes(&self.trigger_index),
            bytes(&self.trigger_postings),
            bytes(&self.predicate_index),
            bytes(&self.predicate_postings),
            bytes(&self.skills),
            bytes(&self.keywords),
            bytes(&self.predicates),
            bytes(&self.regexes),
            bytes(&self.tools),
            bytes(&self.languages),
            bytes(&self.files),
            bytes(&self.hosts),
            bytes(&self.openings),
            bytes(&self.opening_arguments),
            &self.cold,
        ];
        let head = size_of::<Header>() + SECTIONS * size_of::<SectionEntry>();
        let mut table = [SectionEntry::default(); SECTIONS];
        let mut offset = head;
        for (entry, section) in table.iter_mut().zip(sections) {
            *entry = SectionEntry { offset: offset as u64, length: section.len() as u64 };
            offset = (offset + section.len()).next_multiple_of(8);
        }
        let mut header = Header {
            magic: MAGIC,
            version: FORMAT_VERSION,
            sections: SECTIONS as u32,
            length: offset as u64,
            checksum: 0,
        };
        let mut out = Vec::with_capacity(offset);
        out.extend_from_slice(bytemuck::bytes_of(&header));
        out.extend_from_slice(bytemuck::cast_slice(&table));
        for section in sections {
            out.extend_from_slice(section);
            out.resize(out.len().next_multiple_of(8), 0);
        }
        header.checksum = super::load::checksum(&out);
        if let Some(start) = out.get_mut(..size_of::<Header>()) {
            start.copy_from_slice(bytemuck::bytes_of(&header));
        }
        out
    }
}

fn bytes<T: Pod>(records: &[T]) -> &[u8] {
    bytemuck::cast_slice(records)
}

/// Lengths in an artifact are 32-bit; the compiler's size limit lies far below.
fn narrow(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}
