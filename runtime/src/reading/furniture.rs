//! What on a page is furniture: by the element, by its role, by words in its class and id.

use std::sync::LazyLock;

use regex_automata::meta::Regex;

/// Elements whose text nobody reads as text.
pub(super) fn is_unread(name: &str) -> bool {
    matches!(
        name,
        "script"
            | "style"
            | "template"
            | "svg"
            | "math"
            | "iframe"
            | "object"
            | "embed"
            | "canvas"
            | "audio"
            | "video"
            | "select"
            | "option"
            | "button"
            | "input"
            | "textarea"
            | "datalist"
            | "dialog"
            | "map"
            | "noscript"
            | "noframes"
            | "head"
    )
}

/// Elements that frame a page.
pub(super) fn is_frame(name: &str) -> bool {
    matches!(name, "nav" | "footer" | "menu")
}

/// Roles that frame a page.
pub(super) fn is_frame_role(role: &str) -> bool {
    matches!(
        role,
        "navigation"
            | "banner"
            | "contentinfo"
            | "search"
            | "dialog"
            | "alertdialog"
            | "menu"
            | "menubar"
            | "toolbar"
            | "tablist"
            | "complementary"
            | "note"
    )
}

/// Words in classes and ids of what frames a page.
const FRAME_WORDS: &[&str] = &[
    "ad",
    "adbox",
    "ads",
    "advert",
    "advertisement",
    "anzeige",
    "breadcrumb",
    "breadcrumbs",
    "catlinks",
    "ccpa",
    "comment",
    "comments",
    "consent",
    "cookie",
    "cookiebar",
    "cookieconsent",
    "cookies",
    "disqus",
    "footer",
    "footnotes",
    "gdpr",
    "hatnote",
    "klaro",
    "login",
    "menu",
    "modal",
    "nav",
    "navbar",
    "navbox",
    "navigation",
    "newsletter",
    "noprint",
    "pager",
    "pagination",
    "paywall",
    "popup",
    "printfooter",
    "promo",
    "recommended",
    "references",
    "reflist",
    "related",
    "share",
    "sharing",
    "shortdescription",
    "sidebar",
    "signup",
    "sitemap",
    "skip",
    "skiplink",
    "social",
    "sponsored",
    "subscribe",
    "tarteaucitron",
    "toc",
    "toolbar",
    "topbar",
    "widget",
];

/// Whether a class or id names what frames a page: one of its words, parted by hyphens, underscores and capitals,
/// does.
pub(super) fn names_frame(classes: &str) -> bool {
    let mut start = 0;
    let mut before = ' ';
    let mut found = false;
    let mut check = |word: &str| {
        let mut lower = [0_u8; 20];
        let Some(slot) = lower.get_mut(..word.len()) else { return };
        slot.copy_from_slice(word.as_bytes());
        slot.make_ascii_lowercase();
        found |= std::str::from_utf8(slot).is_ok_and(|word| FRAME_WORDS.binary_search(&word).is_ok());
    };
    for (at, c) in classes.char_indices() {
        let parts = !c.is_alphanumeric();
        if parts || (before.is_lowercase() && c.is_uppercase()) {
            check(classes.get(start..at).unwrap_or_default());
            start = if parts { at + c.len_utf8() } else { at };
        }
        before = c;
    }
    check(classes.get(start..).unwrap_or_default());
    found
}

/// Words of cookie and consent notices, of newsletters, of notes on privacy, and of text that speaks to programs
/// instead of readers, in both languages.
const NOTICES: &[&str] = &[
    "accept all cookies",
    "accept cookies",
    "all rights reserved",
    "alle akzeptieren",
    "alle cookies",
    "alle rechte vorbehalten",
    "and our partners",
    "cookie policy",
    "cookie-einstellungen",
    "cookie-richtlinie",
    "cookies to",
    "cookies von",
    "cookies, um",
    "datenschutzerklärung",
    "enable javascript",
    "ignore all previous",
    "ignore previous instructions",
    "ignore your instructions",
    "ignoriere alle",
    "ihre einwilligung",
    "ihre zustimmung",
    "javascript aktivieren",
    "jederzeit abmelden",
    "jederzeit kündbar",
    "manage consent",
    "newsletter",
    "no spam",
    "privacy policy",
    "privacy settings",
    "sign up for our",
    "terms of service",
    "terms of use",
    "this site uses cookies",
    "und unsere partner",
    "unsubscribe at any time",
    "use cookies",
    "verwenden cookies",
    "verwendet cookies",
    "vorherigen anweisungen",
    "your choices at any time",
    "your consent",
];

/// Whether a paragraph is such a notice. Long ones that only mention one are not.
pub(crate) fn is_notice(text: &str) -> bool {
    if text.len() > 600 {
        return false;
    }
    let is = |regex: &LazyLock<Option<Regex>>| regex.as_ref().is_some_and(|regex| regex.is_match(text));
    if is(&NOTICE) {
        return true;
    }
    if !is(&COOKIE) {
        return false;
    }
    // Whoever speaks of cookies as "we" is not a baker's reporter.
    let is_speaker = |word: &str| {
        ["we", "us", "our", "wir", "uns", "unsere"].iter().any(|speaker| word.eq_ignore_ascii_case(speaker))
    };
    text.split(|c: char| !c.is_alphanumeric()).any(is_speaker)
}

static COOKIE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new("(?i:cookie)").ok());
/// All notices as one automaton. Both are made of literals; the test uses them.
static NOTICE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let all: Vec<String> = NOTICES.iter().map(|notice| notice.replace('.', r"\.")).collect();
    Regex::new(&format!("(?i:{})", all.join("|"))).ok()
});

#[cfg(test)]
mod tests {
    use super::{FRAME_WORDS, is_notice, names_frame};

    #[test]
    fn words_of_classes_are_told_apart_from_parts_of_words() {
        assert!(FRAME_WORDS.is_sorted());
        for frame in ["site-nav", "cookie_banner", "mainMenu", "nav", "foo share-buttons", "siteFooter"] {
            assert!(names_frame(frame), "{frame}");
        }
        for content in
            ["navy", "content", "shareholders", "addition", "menus-plural", "ärgernis", "", "footage"]
        {
            assert!(!names_frame(content), "{content}");
        }
        assert!(is_notice("We use cookies to improve your experience."));
        assert!(!is_notice("A baker sells cookies in the harbour."));
    }
}
