//! Writes a template as a position automaton (Glushkov) and as instructions of the binder.

use std::collections::HashMap;

use skill_runtime::artifact::PackBuilder;
use skill_runtime::artifact::layout::{self, ANCHOR_END, ANCHOR_START, NEEDS_BIND, SlotKind, accept, op};
use skill_runtime::router::flags;

use super::ir::{Ir, Part};

/// What a position accepts.
enum Accept {
    Set(Vec<u32>),
    Any,
    Token,
    Class(u32),
    Mark(u32),
}

/// First and last positions of a part, and whether it can be empty.
#[derive(Clone, Copy)]
struct Edges {
    first: u64,
    last: u64,
    empty: bool,
}

#[derive(Default)]
struct Automaton {
    accepts: Vec<Accept>,
    follow: Vec<u64>,
    binds: bool,
}

impl Automaton {
    fn position(&mut self, accept: Accept) -> Edges {
        let bit = 1_u64.checked_shl(self.accepts.len() as u32).unwrap_or_default();
        self.accepts.push(accept);
        self.follow.push(0);
        Edges { first: bit, last: bit, empty: false }
    }

    fn link(&mut self, from: u64, to: u64) {
        for (position, follow) in self.follow.iter_mut().enumerate() {
            if from >> position & 1 == 1 {
                *follow |= to;
            }
        }
    }

    fn join(&mut self, a: Edges, b: Edges) -> Edges {
        self.link(a.last, b.first);
        Edges {
            first: if a.empty { a.first | b.first } else { a.first },
            last: if b.empty { a.last | b.last } else { b.last },
            empty: a.empty && b.empty,
        }
    }

    fn part(&mut self, part: &Part) -> Edges {
        const NOTHING: Edges = Edges { first: 0, last: 0, empty: true };
        match part {
            Part::Sequence(parts) => parts.iter().fold(NOTHING, |edges, part| {
                let next = self.part(part);
                self.join(edges, next)
            }),
            Part::Alternatives(branches) => {
                branches.iter().fold(Edges { first: 0, last: 0, empty: false }, |edges, branch| {
                    let next = self.part(branch);
                    Edges {
                        first: edges.first | next.first,
                        last: edges.last | next.last,
                        empty: edges.empty || next.empty,
                    }
                })
            }
            Part::Optional(inner) => Edges { empty: true, ..self.part(inner) },
            Part::Set(ids) => self.position(Accept::Set(ids.clone())),
            Part::Mark(id) => self.position(Accept::Mark(*id)),
            Part::Gap(words) => (0..*words).fold(NOTHING, |edges, _| {
                let next = Edges { empty: true, ..self.position(Accept::Any) };
                self.join(edges, next)
            }),
            Part::List(_, first) => {
                self.binds = true;
                let head = self.position(Accept::Set(first.clone()));
                self.tail(head, Accept::Any)
            }
            Part::Slot(_, kind) => self.slot(*kind),
        }
    }

    /// A position that may follow `head` any number of times.
    fn tail(&mut self, head: Edges, accept: Accept) -> Edges {
        let tail = self.position(accept);
        self.link(tail.last, tail.first);
        self.join(head, Edges { empty: true, ..tail })
    }

    fn slot(&mut self, kind: SlotKind) -> Edges {
        self.binds = true;
        let word = flags::WORD | flags::NUMBER | flags::QUOTE;
        match kind {
            SlotKind::Number => self.position(Accept::Class(flags::NUMBER)),
            SlotKind::Url => self.position(Accept::Class(flags::URL)),
            SlotKind::Word | SlotKind::Name | SlotKind::Mixed => {
                let head = match kind {
                    SlotKind::Name => flags::NAME,
                    SlotKind::Mixed => flags::MIXED,
                    _ => word,
                };
                let head = self.position(Accept::Class(head));
                self.tail(head, Accept::Class(flags::CONTINUES))
            }
            SlotKind::Place => {
                let head = self.position(Accept::Class(word));
                self.tail(head, Accept::Class(word))
            }
            SlotKind::Rest | SlotKind::Expression => {
                let head = self.position(Accept::Token);
                self.tail(head, Accept::Token)
            }
        }
    }
}

