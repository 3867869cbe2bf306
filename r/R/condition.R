# Refusals, of the program and of this package, are conditions of class "dpassay_error" with the fields message and status.

refuse <- function(..., status = NA_integer_, class = character()) {
  stop(structure(
    class = c(class, "dpassay_error", "error", "condition"),
    list(message = paste0(...), call = NULL, status = as.integer(status))
  ))
}

notice <- function(..., class) {
  warning(structure(class = c(class, "warning", "condition"), list(message = paste0(...), call = NULL)))
}

# A value as a message shows it.
shown_value <- function(x) {
  if (is.atomic(x) && length(x) == 1L && is.na(x) && !is.nan(x)) return("NA")
  text <- tryCatch(paste(deparse(x, nlines = 1L, width.cutoff = 60L), collapse = ""), error = function(e) "a value")
  if (nchar(text) > 60L) paste0(substr(text, 1L, 57L), "...") else text
}
