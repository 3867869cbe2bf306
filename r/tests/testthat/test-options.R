# Every option of the program has an argument here, or a reason why it has none. The options are read from the help of the program, so that none can be
# forgotten: a new one fails this test until it has its line.

# The functions of each command. `account` are the functions that say what is accounted for.
account <- c(
  "release", "composition", "discrete_gaussian", "discrete_laplace", "noise_table", "perturbation_table", "outcome_pair", "truncated_gaussian", "truncated_laplace",
  "staircase", "random_rounding", "randomized_response", "dp_sgd"
)
COMMANDS <- list(
  "epsilon" = c("epsilon", account), "delta" = c("delta", account), "curve" = c("privacy_profile", account), "tradeoff" = c("tradeoff", account),
  "compare" = c("compare", account), "calibrate" = c("calibrate", "find_number", account), "allocate" = c("allocate", "release"), "ledger" = "ledger",
  "releases" = "releases", "verify" = "verify", "sample" = c("sample_noise", account), "noise" = c("add_noise", account), "risk bound" = c("risk", account),
  "risk curve" = c("risk_curve", account), "risk single" = "risk_single", "risk hierarchical" = "risk_hierarchical", "nmf check" = "nmf_check",
  "nmf codes" = "nmf_codes", "nmf estimate" = "nmf_estimate"
)

# Arguments of another name, as FUNCTION:ARGUMENT.
RENAMED <- c(
  "law" = "composition:...", "level" = "release:levels", "repeat" = "composition:times", "discrete-gaussian" = "discrete_gaussian:sigma2",
  "discrete-laplace" = "discrete_laplace:epsilon", "truncated-gaussian" = "truncated_gaussian:sigma2", "truncated-laplace" = "truncated_laplace:epsilon",
  "randomized-response" = "randomized_response:epsilon", "sample count" = "sample_noise:n", "noise column" = "add_noise:noise",
  "release" = "release:name", "epsilon queries" = "epsilon:by", "per-level" = "calibrate:scale_all", "staircase" = "staircase:epsilon"
)

ANSWER <- "the answer is a data frame: about(x) has the program's own"
KEYS <- "the keys of cells belong to the records of an office, whose software keeps them: run the program"
DESIGNS <- "the package ptable designs tables in R; the program writes a file"
WRITES <- "it writes a file that the program keeps: run it"
# Options without an argument, alone or of one command, each with the reason.
LEFT_OUT <- c(
  "help" = "?name has it", "version" = "packageVersion() has it", "format" = ANSWER, "json" = ANSWER, "json-strings" = ANSWER, "csv" = "write.csv() writes an answer",
  "curve svg" = "plot() draws an answer", "tradeoff svg" = "plot() draws an answer", "compare svg" = "plot() draws an answer", "calibrate svg" = "plot() draws an answer",
  "risk bound svg" = "plot() draws an answer", "risk curve svg" = "plot() draws an answer", "risk single svg" = "plot() draws an answer", "risk hierarchical svg" = "plot() draws an answer",
  "nmf estimate out" = "the answer is a data frame", "nmf estimate files" = "the answer is a data frame", "nmf check fit" = "the list always has it",
  "ledger new" = WRITES, "ledger show" = "print the file: nothing is computed", "ledger add" = WRITES, "ledger check" = "it is a part of adding to the file", "ledger promise" = WRITES,
  "ledger population" = "it is that of an addition; the answer has all", "ledger name" = WRITES, "ledger times" = WRITES, "ledger partition" = WRITES, "ledger part" = WRITES,
  "ledger adaptive" = WRITES, "ledger withdraw" = WRITES, "ledger never-drawn" = WRITES, "ledger because" = WRITES,
  "releases new" = WRITES, "releases show" = "it prints the text of a file", "verify new" = WRITES, "verify out" = WRITES, "verify reproducible" = WRITES,
  "verify certificates" = "certificates are checked by the program and by check.py",
  "noise p-table" = KEYS, "noise keys" = KEYS, "noise period" = KEYS,
  "calibrate variance" = DESIGNS, "calibrate bound" = DESIGNS, "calibrate blocked" = DESIGNS, "calibrate key-count" = DESIGNS, "calibrate table-out" = DESIGNS,
  "noise out" = "the noisy counts are returned, and no file is read or written", "noise force" = "no file is written", "noise multiline" = "no file is read"
)

