# The program: where it is, and how it is run. Arguments are a vector. No argument ever becomes part of a shell's text unquoted.

assay_program <- function() {
  given <- getOption("dpassay.program")
  from <- "the option dpassay.program"
  if (is.null(given)) {
    given <- Sys.getenv("DPASSAY_PROGRAM", unset = NA)
    from <- "the environment variable DPASSAY_PROGRAM"
    if (is.na(given) || !nzchar(given)) {
      found <- unname(Sys.which("assay"))
      if (!nzchar(found)) {
        refuse(
          "the program assay is not on the path: install it (cargo install --path . in the source of dp-assay, or its wheel), ",
          "or name it by options(dpassay.program = ) or by the environment variable DPASSAY_PROGRAM",
          class = "dpassay_no_program"
        )
      }
      return(normalizePath(found))
    }
  }
  if (!is.character(given) || length(given) != 1L || is.na(given) || !nzchar(given)) {
    refuse(from, " is ", shown_value(given), ": expected the path of the program assay", class = "dpassay_no_program")
  }
  path <- path.expand(for_system(given))
  if (!grepl("[/\\\\]", path)) path <- unname(Sys.which(path))
  if (!nzchar(path) || !file.exists(path)) refuse(from, " names ", given, ": no such program", class = "dpassay_no_program")
  if (dir.exists(path) || file.access(path, 1L) != 0L) {
    refuse(from, " names ", given, ", which cannot be run: expected the program assay", class = "dpassay_no_program")
  }
  normalizePath(path)
}

has_assay <- function() {
  tryCatch(nzchar(assay_program()), dpassay_no_program = function(e) FALSE)
}

# Runs `assay COMMAND OPTIONS --json-strings -- NAMES` and returns its answer, a list in which every number is a text.
# `accepted` are the exit statuses that come with an answer; every other one is a refusal.
answer_of <- function(command, options = character(), names = character(), accepted = 0L) {
  # Input is checked before the program is looked for.
  force(options)
  force(names)
  program <- assay_program()
  arguments <- c(command, options, "--json-strings", if (length(names)) c("--", names))
  ended <- run_program(program, arguments)
  if (!ended$status %in% accepted) refuse_as(program, ended)
  answer <- tryCatch(
    jsonlite::fromJSON(ended$out, simplifyVector = FALSE),
    error = function(e) refuse(program, " printed no answer that can be read: ", conditionMessage(e), status = ended$status)
  )
  same_version(program, answer$provenance)
  answer
}

refuse_as <- function(program, ended) {
  # Refusals are JSON, too; an option is named as the argument of the function here.
  message <- tryCatch(jsonlite::fromJSON(ended$err)$error, error = function(e) NULL)
  # A search that found nothing is an answer, which says why.
  if (is.null(message)) message <- tryCatch(jsonlite::fromJSON(ended$out)$reason, error = function(e) NULL)
  if (!is.character(message) || length(message) != 1L) {
    said <- trimws(ended$err)
    message <- paste0(program, " ended with status ", ended$status, if (nzchar(said)) paste0(": ", said) else " and no message")
  }
  message <- as_arguments(message)
  refuse(message, status = ended$status)
}

# A message about options in the words of arguments: `--area-totals: ...` is about area_totals. What stands between backticks is a command of the program.
as_arguments <- function(message) {
  exclusive <- regmatches(message, regexec("^the argument '--([a-z0-9-]+)[^']*' cannot be used with '--([a-z0-9-]+)", message))[[1L]]
  if (length(exclusive)) return(paste0(underscored(exclusive[2L]), " and ", underscored(exclusive[3L]), " exclude each other: give one of them"))
  needed <- regmatches(message, regexec("^the following required arguments were not provided:\\s+--([a-z0-9-]+)", message))[[1L]]
  if (length(needed)) return(paste0(underscored(needed[2L]), ": missing, and needed beside what was given"))
  # A letter at the end, so that a backtick there is kept.
  parts <- strsplit(paste0(message, "."), "`", fixed = TRUE)[[1L]]
  outside <- seq_along(parts) %% 2L == 1L
  found <- gregexpr("(?<![A-Za-z0-9_\"-])--[a-z][a-z0-9-]*", parts[outside], perl = TRUE)
  regmatches(parts[outside], found) <- lapply(regmatches(parts[outside], found), function(options) underscored(substring(options, 3L)))
  sub("[.]$", "", paste(parts, collapse = "`"))
}

