//! Properties of the router on the shipped library: total, pure, and the same whichever way the turns are folded.
#![expect(clippy::expect_used, clippy::panic, reason = "a test stops at what it does not expect")]

use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use skill_compiler::{Limits, SourceFile, compile};
use skill_runtime::artifact::{LoadError, Pack};
use skill_runtime::conversation::{replay, route_turns};
use skill_runtime::router::{Router, Scratch, State, ToolSet};

type Sources = &'static [(&'static str, &'static str)];

const SHIPPED: Sources = &[
    ("arithmetic.skill", include_str!("../../skills/arithmetic.skill")),
    ("current-date.skill", include_str!("../../skills/current-date.skill")),
    ("hosts.skill", include_str!("../../skills/hosts.skill")),
    ("lookup-term.skill", include_str!("../../skills/lookup-term.skill")),
    ("memory.skill", include_str!("../../skills/memory.skill")),
    ("research-question.skill", include_str!("../../skills/research-question.skill")),
    ("small-talk.skill", include_str!("../../skills/small-talk.skill")),
    ("summarize-url.skill", include_str!("../../skills/summarize-url.skill")),
    ("weather.skill", include_str!("../../skills/weather.skill")),
    ("world-clock.skill", include_str!("../../skills/world-clock.skill")),
    ("lang/de.skill", include_str!("../../skills/lang/de.skill")),
    ("lang/en.skill", include_str!("../../skills/lang/en.skill")),
];
const CORPUS: Sources = &[
    ("bakery.skill", include_str!("../../grammar/corpus/library/bakery.skill")),
    ("garden.skill", include_str!("../../grammar/corpus/library/garden.skill")),
    ("assistant.skill", include_str!("../../grammar/corpus/library/assistant.skill")),
];

fn build(sources: &[(&str, &str)]) -> Vec<u8> {
    let files: Vec<SourceFile> = sources.iter().map(|(name, text)| SourceFile::new(*name, *text)).collect();
    let compiled = compile(&files, &Limits::default());
    compiled.artifact.unwrap_or_else(|| panic!("{:#?}", compiled.diagnostics))
}

/// The shipped library and the small one that uses every construct.
static ARTIFACTS: LazyLock<[Vec<u8>; 2]> = LazyLock::new(|| [build(SHIPPED), build(CORPUS)]);

fn pack(which: bool) -> Pack {
    Pack::from_bytes(&ARTIFACTS[usize::from(which)]).expect("an artifact that was just built loads")
}

