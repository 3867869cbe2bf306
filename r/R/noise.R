# Exact noise. The program draws it; R adds it. Confidential counts never leave R, and the noise, with which they could be computed from the
# published ones, comes through a pipe.

# Counts up to 2^52, so that the sum with any noise is exact in a double.
LARGEST <- 2^52

sample_noise <- function(noise, n, insecure_seed = NULL) {
  noise <- one_law(noise)
  n <- whole_text(n, "n", least = 0)
  if (!is.null(insecure_seed)) warn_of_seed(insecure_seed)
  drawn(noise, n, seed_of(insecure_seed, 0))
}

drawn <- function(noise, n, seed) {
  if (n == "0") return(numeric())
  parameter <- option_values(noise$law, noise$parameter)
  if (!is.na(noise$second)) parameter <- paste0(parameter, ":", noise$second)
  options <- c(option(noise$law, parameter), if (noise$normalize) "--normalize", option("count", n), if (!is.null(seed)) option("insecure-seed", seed))
  a <- answer_of("sample", options)
  values <- unlist(a$values)
  if (length(values) != as.numeric(n)) refuse("the program drew ", length(values), " samples in place of ", n)
  values <- as.numeric(values)
  if (any(abs(values) > LARGEST)) refuse("noise above 2^52, which a double may not hold exactly: ", noise$parameter, " is too much noise for R")
  values
}

# The laws that the program draws.
DRAWN <- c("discrete-gaussian", "discrete-laplace", "truncated-gaussian", "truncated-laplace", "staircase", "table", "randomized-response")

one_law <- function(noise) {
  noise <- as_composition(noise)
  if (nrow(noise$counts) != 1L) refuse("noise of ", nrow(noise$counts), " laws: expected one, as discrete_gaussian(5)")
  if (!noise$counts$law %in% DRAWN) {
    words <- law_words(noise$counts$law, noise$counts$parameter, noise$counts$second)
    refuse(words, " is not sampled: expected discrete_gaussian(), discrete_laplace(), truncated_gaussian(), truncated_laplace(), staircase(), noise_table() or randomized_response()")
  }
  noise$counts$normalize <- "--normalize" %in% noise$relation
  noise$counts
}

# Counts with noise; for randomized response the answers for true answers, which are numbered from 0.
with_noise <- function(counts, noise, drawn) {
  if (noise$law != "randomized-response") return(counts + drawn)
  (counts + drawn) %% as.numeric(noise$second)
}

# Randomized response is about answers from 0 on; all other noise is added to any count.
checked_for <- function(x, noise, what) {
  x <- checked_counts(x, what)
  if (noise$law == "randomized-response" && any(bad <- x < 0 | x >= as.numeric(noise$second))) {
    refuse(what, ": no answer in row ", which(bad)[1L], if (sum(bad) > 1L) paste0(" and ", sum(bad) - 1L, " more"), ": the ", noise$second,
      " answers are the numbers from 0 to ", exact_text(as.numeric(noise$second) - 1, "answers"))
  }
  x
}

seed_of <- function(seed, number) {
  if (is.null(seed)) return(NULL)
  # Each column has a seed of its own, or two columns would have the same noise.
  sprintf("%.0f", as.numeric(whole_text(seed, "insecure_seed", least = 0, most = 2^52)) + number)
}

warn_of_seed <- function(seed) {
  seed_of(seed, 0)
  notice("insecure seed ", seed_of(seed, 0), ": anyone who knows it can subtract the noise; never publish this", class = "dpassay_insecure_warning")
}

add_noise <- function(counts, noise, keep_metadata = FALSE, insecure_seed = NULL, keep_order = FALSE) {
  flag(keep_metadata, "keep_metadata")
  flag(keep_order, "keep_order")
  noisy <- if (is.data.frame(counts)) noisy_frame(counts, noise, keep_metadata, keep_order, insecure_seed) else {
    if (is.list(noise) && !inherits(noise, "dpassay_account")) refuse("a list of noise is for a data frame: give one noise for one vector of counts")
    noise <- one_law(noise)
    if (!is.null(dim(counts))) noisy_table(counts, noise, keep_metadata, keep_order, insecure_seed) else noisy_vector(counts, noise, keep_order, insecure_seed)
  }
  if (!is.null(insecure_seed)) warn_of_seed(insecure_seed)
  noisy
}

noisy_vector <- function(counts, noise, keep_order, insecure_seed) {
  checked <- checked_for(counts, noise, "counts")
  check_order("the counts are", checked, list(names(counts)), keep_order)
  sums <- with_noise(checked, noise, drawn(noise, whole_text(length(checked), "length", least = 0), seed_of(insecure_seed, 0)))
  names(sums) <- names(counts)
  sums
}

