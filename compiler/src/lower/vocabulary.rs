//! Every word that a pattern, list or keyword writes, folded and numbered; prefixes and stretched words.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use skill_runtime::artifact::PackBuilder;
use skill_runtime::artifact::layout::{self, FIRST_WORD_ID, LISTS, NONE};
use skill_runtime::router::flags;
use skill_runtime::router::{SYMBOL_WORDS, fold_word, hash_word};

use crate::library::{Element, Library, Matcher};
use crate::lower::misspelled::Targets;
use crate::syntax::pattern::{Node, literal_nodes};

/// Spelling of all languages together.
#[derive(Clone, Debug, Default)]
pub struct Folding {
    spelling: BTreeMap<char, String>,
    /// Folded word to folded words.
    expands: BTreeMap<String, Vec<String>>,
    /// Those of them that some language knows as a word of its own: "im" is "i'm" only with its apostrophe.
    own_words: BTreeSet<String>,
}

impl Folding {
    /// Gathers the spelling of a library.
    #[must_use]
    pub fn new(library: &Library) -> Self {
        let mut folding = Self::default();
        for language in &library.languages {
            for (from, to) in &language.spelling {
                // A character is folded before it is spelled, so the key is what folding leaves of it.
                for folded in fold_word(&from.to_string(), |_| None).chars() {
                    folding.spelling.entry(folded).or_insert_with(|| to.clone());
                }
            }
        }
        // `ß` folds to `ss`, which must not be spelled again letter by letter.
        folding.spelling.retain(|from, _| !from.is_ascii());
        for language in &library.languages {
            for (key, value) in &language.expands {
                let words = value.split_whitespace().map(|word| folding.fold(word)).collect();
                folding.expands.entry(folding.fold(key)).or_insert(words);
            }
        }
        let entries = library.languages.iter().flat_map(|language| language.lists.iter().flatten());
        for entry in entries {
            own_words(&entry.template.node, &mut folding);
        }
        folding
    }

    /// Folds a word.
    #[must_use]
    pub fn fold(&self, word: &str) -> String {
        // Most words fold to themselves; only characters beyond ASCII are spelled.
        if word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()) {
            return word.to_owned();
        }
        fold_word(word, |c| self.spelling.get(&c).cloned())
    }

    /// The folded words that a word, as written, stands for; itself, unless it expands.
    #[must_use]
    pub fn expand(&self, word: &str) -> Vec<String> {
        let folded = self.fold(word);
        let whole = self.own_words.contains(&folded) && !has_apostrophe(word);
        let expanded = self.expands.get(&folded).filter(|_| !whole).cloned();
        expanded.unwrap_or_else(|| vec![folded])
    }

    /// Folded words of a keyword or sentence; marks are left out.
    #[must_use]
    pub fn words(&self, text: &str) -> Vec<String> {
        text.split_whitespace()
            .flat_map(literal_nodes)
            .filter_map(|node| match node {
                Node::Word(text) | Node::Number(text) | Node::Symbol(text) => Some(text),
                _ => None,
            })
            .flat_map(|word| self.expand(&word))
            .collect()
    }
}

fn has_apostrophe(word: &str) -> bool {
    word.contains(['\'', '\u{2018}', '\u{2019}', '\u{2BC}'])
}

/// Gathers words of a list that would expand, and are written without an apostrophe.
fn own_words(node: &Node, folding: &mut Folding) {
    match node {
        Node::Sequence(parts) | Node::Alternatives(parts) => {
            parts.iter().for_each(|part| own_words(part, folding));
        }
        Node::Optional(inner) => own_words(inner, folding),
        Node::Word(word) if !has_apostrophe(word) => {
            let folded = folding.fold(word);
            if folding.expands.contains_key(&folded) {
                folding.own_words.insert(folded);
            }
        }
        _ => {}
    }
}

/// Token ids.
pub(super) struct Vocabulary {
    folding: Folding,
    ids: BTreeMap<String, u32>,
    /// The same, for look-ups.
    quick: HashMap<String, u32>,
    /// Ids that each word stands for as patterns write it: looked up each time a fragment is written out.
    written: HashMap<String, Vec<u32>>,
    /// Folded prefix to the id of "an unknown word with this as its longest prefix".
    prefixes: BTreeMap<String, u32>,
    /// Folded base to the id of its stretched form.
    stretched: BTreeMap<String, u32>,
    /// Flags and languages by id.
    words: HashMap<u32, (u32, u32)>,
    count: u32,
}