/// Messages made of words that the library knows, marks, and anything at all.
fn message() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "hallo",
        "Hallo,",
        "was",
        "ist",
        "What",
        "is",
        "the",
        "Stripe",
        "1inch",
        "C++",
        ".NET",
        "node.js",
        "und",
        "and",
        "wie",
        "spät",
        "es",
        "SPÄT",
        "12",
        "*",
        "3.5",
        "(",
        ")",
        "%",
        "of",
        "von",
        "Wurzel",
        "aus",
        "144",
        "?",
        "!",
        "\n",
        "\"quoted words here\"",
        "`code`",
        "> ",
        "```",
        "https://a.example/x?y=1",
        "danke",
        "thanks",
        "in",
        "Lissabon",
        "geht's",
        "what's",
        "nicht",
        "not",
        "-",
        "–",
        "👋",
        "ё",
        "привет",
        "你好",
        "カナ",
        "\u{200B}",
        "\u{301}",
        "ﬁ",
        "Ｗｈａｔ",
        "e\u{301}",
        "\u{202E}",
        "„",
        "“",
        "a-b",
        "and/or",
        "ß",
        "  ",
    ]);
    let word = prop_oneof![10 => known.prop_map(str::to_owned), 1 => ".{0,6}"];
    prop::collection::vec(word, 0..14).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, rng_seed: RngSeed::Fixed(2026), ..ProptestConfig::default() })]

    #[test]
    fn routing_is_total_and_points_into_the_message(which in any::<bool>(), message in message()) {
        let pack = pack(which);
        let router = Router::new(&pack);
        let tools = ToolSet::all(&pack);
        let mut scratch = Scratch::default();
        let (route, _) = router.trace(&mut scratch, State::default(), &message, &tools);
        for (start, end) in route.evidence.iter().flat_map(|evidence| &evidence.spans) {
            prop_assert!(message.get(*start as usize..*end as usize).is_some(), "{start}..{end} of {message:?}");
        }
        for binding in route.bindings.iter().filter(|binding| binding.name != "message") {
            let span = binding.span.0 as usize..binding.span.1 as usize;
            prop_assert_eq!(message.get(span), Some(binding.text.as_str()));
        }
        let again = router.route(&mut Scratch::default(), State::default(), &message, &tools);
        prop_assert_eq!(route, again);
    }

    #[test]
    fn folding_steps_equals_routing_the_turns(
        which in any::<bool>(),
        turns in prop::collection::vec(message(), 1..6),
    ) {
        let pack = pack(which);
        let router = Router::new(&pack);
        let tools = ToolSet::all(&pack);
        let mut scratch = Scratch::default();
        let mut state = State::default();
        for (at, turn) in turns.iter().enumerate() {
            let stepped = router.route(&mut scratch, state, turn, &tools);
            let decided = router.decide(&mut Scratch::default(), state, turn, &tools);
            prop_assert_eq!(stepped.decision, decided);
            let whole = route_turns(&router, &mut Scratch::default(), &turns[..at], turn, &tools);
            prop_assert_eq!(&stepped, &whole);
            state = stepped.decision.next;
        }
        prop_assert_eq!(state, replay(&router, &mut scratch, turns.iter().map(String::as_str), &tools));
    }

    #[test]
    fn an_altered_artifact_is_refused_or_routes(at in any::<prop::sample::Index>(), value in any::<u8>()) {
        let mut bytes = ARTIFACTS[0].clone();
        let at = at.index(bytes.len());
        let changed = bytes[at] != value;
        bytes[at] = value;
        match Pack::from_bytes(&bytes) {
            Ok(_) => prop_assert!(!changed, "byte {at} was altered and the artifact still loads"),
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }
}

/// XXH3-64 over everything but the checksum field, as the format defines it.
fn seal(bytes: &mut [u8]) {
    use std::hash::Hasher;
    let mut hasher = twox_hash::XxHash3_64::new();
    hasher.write(&bytes[..24]);
    hasher.write(&bytes[32..]);
    let sum = hasher.finish().to_le_bytes();
    bytes[24..32].copy_from_slice(&sum);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, rng_seed: RngSeed::Fixed(2026), ..ProptestConfig::default() })]

    #[test]
    fn an_artifact_altered_under_a_fitting_checksum_never_panics(
        which in any::<bool>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = ARTIFACTS[usize::from(which)].clone();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        seal(&mut bytes);
        if let Ok(pack) = Pack::from_bytes(&bytes) {
            let router = Router::new(&pack);
            let tools = ToolSet::all(&pack);
            let mut scratch = Scratch::default();
            for message in ["Hallo, was ist Stripe?", "wie spät ist es in Rom", "(1+2)*3 and https://a.example", "hi"] {
                router.trace(&mut scratch, State::default(), message, &tools);
            }
        }
    }
}

