//! Opens an artifact: checks everything once, then hands out slices.

use std::fs::File;
use std::hash::Hasher;
use std::path::Path;

use bytemuck::Pod;
use thiserror::Error;

use super::layout::*;
use super::{LibraryText, SkillText};

/// Why an artifact cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file cannot be read.
    #[error("cannot read the artifact: {0}")]
    Io(#[from] std::io::Error),
    /// The first bytes are not an artifact's.
    #[error(
        "this is no .skillpack: its first bytes are not `SKILPACK`; build one with `skillc build -o FILE`"
    )]
    NotAnArtifact,
    /// Written by another version of the format.
    #[error(
        "the artifact has format {found}, this program reads format {expected}; {}",
        if found > expected { "use a newer skillc" } else { "build it again with this skillc" }
    )]
    Version {
        /// Version of the file.
        found: u32,
        /// Version of this program.
        expected: u32,
    },
    /// Fewer bytes than the header says.
    #[error("the artifact is cut off: {found} of {expected} bytes are there; build or copy it again")]
    Truncated {
        /// Bytes found.
        found: u64,
        /// Bytes that the header states.
        expected: u64,
    },
    /// More bytes than the header says.
    #[error("the artifact has {0} bytes behind its end; build or copy it again")]
    TrailingBytes(u64),
    /// Bytes changed after it was written.
    #[error("the artifact was altered or damaged: its checksum does not fit; build or copy it again")]
    Checksum,
    /// A record points nowhere.
    #[error("the artifact is inconsistent: {0} out of bounds; build it again")]
    Inconsistent(&'static str),
}

enum Bytes {
    Mapped(memmap2::Mmap),
    /// Eight-byte words, so that the records are aligned; the second field is the length in bytes.
    Owned(Vec<u64>, usize),
}

/// A loaded artifact.
pub struct Pack {
    bytes: Bytes,
    table: [(usize, usize); SECTIONS],
}

impl std::fmt::Debug for Pack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pack").field("bytes", &self.bytes().len()).finish_non_exhaustive()
    }
}

/// Slices of a pack, borrowed once per router.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) scalars: Scalars,
    pub(crate) word_slots: &'a [WordSlot],
    pub(crate) misspellings: &'a [Misspelling],
    pub(crate) words: &'a [Word],
    pub(crate) folds: &'a [Fold],
    pub(crate) latin_folds: &'a [u32],
    pub(crate) ascii_ids: &'a [u32],
    pub(crate) prefixes: &'a [Prefix],
    pub(crate) prefix_buckets: &'a [u32],
    pub(crate) ids: &'a [u32],
    pub(crate) phrase_edges: &'a [PhraseEdge],
    pub(crate) phrase_nodes: &'a [PhraseNode],
    pub(crate) terminals: &'a [Terminal],
    pub(crate) templates: &'a [Template],
    pub(crate) code: &'a [u64],
    pub(crate) program: &'a [u32],
    pub(crate) slots: &'a [Slot],
    pub(crate) elements: &'a [Element],
    pub(crate) trigger_index: &'a [IndexEntry],
    pub(crate) trigger_postings: &'a [Posting],
    pub(crate) predicate_index: &'a [IndexEntry],
    pub(crate) predicate_postings: &'a [Posting],
    pub(crate) skills: &'a [Skill],
    pub(crate) keywords: &'a [Keyword],
    pub(crate) predicates: &'a [Predicate],
    pub(crate) regexes: &'a [Regex],
    pub(crate) tools: &'a [Named],
    pub(crate) languages: &'a [Language],
    pub(crate) files: &'a [Named],
    pub(crate) hosts: &'a [Host],
    pub(crate) openings: &'a [Opening],
    pub(crate) opening_arguments: &'a [OpeningArgument],
}

impl<'a> View<'a> {
    /// A string of the text section; ranges were checked on loading.
    pub(crate) fn str(&self, start: u32, len: u32) -> &'a str {
        self.text
            .get(start as usize..start as usize + len as usize)
            .and_then(|bytes| std::str::from_utf8(bytes).ok())
            .unwrap_or_default()
    }

    /// A word by its id, folded. Slow: for messages to a person.
    pub(crate) fn word(&self, id: u32) -> Option<&'a str> {
        let slot = self.word_slots.iter().find(|slot| slot.len > 0 && slot.id == id)?;
        Some(self.str(slot.start, slot.len))
    }

    /// A range of the id pool.
    pub(crate) fn id_range(&self, start: u32, len: u32) -> &'a [u32] {
        range(self.ids, start, len)
    }
}

