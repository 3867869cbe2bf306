# The Census Bureau's noisy measurement files.

nmf_check <- function(folder, release, delta = "1e-10", digits = 8) {
  # Status 1 comes with an answer: the files can be read and violate a rule.
  a <- answer_of(c("nmf", "check"), c(option("release", release_name(release)), option("delta", one_exact(delta, "delta")), digits_option(digits)),
    at_home(one_name(folder, "folder")), accepted = c(0L, 1L))
  structure(a, class = "dpassay_check")
}

print.dpassay_check <- function(x, ...) {
  missing <- unlist(lapply(names(x$missing), function(kind) {
    found <- x$missing[[kind]]
    if (identical(found, TRUE)) kind else if (length(found) && !identical(found, FALSE)) paste(kind, paste(texts(found), collapse = ", "))
  }))
  ends <- c(rounded_text(x$epsilon$lower, 10, -1), rounded_text(x$epsilon$upper, 10, 1))
  cat(paste0(x$product, ": ", x$files, " files, parts ", paste(texts(x$parts), collapse = ", ")),
    if (isTRUE(x$sound)) paste("sound: the files are those of", x$release) else paste("NOT sound as files of", x$release),
    vapply(x$fit, function(one) {
      paste0(if (isTRUE(one$fits)) "the counts fit each other" else "MISFIT: the counts do not fit each other", " (p bound ", one$p_bound_corrected, " of ", one$tests, " tests)")
    }, ""),
    if (length(missing)) paste("missing:", paste(missing, collapse = "; ")),
    if (is_enclosure(x$epsilon)) paste0("epsilon ", if (!is.null(x$epsilon_is)) paste0(x$epsilon_is, " "), "[", ends[1L], ", ", ends[2L], "] at delta = ", x$delta),
    "", sep = "\n")
  put_columns(list(
    level = vapply(x$levels, `[[`, "", "name"), units = vapply(x$levels, `[[`, "", "units"), with_counts = vapply(x$levels, `[[`, "", "measured"),
    noisy_counts = vapply(x$levels, `[[`, "", "noisy_counts")
  ))
  invisible(x)
}

# The census variables, or without codes the tables of them.
nmf_codes <- function(codes = character()) {
  a <- answer_of(c("nmf", "codes"), names = names_of(codes, "codes"))
  if (!is.null(a$tables)) {
    frame <- bound(a$tables)
    frame$variables <- number_or_text(frame$variables)
    return(answer(frame, "codes", a, "Tables of census variables: name one, as nmf_codes(\"P1\"), for its variables", base::names(frame)))
  }
  answer(bound(a$variables), "codes", a, "Census variables for nmf_estimate(variables = )", c("variable", "product", "adds_up_to", "label"))
}

