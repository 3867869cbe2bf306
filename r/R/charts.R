# Charts. One description of each chart, drawn by base graphics (plot) or by ggplot2 (autoplot). Charts show doubles, which approximate the
# proven ends.

# A list: form ("lines", "dots" or "bars"), data with x, y and series (and low, high for a range), labels, and whether an axis is logarithmic.
chart <- function(x) {
  kind <- sub("^dpassay_", "", class(x)[1L])
  frame <- as.data.frame(x)
  made <- switch(kind,
    epsilon = epsilon_chart(frame, x), delta = delta_chart(frame), profile = profile_chart(frame), tradeoff = tradeoff_chart(frame),
    comparison = comparison_chart(frame), calibration = calibration_chart(frame), ledger = ledger_chart(frame), verification = verdict_chart(frame),
    risk = risk_chart(frame), risk_curve = risk_curve_chart(frame), posterior = posterior_chart(frame), shifts = shifts_chart(frame), estimates = estimates_chart(frame, x),
    refuse("there is no chart of an answer of this kind (", kind, ")")
  )
  words <- attr(x, "title")
  words <- switch(kind,
    verification = "Published values, recomputed", words
  )
  made$title <- words[1L]
  if (is.null(made$subtitle)) made$subtitle <- if (length(words) > 1L) sub(", delta = .*, .*", "", words[2L]) else ""
  made
}

series <- function(x, y, name, low = NA_real_, high = NA_real_) {
  data.frame(x = x, y = y, series = rep_len(name, length(x)), low = low, high = high, stringsAsFactors = FALSE)
}

described <- function(form, data, x = "", y = "", log = "") {
  order <- unique(data$x)
  data <- data[!is.na(data$y) & !is.na(data$x), , drop = FALSE]
  # A zero of a double has no logarithm: it is a delta below 1e-307.
  if (grepl("y", log)) data <- data[data$y > 0, , drop = FALSE]
  if (grepl("x", log) && is.numeric(data$x)) data <- data[data$x > 0, , drop = FALSE]
  if (!nrow(data)) refuse("there is nothing to draw: no value of this answer is known")
  list(form = form, data = data, rows = order[order %in% data$x], xlab = x, ylab = y, log = log)
}

epsilon_chart <- function(frame, x) {
  deltas <- unique(frame$delta_approx)
  if (is.null(frame$level) && length(deltas) > 1L) {
    return(described("lines", rbind(series(frame$delta_approx, frame$epsilon_approx, "exact"), series(frame$delta_approx, frame$zcdp_epsilon_approx, "zCDP (Bun-Steinke)")),
      "delta", "epsilon", "x"))
  }
  part <- if (is.null(frame$level)) rep("all", nrow(frame)) else if (is.null(frame$query)) frame$level else paste(frame$level, frame$query, sep = ": ")
  if (length(deltas) > 1L) part <- paste0(part, ", delta = ", frame$delta)
  beside <- if (!is.null(frame$compared_with_approx)) series(part, frame$compared_with_approx, "compared with")
  described("dots", rbind(series(part, frame$epsilon_approx, "exact"), beside), "epsilon")
}

delta_chart <- function(frame) {
  described("lines", rbind(series(frame$epsilon_approx, frame$delta_approx, "exact"), series(frame$epsilon_approx, frame$zcdp_delta_approx, "zCDP (Bun-Steinke)")),
    "epsilon", "delta", "y")
}

profile_chart <- function(frame) delta_chart(frame)

tradeoff_chart <- function(frame) {
  ordered <- frame[order(frame$alpha_approx), ]
  described("lines", rbind(series(ordered$alpha_approx, ordered$beta_approx, "exact"), series(c(0, 1), c(1, 0), "no information")),
    "type I error alpha", "type II error beta")
}

risk_curve_chart <- function(frame) {
  ordered <- frame[order(frame$alpha_approx), ]
  described("lines", rbind(series(ordered$alpha_approx, ordered$power_approx, "power"), series(ordered$alpha_approx, ordered$posterior_approx, "posterior")),
    "type I error alpha", "probability, at most", "x")
}

comparison_chart <- function(frame) {
  kind <- ifelse(frame$is_bound %in% c(TRUE, "true"), "bound", "approximation")
  kind[frame$accountant == "exact"] <- "exact"
  name <- if (length(unique(frame$account)) > 1L) paste(frame$account, frame$accountant, sep = ": ") else frame$accountant
  described("dots", series(name, frame$epsilon_approx, kind), "epsilon")
}

