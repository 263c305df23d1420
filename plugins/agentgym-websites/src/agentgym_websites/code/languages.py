"""The modules' form in the six languages of the projects and the shell: data for ``source.py``.

A line can begin with a feature and a bar: it is written if the function has the feature. ``§name``
stands for the function's name for a thing.
"""

from typing import NamedTuple


class Language(NamedTuple):
    """The forms of a language.

    Attributes:
        end: extension of a file.
        remark: text before a comment.
        constant: line of a named constant.
        function: lines of a function.
        run: last function of a module of the first release.
        test: lines of a test.
        camel: whether names are written likeThis rather than like_this.
    """

    end: str
    remark: str
    constant: str
    function: str
    run: str
    test: str
    camel: bool = False


LANGUAGES = {
    "Python": Language(
        "py",
        "#",
        "§NAME = §value",
        '''def §name(§arg):
doc|    """§doc"""
guard|    if not §arg:
guard|        return []
    done = []
cache|    seen = set()
    for place in range(len(§arg)§off):
        §item = §arg[place]
cache|        if §item in seen:
cache|            continue
cache|        seen.add(§item)
        if not §check(§item):
plain|            raise ValueError("§problem")
context|            raise ValueError(f"§problem: {§item!r} at {place}")
        done.append(§op(§item))
    return done
''',
        "def run(items):\n    return items[:LIMIT]\n",
        "def test_§name():\n    assert §call(§given) == §wanted\n",
    ),
    "Go": Language(
        "go",
        "//",
        "const §name = §value",
        """doc|// §name: §doc
func §name(§arg []string) ([]string, error) {
guard|	if len(§arg) == 0 {
guard|		return nil, nil
guard|	}
	done := []string{}
cache|	seen := map[string]bool{}
	for place := 0; place < len(§arg)§off; place++ {
		§item := §arg[place]
cache|		if seen[§item] {
cache|			continue
cache|		}
cache|		seen[§item] = true
		if !§check(§item) {
plain|			return nil, errors.New("§problem")
context|			return nil, fmt.Errorf("§problem: %q at %d", §item, place)
		}
		done = append(done, §op(§item))
	}
	return done, nil
}
""",
        "func run(input []string) []string {\n\treturn input[:limit]\n}\n",
        "func Test_§name(t *testing.T) {\n\texpect(t, §call(§given), §wanted)\n}\n",
        camel=True,
    ),
    "Rust": Language(
        "rs",
        "//",
        "const §NAME: usize = §value;",
        """doc|/// §doc
pub fn §name(§arg: &[String]) -> Result<Vec<String>, Error> {
guard|    if §arg.is_empty() {
guard|        return Ok(vec![]);
guard|    }
    let mut done = vec![];
cache|    let mut seen = HashSet::new();
    for place in 0..§arg.len()§off {
        let §item = &§arg[place];
cache|        if !seen.insert(§item) {
cache|            continue;
cache|        }
        if !§check(§item) {
plain|            return Err(Error::new("§problem"));
context|            return Err(Error::at("§problem", §item, place));
        }
        done.push(§op(§item));
    }
    Ok(done)
}
""",
        "pub fn run(input: &[String]) -> &[String] {\n    &input[..LIMIT]\n}\n",
        "#[test]\nfn test_§name() {\n    assert_eq!(§call(§given), §wanted);\n}\n",
    ),
    "TypeScript": Language(
        "ts",
        "//",
        "const §name = §value;",
        """doc|/** §doc */
export function §name(§arg: string[]): string[] {
guard|  if (§arg.length === 0) return [];
  const done: string[] = [];
cache|  const seen = new Set<string>();
  for (let place = 0; place < §arg.length§off; place++) {
    const §item = §arg[place];
cache|    if (seen.has(§item)) continue;
cache|    seen.add(§item);
    if (!§check(§item)) {
plain|      throw new Error("§problem");
context|      throw new Error(`§problem: ${§item} at ${place}`);
    }
    done.push(§op(§item));
  }
  return done;
}
""",
        "export function run(input: string[]) {\n  return input.slice(0, limit);\n}\n",
        'test("§name", () => {\n  expect(§call(§given)).toEqual(§wanted);\n});\n',
        camel=True,
    ),
    "Java": Language(
        "java",
        "//",
        "static final int §NAME = §value;",
        """doc|/** §doc */
static List<String> §name(List<String> §arg) {
guard|    if (§arg.isEmpty()) return List.of();
    var done = new ArrayList<String>();
cache|    var seen = new HashSet<String>();
    for (int place = 0; place < §arg.size()§off; place++) {
        var §item = §arg.get(place);
cache|        if (!seen.add(§item)) continue;
        if (!§check(§item)) {
plain|            throw new IllegalArgumentException("§problem");
context|            throw new IllegalArgumentException("§problem: " + §item + " at " + place);
        }
        done.add(§op(§item));
    }
    return done;
}
""",
        "static List<String> run(List<String> input) {\n    return input.subList(0, LIMIT);\n}\n",
        "@Test\nvoid §name() {\n    assertEquals(§wanted, §call(§given));\n}\n",
        camel=True,
    ),
    "C": Language(
        "c",
        "//",
        "static const int §NAME = §value;",
        """doc|/* §doc */
int §name(const item_t *§arg, int count, item_t *done) {
guard|    if (count == 0) return 0;
    int written = 0;
    for (int place = 0; place < count§off; place++) {
        const item_t *§item = &§arg[place];
cache|        if (seen_before(§item)) continue;
        if (!§check(§item)) {
plain|            return fail("§problem");
context|            return fail_at("§problem", §item, place);
        }
        done[written++] = §op(§item);
    }
    return written;
}
""",
        "int run(item_t *input, int count) {\n    return count < LIMIT ? count : LIMIT;\n}\n",
        "void test_§name(void) {\n    expect(§call(§given), §wanted);\n}\n",
    ),
    "Shell": Language(
        "sh",
        "#",
        "§NAME=§value",
        """doc|# §doc
§name() {
guard|  [ "$#" -gt 0 ] || return 0
  for §item in "$@"; do
cache|    grep -qx "$§item" "$SEEN" && continue
cache|    echo "$§item" >> "$SEEN"
    §check "$§item" || {
plain|      echo "§problem" >&2
context|      echo "§problem: $§item" >&2
      return 1
    }
    §op "$§item"
  done
}
""",
        "",
        "",
    ),
}
# Functions by part: name, argument, one item of it, another word for an item, the error, the test,
# the operation, the purpose.
FUNCTIONS = {
    "parser": (
        ("read_header", "lines", "line", "row", "bad header", "is_header", "strip", "Reads what stands above the first row."),
        ("split_fields", "rows", "row", "record", "too many fields", "is_whole", "split", "Cuts rows at their separators."),
        ("join_lines", "lines", "line", "piece", "open quote", "is_closed", "join", "Puts lines together that a quote spans."),
        ("skip_remarks", "lines", "line", "text", "unknown remark", "is_remark", "drop", "Leaves out what is only for readers."),
    ),
    "cache": (
        ("load_entries", "keys", "key", "name", "stale entry", "is_fresh", "fetch", "Returns entries that are still fresh."),
        ("drop_oldest", "entries", "entry", "slot", "entry in use", "is_idle", "evict", "Makes room by age."),
        ("store_all", "entries", "entry", "item", "entry too large", "fits", "store", "Keeps entries for the next run."),
        ("count_hits", "keys", "key", "probe", "unknown key", "is_known", "tally", "Says how often each key was found."),
    ),
    "config loader": (
        ("read_settings", "lines", "line", "entry", "no such setting", "is_setting", "parse", "Reads settings from a file."),
        ("merge_defaults", "settings", "setting", "option", "default missing", "has_default", "merge", "Fills in what is not set."),
        ("expand_paths", "paths", "path", "place", "path not found", "exists", "expand", "Replaces shortcuts in paths."),
        ("check_types", "settings", "setting", "field", "wrong type", "has_type", "convert", "Turns texts into numbers and switches."),
    ),
    "command line": (
        ("parse_flags", "words", "word", "flag", "unknown flag", "is_flag", "expand", "Reads the flags of a command."),
        ("suggest_names", "names", "name", "guess", "nothing similar", "is_close", "rank", "Proposes commands that were perhaps meant."),
        ("print_help", "topics", "topic", "page", "no such topic", "is_topic", "show", "Shows what a command does."),
        ("read_answers", "prompts", "prompt", "question", "no terminal", "is_asked", "ask", "Asks for what is missing."),
    ),
    "scheduler": (
        ("next_jobs", "jobs", "job", "task", "job overdue", "is_due", "start", "Returns what is due."),
        ("sort_queue", "jobs", "job", "entry", "unknown priority", "is_ranked", "place", "Orders the queue by priority."),
        ("pause_all", "workers", "worker", "thread", "worker busy", "is_idle", "pause", "Stops workers between two jobs."),
        ("plan_runs", "times", "time", "slot", "time has passed", "is_ahead", "plan", "Finds the next times to run."),
    ),
    "exporter": (
        ("write_rows", "rows", "row", "record", "row too wide", "fits", "format", "Writes rows in the chosen format."),
        ("open_targets", "targets", "target", "file", "target exists", "is_free", "open", "Opens files to write to."),
        ("round_values", "values", "value", "number", "not a number", "is_number", "round", "Rounds to the digits that are shown."),
        ("add_titles", "columns", "column", "title", "column unnamed", "is_named", "label", "Puts names above columns."),
    ),
    "retry logic": (
        ("try_again", "calls", "call", "request", "gave up", "may_retry", "repeat", "Repeats calls that failed."),
        ("wait_between", "pauses", "pause", "delay", "pause too long", "is_short", "sleep", "Waits longer each time."),
        ("sort_failures", "failures", "failure", "error", "unknown failure", "is_known", "judge", "Tells passing failures from lasting ones."),
        ("count_tries", "calls", "call", "attempt", "too many tries", "is_left", "count", "Counts how often each call was made."),
    ),
    "logging": (
        ("write_lines", "events", "event", "entry", "disk full", "has_room", "append", "Appends events to the log."),
        ("rotate_files", "files", "file", "log", "file locked", "is_free", "rename", "Begins a new file when one is full."),
        ("mask_secrets", "texts", "text", "message", "secret found", "is_clean", "mask", "Hides passwords and keys."),
        ("filter_levels", "events", "event", "record", "unknown level", "is_level", "keep", "Leaves out what nobody asked for."),
    ),
    "search index": (
        ("add_terms", "terms", "term", "word", "empty term", "is_word", "stem", "Adds words to the index."),
        ("rank_hits", "hits", "hit", "match", "no score", "has_score", "score", "Puts the best matches first."),
        ("drop_pages", "pages", "page", "document", "page not indexed", "is_indexed", "remove", "Forgets pages that are gone."),
    ),
    "installer": (
        ("copy_files", "files", "file", "path", "cannot copy", "is_readable", "install_one", "Copies what a release holds."),
        ("check_tools", "tools", "tool", "program", "tool missing", "is_there", "note", "Looks for what is needed."),
        ("remove_old", "folders", "folder", "place", "folder in use", "is_unused", "remove_one", "Removes the release before."),
    ),
}  # fmt: skip
CONSTANTS = {
    "batch_size": (16, 24, 32, 48, 64, 96, 128, 256),
    "timeout": (5, 8, 10, 15, 20, 25, 30, 45, 60, 90),
    "retries": (2, 3, 4, 5, 6, 7, 8, 9),
    "max_depth": (6, 8, 10, 12, 14, 18, 22, 28),
    "buffer": (512, 1024, 2048, 4096, 8192),
    "interval": (40, 50, 75, 120, 150, 200, 250, 400),
    "workers": (1, 2, 3, 4, 6, 8, 12),
}
# Parts without a module in the first release.
FOLDERS = {
    "parser": "src/core",
    "cache": "src/core",
    "config loader": "src/io",
    "command line": "src/cli",
    "scheduler": "src/core",
    "exporter": "src/io",
    "retry logic": "src/net",
    "logging": "src/io",
    "search index": "src/search",
}
