# The folder of the example is beside the source, and not in the package.
example <- function() {
  folder <- Sys.getenv("DPASSAY_EXAMPLES")
  testthat::skip_if(!nzchar(folder), "DPASSAY_EXAMPLES does not name the folder data/examples")
  file.path(folder, "nmf")
}

test_that("estimates are a data frame with margins", {
  skip_without_assay()
  found <- nmf_estimate(example(), "pl94-persons-us", level = c("County", "Tract"), queries = c("votingage * hispanic", "total"))
  expect_true(all(c("level", "geocode", "query", "cell", "votingage", "hispanic", "variance", "std_dev") %in% names(found)))
  # The example was drawn with an insecure seed, and every row of its estimates says so, and the title.
  expect_equal(unique(found$insecure_seed), "2020")
  expect_output(print(found), "INSECURE: the noise follows from seed 2020")
  expect_type(found$GEOID, "character")
  expect_true("09001" %in% found$GEOID)
  expect_equal(found$moe, 1.96 * found$std_dev, tolerance = 1e-3)
  expect_equal(about(found)$release, "pl94-persons-us")
  expect_null(about(found)$out)
  expect_length(private_left(), 0)
})

test_that("areas, totals and states come from R", {
  skip_without_assay()
  towns <- utils::read.csv(file.path(example(), "towns.csv"), colClasses = "character")
  by_frame <- nmf_estimate(example(), "pl94-persons-us", areas = towns, state_totals = c("44" = 2624, "09" = 895))
  by_list <- nmf_estimate(example(), "pl94-persons-us", areas = split(towns$block, towns$area), state_totals = data.frame(state = c(44, 9), total = c(2624, 895)))
  by_file <- nmf_estimate(example(), "pl94-persons-us", areas = file.path(example(), "towns.csv"), state_totals = c("09" = 895, "44" = 2624))
  expect_setequal(by_frame$GEOID, c("Millbridge", "Old Harbor"))
  expect_equal(by_frame[order(by_frame$GEOID), ], by_list[order(by_list$GEOID), ], ignore_attr = TRUE)
  expect_equal(by_frame[order(by_frame$GEOID), ], by_file[order(by_file$GEOID), ], ignore_attr = TRUE)
  odd <- nmf_estimate(example(), "pl94-persons-us", areas = list("O\"Neil's, \u00c6r\u00f8" = towns$block[1:2]))
  expect_equal(odd$GEOID, "O\"Neil's, \u00c6r\u00f8")
  one <- nmf_estimate(example(), "pl94-persons-us", states = 9, level = "State")
  expect_equal(one$GEOID, "09")
  whole <- nmf_estimate(example(), "pl94-persons-us", level = "County", whole = c("votingage * hispanic", "total"))
  expect_true(all(whole$estimate == trunc(whole$estimate) & whole$estimate >= 0))
  # A whole count has no known margin.
  expect_true(all(is.na(whole$moe)))
  expect_true(all(whole$margin_95_of_unbiased_estimate >= 0))
  parts <- nmf_estimate(example(), "pl94-persons-us", areas = rbind(cbind(towns, weight = 1), data.frame(area = "half", block = towns$block[towns$area == "Millbridge"], weight = 0.5)))
  expect_equal(parts$variance[parts$GEOID == "half"], parts$variance[parts$GEOID == "Millbridge"] / 4)
  exact <- nmf_estimate(example(), "pl94-persons-us", areas = towns, area_totals = c(Millbridge = 620))
  expect_equal(exact$variance[exact$GEOID == "Millbridge"], 0)
  recodes <- tempfile(fileext = ".toml")
  writeLines(c("[[recode]]", "name = \"origin\"", "attribute = \"hispanic\"", "groups = [[\"hispanic\"], [\"not-hispanic\"]]"), recodes)
  expect_equal(unique(nmf_estimate(example(), "pl94-persons-us", level = "State", queries = "origin", recodes = recodes)$origin), c("hispanic", "not-hispanic"))
  expect_length(private_left(), 0)
})

