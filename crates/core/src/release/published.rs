//! Published epsilons of a release, as a file states them.

use std::{fmt, marker::PhantomData};

use rug::Rational;
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer, value::SeqAccessDeserializer},
};
use toml::Spanned;

use super::levels::{GeoLevel, Published, Release};
use crate::{
    account::{
        Delta,
        compared::{Conversion, PrintedFigure},
    },
    error::Result,
    io::toml_reader::{Exact, TomlReader},
    numeric::rational,
};

/// One value, or a list of values.
pub(super) struct OneOrMany<T>(pub Vec<T>);

impl<T> Default for OneOrMany<T> {
    fn default() -> Self {
        OneOrMany(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(OneOrManyVisitor(PhantomData))
    }
}

struct OneOrManyVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for OneOrManyVisitor<T> {
    type Value = OneOrMany<T>;

    fn expecting(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str("a table, or a list of tables")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> std::result::Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(|one| OneOrMany(vec![one]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> std::result::Result<Self::Value, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list)).map(OneOrMany)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PublishedFile {
    epsilon: Spanned<Exact>,
    delta: Option<Spanned<Exact>>,
    by: Spanned<String>,
    #[serde(default)]
    levels: Vec<Spanned<String>>,
    source: Spanned<String>,
}

/// Reads the figures of a release with these levels.
pub(super) fn read(reader: &TomlReader, raw: &[PublishedFile], levels: &[GeoLevel]) -> Result<Vec<Published>> {
    let mut all: Vec<Published> = Vec::new();
    for file in raw {
        let published = one(reader, file, levels)?;
        let same = |other: &Published| {
            other.levels == published.levels
                && (other.figure.delta == published.figure.delta
                    || other.figure.delta.is_none()
                    || published.figure.delta.is_none())
        };
        if all.iter().any(same) {
            let why =
                "an epsilon is published twice for the same levels at the same delta: which one is compared with?";
            return Err(reader.refuse(file.epsilon.span().start, why));
        }
        all.push(published);
    }
    Ok(all)
}

fn one(reader: &TomlReader, file: &PublishedFile, levels: &[GeoLevel]) -> Result<Published> {
    let (value, printed) = (reader.positive(&file.epsilon, "the published epsilon")?, reader.text(&file.epsilon));
    let by = conversion(reader, &file.by)?;
    let delta = delta(reader, file, by)?;
    if file.source.get_ref().trim().is_empty() {
        return Err(reader.refuse(file.source.span().start, "a published figure needs its source: where, and by whom"));
    }
    reader.no_duplicates(file.levels.iter(), "level")?;
    let mut places: Vec<usize> =
        file.levels.iter().map(|name| place_of(reader, levels, name)).collect::<Result<_>>()?;
    places.sort_unstable();
    let mut names: Vec<String> = places.into_iter().map(|place| levels[place].name.clone()).collect();
    if names.len() == levels.len() {
        names.clear();
    }
    let source = file.source.get_ref().trim().to_string();
    Ok(Published { levels: names, figure: PrintedFigure { printed, value, delta, by, source } })
}

fn conversion(reader: &TomlReader, by: &Spanned<String>) -> Result<Conversion> {
    Conversion::of_key(by.get_ref()).ok_or_else(|| {
        let expected = "\"zcdp\" (Bun-Steinke), \"best-order\" (zCDP at the best order), \"rdp\" or \"pure\" (pure DP)";
        reader.refuse(by.span().start, format!("by = {:?}: expected {expected}", by.get_ref()))
    })
}

/// The delta of a figure: none for pure DP, which is about delta = 0 and so about every delta.
fn delta(reader: &TomlReader, file: &PublishedFile, by: Conversion) -> Result<Option<Delta>> {
    match (&file.delta, by) {
        (None, Conversion::Pure) => Ok(None),
        (None, Conversion::BunSteinke | Conversion::BestOrder | Conversion::Renyi | Conversion::Basic) => {
            let why = "a published epsilon needs the delta at which it was published";
            Err(reader.refuse(file.epsilon.span().start, why))
        }
        (Some(field), by) => {
            let at = field.span().start;
            let value: Rational = reader.number(field)?;
            if by == Conversion::Pure {
                let why = "an epsilon of pure DP is about delta = 0: leave the delta out";
                return if value == 0 { Ok(None) } else { Err(reader.refuse(at, why)) };
            }
            Delta::new(value).map(Some).map_err(|why| reader.refuse(at, why.to_string()))
        }
    }
}

/// The place of a level that is named in another part of the file.
pub(super) fn place_of(reader: &TomlReader, levels: &[GeoLevel], name: &Spanned<String>) -> Result<usize> {
    levels.iter().position(|level| level.name == *name.get_ref()).ok_or_else(|| {
        let known = levels.iter().map(|own| own.name.as_str()).collect::<Vec<_>>().join(", ");
        let why = format!("{:?} is not a level of this release: {known}", name.get_ref());
        reader.refuse(name.span().start, why)
    })
}

impl Release {
    /// The figures published for the kept levels, if only some levels of the release are kept.
    pub(super) fn published_among(&self, kept: &[&str]) -> Vec<Published> {
        let is_kept = |level: &String| kept.contains(&level.as_str());
        let of = |published: &Published| -> Option<Published> {
            let levels: Vec<String> = match published.levels.is_empty() {
                true => self.levels.iter().map(|level| level.name.clone()).collect(),
                false => published.levels.clone(),
            };
            let levels = levels.iter().all(is_kept).then_some(levels)?;
            let levels = if levels.len() == kept.len() { Vec::new() } else { levels };
            Some(Published { levels, figure: published.figure.clone() })
        };
        self.published.iter().filter_map(of).collect()
    }

    /// The figures that were published for these levels together, at any delta; of all levels if none is named.
    pub fn figures_of(&self, levels: &[impl AsRef<str>]) -> Vec<PrintedFigure> {
        let is_whole = levels.is_empty() || levels.len() == self.levels.len();
        let is_about = |published: &&Published| match (is_whole, published.levels.is_empty()) {
            (true, whole) => whole,
            (false, true) => false,
            (false, false) => {
                published.levels.len() == levels.len()
                    && levels.iter().all(|level| published.levels.iter().any(|own| own == level.as_ref()))
            }
        };
        self.published.iter().filter(is_about).map(|published| published.figure.clone()).collect()
    }
}

/// A published figure as lines of a file.
pub(super) fn lines(published: &Published, quoted: impl Fn(&str) -> String) -> Vec<(&'static str, String)> {
    let figure = &published.figure;
    let mut lines = vec![("epsilon", quoted(&figure.printed))];
    lines.extend(figure.delta.as_ref().map(|delta| ("delta", quoted(&rational::display(delta)))));
    lines.push(("by", quoted(figure.by.key())));
    if !published.levels.is_empty() {
        let names: Vec<String> = published.levels.iter().map(|name| quoted(name)).collect();
        lines.push(("levels", format!("[{}]", names.join(", "))));
    }
    lines.push(("source", quoted(&figure.source)));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"name = "two"
title = "Two levels"
source = "made up for a test"
neighbors = "add-remove"

[[published]]
epsilon = "3.10"
delta = 1e-6
by = "best-order"
source = "an agency's web site"

[[published]]
epsilon = 2
delta = "1e-6"
by = "zcdp"
levels = ["B"]
source = "the same"

[[level]]
name = "A"
[[level.query]]
name = "q"
sigma2 = 10

[[level]]
name = "B"
[[level.query]]
name = "q"
sigma2 = 20
"#;

    fn read(text: &str) -> Result<Release> {
        Release::parse(text, "two.toml")
    }

    #[test]
    fn figures_are_read_with_their_digits() {
        let release = read(GOOD).unwrap();
        let [whole, of_b] = &release.published[..] else { panic!("{:?}", release.published) };
        assert_eq!((whole.figure.printed.as_str(), whole.figure.by), ("3.10", Conversion::BestOrder));
        assert_eq!((of_b.figure.printed.as_str(), &of_b.levels[..]), ("2", &["B".to_string()][..]));
        assert_eq!(release.figures_of(&[] as &[&str]), std::slice::from_ref(&whole.figure));
        assert_eq!(release.figures_of(&["B", "A"]), std::slice::from_ref(&whole.figure));
        assert_eq!(release.figures_of(&["B"]), std::slice::from_ref(&of_b.figure));
        assert!(release.figures_of(&["A"]).is_empty());
        assert_eq!(release.only(&["B"]).unwrap().published[0].levels, Vec::<String>::new());
        assert!(release.only(&["A"]).unwrap().published.is_empty());
        let again = read(&release.to_toml()).unwrap();
        assert_eq!(again.published, release.published);
        // Other noise was not published.
        let sigma2 = [Rational::from(7), Rational::from(8)];
        assert!(release.with_sigma2(&sigma2, release.neighbors, ["n", "t", "s"]).unwrap().published.is_empty());
        // One figure may stand in a line.
        let inline = "published = { epsilon = \"3.10\", delta = 1e-6, by = \"best-order\", source = \"s\" }\n";
        let (head, tail) = GOOD.split_once("[[published]]").unwrap();
        let (_, levels) = tail.split_once("[[level]]").unwrap();
        let text = [head, inline, "[[level]]", levels].concat();
        assert_eq!(read(&text).unwrap().published[0].figure.printed, "3.10");
        let pure = text.replace("delta = 1e-6, by = \"best-order\"", "by = \"pure\"");
        assert_eq!(read(&pure).unwrap().published[0].figure.delta, None);
    }

    #[test]
    fn a_malformed_figure_is_refused_with_its_line() {
        for (from, to, says) in [
            ("epsilon = \"3.10\"", "epsilon = \"-3.10\"", "line 7, column 11: the published epsilon must be above 0"),
            ("epsilon = \"3.10\"", "epsilon = \"about 3\"", "line 7, column 11"),
            ("epsilon = \"3.10\"\n", "", "missing field `epsilon`"),
            ("delta = 1e-6\nby = \"best", "by = \"best", "line 7, column 11: a published epsilon needs the delta"),
            ("delta = 1e-6", "delta = 0", "line 8, column 9: delta = 0"),
            ("delta = 1e-6", "delta = 1.5", "line 8"),
            ("by = \"best-order\"", "by = \"renyi\"", "line 9, column 6: by = \"renyi\": expected \"zcdp\""),
            ("by = \"best-order\"", "by = \"pure\"", "line 8, column 9: an epsilon of pure DP is about delta = 0"),
            ("source = \"an agency's web site\"", "source = \" \"", "line 10, column 10: a published figure needs"),
            ("source = \"an agency's web site\"\n", "", "missing field `source`"),
            ("levels = [\"B\"]", "levels = [\"C\"]", "line 16, column 11: \"C\" is not a level of this release: A, B"),
            ("levels = [\"B\"]", "levels = [\"B\", \"B\"]", "line 16, column 16: the level \"B\" occurs twice"),
            ("levels = [\"B\"]\n", "", "line 13, column 11: an epsilon is published twice"),
            ("levels = [\"B\"]", "levels = [\"B\"]\nnote = 1", "unknown field \"note\": it may have"),
        ] {
            assert!(GOOD.contains(from), "{from}");
            let message = read(&GOOD.replacen(from, to, 1)).expect_err(to).to_string();
            assert!(message.contains(says) && message.contains("two.toml"), "{to}: {message}");
        }
    }
}
