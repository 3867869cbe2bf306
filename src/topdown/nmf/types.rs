//! The meaning of the numbers and texts of a Parquet column: the physical type gives their storage, the logical type
//! their meaning. A meaning other than a count, a variance or text is refused by name.

use parquet::{
    basic::{ConvertedType, LogicalType},
    schema::types::ColumnDescriptor,
};

/// The meaning of the stored integers of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stored {
    /// The integer itself.
    Signed,
    /// The integer itself, unsigned.
    Unsigned,
    /// A decimal with this number of digits after the decimal point.
    Decimal(u32),
}

/// With more digits after the point no decimal fits the integers used here.
const MOST_SCALE: i32 = 38;

impl Stored {
    /// The meaning of the integers of a column; `Err` with the content of the column, if that is not numbers.
    pub(super) fn of_column(column: &ColumnDescriptor) -> Result<Stored, String> {
        let decimal = |scale: i32| match scale {
            0..=MOST_SCALE => Ok(Stored::Decimal(scale.unsigned_abs())),
            _ => Err(format!("decimals of the scale {scale}")),
        };
        if let Some(logical) = column.logical_type_ref() {
            return match logical {
                LogicalType::Integer(integer) if integer.is_signed => Ok(Stored::Signed),
                LogicalType::Integer(_) => Ok(Stored::Unsigned),
                LogicalType::Decimal(own) => decimal(own.scale),
                other => Err(named(other)),
            };
        }
        match column.converted_type() {
            ConvertedType::NONE
            | ConvertedType::INT_8
            | ConvertedType::INT_16
            | ConvertedType::INT_32
            | ConvertedType::INT_64 => Ok(Stored::Signed),
            ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64 => {
                Ok(Stored::Unsigned)
            }
            ConvertedType::DECIMAL => decimal(column.type_scale()),
            other => Err(other.to_string()),
        }
    }

    /// Whether the numbers are decimals.
    pub(super) fn is_decimal(self) -> bool {
        matches!(self, Stored::Decimal(_))
    }

    /// The integer meant by a stored integer of at most 32 bits; `None` if it is not an integer.
    pub(super) fn narrow(self, stored: i32) -> Option<i64> {
        match self {
            Stored::Signed => Some(i64::from(stored)),
            Stored::Unsigned => Some(i64::from(stored.cast_unsigned())),
            Stored::Decimal(_) => self.big(i128::from(stored)),
        }
    }

    /// The same for 64 bits.
    pub(super) fn wide(self, stored: i64) -> Option<i64> {
        match self {
            Stored::Signed => Some(stored),
            Stored::Unsigned => i64::try_from(stored.cast_unsigned()).ok(),
            Stored::Decimal(_) => self.big(i128::from(stored)),
        }
    }

    /// The same for an integer of any size.
    fn big(self, stored: i128) -> Option<i64> {
        match self {
            Stored::Signed | Stored::Unsigned => i64::try_from(stored).ok(),
            Stored::Decimal(scale) => {
                let unit = 10_i128.pow(scale);
                (stored % unit == 0).then(|| i64::try_from(stored / unit).ok()).flatten()
            }
        }
    }

    /// The same for big-endian bytes, the storage of decimals with many digits.
    pub(super) fn bytes(self, stored: &[u8]) -> Option<i64> {
        self.big(integer(stored)?)
    }

    /// An approximation of the number meant by a stored integer.
    pub(super) fn approximate(self, stored: i128) -> f64 {
        match self {
            Stored::Signed | Stored::Unsigned => stored as f64,
            Stored::Decimal(scale) => stored as f64 / 10_f64.powi(scale.cast_signed()),
        }
    }

    /// The same for big-endian bytes; NaN if there are too many.
    pub(super) fn approximate_bytes(self, stored: &[u8]) -> f64 {
        integer(stored).map_or(f64::NAN, |stored| self.approximate(stored))
    }
}

/// A big-endian integer in two's complement.
fn integer(bytes: &[u8]) -> Option<i128> {
    let first = *bytes.first()?;
    let sign = if first >= 0x80 { u8::MAX } else { 0 };
    let extra = bytes.len().saturating_sub(16);
    if bytes[..extra].iter().any(|byte| *byte != sign) || (bytes[extra] >= 0x80) != (sign != 0) {
        return None;
    }
    let start = if sign == 0 { 0 } else { -1 };
    Some(bytes[extra..].iter().fold(start, |value: i128, byte| value << 8 | i128::from(*byte)))
}

/// The content of a column of floats, if that is not plain numbers.
pub(super) fn beside_floats(column: &ColumnDescriptor) -> Option<String> {
    if let Some(logical) = column.logical_type_ref() {
        return Some(named(logical));
    }
    match column.converted_type() {
        ConvertedType::NONE => None,
        other => Some(other.to_string()),
    }
}

/// The content of a column of bytes, if that is not text.
pub(super) fn beside_text(column: &ColumnDescriptor) -> Option<String> {
    match column.logical_type_ref() {
        Some(LogicalType::String | LogicalType::Enum) => None,
        Some(other) => Some(named(other)),
        None => match column.converted_type() {
            ConvertedType::NONE | ConvertedType::UTF8 | ConvertedType::ENUM => None,
            other => Some(other.to_string()),
        },
    }
}

/// Whether a column has only nulls, without a type.
pub(super) fn is_untyped(column: &ColumnDescriptor) -> bool {
    matches!(column.logical_type_ref(), Some(LogicalType::Unknown))
}

fn named(logical: &LogicalType) -> String {
    match logical {
        LogicalType::Timestamp(_) => "timestamps".to_string(),
        LogicalType::Date => "dates".to_string(),
        LogicalType::Time(_) => "times of day".to_string(),
        LogicalType::Decimal(own) => format!("decimals of the scale {}", own.scale),
        other => format!("values of the type {other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integral_decimals_are_read_and_others_are_not() {
        let cents = Stored::Decimal(2);
        assert_eq!((cents.narrow(5_149_500), cents.narrow(-300), cents.narrow(1)), (Some(51_495), Some(-3), None));
        assert_eq!((cents.wide(i64::MAX), cents.wide(-100)), (None, Some(-1)));
        assert_eq!(cents.bytes(&[0xff, 0xff, 0xfe, 0xd4]), Some(-3));
        assert_eq!(cents.bytes(&[0; 20]), Some(0));
        assert_eq!(cents.bytes(&[1; 20]), None);
        assert_eq!(cents.bytes(&[]), None);
        assert_eq!(Stored::Decimal(0).bytes(&[0x7f]), Some(127));
        assert_eq!(Stored::Decimal(38).narrow(5), None);
        assert_eq!((cents.approximate(1234), cents.approximate_bytes(&[0xff, 0x38])), (12.34, -2.0));
        // 128 bits and more: the sign is that of the first byte.
        assert_eq!(integer(&[0xff; 17]), Some(-1));
        assert_eq!(integer(&[[0xff].as_slice(), &[0x7f; 16]].concat()), None);
    }

    #[test]
    fn unsigned_numbers_keep_their_size() {
        assert_eq!(Stored::Unsigned.narrow(-1), Some(i64::from(u32::MAX)));
        assert_eq!((Stored::Unsigned.wide(-1), Stored::Unsigned.wide(7)), (None, Some(7)));
        assert_eq!(Stored::Signed.narrow(-1), Some(-1));
    }
}
