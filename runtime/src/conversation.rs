//! Folds the user turns of a conversation into the state that the next message meets.

use crate::router::{Route, Router, Scratch, State, ToolSet};

/// State after these user turns, oldest first: the fold of `decide` over them.
pub fn replay<'t>(
    router: &Router<'_>,
    scratch: &mut Scratch,
    turns: impl IntoIterator<Item = &'t str>,
    tools: &ToolSet,
) -> State {
    turns.into_iter().fold(State::default(), |state, turn| router.decide(scratch, state, turn, tools).next)
}

/// Routes the last message of a conversation. A pure function of its input, so a server needs no sessions.
pub fn route_turns(
    router: &Router<'_>,
    scratch: &mut Scratch,
    after: &[String],
    message: &str,
    tools: &ToolSet,
) -> Route {
    let state = replay(router, scratch, after.iter().map(String::as_str), tools);
    router.route(scratch, state, message, tools)
}
