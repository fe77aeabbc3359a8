use super::AssetError;

/// How far the weights of a vertex may sum from one: rounding of a dozen f32 weights, no more.
const SUM_TOLERANCE: f64 = 1e-5;

/// Skin weights: for each vertex any number of slots, largest weight first, positive, summing to one.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// Vertex `v` owns entries `offsets[v]..offsets[v + 1]`.
    offsets: Vec<u32>,
    slots: Vec<u16>,
    values: Vec<f32>,
    slot_count: usize,
}

/// What [`Weights::normalised`] had to mend.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Repairs {
    /// Vertices whose weights summed to something other than one (by more than 1e-3).
    pub unnormalised: usize,
    /// Vertices without any weight: what they are bound to is the caller's choice, given to `normalised`.
    pub zero: usize,
    /// Entries of weight zero that named a slot out of range.
    pub dropped_out_of_range: usize,
}

impl Weights {
    /// Takes weights that are right already: positive, in range, summing to one.
    pub fn new(per_vertex: &[Vec<(u16, f32)>], slot_count: usize) -> Result<Self, AssetError> {
        let (weights, repairs) =
            Self::normalised(per_vertex.iter().map(|v| v.iter().copied()), slot_count, |_| None)?;
        if repairs.unnormalised > 0 {
            let off = |v: &Vec<(u16, f32)>| (v.iter().map(|e| e.1).sum::<f32>() - 1.0).abs() > 1e-3;
            let vertex = per_vertex.iter().position(off).unwrap_or(0);
            return Err(AssetError::Weights { vertex, why: "do not sum to one" });
        }
        Ok(weights)
    }

    /// Takes weights as files have them and makes them sum to one. `nearest` gives a slot for a vertex that has no
    /// weight at all; where it gives none such a vertex is an error. Entries for the same slot are added up.
    pub fn normalised<V: Iterator<Item = (u16, f32)>>(
        per_vertex: impl Iterator<Item = V>,
        slot_count: usize,
        mut nearest: impl FnMut(usize) -> Option<u16>,
    ) -> Result<(Self, Repairs), AssetError> {
        let limit = u16::MAX as usize + 1;
        if slot_count > limit {
            return Err(AssetError::TooMany { what: "skin slots", count: slot_count, limit });
        }
        let mut repairs = Repairs::default();
        let mut offsets = vec![0u32];
        let (mut slots, mut values) = (Vec::new(), Vec::new());
        let mut sorted: Vec<(u16, f32)> = Vec::new();
        // Vertices to come, and the four influences that most of them have.
        let count = per_vertex.size_hint().0;
        offsets.reserve(count);
        slots.reserve(count.saturating_mul(4));
        values.reserve(count.saturating_mul(4));
        for (vertex, given) in per_vertex.enumerate() {
            let start = slots.len();
            for (slot, weight) in given {
                if weight == 0.0 {
                    repairs.dropped_out_of_range += usize::from(slot as usize >= slot_count);
                    continue;
                }
                if !weight.is_finite() {
                    return Err(AssetError::NotFinite { what: "weight of vertex", index: vertex });
                }
                if weight < 0.0 {
                    return Err(AssetError::Weights { vertex, why: "are negative" });
                }
                if slot as usize >= slot_count {
                    return Err(AssetError::OutOfRange {
                        what: "weight of vertex",
                        index: vertex,
                        target: "slot",
                        value: slot as usize,
                        count: slot_count,
                    });
                }
                match slots[start..].iter().position(|&s| s == slot) {
                    Some(same) => values[start + same] += weight,
                    None => {
                        slots.push(slot);
                        values.push(weight);
                    }
                }
            }
            let sum: f64 = values[start..].iter().map(|&w| f64::from(w)).sum();
            if !sum.is_finite() {
                return Err(AssetError::Weights { vertex, why: "are too large" });
            }
            if slots.len() == start {
                repairs.zero += 1;
                let slot = nearest(vertex).filter(|&s| (s as usize) < slot_count);
                slots.push(slot.ok_or(AssetError::Weights { vertex, why: "are all zero" })?);
                values.push(1.0);
            } else if sum != 1.0 {
                repairs.unnormalised += usize::from((sum - 1.0).abs() > 1e-3);
                values[start..].iter_mut().for_each(|w| *w = (f64::from(*w) / sum) as f32);
            }
            // Most files have them in order already, and none so small that it rounds to zero beside the others.
            let own = slots[start..].iter().zip(&values[start..]);
            let in_order = |a: &(_, &f32), b: &(_, &f32)| b.1 < a.1 || (b.1 == a.1 && a.0 <= b.0);
            if values[start..].contains(&0.0) || !own.clone().is_sorted_by(in_order) {
                sorted.clear();
                sorted.extend(own.map(|(&slot, &weight)| (slot, weight)).filter(|e| e.1 > 0.0));
                sorted.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
                slots.truncate(start);
                values.truncate(start);
                slots.extend(sorted.iter().map(|e| e.0));
                values.extend(sorted.iter().map(|e| e.1));
            }
            debug_assert!(
                (values[start..].iter().map(|&w| f64::from(w)).sum::<f64>() - 1.0).abs() < SUM_TOLERANCE
            );
            let end = u32::try_from(slots.len()).map_err(|_| AssetError::TooMany {
                what: "weights",
                count: slots.len(),
                limit: u32::MAX as usize,
            })?;
            offsets.push(end);
        }
        slots.shrink_to_fit();
        values.shrink_to_fit();
        Ok((Self { offsets, slots, values, slot_count }, repairs))
    }

    /// How many vertices have weights.
    pub fn vertex_count(&self) -> usize {
        self.offsets.len() - 1
    }

    /// How many slots the weights may refer to.
    pub fn slot_count(&self) -> usize {
        self.slot_count
    }

    /// The slots and weights of a vertex, largest first.
    pub fn of(&self, vertex: usize) -> impl ExactSizeIterator<Item = (u16, f32)> + Clone + '_ {
        let range = self.offsets[vertex] as usize..self.offsets[vertex + 1] as usize;
        self.slots[range.clone()].iter().copied().zip(self.values[range].iter().copied())
    }

    /// The most influences on any vertex.
    pub fn max_influences(&self) -> usize {
        self.offsets.windows(2).map(|w| (w[1] - w[0]) as usize).max().unwrap_or(0)
    }
}