calibration_chart <- function(frame) {
  frame <- frame[!is.na(frame$factor), ]
  has_sigma2 <- !is.na(frame$sigma2)
  if (all(has_sigma2)) {
    both <- rbind(series(frame$level, frame$sigma2_approx, "present"), series(frame$level, frame$calibrated_sigma2_approx, "calibrated"))
    return(described("dots", both, "variance proxy sigma2, in counts squared", log = "v"))
  }
  described("dots", rbind(series(frame$level, rep(1, nrow(frame)), "present"), series(frame$level, frame$factor_approx, "calibrated")), "noise, as a multiple of the present")
}

ledger_chart <- function(frame) {
  many <- length(unique(frame$population)) > 1L
  name <- if (many) paste(frame$population, frame$release, sep = ": ") else frame$release
  described("dots", rbind(series(name, frame$epsilon_approx, "exact"), series(name, frame$zcdp_epsilon_approx, "zCDP (best order)")), "epsilon")
}

verdict_chart <- function(frame) {
  counts <- as.data.frame(table(paper = frame$paper, verdict = frame$verdict), stringsAsFactors = FALSE)
  counts <- counts[counts$Freq > 0, ]
  described("bars", series(counts$paper, counts$Freq, counts$verdict), "number of published values")
}

risk_chart <- function(frame) {
  chosen <- frame[frame$key != "epsilon" & frame$key != "risk", ]
  zcdp <- if (!is.null(chosen$zcdp_approx)) series(chosen$quantity, chosen$zcdp_approx, "by zCDP")
  described("dots", rbind(series(chosen$quantity, chosen$value_approx, "exact"), zcdp), "probability")
}

shifts_chart <- function(frame) {
  described("lines", series(frame$shift_approx, frame$epsilon_approx, "exact"), "shift of a record, as a multiple of the given one", "epsilon")
}

posterior_chart <- function(frame) {
  ordered <- frame[order(frame$noisy), ]
  described("lines", series(ordered$noisy, ordered$posterior_approx, "posterior"), "noisy count minus known count", "posterior probability")
}

# The first count of every place, with its margin.
estimates_chart <- function(frame, x) {
  if (is.null(frame$variable)) frame <- long_of_wide(frame)
  frame <- frame[frame$variable == frame$variable[1L], , drop = FALSE]
  made <- described("dots", series(places_of_rows(frame), frame$estimate, "estimate", frame$estimate - frame$moe, frame$estimate + frame$moe))
  label <- frame$label[1L]
  what <- paste0(frame$variable[1L], if (length(label) && !is.na(label)) paste0(" ", sub(":$", "", gsub("!!", " ", label, fixed = TRUE))))
  unit <- unit_of_release(about(x)$release)
  counted <- if (what == "total") unit else paste0(unit, ", ", what)
  made$xlab <- counted
  margins <- if (any(!is.na(frame$moe))) paste0("with margins of ", attr(x, "confidence"), " %")
  made$subtitle <- paste(c(if (is.null(margins)) "whole counts" else paste("least squares in doubles,", margins), if (!is.null(frame$insecure_seed)) "INSECURE seed"), collapse = ", ")
  made
}

long_of_wide <- function(frame) {
  at <- match("level", names(frame)) + 1L
  variable <- names(frame)[at]
  data.frame(frame[c("GEOID", "NAME", "level", intersect(c("geocode", "part", "insecure_seed"), names(frame)))], variable = variable, estimate = frame[[variable]],
    moe = frame[[paste0(variable, "_moe")]], stringsAsFactors = FALSE)
}

# A name of each row that no other has: its NAME or GEOID, and the part or the code of the spine where these occur twice.
places_of_rows <- function(frame) {
  place <- ifelse(is.na(frame$NAME), frame$GEOID, frame$NAME)
  place <- ifelse(is.na(place), if (is.null(frame$geocode)) frame$level else ifelse(is.na(frame$geocode), frame$level, frame$geocode), place)
  alike <- function() place %in% place[duplicated(place)]
  if (!is.null(frame$part)) place <- ifelse(alike() & !is.na(frame$part), paste0(place, " (", frame$part, ")"), place)
  # Connecticut is a state's name, and may be that of an area.
  place <- ifelse(alike() & !is.na(frame$GEOID), paste0(place, " (", frame$GEOID, ")"), place)
  if (!is.null(frame$geocode)) place <- ifelse(alike(), paste0(place, " (", frame$geocode, ")"), place)
  place
}

