//! The certificate of a run: what it spends, proven, in JSON and on a page for a person to read.
//!
//! It is as public as the release: it tells nothing of the persons, not even how many there are. The hashes are those of
//! the public inputs. A hash of the persons' files is not among them: whoever guesses a file could check the guess, down to
//! its last record, and a hash of confidential data is itself a count of it that has no noise.

use std::fmt::Write as _;

use rug::Rational;
use serde_json::{Map, Value, json};

use super::{
    account::{Account, Spent},
    output::Written,
    plan::{LevelPlan, Noise},
};
use crate::{
    loss::law::Law,
    numeric::{Enclosure, rational},
    safetab::schema::{Pass, Privacy},
};

/// All that a certificate says.
pub struct Certificate<'a> {
    /// The guarantee.
    pub privacy: Privacy,
    /// The delta of every epsilon.
    pub delta: &'a Rational,
    /// The share of stage 1.
    pub gamma: &'a Rational,
    /// Whether negative counts are published.
    pub allow_negative_counts: bool,
    /// The seed of the noise, where it is not secret.
    pub insecure_seed: Option<u64>,
    /// The number of the draw, and how many there were before it.
    pub draw: (u64, u64),
    /// SHA-256 of the public inputs, by role.
    pub inputs: &'a [(String, String)],
    /// Every pass with its account, its levels and theirs, and what was written.
    pub passes: Vec<CertifiedPass<'a>>,
    /// The account of the whole run.
    pub total: Account,
}

/// A pass of a run.
pub struct CertifiedPass<'a> {
    /// Which one.
    pub pass: Pass,
    /// Its account.
    pub account: Account,
    /// Its levels with their accounts.
    pub levels: Vec<(&'a LevelPlan, Account)>,
    /// What was written.
    pub written: Written,
}

/// The name of a pass.
pub fn name(pass: Pass) -> &'static str {
    match pass {
        Pass::UnitedStates => "United States",
        Pass::PuertoRico => "Puerto Rico",
    }
}

/// An exact rational as a JSON number: itself where its decimal ends, else its upper decimal.
fn number(value: &Rational) -> Value {
    let text = rational::display(value);
    let text = match text.contains('/') {
        true => Enclosure::rational(value, 84).decimals().1.unwrap_or_default(),
        false => text,
    };
    serde_json::from_str(&text).unwrap_or(Value::Null)
}

