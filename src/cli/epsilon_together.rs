//! Below the epsilon of a bundled release: that of it and the other releases of the same deployment.

use anyhow::Result;
use dp_assay::{
    account::Delta,
    deployments::{bundled, scale::OnScale},
    numeric::Enclosure,
};
use rug::Rational;
use serde_json::{Value, json};

use super::{
    output::exact_text,
    subject::{Resolved, Subject},
};

/// Releases of one deployment, composed.
pub struct Together {
    /// The name of the deployment.
    name: String,
    /// The other releases.
    others: Vec<String>,
    /// Their place on the scale of deployments.
    scale: OnScale,
    /// The epsilon that was printed for all of them at this delta.
    printed: Option<String>,
}

impl Together {
    /// That of a bundled release as it was published; `None` for everything else.
    pub fn of_subject(given: &Subject, subject: &Resolved, delta: &Rational, digits: u32) -> Result<Option<Together>> {
        let Some(release) = given.release_name().filter(|_| *delta > 0) else { return Ok(None) };
        let described = given.described()?;
        let is_as_published = described.levels.is_empty()
            && described.singles.is_empty()
            && subject.unit().group == 1
            && subject.unit().repeat == 1
            && described.release.as_ref().is_some_and(|release| release.neighbors == subject.neighbors);
        if !is_as_published {
            return Ok(None);
        }
        let Some((deployment, others)) = bundled::together_with(release)? else { return Ok(None) };
        let Some(basis) = &deployment.basis else { return Ok(None) };
        let delta = Delta::new(delta.clone())?;
        let (scale, printed) = (basis.at(&delta, digits)?, deployment.printed());
        let at_delta = printed.delta.and_then(|text| text.parse::<Delta>().ok());
        let printed = printed.epsilon.filter(|_| at_delta.as_ref() == Some(&delta));
        Ok(Some(Together { name: deployment.name, others, scale, printed }))
    }

    /// A line below the table.
    pub fn sentence(&self) -> Option<String> {
        let epsilon = self.scale.epsilon.as_ref()?;
        let beside = self.scale.accounts.iter().filter(|(name, _)| *name != self.scale.by);
        let beside =
            beside.filter_map(|(name, epsilon)| Some(format!("; by {name} {}", epsilon.as_ref()?.upper_text(6))));
        let printed =
            self.printed.as_ref().map_or_else(String::new, |printed| format!(" {printed} was printed for both."));
        Some(format!(
            "Together with {}, for a change in both ({}): epsilon at most {} at delta = {}, the worst of all combinations of block paths{}.{printed}",
            self.others.join(" and "),
            self.name,
            epsilon.upper_text(8),
            exact_text(&self.scale.delta),
            beside.collect::<String>()
        ))
    }

    /// The epsilon of the account by which it is bounded.
    fn bound(&self) -> Option<&Enclosure> {
        self.scale.accounts.iter().find(|(name, _)| *name == self.scale.by).and_then(|(_, epsilon)| epsilon.as_ref())
    }

    /// As an object.
    pub fn json(&self) -> Value {
        let account = |(name, epsilon): &(String, Option<Enclosure>)| json!({ "name": name, "epsilon": epsilon });
        json!({
            "deployment": self.name,
            "with": self.others,
            "epsilon": self.bound(),
            "by": self.scale.by,
            "accounts": self.scale.accounts.iter().map(account).collect::<Value>(),
            "printed": self.printed,
        })
    }
}
