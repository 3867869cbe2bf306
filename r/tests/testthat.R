library(testthat)
library(dpassay)

test_check("dpassay")
