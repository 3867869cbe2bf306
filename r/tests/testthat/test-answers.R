# Values of the guide, which the program's own tests certify.
test_that("epsilon and delta have both ends as texts and an approximation", {
  skip_without_assay()
  e <- epsilon(ten(), "1e-11", digits = 20)
  expect_s3_class(e, "data.frame")
  expect_equal(e$epsilon_lower, "10.124830934480989177172")
  expect_equal(e$epsilon_upper, "10.124830934480989177213")
  expect_equal(e$epsilon_approx, 10.124830934480989)
  expect_identical(e$delta, "1e-11")
  expect_identical(e$rho, "1")
  expect_identical(e$status, "met")
  expect_true(lower_double(e$epsilon_lower) <= e$epsilon_approx && e$epsilon_approx <= upper_double(e$epsilon_upper))
  # The upper end is enough, the lower is not, by the other function.
  ends <- delta(ten(), c(e$epsilon_lower, e$epsilon_upper), digits = 30)
  expect_gte(ends$delta_approx[1], 1e-11 * (1 - 1e-12))
  expect_lte(lower_double(ends$delta_lower[2]), 1e-11)
  expect_equal(about(e)[[1]]$provenance$program, "assay")
})

test_that("several values are several rows", {
  skip_without_assay()
  e <- epsilon(ten(), c(1e-5, 1e-11))
  expect_equal(e$delta, c("1e-5", "1e-11"))
  expect_equal(e$delta_approx, c(1e-5, 1e-11))
  expect_equal(e$epsilon_lower, c(epsilon(ten(), "1e-5")$epsilon_lower, "10.1248309344789"))
  expect_s3_class(e[1, ], "data.frame", exact = TRUE)
  expect_equal(dim(e[2, c("delta", "epsilon_upper")]), c(1L, 2L))
  expect_match(refusal(epsilon(ten(), character())), "delta has no values")
})

test_that("levels and queries of a release are rows", {
  skip_without_assay()
  levels <- epsilon(release("su-su-wang-2025"), "1e-11", by = "level")
  expect_equal(levels$level[c(1, 9)], c("US", "all composed"))
  expect_match(levels$epsilon_lower[2], "^10\\.1254170441")
  expect_match(levels$epsilon_upper[9], "^21\\.26720183553")
  queries <- epsilon(release("su-su-wang-2025", "State"), "1e-11", by = "query")
  expect_equal(queries$rho_exact, "10001/10000")
  expect_equal(queries$counts, 10)
  expect_match(refusal(epsilon(ten(), 1e-9, by = "county")), "by = \"county\": expected \"all\", \"level\", \"query\"")
})

test_that("curves are data frames", {
  skip_without_assay()
  curve <- privacy_profile(ten(), 0, 12, 5)
  expect_equal(curve$epsilon, c("0", "3", "6", "9", "12"))
  expect_true(all(diff(curve$delta_approx) < 0))
  expect_equal(curve$delta_approx[4], delta(ten(), 9)$delta_approx, tolerance = 1e-11)
  power <- tradeoff(ten(), alpha = c("0.05", "1/10"))
  expect_equal(power$beta_lower, c("0.591341984308022", "0.448140429861358"))
  expect_equal(nrow(tradeoff(ten(), points = 11)), 11)
})

test_that("accounts are compared, also several", {
  skip_without_assay()
  one <- compare(ten(), 1e-9)
  expect_equal(one$accountant[1:4], c("exact", "RDP", "zCDP (best order)", "zCDP (Bun-Steinke)"))
  expect_equal(one$epsilon_lower[1], "9.10044750311467")
  expect_true(is.na(one$epsilon_approx[one$accountant == "pure DP"]))
  expect_identical(one$is_bound[one$accountant == "GDP"], FALSE)
  two <- compare(list(small = ten(), large = 2 * ten()), 1e-9)
  expect_equal(unique(two$account), c("small", "large"))
  expect_gt(two$epsilon_approx[7], two$epsilon_approx[1])
})

test_that("calibration returns the least noise of the grid", {
  skip_without_assay()
  found <- calibrate(ten(), "1e-11", match = "zcdp")
  expect_equal(c(found$calibrated_sigma2, found$not_enough_sigma2), c("4.25", "4.24"))
  expect_lte(upper_double(epsilon(discrete_gaussian("4.25", 10), "1e-11")$epsilon_upper), lower_double(found$target_epsilon_lower))
  expect_gt(lower_double(epsilon(discrete_gaussian("4.24", 10), "1e-11")$epsilon_lower), upper_double(found$target_epsilon_upper))
  laplace <- calibrate(discrete_laplace("1/10", 3), 1e-9, epsilon = 1)
  expect_equal(laplace$factor, "0.3")
  both <- calibrate(release("su-su-wang-2025", c("State", "US")), 1e-11)
  expect_equal(both$level, c("State", "US", "all composed"))
  expect_output(print(both), "All levels composed exceed their target")
  expect_equal(calibrate(ten(), match_curve = c(1e-11, 1e-5))$calibrated_sigma2, "4.26")
  risk <- calibrate(ten(), posterior = "0.6", prior = "1/2")
  expect_lte(upper_double(risk$correct_decision_upper), 0.6)
  expect_lte(calibrate(ten(), advantage = "0.1")$advantage_approx, 0.1)
  expect_gte(calibrate(ten(), alpha = "0.05", beta = "0.9")$beta_approx, 0.9)
  expect_match(refusal(calibrate(ten(), posterior = "0.4", prior = "1/2")), "above 0.5")
  expect_match(refusal(calibrate(ten())), "delta")
  expect_match(refusal(calibrate(ten(), 1e-9, match = "guess")), "guess")
})

