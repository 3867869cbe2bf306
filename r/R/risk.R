# Disclosure risk: the limit for any adversary, and the attacks of Kazan & Reiter (2023).

QUANTITIES <- c(
  correct_decision_upper = "correct decision, at most", posterior_events = "posterior after events, at most", posterior_upper = "posterior of outputs, at most", advantage = "advantage of any test",
  posterior_exceeded = "posterior that is exceeded", epsilon = "epsilon", correct_decision_by_epsilon = "correct decision by epsilon, at most",
  posterior = "posterior", marginal_posterior = "posterior, on average", marginal_posterior_if_absent = "posterior, on average, if absent",
  risk = "relative risk", correct_decision = "correct decision", correct_decision_if_absent = "correct decision, if absent",
  probability = "probability of this output", probability_if_absent = "probability of this output, if absent",
  gained = "gained", lost = "lost", correct_decision_alone = "correct decision by the lowest count alone", one_gaussian_error = "error of one Gaussian"
)

# A row for each enclosure of the answer, with those of the other accounts beside it.
quantity_rows <- function(a, beside = list()) {
  keys <- names(Filter(is_enclosure, a))
  bound(lapply(keys, function(key) {
    words <- if (key %in% names(QUANTITIES)) QUANTITIES[[key]] else gsub("_", " ", key, fixed = TRUE)
    others <- unlist(lapply(names(beside), function(name) enclosed(name, beside[[name]][[key]])), recursive = FALSE)
    c(list(key = key, quantity = words), enclosed("value", a[[key]]), others)
  }))
}

# An account, or everything in a ledger.
subject_options <- function(account, ledger, population) {
  if (is.null(account) == is.null(ledger)) refuse("account: expected an account, or ledger in its place")
  if (is.null(ledger) && !is.null(population)) refuse("population: goes with ledger")
  c(if (!is.null(account)) account_options(as_account(account)), ledger_options(ledger, population))
}

subject_title <- function(account, ledger, population) {
  if (is.null(ledger)) title_of(as_account(account)) else paste0("everything in the ledger ", ledger, if (!is.null(population)) paste0(" about ", population))
}

risk <- function(account = NULL, prior, delta = NULL, digits = 12, ledger = NULL, population = NULL) {
  a <- answer_of(c("risk", "bound"), c(
    subject_options(account, ledger, population), digits_option(digits), option("prior", one_exact(prior, "prior")), if (!is.null(delta)) option("delta", one_exact(delta, "delta"))
  ))
  beside <- Filter(Negate(is.null), a[c("zcdp", "pure")])
  answer(quantity_rows(a, beside), "risk", a, c(
    subject_title(account, ledger, population), paste0(relation_of(a), ", prior = ", a$prior, ", delta = ", a$delta, ": bounds on any adversary")
  ), c("quantity", "value", names(beside)))
}

# The best test of each type I error: its power, and what it makes of a reported record.
risk_curve <- function(account = NULL, prior, alpha = NULL, points = 201, from = "1e-6", digits = 12, ledger = NULL, population = NULL) {
  which <- if (is.null(alpha)) {
    c(option("points", whole_text(points, "points", least = 2)), option("from", one_exact(from, "from")))
  } else {
    option("alpha", some_exact(alpha, "alpha"))
  }
  a <- answer_of(c("risk", "curve"), c(subject_options(account, ledger, population), digits_option(digits), option("prior", one_exact(prior, "prior")), which))
  frame <- data.frame(alpha = texts(a$alpha), alpha_approx = approximation(texts(a$alpha)), stringsAsFactors = FALSE)
  for (name in c("power", "posterior", "relative_risk")) {
    lower <- texts(a[[paste0(name, "_lower")]])
    upper <- texts(a[[paste0(name, "_upper")]])
    frame[paste0(name, c("_lower", "_upper", "_approx"))] <- list(lower, upper, middle(lower, upper))
  }
  frame$status <- texts(a$status)
  answer(frame, "risk_curve", a, c(
    subject_title(account, ledger, population), paste0(relation_of(a), ", prior = ", a$prior, ": the largest of all tests of each type I error alpha")
  ), c("alpha", "power", "posterior", "relative_risk"))
}

risk_single <- function(rho = NULL, prior, noisy = NULL, digits = 12, release = NULL, level = NULL, query = NULL) {
  if (is.null(rho) == is.null(release)) refuse("rho: expected the rho of a count, or release, level and query in its place")
  count <- if (is.null(release)) {
    rho <- paste(some_exact(rho, "rho"), collapse = ",")
    option("rho", rho)
  } else {
    c(option("release", release_name(release)), several("level", level), several("query", query))
  }
  options <- c(digits_option(digits), count, option("prior", one_exact(prior, "prior")))
  # The program computes the rho of a query.
  if (is.null(rho)) rho <- answer_of(c("risk", "single"), options)$rho
  if (is.null(noisy)) {
    a <- answer_of(c("risk", "single"), options)
    return(answer(quantity_rows(a), "risk", a, paste0("one noisy count: rho = ", rho, ", prior = ", a$prior), c("quantity", "value")))
  }
  noisy <- whole_numbers(noisy, "noisy")
  if (grepl(",", rho, fixed = TRUE)) {
    # Several counts are seen at once.
    a <- answer_of(c("risk", "single"), c(options, option("noisy", paste(noisy, collapse = ","))))
    return(answer(quantity_rows(a), "risk", a, paste0("noisy counts: rho = ", rho, ", prior = ", a$prior), c("quantity", "value")))
  }
  answers <- each(noisy, function(x) answer_of(c("risk", "single"), c(options, option("noisy", x))))
  rows <- Map(function(a, x) {
    c(list(noisy = as.numeric(x)), flat(a[vapply(a, is_enclosure, NA)]), list(status = a$status))
  }, answers, noisy)
  answer(bound(rows), "posterior", answers, paste0("one noisy count minus the known count: rho = ", rho, ", prior = ", answers[[1L]]$prior),
    c("noisy", "posterior", "risk", "probability"))
}

risk_hierarchical <- function(rho, others, prior, noisy = NULL, truth = NULL, prior_x2 = "uniform", known = 0, digits = 12, one_gaussian = FALSE) {
  if (is.null(noisy) == is.null(truth)) refuse("give either noisy, the released counts, or truth, the true ones")
  outputs <- if (is.null(noisy)) option("truth", paste(whole_numbers(truth, "truth"), collapse = ",")) else
    option("noisy", paste(whole_numbers(noisy, "noisy"), collapse = ","))
  a <- answer_of(c("risk", "hierarchical"), c(
    digits_option(digits), option("rho", paste(some_exact(rho, "rho"), collapse = ",")), option("others", paste(whole_numbers(others, "others"), collapse = ",")),
    option("prior", one_exact(prior, "prior")), option("prior-x2", one_name(prior_x2, "prior_x2")), option("known", whole_numbers(known, "known")), outputs,
    if (flag(one_gaussian, "one_gaussian")) "--one-gaussian"
  ))
  answer(quantity_rows(a), "risk", a, paste0("counts of two levels or more: prior = ", a$prior), c("quantity", "value"))
}

# Whole numbers of either sign, each a text.
whole_numbers <- function(x, what) {
  if (!length(x)) refuse(what, " has no values: expected whole numbers")
  if (is.object(x) || !is.numeric(x)) refuse(what, " = ", shown_value(x), ": expected whole numbers")
  vapply(x, whole_text, "", what = what, least = -2^53, USE.NAMES = FALSE)
}
