test_that("accounts are the program's options", {
  options_of <- dpassay:::account_options
  expect_equal(options_of(ten()), "--discrete-gaussian=5x10")
  expect_equal(options_of(discrete_laplace("1/10", 300, 2)), "--discrete-laplace=1/10x300@2")
  expect_equal(options_of(continuous_gaussian(2.5)), "--gaussian=2.5")
  expect_equal(options_of(composition(ten(), "40/3x7@2")), c("--discrete-gaussian=5x10", "--discrete-gaussian=40/3x7@2"))
  expect_equal(options_of(release("pl94-persons-us", c("US", "State"), group = 3)), c("--release=pl94-persons-us", "--level=US", "--level=State", "--group=3"))
  expect_equal(
    options_of(composition(ten(), neighbors = "bounded", times = 2, counts_as_given = TRUE)),
    c("--discrete-gaussian=5x10", "--neighbors=bounded", "--repeat=2", "--counts-as-given")
  )
  expect_equal(options_of(2 * ten()), "--discrete-gaussian=5x20")
  expect_equal(options_of(ten() + discrete_laplace(0.1)), c("--discrete-gaussian=5x10", "--discrete-laplace=0.1"))
})

test_that("a data frame is an account", {
  frame <- data.frame(law = c("discrete_gaussian", "discrete-laplace"), parameter = c("40/3", "0.1"), count = c(7L, 2L), shift = c(2, 1))
  expect_equal(dpassay:::account_options(frame), c("--discrete-gaussian=40/3x7@2", "--discrete-laplace=0.1x2"))
  expect_equal(as.data.frame(composition(frame))$parameter_approx, c(40 / 3, 0.1))
  expect_match(refusal(composition(frame[-2])), "no column parameter")
  expect_match(refusal(composition(cbind(frame, sigma = 1))), "unknown column sigma")
  expect_match(refusal(composition(frame[0, ])), "no rows")
  expect_match(refusal(composition(transform(frame, law = "cauchy"))), "law \"cauchy\" is unknown: expected discrete-gaussian")
  expect_match(refusal(composition(transform(frame, count = c(1, NA)))), "count = NA")
  expect_match(refusal(composition(transform(frame, parameter = c(1, NA)))), "parameter is missing")
})

test_that("bounded noise and guarantees are accounts", {
  options_of <- dpassay:::account_options
  expect_equal(options_of(truncated_laplace("0.1", 20, 3, 2)), "--truncated-laplace=0.1:20x3@2")
  expect_equal(options_of(truncated_gaussian(5, 10)), "--truncated-gaussian=5:10")
  expect_equal(options_of(randomized_response(1, answers = 4, count = 10)), "--randomized-response=1:4x10")
  expect_equal(options_of(continuous_laplace("7/2", 3, 2)), "--laplace=7/2x3@2")
  expect_equal(options_of(bounded_range("1/2", 3)), "--exponential=1/2x3")
  expect_equal(options_of(pure("1/2", 3)), "--pure=1/2x3")
  expect_equal(options_of(approximate(1, 1e-9)), "--approximate=1:1e-9")
  frame <- data.frame(law = c("approximate", "pure"), parameter = c("1", "0.5"), second = c("1e-9", NA), count = 1:2)
  expect_equal(options_of(frame), c("--approximate=1:1e-9", "--pure=0.5x2"))
  expect_equal(options_of(data.frame(law = c("continuous_laplace", "bounded_range"), parameter = c("7/2", "1"))), c("--laplace=7/2", "--exponential=1"))
  expect_match(refusal(composition(transform(frame, second = NA_character_))), "law \"approximate\" has two parameters")
  expect_match(refusal(composition(transform(frame, second = "1e-9"))), "law \"pure\" has one parameter")
  expect_output(print(composition(pure(1), approximate(1, "1e-9"))), "1 count with a guarantee of approximate DP, epsilon = 1, delta = 1e-9", fixed = TRUE)
  skip_without_assay()
  # The largest loss of a guarantee of pure DP is its epsilon, and noise that is bounded by 10 is distinguished with certainty at the bound.
  expect_lte(lower_double(epsilon(pure("1/2"), 1e-9)$epsilon_lower), 0.5)
  expect_gt(delta(truncated_gaussian(5, 10), 100)$delta_approx, 0)
  expect_equal(delta(continuous_laplace(2), "1/4")$delta_approx, 1 - exp(-1 / 8), tolerance = 1e-12)
  expect_equal(delta(bounded_range(1), 0)$delta_approx, (1 - exp(-1 / 2))^2 / (1 - exp(-1)), tolerance = 1e-12)
  expect_equal(epsilon(approximate(1, "1e-9"), "1e-9")$epsilon_approx, 1, tolerance = 1e-9)
  expect_lt(epsilon(randomized_response(1, count = 10), 1e-9)$epsilon_approx, 10 + 1e-9)
})

