//! Claims as data: each has a name, inputs with names, and a computation.
//!
//! A subject lists its claims in a table, a row each: the name, the inputs in the order in which they are shown, and the
//! value. The types of the inputs are those that the computation takes. Inputs are read and checked with the file, before
//! anything is computed.
//!
//! | type | in a file |
//! | --- | --- |
//! | `Rational`, `Rho`, `Delta`, `Epsilon` | an exact number, as text or as a whole number |
//! | whole numbers, `bool`, `String` | themselves |
//! | `Option` of a type | may be left out, and is shown as null |
//! | `Flag` | `true` or `false`; left out, it is shown as false |
//! | `Vec`, arrays and pairs of types | a list |
//! | an enum that `plain_inputs!` names | one of its names |

use std::{fmt, sync::Arc};

use rug::Rational;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::verdict::Computed;
use crate::{
    account::{Delta, Epsilon, Rho},
    error::{Error, Result, unknown},
    io::toml_reader::with_near_name,
    numeric::{Enclosure, rational::parse},
    safetab::{cell_noise::NoiseKind, tables::PublishedTable},
};

/// The result of reading; the error is the reason why not.
pub type Read<T> = std::result::Result<T, String>;

/// Claims by their names.
pub type Table = &'static [(&'static str, fn(Given) -> Read<Claim>)];

/// What a computation takes beside its inputs.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The paper whose settings the kind `safetab` takes.
    pub settings: &'a str,
    /// The number of digits to compute.
    pub digits: u32,
}

/// Numbers from which several claims are computed.
pub type Basis = Vec<Vec<Enclosure>>;

/// The common part of several claims, computed once for all of them.
pub struct Shared {
    /// Its name: that of what is computed, and of all its inputs.
    pub key: String,
    /// Its computation.
    pub compute: Box<dyn Fn() -> Result<Basis> + Send + Sync>,
}

type Compute = dyn Fn(&Context, &Basis) -> Result<Computed> + Send + Sync;

/// A claim with its inputs.
#[derive(Clone)]
pub struct Claim {
    /// The name, and the inputs by name.
    fields: Map<String, Value>,
    /// The inputs that stand beside the claim, in the table that has its kind.
    beside: Map<String, Value>,
    shared: Option<Arc<Shared>>,
    compute: Arc<Compute>,
}

impl Claim {
    /// Reads a claim of a table by its name; `tag` is the field that has the name.
    pub(super) fn read(
        table: Table,
        tag: &'static str,
        fields: Map<String, Value>,
        beside: Map<String, Value>,
    ) -> Read<Claim> {
        let names = || table.iter().map(|(name, _)| *name);
        let name = match fields.get(tag) {
            Some(Value::String(name)) => name,
            Some(other) => return Err(format!("{tag}: must be a text in quotes, and not {other}")),
            None => {
                return Err(format!("{tag} is missing, as in {tag} = {:?}", names().next().unwrap_or_default()));
            }
        };
        let Some((_, read)) = table.iter().find(|(known, _)| known == name) else {
            return Err(unknown("name", name, "there are", names()));
        };
        read(Given { tag, fields, beside })
    }

    /// The inputs by name, after the name of the claim.
    pub(super) fn fields(&self) -> &Map<String, Value> {
        &self.fields
    }

    /// Its name.
    pub(super) fn name(&self) -> &str {
        self.fields.values().next().and_then(Value::as_str).unwrap_or_default()
    }

    /// Its inputs of these names.
    pub(super) fn inputs<T: Inputs<N>, const N: usize>(&self, names: [&'static str; N]) -> Result<T> {
        let mut values = names.map(|name| (name, self.fields.get(name).cloned().unwrap_or_default()));
        T::read(values.each_mut().map(|(name, value)| (*name, value))).map_err(Error::unsuitable)
    }

    /// The inputs that stand beside the claim.
    pub(super) fn beside(&self) -> &Map<String, Value> {
        &self.beside
    }

    /// The part that other claims have in common with it.
    pub(super) fn shared(&self) -> Option<&Shared> {
        self.shared.as_deref()
    }

    /// Computes it.
    pub(super) fn compute(&self, with: &Context) -> Result<Computed> {
        let basis = self.shared().map(|shared| (shared.compute)()).transpose()?;
        self.by_basis(with, &basis.unwrap_or_default())
    }

    /// Computes it from what [`Claim::shared`] gives.
    pub(super) fn by_basis(&self, with: &Context, basis: &Basis) -> Result<Computed> {
        (self.compute)(with, basis)
    }
}

impl fmt::Debug for Claim {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.debug_struct("Claim").field("fields", &self.fields).field("beside", &self.beside).finish_non_exhaustive()
    }
}