unit_of_release <- function(release) {
  if (grepl("persons|ddhc", release)) "persons" else if (grepl("^pl94-units", release)) "housing units" else if (grepl("units", release)) "homes or households" else "counts"
}

COLOURS <- c("#1b5e8c", "#c4581a", "#4d7d3a", "#7a4f9a", "#8a6d1c", "#a03050", "#3a7d7d", "#666666")

plot.dpassay_answer <- function(x, ...) {
  made <- chart(x)
  switch(made$form, lines = plot_lines(made, ...), dots = plot_dots(made, ...), bars = plot_bars(made, ...))
  invisible(x)
}

heading <- function(made) {
  # From the left edge of the figure, so that names of rows take no room from it.
  edge <- graphics::grconvertX(0.02, "nfc", "user")
  graphics::mtext(made$title, line = 2.2, at = edge, adj = 0, font = 2)
  graphics::mtext(made$subtitle, line = 1.1, at = edge, adj = 0, cex = 0.8)
}

legend_of <- function(names, ...) {
  if (length(names) < 2L) return(invisible())
  graphics::legend(..., legend = names, bty = "n", cex = 0.8)
}

plot_lines <- function(made, ...) {
  data <- made$data
  old <- graphics::par(mar = c(4.2, 5.6, 3.6, 1))
  on.exit(graphics::par(old))
  graphics::plot(range(data$x), range(data$y), type = "n", log = made$log, xlab = made$xlab, ylab = "", las = 1, bty = "l", ...)
  # Beside the numbers, which are long if they are small.
  graphics::title(ylab = made$ylab, line = 4.3)
  names <- unique(data$series)
  for (at in seq_along(names)) {
    one <- data[data$series == names[at], ]
    graphics::lines(one$x, one$y, col = COLOURS[at], lty = at, lwd = 2)
    if (nrow(one) <= 25L && at == 1L) graphics::points(one$x, one$y, col = COLOURS[at], pch = 16L)
  }
  heading(made)
  legend_of(names, free_corner(made), col = COLOURS[seq_along(names)], lty = seq_along(names), lwd = 2)
}

# The corner of the plot with the least of the lines in it.
free_corner <- function(made) {
  place <- function(values, is_log) {
    values <- if (is_log) log(values) else values
    (values - min(values)) / max(diff(range(values)), 1e-300)
  }
  x <- place(made$data$x, grepl("x", made$log))
  y <- place(made$data$y, grepl("y", made$log))
  # Points between those of the curves, which may be few.
  drawn <- lapply(split(data.frame(x, y), made$data$series), function(one) {
    if (nrow(one) > 1L) as.data.frame(stats::approx(one$x[order(one$x)], one$y[order(one$x)], n = 201L, ties = "ordered")) else one
  })
  drawn <- do.call(rbind, drawn)
  inside <- function(right, top) sum((if (right) drawn$x > 0.6 else drawn$x < 0.4) & (if (top) drawn$y > 0.8 else drawn$y < 0.2))
  corners <- c(topright = inside(TRUE, TRUE), topleft = inside(FALSE, TRUE), bottomleft = inside(FALSE, FALSE), bottomright = inside(TRUE, FALSE))
  names(corners)[which.min(corners)]
}

# Rows from top to bottom, in the order of the answer.
plot_dots <- function(made, ...) {
  data <- made$data
  rows <- rev(made$rows)
  names <- unique(data$series)
  # Names of many rows are small, so that every one has its place.
  size <- min(0.85, 5 * (graphics::par("fin")[2L] - 1.8) / length(rows))
  left <- max(graphics::strwidth(rows, units = "inches", cex = size)) + 0.3
  old <- graphics::par(mai = c(0.8, min(left, graphics::par("fin")[1L] / 2), if (length(names) > 1L) 1 else 0.75, 0.25))
  on.exit(graphics::par(old))
  across <- range(c(data$y, data$low, data$high), na.rm = TRUE)
  # From zero, as lengths are compared, unless the axis is logarithmic.
  log <- if (made$log == "v" && all(data$y > 0)) "x" else ""
  if (log == "") across <- range(0, across) + c(0, 0.04 * diff(range(0, across)))
  graphics::plot(across, c(0.5, length(rows) + 0.5), type = "n", log = log, xlab = made$xlab, ylab = "", yaxt = "n", bty = "l", ...)
  # axis() leaves out names that come close to others.
  graphics::mtext(rows, 2, at = seq_along(rows), las = 1, line = 0.6, cex = size)
  graphics::abline(h = seq_along(rows), col = "grey90")
  place <- match(data$x, rows)
  ranged <- !is.na(data$low)
  # A margin that is narrower than its dot is seen as a bar across it.
  graphics::segments(data$low[ranged], place[ranged], data$high[ranged], place[ranged], col = COLOURS[1L], lwd = 3)
  height <- bar_height(rows)
  for (end in c("low", "high")) graphics::segments(data[[end]][ranged], place[ranged] - height, data[[end]][ranged], place[ranged] + height, col = COLOURS[1L], lwd = 2)
  for (at in rev(seq_along(names))) {
    one <- data$series == names[at]
    graphics::points(data$y[one], place[one], pch = SHAPES[at], col = COLOURS[at], cex = if (any(ranged)) 0.9 else 1.2, lwd = 2)
  }
  heading(made)
  legend_of(names, "topleft", inset = c(0, -0.02), xpd = NA, yjust = 0, horiz = TRUE, pch = SHAPES[seq_along(names)], col = COLOURS[seq_along(names)])
}

