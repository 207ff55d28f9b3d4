//! Where electrodes are on the head: by positions in space, and by their names in the international
//! 10-20 system and its extension 10-10.
//!
//! In: positions and names of channels. Out: places seen from above, nose up, as x and y with the
//! vertex at the origin and the circle of nasion, ears and inion at distance 1; `None` where
//! neither is known. Places by name follow the rules of the system on a sphere: the ring from Fpz
//! over T7 to Oz lies 72° from the vertex, its electrodes 18° apart, and those between ring and
//! midline divide the great circle between the two. Measured heads differ by a few millimetres.
//! Positions are seen from the centre of the sphere that fits them best. Distances from the origin
//! are proportional to the angle from the vertex.

use faer::Mat;
use faer::linalg::solvers::SolveLstsq;

/// Letters of a row of electrodes, the azimuth of its place on the ring in degrees from the nose,
/// and the angle of its midline electrode, from the vertex towards the nose.
const ROWS: [(&[&str], f64, f64); 9] = [
    (&["FP"], 18.0, 72.0),
    (&["AF"], 36.0, 54.0),
    (&["F"], 54.0, 36.0),
    (&["FC", "FT"], 72.0, 18.0),
    (&["C", "T"], 90.0, 0.0),
    (&["CP", "TP"], 108.0, -18.0),
    (&["P"], 126.0, -36.0),
    (&["PO"], 144.0, -54.0),
    (&["O"], 162.0, -72.0),
];

/// Angle from the vertex of the ring through Fpz, T7 and Oz.
const RING: f64 = 72.0;
/// Angle from the vertex of nasion, ears and inion, and of the electrodes numbered 9 and 10.
const EQUATOR: f64 = 90.0;

/// Positions without which no sphere is fitted.
const FEWEST_ON_A_SPHERE: usize = 8;
/// Standard deviation of the distances from the centre, in units of their mean, beyond which
/// positions do not lie on a sphere.
const ROUGHEST_SPHERE: f64 = 0.2;

/// The place of every channel: by its position (to the right, to the front, up, in any unit), else
/// by its name. Where some have a position, names do not count: the two need not fit together.
pub fn places(names: &[String], positions: &[Option<[f64; 3]>]) -> Vec<Option<[f64; 2]>> {
    let finite = |position: &[f64; 3]| position.iter().all(|x| x.is_finite());
    let known: Vec<[f64; 3]> = positions.iter().flatten().copied().filter(finite).collect();
    if known.is_empty() {
        return names.iter().map(|name| place(name)).collect();
    }
    let centre = centre(&known).unwrap_or_default();
    let seen = |position: &Option<[f64; 3]>| {
        let position = (*position).filter(finite)?;
        let [x, y, z]: [f64; 3] = std::array::from_fn(|i| position[i] - centre[i]);
        let radius = x.hypot(y).hypot(z);
        // What lies in the centre lies in no direction.
        (radius > 0.0).then(|| {
            let angle = (z / radius).clamp(-1.0, 1.0).acos().to_degrees();
            from_above(x.atan2(y).to_degrees(), angle)
        })
    };
    let mut places: Vec<Option<[f64; 2]>> = positions.iter().map(seen).collect();
    places.resize(names.len(), None);
    places
}