# Every option of `assay nmf estimate` that a session of R has a use for; r/tests/testthat/test-options.R compares them.
nmf_estimate <- function(folder, release, queries = NULL, level = NULL, tabulation = NULL, areas = NULL, states = NULL,
                         constraints = c("all", "state-totals", "none"), state_totals = NULL, truth = NULL, whole = NULL,
                         recodes = NULL, area_totals = NULL, variables = NULL, wide = FALSE, confidence = 95, non_negative = FALSE, names = NULL,
                         difference = NULL, share = NULL, rank = NULL, median = NULL, covariance = FALSE, svg = NULL, published = NULL,
                         work = NULL, part = NULL, combine = FALSE, incomplete = FALSE, despite_misfit = FALSE, multiline = FALSE) {
  scratch <- private_folder()
  on.exit(unlink(scratch, recursive = TRUE, force = TRUE))
  out <- file.path(scratch, "estimates.csv")
  covariances <- file.path(scratch, "covariances.csv")
  constraints <- choice(constraints, c("all", "state-totals", "none"), "constraints")
  confidence <- confidences(confidence)
  compares <- length(difference) || length(share) || length(rank) || length(median)
  # Units of tables: both parts of a state together, so that each is one row.
  if (is.null(level) && is.null(tabulation) && is.null(areas) && is.null(whole)) {
    if (length(rank)) refuse("rank: name the places by tabulation or areas: a state would be ranked among its own counties and tracts")
    tabulation <- c("State", "County", "Tract")
  }
  file_option <- function(name, value) if (!is.null(value)) option(name, at_home(one_name(value, gsub("-", "_", name))))
  flag_option <- function(name, value) if (flag(value, gsub("-", "_", name))) paste0("--", name)
  a <- answer_of(c("nmf", "estimate"), c(
    option("release", release_name(release)), option("out", out), option("constraints", constraints),
    several("queries", queries), several("variables", variables), several("level", level), several("tabulation", tabulation),
    if (!is.null(states)) option("states", paste(state_codes(states), collapse = ",")),
    if (!is.null(areas)) option("areas", areas_file(areas, scratch)),
    if (!is.null(state_totals)) option("state-totals", totals_file(state_totals, scratch)),
    if (!is.null(area_totals)) option("area-totals", area_totals_file(area_totals, scratch)),
    if (!is.null(names)) option("names", names_file(names, scratch)),
    if (!is.null(published)) option("published", published_file(published, scratch)),
    file_option("recodes", recodes), file_option("truth", truth), file_option("svg", svg), file_option("work", work),
    if (!is.null(part)) option("part", one_name(part, "part")),
    if (!is.null(whole)) (if (length(whole)) several("whole", whole) else "--whole"),
    several("difference", paired(difference, "difference", ",")), several("share", paired(share, "share", "/")),
    several("rank", rank), several("median", median), if (flag(covariance, "covariance")) option("covariance", covariances),
    # The margins of queries are computed below.
    if (length(variables) || compares) option("confidence", paste(confidence, collapse = ",")),
    flag_option("wide", wide), flag_option("non-negative", non_negative), flag_option("combine", combine), flag_option("incomplete", incomplete),
    flag_option("despite-misfit", despite_misfit), flag_option("multiline", multiline)
  ), at_home(one_name(folder, "folder")))
  # Temporary files, which are removed when this returns.
  a$out <- NULL
  a$provenance$command_line <- NULL
  # A part of a work that is not complete has no estimates.
  if (!file.exists(out)) return(a)
  places <- if (length(areas)) "areas" else if (length(tabulation)) "tabulation" else "spine"
  frame <- estimates_frame(out, a, places, confidence, length(variables) > 0L, wide)
  made <- answer(frame, "estimates", a, estimates_title(a, confidence, frame, wide), estimates_shown(frame))
  attr(made, "confidence") <- confidence[1L]
  attr(made, "compared") <- c(
    lapply(list(differences = a$differences, shares = a$shares, ranks = a$ranks, medians = a$medians, errors = a$errors), compared_frame, confidence = confidence),
    list(covariance = if (covariance) covariance_matrix(covariances))
  )
  made
}

estimates_title <- function(a, confidence, frame, wide) {
  moe <- first_confidence(paste0("moe_", confidence), confidence)
  margins <- paste0(if (wide) "CODE_", moe, " is the margin of ", confidence, " %", collapse = ", ")
  missing <- c(texts(a$missing_levels), texts(a$missing_states), texts(a$missing_parts))
  c(
    paste0("Estimates from noisy measurements of ", a$release, if (length(a$states)) paste0(", states ", paste(texts(a$states), collapse = ", "))),
    if (!is.null(a$weights)) "Weights of blocks are taken as given: margins do not have their error.",
    if (is_whole(frame)) {
      "Whole counts that add up: they cannot be negative, so they are biased, and have no known margin."
    } else {
      paste0("Least squares in doubles: approximations. ", margins, ", for the noise alone. Never add variances: request the sum as an area.")
    },
    if (length(missing)) paste0("Missing in the folder: ", paste(missing, collapse = ", ")),
    texts(a$notes),
    if (!is.null(a$insecure_seed)) paste0("INSECURE: the noise follows from seed ", a$insecure_seed)
  )
}

is_whole <- function(frame) "margin_95_of_unbiased_estimate" %in% names(frame)

