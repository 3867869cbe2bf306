# The accounts: epsilon, delta, curves, comparisons, calibration, ledgers.

digits_option <- function(digits) option("digits", whole_text(digits, "digits", most = 250))

# "add-remove neighbors, delta = 1e-11", as the program's own tables say it.
relation_of <- function(about) paste0(about$neighbors, " neighbors")

title_of <- function(account) {
  if (inherits(account, "dpassay_release")) {
    return(paste0(account$name, if (length(account$levels)) paste0(": ", paste(account$levels, collapse = ", "))))
  }
  parts <- noise_words(account)
  paste0(paste(short_list(parts, 4L), collapse = " + "), if (length(parts) > 4L) paste0(" (", length(parts), " kinds)"))
}

each <- function(values, question) lapply(values, question)

epsilon <- function(account, delta, by = c("all", "level", "query"), digits = 12) {
  account <- as_account(account)
  by <- choice(by, c("all", "level", "query"), "by")
  deltas <- some_exact(delta, "delta")
  options <- c(account_options(account), digits_option(digits), if (by == "query") "--queries")
  answers <- each(deltas, function(delta) answer_of("epsilon", c(options, option("delta", delta))))
  rows <- unlist(Map(function(a, delta) epsilon_rows(a, delta, by), answers, deltas), recursive = FALSE)
  shown <- c(if (by != "all") c("level", "query"), if (length(deltas) > 1L) "delta", "rho", "epsilon", "compared_with")
  if (length(deltas) == 1L && by != "query") shown <- c(shown, "compared_with_name")
  answer(bound(rows), "epsilon", answers, c(title_of(account), paste0(relation_of(answers[[1L]]), ", delta = ", paste(short_list(deltas), collapse = ", "))), shown)
}

epsilon_rows <- function(a, delta, by) {
  whole <- flat(a, drop = c("delta", "levels", "queries"), enclosures = "epsilon")
  named <- function(part, row) c(part, list(delta = delta, delta_approx = approximation(delta)), row)
  switch(by,
    all = list(named(NULL, whole)),
    level = {
      parts <- lapply(a$levels, function(level) named(list(level = level$name), flat(level, drop = "name", enclosures = "epsilon")))
      c(parts, list(named(list(level = "all composed"), whole)))
    },
    query = lapply(a$queries, function(query) {
      named(list(level = query$level, query = query$query), flat(query, drop = c("level", "query"), enclosures = "epsilon"))
    })
  )
}

short_list <- function(texts, most = 5L) if (length(texts) > most) c(texts[seq_len(most)], "...") else texts

choice <- function(given, known, what) {
  if (identical(given, known)) return(known[1L])
  if (!is.character(given) || length(given) != 1L || !given %in% known) {
    refuse(what, " = ", shown_value(given), ": expected ", paste0("\"", known, "\"", collapse = ", "))
  }
  given
}

some_exact <- function(x, what) {
  if (!length(x)) refuse(what, " has no values: expected one or more")
  exact_text(x, what)
}

delta <- function(account, epsilon, digits = 12) {
  account <- as_account(account)
  epsilons <- some_exact(epsilon, "epsilon")
  options <- c(account_options(account), digits_option(digits))
  answers <- each(epsilons, function(epsilon) answer_of("delta", c(options, option("epsilon", epsilon))))
  rows <- Map(function(a, epsilon) {
    c(list(epsilon = epsilon, epsilon_approx = approximation(epsilon)), flat(a, drop = "epsilon", enclosures = c("delta", "zcdp_delta", "gdp_delta")))
  }, answers, epsilons)
  answer(bound(rows), "delta", answers, c(title_of(account), relation_of(answers[[1L]])), c("epsilon", "delta", "zcdp_delta", "status"))
}

