test_that("the program is found by option, then by variable, then on the path", {
  found <- invented_program("exit 0")
  with_option(dpassay.program = found, code = expect_equal(assay_program(), normalizePath(found)))
  old <- Sys.getenv(c("DPASSAY_PROGRAM", "PATH"))
  on.exit(do.call(Sys.setenv, as.list(old)), add = TRUE)
  Sys.setenv(DPASSAY_PROGRAM = found)
  with_option(dpassay.program = NULL, code = {
    expect_equal(assay_program(), normalizePath(found))
    Sys.setenv(DPASSAY_PROGRAM = "", PATH = tempdir())
    expect_false(has_assay())
    expect_match(refusal(assay_program()), "the program assay is not on the path: install it")
    Sys.setenv(DPASSAY_PROGRAM = file.path(tempdir(), "nothing here"))
    expect_match(refusal(assay_program()), "DPASSAY_PROGRAM names .*nothing here: no such program")
    Sys.setenv(DPASSAY_PROGRAM = tempdir())
    expect_match(refusal(assay_program()), "which cannot be run")
  })
  with_option(dpassay.program = 5, code = expect_match(refusal(assay_program()), "the option dpassay.program is 5: expected the path"))
})

for (waits in c(FALSE, TRUE)) local({
  waits <- waits
  way <- if (waits) " (waiting)" else " (watched)"

  test_that(paste0("arguments arrive as they are", way), {
    # A program that answers with its own arguments, one in each string of JSON.
    echo <- invented_program(c(
      "printf '{\"given\": ['",
      "first=1",
      "for a in \"$@\"; do [ $first = 1 ] || printf ', '; first=0; printf '\"'; printf '%s' \"$a\" | sed 's/\\\\/\\\\\\\\/g; s/\"/\\\\\"/g'; printf '\"'; done",
      "printf '], \"provenance\": {\"program\": \"assay\", \"version\": \"0.2.0\"}}'"
    ))
    odd <- c("it's", "a \"quoted\" name", "$(touch escaped)", "`touch escaped`", "; touch escaped", "a  b", "back\\slash", "\u00c6r\u00f8 \u6771\u4eac", "*", "-", "", "%s", "!x", "&& exit 3")
    with_option(dpassay.program = echo, dpassay.wait = waits, code = {
      answer <- dpassay:::answer_of("epsilon", dpassay:::option("level", odd), names = odd)
      expect_equal(unlist(answer$given), c("epsilon", paste0("--level=", odd), "--json-strings", "--", odd))
    })
    expect_false(any(file.exists(c("escaped", file.path(dirname(echo), "escaped")))))
    expect_length(private_left(), 0)
  })

  test_that(paste0("a refusal is a condition with the program's message and status", way), {
    refuses <- invented_program(c("echo '{\"error\": \"--match-curve: no range\", \"exit_status\": 2}' >&2", "exit 2"))
    with_option(dpassay.program = refuses, dpassay.wait = waits, code = {
      e <- tryCatch(calibrate(ten(), 1e-9), dpassay_error = identity)
      expect_s3_class(e, c("dpassay_error", "error", "condition"), exact = TRUE)
      expect_identical(e$status, 2L)
      expect_equal(conditionMessage(e), "match_curve: no range")
    })
    dies <- invented_program(c("echo 'thread panicked' >&2", "kill -9 $$"))
    with_option(dpassay.program = dies, dpassay.wait = waits, code = {
      expect_match(refusal(epsilon(ten(), 1e-9)), "ended with status [0-9]+: thread panicked|ended with status [0-9]+")
    })
    expect_length(private_left(), 0)
  })

  test_that(paste0("half an answer is no answer", way), {
    half <- invented_program("printf '{\"epsilon\": {\"lower\": \"1\"'")
    with_option(dpassay.program = half, dpassay.wait = waits, code = expect_match(refusal(epsilon(ten(), 1e-9)), "printed no answer that can be read"))
    other <- invented_program("printf '{\"provenance\": {\"program\": \"assay\", \"version\": \"9.9.9\"}}'")
    with_option(dpassay.program = other, dpassay.wait = waits, code = {
      expect_match(refusal(epsilon(ten(), 1e-9)), "is assay 9.9.9, and this package is of version 0.2.0: install both of one version")
    })
    expect_length(private_left(), 0)
  })

  test_that(paste0("long answers arrive whole", way), {
    skip_without_assay()
    with_option(dpassay.wait = waits, code = {
      drawn <- sample_noise(discrete_gaussian(5), 300000)
      expect_length(drawn, 300000)
      expect_lt(abs(mean(drawn)), 0.05)
      expect_lt(abs(stats::var(drawn) - 5), 0.15)
    })
  })
})