impl Vocabulary {
    pub(super) fn new(library: &Library, folding: &Folding) -> Self {
        let mut gather = Gather {
            folding,
            written: HashMap::new(),
            words: BTreeSet::new(),
            prefixes: BTreeSet::new(),
            stretched: BTreeSet::new(),
        };
        for element in all_elements(library) {
            gather.element(element);
        }
        for fragment in library.fragments.values() {
            gather.node(&fragment.template.node);
        }
        for language in &library.languages {
            for entry in language.lists.iter().flatten() {
                gather.node(&entry.template.node);
            }
        }
        for skill in &library.skills {
            for (keyword, _) in &skill.keywords {
                gather.words.extend(folding.words(keyword));
            }
        }
        for (key, parts) in &folding.expands {
            gather.words.insert(key.clone());
            gather.words.extend(parts.iter().cloned());
        }
        gather.words.extend(SYMBOL_WORDS.iter().map(|word| (*word).to_owned()));
        gather.words.extend(["?", "!"].map(str::to_owned));
        let mut count = FIRST_WORD_ID;
        let mut number = |words: BTreeSet<String>| -> BTreeMap<String, u32> {
            words
                .into_iter()
                .map(|word| {
                    count += 1;
                    (word, count - 1)
                })
                .collect()
        };
        let ids = number(gather.words);
        let prefixes = number(gather.prefixes);
        let stretched = number(gather.stretched);
        let quick: HashMap<String, u32> = ids.iter().map(|(word, &id)| (word.clone(), id)).collect();
        let id = |folded: &String| quick.get(folded).copied().unwrap_or_default();
        let written = gather
            .written
            .iter()
            .map(|(word, parts)| (word.clone(), parts.iter().map(id).collect()))
            .collect();
        Self {
            folding: folding.clone(),
            ids,
            quick,
            written,
            prefixes,
            stretched,
            words: HashMap::new(),
            count,
        }
    }

    pub(super) fn folding(&self) -> &Folding {
        &self.folding
    }

    /// Id of a folded word.
    pub(super) fn id(&self, folded: &str) -> u32 {
        self.quick.get(folded).copied().unwrap_or_default()
    }

    /// Ids of the words that a word of a pattern stands for.
    pub(super) fn written(&self, word: &str) -> &[u32] {
        self.written.get(word).map_or(&[], Vec::as_slice)
    }

    /// Ids that a prefix covers: words, unknown words with it or a longer prefix, stretched words.
    pub(super) fn prefix_set(&self, prefix: &str) -> Vec<u32> {
        let folded = self.folding.fold(prefix);
        let starts = |map: &BTreeMap<String, u32>| -> Vec<u32> {
            map.range(folded.clone()..)
                .take_while(|(word, _)| word.starts_with(&folded))
                .map(|(_, &id)| id)
                .collect()
        };
        let mut set = starts(&self.ids);
        set.extend(starts(&self.prefixes));
        set.extend(starts(&self.stretched));
        sorted(set)
    }

    /// Ids that a stretched word covers.
    pub(super) fn stretch_set(&self, word: &str) -> Vec<u32> {
        let base = stretch_base(&self.folding.fold(word));
        let same = self.ids.range(base.clone()..).take_while(|(known, _)| known.starts_with(&base));
        let mut set: Vec<u32> =
            same.filter(|(known, _)| stretch_base(known) == base).map(|(_, &id)| id).collect();
        set.extend(self.stretched.get(&base));
        sorted(set)
    }

    /// Sets flags and languages of an id.
    pub(super) fn flag(&mut self, id: u32, bits: u32, languages: u32) {
        let entry = self.words.entry(id).or_default();
        entry.0 |= bits;
        entry.1 |= languages;
    }

    /// Words and prefixes that a message may misspell.
    pub(super) fn targets(&self) -> Targets {
        // What stands for one other word is itself a spelling of it.
        let target = |word: &String| self.folding.expands.get(word).is_none_or(|parts| parts.len() > 1);
        let words = self.ids.iter().map(|(word, &id)| (word.clone(), id, target(word))).collect();
        let prefixes = self.prefixes.iter().map(|(prefix, &id)| (prefix.clone(), id)).collect();
        Targets { words, prefixes }
    }