underscored <- function(names) gsub("-", "_", names, fixed = TRUE)

same_version <- function(program, provenance) {
  version <- unname(getNamespaceVersion("dpassay"))
  if (!identical(provenance$program, "assay")) refuse(program, " is not the program assay")
  if (!identical(provenance$version, version)) {
    refuse(program, " is assay ", provenance$version, ", and this package is of version ", version, ": install both of one version")
  }
}

# Only what begins with a tilde: path.expand() translates every path to the locale's encoding.
at_home <- function(paths) {
  tilde <- startsWith(paths, "~")
  paths[tilde] <- path.expand(for_system(paths[tilde]))
  paths
}

# The bytes of UTF-8, which no locale changes on their way to the program.
as_bytes <- function(text) {
  # The C locale has no encoding: the bytes of a name that comes from the system stay as they are.
  is_named <- Encoding(text) != "unknown" | !is_c_locale()
  text[is_named] <- enc2utf8(text[is_named])
  Encoding(text) <- "unknown"
  text
}

is_c_locale <- function() {
  info <- l10n_info()
  !info$MBCS && !info$`Latin-1` && .Platform$OS.type == "unix"
}

# A path for R's own functions, which translate names to the locale's encoding: the C locale has none for letters beyond ASCII.
for_system <- function(path) if (is_c_locale()) as_bytes(path) else path

# A folder that only this user can read; `remove` it when the call ends.
private_folder <- function() {
  folder <- tempfile("dpassay-")
  if (!dir.create(folder, mode = "0700", showWarnings = FALSE)) refuse("cannot make a private folder in ", dirname(folder))
  folder
}

run_program <- function(program, arguments) {
  if (anyNA(arguments)) refuse("an argument is missing (NA)")
  # A shell takes one text of at most 128 KiB on Linux, Windows 32,767 characters.
  if (sum(nchar(arguments, "bytes") + 3L) > if (.Platform$OS.type == "unix") 100000L else 30000L) {
    refuse("the arguments have ", sum(nchar(arguments, "bytes")), " bytes, more than a command line takes: give fewer values at once")
  }
  folder <- private_folder()
  on.exit(unlink(folder, recursive = TRUE, force = TRUE))
  if (.Platform$OS.type == "unix" && capabilities("fifo") && !isTRUE(getOption("dpassay.wait"))) {
    run_watched(program, arguments, folder)
  } else {
    run_waiting(program, arguments, folder)
  }
}

# On Windows, and where R has no named pipes: R waits for the program, and Ctrl-C reaches the program from the terminal.
run_waiting <- function(program, arguments, folder) {
  errors <- file.path(folder, "err")
  printed <- suppressWarnings(
    system2(program, quoted(as_bytes(arguments), .Platform$OS.type), stdout = TRUE, stderr = errors, stdin = "")
  )
  status <- attr(printed, "status")
  list(status = if (is.null(status)) 0L else status, out = utf8(printed), err = utf8(readLines(errors, warn = FALSE)))
}

# Arguments for system2(): for a shell, or on Windows, where none is between, for the rules of the C runtime. There backslashes count only before a
# quote, and are doubled before it: shQuote() leaves "C:\data\" with a quote that does not close.
quoted <- function(arguments, os) {
  if (os == "unix") return(shQuote(arguments, "sh"))
  inner <- gsub("(\\\\*)\"", "\\1\\1\\\\\"", arguments, useBytes = TRUE)
  paste0("\"", gsub("(\\\\+)$", "\\1\\1", inner, useBytes = TRUE), "\"")
}

