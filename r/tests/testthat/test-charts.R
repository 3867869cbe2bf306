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