impl Certificate<'_> {
    fn unit(&self) -> &'static str {
        match self.privacy {
            Privacy::ZeroConcentrated => "rho",
            Privacy::Pure => "pure_epsilon",
        }
    }

    fn law(&self) -> &'static str {
        match self.privacy {
            Privacy::ZeroConcentrated => "discrete Gaussian",
            Privacy::Pure => "two-sided geometric",
        }
    }

    fn spent(&self, spent: &Spent) -> Map<String, Value> {
        let mut object = Map::new();
        object.insert(self.unit().to_string(), number(&spent.budget));
        object.insert(format!("{}_exact", self.unit()), json!(spent.budget.to_string()));
        object.insert("epsilon".to_string(), spent.epsilon.as_ref().map_or(Value::Null, Enclosure::to_json));
        if self.privacy == Privacy::ZeroConcentrated {
            let zcdp = spent.zcdp_epsilon.as_ref().map_or(Value::Null, Enclosure::to_json);
            object.insert("zcdp_epsilon".to_string(), zcdp);
        }
        object
    }

    /// What a part spends: under unbounded neighbors as its own keys, under bounded ones as an object.
    fn account(&self, account: &Account) -> Map<String, Value> {
        let mut object = self.spent(&account.unbounded);
        object.insert("bounded".to_string(), Value::Object(self.spent(&account.bounded)));
        object
    }

    fn level(&self, plan: &LevelPlan, account: &Account) -> Value {
        let mut object = Map::new();
        object.insert("region_type".to_string(), json!(plan.region_type.name()));
        object.insert("level".to_string(), json!(plan.level.number()));
        object.extend(self.account(account));
        object.insert("stability".to_string(), json!(plan.stability));
        object.insert("regions".to_string(), json!(plan.regions.len()));
        object.insert("iterations".to_string(), json!(plan.iterations.len()));
        object.insert("detailed_only_iterations".to_string(), json!(plan.detailed_only()));
        for (stage, noise) in stages(plan) {
            let (parameter, value) = parameter(noise);
            object.insert(format!("{parameter}_{stage}"), number(value));
            object.insert(format!("{parameter}_{stage}_exact"), json!(value.to_string()));
            object.insert(format!("moe_{stage}"), json!(noise.margin));
        }
        object.insert("thresholds".to_string(), json!(plan.thresholds));
        let suppression = plan.suppression;
        object.insert("suppression_threshold_total_only".to_string(), json!(suppression.map(|both| both[0])));
        object.insert("suppression_threshold".to_string(), json!(suppression.map(|both| both[1])));
        Value::Object(object)
    }

    /// The certificate as one object.
    pub fn json(&self) -> Value {
        let inputs: Map<String, Value> = self.inputs.iter().map(|(role, hash)| (role.clone(), json!(hash))).collect();
        let mut object = json!({
            "program": concat!("assay ", env!("CARGO_PKG_VERSION")),
            "algorithm": "SafeTab-P",
            "guarantee": match self.privacy {
                Privacy::ZeroConcentrated => "zero-concentrated differential privacy",
                Privacy::Pure => "pure differential privacy",
            },
            "noise": self.law(),
            "seed": match self.insecure_seed {
                None => json!("secret, from the operating system"),
                Some(seed) => json!(format!("INSECURE: the noise follows from seed {seed}")),
            },
            "insecure_seed": self.insecure_seed,
            "draw": self.draw.0,
            "earlier_draws": self.draw.1,
            "delta": number(self.delta),
            "neighbors": "unbounded: one record is added or removed; \"bounded\": one record is changed",
        });
        let Value::Object(fields) = &mut object else { return object };
        fields.extend(self.account(&self.total));
        fields.insert("stage_1_fraction".to_string(), number(self.gamma));
        fields.insert("allow_negative_counts".to_string(), json!(self.allow_negative_counts));
        fields.insert("sha256".to_string(), Value::Object(inputs));
        let passes = self.passes.iter().map(|pass| {
            let mut object = Map::new();
            object.insert("pass".to_string(), json!(name(pass.pass)));
            object.extend(self.account(&pass.account));
            let levels: Vec<Value> = pass.levels.iter().map(|(plan, account)| self.level(plan, account)).collect();
            object.insert("levels".to_string(), json!(levels));
            let written = &pass.written;
            object.insert("rows".to_string(), json!({ "t1": written.totals, "t2": written.cells }));
            object.insert("coterminous_groups_replaced".to_string(), json!(written.coterminous));
            Value::Object(object)
        });
        fields.insert("passes".to_string(), passes.collect());
        object
    }

    /// The certificate as a page in Markdown.
    pub fn page(&self) -> String {
        let mut page = String::new();
        let _ = self.write_page(&mut page);
        page
    }

    fn write_page(&self, page: &mut String) -> std::fmt::Result {
        let (delta, unit) = (rational::display(self.delta), self.unit().replace('_', " "));
        writeln!(page, "# Privacy certificate of a SafeTab-P release\n")?;
        if let Some(seed) = self.insecure_seed {
            writeln!(page, "**INSECURE: the noise follows from seed {seed}. Nobody is protected by this release.**\n")?;
        }
        let mut budget = rational::display(&self.total.unbounded.budget);
        if budget.contains('/') {
            budget = Enclosure::rational(&self.total.unbounded.budget, 64).shown(10);
        }
        writeln!(page, "Noise: {}, exact. Budget: {unit} = {budget}.", self.law())?;
        if self.privacy == Privacy::ZeroConcentrated {
            writeln!(
                page,
                "Every epsilon is at delta = {delta}. \"exact\" is the smallest epsilon that the noise has, proven;"
            )?;
            writeln!(page, "\"by zCDP\" is zCDP (Bun-Steinke), rho + 2 sqrt(rho ln(1/delta)).")?;
        } else {
            writeln!(
                page,
                "\"exact\" is the smallest epsilon at delta = {delta}, proven; at delta = 0 it is the budget."
            )?;
        }
        writeln!(page, "Unbounded: one person's record is added or removed. Bounded: one record is changed.\n")?;
        if self.draw.1 > 0 {
            writeln!(
                page,
                "**This is draw {}. Each of the {} before it has spent its own budget too, if anybody saw it: the whole then is \
                 up to {} times the budget.**\n",
                self.draw.0,
                self.draw.1,
                self.draw.1 + 1
            )?;
        }
        let zcdp = self.privacy == Privacy::ZeroConcentrated;
        let head = if zcdp { " by zCDP |" } else { "" };
        let rule = if zcdp { " ---: |" } else { "" };
        writeln!(page, "| | {unit} | exact, unbounded |{head} exact, bounded |{head}")?;
        writeln!(page, "| --- | ---: | ---: |{rule} ---: |{rule}")?;
        let mut line = |name: &str, account: &Account| {
            write!(page, "| {name} | {} |", rational::display(&account.unbounded.budget))?;
            for spent in [&account.unbounded, &account.bounded] {
                write!(page, " {} |", shown(spent.epsilon.as_ref()))?;
                if zcdp {
                    write!(page, " {} |", shown(spent.zcdp_epsilon.as_ref()))?;
                }
            }
            writeln!(page)
        };
        for pass in &self.passes {
            for (plan, account) in &pass.levels {
                line(&format!("{} level {}", plan.region_type, plan.level), account)?;
            }
            line(&format!("**{}**", name(pass.pass)), &pass.account)?;
        }
        line("**Whole run**", &self.total)?;
        writeln!(
            page,
            "\nMargins of error: the smallest m with P[|noise| <= m] >= 95 %, of one noisy count. T1 totals and sexes of"
        )?;
        writeln!(page, "groups with ages are sums of noisy cells, with wider margins.\n")?;
        let parameter_name = if zcdp { "sigma2" } else { "epsilon" };
        writeln!(
            page,
            "| | s | groups | {parameter_name}: one total | stage 1 | stage 2 | margin: one total | stage 1 | stage 2 | suppressed up to |"
        )?;
        writeln!(page, "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")?;
        for (plan, _) in self.passes.iter().flat_map(|pass| &pass.levels) {
            write!(page, "| {} level {} | {} | {} |", plan.region_type, plan.level, plan.stability, plan.groups())?;
            for (_, noise) in stages(plan) {
                write!(page, " {} |", rational::display(parameter(noise).1))?;
            }
            for (_, noise) in stages(plan) {
                write!(page, " {} |", noise.margin)?;
            }
            match plan.suppression {
                None => writeln!(page, " none |")?,
                Some([_, threshold]) => writeln!(page, " {threshold} |")?,
            }
        }
        writeln!(page, "\nPublic inputs, SHA-256:\n")?;
        for (role, hash) in self.inputs {
            writeln!(page, "- {role}: `{hash}`")?;
        }
        writeln!(
            page,
            "\nThe persons' files have no hash here: who guesses a file could check the guess by it.\n\nWritten:\n"
        )?;
        for pass in &self.passes {
            let Written { totals, cells, coterminous, .. } = pass.written;
            writeln!(
                page,
                "- {}: {totals} rows of T1, {cells} of T2; {coterminous} groups have the counts of a coterminous one",
                name(pass.pass)
            )?;
        }
        writeln!(page, "\nMade by assay {}, draw {}.", env!("CARGO_PKG_VERSION"), self.draw.0)
    }
}

fn shown(value: Option<&Enclosure>) -> String {
    value.map_or_else(|| "-".to_string(), |value| value.shown(8))
}

fn stages(plan: &LevelPlan) -> [(&'static str, &Noise); 3] {
    [("total_only", &plan.total_only), ("stage1", &plan.stage_1), ("stage2", &plan.stage_2)]
}

fn parameter(noise: &Noise) -> (&'static str, &Rational) {
    match &noise.law {
        Law::DiscreteGaussian { sigma2 } | Law::Gaussian { sigma2 } => ("sigma2", sigma2),
        Law::DiscreteLaplace { epsilon } => ("laplace_epsilon", epsilon),
    }
}