/// A checked range of any section; empty if it lies outside.
pub(crate) fn range<T>(records: &[T], start: u32, len: u32) -> &[T] {
    records.get(start as usize..(start as usize).saturating_add(len as usize)).unwrap_or_default()
}

impl Pack {
    /// Maps a file into memory and checks it.
    ///
    /// # Errors
    /// [`LoadError`] says what is wrong with the file.
    pub fn open(path: &Path) -> Result<Self, LoadError> {
        // Looked at before it is opened: opening a pipe waits for a writer.
        if !std::fs::metadata(path)?.is_file() {
            let odd = std::io::Error::new(std::io::ErrorKind::InvalidInput, "it is no regular file");
            return Err(odd.into());
        }
        let file = File::open(path)?;
        if file.metadata()?.len() == 0 {
            return Err(LoadError::NotAnArtifact);
        }
        // SAFETY: the map is read-only and private to this value. `skillc` replaces artifacts by renaming, never by
        // writing into them; another program that truncates a mapped file can stop this one, as with any map.
        #[expect(unsafe_code, reason = "memmap2 demands it: the file must not shrink while it is mapped")]
        let map = unsafe { memmap2::Mmap::map(&file)? };
        Self::check(Bytes::Mapped(map))
    }

    /// Takes an artifact that is in memory already.
    ///
    /// # Errors
    /// [`LoadError`] says what is wrong with the bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, LoadError> {
        let mut words = vec![0_u64; bytes.len().div_ceil(8)];
        if let Some(target) = bytemuck::cast_slice_mut::<u64, u8>(&mut words).get_mut(..bytes.len()) {
            target.copy_from_slice(bytes);
        }
        Self::check(Bytes::Owned(words, bytes.len()))
    }

    /// Length in bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.bytes().len()
    }

    /// Texts of the library: tools, languages, base prompt.
    #[must_use]
    pub fn library(&self) -> LibraryText {
        let scalars = self.view().scalars;
        self.cold(scalars.library_start, scalars.library_len)
    }

    /// Texts of the skill with this routing number.
    #[must_use]
    pub fn skill_text(&self, skill: usize) -> SkillText {
        self.view().skills.get(skill).map(|s| self.cold(s.cold_start, s.cold_len)).unwrap_or_default()
    }

    /// Names of the declared tools, by number.
    #[must_use]
    pub fn tool_names(&self) -> Vec<&str> {
        let view = self.view();
        view.tools.iter().map(|tool| view.str(tool.name_start, tool.name_len)).collect()
    }

    /// Names of the languages, by number.
    #[must_use]
    pub fn language_names(&self) -> Vec<&str> {
        let view = self.view();
        view.languages.iter().map(|language| view.str(language.name_start, language.name_len)).collect()
    }

    /// Names of the skills in routing order.
    #[must_use]
    pub fn skill_names(&self) -> Vec<&str> {
        let view = self.view();
        view.skills.iter().map(|skill| view.str(skill.name_start, skill.name_len)).collect()
    }

    fn cold<T: serde::de::DeserializeOwned + Default>(&self, start: u32, len: u32) -> T {
        let bytes = range(self.section::<u8>(Section::Cold), start, len);
        serde_json::from_slice(bytes).unwrap_or_default()
    }

    fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Mapped(map) => map,
            Bytes::Owned(words, len) => {
                bytemuck::cast_slice::<u64, u8>(words).get(..*len).unwrap_or_default()
            }
        }
    }

    fn section<T: Pod>(&self, section: Section) -> &[T] {
        let (start, end) = self.table.get(section as usize).copied().unwrap_or_default();
        let bytes = self.bytes().get(start..end).unwrap_or_default();
        bytemuck::try_cast_slice(bytes).unwrap_or_default()
    }

    pub(crate) fn view(&self) -> View<'_> {
        View {
            text: self.section(Section::Text),
            scalars: self.section::<Scalars>(Section::Scalars).first().copied().unwrap_or_default(),
            word_slots: self.section(Section::WordSlots),
            misspellings: self.section(Section::Misspellings),
            words: self.section(Section::Words),
            folds: self.section(Section::Folds),
            latin_folds: self.section(Section::LatinFolds),
            ascii_ids: self.section(Section::AsciiIds),
            prefixes: self.section(Section::Prefixes),
            prefix_buckets: self.section(Section::PrefixBuckets),
            ids: self.section(Section::Ids),
            phrase_edges: self.section(Section::PhraseEdges),
            phrase_nodes: self.section(Section::PhraseNodes),
            terminals: self.section(Section::Terminals),
            templates: self.section(Section::Templates),
            code: self.section(Section::Code),
            program: self.section(Section::Program),
            slots: self.section(Section::Slots),
            elements: self.section(Section::Elements),
            trigger_index: self.section(Section::TriggerIndex),
            trigger_postings: self.section(Section::TriggerPostings),
            predicate_index: self.section(Section::PredicateIndex),
            predicate_postings: self.section(Section::PredicatePostings),
            skills: self.section(Section::Skills),
            keywords: self.section(Section::Keywords),
            predicates: self.section(Section::Predicates),
            regexes: self.section(Section::Regexes),
            tools: self.section(Section::Tools),
            languages: self.section(Section::Languages),
            files: self.section(Section::Files),
            hosts: self.section(Section::Hosts),
            openings: self.section(Section::Openings),
            opening_arguments: self.section(Section::OpeningArguments),
        }
    }

    fn check(bytes: Bytes) -> Result<Self, LoadError> {
        let mut pack = Self { bytes, table: [(0, 0); SECTIONS] };
        pack.table = section_table(pack.bytes())?;
        pack.check_sizes()?;
        check_records(&pack)?;
        Ok(pack)
    }

    fn check_sizes(&self) -> Result<(), LoadError> {
        fn whole<T>(pack: &Pack, section: Section) -> bool {
            let (start, end) = pack.table.get(section as usize).copied().unwrap_or_default();
            (end - start).is_multiple_of(size_of::<T>())
        }
        let whole = whole::<Scalars>(self, Section::Scalars)
            && whole::<WordSlot>(self, Section::WordSlots)
            && whole::<Misspelling>(self, Section::Misspellings)
            && whole::<Word>(self, Section::Words)
            && whole::<Fold>(self, Section::Folds)
            && whole::<Prefix>(self, Section::Prefixes)
            && whole::<PhraseEdge>(self, Section::PhraseEdges)
            && whole::<PhraseNode>(self, Section::PhraseNodes)
            && whole::<Terminal>(self, Section::Terminals)
            && whole::<Template>(self, Section::Templates)
            && whole::<u64>(self, Section::Code)
            && whole::<Slot>(self, Section::Slots)
            && whole::<Element>(self, Section::Elements)
            && whole::<IndexEntry>(self, Section::TriggerIndex)
            && whole::<Posting>(self, Section::TriggerPostings)
            && whole::<IndexEntry>(self, Section::PredicateIndex)
            && whole::<Posting>(self, Section::PredicatePostings)
            && whole::<Skill>(self, Section::Skills)
            && whole::<Keyword>(self, Section::Keywords)
            && whole::<Predicate>(self, Section::Predicates)
            && whole::<Regex>(self, Section::Regexes)
            && whole::<Named>(self, Section::Tools)
            && whole::<Language>(self, Section::Languages)
            && whole::<Named>(self, Section::Files)
            && whole::<Host>(self, Section::Hosts)
            && whole::<Opening>(self, Section::Openings)
            && whole::<OpeningArgument>(self, Section::OpeningArguments)
            && [
                Section::LatinFolds,
                Section::AsciiIds,
                Section::PrefixBuckets,
                Section::Ids,
                Section::Program,
            ]
            .into_iter()
            .all(|section| whole::<u32>(self, section));
        if whole { Ok(()) } else { Err(LoadError::Inconsistent("the length of a section")) }
    }
}

