counts <- function() data.frame(block = c("a", "b", "c"), persons = c(12L, 0L, 341L), homes = c(5, 0, 120), stringsAsFactors = FALSE)
quietly <- function(code) withCallingHandlers(code, dpassay_insecure_warning = function(w) invokeRestart("muffleWarning"))

test_that("noise is that of the program, added exactly", {
  skip_without_assay()
  noisy <- quietly(add_noise(counts(), list(persons = discrete_gaussian(5)), insecure_seed = 4))
  # As in the Python package, whose guide shows these counts.
  expect_equal(noisy$persons, c(15, 3, 340))
  expect_identical(noisy[c("block", "homes")], counts()[c("block", "homes")])
  expect_s3_class(noisy, "data.frame", exact = TRUE)
  expect_equal(counts()$persons + quietly(sample_noise(discrete_gaussian(5), 3, insecure_seed = 4)), c(15, 3, 340))
  expect_warning(sample_noise(discrete_gaussian(5), 1, insecure_seed = 4), "anyone who knows it can subtract", class = "dpassay_insecure_warning")
})

test_that("each column has noise of its own, and each call fresh noise", {
  skip_without_assay()
  zeros <- data.frame(a = integer(40), b = integer(40))
  law <- list(a = discrete_gaussian(1000), b = discrete_gaussian(1000))
  seeded <- quietly(add_noise(zeros, law, insecure_seed = 1))
  expect_false(identical(seeded$a, seeded$b))
  expect_false(identical(add_noise(zeros, law), add_noise(zeros, law)))
})

test_that("vectors keep their names, and 2^52 is exact", {
  skip_without_assay()
  large <- c(x = 2^52, y = -2^52, z = 0)
  noisy <- quietly(add_noise(large, discrete_gaussian("1e12"), insecure_seed = 9))
  expect_named(noisy, c("x", "y", "z"))
  expect_equal(noisy - large, quietly(sample_noise(discrete_gaussian("1e12"), 3, insecure_seed = 9)), ignore_attr = TRUE)
  expect_identical(add_noise(integer(), discrete_gaussian(5)), numeric())
})

test_that("what is no count gets no noise, and no message shows a count", {
  refused <- function(persons) {
    frame <- counts()
    frame$persons <- persons
    refusal(add_noise(frame, list(persons = discrete_gaussian(5))))
  }
  expect_match(refused(c(12, NA, 341)), "column persons: a missing count in row 2: a withheld count gets no noise")
  expect_match(refused(c(12, 0.5, 341.5)), "column persons: a number that is not whole in row 2 and 1 more: expected counts")
  expect_match(refused(c(12, 0, Inf)), "not whole in row 3")
  expect_match(refused(c(12, 0, 2^53)), "beyond 2\\^52 in row 3")
  expect_match(refused(c("12", "0", "341")), "column persons: expected a vector of integers")
  expect_match(refused(factor(c(12, 0, 341))), "object of class factor")
  expect_match(refused(structure(c(1, 2, 3), class = "integer64")), "object of class integer64")
  expect_match(refused(c(TRUE, FALSE, TRUE)), "expected a vector of integers")
  for (bad in list(c(12345, NA, 1), c(12345, 0.25, 1), c(12345, 0, 2^60))) expect_no_match(refused(bad), "12345|0\\.25|1152921504606846976")
})

test_that("noise is for named columns only", {
  both <- cbind(counts(), persons = 1L)
  names(both)[4] <- "persons"
  expect_match(refusal(add_noise(both, list(persons = discrete_gaussian(5)))), "2 columns are named persons")
  expect_match(refusal(add_noise(counts(), list(people = discrete_gaussian(5)))), "no column people: the data frame has block, persons, homes")
  expect_match(refusal(add_noise(counts(), list())), "without noise the table would be published as it is")
  expect_match(refusal(add_noise(counts(), discrete_gaussian(5))), "expected a list from column to noise")
  expect_match(refusal(add_noise(counts(), list(discrete_gaussian(5)))), "without the name of its column")
  expect_match(refusal(add_noise(counts(), list(persons = discrete_gaussian(5), persons = discrete_gaussian(5)))), "named twice")
  expect_match(refusal(add_noise(1:3, list(persons = discrete_gaussian(5)))), "a list of noise is for a data frame")
  expect_match(refusal(add_noise(1:3, continuous_gaussian(5))), "Gaussian noise, sigma2 = 5 is not sampled: expected discrete_gaussian")
  expect_match(refusal(add_noise(1:3, ten() + ten())), "noise of 2 laws: expected one")
  expect_match(refusal(add_noise(structure(counts(), class = c("grouped_df", "data.frame")), list(persons = discrete_gaussian(5)))), "class grouped_df")
})