test_that("names with spaces and quotes are names for the program itself", {
  skip_without_assay()
  expect_match(refusal(epsilon(release("it's \"my\" $(touch escaped) release"), 1e-9)), "unknown release .*it's|it's .*no such file")
  folder <- withr_folder(environment())
  own <- file.path(folder, "Ærø's \"own\" $HOME; release.toml")
  answer <- dpassay:::run_program(assay_program(), c("releases", "--show", "su-su-wang-2025"))
  writeLines(gsub("\"US\"", "\"it's the US; $(touch escaped)\"", answer$out, fixed = TRUE), own, useBytes = TRUE)
  found <- epsilon(release(own, "it's the US; $(touch escaped)"), "1e-11")
  expect_equal(found$epsilon_lower, epsilon(release("su-su-wang-2025", "US"), "1e-11")$epsilon_lower)
  expect_false(file.exists("escaped"))
})

test_that("messages are in the words of arguments", {
  words <- dpassay:::as_arguments
  expect_equal(words("--area-totals: no area x"), "area_totals: no area x")
  expect_equal(words("--level State: name it by --tabulation State"), "level State: name it by tabulation State")
  expect_equal(words("use `assay ledger FILE --check RELEASE`"), "use `assay ledger FILE --check RELEASE`")
  expect_equal(words("use `assay nmf codes`, or --queries."), "use `assay nmf codes`, or queries.")
  expect_equal(words("unknown paper \"--help\", x--y and -- z"), "unknown paper \"--help\", x--y and -- z")
  expect_equal(words("the argument '--area-totals <FILE>' cannot be used with '--whole [<QUERY>...]'\n\nUsage: assay"), "area_totals and whole exclude each other: give one of them")
})

test_that("a tilde is the home of the user", {
  expect_equal(dpassay:::account_options(release("~/own.toml")), paste0("--release=", path.expand("~/own.toml")))
})

test_that("an argument does not become an option", {
  skip_without_assay()
  expect_match(refusal(verify("--help")), "--help")
  expect_match(refusal(ledger("--new", 1e-9)), "--new")
  expect_match(refusal(epsilon(release("--help"), 1e-9)), "--help")
})

test_that("too many values for a command line are refused", {
  expect_match(refusal(dpassay:::run_program("true", strrep("a", 200000))), "more than a command line takes")
})

test_that("a time limit is no empty pipe", {
  reached <- tryCatch({
    setTimeLimit(elapsed = 0.05, transient = TRUE)
    repeat Sys.sleep(0.01)
  }, error = identity)
  setTimeLimit(elapsed = Inf)
  expect_true(dpassay:::is_time_limit(reached))
  expect_false(dpassay:::is_time_limit(simpleError("cannot read from this connection")))
})

test_that("an error while the program runs ends it, and nothing is left", {
  skip_on_os("windows")
  slow <- invented_program(c("echo $$ > \"${0%/*}/pid\"", "exec sleep 300"))
  with_option(dpassay.program = slow, code = {
    began <- Sys.time()
    expect_error({
      setTimeLimit(elapsed = 1, transient = TRUE)
      on.exit(setTimeLimit(elapsed = Inf))
      epsilon(ten(), 1e-9)
    }, "time limit")
    setTimeLimit(elapsed = Inf)
    expect_lt(as.numeric(difftime(Sys.time(), began, units = "secs")), 100)
  })
  process <- as.integer(readLines(file.path(dirname(slow), "pid")))
  expect_false(isTRUE(tools::pskill(process, 0)))
  expect_length(private_left(), 0)
})

test_that("an interrupt of R alone ends the program", {
  skip_on_os("windows")
  skip_on_cran()
  slow <- invented_program(c("echo $$ > \"${0%/*}/pid\"", "exec sleep 300"))
  folder <- dirname(slow)
  script <- file.path(folder, "session.R")
  writeLines(c(
    sprintf(".libPaths(%s)", paste(deparse(.libPaths()), collapse = "")),
    "writeLines(as.character(Sys.getpid()), file.path(dirname(dput_path), 'session'))",
    "options(dpassay.program = dput_path)",
    "said <- tryCatch({ dpassay::epsilon(dpassay::discrete_gaussian(5), 1e-9); 'finished' }, interrupt = function(i) 'interrupted')",
    "writeLines(c(said, list.files(tempdir(), '^dpassay-')), file.path(dirname(dput_path), 'said'))"
  ), script)
  writeLines(c(sprintf("dput_path <- %s", deparse(slow)), readLines(script)), script)
  system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", shQuote(script)), wait = FALSE, stdout = FALSE, stderr = FALSE)
  wait_for <- function(name) {
    for (i in 1:1000) if (file.exists(file.path(folder, name)) && length(readLines(file.path(folder, name)))) return(TRUE) else Sys.sleep(0.1)
    FALSE
  }
  expect_true(wait_for("pid"))
  process <- as.integer(readLines(file.path(folder, "pid")))
  expect_true(tools::pskill(process, 0))
  # A process in the background of a shell ignores SIGINT until R sets its own handler, which it has by now.
  tools::pskill(as.integer(readLines(file.path(folder, "session"))), tools::SIGINT)
  expect_true(wait_for("said"))
  expect_equal(readLines(file.path(folder, "said")), "interrupted")
  expect_false(isTRUE(tools::pskill(process, 0)))
})