# The ends of margins: half of their height in rows.
bar_height <- function(rows) min(0.28, 0.05 + 0.025 * length(rows))

SHAPES <- c(16L, 1L, 2L, 0L, 5L, 6L, 3L, 4L)

plot_bars <- function(made, ...) {
  data <- made$data
  rows <- rev(made$rows)
  names <- unique(data$series)
  heights <- stats::xtabs(y ~ factor(series, names) + factor(x, rows), data)
  left <- max(graphics::strwidth(rows, units = "inches", cex = 0.85)) + 0.3
  old <- graphics::par(mai = c(0.8, min(left, graphics::par("fin")[1L] / 2), 0.75, 1.6))
  on.exit(graphics::par(old))
  graphics::barplot(unclass(heights), horiz = TRUE, las = 1, col = COLOURS[seq_along(names)], border = NA, xlab = made$xlab, cex.names = 0.85, ...)
  heading(made)
  at <- graphics::par("usr")
  legend_of(names, x = at[2L], y = at[4L], xpd = NA, fill = COLOURS[seq_along(names)], border = NA)
}

# A method of ggplot2's autoplot, registered when ggplot2 is loaded.
autoplot.dpassay_answer <- function(object, ...) {
  made <- chart(object)
  data <- made$data
  names <- unique(data$series)
  data$series <- factor(data$series, names)
  colours <- stats::setNames(COLOURS[seq_along(names)], names)
  drawn <- switch(made$form,
    lines = ggplot2::ggplot(data, ggplot2::aes(.data$x, .data$y, colour = .data$series, linetype = .data$series)) + ggplot2::geom_line(),
    dots = ggplot2::ggplot(upwards(made), ggplot2::aes(.data$y, .data$x, colour = .data$series, shape = .data$series)) + ranges(data) +
      ggplot2::geom_point(size = 2.5) + ggplot2::scale_shape_manual(NULL, values = stats::setNames(SHAPES[seq_along(names)], names)),
    bars = ggplot2::ggplot(upwards(made), ggplot2::aes(.data$y, .data$x, fill = .data$series)) + ggplot2::geom_col(position = ggplot2::position_stack(reverse = TRUE)) +
      ggplot2::scale_fill_manual(NULL, values = colours)
  )
  drawn <- drawn + ggplot2::labs(x = made$xlab, y = made$ylab, title = made$title, subtitle = made$subtitle, linetype = NULL) +
    ggplot2::theme_minimal() + ggplot2::theme(legend.position = if (length(names) > 1L) "bottom" else "none", plot.title.position = "plot")
  if (made$form != "bars") drawn <- drawn + ggplot2::scale_colour_manual(NULL, values = colours)
  if (grepl("y", made$log)) drawn <- drawn + ggplot2::scale_y_log10()
  if (grepl("x", made$log) || (made$log == "v" && all(data$y > 0))) drawn <- drawn + ggplot2::scale_x_log10()
  if (made$form == "dots" && made$log == "") drawn <- drawn + ggplot2::expand_limits(x = 0)
  drawn
}

upwards <- function(made) {
  data <- made$data
  data$x <- factor(data$x, rev(made$rows))
  data$series <- factor(data$series, unique(data$series))
  data
}

ranges <- function(data) {
  if (all(is.na(data$low))) return(NULL)
  ggplot2::geom_errorbar(ggplot2::aes(xmin = .data$low, xmax = .data$high), colour = COLOURS[1L], width = 2 * bar_height(unique(data$x)), linewidth = 0.9, na.rm = TRUE)
}