#[test]
fn a_cut_newer_or_foreign_artifact_says_what_it_is() {
    let whole = ARTIFACTS[0].clone();
    assert!(matches!(Pack::from_bytes(b"PK\x03\x04"), Err(LoadError::NotAnArtifact)));
    assert!(matches!(Pack::from_bytes(&[]), Err(LoadError::NotAnArtifact)));
    for length in [8, 31, 100, whole.len() / 2, whole.len() - 1] {
        assert!(
            matches!(Pack::from_bytes(&whole[..length]), Err(LoadError::Truncated { .. })),
            "{length} bytes"
        );
    }
    let mut longer = whole.clone();
    longer.extend([0; 8]);
    assert!(matches!(Pack::from_bytes(&longer), Err(LoadError::TrailingBytes(8))));
    let mut newer = whole;
    newer[8] = 99;
    let error = Pack::from_bytes(&newer).expect_err("it is newer");
    assert!(matches!(error, LoadError::Version { found: 99, .. }));
    assert!(error.to_string().contains("newer skillc"), "{error}");
}

#[test]
fn the_same_sources_in_another_order_build_the_same_routes() {
    let mut reversed = SHIPPED.to_vec();
    reversed.reverse();
    assert_eq!(ARTIFACTS[0], build(SHIPPED), "the same input gives the same bytes");
    let turned = Pack::from_bytes(&build(&reversed)).expect("it loads");
    assert_eq!(pack(false).skill_names(), turned.skill_names());
    let (a, b) = (pack(false), turned);
    let (first, second) = (Router::new(&a), Router::new(&b));
    for turns in a.library().tests {
        let (message, after) = turns.split_last().expect("a case has a message");
        let route = |router: &Router<'_>, pack: &Pack| {
            let route = route_turns(router, &mut Scratch::default(), after, message, &ToolSet::all(pack));
            (route.skill, route.decision.stage, route.bindings)
        };
        assert_eq!(route(&first, &a), route(&second, &b), "{message}");
    }
}

#[test]
fn hostile_messages_take_little_time() {
    let pack = pack(false);
    let router = Router::new(&pack);
    let tools = ToolSet::all(&pack);
    let mut scratch = Scratch::default();
    let inputs = [
        "a".repeat(1_000_000),
        "ä".repeat(500_000),
        "\"".repeat(10_000),
        "(".repeat(10_000),
        "1+".repeat(2_000),
        "was ist ".repeat(500),
        "in Rom und ".repeat(360),
        "e\u{301}".repeat(2_000),
        "> a\n".repeat(10_000),
        "`a` ".repeat(1_000),
        "> \n".repeat(300_000),
        "```\n".repeat(50_000),
        "„".repeat(40_000),
        "\"\" ".repeat(80_000),
    ];
    for input in &inputs {
        let start = std::time::Instant::now();
        router.route(&mut scratch, State::default(), input, &tools);
        let took = start.elapsed();
        assert!(took.as_millis() < 2_000, "{took:?} for {:?}…", input.chars().take(12).collect::<String>());
    }
}

#[test]
fn words_with_one_slip_are_read_as_the_words_they_stand_for() {
    let pack = pack(false);
    let router = Router::new(&pack);
    let tools = ToolSet::all(&pack);
    let mut scratch = Scratch::default();
    let mut read = |message: &str| {
        let (_, trace) = router.trace(&mut scratch, State::default(), message, &tools);
        trace.read_as.into_iter().map(|(_, word)| word).collect::<Vec<_>>().join(" ")
    };
    for (message, expected) in [
        ("wan regnet es", "wann"),
        ("welcher WOCHNTAG", "wochentag"),
        ("das wetetr heute", "wetter"),
        ("das weter heute", "wetter"),
        ("Shcönen Abend", "schoenen"),
        ("adidere das", "addier…"),
        ("wahts up", "what is"),
        ("is it raniing", "raining"),
        ("Hhallo", "hallo"),
        // Words of their own, in either language; a name at the end; what a pattern's prefix takes; two slips.
        ("from Rom to Wien", ""),
        ("a bite of hell", ""),
        ("a miner may dine", ""),
        ("Emine und Warren bei Uber", ""),
        ("Hüte und Beute", ""),
        ("Wetter in Wil", ""),
        ("wetterfest", ""),
        ("wtetre", ""),
        ("Stripe 1inch", ""),
    ] {
        assert_eq!(read(message), expected, "{message}");
    }
}
