//! Snapshot tests only; see `tests/`. Each `.snap` file is a page that can be reviewed alone: what went in, then
//! what came out. After a change that is meant: `INSTA_UPDATE=always cargo test -p snapshots`, then read the diff.
