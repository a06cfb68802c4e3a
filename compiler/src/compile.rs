//! All phases in a row.

use std::collections::{BTreeSet, HashMap};

use skill_runtime::artifact::Pack;
use skill_runtime::router::{Router, Scratch, State, ToolSet};

use crate::diagnostics::{self as codes, Diagnostic, Severity, suggestion};
use crate::library::Library;
use crate::limits::Limits;
use crate::lint::{Levels, OwnRoute};
use crate::lower::{ExemplarSlots, lower};
use crate::source::{SourceFile, Span};
use crate::syntax::ast::Scalar;
use crate::{check, lint, resolve};

/// What a compilation made and said.
#[derive(Debug)]
pub struct Compiled {
    /// The library as far as it was understood.
    pub library: Library,
    /// The artifact; None if there was an error.
    pub artifact: Option<Vec<u8>>,
    /// Everything that was found, in the order of files and lines.
    pub diagnostics: Vec<Diagnostic>,
}

impl Compiled {
    /// Whether there was an error.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

/// Compiles the files of a library. Their order does not matter: ties are broken by name.
#[must_use]
pub fn compile(files: &[SourceFile], limits: &Limits) -> Compiled {
    compile_at(files, limits, &Levels::default())
}

/// Compiles with levels of lints of one's own. A denied finding is an error, but the artifact is made.
#[must_use]
pub fn compile_at(files: &[SourceFile], limits: &Limits, levels: &Levels) -> Compiled {
    let (library, mut diagnostics) = resolve::resolve(files, limits);
    diagnostics.extend(check::check(&library, limits));
    // A circle of names cannot be written out, and neither can what uses it.
    if !diagnostics.iter().any(|diagnostic| diagnostic.code == codes::FRAGMENT_CYCLE.id) {
        diagnostics.extend(check_words(&library, limits));
    }
    let mut artifact = None;
    if !diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
        let lowered = lower(&library);
        let (slots, routes, found) = route_own(&library, &lowered.routing_only(), lowered.order());
        diagnostics.extend(found);
        let levels = lint::FileLevels::new(&library, levels);
        let untested = levels.asks_for(codes::UNTESTED.id);
        let subject = lint::Subject { library: &library, texts: &slots, routes: &routes, limits, untested };
        let advice = levels.apply(lint::lint(&subject));
        if !diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
            artifact = Some(lowered.finish(&library, &slots));
        }
        diagnostics.extend(advice);
    }
    diagnostics.sort_by_key(|diagnostic| diagnostic.span.map(|span| (span.file, span.start, span.end)));
    // One mistake may be met on several ways through a pattern; the first says it.
    diagnostics.dedup_by(|a, b| a.code == codes::PATTERN_SYNTAX.id && (a.code, a.span) == (b.code, b.span));
    Compiled { library, artifact, diagnostics }
}

/// Checks that need folded words: keywords of stop words only, word lists that stand for too many phrases.
fn check_words(library: &Library, limits: &Limits) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    let words = crate::lower::WordCheck::new(library);
    for (span, count) in words.large_entries(library, limits.list_phrases) {
        let limit = limits.list_phrases;
        out.push(
            Diagnostic::new(
                codes::LIST_TOO_LARGE,
                span,
                match count {
                    Some(count) => format!("this entry stands for {count} phrases, over {limit}"),
                    None => format!("this entry stands for more than {limit} phrases"),
                },
            )
            .help("write several entries (setting: list_phrases)"),
        );
    }
    for skill in &library.skills {
        for (keyword, span) in &skill.keywords {
            if words.only_stopwords(keyword) {
                out.push(
                    Diagnostic::new(
                        codes::KEYWORD_OF_STOPWORDS,
                        *span,
                        format!("keyword \"{keyword}\" holds stop words only, so it would match everything"),
                    )
                    .help("add a word that tells the skill from others"),
                );
            }
        }
    }
    let elements =
        library.skills.iter().map(|s| s.triggers.len() + s.excludes.len() + s.follows.len()).sum::<usize>();
    if elements > limits.elements {
        let limit = limits.elements;
        out.push(
            Diagnostic::global(
                codes::LIBRARY_TOO_LARGE,
                format!("the library has {elements} triggers, exclusions and follow-ups, over {limit}"),
            )
            .help("split the library (setting: elements)"),
        );
    }
    out
}

