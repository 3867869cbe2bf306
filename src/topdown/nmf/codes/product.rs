//! The products whose noisy counts give census codes: their histograms, their files of definitions, and where they are.

/// A product, by the histogram of its noisy counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Product {
    /// The tables P1 to P5 of P.L. 94-171.
    Persons,
    /// The table H1 of P.L. 94-171.
    Units,
    /// Tables of the DHC of persons: by sex, age, Hispanic origin, race, relationship and type of group quarters.
    DhcPersons,
    /// Tables of the DHC of households: by the householder's sex, age, Hispanic origin and race, by elderly members, tenure and type.
    DhcHouseholds,
    /// Tables of the DHC of housing units by occupancy and vacancy: the second histogram in the files of households.
    DhcUnits,
}

impl Product {
    /// All products.
    pub const ALL: [Product; 5] =
        [Product::Persons, Product::Units, Product::DhcPersons, Product::DhcHouseholds, Product::DhcUnits];

    /// Its name in the data files.
    pub fn name(self) -> &'static str {
        match self {
            Product::Persons => "persons",
            Product::Units => "units",
            Product::DhcPersons => "dhc-persons",
            Product::DhcHouseholds => "dhc-households",
            Product::DhcUnits => "dhc-units",
        }
    }

    /// The names and sizes of its attributes.
    pub(super) fn attributes(self) -> &'static [(&'static str, usize)] {
        match self {
            Product::Persons => &[("hhgq", 8), ("votingage", 2), ("hispanic", 2), ("cenrace", 63)],
            Product::Units => &[("h1", 2)],
            Product::DhcPersons => &[("relgq", 42), ("sex", 2), ("age", 116), ("hispanic", 2), ("cenrace", 63)],
            Product::DhcHouseholds => &[
                ("sex", 2),
                ("hhage", 9),
                ("hisp", 2),
                ("race", 7),
                ("elderly", 4),
                ("hhtenshort_3lev", 3),
                ("hhtype_dhch", 522),
            ],
            Product::DhcUnits => &[("tenvacgq", 35)],
        }
    }

    /// The text of its file of lines, and its name.
    pub(super) fn definitions(self) -> (&'static str, &'static str) {
        match self {
            Product::Persons => {
                (include_str!("../../../../data/tables/pl94-persons.csv"), "data/tables/pl94-persons.csv")
            }
            Product::Units => (include_str!("../../../../data/tables/pl94-units.csv"), "data/tables/pl94-units.csv"),
            Product::DhcPersons => {
                (include_str!("../../../../data/tables/dhc-persons.csv"), "data/tables/dhc-persons.csv")
            }
            Product::DhcHouseholds => {
                (include_str!("../../../../data/tables/dhc-households.csv"), "data/tables/dhc-households.csv")
            }
            Product::DhcUnits => (include_str!("../../../../data/tables/dhc-units.csv"), "data/tables/dhc-units.csv"),
        }
    }

    /// The records that it counts.
    pub fn subject(self) -> &'static str {
        match self {
            Product::Persons => "the persons of P.L. 94-171",
            Product::Units => "the housing units of P.L. 94-171",
            Product::DhcPersons => "the persons of the DHC",
            Product::DhcHouseholds => "the households of the DHC",
            Product::DhcUnits => "the housing units of the DHC",
        }
    }

    /// The folders of its files, and the releases.
    pub(super) fn home(self) -> &'static str {
        match self {
            Product::Persons => {
                "US_Person_PL_PROD with the release pl94-persons-us (Puerto Rico: PR_Person_PL_PROD, pl94-persons-pr)"
            }
            Product::Units => {
                "US_Unit_PL_PROD with the release pl94-units-us (Puerto Rico: PR_Unit_PL_PROD, pl94-units-pr)"
            }
            Product::DhcPersons => {
                "US_DHCP_PROD with the release dhc-persons-us (Puerto Rico: PR_DHCP_PROD, dhc-persons-pr)"
            }
            Product::DhcHouseholds | Product::DhcUnits => {
                "US_DHCH_PROD with the release dhc-units-us (Puerto Rico: PR_DHCH_PROD, dhc-units-pr)"
            }
        }
    }
}
