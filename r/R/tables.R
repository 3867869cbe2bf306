# Noise by tables: masses of noise, perturbation tables of the cell-key method, pairs of distributions. An account keeps the text of its
# table, in the format that the program reads; files are written for the program when a question is asked.

# The columns of each kind of table.
TABLES <- list(table = c("value", "mass"), `p-table` = c("i", "j", "p"), pair = c("p", "q"))

noise_table <- function(table, count = 1, shift = 1, normalize = FALSE, neighbors = NULL, group = 1, times = 1, counts_as_given = FALSE) {
  of_table("table", table, count, shift, relation(neighbors, group, times, counts_as_given, normalize))
}

perturbation_table <- function(table, count = 1, shift = 1, normalize = FALSE, neighbors = NULL, group = 1, times = 1, counts_as_given = FALSE, period = NULL) {
  # An object of the package ptable has its table in a slot.
  if (isS4(table) && !is.null(attr(table, "pTable"))) table <- attr(table, "pTable")
  of_table("p-table", table, count, shift, relation(neighbors, group, times, counts_as_given, normalize, period))
}

outcome_pair <- function(table, count = 1, normalize = FALSE, neighbors = NULL, times = 1) {
  of_table("pair", table, count, 1, relation(neighbors, times = times, normalize = normalize))
}

unknown_key <- function(noise, threshold, count = 1, shift = 1, neighbors = NULL, group = 1, times = 1, counts_as_given = FALSE) {
  of_nested("unknown-key", noise, "", one_exact(threshold, "threshold"), count, shift, relation(neighbors, group, times, counts_as_given))
}

poisson_sampled <- function(rate, noise, count = 1, shift = 1, neighbors = NULL, times = 1) {
  of_nested("sampled", noise, paste0(one_exact(rate, "rate"), ":"), NA_character_, count, shift, relation(neighbors, times = times))
}

dp_sgd <- function(noise_multiplier, sample_rate = NULL, steps = NULL, batch_size = NULL, records = NULL, epochs = NULL, neighbors = NULL, times = 1) {
  batches <- !is.null(batch_size) && !is.null(records)
  if (is.null(sample_rate) != batches || is.null(batch_size) != is.null(records)) refuse("sample_rate: expected a rate, or batch_size and records in its place")
  if (is.null(steps) == is.null(epochs)) refuse("steps: expected the number of steps, or epochs in its place")
  given <- list(noise_multiplier = noise_multiplier, sample_rate = sample_rate, batch_size = batch_size, records = records, steps = steps, epochs = epochs)
  run <- unlist(Map(run_number, Filter(Negate(is.null), given), names(Filter(Negate(is.null), given))))
  if (batches && !"?" %in% run && as.numeric(run["batch_size"]) > as.numeric(run["records"])) {
    refuse("batch_size = ", run["batch_size"], ": expected at most the ", run["records"], " records")
  }
  relation <- relation(neighbors, times = times)
  if (!batches && is.null(epochs) && !"?" %in% run) return(of_rows("dp-sgd", run[["sample_rate"]], run[["noise_multiplier"]], steps, 1, relation))
  of_rows(TRAINING, run[["noise_multiplier"]], paste(option(gsub("_", "-", names(run)[-1L], fixed = TRUE), run[-1L]), collapse = " "), 1, 1, relation)
}

# A training run by batches or epochs, in the program's own options: the steps are computed there, exactly.
TRAINING <- "noise-multiplier"

# A number of a training run, or the question mark of find_number().
run_number <- function(x, what) {
  if (identical(x, "?")) return(x)
  if (what %in% c("batch_size", "records", "steps")) whole_text(x, what) else one_exact(x, what)
}

# A second run has no options of its own: it is written as its rate and its steps.
separate_runs <- function(counts) {
  runs <- which(counts$law == TRAINING)
  if (length(runs) < 2L) return(counts)
  for (at in runs) {
    run <- as.list(run_options(counts$second[at]))
    if (!is.null(run$epochs) && (is.null(run$records) || !grepl("^[0-9]+$", run$epochs))) {
      refuse("epochs = ", run$epochs, ": of several training runs each needs its steps, or whole epochs of batches")
    }
    steps <- if (is.null(run$epochs)) as.numeric(run$steps) else as.numeric(run$epochs) * -((-as.numeric(run$records)) %/% as.numeric(run$`batch-size`))
    rate <- if (is.null(run$records)) run$`sample-rate` else paste0(run$`batch-size`, "/", run$records)
    counts[at, c("law", "parameter", "second", "count")] <- list("dp-sgd", rate, counts$parameter[at], whole_text(steps, "steps"))
  }
  counts
}

run_options <- function(second) {
  parts <- strsplit(sub("^--", "", strsplit(second, " ", fixed = TRUE)[[1L]]), "=", fixed = TRUE)
  stats::setNames(vapply(parts, `[`, "", 2L), vapply(parts, `[`, "", 1L))
}

run_words <- function(second) {
  vapply(second, function(one) {
    run <- run_options(one)
    paste(gsub("-", " ", names(run), fixed = TRUE), run, collapse = ", ")
  }, "", USE.NAMES = FALSE)
}

