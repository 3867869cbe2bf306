answers <- function() {
  own <- release("su-su-wang-2025")
  list(
    deltas = epsilon(ten(), 10^-(3:6)), levels = epsilon(own, "1e-11", by = "level"), one = epsilon(ten(), 1e-9), delta = delta(ten(), c(1, 5, 10)),
    profile = privacy_profile(ten(), 0, 200, 9), tradeoff = tradeoff(ten(), points = 11), compare = compare(ten(), 1e-9),
    calibrate = calibrate(own, 1e-11), laplace = calibrate(discrete_laplace("1/10", 3), 1e-9, epsilon = 1), ledger = ledger(own_ledger(), 1e-10, digits = 6),
    verify = verify("spines-2024"), risk = risk(ten(), 0.5), curve = risk_curve(ten(), 0.5, points = 9), posterior = risk_single(0.099, 0.5, -3:3)
  )
}

test_that("every answer is drawn, by base graphics and by ggplot2", {
  skip_without_assay()
  found <- answers()
  file <- tempfile(fileext = ".pdf")
  on.exit(unlink(file))
  grDevices::pdf(file)
  for (one in found) expect_invisible(plot(one))
  if (requireNamespace("ggplot2", quietly = TRUE)) {
    for (one in found) {
      drawn <- ggplot2::autoplot(one)
      expect_s3_class(drawn, "ggplot")
      expect_silent(ggplot2::ggplot_build(drawn))
    }
  }
  grDevices::dev.off()
  expect_gt(file.size(file), 10000)
})

test_that("charts of estimates name their unit, every row and its margin", {
  skip_without_assay()
  folder <- file.path(Sys.getenv("DPASSAY_EXAMPLES"), "nmf")
  skip_if(!dir.exists(folder), "DPASSAY_EXAMPLES does not name the folder data/examples")
  estimate <- function(...) nmf_estimate(folder, "pl94-persons-us", ...)
  found <- list(estimate(), estimate(level = "Block_Group"), estimate(level = "State"), estimate(variables = c("P1_003N", "P1_001N"), confidence = 90),
    estimate(variables = c("P1_003N", "P1_001N"), wide = TRUE, confidence = 90), estimate(level = "County", whole = character()), estimate(areas = file.path(folder, "towns.csv")))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (one in found) {
    made <- dpassay:::chart(one)
    expect_false(anyDuplicated(made$data$x) > 0L)
    expect_match(made$xlab, "^persons")
    expect_invisible(plot(one))
    if (requireNamespace("ggplot2", quietly = TRUE)) expect_silent(ggplot2::ggplot_build(ggplot2::autoplot(one)))
  }
  made <- dpassay:::chart(found[[4L]])
  expect_equal(made$xlab, "persons, P1_003N Total: Population of one race: White alone")
  expect_match(made$subtitle, "margins of 90 %, INSECURE seed")
  expect_equal(made$data$high - made$data$y, found[[4L]]$moe[found[[4L]]$variable == "P1_003N"])
  expect_equal(dpassay:::chart(found[[5L]])$data$high, made$data$high)
  expect_match(dpassay:::chart(found[[6L]])$subtitle, "whole counts")
})

test_that("the legend of lines is where no line is", {
  skip_without_assay()
  expect_equal(dpassay:::free_corner(dpassay:::chart(privacy_profile(ten(), 0, 14, 9))), "topright")
  expect_equal(dpassay:::free_corner(dpassay:::chart(risk_curve(ten(), 0.5, points = 9))), "bottomright")
})

test_that("charts show the values of the answer, each once", {
  skip_without_assay()
  made <- dpassay:::chart(compare(ten(), 1e-9))
  expect_equal(made$data$y[made$data$series == "exact"], 9.10044750311650)
  expect_equal(nrow(made$data), 5)
  rows <- verify("spines-2024")
  expect_equal(sum(dpassay:::chart(rows)$data$y), nrow(rows))
  books <- dpassay:::chart(ledger(own_ledger(), 1e-10, digits = 6))
  expect_equal(books$rows[2], "budget-only")
  # A delta that underflows to zero has no place on a logarithmic axis.
  far <- privacy_profile(ten(), 0, 200, 9)
  expect_true(all(dpassay:::chart(far)$data$y > 0))
  expect_match(refusal(plot(releases())), "there is no chart")
})