test_that("tables, unknown keys and sampled steps are accounts", {
  options_of <- dpassay:::account_options
  third <- noise_table(data.frame(value = -1:1, mass = c("1/4", "1/2", "1/4")), count = 2, shift = 1)
  path <- sub("x2$", "", sub("^--table=", "", options_of(third)))
  expect_equal(readLines(path), c("value,mass", "-1,1/4", "0,1/2", "1,1/4"))
  expect_equal(options_of(third), options_of(third))
  expect_equal(options_of(as.data.frame(third)[c("law", "parameter", "count")]), options_of(third))
  expect_equal(options_of(noise_table(path, count = 2)), options_of(third))
  expect_output(print(third), "2 counts with the noise of a table of 3 rows", fixed = TRUE)
  expect_true(is.na(as.data.frame(third)$parameter_approx))
  expect_equal(options_of(unknown_key(discrete_laplace("1/2"), 30, count = 10)), "--unknown-key=discrete-laplace:1/2:30x10")
  expect_equal(options_of(poisson_sampled("0.01", continuous_gaussian(1), count = 1000)), "--sampled=0.01:gaussian:1x1000")
  frame <- data.frame(law = c("unknown_key", "sampled", "pure"), parameter = c("laplace:2", "0.01:gaussian:1", "1"), second = c(30, NA, NA))
  expect_equal(options_of(frame), c("--unknown-key=laplace:2:30", "--sampled=0.01:gaussian:1", "--pure=1"))
  expect_match(refusal(composition(transform(frame, parameter = "1"))), "expected LAW:PARAMETER for the law unknown-key")
  expect_match(refusal(unknown_key(discrete_laplace(1, count = 2), 30)), "expected one law without count")
  expect_match(refusal(poisson_sampled(0.1, approximate(1, 1e-9))), "has no place here")
  expect_match(refusal(noise_table(data.frame(value = 1))), "no column mass")
  expect_match(refusal(noise_table(data.frame(value = 0, mass = NA_real_))), "mass is missing")
  expect_match(refusal(noise_table("no/such.csv")), "no file no/such.csv")
  expect_match(refusal(perturbation_table(5)), "expected a data frame with the columns i, j, p")
  skip_without_assay()
  # One count: of the masses 1/4, 1/2, 1/4 moved by one, the outcomes that only one of the two has are certain.
  expect_equal(delta(noise_table(data.frame(value = -1:1, mass = c(0.25, 0.5, 0.25))), 0)$delta_approx, 0.5, tolerance = 1e-12)
  expect_match(refusal(delta(noise_table(data.frame(value = -1:1, mass = c(0.25, 0.5, 0.3))), 0)), "1.05|21/20")
  thirds <- noise_table(data.frame(value = -1:1, mass = 1), normalize = TRUE)
  expect_equal(delta(thirds, 0)$delta_approx, 1 / 3, tolerance = 1e-12)
  expect_equal(delta(outcome_pair(data.frame(p = c(0.75, 0.25), q = c(0.25, 0.75))), 0)$delta_approx, 0.5, tolerance = 1e-12)
  cells <- data.frame(i = c(0, 1, 1, 1, 2, 2, 2), j = c(0, 0, 1, 2, 1, 2, 3), p = c(1, 0.25, 0.5, 0.25, 0.25, 0.5, 0.25))
  expect_gt(delta(perturbation_table(cells), 0)$delta_approx, 0.7)
  expect_gt(delta(unknown_key(discrete_laplace("1/2"), 30), 0)$delta_approx, 0)
  expect_lt(epsilon(poisson_sampled("0.01", continuous_gaussian(1), count = 10), 1e-9)$epsilon_approx, 4)
})

test_that("what is no account is refused", {
  expect_match(refusal(epsilon(5, 1e-9)), "account = 5: expected counts with noise")
  expect_match(refusal(epsilon("su-su-wang-2025", 1e-9)), "expected counts with noise")
  expect_match(refusal(composition()), "nothing to compose")
  expect_match(refusal(composition(release("x"))), "several releases about the same people are a ledger")
  expect_match(refusal(composition("5x10x3")), "expected SIGMA2\\[xCOUNT\\]")
  expect_match(refusal(release(NA_character_)), "name = NA: expected one text")
  expect_match(refusal(release("x", levels = 5)), "levels = 5: expected texts")
  expect_match(refusal(discrete_gaussian(5, counts_as_given = NA)), "counts_as_given = NA: expected TRUE or FALSE")
  expect_match(refusal(composition(discrete_gaussian(5, neighbors = "bounded"), discrete_gaussian(5))), "under different relations")
  same <- composition(discrete_gaussian(5, neighbors = "bounded"), discrete_gaussian(5, neighbors = "bounded"))
  expect_equal(same$relation, "--neighbors=bounded")
})

test_that("accounts are printed as they are accounted for", {
  expect_output(print(composition(ten(), "40/3x7@2", neighbors = "bounded", times = 2)), paste(
    "10 counts with discrete Gaussian noise, sigma2 = 5", "7 counts with discrete Gaussian noise, sigma2 = 40/3, each changed by 2",
    "neighbors = bounded, times = 2", sep = "\n"
  ), fixed = TRUE)
  expect_output(print(release("pl94-persons-us", "State", neighbors = "add-remove")), "release pl94-persons-us: State\nneighbors = add-remove", fixed = TRUE)
})