# A law with another one inside it, which the program reads as LAW:PARAMETER.
of_nested <- function(law, noise, before, second, count, shift, relation) {
  inner <- as_composition(noise)
  if (nrow(inner$counts) != 1L || inner$counts$count != "1" || inner$counts$shift != "1" || length(inner$relation)) {
    refuse("noise: expected one law without count, shift and relation, as discrete_gaussian(5): give these to the outer function")
  }
  inner <- inner$counts
  if (!is.na(inner$second) || inner$law %in% c(names(TABLES), NESTED)) refuse("noise: ", law_words(inner$law, inner$parameter, inner$second), " has no place here: expected a law with one parameter")
  of_rows(law, paste0(before, inner$law, ":", inner$parameter), second, count, shift, relation)
}

NESTED <- c("unknown-key", "sampled")
NESTED_FORMS <- c("unknown-key" = "^[a-z-]+:[^:]+$", sampled = "^[^:]+:[a-z-]+:[^:]+$")

of_table <- function(law, table, count, shift, relation) {
  of_rows(law, table_text(law, table), NA_character_, count, shift, relation)
}

# The text of a data frame, or of the file at a path, or what is such a text already.
table_text <- function(law, table) {
  if (is.data.frame(table)) return(text_of_frame(law, table))
  if (is.character(table) && !is.object(table) && length(table) == 1L && !is.na(table)) {
    if (grepl("\n", table, fixed = TRUE)) return(table)
    path <- for_system(at_home(table))
    if (!file.exists(path) || dir.exists(path)) refuse("no file ", table, ": expected the path of a CSV file, or a data frame with the columns ", paste(TABLES[[law]], collapse = ", "))
    return(paste0(c(utf8(readLines(path, warn = FALSE)), ""), collapse = "\n"))
  }
  refuse(shown_value(table), ": expected a data frame with the columns ", paste(TABLES[[law]], collapse = ", "), ", or the path of a CSV file")
}

# The columns of a table by keys, as the programs of the Office for National Statistics have them.
KEYED <- c("pcv", "ckey", "pvalue")

text_of_frame <- function(law, table) {
  columns <- if (law == "p-table" && !"i" %in% names(table) && any(KEYED %in% names(table))) KEYED else TABLES[[law]]
  missing <- setdiff(columns, names(table))
  if (length(missing)) refuse("the data frame has no column ", missing[1L], ": expected ", paste(columns, collapse = ", "))
  twice <- columns[vapply(columns, function(name) sum(names(table) == name) > 1L, NA)]
  if (length(twice)) refuse("the data frame has two columns ", twice[1L])
  if (!nrow(table)) refuse("the data frame has no rows")
  fields <- lapply(columns, function(name) {
    column <- table[[name]]
    exact_text(if (is.factor(column)) as.character(column) else column, name)
  })
  paste0(c(paste(columns, collapse = ","), do.call(paste, c(fields, sep = ",")), ""), collapse = "\n")
}

# Files of this session, each with another text. They hold public masses only, and go with R's temporary folder.
WRITTEN <- new.env(parent = emptyenv())
WRITTEN$texts <- WRITTEN$paths <- character()

path_of_text <- function(text) {
  at <- match(text, WRITTEN$texts)
  if (is.na(at)) {
    WRITTEN$texts <- c(WRITTEN$texts, text)
    at <- length(WRITTEN$texts)
    WRITTEN$paths[at] <- tempfile("noise-table-", fileext = ".csv")
  }
  path <- WRITTEN$paths[at]
  if (!file.exists(path)) writeLines(as_bytes(text), path, sep = "", useBytes = TRUE)
  path
}

# What stands in an option: the path of a table's file.
option_values <- function(law, parameter) {
  is_table <- law %in% names(TABLES)
  parameter[is_table] <- vapply(parameter[is_table], path_of_text, "", USE.NAMES = FALSE)
  parameter
}

# A table in words: its number of rows.
parameter_words <- function(law, parameter) {
  is_table <- law %in% names(TABLES)
  rows <- function(text) sum(nzchar(trimws(strsplit(text, "\n", fixed = TRUE)[[1L]]))) - 1L
  parameter[is_table] <- vapply(parameter[is_table], function(text) as.character(rows(text)), "", USE.NAMES = FALSE)
  parameter
}

# The parameters in a data frame of counts, each as its law has it.
parameters_of <- function(law, given) {
  if (is.factor(given)) given <- as.character(given)
  special <- law %in% c(names(TABLES), NESTED)
  if (!any(special)) return(exact_text(given, "parameter"))
  texts <- as.character(given)
  if (any(!special)) texts[!special] <- exact_text(given[!special], "parameter")
  for (at in which(special)) {
    if (law[at] %in% names(TABLES)) texts[at] <- table_text(law[at], texts[at])
    else if (is.na(texts[at]) || !grepl(NESTED_FORMS[[law[at]]], texts[at])) {
      refuse("parameter = ", shown_value(texts[at]), ": expected ", if (law[at] == "sampled") "RATE:" else "", "LAW:PARAMETER for the law ", law[at])
    }
  }
  texts
}