    /// Writes words, prefixes, spellings and symbols.
    pub(super) fn write(&mut self, builder: &mut PackBuilder) {
        for key in self.folding.expands.keys().cloned().collect::<Vec<_>>() {
            let id = self.id(&key);
            let own = if self.folding.own_words.contains(&key) { flags::APOSTROPHE } else { 0 };
            self.flag(id, flags::EXPANDS | own, 0);
        }
        builder.words = vec![layout::Word { stretch: NONE, ..layout::Word::default() }; self.count as usize];
        for (&id, &(bits, languages)) in &self.words {
            if let Some(word) = builder.words.get_mut(id as usize) {
                word.flags = bits;
                word.languages = languages;
            }
        }
        for (key, parts) in &self.folding.expands {
            let ids: Vec<u32> = parts.iter().map(|part| self.id(part)).collect();
            let (start, len) = builder.id_range(&ids);
            if let Some(word) = builder.words.get_mut(self.id(key) as usize) {
                word.expands_start = start;
                word.expands_len = len;
            }
        }
        for (base, &id) in &self.stretched {
            if let Some(word) = builder.words.get_mut(self.id(base) as usize) {
                word.stretch = id;
            }
        }
        let size = (self.ids.len() * 2 + 1).next_power_of_two();
        builder.word_slots = vec![layout::WordSlot::default(); size];
        builder.ascii_ids = vec![0; 128];
        for (word, &id) in &self.ids {
            if let ([byte], true) = (word.as_bytes(), word.is_ascii())
                && let Some(slot) = builder.ascii_ids.get_mut(usize::from(*byte))
            {
                *slot = id;
            }
            let text = builder.string(word);
            let hash = hash_word(word.as_bytes());
            let mut at = hash as usize & (size - 1);
            while builder.word_slots.get(at).is_some_and(|slot| slot.len > 0) {
                at = (at + 1) & (size - 1);
            }
            if let Some(slot) = builder.word_slots.get_mut(at) {
                *slot = layout::WordSlot { hash, id, start: text.start, len: text.len };
            }
        }
        let mut prefixes: Vec<(&String, u32)> =
            self.prefixes.iter().map(|(prefix, &id)| (prefix, id)).collect();
        let first = |prefix: &str| prefix.as_bytes().first().copied().unwrap_or_default();
        prefixes
            .sort_by_key(|(prefix, _)| (first(prefix), std::cmp::Reverse(prefix.len()), (*prefix).clone()));
        builder.prefix_buckets = (0..=256_u32)
            .map(|byte| prefixes.partition_point(|(prefix, _)| u32::from(first(prefix)) < byte) as u32)
            .collect();
        for (prefix, id) in prefixes {
            let text = builder.string(prefix);
            builder.prefixes.push(layout::Prefix { start: text.start, len: text.len, id });
        }
        builder.latin_folds = (0xC0_u32..=0xFF)
            .map(|code| {
                let folded =
                    char::from_u32(code).map(|c| self.folding.fold(&c.to_string())).unwrap_or_default();
                let mut raw = [0_u8; 4];
                for (slot, byte) in raw.iter_mut().skip(1).zip(folded.bytes()) {
                    *slot = byte;
                }
                raw[0] = folded.len().min(3) as u8;
                u32::from_le_bytes(raw)
            })
            .collect();
        for (&from, to) in &self.folding.spelling {
            let text = builder.string(to);
            builder.folds.push(layout::Fold { from: from as u32, start: text.start, len: text.len });
        }
    }
}

pub(super) fn sorted(mut set: Vec<u32>) -> Vec<u32> {
    set.sort_unstable();
    set.dedup();
    set
}

/// A word with its last letter written once.
fn stretch_base(folded: &str) -> String {
    match folded.chars().next_back() {
        Some(last) => {
            let stem = folded.trim_end_matches(last);
            format!("{stem}{last}")
        }
        None => String::new(),
    }
}

/// Every element of a library, vetoes included.
pub(super) fn all_elements(library: &Library) -> impl Iterator<Item = &Element> {
    let of_skills = library.skills.iter().flat_map(|skill| {
        skill.triggers.iter().chain(&skill.follows).chain(&skill.excludes).chain(&skill.fallbacks)
    });
    let of_predicates = library.predicates.values().flat_map(|predicate| &predicate.elements);
    of_skills.chain(of_predicates).flat_map(|element| std::iter::once(element).chain(&element.unless))
}

struct Gather<'f> {
    folding: &'f Folding,
    /// Words as written and what they stand for: most are written many times.
    written: HashMap<String, Vec<String>>,
    words: BTreeSet<String>,
    prefixes: BTreeSet<String>,
    stretched: BTreeSet<String>,
}

impl Gather<'_> {
    fn element(&mut self, element: &Element) {
        if let Matcher::Template(template) = &element.matcher {
            self.node(&template.node);
        }
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::Sequence(parts) | Node::Alternatives(parts) => {
                parts.iter().for_each(|part| self.node(part))
            }
            Node::Optional(inner) => self.node(inner),
            Node::Mark(mark) => {
                self.words.insert(mark.clone());
            }
            Node::Word(word) | Node::Number(word) | Node::Symbol(word) => {
                if !self.written.contains_key(word) {
                    let words = self.folding.expand(word);
                    self.words.extend(words.iter().cloned());
                    self.written.insert(word.clone(), words);
                }
            }
            Node::Prefix(prefix) => {
                self.prefixes.insert(self.folding.fold(prefix));
            }
            Node::Stretch(word) => {
                let base = stretch_base(&self.folding.fold(word));
                self.words.insert(base.clone());
                self.words.insert(self.folding.fold(word));
                self.stretched.insert(base);
            }
            Node::Gap(_) | Node::Reference { .. } | Node::Slot { .. } => {}
        }
    }
}

/// Number of a list by its name.
pub(super) fn list_number(name: &str) -> usize {
    LISTS.iter().position(|list| *list == name).unwrap_or_default()
}
