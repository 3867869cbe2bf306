# What is accounted for: counts with noise, or a release. Both have the relation between neighbors.

# The laws by the names of the program's options, in words with their parameters.
LAWS <- c(
  "discrete-gaussian" = "discrete Gaussian noise, sigma2 = %s", "discrete-laplace" = "discrete Laplace noise, epsilon = %s", gaussian = "Gaussian noise, sigma2 = %s",
  laplace = "continuous Laplace noise, scale = %s",
  "truncated-gaussian" = "truncated discrete Gaussian noise, sigma2 = %s, bound %s", "truncated-laplace" = "truncated discrete Laplace noise, epsilon = %s, bound %s",
  staircase = "staircase noise, epsilon = %s, period and first stair %s",
  "random-rounding" = "random rounding, base = %s",
  "randomized-response" = "randomized response, epsilon = %s, %s answers", exponential = "a bounded range, epsilon = %s", pure = "a guarantee of pure DP, epsilon = %s",
  approximate = "a guarantee of approximate DP, epsilon = %s, delta = %s",
  table = "the noise of a table of %s rows", "p-table" = "the cell-key noise of a table of %s rows", pair = "a pair of distributions of %s outcomes",
  "unknown-key" = "a key shown by %s, threshold %s", sampled = "a Poisson-sampled step of %s",
  "dp-sgd" = "a step of DP-SGD, rate %s, noise multiplier %s",
  "noise-multiplier" = "a training run with DP-SGD, noise multiplier %s, %s"
)
TWO_PARAMETERS <- names(LAWS)[lengths(gregexpr("%s", LAWS, fixed = TRUE)) == 2L]

discrete_gaussian <- function(sigma2, count = 1, shift = 1, neighbors = NULL, group = 1, times = 1, counts_as_given = FALSE) {
  of_one_law("discrete-gaussian", sigma2, "sigma2", count, shift, relation(neighbors, group, times, counts_as_given))
}

discrete_laplace <- function(epsilon, count = 1, shift = 1, neighbors = NULL, group = 1, times = 1, counts_as_given = FALSE) {
  of_one_law("discrete-laplace", epsilon, "epsilon", count, shift, relation(neighbors, group, times, counts_as_given))
}

continuous_gaussian <- function(sigma2, count = 1, shift = 1, neighbors = NULL, group = 1, times = 1, counts_as_given = FALSE) {
  of_one_law("gaussian", sigma2, "sigma2", count, shift, relation(neighbors, group, times, counts_as_given))
}

continuous_laplace <- function(scale, count = 1, shift = 1, neighbors = NULL, group = 1, times = 1, counts_as_given = FALSE) {
  of_one_law("laplace", scale, "scale", count, shift, relation(neighbors, group, times, counts_as_given))
}

truncated_laplace <- function(epsilon, bound, count = 1, shift = 1, neighbors = NULL, group = 1, times = 1, counts_as_given = FALSE) {
  of_one_law("truncated-laplace", epsilon, "epsilon", count, shift, relation(neighbors, group, times, counts_as_given), one_exact(bound, "bound"))
}

truncated_gaussian <- function(sigma2, bound, count = 1, shift = 1, neighbors = NULL, group = 1, times = 1, counts_as_given = FALSE) {
  of_one_law("truncated-gaussian", sigma2, "sigma2", count, shift, relation(neighbors, group, times, counts_as_given), one_exact(bound, "bound"))
}

staircase <- function(epsilon, period, first, count = 1, shift = 1, neighbors = NULL, group = 1, times = 1, counts_as_given = FALSE) {
  stairs <- paste(one_exact(period, "period"), one_exact(first, "first"), sep = ":")
  of_one_law("staircase", epsilon, "epsilon", count, shift, relation(neighbors, group, times, counts_as_given), stairs)
}

random_rounding <- function(base, count = 1, shift = 1, neighbors = NULL, group = 1, times = 1, counts_as_given = FALSE) {
  of_one_law("random-rounding", base, "base", count, shift, relation(neighbors, group, times, counts_as_given))
}

randomized_response <- function(epsilon, answers = 2, count = 1, neighbors = NULL, times = 1) {
  of_one_law("randomized-response", epsilon, "epsilon", count, 1, relation(neighbors, times = times), one_exact(answers, "answers"))
}