# Percents as the program reads them; the column of the first has no number.
confidences <- function(confidence) {
  if (is.null(confidence)) return("95")
  texts <- some_exact(confidence, "confidence")
  bad <- grepl("/", texts, fixed = TRUE) | is.na(suppressWarnings(as.numeric(texts)))
  bad[!bad] <- as.numeric(texts[!bad]) <= 0 | as.numeric(texts[!bad]) >= 100
  if (any(bad)) refuse("confidence = ", texts[bad][1L], ": expected percent above 0 and below 100, as 90 or 99.9")
  if (anyDuplicated(texts)) refuse("confidence: ", texts[duplicated(texts)][1L], " is given twice")
  texts
}

# "A,B" as it is, or a pair c("A", "B"), or a list of pairs.
paired <- function(pairs, what, between) {
  if (is.null(pairs)) return(NULL)
  one <- function(pair) {
    if (!is.character(pair) || length(pair) != 2L || anyNA(pair)) refuse(what, ": ", shown_value(pair), ": expected two names, as c(\"44001\", \"44003\")")
    paste(pair, collapse = between)
  }
  if (is.list(pairs)) return(vapply(pairs, one, "", USE.NAMES = FALSE))
  if (is.character(pairs) && length(pairs) == 2L && !anyNA(pairs) && !any(grepl(between, pairs, fixed = TRUE))) return(one(pairs))
  pairs
}

# The differences, shares, ranks or medians of an answer, or its matrix of covariances.
compared_part <- function(x, part, argument) {
  if (!inherits(x, "dpassay_estimates")) refuse(shown_value(class(x)), ": expected estimates of nmf_estimate()")
  found <- attr(x, "compared")[[part]]
  if (is.null(found)) refuse("these estimates have no ", part, ": give ", argument, " to nmf_estimate()")
  found
}

nmf_differences <- function(x) compared_part(x, "differences", "difference")
nmf_shares <- function(x) compared_part(x, "shares", "share")
nmf_ranks <- function(x) compared_part(x, "ranks", "rank")
nmf_errors <- function(x) compared_part(x, "errors", "truth")
nmf_medians <- function(x) compared_part(x, "medians", "median")
nmf_covariance <- function(x) compared_part(x, "covariance", "covariance = TRUE")

# Texts of the answer as a data frame: doubles where they are numbers, two columns for an interval. Lists of any length are a column of vectors.
compared_frame <- function(rows, confidence) {
  if (!length(rows)) return(NULL)
  pair_names <- list(estimates = c("estimate_first", "estimate_second"))
  lists <- intersect("rank_probabilities_normal", names(rows[[1L]]))
  keys <- unique(unlist(lapply(rows, names)))
  columns <- lapply(stats::setNames(nm = setdiff(keys, lists)), function(key) {
    values <- lapply(rows, `[[`, key)
    if (max(lengths(values)) < 2L) return(list(plain = vapply(values, function(value) if (length(value)) as.character(value[[1L]]) else NA_character_, "")))
    parts <- if (is.null(pair_names[[key]])) paste0(key, c("_lower", "_upper")) else pair_names[[key]]
    ends <- function(at) vapply(values, function(value) if (length(value) < at || is.null(value[[at]])) NA_character_ else as.character(value[[at]]), "")
    stats::setNames(list(ends(1L), ends(2L)), parts)
  })
  flat <- unlist(lapply(names(columns), function(key) {
    one <- columns[[key]]
    if (identical(names(one), "plain")) stats::setNames(one, key) else one
  }), recursive = FALSE)
  named <- c("first", "second", "within", "area", "variable", "attribute", "query")
  flat[setdiff(names(flat), named)] <- lapply(flat[setdiff(names(flat), named)], number_or_text)
  frame <- structure(flat, row.names = .set_row_names(length(rows)), class = "data.frame")
  for (key in lists) frame[[key]] <- I(lapply(rows, function(row) as.numeric(texts(row[[key]]))))
  names(frame) <- first_confidence(names(frame), confidence)
  frame
}

