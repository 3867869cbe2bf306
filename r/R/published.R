# Published counts of the Detailed DHC.

published_counts <- function(counts, release, confidence = 95) {
  scratch <- private_folder()
  on.exit(unlink(scratch, recursive = TRUE, force = TRUE))
  a <- answer_of("estimate", c(
    option("published-counts", counts_file(counts, scratch)), option("release", release_name(release)),
    option("out", file.path(scratch, "intervals.csv")), option("confidence", one_exact(confidence, "confidence"))
  ))
  # Temporary files, which are removed when this returns.
  a$provenance$command_line <- NULL
  frame <- bound(a$counts)
  for (column in c("level", "count", "lower", "upper", "noisy_cells", "published_from")) frame[[column]] <- as.numeric(frame[[column]])
  title <- c(
    paste0("Intervals of ", a$confidence, " % for the true counts behind published ones of ", a$release),
    "Of one count: of many intervals some miss. A row without an interval has its reason."
  )
  answer(frame, "published", a, title, c("region_type", "geoid", "level", "group", "variable", "count", "lower", "upper", if (!all(is.na(frame$reason))) "reason"))
}

counts_file <- function(counts, scratch) {
  if (is_text(counts) && is.null(names(counts))) return(at_home(counts))
  columns <- c("region_type", "geoid", "group", "variable", "count")
  if (!is.data.frame(counts) || !all(columns %in% names(counts))) refuse("counts: expected the path of a CSV, or a data frame with the columns ", paste(columns, collapse = ", "))
  if (!is.character(counts$geoid)) refuse("counts: geoid of type ", typeof(counts$geoid), ": expected texts, because a number has lost its leading zeros")
  frame <- as.list(counts)[c(columns, intersect(c("level", "finest"), names(counts)))]
  frame$count <- vapply(frame$count, whole_text, "", what = "counts", least = 0)
  frame <- lapply(frame, as.character)
  if (anyNA(unlist(frame[columns]))) refuse("counts: a value is missing (NA)")
  if (!is.null(frame$finest)) frame$finest[is.na(frame$finest)] <- ""
  written(as.data.frame(frame, stringsAsFactors = FALSE), file.path(scratch, "counts.csv"))
}