bounded_range <- function(epsilon, count = 1, neighbors = NULL, group = 1, times = 1) {
  of_one_law("exponential", epsilon, "epsilon", count, 1, relation(neighbors, group, times))
}

pure <- function(epsilon, count = 1, neighbors = NULL, group = 1, times = 1) {
  of_one_law("pure", epsilon, "epsilon", count, 1, relation(neighbors, group, times))
}

approximate <- function(epsilon, delta, count = 1, neighbors = NULL, times = 1) {
  of_one_law("approximate", epsilon, "epsilon", count, 1, relation(neighbors, times = times), one_exact(delta, "delta"))
}

of_one_law <- function(law, parameter, name, count, shift, relation, second = NA_character_) {
  of_rows(law, one_exact(parameter, name), second, count, shift, relation)
}

of_rows <- function(law, parameter, second, count, shift, relation) {
  counts <- data.frame(
    law = law, parameter = parameter, second = second, count = whole_text(count, "count"), shift = one_exact(shift, "shift"), stringsAsFactors = FALSE
  )
  account("composition", counts = counts, relation = relation)
}

account <- function(kind, ...) structure(list(...), class = c(paste0("dpassay_", kind), "dpassay_account"))

composition <- function(..., neighbors = NULL, group = 1, times = 1, counts_as_given = FALSE, normalize = FALSE, period = NULL) {
  parts <- lapply(list(...), as_composition)
  if (!length(parts)) refuse("nothing to compose: give counts with noise, as discrete_gaussian(5, count = 10)")
  own <- relation(neighbors, group, times, counts_as_given, normalize, period)
  counts <- separate_runs(do.call(rbind, lapply(parts, `[[`, "counts")))
  account("composition", counts = counts, relation = common_relation(lapply(parts, `[[`, "relation"), own))
}

as_composition <- function(x) {
  if (inherits(x, "dpassay_composition")) return(x)
  if (inherits(x, "dpassay_release")) refuse("a release cannot be composed here: several releases about the same people are a ledger")
  if (is.data.frame(x)) return(of_frame(x))
  if (is.character(x) && !is.object(x) && length(x) == 1L && !is.na(x)) return(of_text(x))
  refuse(shown_value(x), ": expected counts with noise, as discrete_gaussian(5, count = 10), \"5x10@1\", or a data frame with the columns law and parameter")
}

# "40/3x7@2" is discrete Gaussian noise, as the program reads it.
of_text <- function(text) {
  parts <- regmatches(text, regexec("^([^x@]+)(?:x([0-9]+))?(?:@([^x@]+))?$", trimws(text), perl = TRUE))[[1L]]
  if (!length(parts)) refuse("\"", text, "\": expected SIGMA2[xCOUNT][@SHIFT], as in \"40/3x7@2\"")
  discrete_gaussian(parts[2L], if (nzchar(parts[3L])) as.numeric(parts[3L]) else 1, if (nzchar(parts[4L])) parts[4L] else 1)
}

# A row for each kind of counts.
of_frame <- function(x) {
  missing <- setdiff(c("law", "parameter"), names(x))
  if (length(missing)) refuse("the data frame has no column ", missing[1L], ": expected law and parameter, and optionally count and shift")
  unknown <- setdiff(names(x), c("law", "parameter", "second", "count", "shift"))
  if (length(unknown)) refuse("unknown column ", unknown[1L], " in the data frame: expected law, parameter, second, count and shift")
  if (anyDuplicated(names(x))) refuse("the data frame has two columns ", names(x)[anyDuplicated(names(x))])
  if (!nrow(x)) refuse("the data frame has no rows: nothing to account for")
  law <- gsub("_", "-", as.character(x$law), fixed = TRUE)
  law[law == "continuous-gaussian"] <- "gaussian"
  law[law == "continuous-laplace"] <- "laplace"
  law[law == "bounded-range"] <- "exponential"
  law[law == "noise-table"] <- "table"
  law[law == "perturbation-table"] <- "p-table"
  law[law == "outcome-pair"] <- "pair"
  law[law == "poisson-sampled"] <- "sampled"
  known <- setdiff(names(LAWS), TRAINING)
  bad <- is.na(law) | !law %in% known
  if (any(law %in% TRAINING)) refuse("law \"noise-multiplier\": a training run by batches or epochs is no row of a data frame: give dp_sgd()")
  if (any(bad)) refuse("law \"", x$law[bad][1L], "\" is unknown: expected ", paste(known, collapse = ", "))
  given <- function(name) if (is.null(x[[name]])) rep(1, nrow(x)) else if (is.factor(x[[name]])) as.character(x[[name]]) else x[[name]]
  counts <- given("count")
  if (is.character(counts) && all(grepl("^[0-9]+$", counts))) counts <- as.numeric(counts)
  account("composition", relation = relation(), counts = data.frame(
    law = law, parameter = parameters_of(law, given("parameter")), second = second_of(law, x$second),
    count = vapply(counts, whole_text, "", what = "count", USE.NAMES = FALSE), shift = exact_text(given("shift"), "shift"),
    stringsAsFactors = FALSE
  ))
}

