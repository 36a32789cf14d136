//! Flags of `betree` and its parts.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use files::conflicts::{Files, Stdout};

use crate::args::expressions::{ExpressionsForm, UndefinedMode, WorkloadArgs};
use crate::args::live::LiveArgs;
use crate::args::output::{OutputArgs, TerminalArgs};
#[cfg(feature = "serve")]
use crate::commands::betree::serve::flags::ServeArgs;
#[cfg(feature = "workers")]
use crate::commands::betree::workers::flags::{FeedArgs, JoinArgs, RollOutArgs, WorkerArgs};

/// Match events against boolean expressions.
///
/// Reads a domains file (each line name|type|allow_undefined|min|max), expressions (one per line; its id
/// is the line number, or stands before it) and events (one JSON object per line), and writes which
/// expressions match each event.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit betree generate ad -o ad
  perfkit betree check --domains ad/domains --expressions ad/expressions
  perfkit betree match --domains ad/domains --expressions ad/expressions --events ad/events
  perfkit betree build --domains ad/domains --expressions ad/expressions -o ad.snap
  perfkit betree match --snapshot ad.snap --events ad/events --format count
  perfkit betree explain --domains ad/domains --expressions ad/expressions --id 7 --events ad/events
  perfkit betree serve --domains ad/domains --expressions ad/expressions --listen 127.0.0.1:8080")]
pub(crate) struct BetreeArgs {
    /// What to do
    #[command(subcommand)]
    pub(crate) command: BetreeCommand,
}

/// The parts of `betree`.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum BetreeCommand {
    Generate(GenerateArgs),
    Match(Box<MatchArgs>),
    Build(BuildArgs),
    Check(CheckArgs),
    Lint(LintArgs),
    Explain(ExplainArgs),
    #[cfg(feature = "serve")]
    Serve(Box<ServeArgs>),
    #[cfg(feature = "workers")]
    Feed(Box<FeedArgs>),
    #[cfg(feature = "workers")]
    Join(Box<JoinArgs>),
    #[cfg(feature = "workers")]
    RollOut(Box<RollOutArgs>),
}

impl BetreeCommand {
    /// Whether data goes to a terminal unchanged.
    pub(crate) fn wants_raw(&self) -> bool {
        match self {
            Self::Match(args) => args.analysis.force,
            Self::Generate(args) => args.force,
            Self::Build(args) => args.force,
            Self::Check(_) | Self::Lint(_) | Self::Explain(_) => false,
            #[cfg(feature = "serve")]
            Self::Serve(args) => args.output.force,
            #[cfg(feature = "workers")]
            Self::Feed(args) => args.output.force,
            #[cfg(feature = "workers")]
            Self::Join(args) => args.output.force,
            #[cfg(feature = "workers")]
            Self::RollOut(args) => args.output.force,
        }
    }
}

/// Generate domains, expressions and events.
///
/// Writes the files domains, expressions and events into a directory, and constants where expressions have frequency
/// caps. The same seed gives the same bytes on every machine.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit betree generate ad -o ad
  perfkit betree generate --list
  perfkit betree generate shape 'radius and country' --expressions 100000 -o radius
  perfkit betree generate drawn 17 -o drawn-17")]
pub(crate) struct GenerateArgs {
    /// bool, ad, shape or drawn
    #[arg(
        value_enum,
        required_unless_present = "list",
        hide_possible_values = true
    )]
    pub(crate) kind: Option<GenerateKind>,
    /// For shape, its name, as --list shows it; for drawn, the number that the shape is drawn from
    #[arg(value_name = "NAME", required_if_eq_any = [("kind", "shape"), ("kind", "drawn")])]
    pub(crate) name: Option<String>,
    /// List the named shapes, one per line with what they are made of
    #[arg(long, conflicts_with_all = ["kind", "name", "output"])]
    pub(crate) list: bool,
    #[command(flatten)]
    pub(crate) size: WorkloadArgs,
    /// Number of events
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) events: u64,
    /// Format: lines, or erlang (terms that start with the domain, events as lists of bits; bool only)
    #[arg(long, value_name = "FORM", value_enum, default_value_t = FileForm::Lines,
          hide_possible_values = true)]
    pub(crate) form: FileForm,
    /// The directory, which is created
    #[arg(short, long, value_name = "DIR", required_unless_present = "list")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite existing files
    #[arg(short, long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) terminal: TerminalArgs,
}

/// What is generated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GenerateKind {
    /// Boolean-heavy: every expression tests every attribute
    Bool,
    /// Selective: advertisements over 21 attributes
    Ad,
    /// A shape of targeting by its name
    Shape,
    /// A shape drawn at random from a number
    Drawn,
}

/// How generated files are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FileForm {
    /// Domains and expressions one per line, events as JSON
    Lines,
    /// Erlang terms
    Erlang,
}

/// How matches are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MatchFormat {
    /// {"event":1,"ids":[…]}
    Json,
    /// The ids, separated by blanks
    Ids,
    /// A 0 or 1 for each expression
    Bitmap,
    /// The number of ids
    Count,
}

