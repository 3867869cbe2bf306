counts <- data.frame(
  region_type = "COUNTY", geoid = "09001", level = 2, group = "1003", variable = c("T02001_003N", "T02001_002N", "T01001_001N"), count = c(40, 80, 25),
  finest = c(NA, NA, NA), stringsAsFactors = FALSE
)

test_that("published counts have intervals, or a reason", {
  skip_if_not(has_assay())
  x <- published_counts(counts, "ddhca-us")
  expect_equal(c(x$lower[1L], x$upper[1L]), c(29, 51))
  expect_true(is.na(x$lower[2L]))
  expect_match(x$reason[2L], "add all 4")
  lone <- transform(counts[3L, ], finest = "T01001")
  expect_equal(c(published_counts(lone, "ddhca-us")$lower, published_counts(lone, "ddhca-us")$upper), c(0, 36))
  expect_lt(published_counts(counts[1L, ], "ddhca-us", confidence = 90)$upper, 51)
  file <- tempfile(fileext = ".csv")
  write.csv(counts, file, row.names = FALSE, na = "", quote = FALSE)
  expect_equal(published_counts(file, "ddhca-us")$upper[1L], 51)
})

test_that("other counts are refused", {
  refused <- function(call) conditionMessage(tryCatch(call, error = identity))
  expect_match(refused(published_counts(transform(counts, geoid = 9001), "ddhca-us")), "leading zeros")
  expect_match(refused(published_counts(transform(counts, count = -1), "ddhca-us")), "whole number")
  expect_match(refused(published_counts(counts["geoid"], "ddhca-us")), "columns")
  skip_if_not(has_assay())
  expect_match(refused(published_counts(counts[1L, ], "sdhc-us")), "drawn at random")
})
