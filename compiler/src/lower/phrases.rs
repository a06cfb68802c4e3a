//! Writes the phrase trie: word lists and keywords, and what their words say about single tokens.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use skill_runtime::artifact::PackBuilder;
use skill_runtime::artifact::layout::{self, LISTS};
use skill_runtime::router::{flags, hash_edge};

use super::ir;
use super::vocabulary::{Vocabulary, all_elements, list_number};
use crate::check::list_reference;
use crate::library::{Library, Matcher, Skill};
use crate::source::Span;
use crate::syntax::pattern::{Node, Template};

/// Lists whose single words are phrases too; of the others the token's flag is enough.
const PHRASE_LISTS: [&str; 7] =
    ["openers", "closers", "continues", "requests", "anaphors", "polite", "operators"];

/// Phrases beyond which an entry is not written out; far above what `check` lets pass.
const MOST_PHRASES: usize = 1 << 16;

/// Numbers of the lists that patterns refer to.
pub(super) fn referenced_lists(library: &Library) -> BTreeSet<usize> {
    fn walk(node: &Node, out: &mut BTreeSet<usize>) {
        match node {
            Node::Sequence(parts) | Node::Alternatives(parts) => {
                parts.iter().for_each(|part| walk(part, out))
            }
            Node::Optional(inner) => walk(inner, out),
            Node::Reference { name, .. } => out.extend(list_reference(name)),
            _ => {}
        }
    }
    let mut out: BTreeSet<usize> = PHRASE_LISTS.iter().map(|list| list_number(list)).collect();
    for element in all_elements(library) {
        if let Matcher::Template(template) = &element.matcher {
            walk(&template.node, &mut out);
        }
    }
    for fragment in library.fragments.values() {
        walk(&fragment.template.node, &mut out);
    }
    out
}

/// Phrases that an entry of a word list stands for; None beyond the limit.
pub(super) fn entry_phrases(
    library: &Library,
    vocabulary: &Vocabulary,
    template: &Template,
    limit: usize,
) -> Option<Vec<Vec<u32>>> {
    let part = ir::lower(library, vocabulary, template).root;
    let mut phrases = ir::phrases(&part, limit)?;
    phrases.retain(|phrase| !phrase.is_empty());
    Some(phrases)
}

#[derive(Default)]
struct Trie {
    edges: BTreeMap<(u32, u32), u32>,
    terminals: Vec<Vec<layout::Terminal>>,
}

impl Trie {
    fn add(&mut self, phrase: &[u32], terminal: layout::Terminal) {
        let mut node = 0;
        for &id in phrase {
            let next = self.terminals.len() as u32;
            node = *self.edges.entry((node, id)).or_insert(next);
            if node == next {
                self.terminals.push(Vec::new());
            }
        }
        if let Some(terminals) = self.terminals.get_mut(node as usize) {
            let same = |known: &layout::Terminal| {
                (known.kind, known.target, known.role) == (terminal.kind, terminal.target, terminal.role)
            };
            if !terminals.iter().any(same) {
                terminals.push(terminal);
            }
        }
    }
}

pub(super) fn write(
    builder: &mut PackBuilder,
    library: &Library,
    vocabulary: &mut Vocabulary,
    skills: &[&Skill],
    files: &[u32],
    lists: &BTreeSet<usize>,
) {
    let mut trie = Trie { terminals: vec![Vec::new()], ..Trie::default() };
    for (number, language) in library.languages.iter().enumerate() {
        for (list, entries) in language.lists.iter().enumerate() {
            for entry in entries {
                let phrases =
                    entry_phrases(library, vocabulary, &entry.template, MOST_PHRASES).unwrap_or_default();
                for phrase in phrases {
                    for &id in &phrase {
                        vocabulary.flag(id, 0, 1 << number);
                    }
                    let before_asks = entry.role & layout::role::BEFORE_ASKS != 0;
                    if let ([id], false) = (phrase.as_slice(), before_asks) {
                        vocabulary.flag(*id, flags::list_flag(list), 0);
                    }
                    if lists.contains(&list) || phrase.len() > 1 || before_asks {
                        let target = (number * LISTS.len() + list) as u32;
                        trie.add(&phrase, layout::Terminal { kind: 0, target, role: entry.role });
                    }
                }
            }
        }
    }
    keywords(builder, library, vocabulary, skills, files, &mut trie);
    let size = (trie.edges.len() * 2 + 1).next_power_of_two();
    builder.phrase_edges = vec![layout::PhraseEdge::default(); size];
    for (&(from, id), &to) in &trie.edges {
        if from == 0 {
            vocabulary.flag(id, flags::PHRASE_START, 0);
        }
        let mut at = hash_edge(from, id) as usize & (size - 1);
        while builder.phrase_edges.get(at).is_some_and(|edge| edge.id != 0) {
            at = (at + 1) & (size - 1);
        }
        if let Some(edge) = builder.phrase_edges.get_mut(at) {
            *edge = layout::PhraseEdge { from, id, to };
        }
    }
    for terminals in trie.terminals {
        builder.phrase_nodes.push(layout::PhraseNode {
            terminals_start: builder.terminals.len() as u32,
            terminals_len: terminals.len() as u32,
        });
        builder.terminals.extend(terminals);
    }
}