# Cross tables of R: of table(), xtabs() and ftable(), and matrices and arrays. What names the cells stays.
TABLE_CLASSES <- c("table", "xtabs", "ftable")
TABLE_ATTRIBUTES <- c("dim", "dimnames", "class", "row.vars", "col.vars")

noisy_table <- function(counts, noise, keep_metadata, keep_order, insecure_seed) {
  other <- setdiff(if (is.object(counts)) class(counts), TABLE_CLASSES)
  if (length(other)) refuse("counts: an object of class ", other[1L], ": expected a table of table(), xtabs() or ftable(), or a matrix of counts")
  checked <- checked_for(as.vector(unclass(counts)), noise, "counts")
  cells <- unclass(if (inherits(counts, "ftable")) as.table(counts) else counts)
  if (table_shows_order(cells)) report_order("the cells are", keep_order)
  sums <- with_noise(checked, noise, drawn(noise, whole_text(length(checked), "length", least = 0), seed_of(insecure_seed, 0)))
  extra <- setdiff(names(attributes(counts)), TABLE_ATTRIBUTES)
  attributes(sums) <- attributes(counts)[if (keep_metadata) names(attributes(counts)) else setdiff(names(attributes(counts)), extra)]
  if (keep_metadata && length(extra)) notice("copied without noise: ", paste("attribute", extra, collapse = "; "), class = "dpassay_metadata_warning")
  sums
}

# Whether a table has its cells, or the totals of its rows, columns and so on, in their true order.
table_shows_order <- function(cells) {
  keys <- dimnames(cells)
  has_keys <- which(!vapply(seq_along(dim(cells)), function(at) is.null(keys[[at]]), NA))
  if (!length(has_keys) || !length(cells)) return(FALSE)
  # Two columns that a code book orders stand by their totals half of the time, and every row has them so.
  totals <- Filter(function(at) length(dim(cells)) == 1L || dim(cells)[at] > 2L, has_keys)
  by_totals <- vapply(totals, function(at) shows_order(as.vector(apply(cells, at, sum)), list(keys[[at]])), NA)
  # The last key varies fastest, as in a sorted data frame.
  rows <- aperm(cells, rev(seq_along(dim(cells))))
  key_of <- function(at) keys[[at]][as.vector(slice.index(rows, length(dim(cells)) + 1L - at))]
  any(by_totals) || shows_order(as.vector(rows), lapply(has_keys, key_of))
}

# The counts as doubles that are exactly the counts, or a refusal that does not show any of them.
checked_counts <- function(x, what) {
  if (is.object(x)) refuse(what, ": an object of class ", class(x)[1L], ": expected integers, or whole numbers as doubles")
  if (!is.numeric(x) || !is.null(dim(x))) refuse(what, ": expected a vector of integers, or of whole numbers as doubles")
  x <- as.vector(x)
  row <- function(bad) paste0(" in row ", which(bad)[1L], if (sum(bad) > 1L) paste0(" and ", sum(bad) - 1L, " more"))
  if (anyNA(x)) refuse(what, ": a missing count", row(is.na(x)), ": a withheld count gets no noise and is not published; leave these rows out")
  if (any(bad <- is.infinite(x) | x != trunc(x))) refuse(what, ": a number that is not whole", row(bad), ": expected counts")
  if (any(bad <- abs(x) > LARGEST)) refuse(what, ": a count beyond 2^52", row(bad), ", which a double may not hold exactly with its noise")
  as.double(x)
}

# Refuses counts that rise or fall from row to row, or within each group of equal first keys, where the keys do not rise: the noisy ones keep
# that order. With keep_order it is a warning.
check_order <- function(where, counts, keys, keep_order) {
  if (shows_order(counts, keys)) report_order(where, keep_order)
}

shows_order <- function(counts, keys) {
  keys <- Filter(function(key) is.atomic(key) && length(key) == length(counts), unname(keys))
  length(keys) > 0L && length(unique(counts)) > 1L && is_by_counts(counts, lapply(keys, places_of))
}

report_order <- function(where, keep_order) {
  what <- paste0(where, " in the order of the true counts, which the noisy ones keep: who sees the rows learns this order without noise")
  if (keep_order) return(notice(what, class = "dpassay_order_warning"))
  refuse(what, ". Sort by the keys before noise is added, as by x[order(x$key), ]; keep_order = TRUE is for an order that does not come from the counts")
}

# The place of each key among all keys, the missing ones last.
places_of <- function(key) {
  if (is.raw(key)) key <- as.integer(key)
  values <- unique(key)
  match(key, values[order(values, method = "radix")])
}