number_or_text <- function(cells) {
  if (all(is.na(cells) | cells %in% c("TRUE", "FALSE"))) return(as.logical(cells))
  numbers <- suppressWarnings(as.numeric(cells))
  if (any(is.na(numbers) & !is.na(cells))) cells else numbers
}

# moe_95 is moe if 95 is the first confidence.
first_confidence <- function(names, confidence) {
  sub(paste0("_", gsub(".", "[.]", confidence[1L], fixed = TRUE), "(?=_|$)"), "", names, perl = TRUE)
}

covariance_matrix <- function(path) {
  frame <- texts_of_csv(path)
  rows <- paste(frame[[1L]], frame[[2L]])
  values <- vapply(frame[-(1:3)], as.numeric, numeric(nrow(frame)))
  matrix(values, nrow(frame), dimnames = list(rows, names(frame)[-(1:3)]))
}

release_name <- function(release) {
  if (!inherits(release, "dpassay_release")) return(at_home(one_name(release, "release")))
  if (length(release$levels) || length(release$relation)) refuse("release: expected a whole release, without levels, neighbors or group")
  release$name
}

several <- function(name, values) {
  values <- names_of(values, gsub("-", "_", name))
  if (length(values)) option(name, values)
}

# Codes are texts: a number has lost its leading zeros.
state_codes <- function(states) {
  if (is.numeric(states) && !is.object(states) && all(is.finite(states)) && all(states == trunc(states))) return(sprintf("%02.0f", states))
  names_of(states, "states")
}

as_pairs <- function(x, columns, what) {
  if (is.data.frame(x)) {
    missing <- setdiff(columns, names(x))
    if (length(missing)) refuse(what, ": the data frame has no column ", missing[1L], ": expected ", paste(columns, collapse = " and "))
    return(lapply(stats::setNames(columns, columns), function(name) if (is.factor(x[[name]])) as.character(x[[name]]) else x[[name]]))
  }
  if (is.null(names(x)) || anyNA(names(x)) || !all(nzchar(trimws(names(x))))) refuse(what, ": expected a list or vector with names, a data frame, or the path of a file")
  stats::setNames(list(rep(names(x), lengths(x)), unlist(x, use.names = FALSE)), columns)
}

areas_file <- function(areas, scratch) {
  if (is_text(areas) && is.null(names(areas))) return(at_home(areas))
  pairs <- as_pairs(areas, c("area", "block"), "areas")
  if (!is.character(pairs$block)) refuse("areas: blocks of type ", typeof(pairs$block), ": expected texts of 15 digits, because a number has lost its leading zeros")
  if (!length(pairs$block) || anyNA(pairs$block) || anyNA(pairs$area)) refuse("areas: no block is named, or one is missing (NA)")
  # A double is the shortest decimal that prints it.
  if (is.data.frame(areas) && "weight" %in% names(areas)) pairs$weight <- trimws(as.character(areas$weight))
  written(pairs, file.path(scratch, "areas.csv"))
}

area_totals_file <- function(totals, scratch) {
  if (is_text(totals) && is.null(names(totals))) return(at_home(totals))
  pairs <- as_pairs(totals, c("area", "total"), "area_totals")
  pairs$total <- vapply(pairs$total, whole_text, "", what = "area_totals", least = 0)
  written(pairs, file.path(scratch, "area-totals.csv"))
}

totals_file <- function(totals, scratch) {
  if (is_text(totals) && is.null(names(totals))) return(at_home(totals))
  pairs <- as_pairs(totals, c("state", "total"), "state_totals")
  pairs$state <- state_codes(pairs$state)
  pairs$total <- vapply(pairs$total, whole_text, "", what = "state_totals", least = 0)
  written(pairs, file.path(scratch, "totals.csv"))
}

# A private file in a private folder.
written <- function(columns, path) {
  old <- Sys.umask("077")
  on.exit(Sys.umask(old))
  quoted <- function(cells) paste0("\"", gsub("\"", "\"\"", cells, fixed = TRUE), "\"")
  lines <- c(paste(names(columns), collapse = ","), do.call(paste, c(lapply(unname(columns), quoted), sep = ",")))
  writeLines(as_bytes(lines), path, useBytes = TRUE)
  path
}