/// The files to build a tree from, or the snapshot to read it from.
#[derive(Debug, Clone, Args)]
pub(crate) struct TreeArgs {
    /// Snapshot from `betree build`, instead of the files below
    #[arg(long, value_name = "SNAP",
          conflicts_with_all = ["domains", "expressions", "expressions_form", "constants", "undefined"])]
    pub(crate) snapshot: Option<PathBuf>,
    /// Attributes, one per line: name|type|allow_undefined|min|max; not needed with Erlang terms
    #[arg(long, value_name = "FILE")]
    pub(crate) domains: Option<PathBuf>,
    /// Expressions, one per line: plain, `id<TAB>expression` or JSON; or Erlang terms
    #[arg(long, value_name = "FILE", required_unless_present = "snapshot")]
    pub(crate) expressions: Option<PathBuf>,
    /// Form of the expressions: auto, plain, tab, json or erlang
    ///
    /// plain: one per line, and the line number is the id. tab: an id, a tab and the expression. json: an
    /// object with "id" (an integer or a string) and "expr". auto: as the first line that is not blank
    /// looks.
    #[arg(long, value_name = "FORM", value_enum, default_value_t = ExpressionsForm::Auto,
          hide_possible_values = true)]
    pub(crate) expressions_form: ExpressionsForm,
    /// Ids for frequency caps, as CSV
    #[arg(long, value_name = "FILE")]
    pub(crate) constants: Option<PathBuf>,
    /// How to evaluate a test of an undefined attribute: false or three-valued
    #[arg(long, value_name = "MODE", value_enum, default_value_t = UndefinedMode::False,
          hide_possible_values = true)]
    pub(crate) undefined: UndefinedMode,
}

/// Check expressions and write them as a snapshot.
///
/// A snapshot contains the domains, the expressions and their constants, with checksums. It loads
/// faster than these files, and appears complete or not at all.
#[derive(Debug, Clone, Args)]
pub(crate) struct BuildArgs {
    #[command(flatten)]
    pub(crate) tree: TreeArgs,
    /// The snapshot
    #[arg(short, long, value_name = "SNAP")]
    pub(crate) output: PathBuf,
    /// Overwrite an existing file
    #[arg(short, long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) terminal: TerminalArgs,
}

/// List every wrong expression of a file.
///
/// Writes each mistake to standard output with its line and column, the place in the expression and a hint, and exits 3
/// if there is any. With --report the report is there instead, with a row for each. docs/betree-language.md has the grammar.
#[derive(Debug, Clone, Args)]
pub(crate) struct CheckArgs {
    /// Attributes, one per line: name|type|allow_undefined|min|max; not needed with Erlang terms
    #[arg(long, value_name = "FILE")]
    pub(crate) domains: Option<PathBuf>,
    /// Expressions, one per line: plain, `id<TAB>expression` or JSON; or Erlang terms
    #[arg(long, value_name = "FILE")]
    pub(crate) expressions: PathBuf,
    /// Form of the expressions: auto, plain, tab, json or erlang
    ///
    /// plain: one per line, and the line number is the id. tab: an id, a tab and the expression. json: an
    /// object with "id" (an integer or a string) and "expr". auto: as the first line that is not blank
    /// looks.
    #[arg(long, value_name = "FORM", value_enum, default_value_t = ExpressionsForm::Auto,
          hide_possible_values = true)]
    pub(crate) expressions_form: ExpressionsForm,
    /// Ids for frequency caps, as CSV
    #[arg(long, value_name = "FILE")]
    pub(crate) constants: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// List expressions that say something odd.
///
/// Finds expressions that never match, that match every event, that are duplicates of others, and that match only when
/// another does. Whatever it lists is so; it can miss some. Writes one line for each to standard output, or with --report
/// a report with a row for each, and exits 3 if there is any.
#[derive(Debug, Clone, Args)]
pub(crate) struct LintArgs {
    #[command(flatten)]
    pub(crate) tree: TreeArgs,
    /// List only these: never, always, duplicate, subsumed, too-large, not-compared
    ///
    /// Without it, the first four. too-large are expressions that are too large to look into, and not-compared are those
    /// that were not compared with all others, because these are many; both may be odd.
    #[arg(
        long,
        value_name = "WHAT,…",
        value_enum,
        value_delimiter = ',',
        num_args = 1,
        hide_possible_values = true
    )]
    pub(crate) only: Vec<LintKind>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// What `lint` can list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LintKind {
    Never,
    Always,
    Duplicate,
    Subsumed,
    TooLarge,
    NotCompared,
}