/// The centre c of the sphere |p − c|² = r² by least squares over 2p·c + (r² − |c|²) = |p|²; `None`
/// where the positions do not lie on one.
fn centre(positions: &[[f64; 3]]) -> Option<[f64; 3]> {
    let n = positions.len();
    if n < FEWEST_ON_A_SPHERE {
        return None;
    }
    let size = positions
        .iter()
        .flatten()
        .fold(0.0f64, |a, x| a.max(x.abs()));
    if size == 0.0 {
        return None;
    }
    let left = Mat::from_fn(n, 4, |row, column| match column {
        3 => 1.0,
        i => 2.0 * positions[row][i] / size,
    });
    let right = Mat::from_fn(n, 1, |row, _| {
        positions[row].iter().map(|x| (x / size).powi(2)).sum()
    });
    let solved = left.qr().solve_lstsq(&right);
    let centre: [f64; 3] = std::array::from_fn(|i| size * solved[(i, 0)]);
    let distances = || {
        let distance = |p: &[f64; 3]| (0..3).map(|i| (p[i] - centre[i]).powi(2)).sum::<f64>();
        positions.iter().map(move |p| distance(p).sqrt())
    };
    let mean = distances().sum::<f64>() / n as f64;
    let variance = distances().map(|d| (d - mean).powi(2)).sum::<f64>() / n as f64;
    (variance.sqrt() < ROUGHEST_SPHERE * mean).then_some(centre)
}

/// The place of the electrode of this name.
pub fn place(channel: &str) -> Option<[f64; 2]> {
    let name = electrode(channel);
    let name = match name.as_str() {
        "T3" => "T7",
        "T4" => "T8",
        "T5" => "P7",
        "T6" => "P8",
        "NZ" => return Some(from_above(0.0, EQUATOR)),
        "IZ" => return Some(from_above(180.0, EQUATOR)),
        other => other,
    };
    let letters = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == 'Z');
    let (_, azimuth, midline) = *ROWS.iter().find(|(rows, ..)| rows.contains(&letters))?;
    let place = &name[letters.len()..];
    if place == "Z" {
        let towards = if midline < 0.0 { 180.0 } else { 0.0 };
        return Some(from_above(towards, midline.abs()));
    }
    let number: u32 = place.parse().ok().filter(|n| (1..=10).contains(n))?;
    let azimuth = if number % 2 == 1 { -azimuth } else { azimuth };
    let step = number.div_ceil(2);
    // The rows at both ends have no electrodes between ring and midline: Fp1 and O1 are on the
    // ring.
    let ends = matches!(letters, "FP" | "O");
    match (ends, step) {
        (true, 1) => Some(from_above(azimuth, RING)),
        (true, _) => None,
        (false, 5) => Some(from_above(azimuth, EQUATOR)),
        (false, _) => Some(between(midline, azimuth, f64::from(step) / 4.0)),
    }
}

/// The electrode in the name of a channel: `EEG Fp1-Ref` and `Fp1.` are FP1.
fn electrode(channel: &str) -> String {
    let name = channel.trim().to_ascii_uppercase();
    let name = name.strip_prefix("EEG").unwrap_or(&name);
    let name = name.trim_start_matches([' ', '_', '-', ':']);
    let end = name.find(|c: char| !c.is_ascii_alphanumeric());
    name[..end.unwrap_or(name.len())].to_string()
}

/// Seen from above: azimuth from the nose to the right, angle from the vertex, both in degrees.
fn from_above(azimuth: f64, angle: f64) -> [f64; 2] {
    let (sine, cosine) = azimuth.to_radians().sin_cos();
    [angle / EQUATOR * sine, angle / EQUATOR * cosine]
}

/// On the great circle from the midline electrode at `midline` (0) to that on the ring (1).
fn between(midline: f64, azimuth: f64, share: f64) -> [f64; 2] {
    let from = direction(0.0, midline);
    let to = direction(azimuth, RING);
    let angle = (0..3).map(|i| from[i] * to[i]).sum::<f64>().acos();
    let (near, far) = (
        ((1.0 - share) * angle).sin() / angle.sin(),
        (share * angle).sin() / angle.sin(),
    );
    let [x, y, z]: [f64; 3] = std::array::from_fn(|i| near * from[i] + far * to[i]);
    let azimuth = x.atan2(y).to_degrees();
    from_above(azimuth, z.clamp(-1.0, 1.0).acos().to_degrees())
}