privacy_profile <- function(account, from = NULL, to = NULL, points = 201, digits = 12, over = c("epsilon", "shift"), delta = NULL) {
  account <- as_account(account)
  over <- choice(over, c("epsilon", "shift"), "over")
  ends <- c(if (!is.null(from)) option("from", one_exact(from, "from")), if (!is.null(to)) option("to", one_exact(to, "to")))
  if (over == "shift") return(shift_profile(account, ends, delta, digits))
  if (!is.null(delta)) refuse("delta: goes with over = \"shift\"")
  a <- answer_of("curve", c(
    account_options(account), digits_option(digits), ends, option("points", whole_text(points, "points", least = 2))
  ))
  lower <- texts(a$delta_lower)
  upper <- texts(a$delta_upper)
  frame <- data.frame(
    epsilon = texts(a$epsilon), epsilon_approx = approximation(texts(a$epsilon)),
    delta_lower = lower, delta_upper = upper, delta_approx = middle(lower, upper),
    zcdp_delta = texts(a$zcdp_delta), zcdp_delta_approx = approximation(texts(a$zcdp_delta)), status = texts(a$status), stringsAsFactors = FALSE
  )
  answer(frame, "profile", a, c(title_of(account), paste0(relation_of(a), ": delta over epsilon")), c("epsilon", "delta", "zcdp_delta", "status"))
}

# Epsilon at one delta over the size of a record.
shift_profile <- function(account, ends, delta, digits) {
  if (is.null(delta)) refuse("delta: expected the delta at which epsilon is computed")
  a <- answer_of("curve", c(account_options(account), digits_option(digits), option("over", "shift"), option("delta", one_exact(delta, "delta")), ends))
  lower <- texts(a$epsilon_lower)
  upper <- texts(a$epsilon_upper)
  frame <- data.frame(
    shift = texts(a$shift), shift_approx = approximation(texts(a$shift)), epsilon_lower = lower, epsilon_upper = upper, epsilon_approx = middle(lower, upper),
    status = texts(a$status), stringsAsFactors = FALSE
  )
  answer(frame, "shifts", a, c(title_of(account), paste0(relation_of(a), ", delta = ", a$delta, ": epsilon over the shift of a record")), c("shift", "epsilon", "status"))
}

texts <- function(list) {
  if (!length(list)) return(character())
  vapply(list, function(x) if (is.null(x)) NA_character_ else as.character(x), "")
}

tradeoff <- function(account, alpha = NULL, points = 201, digits = 12) {
  account <- as_account(account)
  which <- if (is.null(alpha)) option("points", whole_text(points, "points", least = 2)) else option("alpha", some_exact(alpha, "alpha"))
  a <- answer_of("tradeoff", c(account_options(account), digits_option(digits), which))
  lower <- texts(a$beta_lower)
  upper <- texts(a$beta_upper)
  frame <- data.frame(
    alpha = texts(a$alpha), alpha_approx = approximation(texts(a$alpha)), beta_lower = lower, beta_upper = upper, beta_approx = middle(lower, upper),
    status = texts(a$status), stringsAsFactors = FALSE
  )
  answer(frame, "tradeoff", a, c(title_of(account), paste0(relation_of(a), ": the least type II error beta of any test of type I error alpha")), c("alpha", "beta", "status"))
}

compare <- function(account, delta, digits = 12) {
  accounts <- if (is.list(account) && !inherits(account, "dpassay_account") && !is.data.frame(account)) account else list(account)
  if (!length(accounts)) refuse("account: an empty list: expected an account or several")
  accounts <- lapply(accounts, as_account)
  answers <- each(accounts, function(account) {
    answer_of("compare", c(account_options(account), digits_option(digits), option("delta", one_exact(delta, "delta"))))
  })
  titles <- if (is.null(names(accounts))) vapply(accounts, title_of, "") else names(accounts)
  rows <- unlist(Map(function(a, title) {
    lapply(a$accountants, function(row) c(list(account = title, accountant = row$name), flat(row, drop = "name", enclosures = "epsilon"), list(rho = a$rho, neighbors = a$neighbors)))
  }, answers, titles), recursive = FALSE)
  answer(bound(rows), "comparison", answers, c(paste(titles, collapse = " and "), paste0(relation_of(answers[[1L]]), ", delta = ", answers[[1L]]$delta)),
    c(if (length(accounts) > 1L) "account", "accountant", "epsilon", "is_bound", "note"))
}