test_that("truncated noise, tables and randomized response are drawn", {
  skip_without_assay()
  expect_setequal(sample_noise(truncated_laplace("1/10", 2), 300), -2:2)
  expect_setequal(sample_noise(truncated_gaussian("1e6", 1), 100), -1:1)
  # The second stair has a mass of exp(-1000).
  expect_setequal(sample_noise(staircase(1000, 5, 3), 300), -2:2)
  rows <- data.frame(value = c(-3L, 4L), mass = c("1", "1"))
  expect_setequal(sample_noise(noise_table(rows, normalize = TRUE), 100), c(-3, 4))
  truth <- rep(0:2, 100)
  given <- add_noise(truth, randomized_response("1/2", 3))
  expect_setequal(given, 0:2)
  expect_true(any(given != truth))
  expect_match(refusal(add_noise(c(0, 3, 1), randomized_response(1, 3))), "no answer in row 2: the 3 answers are the numbers from 0 to 2")
  expect_match(refusal(sample_noise(pure(1), 3)), "is not sampled")
})

test_that("metadata may hold true counts and is left out", {
  skip_without_assay()
  labelled <- counts()
  attr(labelled, "note") <- "true total 353"
  attr(labelled, "index") <- structure(integer(), "__persons" = c(2L, 1L, 3L))
  attr(labelled$persons, "label") <- "12 and 341"
  attr(labelled$homes, "label") <- "5 and 120"
  labelled$block <- factor(labelled$block)
  noisy <- add_noise(labelled, list(persons = discrete_gaussian(5)))
  expect_setequal(names(attributes(noisy)), c("names", "row.names", "class"))
  expect_null(attributes(noisy$persons))
  expect_null(attributes(noisy$homes))
  expect_identical(noisy$block, labelled$block)
  expect_warning(
    kept <- add_noise(labelled, list(persons = discrete_gaussian(5)), keep_metadata = TRUE),
    "copied without noise: attribute note; attribute index; attribute label of column homes", class = "dpassay_metadata_warning"
  )
  expect_identical(attr(kept, "note"), "true total 353")
  expect_null(attributes(kept$persons))
})

test_that("tibbles stay tibbles", {
  skip_without_assay()
  skip_if_not_installed("tibble")
  noisy <- add_noise(tibble::as_tibble(counts()), list(homes = discrete_laplace("1/2")))
  expect_s3_class(noisy, "tbl_df")
  expect_type(noisy$homes, "double")
})

test_that("a data.table stays one, without its indices, and can be changed by reference", {
  skip_without_assay()
  skip_if_not_installed("data.table")
  table <- data.table::as.data.table(counts())
  data.table::setindexv(table, "persons")
  noisy <- add_noise(table, list(persons = discrete_gaussian(5)))
  expect_s3_class(noisy, "data.table")
  expect_null(attr(noisy, "index"))
  expect_silent(data.table::set(noisy, j = "twice", value = 2 * noisy$persons))
  expect_equal(noisy$twice, 2 * noisy$persons)
  expect_equal(table$persons, counts()$persons)
})

test_that("no count reaches the program or a file", {
  skip_on_os("windows")
  # A program that records how it is called, and draws zeros.
  spy <- invented_program(c(
    "echo \"$@\" > \"${0%/*}/called\"", "cat >> \"${0%/*}/called\"", "env >> \"${0%/*}/called\"",
    "printf '{\"values\": [\"0\", \"0\"], \"provenance\": {\"program\": \"assay\", \"version\": \"0.2.0\"}}'"
  ))
  before <- list.files(tempdir(), recursive = TRUE, all.files = TRUE)
  with_option(dpassay.program = spy, code = expect_equal(add_noise(c(987654321, 123454321), discrete_gaussian(5)), c(987654321, 123454321)))
  called <- readLines(file.path(dirname(spy), "called"))
  expect_equal(called[1], "sample --discrete-gaussian=5 --count=2 --json-strings")
  expect_no_match(paste(called, collapse = "\n"), "987654321|123454321")
  expect_setequal(setdiff(list.files(tempdir(), recursive = TRUE, all.files = TRUE), before), file.path(basename(dirname(spy)), "called"))
  # Samples that are too few or too large are not added.
  with_option(dpassay.program = spy, code = expect_match(refusal(add_noise(1:3, discrete_gaussian(5))), "drew 2 samples in place of 3"))
})

