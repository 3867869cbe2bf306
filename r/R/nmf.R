# The Census Bureau's noisy measurement files.

nmf_check <- function(folder, release, delta = "1e-10", digits = 8) {
  # Status 1 comes with an answer: the files can be read and violate a rule.
  a <- answer_of(c("nmf", "check"), c(option("release", release_name(release)), option("delta", one_exact(delta, "delta")), digits_option(digits)),
    at_home(one_name(folder, "folder")), accepted = c(0L, 1L))
  a
}

nmf_estimate <- function(folder, release, queries = "total", level = NULL, tabulation = NULL, areas = NULL, states = NULL,
                         constraints = c("all", "state-totals", "none"), state_totals = NULL, truth = NULL, whole = NULL,
                         recodes = NULL, area_totals = NULL) {
  scratch <- private_folder()
  on.exit(unlink(scratch, recursive = TRUE, force = TRUE))
  out <- file.path(scratch, "estimates.csv")
  constraints <- choice(constraints, c("all", "state-totals", "none"), "constraints")
  a <- answer_of(c("nmf", "estimate"), c(
    option("release", release_name(release)), option("out", out), option("constraints", constraints),
    several("queries", queries), several("level", level), several("tabulation", tabulation),
    if (!is.null(states)) option("states", paste(state_codes(states), collapse = ",")),
    if (!is.null(areas)) option("areas", areas_file(areas, scratch)),
    if (!is.null(state_totals)) option("state-totals", totals_file(state_totals, scratch)),
    if (!is.null(area_totals)) option("area-totals", area_totals_file(area_totals, scratch)),
    if (!is.null(recodes)) option("recodes", at_home(one_name(recodes, "recodes"))),
    if (!is.null(truth)) option("truth", at_home(one_name(truth, "truth"))),
    if (!is.null(whole)) (if (length(whole)) several("whole", whole) else "--whole")
  ), at_home(one_name(folder, "folder")))
  # Temporary files, which are removed when this returns.
  a$out <- NULL
  a$provenance$command_line <- NULL
  frame <- estimate_columns(out)
  shown <- setdiff(names(frame), c("geocode", "part", "cell", "variance"))
  answer(frame, "estimates", a, c(
    paste0("Estimates from noisy measurements of ", a$release, if (length(a$states)) paste0(", states ", paste(texts(a$states), collapse = ", "))),
    if (!is.null(a$weights)) "Weights of blocks are taken as given: margins do not have their error.",
    "Least squares in doubles: approximations. Margins are of 95 %, for the noise alone. Never add variances: request the sum as an area."
  ), shown)
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
  writeLines(enc2utf8(lines), path, useBytes = TRUE)
  path
}

WHOLE_COLUMNS <- c("cell", "count")
DOUBLE_COLUMNS <- c("estimate", "variance", "std_dev", "margin_95", "margin_95_of_unbiased_estimate", "truth")

estimate_columns <- function(path) {
  frame <- utils::read.csv(path, colClasses = "character", check.names = FALSE, na.strings = character(), encoding = "UTF-8", stringsAsFactors = FALSE)
  # "estimate (insecure seed 7)" is a column of estimates.
  kind <- sub(" .*", "", names(frame))
  for (at in which(kind %in% c(WHOLE_COLUMNS, DOUBLE_COLUMNS))) {
    cells <- frame[[at]]
    cells[!nzchar(cells)] <- NA
    frame[[at]] <- as.numeric(cells)
  }
  frame
}
