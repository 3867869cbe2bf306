//! Certificates of the figures of deployments, where the checker has a claim of their kind.

use super::bundled;
use crate::{
    certificate::Certificate,
    error::{Error, Result},
    replication::certified,
};

/// The certificate of a figure, `DEPLOYMENT/ID`; `None` if no bundled deployment has that name. An error for a figure that is no claim of a
/// certificate.
pub fn certificate(row: &str, digits: u32) -> Result<Option<Certificate>> {
    let Some((name, id)) = row.rsplit_once('/') else { return Ok(None) };
    let all = bundled::find(&[])?;
    let Some(deployment) = all.into_iter().find(|deployment| deployment.name == name) else { return Ok(None) };
    let values = deployment.paper.values;
    let Some(value) = values.iter().find(|value| value.id == id) else {
        let has = format!("`assay deployments {name}` lists the figures; it has");
        return Err(Error::unknown("figure", id, &has, values.iter().map(|value| value.id.as_str())));
    };
    certified::of_value(value, digits).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_has_a_certificate_where_the_checker_has_its_claim() {
        let found = certificate("meta-url-shares/gdp-of-14", 6);
        assert!(found.is_err(), "a closed form is no claim");
        let found = certificate("wikimedia-page-views/stronger", 6).unwrap().unwrap();
        assert!(found.claim.ends.upper < 1, "{:?}", found.claim.ends);
        assert!(certificate("nosuch/epsilon", 6).unwrap().is_none() && certificate("nosuch", 6).unwrap().is_none());
        assert!(certificate("wikimedia-page-views/nosuch", 6).unwrap_err().to_string().contains("stronger"));
    }
}