calibrate <- function(account, delta = NULL, epsilon = NULL, match = NULL, match_curve = NULL, advantage = NULL, alpha = NULL, beta = NULL, posterior = NULL,
                      prior = NULL, of = c("events", "outputs"), decimals = NULL, scale_all = FALSE, digits = 12,
                      queries = FALSE, crossings = FALSE, out = NULL) {
  account <- as_account(account)
  curve <- if (!is.null(match_curve)) {
    if (length(match_curve) != 2L) refuse("match_curve = ", shown_value(match_curve), ": expected the two ends of a range of delta")
    paste(exact_text(match_curve, "match_curve"), collapse = "..")
  }
  a <- answer_of("calibrate", c(
    account_options(account), digits_option(digits),
    target_options(delta, epsilon, advantage, alpha, beta, posterior, prior), of_option(of),
    if (!is.null(match)) option("match", one_name(match, "match")),
    if (!is.null(curve)) option("match-curve", curve),
    if (!is.null(decimals)) option("decimals", whole_text(decimals, "decimals", least = 0)),
    if (flag(scale_all, "scale_all")) "--scale-all", if (flag(queries, "queries")) "--queries",
    if (flag(crossings, "crossings")) "--crossings", if (!is.null(out)) option("out", at_home(one_name(out, "out")))
  ))
  # The value that the target bounds: epsilon, or a risk.
  measure <- if (is.null(a$goal)) "epsilon" else a$goal$measure
  measured <- c(measure, paste0("target_", measure))
  one <- function(name, row) c(list(level = name), flat(row, drop = "name", enclosures = measured))
  rows <- lapply(a$levels, function(row) one(row$name, row))
  # Levels calibrated alone do not always keep the target together.
  if (!is.null(a$all_composed)) rows <- c(rows, list(one("all composed", a$all_composed)))
  answer(bound(rows), "calibration", a, c(
    title_of(account), paste0(relation_of(a), if (!is.null(a$delta)) paste0(", delta = ", a$delta), if (!is.null(a$goal)) paste0("; ", a$goal$in_words)),
    if (is.null(a$may_be_more_private)) {
      "Each calibrated noise is proven to be enough, and the next smaller of the grid is proven not to be; of discrete Gaussian noise still smaller steps can be enough."
    } else {
      paste0("Each calibrated noise is proven to be enough. The next smaller of the grid is not enough by this account, which is an upper bound: ", a$may_be_more_private, ".")
    },
    if (identical(a$all_composed$keeps_target, FALSE)) "All levels composed exceed their target: each is calibrated alone (scale_all = TRUE keeps it)."
  ), c("level", "sigma2", "calibrated_sigma2", "factor", "reduction_percent", measured))
}

# Everything in a ledger, beside an account or in its place.
ledger_options <- function(ledger, population) {
  c(if (!is.null(ledger)) option("ledger", at_home(one_name(ledger, "ledger"))), if (!is.null(population)) option("population", one_name(population, "population")))
}

# The options of a target that does not depend on the present noise.
target_options <- function(delta, epsilon, advantage, alpha, beta, posterior, prior) {
  given <- list(delta = delta, epsilon = epsilon, advantage = advantage, alpha = alpha, beta = beta, posterior = posterior, prior = prior)
  unlist(lapply(names(given), function(name) if (!is.null(given[[name]])) option(name, one_exact(given[[name]], name))))
}

# What a posterior is of: events, unless it is said to be of outputs.
of_option <- function(of) {
  if (!identical(of, c("events", "outputs"))) option("of", one_name(of, "of"))
}