/// Unit vector: right, nose, up.
fn direction(azimuth: f64, angle: f64) -> [f64; 3] {
    let (azimuth, angle) = (azimuth.to_radians(), angle.to_radians());
    [
        angle.sin() * azimuth.sin(),
        angle.sin() * azimuth.cos(),
        angle.cos(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(name: &str, expected: [f64; 2]) {
        let found = place(name).unwrap_or_else(|| panic!("{name} has no place"));
        for i in 0..2 {
            assert!((found[i] - expected[i]).abs() < 1e-9, "{name}: {found:?}");
        }
    }

    #[test]
    fn electrodes_are_where_the_system_puts_them() {
        close("Cz", [0.0, 0.0]);
        close("Fpz", [0.0, 0.8]);
        close("Oz", [0.0, -0.8]);
        close("T7", [-0.8, 0.0]);
        close("T4", [0.8, 0.0]);
        close("C3", [-0.4, 0.0]);
        close("EEG C4-Ref", [0.4, 0.0]);
        close("Iz", [0.0, -1.0]);
        assert_eq!(place("Fc5."), place("FC5"));
        assert_eq!(place("T5"), place("P7"));
    }

    #[test]
    fn the_sides_mirror_each_other() {
        for (left, right) in [("F7", "F8"), ("AF3", "AF4"), ("TP9", "TP10"), ("O1", "O2")] {
            let (left, right) = (place(left).unwrap(), place(right).unwrap());
            assert!(left[0] < 0.0 && (left[0] + right[0]).abs() < 1e-12);
            assert!((left[1] - right[1]).abs() < 1e-12);
        }
    }

    #[test]
    fn positions_are_seen_from_the_centre_of_their_sphere() {
        let names = ["Fpz", "T7", "Oz", "T8", "Cz", "C3", "F4", "P4", "Pz"].map(String::from);
        let by_name: Vec<Option<[f64; 2]>> = names.iter().map(|name| place(name)).collect();
        // A head of 9 cm whose centre is 4 cm above the origin, as between the ears.
        let position = |place: &Option<[f64; 2]>| {
            let [x, y] = place.unwrap();
            let angle = (x.hypot(y) * EQUATOR).to_radians();
            let azimuth = x.atan2(y);
            Some([
                0.09 * angle.sin() * azimuth.sin(),
                0.09 * angle.sin() * azimuth.cos() - 0.01,
                0.04 + 0.09 * angle.cos(),
            ])
        };
        let mut positions: Vec<Option<[f64; 3]>> = by_name.iter().map(position).collect();
        positions[5] = None;
        let found = places(&names, &positions);
        assert_eq!(found[5], None, "names do not count beside positions");
        for i in (0..9).filter(|&i| i != 5) {
            let (found, expected) = (found[i].unwrap(), by_name[i].unwrap());
            let distance = (found[0] - expected[0]).hypot(found[1] - expected[1]);
            assert!(distance < 1e-6, "{}: {found:?}, not {expected:?}", names[i]);
        }
        assert_eq!(places(&names, &[None; 9]), by_name);
        assert_eq!(places(&names, &[]), by_name);
    }

    #[test]
    fn few_positions_are_seen_from_the_origin() {
        let names = ["a", "b"].map(String::from);
        let found = places(&names, &[Some([2.0, 0.0, 0.0]), Some([0.0, 0.0, 3.0])]);
        let close = |a: [f64; 2], b: [f64; 2]| (a[0] - b[0]).hypot(a[1] - b[1]) < 1e-12;
        assert!(close(found[0].unwrap(), [1.0, 0.0]) && close(found[1].unwrap(), [0.0, 0.0]));
        assert_eq!(
            places(&names, &[Some([0.0; 3]), Some([f64::NAN; 3])]),
            [None, None]
        );
    }

    #[test]
    fn other_names_have_no_place() {
        for name in [
            "EOG1",
            "x3",
            "",
            "F11",
            "Fp3",
            "O5",
            "T",
            "ECG",
            "C0",
            "Pzz",
            "channel 1",
        ] {
            assert_eq!(place(name), None, "{name}");
        }
    }
}
