//! Lists that are joined by reference.
//!
//! A ledger composes every way through one release with every way through another, and the counts of each are the same again and again. So a composition refers to the lists of
//! those that it was made from, and has a list of its own only once that is requested.

use std::sync::{Arc, OnceLock};

/// A list in parts that other lists share.
#[derive(Debug)]
pub(super) struct Joined<T> {
    parts: Vec<Arc<[T]>>,
    /// All parts as one, where there are several and that was requested.
    whole: OnceLock<Box<[T]>>,
}

impl<T: Clone> Joined<T> {
    /// This list and then the other.
    pub(super) fn and(&self, other: &Self) -> Self {
        Joined { parts: self.parts.iter().chain(&other.parts).cloned().collect(), whole: OnceLock::new() }
    }

    /// The elements in order, without a list of their own.
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> + Clone {
        self.parts.iter().flat_map(|part| part.iter())
    }

    /// All elements as one list, which is kept.
    pub(super) fn as_slice(&self) -> &[T] {
        match &self.parts[..] {
            [only] => only,
            _ => self.whole.get_or_init(|| self.iter().cloned().collect()),
        }
    }
}

impl<T> From<Vec<T>> for Joined<T> {
    fn from(list: Vec<T>) -> Self {
        Joined { parts: vec![list.into()], whole: OnceLock::new() }
    }
}

impl<T> Clone for Joined<T> {
    /// The parts alone: the list as one is made again where it is requested.
    fn clone(&self) -> Self {
        Joined { parts: self.parts.clone(), whole: OnceLock::new() }
    }
}

impl<T: Clone + PartialEq> PartialEq for Joined<T> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<T: Clone + Eq> Eq for Joined<T> {}

#[cfg(test)]
mod tests {
    use super::*;

    /// A joined list is the same as one that was made at once, and shares its parts.
    #[test]
    fn joined_lists_are_as_one() {
        let (a, b) = (Joined::from(vec![1, 2]), Joined::from(vec![3]));
        let both = a.and(&b).and(&a);
        assert_eq!(both.as_slice(), [1, 2, 3, 1, 2]);
        assert_eq!(both, Joined::from(vec![1, 2, 3, 1, 2]));
        assert_ne!(both, a);
        assert!(both.clone().iter().eq(both.iter()));
        assert!(Arc::ptr_eq(&both.parts[0], &a.parts[0]) && Arc::ptr_eq(&both.parts[2], &a.parts[0]));
        assert_eq!(Joined::<u32>::from(Vec::new()).as_slice(), [0; 0]);
    }
}
