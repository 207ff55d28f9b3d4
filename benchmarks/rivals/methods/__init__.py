"""All methods, in the order of the tables."""

from . import ivae, linear, pcl, slowvae, strt, tcl

METHODS = {
    method.name: method
    for method in (
        strt.METHOD,
        linear.METHOD,
        tcl.METHOD,
        *pcl.METHODS,
        ivae.METHOD,
        slowvae.METHOD,
    )
}