/// BM25 idf without length normalisation, in thousandths.
fn idf(skills: usize, with_word: usize) -> u32 {
    let (n, df) = (skills as f64, with_word as f64);
    (((n - df + 0.5) / (df + 0.5) + 1.0).ln() * 1000.0).round().max(0.0) as u32
}

fn keywords(
    builder: &mut PackBuilder,
    library: &Library,
    vocabulary: &Vocabulary,
    skills: &[&Skill],
    files: &[u32],
    trie: &mut Trie,
) {
    let folding = vocabulary.folding();
    let stopwords = stopwords(library, vocabulary);
    let mut frequency: HashMap<String, usize> = HashMap::new();
    for skill in skills {
        let words: BTreeSet<String> =
            skill.keywords.iter().flat_map(|(text, _)| folding.words(text)).collect();
        for word in words {
            *frequency.entry(word).or_default() += 1;
        }
    }
    for (number, skill) in skills.iter().enumerate() {
        let mut seen = BTreeSet::new();
        for (text, span) in &skill.keywords {
            let words = folding.words(text);
            let ids: Vec<u32> = words.iter().map(|word| vocabulary.id(word)).collect();
            if !seen.insert(ids.clone()) {
                continue;
            }
            let weight = words
                .iter()
                .zip(&ids)
                .filter(|(_, id)| !stopwords.contains(id))
                .map(|(word, _)| idf(skills.len(), frequency.get(word).copied().unwrap_or_default()))
                .sum();
            let text = builder.string(text);
            let target = builder.keywords.len() as u32;
            builder.keywords.push(layout::Keyword {
                skill: number as u32,
                weight,
                words: words.len() as u32,
                file: files.get(span.file as usize).copied().unwrap_or_default(),
                line: library.line(*span),
                text_start: text.start,
                text_len: text.len,
            });
            trie.add(&ids, layout::Terminal { kind: 1, target, role: 0 });
        }
    }
}

/// Ids of the stop words of all languages.
pub(super) fn stopwords(library: &Library, vocabulary: &Vocabulary) -> BTreeSet<u32> {
    let list = list_number("stopwords");
    let mut out = BTreeSet::new();
    for entry in library.languages.iter().filter_map(|language| language.lists.get(list)).flatten() {
        let phrases = entry_phrases(library, vocabulary, &entry.template, MOST_PHRASES).unwrap_or_default();
        out.extend(phrases.into_iter().filter(|phrase| phrase.len() == 1).flatten());
    }
    out
}

/// Answers questions about folded words before anything is lowered.
pub struct WordCheck {
    vocabulary: Vocabulary,
    stopwords: BTreeSet<u32>,
}

impl WordCheck {
    /// Numbers the words of a library.
    #[must_use]
    pub fn new(library: &Library) -> Self {
        let folding = super::Folding::new(library);
        let vocabulary = Vocabulary::new(library, &folding);
        let stopwords = stopwords(library, &vocabulary);
        Self { vocabulary, stopwords }
    }

    /// Whether a keyword holds nothing but stop words.
    #[must_use]
    pub fn only_stopwords(&self, keyword: &str) -> bool {
        let words = self.vocabulary.folding().words(keyword);
        words.iter().all(|word| self.stopwords.contains(&self.vocabulary.id(word)))
    }

    /// Entries of word lists that stand for more than `limit` phrases, with the number where it was counted.
    #[must_use]
    pub fn large_entries(&self, library: &Library, limit: usize) -> Vec<(Span, Option<usize>)> {
        let mut out = Vec::new();
        for entry in library.languages.iter().flat_map(|language| &language.lists).flatten() {
            let counted = entry_phrases(library, &self.vocabulary, &entry.template, MOST_PHRASES);
            match counted.map(|phrases| phrases.len()) {
                Some(count) if count <= limit => {}
                count => out.push((entry.template.span, count)),
            }
        }
        out
    }
}