/// XXH3-64 of everything but the checksum field.
pub(super) fn checksum(bytes: &[u8]) -> u64 {
    let field = std::mem::offset_of!(Header, checksum);
    let mut hasher = twox_hash::XxHash3_64::new();
    hasher.write(bytes.get(..field).unwrap_or_default());
    hasher.write(bytes.get(field + 8..).unwrap_or_default());
    hasher.finish()
}

fn section_table(bytes: &[u8]) -> Result<[(usize, usize); SECTIONS], LoadError> {
    let found = bytes.len() as u64;
    if bytes.get(..MAGIC.len()).is_none_or(|start| start != MAGIC) {
        return Err(LoadError::NotAnArtifact);
    }
    let head = size_of::<Header>();
    let header: Header = bytes
        .get(..head)
        .map(bytemuck::pod_read_unaligned)
        .ok_or(LoadError::Truncated { found, expected: head as u64 })?;
    if header.version != FORMAT_VERSION {
        return Err(LoadError::Version { found: header.version, expected: FORMAT_VERSION });
    }
    if found < header.length {
        return Err(LoadError::Truncated { found, expected: header.length });
    }
    if found > header.length {
        return Err(LoadError::TrailingBytes(found - header.length));
    }
    if checksum(bytes) != header.checksum {
        return Err(LoadError::Checksum);
    }
    let table_end = head + SECTIONS * size_of::<SectionEntry>();
    let entries = bytes.get(head..table_end).ok_or(LoadError::Inconsistent("the section table"))?;
    if header.sections as usize != SECTIONS {
        return Err(LoadError::Inconsistent("the number of sections"));
    }
    let mut table = [(0, 0); SECTIONS];
    for (slot, raw) in table.iter_mut().zip(entries.chunks_exact(size_of::<SectionEntry>())) {
        let entry: SectionEntry = bytemuck::pod_read_unaligned(raw);
        let end = entry.offset.checked_add(entry.length).filter(|&end| end <= found);
        let end = end.ok_or(LoadError::Inconsistent("a section"))?;
        if !entry.offset.is_multiple_of(8) || entry.offset < table_end as u64 {
            return Err(LoadError::Inconsistent("the start of a section"));
        }
        *slot = (entry.offset as usize, end as usize);
    }
    Ok(table)
}