# Names of places: a vector named by GEOID, or a data frame.
names_file <- function(given, scratch) {
  if (is_text(given) && is.null(names(given))) return(at_home(given))
  pairs <- as_pairs(given, c("GEOID", "NAME"), "names")
  if (!length(pairs$GEOID) || anyNA(pairs$GEOID) || anyNA(pairs$NAME)) refuse("names: no place is named, or one is missing (NA)")
  if (!is.character(pairs$GEOID)) refuse("names: GEOID of type ", typeof(pairs$GEOID), ": expected texts, because a number has lost its leading zeros")
  written(pairs, file.path(scratch, "names.csv"))
}

published_file <- function(given, scratch) {
  if (is_text(given) && is.null(names(given))) return(at_home(given))
  place <- "geoid"
  if (is.data.frame(given)) {
    names(given)[names(given) == "GEOID"] <- "geoid"
    place <- c(intersect(c("geoid", "geocode", "area"), names(given)), "geoid")[1L]
  }
  pairs <- as_pairs(given, c(place, "count"), "published")
  if (!is.character(pairs[[place]])) refuse("published: ", place, " of type ", typeof(pairs[[place]]), ": expected texts, because a number has lost its leading zeros")
  pairs$count <- vapply(pairs$count, whole_text, "", what = "published", least = 0)
  written(pairs, file.path(scratch, "published.csv"))
}

texts_of_csv <- function(path) {
  utils::read.csv(path, colClasses = "character", check.names = FALSE, na.strings = character(), encoding = "UTF-8", stringsAsFactors = FALSE)
}

# A GEOID of a tabulation unit has the digits of its level.
LEVEL_OF_DIGITS <- c("2" = "State", "5" = "County", "11" = "Tract", "12" = "Block_Group", "15" = "Block")

# The file of the program with the columns of tidycensus: GEOID, NAME, variable, estimate and moe, and then everything else.
estimates_frame <- function(path, a, places, confidence, by_variables, wide) {
  frame <- texts_of_csv(path)
  # "estimate (insecure seed 7)": the seed has a column of its own.
  names(frame) <- sub(" [(]insecure seed [0-9]+[)]$", "", names(frame))
  numbers <- grepl("^(cell|estimate|count|variance|std_dev)$|(^|_)(moe|lower|upper|margin)_[0-9]", names(frame))
  if (wide) numbers <- numbers | !names(frame) %in% c("GEOID", "NAME", "level", "geocode", "part")
  frame[] <- Map(function(column, is_number) {
    column[!nzchar(column)] <- NA
    if (is_number) as.numeric(column) else column
  }, frame, numbers)
  if (by_variables) names(frame) <- first_confidence(names(frame), confidence) else frame <- of_queries(frame, places, confidence)
  if (places == "areas") frame$NAME <- frame$GEOID
  if (!by_variables) frame <- with_races(frame, a$release)
  if (!is.null(a$insecure_seed)) frame$insecure_seed <- rep(a$insecure_seed, nrow(frame))
  frame
}

# The attribute cenrace has the numbers 0 to 62 of the Bureau's code. Their names are those of the lines of P1 that have no lines below them, in this order.
with_races <- function(frame, release) {
  if (is.null(frame$cenrace) || !grepl("^(pl94|dhc|dhc-demo)-persons-(us|pr)$", release) || !all(is.na(frame$cenrace) | frame$cenrace %in% 0:62)) return(frame)
  lines <- Filter(function(line) line$product == "persons", answer_of(c("nmf", "codes"), names = "P1")$variables)
  parents <- vapply(lines, `[[`, "", "adds_up_to")
  names_of_lines <- vapply(Filter(function(line) !line$variable %in% parents, lines), function(line) sub(".*!!", "", line$label), "")
  at <- match("cenrace", names(frame))
  frame$race <- names_of_lines[as.integer(frame$cenrace) + 1L]
  frame[append(setdiff(names(frame), "race"), "race", after = at)]
}