is_by_counts <- function(counts, keys) {
  for (depth in seq_along(keys) - 1L) {
    # Groups are runs of rows whose first keys are equal.
    is_new <- lapply(keys[seq_len(depth)], function(key) c(TRUE, diff(key) != 0))
    groups <- if (depth) split(seq_along(counts), cumsum(Reduce(`|`, is_new))) else list(seq_along(counts))
    rest <- keys[seq(depth + 1L, length(keys))]
    names <- lapply(groups, function(rows) lapply(rest, function(key) key[rows]))
    # Keys that stand in one order in every group have it from elsewhere, as from a code book.
    if (depth && (max(lengths(groups)) < 2L || all(vapply(names, identical, TRUE, names[[1L]])))) next
    rises <- all(vapply(groups, function(rows) !is.unsorted(counts[rows]), TRUE))
    falls <- all(vapply(groups, function(rows) !is.unsorted(-counts[rows]), TRUE))
    # Falling keys are no order beside falling counts: of two keys one order or the other always holds.
    is_open <- function(rows, own) length(unique(counts[rows])) > 1L && !identical(do.call(order, own), seq_along(rows))
    if ((rises || falls) && any(unlist(Map(is_open, groups, names)))) return(TRUE)
  }
  FALSE
}

FRAMES <- c("tbl_df", "tbl", "data.table", "data.frame")

noisy_frame <- function(frame, noise, keep_metadata, keep_order, insecure_seed) {
  other <- setdiff(class(frame), FRAMES)
  if (length(other)) refuse("a data frame of class ", other[1L], " may hold more than its columns: give as.data.frame() of it")
  noise <- named_noise(noise)
  columns <- unclass(frame)
  # Every count is checked before noise is drawn.
  places <- vapply(names(noise), place_of, 0L, columns = names(frame))
  checked <- Map(function(place, law, name) checked_for(columns[[place]], law, paste0("column ", name)), places, noise, names(noise))
  for (name in names(noise)) check_order(paste0("column ", name, ": the rows are"), checked[[name]], columns[-places], keep_order)
  fresh <- function(counts, law, number) {
    with_noise(counts, law, drawn(law, whole_text(length(counts), "rows", least = 0), seed_of(insecure_seed, number)))
  }
  sums <- Map(fresh, checked, noise, seq_along(noise) - 1)
  bare(frame, places, sums, keep_metadata)
}

named_noise <- function(noise) {
  if (inherits(noise, "dpassay_account") || !is.list(noise)) {
    refuse("noise for a data frame: expected a list from column to noise, as in list(persons = discrete_gaussian(5))")
  }
  if (!length(noise)) refuse("no column is named: without noise the table would be published as it is")
  if (is.null(names(noise)) || anyNA(names(noise)) || !all(nzchar(names(noise)))) refuse("noise: an entry without the name of its column")
  if (anyDuplicated(names(noise))) refuse("noise: column ", names(noise)[anyDuplicated(names(noise))], " is named twice")
  lapply(noise, one_law)
}

place_of <- function(name, columns) {
  found <- which(columns == name)
  if (length(found) == 1L) return(found)
  if (length(found)) refuse(length(found), " columns are named ", name, ": their noise would be drawn from one budget; give them different names")
  refuse("no column ", name, ": the data frame has ", paste(short_list(columns, 20L), collapse = ", "))
}

# Attributes can hold true counts (labels, indices of data.table, whatever a program stored): only those that make the columns what they are
# stay, unless metadata is kept.
KEPT <- c("class", "levels", "tzone", "units", "dim", "names")

bare <- function(frame, places, sums, keep_metadata) {
  columns <- unclass(frame)
  found <- character()
  for (name in setdiff(names(attributes(frame)), c("names", "class", "row.names", ".internal.selfref"))) {
    found <- c(found, paste("attribute", name))
    if (!keep_metadata) attr(columns, name) <- NULL
  }
  for (at in seq_along(columns)) {
    if (at %in% places) next
    extra <- setdiff(names(attributes(columns[[at]])), KEPT)
    if (length(extra)) found <- c(found, paste0("attribute ", extra, " of column ", names(frame)[at]))
    if (!keep_metadata) for (name in extra) attr(columns[[at]], name) <- NULL
    # A level that no row has is the name of a key that was removed.
    if (is.factor(columns[[at]]) && nlevels(columns[[at]]) > nlevels(droplevels(columns[[at]]))) {
      found <- c(found, paste("unused levels of column", names(frame)[at]))
      if (!keep_metadata) columns[[at]] <- droplevels(columns[[at]])
    }
  }
  columns[places] <- sums
  attr(columns, ".internal.selfref") <- NULL
  class(columns) <- class(frame)
  # data.table's own pointer, without which := copies the table and warns.
  if (inherits(frame, "data.table") && isNamespaceLoaded("data.table")) columns <- getExportedValue("data.table", "setalloccol")(columns)
  if (keep_metadata && length(found)) notice("copied without noise: ", paste(found, collapse = "; "), class = "dpassay_metadata_warning")
  columns
}
