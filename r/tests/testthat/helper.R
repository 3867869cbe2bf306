# Tests that need the program are skipped without it; scripts/test-r makes sure that it is there.
skip_without_assay <- function() {
  testthat::skip_if_not(has_assay(), "the program assay is not installed")
}

# The message and the status of a refusal.
refusal <- function(expression) {
  e <- tryCatch(expression, dpassay_error = identity)
  testthat::expect_s3_class(e, "dpassay_error")
  conditionMessage(e)
}

ten <- function() discrete_gaussian("5", count = 10)

# A program of a test's own, in a private folder whose name would break any unquoted shell command.
invented_program <- function(lines, env = parent.frame()) {
  folder <- withr_folder(env)
  path <- file.path(folder, "it's $(touch escaped) \"assay\"; here")
  writeLines(c("#!/bin/sh", lines), path)
  Sys.chmod(path, "755")
  path
}

withr_folder <- function(env) {
  folder <- tempfile("test-")
  dir.create(folder)
  do.call(on.exit, list(substitute(unlink(f, recursive = TRUE), list(f = folder)), add = TRUE), envir = env)
  folder
}

with_option <- function(..., code) {
  old <- options(...)
  on.exit(options(old))
  code
}

private_left <- function() list.files(tempdir(), pattern = "^dpassay-", full.names = TRUE)

# A ledger that takes no time.
own_ledger <- function(env = parent.frame()) {
  folder <- withr_folder(env)
  path <- file.path(folder, "our books.toml")
  writeLines(c(
    "name = \"budget-only\"", "title = \"A budget alone\"", "source = \"invented\"", "neighbors = \"add-remove\"", "budget_only = true",
    "[[level]]", "name = \"State\"", "[[level.query]]", "name = \"total\"", "rho = \"5/4\""
  ), file.path(folder, "budget.toml"))
  writeLines(c(
    "name = \"own\"", "title = \"Our books\"", "source = \"invented\"", "rule = \"Both are about the same people.\"",
    "[[population]]", "name = \"persons\"", "neighbors = \"bounded\"", "releases = [\"su-su-wang-2025\", \"budget.toml\"]"
  ), path)
  path
}