of_queries <- function(frame, places, confidence) {
  own <- c("level", "geocode", "geoid", "area", "part", "query", "cell", "estimate", "count", "variance", "std_dev", "margin_95", "margin_95_of_unbiased_estimate")
  labels <- frame[setdiff(names(frame), own)]
  geoid <- if (is.null(frame$area)) frame$geoid else frame$area
  level <- switch(places, spine = frame$level, areas = rep("area", nrow(frame)), tabulation = unname(LEVEL_OF_DIGITS[as.character(nchar(geoid))]))
  start <- list(GEOID = geoid, NAME = rep(NA_character_, nrow(frame)), variable = cell_names(frame$query, labels), query = frame$query, cell = frame$cell)
  numbers <- if (is.null(frame$count)) {
    margins <- lapply(stats::qnorm((1 + as.numeric(confidence) / 100) / 2), function(deviations) deviations * frame$std_dev)
    c(list(estimate = frame$estimate), stats::setNames(margins, first_confidence(paste0("moe_", confidence), confidence)), frame[c("variance", "std_dev")])
  } else {
    c(list(estimate = frame$count, moe = rep(NA_real_, nrow(frame))), frame["margin_95_of_unbiased_estimate"])
  }
  columns <- c(start, as.list(labels), numbers, list(level = level), frame[intersect(c("geocode", "part"), names(frame))])
  structure(lapply(columns, as.vector), row.names = .set_row_names(nrow(frame)), class = "data.frame")
}

# The name of each cell as difference, share and rank take it: "votingage * hispanic: below-18; hispanic".
cell_names <- function(query, labels) {
  named <- query
  for (one in unique(query)) {
    rows <- which(query == one)
    parts <- trimws(strsplit(one, "*", fixed = TRUE)[[1L]])
    columns <- if (all(parts %in% names(labels))) parts else names(labels)[!vapply(labels[rows, , drop = FALSE], function(column) all(is.na(column)), NA)]
    if (length(columns)) named[rows] <- paste0(one, ": ", do.call(paste, c(unname(labels[rows, columns, drop = FALSE]), sep = "; ")))
  }
  named
}

# What is printed: the part and the code of the spine only where rows would look alike without them.
estimates_shown <- function(frame) {
  keys <- intersect(c("level", "GEOID", "variable"), names(frame))
  has <- function(name) !is.null(frame[[name]]) && !all(is.na(frame[[name]]))
  part <- if (has("part")) "part"
  alike <- any(is.na(frame$GEOID) & !frame$level %in% "US") || anyDuplicated(frame[c(keys, part)]) > 0L
  hidden <- c("query", "cell", "label", "variance", "std_dev", "geocode", "part", "insecure_seed", if (!has("NAME") || identical(frame$NAME, frame$GEOID)) "NAME")
  labels <- if (!is.null(frame$query)) setdiff(names(frame)[seq_along(frame) > match("cell", names(frame)) & seq_along(frame) < match("estimate", names(frame))], hidden)
  rest <- setdiff(names(frame), c(hidden, setdiff(labels, "race"), "level", "GEOID", "NAME"))
  c("level", "GEOID", if (!"NAME" %in% hidden) "NAME", part, if (alike && has("geocode")) "geocode", rest)
}

print.dpassay_estimates <- function(x, ...) {
  NextMethod()
  compared <- attr(x, "compared")
  for (name in names(compared)) {
    one <- compared[[name]]
    if (is.null(one)) next
    if (is.matrix(one)) {
      cat("\nCovariances of ", nrow(one), " counts: nmf_covariance()\n", sep = "")
      next
    }
    how <- if (name == "errors") " against the true counts" else ", errors taken as normal"
    cat("\n", toupper(substr(name, 1L, 1L)), substring(name, 2L), how, ": nmf_", name, "()\n", sep = "")
    columns <- one[!vapply(one, is.list, NA)]
    put_columns(lapply(columns, short_exact, digits = 12))
  }
  invisible(x)
}