/// Collects the first failed check.
struct Check(Result<(), LoadError>);

impl Check {
    fn that(&mut self, holds: bool, what: &'static str) {
        if !holds && self.0.is_ok() {
            self.0 = Err(LoadError::Inconsistent(what));
        }
    }

    fn range<T>(&mut self, records: &[T], start: u32, len: u32, what: &'static str) {
        self.that((start as usize).checked_add(len as usize).is_some_and(|end| end <= records.len()), what);
    }

    fn index<T>(&mut self, records: &[T], index: u32, what: &'static str) {
        self.that((index as usize) < records.len(), what);
    }
}

fn check_records(pack: &Pack) -> Result<(), LoadError> {
    let v = pack.view();
    let cold: &[u8] = pack.section(Section::Cold);
    let mut check = Check(Ok(()));
    let text =
        std::str::from_utf8(v.text).map_err(|_| LoadError::Inconsistent("a text that is not UTF-8,"))?;
    std::str::from_utf8(cold).map_err(|_| LoadError::Inconsistent("a text that is not UTF-8,"))?;
    let string = |check: &mut Check, start: u32, len: u32| {
        let end = start as usize + len as usize;
        check.that(text.is_char_boundary(start as usize) && text.is_char_boundary(end), "a text");
    };
    check.that(pack.section::<Scalars>(Section::Scalars).len() == 1, "the figures");
    check.that(
        v.latin_folds.len() == 64 && v.ascii_ids.len() == 128 && v.prefix_buckets.len() == 257,
        "a table",
    );
    check
        .that(v.word_slots.len().is_power_of_two() && v.phrase_edges.len().is_power_of_two(), "a hash table");
    check.that(v.word_slots.iter().any(|slot| slot.len == 0), "a full hash table");
    check.that(v.phrase_edges.iter().any(|edge| edge.id == 0), "a full hash table");
    check.that(v.misspellings.len().is_power_of_two(), "a hash table");
    check.that(v.misspellings.iter().any(|entry| entry.id == 0), "a full hash table");
    for entry in v.misspellings {
        check.that(entry.id == 0 || (entry.id as usize) < v.words.len(), "a misspelled word");
    }
    for slot in v.word_slots.iter().filter(|slot| slot.len > 0) {
        string(&mut check, slot.start, slot.len);
        check.index(v.words, slot.id, "a word");
    }
    for word in v.words {
        check.that(word.stretch == NONE || (word.stretch as usize) < v.words.len(), "a stretched word");
        check.range(v.ids, word.expands_start, word.expands_len, "an expansion");
        for &id in v.id_range(word.expands_start, word.expands_len) {
            check.index(v.words, id, "an expansion");
        }
    }
    for &id in v.ascii_ids {
        check.that(id == 0 || (id as usize) < v.words.len(), "a symbol");
    }
    for fold in v.folds {
        string(&mut check, fold.start, fold.len);
    }
    for &packed in v.latin_folds {
        let raw = packed.to_le_bytes();
        let spelled = raw.get(1..1 + usize::from(raw[0].min(3))).unwrap_or_default();
        check.that(raw[0] <= 3 && std::str::from_utf8(spelled).is_ok(), "a spelling");
    }
    for prefix in v.prefixes {
        string(&mut check, prefix.start, prefix.len);
        check.index(v.words, prefix.id, "a prefix");
    }
    check.that(v.prefix_buckets.is_sorted(), "a prefix");
    check.that(v.prefix_buckets.last().is_none_or(|&end| end as usize <= v.prefixes.len()), "a prefix");
    check.that(!v.phrase_nodes.is_empty(), "a phrase");
    for edge in v.phrase_edges.iter().filter(|edge| edge.id != 0) {
        check.index(v.phrase_nodes, edge.to, "a phrase");
        // Children are written behind their parents, so no walk can run in a circle.
        check.that(edge.to > edge.from, "a phrase");
    }
    for node in v.phrase_nodes {
        check.range(v.terminals, node.terminals_start, node.terminals_len, "a phrase");
    }
    for terminal in v.terminals {
        let lists = v.languages.len() * LISTS.len();
        check.that(terminal.kind <= 1, "a phrase");
        let bound = if terminal.kind == 0 { lists.min(64) } else { v.keywords.len() };
        check.that((terminal.target as usize) < bound, "a phrase");
    }
    for template in v.templates {
        check_template(&mut check, &v, template);
    }
    for slot in v.slots {
        string(&mut check, slot.name_start, slot.name_len);
        check.that(SlotKind::from_code(slot.kind).is_some(), "a slot");
    }
    for (position, element) in v.elements.iter().enumerate() {
        let bound = match element.kind {
            ELEMENT_TEMPLATE => v.templates.len(),
            ELEMENT_REGEX => v.regexes.len(),
            ELEMENT_PREDICATE => v.predicates.len(),
            _ => 0,
        };
        check.that((element.target as usize) < bound, "an element");
        check.range(v.elements, element.unless_start, element.unless_len, "an element");
        // Vetoes are written behind what they veto, so evaluation ends.
        check.that(element.unless_len == 0 || element.unless_start as usize > position, "an element");
        check.index(v.files, element.file, "an element");
        string(&mut check, element.source_start, element.source_len);
        if element.label_len != NONE {
            string(&mut check, element.label_start, element.label_len);
        }
    }
    check_index(&mut check, &v, v.trigger_index, v.trigger_postings);
    check_index(&mut check, &v, v.predicate_index, v.predicate_postings);
    let s = v.scalars;
    check.that(s.triggers as usize <= v.elements.len(), "the triggers");
    for element in v.elements.iter().take(s.triggers as usize) {
        check.index(v.skills, element.owner, "a trigger");
    }
    for (start, len) in [(s.always_start, s.always_len), (s.predicate_always_start, s.predicate_always_len)] {
        check.range(v.ids, start, len, "a list of elements");
        for &element in v.id_range(start, len) {
            check.index(v.elements, element, "a list of elements");
        }
    }
    check.range(cold, s.library_start, s.library_len, "the texts");
    check_cold::<LibraryText>(&mut check, cold, s.library_start, s.library_len);
    for skill in v.skills {
        string(&mut check, skill.name_start, skill.name_len);
        check.that(skill.carry <= 9 && skill.priority <= 100, "a skill");
        if skill.tools_len != NONE {
            check.range(v.ids, skill.tools_start, skill.tools_len, "a skill's tools");
            for &tool in v.id_range(skill.tools_start, skill.tools_len) {
                check.index(v.tools, tool, "a skill's tools");
            }
        }
        check.range(v.elements, skill.triggers_start, skill.triggers_len, "a skill");
        check.range(v.elements, skill.excludes_start, skill.excludes_len, "a skill");
        check.range(v.elements, skill.follows_start, skill.follows_len, "a skill");
        check.range(v.elements, skill.fallbacks_start, skill.fallbacks_len, "a skill");
        check.range(v.openings, skill.openings_start, skill.openings_len, "a skill");
        check.range(cold, skill.cold_start, skill.cold_len, "a skill");
        check_cold::<SkillText>(&mut check, cold, skill.cold_start, skill.cold_len);
    }
    for keyword in v.keywords {
        check.index(v.skills, keyword.skill, "a keyword");
        check.index(v.files, keyword.file, "a keyword");
        string(&mut check, keyword.text_start, keyword.text_len);
    }
    for (position, predicate) in v.predicates.iter().enumerate() {
        string(&mut check, predicate.name_start, predicate.name_len);
        check.range(v.elements, predicate.elements_start, predicate.elements_len, "a predicate");
        check.that(
            predicate.computed == NONE || Computed::from_code(predicate.computed).is_some(),
            "a predicate",
        );
        for element in range(v.elements, predicate.elements_start, predicate.elements_len) {
            check.that(element.owner as usize == position, "a predicate");
        }
    }
    for regex in v.regexes {
        string(&mut check, regex.source_start, regex.source_len);
        string(&mut check, regex.literal_start, regex.literal_len);
    }
    for named in v.tools.iter().chain(v.files) {
        string(&mut check, named.name_start, named.name_len);
    }
    check.that(v.languages.len() * LISTS.len() <= 64, "the languages");
    for language in v.languages {
        string(&mut check, language.name_start, language.name_len);
        string(&mut check, language.letters_start, language.letters_len);
    }
    for host in v.hosts {
        string(&mut check, host.name_start, host.name_len);
        for regex in [host.task, host.envelope] {
            check.that(regex == NONE || (regex as usize) < v.regexes.len(), "a host");
        }
    }
    for opening in v.openings {
        check.index(v.tools, opening.tool, "an opening");
        check.range(v.opening_arguments, opening.arguments_start, opening.arguments_len, "an opening");
    }
    for argument in v.opening_arguments {
        string(&mut check, argument.name_start, argument.name_len);
        string(&mut check, argument.value_start, argument.value_len);
        check.that(argument.kind <= 4, "an argument");
    }
    check.0
}

