//! Tables for people.

/// Columns of equal width each: the first to the left, the others to the right.
pub(crate) fn render(header: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows
            .iter()
            .filter_map(|row| row.get(column))
            .map(String::as_str);
        cells
            .chain(header.get(column).copied())
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or(0)
    };
    let line = |cells: Vec<&str>| {
        let padded = cells.iter().enumerate().map(|(column, cell)| match column {
            0 => format!("{cell:<0$}", width(0)),
            _ => format!("{cell:>0$}", width(column)),
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    let body = rows
        .iter()
        .map(|row| line(row.iter().map(String::as_str).collect()));
    std::iter::once(line(header.to_vec())).chain(body).collect()
}

/// Rows of text, every column to the left.
pub(crate) fn render_left(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths);
        let padded: Vec<String> = cells
            .map(|(cell, width)| format!("{cell:<width$}"))
            .collect();
        padded.join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows = [
            vec!["unit".to_owned(), "1234".to_owned()],
            vec!["é".to_owned(), "5".to_owned()],
        ];
        assert_eq!(
            render(&["suite", "ran"], &rows),
            "suite   ran\nunit   1234\né         5\n"
        );
    }

    #[test]
    fn rows_of_text_stand_to_the_left() {
        let rows = [
            vec!["é".to_owned(), "1".to_owned(), String::new()],
            vec!["bcd".to_owned(), "22".to_owned(), "x".to_owned()],
        ];
        assert_eq!(render_left(&rows), "é    1\nbcd  22  x\n");
        assert_eq!(render_left(&[]), "");
    }
}