test_that("codes that are numbers are refused, and so are unknown names", {
  expect_match(refusal(nmf_estimate("nmf", "pl94-persons-us", areas = list(a = 440030001001001))), "a number has lost its leading zeros")
  expect_match(refusal(nmf_estimate("nmf", "pl94-persons-us", areas = list("440030001001001"))), "areas: expected a list or vector with names")
  expect_match(refusal(nmf_estimate("nmf", "pl94-persons-us", constraints = "some")), "constraints = \"some\": expected \"all\"")
  expect_match(refusal(nmf_estimate("nmf", "pl94-persons-us", rank = "total")), "rank: name the places by tabulation or areas")
  skip_without_assay()
  expect_match(refusal(nmf_estimate("no such folder", "pl94-persons-us")), "no such folder")
  expect_match(refusal(nmf_estimate(example(), "pl94-persons-us", level = "Village")), "Village")
  expect_length(private_left(), 0)
})

test_that("a folder is checked against its release", {
  skip_without_assay()
  found <- nmf_check(example(), "pl94-persons-us")
  expect_true(dpassay:::is_enclosure(found$epsilon))
  expect_gt(upper_double(found$epsilon$upper), 1)
  expect_output(print(found), "26 files, parts 009, 044, 144\nsound: the files are those of pl94-persons-us\nthe counts fit each other", fixed = TRUE)
  expect_output(print(found), "epsilon at most \\[16.46519[0-9]+, 16.46519[0-9]+\\] at delta = 1e-10")
})

columns_of_tidycensus <- c("GEOID", "NAME", "variable", "estimate", "moe")

test_that("every call has the columns of tidycensus", {
  skip_without_assay()
  towns <- utils::read.csv(file.path(example(), "towns.csv"), colClasses = "character")
  estimate <- function(...) nmf_estimate(example(), "pl94-persons-us", ...)
  calls <- list(
    estimate(), estimate(level = "State"), estimate(tabulation = "Block_Group", queries = "votingage * hispanic"), estimate(areas = towns),
    estimate(level = "County", whole = character()), estimate(variables = "P1_001N"), estimate(variables = "P1_001N", level = "Block", states = 44),
    estimate(variables = "P1_001N", areas = towns, non_negative = TRUE, confidence = c(90, 95)), estimate(confidence = c(90, 99.5), rank = "total", tabulation = "County")
  )
  for (found in calls) {
    expect_true(all(columns_of_tidycensus %in% names(found)))
    expect_type(found$GEOID, "character")
    expect_type(found$estimate, "double")
    expect_type(found$moe, "double")
    expect_false(anyDuplicated(names(found)) > 0L)
    expect_false(anyDuplicated(found[intersect(c("GEOID", "variable", "level", "geocode", "part"), names(found))]) > 0L)
  }
  expect_equal(names(calls[[8L]])[1:10], c("GEOID", "NAME", "variable", "label", "estimate", "moe", "lower", "upper", "moe_95", "lower_95"))
  expect_equal(calls[[9L]]$moe / calls[[9L]]$std_dev, rep(1.644854, 3), tolerance = 1e-6)
  expect_equal(calls[[9L]]$moe_99.5 / calls[[9L]]$std_dev, rep(2.807034, 3), tolerance = 1e-6)
  expect_equal(calls[[4L]]$NAME, calls[[4L]]$GEOID)
  expect_equal(unique(calls[[3L]]$level), "Block_Group")
})

test_that("units of tables are the default, and printed rows can be distinguished", {
  skip_without_assay()
  found <- nmf_estimate(example(), "pl94-persons-us")
  expect_equal(sum(found$GEOID == "44"), 1L)
  expect_equal(found$estimate[found$GEOID == "44"], 2624, tolerance = 1e-3)
  lines_of <- function(...) utils::capture.output(print(nmf_estimate(example(), "pl94-persons-us", ...), rows = 1000))
  expect_match(lines_of(level = "State"), "State +44 +AIAN", all = FALSE)
  expect_no_match(lines_of(level = "State"), "geocode")
  expect_no_match(lines_of(), "part")
  expect_match(lines_of(level = "Block_Group"), "geocode", all = FALSE)
  for (lines in list(lines_of(), lines_of(level = c("State", "County", "Block_Group")), lines_of(variables = "P1_001N", level = "State"))) {
    keys <- sub(" +-?[0-9.]+ +-?[0-9.]+$", "", lines[-seq_len(which(lines == ""))])
    expect_false(anyDuplicated(keys) > 0L)
  }
})