fn check_cold<T: serde::de::DeserializeOwned>(check: &mut Check, cold: &[u8], start: u32, len: u32) {
    check.that(serde_json::from_slice::<T>(range(cold, start, len)).is_ok(), "a text");
}

fn check_index(check: &mut Check, v: &View<'_>, index: &[IndexEntry], postings: &[Posting]) {
    check.that(index.len() == v.words.len(), "an index");
    for entry in index {
        check.range(postings, entry.start, entry.len, "an index");
    }
    for posting in postings {
        check.that(
            v.elements.get(posting.element as usize).is_some_and(|element| element.kind == ELEMENT_TEMPLATE),
            "an index",
        );
    }
}

fn check_template(check: &mut Check, v: &View<'_>, template: &Template) {
    let n = template.positions;
    if !(1..=64).contains(&n) {
        check.that(false, "a template");
        return;
    }
    check.range(v.code, template.code, 3 + 2 * n, "a template");
    check.range(v.program, template.program_start, template.program_len, "a template");
    check.range(v.slots, template.slots_start, template.slots_len, "a template");
    let limit = if n >= 64 { u64::MAX } else { (1 << n) - 1 };
    let code = range(v.code, template.code, 3 + 2 * n);
    for word in code.iter().take(3 + n as usize) {
        check.that(word & !limit == 0, "a template");
    }
    for word in code.iter().skip(3 + n as usize) {
        if (word >> 56) as u8 == accept::SET {
            check.range(v.ids, *word as u32, (word >> 32) as u32 & 0x00FF_FFFF, "a template");
        }
    }
    let program = range(v.program, template.program_start, template.program_len);
    let mut at = 0;
    let mut ends = false;
    while let Some(&instruction) = program.get(at) {
        let operand = |offset: usize| program.get(at + offset).copied().unwrap_or(u32::MAX);
        let length = match instruction {
            op::MATCH => {
                ends = true;
                1
            }
            op::ANY => 1,
            op::ID | op::MARK => 2,
            // Branches only lead forward, so every path ends.
            op::SPLIT | op::JUMP => {
                check.that(operand(1) as usize > at && (operand(1) as usize) < program.len(), "a template");
                2
            }
            op::SET => {
                check.range(v.ids, operand(1), operand(2), "a template");
                3
            }
            op::LIST => 3,
            op::SLOT => {
                check.that(operand(1) < template.slots_len && operand(1) < 16, "a template");
                check.that(SlotKind::from_code(operand(2)).is_some(), "a template");
                3
            }
            _ => {
                check.that(false, "a template");
                return;
            }
        };
        at += length;
    }
    check.that(ends && at == program.len(), "a template");
}