test_that("ledgers list releases and their sums", {
  skip_without_assay()
  books <- ledger(own_ledger(), "1e-10", digits = 6)
  expect_equal(books$release, c("su-su-wang-2025", "budget-only", "all but budget-only composed", "rho of all, by zCDP"))
  # One record leaves and another enters: twice the rho.
  expect_equal(books$rho_approx[1], 7.3)
  expect_equal(books$epsilon_lower[1], epsilon(release("su-su-wang-2025", times = 2), "1e-10", digits = 6)$epsilon_lower)
  expect_true(is.na(books$epsilon_approx[2]))
  expect_output(print(books), "^Our books")
  expect_match(refusal(ledger("no-such-ledger", 1e-9)), "no-such-ledger")
})

test_that("published values are recomputed", {
  skip_without_assay()
  found <- verify("spines-2024")
  expect_setequal(unique(found$paper), "spines-2024")
  expect_true(all(found$verdict %in% c("agrees", "agrees-as-read", "differs", "disproved", "undecided", "needs-data", "circular", "not-printed")))
  expect_output(print(found), paste0("^", nrow(found), " published values: "))
  expect_match(refusal(verify("no-such-paper")), "unknown paper \"no-such-paper\"")
})

test_that("a value that differs is an answer, not an error", {
  skip_without_assay()
  path <- file.path(withr_folder(environment()), "own's.csv")
  writeLines(c("id,place,printed,unit,kind,discrete-gaussian,delta", "mine,Table 1,9.99,nats,epsilon,5x10,1e-11"), path)
  found <- verify(path)
  expect_equal(found$verdict, "differs")
  expect_match(found$computed_lower, "^10\\.12483")
})

test_that("risk is bounded, and the attacks have their posterior", {
  skip_without_assay()
  bounds <- risk(ten(), "1/2")
  expect_equal(bounds$value_lower[bounds$key == "correct_decision_upper"], "0.759883473768377")
  expect_true(all(bounds$value_approx <= bounds$zcdp_approx, na.rm = TRUE))
  average <- risk_single("0.099", "1/2")
  expect_match(average$value_lower[average$key == "correct_decision"], "^0\\.58875905409")
  seen <- risk_single("0.099", "1/2", noisy = -1:2)
  expect_equal(seen$noisy, -1:2)
  expect_match(seen$posterior_lower, "^0\\.(426291|475270|524729|573708)")
  two <- risk_single(c("0.099", "0.246"), "1/2", noisy = c(1, 0))
  expect_true("posterior" %in% two$key)
  levels <- risk_hierarchical(c("0.099", "0.246"), 27, "1/2", truth = c(1, 1, 0))
  expect_match(levels$value_lower[levels$key == "correct_decision"], "^0\\.3182785")
  expect_match(refusal(risk_hierarchical(0.1, 27, 0.5)), "give either noisy")
  expect_match(refusal(risk_single(0.1, 0.5, noisy = 1.5)), "noisy = 1.5: expected a whole number")
})

test_that("bundled releases are listed", {
  skip_without_assay()
  found <- releases()
  expect_true(all(c("pl94-persons-us", "su-su-wang-2025") %in% found$name))
  expect_equal(found$rho_approx[found$name == "su-su-wang-2025"], 3.65)
})

test_that("printing rounds outward and says what was cut", {
  skip_without_assay()
  expect_output(print(epsilon(ten(), "1e-11"), digits = 5), "[10.124, 10.125]", fixed = TRUE)
  expect_output(print(privacy_profile(ten(), points = 50)), "... and 30 more rows", fixed = TRUE)
  expect_output(print(calibrate(release("su-su-wang-2025", "State"), 1e-11)), "4.999500049995...", fixed = TRUE)
})

test_that("the relation of an account reaches the program", {
  skip_without_assay()
  doubled <- epsilon(discrete_gaussian(5, 10, neighbors = "bounded"), "1e-11")
  expect_identical(c(doubled$neighbors, doubled$times_each_count), c("bounded", "2"))
  expect_equal(doubled$epsilon_lower, epsilon(discrete_gaussian(5, 20), "1e-11")$epsilon_lower)
  expect_equal(epsilon(discrete_gaussian(5, 10, group = 2), 1e-9)$epsilon_lower, epsilon(discrete_gaussian(5, 10, 2), 1e-9)$epsilon_lower)
})

test_that("a locale without UTF-8 changes no argument", {
  skip_without_assay()
  skip_on_os("windows")
  code <- "options(dpassay.program = Sys.getenv('ASSAY_HERE')); cat(tryCatch(dpassay::epsilon(dpassay::release('\\u00c6r\\u00f8'), 1e-9), dpassay_error = function(e) utf8ToInt(enc2utf8(substr(sub('.*\"(.*)\".*', '\\\\1', conditionMessage(e)), 1, 3)))))"
  said <- system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", "-e", shQuote(paste0(".libPaths(", paste(deparse(.libPaths()), collapse = ""), ");", code))),
    stdout = TRUE, env = c("LC_ALL=C", paste0("ASSAY_HERE=", shQuote(assay_program()))))
  expect_match(paste(said, collapse = " "), "198 114 248")
})