pub(super) fn write(builder: &mut PackBuilder, sets: &mut HashMap<Vec<u32>, (u32, u32)>, ir: &Ir) {
    let mut automaton = Automaton::default();
    let edges = automaton.part(&ir.root);
    let code = builder.code.len() as u32;
    let marks = automaton.accepts.iter().enumerate().fold(0_u64, |marks, (position, accept)| {
        if matches!(accept, Accept::Mark(_)) { marks | 1 << position } else { marks }
    });
    builder.code.extend([edges.first, edges.last, marks]);
    builder.code.extend(&automaton.follow);
    for accepted in &automaton.accepts {
        let word = match accepted {
            Accept::Set(ids) => match ids.as_slice() {
                [id] => tagged(accept::ID, u64::from(*id)),
                ids => {
                    let (start, len) = pooled(builder, sets, ids);
                    tagged(accept::SET, u64::from(start) | u64::from(len & 0x00FF_FFFF) << 32)
                }
            },
            Accept::Any => tagged(accept::ANY, 0),
            Accept::Token => tagged(accept::TOKEN, 0),
            Accept::Class(bits) => tagged(accept::CLASS, u64::from(*bits)),
            Accept::Mark(id) => tagged(accept::MARK, u64::from(*id)),
        };
        builder.code.push(word);
    }
    let program_start = builder.program.len() as u32;
    let mut program = Vec::new();
    instructions(builder, sets, &ir.root, &mut program);
    program.push(op::MATCH);
    builder.program.extend(&program);
    let slots_start = builder.slots.len() as u32;
    for (name, kind) in &ir.slots {
        let name = builder.string(name);
        builder.slots.push(layout::Slot { name_start: name.start, name_len: name.len, kind: *kind as u32 });
    }
    let mut flags = 0;
    for (set, bit) in [(ir.start, ANCHOR_START), (ir.end, ANCHOR_END), (automaton.binds, NEEDS_BIND)] {
        if set {
            flags |= bit;
        }
    }
    builder.templates.push(layout::Template {
        code,
        positions: automaton.accepts.len() as u32,
        program_start,
        program_len: program.len() as u32,
        slots_start,
        slots_len: ir.slots.len() as u32,
        flags,
        min_tokens: min_tokens(&ir.root),
    });
}

fn tagged(tag: u8, payload: u64) -> u64 {
    u64::from(tag) << 56 | payload
}

fn pooled(builder: &mut PackBuilder, sets: &mut HashMap<Vec<u32>, (u32, u32)>, ids: &[u32]) -> (u32, u32) {
    *sets.entry(ids.to_vec()).or_insert_with(|| builder.id_range(ids))
}

fn instructions(
    builder: &mut PackBuilder,
    sets: &mut HashMap<Vec<u32>, (u32, u32)>,
    part: &Part,
    out: &mut Vec<u32>,
) {
    match part {
        Part::Sequence(parts) => parts.iter().for_each(|part| instructions(builder, sets, part, out)),
        Part::Alternatives(branches) => {
            let mut exits = Vec::new();
            for (at, branch) in branches.iter().enumerate() {
                if at + 1 < branches.len() {
                    let split = out.len();
                    out.extend([op::SPLIT, 0]);
                    instructions(builder, sets, branch, out);
                    exits.push(out.len());
                    out.extend([op::JUMP, 0]);
                    patch(out, split);
                } else {
                    instructions(builder, sets, branch, out);
                }
            }
            for exit in exits {
                patch(out, exit);
            }
        }
        Part::Optional(inner) => {
            let split = out.len();
            out.extend([op::SPLIT, 0]);
            instructions(builder, sets, inner, out);
            patch(out, split);
        }
        Part::Set(ids) => match ids.as_slice() {
            [id] => out.extend([op::ID, *id]),
            ids => {
                let (start, len) = pooled(builder, sets, ids);
                out.extend([op::SET, start, len]);
            }
        },
        Part::Mark(id) => out.extend([op::MARK, *id]),
        Part::Gap(words) => {
            // The shortest gap is tried first: stop here, else take one more.
            let mut exits = Vec::new();
            for _ in 0..*words {
                let split = out.len();
                out.extend([op::SPLIT, 0]);
                exits.push(out.len());
                out.extend([op::JUMP, 0]);
                patch(out, split);
                out.push(op::ANY);
            }
            for exit in exits {
                patch(out, exit);
            }
        }
        Part::List(bits, _) => out.extend([op::LIST, *bits as u32, (*bits >> 32) as u32]),
        Part::Slot(number, kind) => out.extend([op::SLOT, *number as u32, *kind as u32]),
    }
}

/// Points the branch at `at` to the end of what is written so far.
fn patch(out: &mut [u32], at: usize) {
    let target = out.len() as u32;
    if let Some(operand) = out.get_mut(at + 1) {
        *operand = target;
    }
}

fn min_tokens(part: &Part) -> u32 {
    match part {
        Part::Sequence(parts) => parts.iter().map(min_tokens).sum(),
        Part::Alternatives(branches) => branches.iter().map(min_tokens).min().unwrap_or_default(),
        Part::Optional(_) | Part::Gap(_) | Part::Mark(_) => 0,
        Part::Set(_) | Part::List(..) | Part::Slot(..) => 1,
    }
}
