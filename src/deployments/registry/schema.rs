//! The fields of an entry of the Deployments Registry, by its schema.

/// The form of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A map of the fields below it.
    Map,
    /// A text.
    Text,
    /// A text, a number or nothing: the schema states no type.
    Any,
    /// A number.
    Number,
    /// A number, or a text such as a formula.
    NumberOrText,
    /// A text of a list.
    OneOf(&'static [&'static str]),
    /// The number 1, 2 or 3.
    Tier,
    /// A date, YYYY-MM-DD.
    Date,
    /// A list of at least one text.
    Texts,
}

/// A field: its path, its form, and whether its map must have it.
pub(super) struct Field {
    pub(super) path: &'static str,
    pub(super) form: Form,
    pub(super) is_needed: bool,
}

const fn needed(path: &'static str, form: Form) -> Field {
    Field { path, form, is_needed: true }
}

const fn may(path: &'static str, form: Form) -> Field {
    Field { path, form, is_needed: false }
}

const STATUSES: &[&str] = &[
    "Converted",
    "Draft",
    "Pending",
    "Changes Required",
    "Approved",
    "Approved (Update Requested)",
    "Approved (Pending)",
];
const PRODUCTS: &[&str] =
    &["Summary statistics", "Machine learning model", "Dataset", "Synthetic data", "Interactive API", "SQL queries"];
const SECTORS: &[&str] = &["Technology", "Healthcare", "Education", "Government", "Energy", "Finance"];
const MODELS: &[&str] = &["Local", "Central", "Shuffle", "Federated", "Varies"];
const VARIANTS: &[&str] = &["Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom"];

/// Every field; a map before its fields.
pub(super) const FIELDS: &[Field] = &[
    needed("url_slug", Form::Text),
    needed("status", Form::OneOf(STATUSES)),
    needed("tier", Form::Tier),
    needed("deployment", Form::Map),
    needed("deployment.basic", Form::Map),
    needed("deployment.basic.name", Form::Text),
    needed("deployment.basic.data_curators", Form::Texts),
    needed("deployment.basic.intended_use", Form::Text),
    needed("deployment.basic.data_product_type", Form::OneOf(PRODUCTS)),
    needed("deployment.basic.data_product_region", Form::Text),
    needed("deployment.basic.description", Form::Text),
    needed("deployment.basic.publication_date", Form::Date),
    may("deployment.basic.data_product_sector", Form::OneOf(SECTORS)),
    may("deployment.dp_variant", Form::Map),
    may("deployment.dp_variant.variant_name", Form::OneOf(VARIANTS)),
    may("deployment.dp_variant.data_domain", Form::Text),
    may("deployment.dp_variant.unprotected_quantities", Form::Text),
    may("deployment.privacy_loss", Form::Map),
    may("deployment.privacy_loss.privacy_unit", Form::Text),
    may("deployment.privacy_loss.privacy_unit_details", Form::Text),
    may("deployment.privacy_loss.privacy_parameters", Form::Map),
    may("deployment.privacy_loss.privacy_parameters.epsilon", Form::Number),
    may("deployment.privacy_loss.privacy_parameters.delta", Form::NumberOrText),
    may("deployment.privacy_loss.privacy_parameters.rho", Form::Number),
    may("deployment.privacy_loss.privacy_parameters_details", Form::Any),
    may("deployment.deployment_model", Form::Map),
    may("deployment.deployment_model.model_name", Form::OneOf(MODELS)),
    may("deployment.deployment_model.model_name_details", Form::Text),
    may("deployment.deployment_model.actors", Form::Text),
    may("deployment.deployment_model.release_type", Form::OneOf(&["One release", "Many releases"])),
    may("deployment.deployment_model.release_type_details", Form::Any),
    may("deployment.deployment_model.data_source_type", Form::OneOf(&["Static", "Dynamic"])),
    may("deployment.deployment_model.data_source_type_details", Form::Any),
    may("deployment.deployment_model.access_type", Form::OneOf(&["Interactive", "Non-interactive"])),
    may("deployment.deployment_model.access_type_details", Form::Any),
    may("deployment.accounting", Form::Map),
    may("deployment.accounting.post_processing", Form::Text),
    may("deployment.accounting.composition", Form::Text),
    may("deployment.implementation", Form::Map),
    may("deployment.implementation.preprocessing_and_hyperparameter_tuning", Form::Text),
    may("deployment.implementation.mechanisms", Form::Text),
    may("deployment.implementation.justification", Form::Text),
    may("deployment.administrative", Form::Map),
    may("deployment.administrative.sources", Form::Text),
    may("deployment.administrative.notes", Form::Text),
    needed("deployment.administrative.registry_authors", Form::Texts),
];

/// The field of a path.
pub(super) fn field(path: &str) -> Option<&'static Field> {
    FIELDS.iter().find(|field| field.path == path)
}

/// The names of the fields of a map.
pub(super) fn names_below(path: &str) -> impl Iterator<Item = (&'static str, &'static Field)> {
    let path = path.to_string();
    FIELDS.iter().filter_map(move |field| {
        let (parent, name) = field.path.rsplit_once('.').unwrap_or(("", field.path));
        (parent == path).then_some((name, field))
    })
}