utf8 <- function(lines) {
  text <- paste(lines, collapse = "\n")
  Encoding(text) <- "UTF-8"
  text
}

# A constant: the program and its arguments are the positional parameters. The answer goes through a named pipe, never into a file.
WATCHED <- paste(
  "umask 077",
  # The shell itself says nothing, such as that the program was terminated.
  "exec 2>/dev/null",
  "d=$1; shift",
  "\"$@\" </dev/null >\"$d/out\" 2>\"$d/err\" &",
  "p=$!",
  "echo \"$p\" >\"$d/part\"; mv \"$d/part\" \"$d/pid\"",
  "wait \"$p\"; s=$?",
  "echo \"$s\" >\"$d/part\"; mv \"$d/part\" \"$d/status\"",
  sep = "\n"
)

# The program runs beside R, which reads the pipe and looks for interrupts in between; an interrupt, like any error, ends the program.
run_watched <- function(program, arguments, folder) {
  out <- file.path(folder, "out")
  if (system2("mkfifo", c("-m", "600", shQuote(out))) != 0L) refuse("cannot make a named pipe in ", folder)
  pipe <- fifo(out, "rb", blocking = FALSE)
  finished <- FALSE
  on.exit({
    close(pipe)
    if (!finished) end_program(folder)
  })
  words <- shQuote(as_bytes(c("-c", WATCHED, "assay", folder, program, arguments)), "sh")
  system2("sh", words, wait = FALSE)
  chunks <- read_until_ended(pipe, folder)
  finished <- TRUE
  errors <- file.path(folder, "err")
  list(
    status = as.integer(readLines(file.path(folder, "status"), n = 1L)),
    out = utf8(rawToChar(chunks)),
    err = utf8(if (file.exists(errors)) readLines(errors, warn = FALSE) else character())
  )
}

# Whether an error is that of setTimeLimit() or setSessionTimeLimit(), which has no class of its own.
is_time_limit <- function(error) {
  limits <- c(
    "reached elapsed time limit", "reached CPU time limit", "reached session elapsed time limit", "reached session CPU time limit"
  )
  conditionMessage(error) %in% c(limits, vapply(limits, gettext, "", domain = "R"))
}

read_until_ended <- function(pipe, folder) {
  chunks <- list()
  pause <- 0.001
  began <- Sys.time()
  ended <- FALSE
  repeat {
    # R reports an empty pipe that has a writer as an error, and one that has none as no bytes. A time limit that is reached just then is an error, too.
    chunk <- tryCatch(readBin(pipe, "raw", 65536L), error = function(e) if (is_time_limit(e)) stop(e) else raw())
    if (length(chunk)) {
      chunks[[length(chunks) + 1L]] <- chunk
      pause <- 0.001
      next
    }
    if (ended) break
    # Everything was written before there was a status, so that the pipe is emptied once more after it.
    ended <- file.exists(file.path(folder, "status"))
    if (ended) next
    if (!file.exists(file.path(folder, "pid")) && difftime(Sys.time(), began, units = "secs") > 120) {
      refuse("the shell sh did not start the program within two minutes")
    }
    Sys.sleep(pause)
    pause <- min(2 * pause, 0.05)
  }
  # No NUL can be in an answer in JSON.
  as.raw(unlist(chunks))
}

end_program <- function(folder) {
  has <- function(name) file.exists(file.path(folder, name))
  until <- function(condition, tries) {
    while (tries > 0L && !condition()) {
      Sys.sleep(0.01)
      tries <- tries - 1L
    }
    condition()
  }
  if (has("status") || !until(function() has("pid"), 300L)) return(invisible())
  process <- as.integer(readLines(file.path(folder, "pid"), n = 1L))
  tools::pskill(process, tools::SIGTERM)
  if (!until(function() has("status"), 50L)) {
    tools::pskill(process, tools::SIGKILL)
    until(function() has("status"), 100L)
  }
  invisible()
}
