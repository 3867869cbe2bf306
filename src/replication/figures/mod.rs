//! Published tables and figures drawn again: a CSV with every number, as an interval if it is certified, and an SVG
//! beside it. One file per paper; `item` is the shared part.

mod item;
mod kazan_reiter_2023;
mod own;
mod safetab_2021;
mod safetab_p_2024;
mod sieve_quadrature_2026;
mod spines_2024;
mod su_su_wang_2025;

pub use self::{
    item::{Item, Sources},
    own::{Own, Parameter},
};
use crate::error::{Error, Result};

/// All tables and figures, paper by paper.
pub fn items() -> Vec<Item> {
    let papers = [
        ("su-su-wang-2025", su_su_wang_2025::ITEMS),
        ("kazan-reiter-2023", kazan_reiter_2023::ITEMS),
        ("safetab-2021", safetab_2021::ITEMS),
        ("safetab-p-2024", safetab_p_2024::ITEMS),
        ("spines-2024", spines_2024::ITEMS),
        ("sieve-quadrature-2026", sieve_quadrature_2026::ITEMS),
    ];
    let of_paper = |(paper, rows): (&'static str, &[item::ItemRow])| {
        rows.iter().map(move |&(name, about, takes, draw)| Item { paper, name, about, takes, draw }).collect::<Vec<_>>()
    };
    papers.into_iter().flat_map(of_paper).collect()
}

/// The figure or paper that is not known, with the figures of its paper, or all papers.
fn unknown_figure(name: &str, all: &[Item]) -> Error {
    let figures = |paper: &str| all.iter().filter(|item| item.paper == paper).map(|item| item.name).collect::<Vec<_>>();
    match name.split_once('/') {
        Some((paper, figure)) if !figures(paper).is_empty() => {
            Error::unknown("figure", figure, &format!("{paper} has"), figures(paper))
        }
        Some((paper, _)) => unknown_paper(paper, all),
        None => unknown_paper(name, all),
    }
}

fn unknown_paper(name: &str, all: &[Item]) -> Error {
    let mut papers: Vec<&str> = all.iter().map(|item| item.paper).collect();
    papers.dedup();
    Error::unknown("paper", name, "figures are drawn of", papers)
}

/// The items of the given names, `PAPER` or `PAPER/FIGURE`; all if none is named.
pub fn find(names: &[String]) -> Result<Vec<Item>> {
    let all = items();
    let matches = |item: &Item, name: &str| match name.split_once('/') {
        Some((paper, figure)) => item.paper == paper && item.name == figure,
        None => item.paper == name,
    };
    if let Some(unknown) = names.iter().find(|name| !all.iter().any(|item| matches(item, name))) {
        return Err(unknown_figure(unknown, &all));
    }
    Ok(all.into_iter().filter(|item| names.is_empty() || names.iter().any(|name| matches(item, name))).collect())
}

#[cfg(test)]
mod tests {
    #[test]
    fn figures_are_found_by_paper_or_name_and_others_are_refused() {
        let find = |name: &str| super::find(&[name.to_string()]);
        let papers = ["su-su-wang-2025", "kazan-reiter-2023", "safetab-2021", "safetab-p-2024", "spines-2024"];
        let papers = [&papers[..], &["sieve-quadrature-2026"]].concat();
        let papers: Vec<usize> = papers.into_iter().map(|paper| find(paper).unwrap().len()).collect();
        assert_eq!(papers.iter().sum::<usize>(), super::find(&[]).unwrap().len());
        assert_eq!(find("su-su-wang-2025/table-3").unwrap().len(), 1);
        for name in ["nosuch", "su-su-wang-2025/figure-99", "su-su-wang-2025/", "/figure-2", ""] {
            let message = find(name).unwrap_err().to_string();
            assert!(message.starts_with("unknown ") && message.contains("su-su-wang-2025"), "{message}");
        }
    }
}
