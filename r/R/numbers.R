# Numbers on their way to the program and back. Exact numbers are texts.

# An exact number as the program reads it: a text as it is, an integer, or a double as the shortest decimal that reads as that double.
exact_text <- function(x, what) {
  if (is.object(x)) {
    refuse(what, " is an object of class ", class(x)[1L], ": expected a number, or a text such as \"1/3\" or \"1e-11\"")
  }
  if (!(is.character(x) || is.numeric(x))) {
    refuse(what, " = ", shown_value(x), ": expected a number, or a text such as \"1/3\" or \"1e-11\"")
  }
  if (anyNA(x)) refuse(what, " is missing (", if (is.numeric(x) && any(is.nan(x))) "NaN" else "NA", ")")
  if (is.double(x)) {
    if (any(is.infinite(x))) refuse(what, " is infinite: expected a finite number")
    return(vapply(x, shortest, ""))
  }
  if (is.integer(x)) return(format(x, scientific = FALSE, trim = TRUE))
  text <- trimws(x)
  bad <- !grepl("^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?(/[0-9]+)?$", text)
  if (any(bad)) {
    refuse(what, ": \"", x[bad][1L], "\" is not a number: expected a decimal such as 5.00 or 1e-11, or a fraction such as 104/4099")
  }
  unname(text)
}

one_exact <- function(x, what) {
  if (length(x) != 1L) refuse(what, " has ", length(x), " values: expected one")
  exact_text(x, what)
}

# A whole number in a range, as a text without exponent.
whole_text <- function(x, what, least = 1, most = 2^53) {
  if (is.object(x) || !is.numeric(x) || length(x) != 1L || is.na(x) || x != trunc(x) || x < least || x > most) {
    refuse(what, " = ", shown_value(x), ": expected a whole number from ", sprintf("%.0f", least), " to ", sprintf("%.0f", most))
  }
  sprintf("%.0f", x)
}

# jsonlite reads by the C library's strtod, which rounds correctly; R's own as.numeric does not always.
read_double <- function(text) jsonlite::fromJSON(paste0("[", text, "]"))[[1L]]

shortest <- function(x) {
  if (x == trunc(x) && abs(x) < 1e15) return(sprintf("%.0f", x))
  for (digits in 1:17) {
    text <- sprintf("%.*g", digits, x)
    if (identical(as.double(read_double(text)), x)) break
  }
  sub("e([+-])0+", "e\\1", text)
}

# A decimal as sign, digits without zeros at either end, and the power of ten of the first digit.
decimal <- function(text) {
  parts <- regmatches(text, regexec("^([+-]?)([0-9]*)[.]?([0-9]*)(?:[eE]([+-]?[0-9]+))?$", text, perl = TRUE))[[1L]]
  if (!length(parts) || !nzchar(paste0(parts[3L], parts[4L]))) refuse("\"", text, "\" is not a decimal")
  exponent <- nchar(parts[3L]) - 1 + if (nzchar(parts[5L])) as.numeric(parts[5L]) else 0
  digits <- paste0(parts[3L], parts[4L])
  zeros <- attr(regexpr("^0*", digits), "match.length")
  kept <- sub("0+$", "", substring(digits, zeros + 1L))
  if (!nzchar(kept)) return(list(sign = 0, digits = "", exponent = 0))
  list(sign = if (parts[2L] == "-") -1 else 1, digits = kept, exponent = exponent - zeros)
}

# -1, 0 or 1 as a < b, a == b or a > b, exactly.
compare_decimals <- function(a, b) {
  if (a$sign != b$sign) return(sign(a$sign - b$sign))
  if (a$sign == 0) return(0)
  if (a$exponent != b$exponent) return(a$sign * sign(a$exponent - b$exponent))
  width <- max(nchar(a$digits), nchar(b$digits))
  filled <- function(d) utf8ToInt(paste0(d, strrep("0", width - nchar(d))))
  apart <- filled(a$digits) - filled(b$digits)
  first <- apart[apart != 0]
  if (length(first)) a$sign * sign(first[1L]) else 0
}

# All digits of a double: at most 767 of them are significant.
decimal_of <- function(x) decimal(sprintf("%.780e", x))

next_double <- function(x, direction) {
  if (x == 0) return(direction * 2^-1074)
  size <- abs(x)
  power <- floor(log2(size))
  if (2^power > size) power <- power - 1
  if (2^(power + 1) <= size) power <- power + 1
  step <- max(2^(power - 52), 2^-1074)
  # Below a power of two doubles are twice as dense.
  if (direction * sign(x) < 0 && size == 2^power && power > -1022) step <- step / 2
  x + direction * step
}

# The largest double that is not above the decimal, or the smallest that is not below: proven by comparing all digits.
rounded_double <- function(text, direction) {
  if (is.na(text)) return(NA_real_)
  exact <- decimal(text)
  x <- as.numeric(text)
  if (is.infinite(x)) x <- sign(x) * .Machine$double.xmax
  beyond <- function(y) direction * (if (is.infinite(y)) sign(y) else compare_decimals(decimal_of(y), exact)) < 0
  while (is.finite(x) && beyond(x)) x <- next_double(x, direction)
  repeat {
    y <- next_double(x, -direction)
    if (!is.finite(x) || beyond(y)) return(x)
    x <- y
  }
}

lower_double <- function(text) vapply(as.character(text), rounded_double, 0, direction = -1, USE.NAMES = FALSE)

upper_double <- function(text) vapply(as.character(text), rounded_double, 0, direction = 1, USE.NAMES = FALSE)

# A decimal with fewer digits, rounded down or up.
rounded_text <- function(text, digits, direction) {
  if (is.na(text)) return(NA_character_)
  d <- decimal(text)
  if (d$sign == 0) return("0")
  if (nchar(d$digits) > digits) {
    kept <- utf8ToInt(substr(d$digits, 1L, digits)) - 48L
    if (direction == d$sign) {
      at <- digits
      while (at > 0L && kept[at] == 9L) {
        kept[at] <- 0L
        at <- at - 1L
      }
      if (at > 0L) kept[at] <- kept[at] + 1L else {
        kept <- c(1L, kept)
        d$exponent <- d$exponent + 1
      }
    }
    d$digits <- sub("0+$", "", paste(kept, collapse = ""))
  }
  paste0(if (d$sign < 0) "-", plain_text(d$digits, d$exponent))
}

plain_text <- function(digits, exponent) {
  many <- nchar(digits)
  if (exponent < -5 || exponent > 15) {
    return(paste0(substr(digits, 1L, 1L), if (many > 1L) paste0(".", substring(digits, 2L)), "e", sprintf("%.0f", exponent)))
  }
  if (exponent < 0) return(paste0("0.", strrep("0", -exponent - 1), digits))
  if (many <= exponent + 1) return(paste0(digits, strrep("0", exponent + 1 - many)))
  paste0(substr(digits, 1L, exponent + 1), ".", substring(digits, exponent + 2))
}

# An approximation of an exact number: a decimal or a fraction.
approximation <- function(text) {
  vapply(strsplit(as.character(text), "/", fixed = TRUE), function(parts) {
    value <- as.numeric(parts)
    if (length(value) == 2L) value[1L] / value[2L] else value[1L]
  }, 0)
}
