# Answers are data frames. A proven number NAME has the columns NAME_lower and NAME_upper, texts with all digits, and NAME_approx,
# a double that approximates it. An exact number NAME is a text, with NAME_approx beside it.

APPROXIMATED <- c(
  "rho", "sigma2", "calibrated_sigma2", "not_enough_sigma2", "laplace_epsilon", "calibrated_laplace_epsilon", "factor", "reduction_percent", "share_of_rho",
  "delta", "epsilon", "alpha", "zcdp_delta", "prior", "value", "not_enough"
)
WHOLE <- c("counts", "times_each_count", "degrees_of_freedom")

is_text <- function(x) is.character(x) && length(x) == 1L
is_enclosure <- function(x) is.list(x) && all(c("lower", "upper") %in% names(x)) && is_text(x$lower) && is_text(x$upper)

enclosed <- function(name, ends) {
  ends <- if (is_enclosure(ends)) ends else list(lower = NA_character_, upper = NA_character_)
  stats::setNames(
    list(ends$lower, ends$upper, middle(ends$lower, ends$upper)),
    paste0(name, c("_lower", "_upper", "_approx"))
  )
}

middle <- function(lower, upper) (as.numeric(lower) + as.numeric(upper)) / 2

# An object of the program's JSON as one row: lists inside get the name of their key before those of their own.
flat <- function(object, drop = character(), enclosures = character()) {
  row <- list()
  for (key in setdiff(names(object), c(drop, "provenance"))) {
    value <- object[[key]]
    row <- c(row, if (is_enclosure(value)) {
      more <- value[setdiff(names(value), c("lower", "upper"))]
      c(enclosed(key, value), if (length(more)) stats::setNames(flat(more), paste0(key, "_", names(flat(more)))))
    } else if (is.null(value)) {
      if (key %in% enclosures) enclosed(key, NULL) else stats::setNames(list(NA_character_), key)
    } else if (is.list(value) && !is.null(names(value))) {
      inner <- flat(value, enclosures = enclosures)
      stats::setNames(inner, sub("_epsilon_(lower|upper|approx)$", "_\\1", paste0(key, "_", names(inner))))
    } else if (is.list(value)) {
      stats::setNames(list(paste(vapply(value, in_words, ""), collapse = "; ")), key)
    } else if (key %in% WHOLE) {
      stats::setNames(list(as.numeric(value)), key)
    } else if (key %in% APPROXIMATED) {
      exact <- object[[paste0(key, "_exact")]]
      stats::setNames(list(value, approximation(if (is_text(exact)) exact else value)), paste0(key, c("", "_approx")))
    } else {
      stats::setNames(list(value), key)
    })
  }
  row
}

in_words <- function(value) {
  if (is.list(value)) paste(names(value), vapply(value, in_words, ""), sep = if (is.null(names(value))) "" else ": ", collapse = ", ") else as.character(value)
}

# Rows that may lack a column, below each other.
bound <- function(rows) {
  columns <- unique(unlist(lapply(rows, names)))
  frame <- lapply(stats::setNames(columns, columns), function(column) {
    cells <- lapply(rows, `[[`, column)
    cells[!lengths(cells)] <- NA
    cells <- unlist(cells)
    if (all(is.na(cells))) (if (grepl("_approx$", column)) as.numeric else as.character)(cells) else cells
  })
  structure(frame, row.names = .set_row_names(length(rows)), class = "data.frame")
}

answer <- function(frame, kind, about, title, shown) {
  # Several answers of the program are a list without names.
  answers <- if (is.null(names(about))) about else list(about)
  conditions <- unique(unlist(lapply(answers, function(one) texts(one$conditions))))
  structure(frame, class = c(paste0("dpassay_", kind), "dpassay_answer", "data.frame"), about = about, title = title, shown = shown, conditions = conditions)
}

about <- function(x) {
  if (!inherits(x, "dpassay_answer")) refuse(shown_value(class(x)), ": expected an answer of this package")
  attr(x, "about")
}

# A part of an answer is a plain data frame: the title and the provenance are those of the whole.
`[.dpassay_answer` <- function(x, ...) as.data.frame(x)[...]

as.data.frame.dpassay_answer <- function(x, row.names = NULL, optional = FALSE, ...) {
  attr(x, "about") <- attr(x, "title") <- attr(x, "shown") <- attr(x, "conditions") <- attr(x, "confidence") <- attr(x, "compared") <- NULL
  class(x) <- "data.frame"
  if (!is.null(row.names)) row.names(x) <- row.names
  x
}

# The columns that are printed, a proven number as an interval: its ends with fewer digits, rounded down and up.
shown_columns <- function(frame, wanted, digits) {
  columns <- lapply(stats::setNames(wanted, wanted), function(name) {
    lower <- frame[[paste0(name, "_lower")]]
    if (is.null(lower)) return(short_exact(frame[[name]], digits))
    upper <- frame[[paste0(name, "_upper")]]
    low <- vapply(lower, rounded_text, "", digits = digits, direction = -1, USE.NAMES = FALSE)
    high <- vapply(upper, rounded_text, "", digits = digits, direction = 1, USE.NAMES = FALSE)
    ifelse(is.na(low), "", ifelse(low == high, low, paste0("[", low, ", ", high, "]")))
  })
  columns <- Filter(function(column) !is.null(column) && !all(is.na(column) | column == ""), columns)
  structure(columns, row.names = .set_row_names(nrow(frame)), class = "data.frame")
}

# An exact number of many digits is cut, and the dots say so.
short_exact <- function(column, digits) {
  if (is.null(column)) return(NULL)
  # Doubles are approximations, and seven digits of them are enough to read.
  text <- if (is.double(column)) ifelse(is.na(column), NA, trimws(formatC(column, digits = 7L, format = "fg"))) else as.character(column)
  long <- !is.na(text) & nchar(text) > digits + 4L & grepl("^-?[0-9]+[.][0-9]+$", text)
  text[long] <- paste0(substr(text[long], 1L, digits + 2L), "...")
  text[is.na(text)] <- ""
  text
}

print.dpassay_answer <- function(x, digits = getOption("dpassay.digits", 12), rows = 20, ...) {
  digits <- as.numeric(whole_text(digits, "digits", most = 250))
  cat(attr(x, "title"), sep = "\n")
  cat("\n")
  # Only what is printed is put into words: the blocks of the nation are millions of rows.
  some <- utils::head(as.data.frame(x), rows)
  put_columns(shown_columns(some, attr(x, "shown"), digits))
  if (nrow(x) > nrow(some)) cat("... and ", nrow(x) - nrow(some), " more rows\n", sep = "")
  # Under which the numbers hold, as that batches are drawn at random.
  conditions <- attr(x, "conditions")
  if (length(conditions)) cat("\n", paste0(strwrap(conditions, width = getOption("width"), exdent = 2L), "\n"), sep = "")
  invisible(x)
}

# Names to the left, numbers to the right.
put_columns <- function(columns) {
  left <- vapply(columns, function(column) any(grepl("[A-Za-z]{2}|^[A-Z]", column)), NA)
  padded <- Map(function(name, column, is_left) format(c(name, column), justify = if (is_left) "left" else "right"), names(columns), columns, left)
  cat(sub(" +$", "", do.call(paste, c(unname(padded), sep = "  "))), sep = "\n")
}