/// The fields of a claim that is being read.
pub struct Given {
    tag: &'static str,
    fields: Map<String, Value>,
    beside: Map<String, Value>,
}

impl Given {
    /// A claim with inputs of these names, the part of its computation that others have in common with it, and its computation.
    pub(super) fn read<T: Inputs<N>, const N: usize>(
        mut self,
        names: [&'static str; N],
        shared: impl Fn(&T) -> Option<Shared>,
        compute: impl Fn(&T, &Context, &Basis) -> Result<Computed> + Send + Sync + 'static,
    ) -> Read<Claim> {
        let is_known = |name: &&String| *name == self.tag || names.contains(&name.as_str());
        if let Some(name) = self.fields.keys().chain(self.beside.keys()).find(|name| !is_known(name)) {
            return Err(unknown("field", name, "it may have", names));
        }
        let mut given = names.map(|name| {
            let is_beside = self.beside.contains_key(name);
            let value = if is_beside { self.beside.remove(name) } else { self.fields.remove(name) };
            (name, is_beside, value.unwrap_or_default())
        });
        let inputs = T::read(given.each_mut().map(|(name, _, value)| (*name, value)))?;
        let tag = self.fields.remove_entry(self.tag);
        let mut claim = Claim {
            fields: tag.into_iter().collect(),
            beside: Map::new(),
            shared: shared(&inputs).map(Arc::new),
            compute: Arc::new(move |with: &Context, basis: &Basis| compute(&inputs, with, basis)),
        };
        for (name, is_beside, value) in given {
            let fields = if is_beside { &mut claim.beside } else { &mut claim.fields };
            fields.insert(name.to_string(), value);
        }
        Ok(claim)
    }
}

/// The table of a subject's claims, each `"name" (input, input: Type) => value;`. A type that the computation fixes is left out. Before the arrow,
/// `[it]` binds what the subject's own function `context` takes from the [`Context`], `with it` the context itself, and `from |basis| shared` a part that
/// other claims have in common with it.
macro_rules! claims {
    (@type) => { _ };
    (@type $type:ty) => { $type };
    ($(#[$about:meta])* $(
        $name:literal ($($field:ident $(: $type:ty)?),*)
        $([$it:ident])? $(with $with:ident)? $(from |$basis:ident| $shared:expr)? => $value:expr;
    )*) => {
        $(#[$about])*
        #[allow(unused_variables)]
        pub const CLAIMS: $crate::replication::claims::Table = &[$((
            $name,
            |given| {
                given.read(
                    [$(stringify!($field)),*],
                    |($($field,)*): &($($crate::replication::claims::claims!(@type $($type)?),)*)| {
                        None $(.or(Some($shared)))?
                    },
                    |($($field,)*), context_given, basis_given| {
                        $(let $it = &context(context_given)?;)?
                        $(let $with = context_given;)?
                        $(let $basis = basis_given;)?
                        Ok($crate::replication::verdict::Computed::from($value))
                    },
                )
            },
        ),)*];
    };
}
pub(super) use claims;

/// The inputs of a claim, in the order of their names.
pub(super) trait Inputs<const N: usize>: Sized + Send + Sync + 'static {
    /// Reads them, and makes their values those that are shown.
    fn read(given: [(&'static str, &mut Value); N]) -> Read<Self>;
}

macro_rules! inputs {
    ($($count:literal: $($name:ident)*;)*) => {
        $(impl<$($name: Input),*> Inputs<$count> for ($($name,)*) {
            #[allow(non_snake_case, clippy::unused_unit)]
            fn read([$($name),*]: [(&'static str, &mut Value); $count]) -> Read<Self> {
                Ok(($(input::<$name>($name)?,)*))
            }
        })*
    };
}

inputs! {
    0: ;
    1: A;
    2: A B;
    3: A B C;
    4: A B C D;
    5: A B C D E;
    6: A B C D E F;
    7: A B C D E F G;
}

fn input<T: Input>((name, value): (&'static str, &mut Value)) -> Read<T> {
    let is_missing = value.is_null();
    T::read(value).map_err(|why| if is_missing { format!("{name} is missing") } else { format!("{name}: {why}") })
}

/// A type of inputs.
pub(super) trait Input: Sized + Send + Sync + 'static {
    /// Reads one; `null` stands for one that is not given.
    fn read(value: &mut Value) -> Read<Self>;
}

/// Exact numbers, as text or as whole numbers.
impl Input for Rational {
    fn read(value: &mut Value) -> Read<Self> {
        match value {
            Value::String(text) => parse(text).map_err(|error| error.to_string()),
            Value::Number(number) => parse(&number.to_string()).map_err(|error| error.to_string()),
            other => Err(format!("must be a number, and not {other}")),
        }
    }
}

/// Quantities with a range, each an exact number.
macro_rules! quantities {
    ($($name:ty),*) => {
        $(impl Input for $name {
            fn read(value: &mut Value) -> Read<Self> {
                Rational::read(value)?.try_into().map_err(|error: Error| error.to_string())
            }
        })*
    };
}

quantities!(Delta, Epsilon, Rho);

impl<T: Input> Input for Option<T> {
    fn read(value: &mut Value) -> Read<Self> {
        if value.is_null() { Ok(None) } else { T::read(value).map(Some) }
    }
}

impl<T: Input> Input for Vec<T> {
    fn read(value: &mut Value) -> Read<Self> {
        match value {
            Value::Array(list) => list.iter_mut().map(T::read).collect(),
            other => Err(format!("must be a list, and not {other}")),
        }
    }
}

impl<T: Input, const N: usize> Input for [T; N] {
    fn read(value: &mut Value) -> Read<Self> {
        let list = Vec::read(value)?;
        let given = list.len();
        list.try_into().map_err(|_| format!("must be a list of {N}, and not of {given}"))
    }
}

impl<A: Input, B: Input> Input for (A, B) {
    fn read(value: &mut Value) -> Read<Self> {
        match value.as_array_mut().map(Vec::as_mut_slice) {
            Some([a, b]) => Ok((A::read(a)?, B::read(b)?)),
            _ => Err(format!("must be a list of 2, and not {value}")),
        }
    }
}

/// Whether something is so; false if it is not given.
pub(super) struct Flag(pub bool);

impl Input for Flag {
    fn read(value: &mut Value) -> Read<Self> {
        if value.is_null() {
            *value = Value::Bool(false);
        }
        bool::read(value).map(Flag)
    }
}

/// One of several by its name.
fn named<T: Copy>(value: &mut Value, all: &[T], name: impl Fn(T) -> &'static str) -> Read<T> {
    let given = String::read(value)?;
    let found = all.iter().copied().find(|one| name(*one) == given);
    found.ok_or_else(|| unknown("name", &given, "there are", all.iter().map(|one| name(*one))))
}

impl Input for NoiseKind {
    fn read(value: &mut Value) -> Read<Self> {
        named(value, &[NoiseKind::DiscreteGaussian, NoiseKind::Geometric], NoiseKind::name)
    }
}

impl Input for PublishedTable {
    fn read(value: &mut Value) -> Read<Self> {
        named(value, &PublishedTable::ALL, PublishedTable::name)
    }
}

/// Types whose form is that of their `Deserialize`.
macro_rules! plain_inputs {
    ($($name:ty),*) => {
        $(impl $crate::replication::claims::Input for $name {
            fn read(value: &mut serde_json::Value) -> $crate::replication::claims::Read<Self> {
                $crate::replication::claims::plain(value)
            }
        })*
    };
}
pub(super) use plain_inputs;

plain_inputs!(bool, i32, i64, u8, u32, u64, usize, String);

/// A value of the form of its `Deserialize`.
pub(super) fn plain<T: for<'de> Deserialize<'de>>(value: &Value) -> Read<T> {
    T::deserialize(value).map_err(|error| with_near_name(&error.to_string()))
}