# The second parameter of the laws that have two; all others have none. Staircase noise has period and first stair there, as "4:2".
second_of <- function(law, given) {
  if (is.factor(given)) given <- as.character(given)
  if (is.null(given)) given <- rep(NA_character_, length(law))
  two <- law %in% TWO_PARAMETERS
  if (any(lone <- two & is.na(given))) refuse("law \"", law[lone][1L], "\" has two parameters: give the second in the column second")
  if (any(extra <- !two & !is.na(given))) refuse("law \"", law[extra][1L], "\" has one parameter, and the column second has another")
  texts <- rep(NA_character_, length(law))
  stairs <- law == "staircase"
  if (any(plain <- two & !stairs)) texts[plain] <- exact_text(given[plain], "second")
  texts[stairs] <- vapply(strsplit(as.character(given[stairs]), ":", fixed = TRUE), function(parts) {
    if (length(parts) != 2L) refuse("law \"staircase\": expected its period and its first stair in the column second, as in \"4:2\"")
    paste(exact_text(parts, "second"), collapse = ":")
  }, "")
  texts
}

release <- function(name, levels = NULL, neighbors = NULL, group = 1, times = 1, counts_as_given = FALSE) {
  account("release", name = at_home(one_name(name, "name")), levels = names_of(levels, "levels"),
    relation = relation(neighbors, group, times, counts_as_given)
  )
}

# The options of the program that say which data sets are neighbors, and how tables are read; none of them if they are the program's own defaults.
relation <- function(neighbors = NULL, group = 1, times = 1, counts_as_given = FALSE, normalize = FALSE, period = NULL) {
  if (!is.null(neighbors)) neighbors <- one_name(neighbors, "neighbors")
  flag(counts_as_given, "counts_as_given")
  flag(normalize, "normalize")
  c(
    if (!is.null(neighbors)) option("neighbors", neighbors),
    if (whole_text(group, "group") != "1") option("group", whole_text(group, "group")),
    if (whole_text(times, "times") != "1") option("repeat", whole_text(times, "times")),
    if (counts_as_given) "--counts-as-given",
    if (normalize) "--normalize",
    if (!is.null(period)) option("period", whole_text(period, "period"))
  )
}

common_relation <- function(parts, own) {
  given <- unique(Filter(length, parts))
  if (!length(given)) return(own)
  if (length(own) || length(given) > 1L || any(!lengths(parts))) {
    refuse("the parts are accounted for under different relations: give neighbors, group, times, counts_as_given, normalize and period to composition() alone")
  }
  given[[1L]]
}

option <- function(name, value) paste0("--", name, "=", value)

flag <- function(x, what) {
  if (!is.logical(x) || length(x) != 1L || is.na(x)) refuse(what, " = ", shown_value(x), ": expected TRUE or FALSE")
  x
}

one_name <- function(x, what) {
  if (!is.character(x) || is.object(x) || length(x) != 1L || is.na(x) || !nzchar(trimws(x))) {
    refuse(what, " = ", shown_value(x), ": expected one text")
  }
  x
}

