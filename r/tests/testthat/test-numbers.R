test_that("a double is the shortest decimal that reads as it", {
  text <- function(x) dpassay:::exact_text(x, "x")
  expect_equal(text(c(0.1, 1e-11, 5, 1 / 3, 123456789, -2.5, 1e22, 0)), c("0.1", "1e-11", "5", "0.3333333333333333", "123456789", "-2.5", "1e+22", "0"))
  expect_equal(text(2^53), "9007199254740992")
  expect_equal(text(12L), "12")
  expect_equal(text(100000L), "100000")
  expect_equal(text(c("1/3", " 5.00 ", "1e-11", ".5")), c("1/3", "5.00", "1e-11", ".5"))
  set.seed(1)
  for (x in c(runif(200), 10^runif(200, -300, 300))) {
    shortest <- text(x)
    expect_identical(as.double(jsonlite::fromJSON(paste0("[", shortest, "]"))), x)
    expect_lte(nchar(sub("^0*", "", gsub("[^0-9]", "", sub("e.*", "", shortest)))), 17)
  }
})

test_that("what is no exact number is refused, and the message says what would be right", {
  text <- function(x) dpassay:::exact_text(x, "delta")
  expect_match(refusal(text(NA)), "delta = NA: expected a number")
  expect_match(refusal(text(NA_real_)), "delta is missing \\(NA\\)")
  expect_match(refusal(text(NaN)), "delta is missing \\(NaN\\)")
  expect_match(refusal(text(Inf)), "delta is infinite")
  expect_match(refusal(text("one third")), "\"one third\" is not a number: expected a decimal")
  expect_match(refusal(text("5 --release x")), "is not a number")
  expect_match(refusal(text(factor("5"))), "delta is an object of class factor")
  # bit64's integers are doubles inside: taken as such they would be other numbers.
  expect_match(refusal(text(structure(4.94e-324, class = "integer64"))), "object of class integer64")
  expect_match(refusal(text(list(1))), "expected a number")
  expect_match(refusal(dpassay:::one_exact(c(1, 2), "delta")), "delta has 2 values: expected one")
  expect_match(refusal(discrete_gaussian(5, count = 1.5)), "count = 1.5: expected a whole number from 1")
  expect_match(refusal(discrete_gaussian(5, count = 0)), "count = 0: expected a whole number")
})

# The rational value of a double as a decimal of all digits, by another way: repeated doubling of the decimal digits.
test_that("doubles are rounded down and up, never to the other side", {
  texts <- c("10.12483093448098917717", "0.1", "1", "-0.1", "3.011038227778568e-95", "1e-400", "123456789012345678901234567890", "0", "0.5", "1e400")
  down <- lower_double(texts)
  up <- upper_double(texts)
  expect_true(all(down <= up))
  expect_identical(down[3], 1)
  expect_identical(up[3], 1)
  expect_identical(c(down[9], up[9]), c(0.5, 0.5))
  # 0.1 as a double is above one tenth.
  expect_identical(up[2], 0.1)
  expect_identical(down[2], 0.1 - 2^-56)
  expect_identical(c(down[4], up[4]), -c(up[2], down[2]))
  expect_identical(c(down[6], up[6]), c(0, 2^-1074))
  expect_identical(c(down[10], up[10]), c(.Machine$double.xmax, Inf))
  expect_identical(c(down[8], up[8]), c(0, 0))
  expect_identical(lower_double(NA), NA_real_)
  # Neighboring doubles, as printed with all digits, are their own ends; what is between them has both as ends.
  set.seed(2)
  for (x in c(runif(50), 10^runif(50, -307, 307), 2^(-1060:-1070))) {
    exact <- sprintf("%.780e", x)
    expect_identical(c(lower_double(exact), upper_double(exact)), c(x, x))
    above <- sub("0e", "1e", exact, fixed = TRUE)
    expect_identical(lower_double(above), x)
    expect_gt(upper_double(above), x)
    expect_identical(dpassay:::next_double(upper_double(above), -1), x)
  }
})

test_that("printed intervals are rounded outward", {
  cut <- function(text, digits, direction) dpassay:::rounded_text(text, digits, direction)
  expect_equal(cut("10.1248309344789", 6, -1), "10.1248")
  expect_equal(cut("10.1248309344789", 6, 1), "10.1249")
  expect_equal(cut("-10.1248309344789", 6, 1), "-10.1248")
  expect_equal(cut("-10.1248309344789", 6, -1), "-10.1249")
  expect_equal(cut("9.9996", 4, 1), "10")
  expect_equal(cut("0.00099999", 3, 1), "0.001")
  expect_equal(cut("1.58365010652e-11", 3, -1), "1.58e-11")
  expect_equal(cut("1.58365010652e-11", 3, 1), "1.59e-11")
  expect_equal(cut("123456", 2, -1), "120000")
  expect_equal(cut("5", 12, 1), "5")
  expect_equal(cut("0", 12, 1), "0")
  expect_equal(cut("0.000051797955", 12, 1), "0.000051797955")
})

test_that("decimals are compared by all digits", {
  order_of <- function(a, b) dpassay:::compare_decimals(dpassay:::decimal(a), dpassay:::decimal(b))
  expect_equal(order_of("1.0", "1"), 0)
  expect_equal(order_of("0.1", "1e-1"), 0)
  expect_equal(order_of("0.1", "0.1000000000000000000001"), -1)
  expect_equal(order_of("-0.1", "-0.1000000000000000000001"), 1)
  expect_equal(order_of("-1", "1"), -1)
  expect_equal(order_of("12e3", "1.2e4"), 0)
  expect_equal(order_of("9", "10"), -1)
})