# One number of a mechanism, written as a question mark, that meets a target.
find_number <- function(mechanism, text = NULL, delta = NULL, epsilon = NULL, beside = NULL, advantage = NULL, alpha = NULL, beta = NULL, posterior = NULL,
                        prior = NULL, of = c("events", "outputs"), decimals = NULL, digits = 12, ledger = NULL, population = NULL) {
  sought <- if (inherits(mechanism, "dpassay_account")) {
    if (!is.null(text)) refuse("text: an account has its own question mark: leave text out")
    account_options(mechanism)
  } else {
    option(one_name(mechanism, "mechanism"), one_name(text, "text"))
  }
  if (!any(grepl("?", sought, fixed = TRUE))) {
    refuse(if (is.null(text)) "mechanism" else paste0("text = ", shown_value(text)), ": expected a question mark in place of a number, as in 0.01:gaussian:?x1000")
  }
  a <- answer_of("calibrate", c(
    sought,
    if (!is.null(beside)) account_options(as_account(beside)), ledger_options(ledger, population),
    digits_option(digits),
    target_options(delta, epsilon, advantage, alpha, beta, posterior, prior), of_option(of),
    if (!is.null(decimals)) option("decimals", whole_text(decimals, "decimals", least = 0))
  ), accepted = c(0L, 1L))
  if (is.null(a$found)) {
    refuse("no ", a$sought, " from ", a$least, " to ", a$most, if (isTRUE(a$proven)) " keeps the target" else " that was tried is proven to keep the target")
  }
  measure <- if (is.null(a$goal)) "epsilon" else a$goal$measure
  measured <- c(measure, paste0("target_", measure))
  row <- c(list(number = a$sought), flat(a[c("value", "not_enough", measured)], enclosures = measured), list(text = a$text_with_value))
  answer(bound(list(row)), "number", a, c(
    if (is.null(text)) title_of(mechanism) else paste0(mechanism, " ", text), paste0(relation_of(a), if (!is.null(a$delta)) paste0(", delta = ", a$delta), if (!is.null(a$goal)) paste0("; ", a$goal$in_words)),
    paste0("The number is proven to meet the target", if (isTRUE(a$proven)) ", and its neighbor on the grid is proven not to." else ".")
  ), c("number", "value", "not_enough", measured))
}

# The noise of each query with the least weighted error for a target: an epsilon, or a risk as in calibrate().
allocate <- function(queries, delta = NULL, epsilon = NULL, advantage = NULL, alpha = NULL, beta = NULL, posterior = NULL, prior = NULL, accuracy = FALSE,
                     neighbors = NULL, counts_as_given = FALSE, decimals = 4, of = c("events", "outputs"), out = NULL) {
  about <- if (inherits(queries, "dpassay_release")) {
    account_options(queries)
  } else {
    file <- if (is.data.frame(queries)) queries_file(queries) else at_home(one_name(queries, "queries"))
    if (is.data.frame(queries)) on.exit(unlink(file))
    character()
  }
  number <- function(name, value) if (!is.null(value)) option(name, one_exact(value, name))
  a <- answer_of("allocate", c(
    about, number("delta", delta), number("epsilon", epsilon), number("advantage", advantage), number("alpha", alpha), number("beta", beta),
    number("posterior", posterior), number("prior", prior), of_option(of), if (!is.null(out)) option("out", at_home(one_name(out, "out"))), if (flag(accuracy, "accuracy")) "--accuracy",
    if (!is.null(neighbors)) option("neighbors", one_name(neighbors, "neighbors")), if (flag(counts_as_given, "counts_as_given")) "--counts-as-given",
    option("decimals", whole_text(decimals, "decimals", least = 0))
  ), names = if (inherits(queries, "dpassay_release")) character() else file)
  target <- if (!is.null(a$goal)) a$goal$in_words else if (identical(a$mode, "accuracy")) "the largest noise within all accuracy targets" else
    paste0("epsilon <= ", a$epsilon, " at delta = ", a$delta)
  answer(bound(lapply(a$queries, flat)), "allocation", a, c(
    paste0(if (inherits(queries, "dpassay_release")) paste0(queries$name, ": "), "noise of each query"), paste0(relation_of(a), "; ", target)
  ), c("name", "count", "sensitivity", "weight", "sigma2", "margin_95"))
}

