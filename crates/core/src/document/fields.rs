//! An answer as a list of fields, each with its key for data and its heading for tables: an object, a record, a row of a table, or a table
//! with a row for each field.

use rug::Rational;
use serde::Serialize;
use serde_json::{Value, json};

use super::Table;
use crate::numeric::{
    Enclosure,
    notation::{exact_json, exact_text},
};

/// Fields in reading order.
#[derive(Clone, Debug, Default)]
pub struct Fields(Vec<Field>);

#[derive(Clone, Debug)]
struct Field {
    /// The key and the value; `None` for a cell of tables alone.
    data: Option<(String, Value)>,
    /// The heading and the cell; `None` for data alone.
    cell: Option<(String, String)>,
}

/// A value as data, and as people read it.
#[derive(Clone, Debug)]
pub struct Shown {
    value: Value,
    text: String,
}

impl Fields {
    /// No field.
    pub fn new() -> Fields {
        Fields::default()
    }

    /// A field of data and of tables.
    pub fn shown(mut self, key: impl Into<String>, heading: impl Into<String>, shown: impl Into<Shown>) -> Fields {
        let Shown { value, text } = shown.into();
        self.0.push(Field { data: Some((key.into(), value)), cell: Some((heading.into(), text)) });
        self
    }

    /// A field of data alone.
    pub fn with(mut self, key: impl Into<String>, value: impl Serialize) -> Fields {
        self.0.push(Field { data: Some((key.into(), json!(value))), cell: None });
        self
    }

    /// A field of data, if there is a value.
    pub fn with_some(self, key: impl Into<String>, value: Option<impl Serialize>) -> Fields {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    /// A list in data, unless it is empty.
    pub fn with_any<T: Serialize>(self, key: impl Into<String>, values: impl IntoIterator<Item = T>) -> Fields {
        let values: Vec<T> = values.into_iter().collect();
        self.with_some(key, (!values.is_empty()).then_some(values))
    }

    /// A cell of tables alone.
    pub fn cell(mut self, heading: impl Into<String>, text: impl Into<String>) -> Fields {
        self.0.push(Field { data: None, cell: Some((heading.into(), text.into())) });
        self
    }

    /// These fields, and then others.
    pub fn and(mut self, others: impl Into<Fields>) -> Fields {
        self.0.extend(others.into().0);
        self
    }

    /// The object of the data. A key that occurs again has its last value.
    pub fn object(&self) -> Value {
        Value::Object(self.0.iter().filter_map(|field| field.data.clone()).collect())
    }

    /// A table with a row for each field that has a cell: its heading, and the cell below `heading`.
    pub fn table(&self, heading: &str) -> Table {
        let rows = self.cells().map(|(name, cell)| vec![name.clone(), cell.clone()]);
        Table::numbers("", &["", heading], rows.collect())
    }

    fn cells(&self) -> impl Iterator<Item = &(String, String)> {
        self.0.iter().filter_map(|field| field.cell.as_ref())
    }
}

/// The objects of many rows.
pub fn objects(rows: &[Fields]) -> Vec<Value> {
    rows.iter().map(Fields::object).collect()
}

/// A table of rows that have the same headings, of which there is one at least.
pub fn table(rows: &[Fields]) -> Table {
    let heading: Vec<&str> = rows.iter().take(1).flat_map(Fields::cells).map(|(heading, _)| heading.as_str()).collect();
    let cells = |row: &Fields| row.cells().map(|(_, cell)| cell.clone()).collect();
    Table::numbers("", &heading, rows.iter().map(cells).collect())
}

/// A certified number: both ends, and to this number of digits in tables.
pub fn certified(value: &Enclosure, digits: usize) -> Shown {
    Shown { value: value.to_json(), text: value.shown(digits) }
}

/// An exact number.
pub fn exactly(value: &Rational) -> Shown {
    Shown { value: exact_json(value), text: exact_text(value) }
}

/// A value with a text of its own.
pub fn said(value: impl Serialize, text: impl Into<String>) -> Shown {
    Shown { value: json!(value), text: text.into() }
}

impl<T: Serialize + ToString> From<T> for Shown {
    fn from(value: T) -> Shown {
        Shown { text: value.to_string(), value: json!(value) }
    }
}

/// The fields of an object, as data.
impl From<Value> for Fields {
    fn from(object: Value) -> Fields {
        let Value::Object(keys) = object else { return Fields::new() };
        Fields(keys.into_iter().map(|data| Field { data: Some(data), cell: None }).collect())
    }
}

impl From<Fields> for Value {
    fn from(fields: Fields) -> Value {
        fields.object()
    }
}

impl Serialize for Fields {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.object().serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_an_object_and_a_row() {
        let half = Enclosure::rational(&Rational::from((1, 2)), 64);
        let row = |name: &str, third: Option<u32>| {
            let fields = Fields::new().shown("name", "", name).shown("delta", "delta", certified(&half, 4));
            let fields = fields.with("rho", &half).with_some("third", third).with_any("more", third).cell("by", "us");
            fields.shown("sigma2", "sigma2", exactly(&Rational::from((1, 8)))).with("name", "last")
        };
        let rows = [row("a", Some(3)), row("b", None)];
        let ends = r#"{"lower":0.5,"upper":0.5}"#;
        let [first, second] = [r#","third":3,"more":[3]"#, ""]
            .map(|more| format!(r#"{{"name":"last","delta":{ends},"rho":{ends}{more},"sigma2":0.125}}"#));
        assert_eq!(objects(&rows).iter().map(Value::to_string).collect::<Vec<_>>(), [first, second]);
        let table = table(&rows);
        assert_eq!(table.heading, ["", "delta", "by", "sigma2"]);
        assert_eq!(table.rows, [["a", "0.5", "us", "0.125"], ["b", "0.5", "us", "0.125"]]);
        assert_eq!(rows[0].table("value").rows[1], ["delta", "0.5"]);
        assert_eq!(Fields::from(json!({ "a": 1 })).and(rows[1].clone()).object()["sigma2"].to_string(), "0.125");
    }
}
