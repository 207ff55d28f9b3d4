//! What linking an extension module needs on systems where symbols of Python are found at run time
//! (macOS).

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