test_that("census variables have names, intervals and the wide form", {
  skip_without_assay()
  estimate <- function(...) nmf_estimate(example(), "pl94-persons-us", variables = c("P1_001N", "P1_003N"), ...)
  found <- estimate(names = c("44001" = "Bristol County, Rhode Island"), confidence = 90, non_negative = TRUE)
  expect_equal(unique(found$NAME[startsWith(found$GEOID, "440010001")]), "Census Tract 1, Bristol County, Rhode Island")
  expect_equal(found$NAME[found$GEOID == "09" & found$variable == "P1_001N"], "Connecticut")
  expect_equal(found, estimate(names = data.frame(GEOID = "44001", NAME = "Bristol County, Rhode Island"), confidence = 90, non_negative = TRUE), ignore_attr = TRUE)
  expect_true(all(found$lower >= 0 & found$lower <= found$upper))
  expect_true(any(grepl("White alone", found$label)))
  wide <- estimate(tabulation = "County", wide = TRUE, confidence = c(95, 90))
  expect_equal(names(wide), c("GEOID", "NAME", "level", paste0("P1_001N", c("", "_moe", "_moe_90")), paste0("P1_003N", c("", "_moe", "_moe_90")), "insecure_seed"))
  long <- estimate(tabulation = "County", confidence = c(95, 90))
  expect_equal(wide$P1_003N_moe_90, long$moe_90[long$variable == "P1_003N"])
  expect_equal(nrow(nmf_codes("P1")), 71L + 1L)
  expect_match(nmf_codes("P1_003N")$label, "White alone")
  expect_true("P12" %in% nmf_codes()$table)
  expect_match(refusal(nmf_codes("XX")), "unknown variable")
  expect_match(refusal(estimate(names = c("44001" = NA))), "names: no place is named, or one is missing")
  expect_match(refusal(nmf_estimate(example(), "pl94-persons-us", queries = "P1_001N")), "queries: P1_001N is a census variable .* by variables P1_001N")
  expect_match(refusal(estimate(confidence = 101)), "confidence = 101: expected percent above 0 and below 100")
  expect_match(refusal(estimate(whole = character())), "^variables and whole exclude each other")
  expect_match(refusal(nmf_estimate(example(), "pl94-persons-us", names = c("44001" = "x"))), "^variables: missing, and needed")
})

test_that("numbers of races have their names", {
  skip_without_assay()
  by_query <- nmf_estimate(example(), "pl94-persons-us", tabulation = "State", states = 44, queries = c("cenrace", "total"))
  races <- by_query[by_query$query == "cenrace", ]
  expect_equal(races$race[c(1, 2, 7)], c("White alone", "Black or African American alone", "White; Black or African American"))
  expect_equal(nrow(races), 63L)
  # Each of the 63 is the line of P1 with that label.
  by_code <- nmf_estimate(example(), "pl94-persons-us", tabulation = "State", states = 44, variables = "P1")
  expect_equal(races$estimate, by_code$estimate[match(races$race, sub(".*!!", "", by_code$label))], tolerance = 1e-9)
  expect_true(is.na(by_query$race[by_query$variable == "total"]))
  expect_output(print(by_query), "cenrace: 0 +White alone")
})

test_that("differences, shares, ranks, medians and covariances are data frames", {
  skip_without_assay()
  found <- nmf_estimate(example(), "pl94-persons-us", variables = c("P1_001N", "P2_002N"), tabulation = "County", difference = c("44001", "44003"),
    share = "P2_002N/P1_001N", rank = "P2_002N", covariance = TRUE, confidence = c(95, 90))
  # As in the guide's listing of the program.
  apart <- nmf_differences(found)
  expect_equal(apart$difference, c(1385.4, 203.5), tolerance = 1e-4)
  expect_equal(apart$moe, c(3.65, 31.24), tolerance = 1e-3)
  expect_equal(apart$moe_90 / apart$std_dev, rep(1.644854, 2), tolerance = 1e-6)
  shares <- nmf_shares(found)
  expect_equal(shares$within, c("09001", "44001", "44003"))
  expect_true(all(shares$fieller_lower < shares$share & shares$share < shares$fieller_upper))
  ranks <- nmf_ranks(found)
  expect_equal(ranks$rank, c(2, 1, 3))
  expect_equal(sum(ranks$rank_probabilities_normal[[1L]]), 1, tolerance = 1e-12)
  covariance <- nmf_covariance(found)
  expect_equal(dim(covariance), c(6L, 6L))
  expect_equal(covariance, t(covariance))
  # Two towns by their covariance.
  expect_equal(apart$std_dev[1L]^2, sum(covariance[c("44001 P1_001N", "44003 P1_001N"), c("44001 P1_001N", "44003 P1_001N")] * c(1, -1, -1, 1)), tolerance = 1e-9)
  expect_output(print(found), "Differences, errors taken as normal: nmf_differences\\(\\)")
  two <- nmf_estimate(example(), "pl94-persons-us", areas = file.path(example(), "towns.csv"), queries = "votingage",
    share = list(c("votingage: below-18", "votingage: 18-and-over")), difference = list(c("Millbridge", "Old Harbor")))
  expect_equal(two$variable[1:2], c("votingage: below-18", "votingage: 18-and-over"))
  expect_equal(nrow(nmf_shares(two)), 2L)
  tested <- nmf_estimate(example(), "pl94-persons-us", truth = file.path(example(), "counts.csv"))
  expect_equal(nmf_errors(tested)$counts, 12)
  expect_match(refusal(nmf_ranks(two)), "have no ranks: give rank to nmf_estimate")
  expect_match(refusal(nmf_shares(data.frame())), "expected estimates of nmf_estimate")
  expect_match(refusal(nmf_estimate(example(), "pl94-persons-us", median = "votingage", queries = "votingage", tabulation = "County")), "median")
  expect_match(refusal(nmf_estimate(example(), "pl94-persons-us", level = "State", rank = "total")), "level State: rank is of areas")
  expect_null(attr(as.data.frame(found), "compared"))
  expect_length(private_left(), 0)
})

