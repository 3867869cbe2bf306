# The folder of the example is beside the source, and not in the package.
example <- function() {
  folder <- Sys.getenv("DPASSAY_EXAMPLES")
  testthat::skip_if(!nzchar(folder), "DPASSAY_EXAMPLES does not name the folder data/examples")
  file.path(folder, "nmf")
}

test_that("estimates are a data frame with margins", {
  skip_without_assay()
  found <- nmf_estimate(example(), "pl94-persons-us", level = c("County", "Tract"), queries = c("votingage * hispanic", "total"))
  expect_true(all(c("level", "geocode", "geoid", "query", "cell", "votingage", "hispanic", "variance", "margin_95") %in% names(found)))
  # The example was drawn with an insecure seed, and its estimates say so.
  expect_true("estimate (insecure seed 2020)" %in% names(found))
  expect_type(found$geoid, "character")
  expect_true("09001" %in% found$geoid)
  expect_equal(found$margin_95, 1.96 * found$std_dev, tolerance = 1e-3)
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
  expect_setequal(by_frame$area, c("Millbridge", "Old Harbor"))
  expect_equal(by_frame[order(by_frame$area), ], by_list[order(by_list$area), ], ignore_attr = TRUE)
  expect_equal(by_frame[order(by_frame$area), ], by_file[order(by_file$area), ], ignore_attr = TRUE)
  odd <- nmf_estimate(example(), "pl94-persons-us", areas = list("O\"Neil's, \u00c6r\u00f8" = towns$block[1:2]))
  expect_equal(odd$area, "O\"Neil's, \u00c6r\u00f8")
  one <- nmf_estimate(example(), "pl94-persons-us", states = 9, level = "State")
  expect_equal(one$geoid, "09")
  whole <- nmf_estimate(example(), "pl94-persons-us", level = "County", whole = c("votingage * hispanic", "total"))
  count <- whole[[grep("^count", names(whole))]]
  expect_true(all(count == trunc(count) & count >= 0))
  expect_true(all(whole$margin_95_of_unbiased_estimate >= 0))
  parts <- nmf_estimate(example(), "pl94-persons-us", areas = rbind(cbind(towns, weight = 1), data.frame(area = "half", block = towns$block[towns$area == "Millbridge"], weight = 0.5)))
  expect_equal(parts$variance[parts$area == "half"], parts$variance[parts$area == "Millbridge"] / 4)
  exact <- nmf_estimate(example(), "pl94-persons-us", areas = towns, area_totals = c(Millbridge = 620))
  expect_equal(exact$variance[exact$area == "Millbridge"], 0)
  recodes <- tempfile(fileext = ".toml")
  writeLines(c("[[recode]]", "name = \"origin\"", "attribute = \"hispanic\"", "groups = [[\"hispanic\"], [\"not-hispanic\"]]"), recodes)
  expect_equal(unique(nmf_estimate(example(), "pl94-persons-us", level = "State", queries = "origin", recodes = recodes)$origin), c("hispanic", "not-hispanic"))
  expect_length(private_left(), 0)
})

test_that("codes that are numbers are refused, and so are unknown names", {
  expect_match(refusal(nmf_estimate("nmf", "pl94-persons-us", areas = list(a = 440030001001001))), "a number has lost its leading zeros")
  expect_match(refusal(nmf_estimate("nmf", "pl94-persons-us", areas = list("440030001001001"))), "areas: expected a list or vector with names")
  expect_match(refusal(nmf_estimate("nmf", "pl94-persons-us", constraints = "some")), "constraints = \"some\": expected \"all\"")
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
})