/// Routes the messages that the library itself holds, and binds what exemplars use.
fn route_own(
    library: &Library,
    artifact: &[u8],
    order: &[usize],
) -> (ExemplarSlots, Vec<OwnRoute>, Vec<Diagnostic>) {
    match Pack::from_bytes(artifact) {
        Ok(pack) => {
            let (slots, out) = bind_exemplars(library, &pack, order);
            (slots, own_routes(library, &pack, order), out)
        }
        Err(error) => {
            let message = format!("the artifact cannot be read back: {error}");
            let found = Diagnostic::global(codes::LIBRARY_TOO_LARGE, message);
            (ExemplarSlots::default(), Vec::new(), vec![found])
        }
    }
}

/// Where the messages of exemplars and tests go.
fn own_routes(library: &Library, pack: &Pack, order: &[usize]) -> Vec<OwnRoute> {
    // The first elements of an artifact are the triggers, in routing order.
    let triggers: Vec<Span> = order
        .iter()
        .filter_map(|&at| library.skills.get(at))
        .flat_map(|skill| skill.triggers.iter().map(|trigger| trigger.span))
        .collect();
    let router = Router::new(pack);
    let everything = ToolSet::all(pack);
    let mut scratch = Scratch::default();
    // Only skills of one priority can tie; a trace is worth its time where there are two.
    let mut priorities: Vec<u32> = library.skills.iter().map(|skill| skill.priority).collect();
    priorities.sort_unstable();
    let ties = priorities.windows(2).any(|pair| matches!(pair, [a, b] if a == b));
    let mut route = |state: State, message: &str, span, owner: Option<&str>| {
        let decision = router.decide(&mut scratch, state, message, &everything);
        let tied =
            if ties { router.trace(&mut scratch, state, message, &everything).1.tied } else { Vec::new() };
        let own = OwnRoute {
            exemplar: owner.is_some(),
            owner: owner.unwrap_or_default().to_owned(),
            message: message.to_owned(),
            span,
            skill: decision.skill.map(|skill| router.skill_name(skill)),
            trigger: decision.element.and_then(|element| triggers.get(element as usize).copied()),
            tied,
        };
        (own, decision.next)
    };
    let mut out = Vec::new();
    for skill in &library.skills {
        for exemplar in &skill.exemplars {
            out.push(route(State::default(), &exemplar.message, exemplar.span, Some(&skill.name.text)).0);
        }
    }
    for case in library.tests.iter().flat_map(|test| &test.cases) {
        let mut state = State::default();
        for turn in &case.turns {
            let (own, next) = route(state, &turn.message.value, turn.message.span, None);
            state = next;
            out.push(own);
        }
    }
    out
}

/// Routes each exemplar's own message by its skill's triggers: bare arguments are the slots that this binds.
fn bind_exemplars(library: &Library, pack: &Pack, order: &[usize]) -> (ExemplarSlots, Vec<Diagnostic>) {
    let mut slots = ExemplarSlots::default();
    let mut out = Vec::new();
    let router = Router::new(pack);
    let mut scratch = Scratch::default();
    let languages = pack.language_names();
    for (number, &at) in order.iter().enumerate() {
        let Some(skill) = library.skills.get(at) else { continue };
        for (position, exemplar) in skill.exemplars.iter().enumerate() {
            if let Some(language) = router.language(&mut scratch, &exemplar.message)
                && let Some(name) = languages.get(language as usize)
            {
                slots.languages.insert((at, position), (*name).to_owned());
            }
            let wanted: BTreeSet<_> = exemplar
                .steps
                .iter()
                .flat_map(|(call, _)| &call.arguments)
                .filter_map(|(_, value)| match value {
                    Scalar::Word(word) if word.text != "true" && word.text != "false" => Some(word),
                    _ => None,
                })
                .map(|word| (word.span, word.text.clone()))
                .collect();
            if wanted.is_empty() {
                continue;
            }
            let bound: HashMap<String, String> = router
                .bind_for_skill(&mut scratch, number as u32, &exemplar.message)
                .into_iter()
                .map(|binding| (binding.name, binding.text))
                .collect();
            for (span, name) in wanted {
                if !bound.contains_key(&name) {
                    out.push(
                        Diagnostic::new(
                            codes::UNKNOWN_SLOT,
                            span,
                            format!("the message of this exemplar binds no slot `{name}`"),
                        )
                        .related(exemplar.span, "this message")
                        .help(format!(
                            "{}; or write the value in quotes",
                            suggestion(&name, bound.keys().map(String::as_str), "slots that it binds")
                        )),
                    );
                }
            }
            slots.slots.insert((at, position), bound);
        }
    }
    (slots, out)
}
