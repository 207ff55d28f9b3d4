//! Plain text tables: columns padded to their widest cell, the first one to the left, the others to
//! the right.

/// The rows under their header, two spaces between columns.
pub fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let header: Vec<String> = header.iter().map(|cell| cell.to_string()).collect();
    let lines: Vec<&Vec<String>> = std::iter::once(&header).chain(rows).collect();
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let mut text = String::new();
    for line in lines {
        for (column, cell) in line.iter().enumerate() {
            let cell = match column {
                0 => format!("{cell:<0$}", widths[column]),
                _ => format!("  {cell:>0$}", widths[column]),
            };
            text.push_str(&cell);
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::table;

    #[test]
    fn pads_columns_to_their_widest_cell() {
        let rows = [
            vec!["gp".into(), "0.99".into()],
            vec!["nonsmooth".into(), "1".into()],
        ];
        assert_eq!(
            table(&["kind", "α"], &rows),
            "kind          α\ngp         0.99\nnonsmooth     1\n"
        );
    }
}