/// Match events against expressions.
///
/// Writes one line per event to standard output as events arrive, and a report to standard error: how
/// long searches took, and how long one step of a search kept the thread. Blank lines are no events; JSON
/// has the line number of each event.
#[derive(Debug, Clone, Args)]
pub(crate) struct MatchArgs {
    #[command(flatten)]
    pub(crate) tree: TreeArgs,
    /// Events, a JSON object or an Erlang list a line; `-` is standard input
    #[arg(long, value_name = "FILE", default_value = "-")]
    pub(crate) events: PathBuf,
    /// Format of matches: json, ids, bitmap or count
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = MatchFormat::Json,
          hide_possible_values = true)]
    pub(crate) format: MatchFormat,
    /// Reductions per step, the unit of work of a search
    #[arg(long, value_name = "N", default_value_t = 2000,
          value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) budget: u64,
    /// Write the value of this field of an event, its own id, into its line
    ///
    /// A string or a number; the field need not be an attribute. In JSON it is "id", and null if the event
    /// lacks it. In other formats it stands at the start of the line, before a tab.
    #[arg(long, value_name = "NAME")]
    pub(crate) event_id: Option<String>,
    /// Find at most N matches of an event, whichever come first, and stop there
    #[arg(long, value_name = "N", conflicts_with = "top",
          value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) first: Option<u64>,
    /// Find the N matches with the highest priorities, highest first, of equal ones those listed first
    #[arg(long, value_name = "N", requires = "priorities")]
    pub(crate) top: Option<usize>,
    /// Priorities for --top: a line id<TAB>priority each, an integer; 0 for an id without a line
    #[arg(long, value_name = "FILE", requires = "top")]
    pub(crate) priorities: Option<PathBuf>,
    /// Pass over attributes that the domains lack
    #[arg(long)]
    pub(crate) ignore_unknown: bool,
    /// Skip events that cannot be read, and exit 3
    ///
    /// In the formats ids, bitmap and count, the line of such an event is `-`.
    #[arg(long)]
    pub(crate) keep_going: bool,
    /// Number of threads; 0: one per CPU
    ///
    /// Lines come in the order of the events, the same for any number of threads.
    #[arg(short = 'T', long, value_name = "N", default_value_t = 1)]
    pub(crate) threads: u32,
    #[command(flatten)]
    pub(crate) analysis: OutputArgs,
    #[command(flatten)]
    pub(crate) live: LiveArgs,
    #[cfg(feature = "workers")]
    #[command(flatten)]
    pub(crate) workers: WorkerArgs,
}

/// Show why an expression matches events, or which test fails.
///
/// Shows the parts of the expression in the order in which they are evaluated, each with its value.
/// Without --id, writes a line for each expression that matches an event, with the tests that make it
/// match: of a group of which one is enough, only the first.
#[derive(Debug, Clone, Args)]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    pub(crate) tree: TreeArgs,
    /// The expression, by its id or its line number; without it, a line for each match
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Events, a JSON object or an Erlang list a line; `-` is standard input
    #[arg(long, value_name = "FILE", default_value = "-")]
    pub(crate) events: PathBuf,
    /// Pass over attributes that the domains lack
    #[arg(long)]
    pub(crate) ignore_unknown: bool,
    /// Skip events that cannot be read, and exit 3
    #[arg(long)]
    pub(crate) keep_going: bool,
    #[command(flatten)]
    pub(crate) terminal: TerminalArgs,
}

impl BetreeArgs {
    /// What it reads and writes. The files of `generate` go to a directory of their own.
    pub(crate) fn files(&self) -> Files<'_> {
        match &self.command {
            BetreeCommand::Generate(args) if args.list => Files::default().stdout(Stdout::Data),
            BetreeCommand::Generate(_) => Files::default(),
            BetreeCommand::Match(args) => {
                let files = args
                    .tree
                    .files(args.analysis.files())
                    .reads("--events", &args.events)
                    .reads_some("--priorities", &args.priorities)
                    .stdout(Stdout::Data);
                #[cfg(feature = "workers")]
                let files = args.workers.files(files);
                files
            }
            BetreeCommand::Build(args) => args
                .tree
                .files(Files::default())
                .writes("-o", &args.output)
                .stderr(args.terminal.wants_report()),
            BetreeCommand::Check(args) => args
                .output
                .files()
                .reads_some("--domains", &args.domains)
                .reads("--expressions", &args.expressions)
                .reads_some("--constants", &args.constants)
                .stdout(Stdout::Data),
            BetreeCommand::Lint(args) => args.tree.files(args.output.files()).stdout(Stdout::Data),
            BetreeCommand::Explain(args) => args
                .tree
                .files(Files::default())
                .reads("--events", &args.events)
                .stdout(Stdout::Data),
            #[cfg(feature = "serve")]
            BetreeCommand::Serve(args) => args.files(),
            #[cfg(feature = "workers")]
            BetreeCommand::Feed(args) => args.files(),
            #[cfg(feature = "workers")]
            BetreeCommand::Join(args) => args.files(),
            #[cfg(feature = "workers")]
            BetreeCommand::RollOut(args) => args.files(),
        }
    }
}

impl TreeArgs {
    fn files<'a>(&'a self, files: Files<'a>) -> Files<'a> {
        files
            .reads_some("--snapshot", &self.snapshot)
            .reads_some("--domains", &self.domains)
            .reads_some("--expressions", &self.expressions)
            .reads_some("--constants", &self.constants)
    }
}