# Queries as the file that the program reads.
QUERY_FIELDS <- c("count", "sensitivity", "weight", "least_sigma2", "most_sigma2", "most_squared_error", "most_margin")
queries_file <- function(frame) {
  if (!"name" %in% names(frame)) refuse("the data frame of queries has no column name")
  unknown <- setdiff(names(frame), c("name", QUERY_FIELDS))
  if (length(unknown)) refuse("unknown column ", unknown[1L], " of queries: expected name, ", paste(QUERY_FIELDS, collapse = ", "))
  if (!nrow(frame)) refuse("the data frame of queries has no rows")
  quoted <- function(text) paste0("\"", gsub("([\\\\\"])", "\\\\\\1", text), "\"")
  names <- as.character(frame$name)
  if (anyNA(names) || any(grepl("[[:cntrl:]]", names))) refuse("names of queries must be texts on one line")
  given <- intersect(QUERY_FIELDS, names(frame))
  lines <- unlist(lapply(seq_len(nrow(frame)), function(k) {
    fields <- unlist(lapply(given, function(field) {
      value <- frame[[field]][k]
      if (!is.na(value)) paste0(field, " = ", quoted(exact_text(value, field)))
    }))
    c("[[query]]", paste0("name = ", quoted(names[k])), fields)
  }))
  path <- tempfile(fileext = ".toml")
  writeLines(as_bytes(lines), path, useBytes = TRUE)
  path
}

ledger <- function(name = "us-2020-persons", delta = NULL, digits = 12) {
  name <- at_home(one_name(name, "name"))
  # Without a delta that of the ledger's promise.
  a <- answer_of("ledger", c(digits_option(digits), if (!is.null(delta)) option("delta", one_exact(delta, "delta"))), name)
  rows <- unlist(lapply(a$populations, function(population) {
    uncovered <- texts(population$composed$not_covered)
    composed <- if (length(uncovered)) paste("all but", paste(uncovered, collapse = ", "), "composed") else "all composed"
    sums <- list(composed = composed, zcdp_total = "rho of all, by zCDP")
    # A population into which nothing was entered has no sums.
    sums <- sums[!vapply(names(sums), function(key) is.null(population[[key]]), NA)]
    parts <- lapply(population$releases, function(row) c(list(population = population$name, release = row$name), ledger_row(row)))
    c(parts, lapply(names(sums), function(key) c(list(population = population$name, release = sums[[key]]), ledger_row(population[[key]]))))
  }), recursive = FALSE)
  if (!length(rows)) refuse("the ledger has no entries: nothing is spent")
  conditions <- unique(unlist(lapply(a$populations, function(population) texts(population$zcdp_total$conditions))))
  answer(bound(rows), "ledger", a, c(a$title, paste0("delta = ", a$delta), conditions), c("population", "release", "rho", "epsilon", "zcdp_epsilon", "status"))
}

ledger_row <- function(row) flat(row, drop = c("name", "of_mixes", "not_covered", "condition", "conditions"), enclosures = c("epsilon", "zcdp_epsilon"))

releases <- function() {
  a <- answer_of("releases")
  rows <- lapply(a$releases, function(row) {
    list(
      name = row$name, title = row$title, neighbors = row$neighbors, rho = row$rho_exact, rho_approx = approximation(row$rho_exact),
      levels = paste(vapply(row$levels, `[[`, "", "name"), collapse = ", "), source = row$source
    )
  })
  answer(bound(rows), "releases", a, "The bundled releases", c("name", "neighbors", "rho", "title"))
}
