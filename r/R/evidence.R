# Published values, recomputed.

verify <- function(papers = character(), full = FALSE, nodes = NULL, state = NULL) {
  # Status 1 comes with an answer: a value differs without a recorded reason.
  a <- answer_of("verify", c(
    if (flag(full, "full")) "--full", if (!is.null(nodes)) option("nodes", whole_text(nodes, "nodes")), if (!is.null(state)) option("state", at_home(one_name(state, "state")))
  ), names = at_home(names_of(papers, "papers")), accepted = c(0L, 1L))
  rows <- unlist(lapply(a$papers, function(paper) lapply(paper$rows, function(row) verified_row(paper$paper, row))), recursive = FALSE)
  answer(bound(rows), "verification", a, verdicts(rows), c("paper", "id", "published", "computed", "verdict"))
}

verified_row <- function(paper, row) {
  computed <- row$computed
  # A sum or a claim is no interval: it is shown as the program prints it.
  ends <- if (is_enclosure(computed)) enclosed("computed", computed) else enclosed("computed", NULL)
  text <- function(value) if (is.null(value)) NA_character_ else in_words(value)
  c(
    list(paper = paper, id = row$id, place = row$place, published = text(row$published)), ends,
    list(
      computed_text = if (is_enclosure(computed)) NA_character_ else text(computed), verdict = row$verdict, unit = text(row$unit),
      note = text(row$note), erratum = text(row$erratum), printed_by = text(row$printed_by)
    )
  )
}

verdicts <- function(rows) {
  counts <- table(vapply(rows, `[[`, "", "verdict"))
  paste0(length(rows), " published values: ", paste(counts, names(counts), collapse = ", "))
}
