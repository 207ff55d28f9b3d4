"""All methods, in the order of the tables."""

from . import cebra_time, gpvae, hmnlica, ivae, linear, pcl, slowvae, strt, tcl

METHODS = {
    method.name: method
    for method in (
        strt.METHOD,
        linear.METHOD,
        tcl.METHOD,
        *pcl.METHODS,
        ivae.METHOD,
        hmnlica.METHOD,
        slowvae.METHOD,
        gpvae.METHOD,
        cebra_time.METHOD,
    )
}