test_that("charts, published counts and the work of several machines are those of the program", {
  skip_without_assay()
  folder <- withr_folder(environment())
  svg <- file.path(folder, "chart.svg")
  nmf_estimate(example(), "pl94-persons-us", tabulation = "County", svg = svg, published = c("44001" = 2005, "44003" = 619, "09001" = 895))
  drawn <- paste(readLines(svg), collapse = "\n")
  expect_match(drawn, "published")
  nmf_estimate(example(), "pl94-persons-us", tabulation = "County", svg = svg, published = data.frame(GEOID = "44001", count = 2005))
  expect_match(refusal(nmf_estimate(example(), "pl94-persons-us", published = c("44001" = 2005))), "svg: missing")
  work <- file.path(folder, "work")
  share <- function(part = NULL, ...) nmf_estimate(example(), "pl94-persons-us", tabulation = "County", work = work, part = part, ...)
  expect_equal(unlist(share("1/2")$without_up), "44")
  for (part in c("2/2", "1/2", "2/2")) share(part)
  expect_equal(share(combine = TRUE)$estimate, nmf_estimate(example(), "pl94-persons-us", tabulation = "County")$estimate)
  expect_match(refusal(share(queries = "votingage")), "work: .*another job")
  expect_match(refusal(nmf_estimate(example(), "pl94-persons-us", part = "1/2")), "^work: missing")
})

test_that("estimates are joined to tables of places by their GEOID", {
  skip_without_assay()
  found <- nmf_estimate(example(), "pl94-persons-us", variables = "P1_001N", tabulation = "Tract")
  places <- data.frame(GEOID = rev(found$GEOID), place = seq_len(nrow(found)))
  joined <- merge(places, found, by = "GEOID")
  expect_equal(nrow(joined), nrow(found))
  expect_equal(sum(joined$estimate), sum(found$estimate))
})

test_that("estimates are joined in data.table", {
  skip_without_assay()
  skip_if_not_installed("data.table")
  found <- nmf_estimate(example(), "pl94-persons-us", variables = "P1_001N", tabulation = "Tract")
  table <- data.table::as.data.table(found)
  expect_s3_class(table, "data.table")
  expect_equal(names(table), names(found))
  joined <- merge(data.table::data.table(GEOID = found$GEOID), table, by = "GEOID")
  expect_equal(joined$estimate, found$estimate[order(found$GEOID)])
})

test_that("estimates are a tibble", {
  skip_without_assay()
  skip_if_not_installed("tibble")
  found <- nmf_estimate(example(), "pl94-persons-us", variables = "P1_001N", tabulation = "Tract")
  expect_equal(as.data.frame(tibble::as_tibble(found)), as.data.frame(found), ignore_attr = TRUE)
})

test_that("estimates are joined to the shapes of sf", {
  skip_without_assay()
  skip_if_not_installed("sf")
  shapes <- sf::st_read(file.path(example(), "tracts.geojson"), quiet = TRUE)
  found <- nmf_estimate(example(), "pl94-persons-us", variables = "P1_001N", tabulation = "Tract")
  joined <- merge(shapes, found, by = "GEOID")
  expect_s3_class(joined, "sf")
  expect_setequal(joined$GEOID, found$GEOID)
  expect_false(anyNA(joined$moe))
})
