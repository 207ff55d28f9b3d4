# Usage: Rscript jade.R whitened.csv rotation.csv
# JADE of Nathaniel Helwig's package ica on whitened components (T x K, no header); writes the rotation (K x K).
arguments <- commandArgs(trailingOnly = TRUE)
whitened <- as.matrix(read.csv(arguments[1], header = FALSE))
found <- ica::icajade(whitened, ncol(whitened), center = FALSE, maxit = 1000, tol = 1e-12)
stopifnot(found$converged)
write.table(format(t(found$W), digits = 17), arguments[2], sep = ",", row.names = FALSE, col.names = FALSE, quote = FALSE)