COMMANDS_LEFT_OUT <- c(
  explain = "the method of an answer is in its column method", prove = WRITES, report = WRITES, memo = WRITES, explore = "it is a page for the browser",
  audit = "it reads a file of draws", errors = "it reads a file of counts", simulate = "it reads a file of counts", laws = "?accounts lists them", schema = "it lists the attributes of a release",
  spine = WRITES, measure = WRITES, estimate = "its forms are nmf_estimate() and published_counts(); the other works on the folders of measure", tabulate = WRITES,
  tune = "it is for runs of tabulate", rehearse = "it is for runs of tabulate", deployments = "it judges the bundled registry", figures = WRITES, completions = "it is for shells",
  man = "it is for shells", help = "it is for shells", "risk postprocess" = "it repeats a figure of a paper", "risk sampler" = "it repeats a figure of a paper",
  "nmf audit" = "it tests the noise of files, and has no estimates", "nmf compare" = "it reads two files"
)

help_of <- function(command) {
  strsplit(dpassay:::run_program(assay_program(), c(strsplit(command, " ", fixed = TRUE)[[1L]], "--help"))$out, "\n", fixed = TRUE)[[1L]]
}
options_in <- function(lines) {
  found <- regmatches(lines, regexec("^ +(?:-[A-Za-z], )?--([a-z0-9-]+)", lines, perl = TRUE))
  unique(unlist(lapply(found, `[`, 2L), use.names = FALSE)[lengths(found) > 0L])
}
subcommands_in <- function(lines) {
  inside <- grepl("^  [a-z][a-z-]+ {2,}", lines)
  sub("^  ([a-z-]+) .*", "\\1", lines[inside])
}
parameters <- function(name) names(formals(getExportedValue("dpassay", name)))
is_argument <- function(place) {
  parts <- strsplit(place, ":", fixed = TRUE)[[1L]]
  parts[2L] %in% parameters(parts[1L])
}
# The line of a table for an option of a command: its own, or that of all commands.
line_of <- function(table, command, option) table[intersect(c(paste(command, option), option), names(table))[1L]]

test_that("every option of the program has an argument, or a reason", {
  skip_without_assay()
  used <- character()
  for (command in names(COMMANDS)) {
    found <- options_in(help_of(command))
    expect_gt(length(found), 3L)
    arguments <- unlist(lapply(COMMANDS[[command]], parameters))
    for (option in found) {
      # A line of the command alone goes first: ledger(name = ) is the ledger, and --name that of an entry.
      is_special <- paste(command, option) %in% c(names(RENAMED), names(LEFT_OUT))
      if (!is_special && gsub("-", "_", option, fixed = TRUE) %in% arguments) next
      renamed <- line_of(RENAMED, command, option)
      left_out <- line_of(LEFT_OUT, command, option)
      used <- c(used, names(c(renamed, left_out)))
      is_offered <- !is.na(renamed) && is_argument(renamed) && strsplit(renamed, ":", fixed = TRUE)[[1L]][1L] %in% COMMANDS[[command]]
      expect_true(is_offered || !is.na(left_out), info = paste0("assay ", command, " --", option, " has no argument in R and no reason"))
    }
  }
  # No line is about an option that does not exist or has an argument.
  expect_setequal(c(names(RENAMED), names(LEFT_OUT)), unique(stats::na.omit(used)))
})

test_that("every command of the program has a function, or a reason", {
  skip_without_assay()
  inner <- function(group) paste(group, setdiff(subcommands_in(help_of(group)), "help"))
  commands <- c(setdiff(subcommands_in(help_of("")), c("nmf", "risk")), inner("nmf"), inner("risk"))
  expect_gt(length(commands), 30L)
  expect_setequal(commands, c(names(COMMANDS), names(COMMANDS_LEFT_OUT)))
})

test_that("every law of the program has a constructor", {
  skip_without_assay()
  named <- options_in(sub("^--", "  --", help_of("laws")))
  own <- setdiff(names(dpassay:::LAWS), dpassay:::TRAINING)
  run <- c("noise-multiplier", "sample-rate", "batch-size", "records", "steps", "epochs")
  expect_setequal(setdiff(named, c("format", "json", "json-strings", "help", "version")), c(own, run))
  expect_true(all(gsub("-", "_", run, fixed = TRUE) %in% parameters("dp_sgd")))
})