test_that("the pipe of an answer is private", {
  skip_on_os("windows")
  looks <- invented_program(c(
    "exec 3>&1; stat -L -c '%a %F' /proc/$$/fd/3 > \"${0%/*}/seen\"",
    "stat -c '%a %F' \"$(dirname \"$(readlink /proc/$$/fd/2)\")\" >> \"${0%/*}/seen\"",
    "printf '{\"provenance\": {\"program\": \"assay\", \"version\": \"0.2.0\"}}'"
  ))
  skip_if_not(dir.exists("/proc/self/fd"))
  with_option(dpassay.program = looks, code = dpassay:::answer_of("sample"))
  expect_equal(readLines(file.path(dirname(looks), "seen")), c("600 fifo", "700 directory"))
})

# A command line as the C runtime of Windows splits it.
split_as_windows <- function(line) {
  found <- character()
  one <- NULL
  inside <- FALSE
  at <- 1L
  letters_of <- strsplit(line, "")[[1L]]
  while (at <= length(letters_of)) {
    letter <- letters_of[at]
    if (letter == "\\") {
      run <- at
      while (run < length(letters_of) && letters_of[run + 1L] == "\\") run <- run + 1L
      slashes <- run - at + 1L
      before_quote <- run < length(letters_of) && letters_of[run + 1L] == "\""
      one <- paste0(one, strrep("\\", if (before_quote) slashes %/% 2L else slashes))
      at <- run + 1L
      if (before_quote && slashes %% 2L == 1L) {
        one <- paste0(one, "\"")
        at <- at + 1L
      }
      next
    }
    if (letter == "\"") {
      inside <- !inside
      one <- paste0(one, "")
    } else if (letter == " " && !inside) {
      if (!is.null(one)) found <- c(found, one)
      one <- NULL
    } else {
      one <- paste0(one, letter)
    }
    at <- at + 1L
  }
  c(found, one)
}

test_that("on Windows arguments arrive as they are, by the rules of its C runtime", {
  odd <- c("C:\\data\\", "C:\\Program Files\\nmf\\", "a \"quoted\" name", "back\\\"slash\\\\\"", "", "plain", "\\\\server\\share\\", "%PATH%", "it's", "\u00c6r\u00f8")
  quoted <- dpassay:::quoted(odd, "windows")
  expect_equal(split_as_windows(paste(quoted, collapse = " ")), odd)
  # Paths of Windows are names like others.
  expect_equal(dpassay:::account_options(release("C:\\data\\own.toml")), "--release=C:\\data\\own.toml")
  expect_equal(dpassay:::at_home(c("C:\\data", "\\\\server\\share")), c("C:\\data", "\\\\server\\share"))
})

test_that("names beyond ASCII are found in every locale", {
  skip_without_assay()
  skip_on_os("windows")
  skip_on_cran()
  # A folder of the program, of a release and of temporary files whose name the C locale cannot show.
  folder <- file.path(withr_folder(environment()), "donn\u00e9es \u6771\u4eac")
  dir.create(folder)
  dir.create(file.path(folder, "temporary"))
  file.symlink(assay_program(), file.path(folder, "assay"))
  writeLines(dpassay:::run_program(assay_program(), c("releases", "--show", "su-su-wang-2025"))$out, file.path(folder, "own \u00e9.toml"), useBytes = TRUE)
  script <- file.path(folder, "session.R")
  writeLines(enc2utf8(c(
    sprintf(".libPaths(c(%s))", paste(vapply(.libPaths(), deparse, ""), collapse = ", ")),
    sprintf("folder <- \"%s\"", folder),
    "library(dpassay)",
    "options(dpassay.program = file.path(folder, \"assay\"))",
    "own <- epsilon(release(file.path(folder, \"own \u00e9.toml\"), \"US\"), 1e-10)$epsilon_upper",
    "setwd(folder)",
    "listed <- epsilon(release(list.files(pattern = \"^own\"), \"US\"), 1e-10)$epsilon_upper",
    "options(dpassay.wait = TRUE)",
    "waited <- epsilon(release(list.files(pattern = \"^own\"), \"US\"), 1e-10)$epsilon_upper",
    "marked <- tryCatch(epsilon(release(\"\\u00c6r\\u00f8.toml\"), 1e-10), dpassay_error = conditionMessage)",
    "cat(own, listed, waited, Encoding(marked), grepl(\"\\u00c6r\\u00f8.toml\", marked, fixed = TRUE))"
  )), script, useBytes = TRUE)
  expected <- epsilon(release("su-su-wang-2025", "US"), 1e-10)$epsilon_upper
  for (locale in c("C", "C.UTF-8")) {
    said <- system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", shQuote(script)), stdout = TRUE, stderr = FALSE,
      env = c(paste0("LC_ALL=", locale), paste0("TMPDIR=", shQuote(file.path(folder, "temporary")))))
    expect_equal(said[length(said)], paste(expected, expected, expected, "UTF-8 TRUE"), info = locale)
  }
})