test_that("rows in the order of their true counts are refused, and unused levels are left out", {
  law <- discrete_laplace(100)
  sorted <- c(b = 50, c = 5, a = 3)
  frame <- data.frame(key = factor(c("b", "c", "a"), levels = c("a", "b", "c", "secret")), n = c(50, 5, 3))
  # Also with falling keys, of two rows, and within each group of equal first keys.
  groups <- data.frame(g = rep(c("x", "y"), each = 2), key = c("b", "a", "a", "b"), n = c(9, 4, 8, 3))
  for (counts in list(sorted, rev(sorted), c(c = 50, b = 5, a = 3), c(b = 5, a = 3))) {
    expect_match(refusal(add_noise(counts, law)), "the counts are in the order of the true counts")
    expect_warning(add_noise(counts, law, keep_order = TRUE), "in the order of the true counts", class = "dpassay_order_warning")
  }
  for (counts in list(frame, groups)) {
    expect_match(refusal(add_noise(counts, list(n = law))), "column n: the rows are in the order")
    expect_warning(add_noise(counts, list(n = law), keep_order = TRUE), class = "dpassay_order_warning")
  }
  # Rows in the order of their keys, as many counts have an order by chance, no keys, and one order of keys in every group, as of a code book.
  for (counts in list(c(a = 50, b = 5, c = 3), c(b = 5, c = 50, a = 3), c(50, 5, 3), c(b = 4, c = 4, a = 4))) {
    expect_no_warning(add_noise(counts, law))
  }
  expect_no_warning(add_noise(data.frame(g = rep(c("x", "y"), each = 2), key = c("m", "f"), n = c(5, 4, 9, 3)), list(n = law)))
  frame <- frame[order(frame$key), ]
  expect_identical(levels(add_noise(frame, list(n = law))$key), c("a", "b", "c"))
  expect_warning(kept <- add_noise(frame, list(n = law), keep_metadata = TRUE), "unused levels of column key", class = "dpassay_metadata_warning")
  expect_identical(levels(kept$key), c("a", "b", "c", "secret"))
})

test_that("cross tables get noise in every cell, and stay what they are", {
  skip_without_assay()
  law <- discrete_gaussian(5)
  plain <- table(cyl = mtcars$cyl, gear = mtcars$gear)
  noisy <- quietly(add_noise(plain, law, insecure_seed = 1))
  expect_s3_class(noisy, "table", exact = TRUE)
  expect_identical(dimnames(noisy), dimnames(plain))
  expect_equal(as.vector(noisy) - as.vector(plain), quietly(sample_noise(law, 9, insecure_seed = 1)))
  # The call of xtabs() could hold anything.
  crossed <- xtabs(~ cyl + gear, mtcars)
  expect_setequal(names(attributes(add_noise(crossed, law))), c("dim", "dimnames", "class"))
  expect_warning(kept <- add_noise(crossed, law, keep_metadata = TRUE), "copied without noise: attribute call", class = "dpassay_metadata_warning")
  expect_false(is.null(attr(kept, "call")))
  flat <- stats::ftable(Titanic, row.vars = 1:2)
  expect_identical(attributes(add_noise(flat, law))[c("row.vars", "col.vars", "class")], attributes(flat)[c("row.vars", "col.vars", "class")])
  expect_identical(dim(add_noise(Titanic, law)), dim(Titanic))
  counts <- matrix(c(3L, 6L, 5L, 1L, 4L, 2L), 2L, dimnames = list(NULL, c("a", "b", "c")))
  expect_identical(attributes(add_noise(counts, law)), attributes(counts))
  expect_identical(dim(add_noise(unname(counts), law)), c(2L, 3L))
  expect_named(add_noise(table(c("b", "a", "a")), law), c("a", "b"))
  expect_true(all(add_noise(counts %% 2L, randomized_response(1)) %in% 0:1))
  # Fractions, other classes, and one noise for a table.
  expect_match(refusal(add_noise(prop.table(plain), law)), "not whole in row 1 and [0-9]+ more")
  expect_match(refusal(add_noise(structure(counts, class = "odd"), law)), "object of class odd: expected a table of table")
  expect_match(refusal(add_noise(plain, list(cyl = law))), "a list of noise is for a data frame")
})

test_that("cross tables in the order of their counts are refused", {
  law <- discrete_laplace(100)
  plain <- table(cyl = mtcars$cyl, gear = mtcars$gear)
  # By rows, by columns, and a table of one key; the last has its keys in their own order.
  sorted <- list(plain[order(rowSums(plain)), ], plain[, order(colSums(plain))], sort(table(mtcars$carb)), stats::ftable(plain[order(-rowSums(plain)), ]))
  for (counts in sorted) expect_match(refusal(add_noise(counts, law)), "the cells are in the order of the true counts")
  skip_without_assay()
  expect_warning(add_noise(sorted[[1L]], law, keep_order = TRUE), class = "dpassay_order_warning")
  expect_no_warning(add_noise(plain, law))
})
