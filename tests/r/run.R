# Runs the tests of the R package, and then every R session in the guide. Called by scripts/test-r, with the package installed.
#
#     Rscript tests/r/run.R ROOT

root <- normalizePath(commandArgs(trailingOnly = TRUE)[1L])
options(width = 110)
failures <- 0L

# No test may be skipped here, except for a package that is not required.
run_tests <- function() {
  found <- testthat::test_dir(file.path(root, "r/tests/testthat"), package = "dpassay", load_package = "installed", reporter = "summary", stop_on_failure = FALSE)
  rows <- as.data.frame(found)
  bad <- rows$failed > 0 | rows$error
  reasons <- unlist(lapply(found, function(test) vapply(Filter(function(r) inherits(r, "expectation_skip"), test$results), conditionMessage, "")))
  # Releases of testthat word the reason differently, so that only the package is read from it.
  optional <- Filter(function(package) !requireNamespace(package, quietly = TRUE), c("tibble", "data.table", "sf"))
  absent <- vapply(reasons, function(reason) any(vapply(optional, grepl, NA, x = reason, fixed = TRUE)), NA)
  unexpected <- reasons[!absent]
  cat(sprintf("%d tests of the R package: %d passed checks, %d failed, %d skipped\n", nrow(rows), sum(rows$passed), sum(bad), length(reasons)))
  if (length(unexpected)) cat("skipped:", unexpected, sep = "\n  ")
  if (nrow(rows) < 40L) cat("fewer tests than there are\n")
  as.integer(sum(bad) + length(unexpected) + (nrow(rows) < 40L))
}

# The sessions of a document: blocks ```r, commands after "> " and "+ ", each with the output that follows it.
sessions <- function(path) {
  lines <- readLines(path, encoding = "UTF-8")
  commands <- list()
  inside <- FALSE
  for (at in seq_along(lines)) {
    line <- lines[at]
    if (!inside) {
      inside <- line == "```r"
    } else if (line == "```") {
      inside <- FALSE
    } else if (startsWith(line, "> ")) {
      commands[[length(commands) + 1L]] <- list(line = at, code = substring(line, 3L), shown = character())
    } else if (startsWith(line, "+ ")) {
      last <- length(commands)
      commands[[last]]$code <- paste(commands[[last]]$code, substring(line, 3L), sep = "\n")
    } else if (length(commands)) {
      last <- length(commands)
      commands[[last]]$shown <- c(commands[[last]]$shown, line)
    } else {
      stop(path, ", line ", at, ": a block ```r begins without a prompt")
    }
  }
  commands
}

# As in tests/guide.rs: a line "..." stands for any lines, and " ..." at the end of a line for anything.
is_line <- function(shown, printed) {
  if (endsWith(shown, " ...")) startsWith(printed, sub(" +[.]{3}$", "", shown)) else identical(shown, printed)
}
matches_listing <- function(shown, printed) {
  if (!length(shown)) return(!length(printed))
  if (shown[1L] == "...") return(any(vapply(0:length(printed), function(skip) matches_listing(shown[-1L], printed[seq_along(printed) > skip]), NA)))
  length(printed) > 0L && is_line(shown[1L], printed[1L]) && matches_listing(shown[-1L], printed[-1L])
}

printed_by <- function(code, where) {
  warned <- character()
  printed <- utils::capture.output(tryCatch(
    withCallingHandlers(
      for (expression in parse(text = code, encoding = "UTF-8")) {
        value <- withVisible(eval(expression, where))
        if (value$visible) print(value$value)
      },
      warning = function(w) {
        warned <<- c(warned, paste("Warning:", conditionMessage(w)))
        invokeRestart("muffleWarning")
      }
    ),
    error = function(e) cat("Error: ", conditionMessage(e), "\n", sep = "")
  ))
  sub(" +$", "", c(printed, warned))
}

run_document <- function(name) {
  folder <- tempfile("guide-")
  dir.create(folder)
  file.symlink(file.path(root, "data"), file.path(folder, "data"))
  old <- setwd(folder)
  on.exit({
    setwd(old)
    unlink(folder, recursive = TRUE)
  })
  where <- new.env(parent = globalenv())
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off(), add = TRUE)
  commands <- sessions(file.path(root, name))
  wrong <- 0L
  for (command in commands) {
    printed <- printed_by(command$code, where)
    if (!matches_listing(command$shown, printed)) {
      cat(name, ", line ", command$line, ": `", command$code, "` prints\n", paste(printed, collapse = "\n"), "\nand not\n", paste(command$shown, collapse = "\n"), "\n", sep = "")
      wrong <- wrong + 1L
    }
  }
  cat(sprintf("%s: %d commands in R, %d with other output than shown\n", name, length(commands), wrong))
  if (!length(commands)) cat(name, ": no session in R was found\n", sep = "")
  wrong + !length(commands)
}

# The documented installation brings the vignette.
run_vignette <- function() {
  found <- suppressWarnings(utils::vignette("dpassay", package = "dpassay"))
  has_text <- inherits(found, "vignette") && any(grepl("<h1", readLines(file.path(found$Dir, "doc", found$PDF), encoding = "UTF-8", warn = FALSE), fixed = TRUE))
  cat("vignette(\"dpassay\"): ", if (has_text) "found" else "NOT found after the installation", "\n", sep = "")
  as.integer(!has_text)
}

failures <- failures + run_tests() + run_vignette()
for (name in "docs/guide/r.md") failures <- failures + run_document(name)
quit(status = if (failures > 0L) 1L else 0L)