names_of <- function(x, what) {
  if (is.null(x)) return(character())
  if (!is.character(x) || is.object(x) || anyNA(x) || !all(nzchar(trimws(x)))) refuse(what, " = ", shown_value(x), ": expected texts")
  unname(x)
}

as_account <- function(x) {
  if (inherits(x, "dpassay_account")) return(x)
  if (is.data.frame(x)) return(of_frame(x))
  refuse(
    "account = ", shown_value(x), ": expected counts with noise, as discrete_gaussian(5, count = 10), a composition(), a release(), ",
    "or a data frame with the columns law and parameter"
  )
}

account_options <- function(account) {
  account <- as_account(account)
  subject <- if (inherits(account, "dpassay_release")) {
    c(option("release", account$name), if (length(account$levels)) option("level", account$levels))
  } else {
    unlist(lapply(seq_len(nrow(account$counts)), function(row) counts_options(account$counts[row, ])))
  }
  c(subject, account$relation)
}

counts_options <- function(row) {
  if (row$law == TRAINING) return(c(option(TRAINING, row$parameter), strsplit(row$second, " ", fixed = TRUE)[[1L]]))
  with(row, option(law, paste0(option_values(law, parameter), if (!is.na(second)) paste0(":", second), if (count != "1") paste0("x", count), if (shift != "1") paste0("@", shift))))
}

`+.dpassay_composition` <- function(e1, e2) {
  if (missing(e2)) return(e1)
  composition(e1, e2)
}

# Three independent draws: three times the counts.
`*.dpassay_composition` <- function(e1, e2) {
  if (!inherits(e1, "dpassay_composition")) return(e2 * e1)
  whole_text(e2, "times")
  if (any(e1$counts$law == TRAINING)) refuse("a training run is not multiplied: give more steps or epochs, or times for runs of their own")
  e1$counts$count <- vapply(as.numeric(e1$counts$count) * e2, whole_text, "", what = "count")
  e1
}

as.data.frame.dpassay_composition <- function(x, row.names = NULL, optional = FALSE, ...) {
  data.frame(
    law = x$counts$law, parameter = x$counts$parameter, parameter_approx = approximation(ifelse(grepl("[:\n]", x$counts$parameter), NA, x$counts$parameter)), second = x$counts$second,
    count = as.numeric(x$counts$count), shift = x$counts$shift, row.names = row.names, stringsAsFactors = FALSE
  )
}

noise_words <- function(x) {
  with(x$counts, {
    words <- law_words(law, parameter, second)
    # A training run is one, and its steps are no counts.
    is_step <- grepl("^a (Poisson-sampled )?step ", words)
    words <- ifelse(law == TRAINING, words, ifelse(
      is_step, sub("^a (Poisson-sampled )?step ", "\\1steps ", words), paste0(ifelse(count == "1", "count with ", "counts with "), words)
    ))
    words <- ifelse(is_step & count == "1", sub("steps ", "step ", words), words)
    paste0(ifelse(law == TRAINING, "", paste0(count, " ")), words, ifelse(shift == "1", "", paste0(", each changed by ", shift)))
  })
}

law_words <- function(law, parameter, second) {
  parameter <- parameter_words(law, parameter)
  two <- law %in% TWO_PARAMETERS
  words <- character(length(law))
  words[!two] <- sprintf(LAWS[law[!two]], parameter[!two])
  second[law == TRAINING] <- run_words(second[law == TRAINING])
  words[two] <- sprintf(LAWS[law[two]], parameter[two], second[two])
  words
}

print.dpassay_composition <- function(x, ...) {
  cat(noise_words(x), sep = "\n")
  print_relation(x)
}

print.dpassay_release <- function(x, ...) {
  cat("release ", x$name, if (length(x$levels)) paste0(": ", paste(x$levels, collapse = ", ")), "\n", sep = "")
  print_relation(x)
}

print_relation <- function(x) {
  # As the arguments are called.
  if (length(x$relation)) cat(paste(relation_words(x$relation), collapse = ", "), "\n", sep = "")
  invisible(x)
}

relation_words <- function(options) {
  words <- sub("=", " = ", gsub("-", "_", sub("^--", "", sub("^--repeat", "--times", options)), fixed = FALSE))
  gsub("add_remove", "add-remove", words, fixed = TRUE)
}
