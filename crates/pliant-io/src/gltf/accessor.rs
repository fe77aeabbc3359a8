//! Numbers out of buffers: any component type, stride, normalisation, sparse overrides.

use super::document::Bytes;
use super::schema::{Accessor, Component, Kind, Root};
use std::borrow::Cow;
use std::iter;

/// The bytes of a file, by view.
#[derive(Clone, Copy)]
pub(crate) struct Store<'d> {
    pub(crate) file: &'d [u8],
    pub(crate) buffers: &'d [Bytes],
    pub(crate) decoded: &'d [Option<Vec<u8>>],
}

impl<'d> Store<'d> {
    pub(crate) fn buffer(&self, index: usize) -> &'d [u8] {
        match self.buffers.get(index) {
            Some(Bytes::InFile(range)) => self.file.get(range.clone()).unwrap_or(&[]),
            Some(Bytes::Own(bytes)) => bytes,
            None => &[],
        }
    }

    /// Bytes of the file, of what it refers to and of what was decompressed.
    pub(crate) fn size(&self) -> usize {
        let own = self.buffers.iter().map(|b| if let Bytes::Own(bytes) = b { bytes.len() } else { 0 });
        self.file.len() + own.chain(self.decoded.iter().flatten().map(Vec::len)).sum::<usize>()
    }

    /// The bytes of a view, decompressed; `None` where its buffer has none.
    pub(crate) fn view(&self, root: &Root<'_>, index: usize) -> Option<&'d [u8]> {
        if let Some(Some(bytes)) = self.decoded.get(index) {
            return Some(bytes);
        }
        let view = root.buffer_views.get(index)?;
        let end = view.byte_offset.0.checked_add(view.byte_length.0)?;
        self.buffer(view.buffer.0).get(view.byte_offset.0..end)
    }

    /// The elements of an accessor; `None` where their bytes are not there.
    pub(crate) fn elements(&self, root: &Root<'_>, index: usize) -> Option<Elements<'d>> {
        static ZEROS: [u8; 64] = [0; 64];
        let accessor = root.accessors.get(index)?;
        let size = element_size(accessor);
        let count = accessor.count.0;
        let (mut bytes, mut stride) = match accessor.buffer_view {
            // Zeros: all elements are the same one.
            None => (Cow::Borrowed(&ZEROS[..]), 0),
            Some(view) => {
                let stride = root.buffer_views.get(view.0)?.byte_stride.map_or(size, |s| s.0);
                let length = count.checked_sub(1)?.checked_mul(stride)?.checked_add(size)?;
                let end = accessor.byte_offset.0.checked_add(length)?;
                (Cow::Borrowed(self.view(root, view.0)?.get(accessor.byte_offset.0..end)?), stride)
            }
        };
        if let Some(sparse) = &accessor.sparse {
            let mut dense = Vec::with_capacity(count.checked_mul(size)?);
            for i in 0..count {
                dense.extend_from_slice(bytes.get(i * stride..i * stride + size)?);
            }
            let places = self.sparse_indices(root, accessor)?;
            let values = self.view(root, sparse.values.buffer_view.0)?.get(sparse.values.byte_offset.0..)?;
            for (place, value) in places.zip(values.chunks_exact(size)) {
                let at = (place as usize).checked_mul(size)?;
                dense.get_mut(at..at.checked_add(size)?)?.copy_from_slice(value);
            }
            (bytes, stride) = (Cow::Owned(dense), size);
        }
        Some(Elements {
            bytes,
            stride,
            count,
            component: accessor.component_type,
            kind: accessor.kind,
            normalized: accessor.normalized,
        })
    }

    /// Which elements a sparse accessor replaces.
    pub(crate) fn sparse_indices(
        &self,
        root: &Root<'_>,
        accessor: &Accessor,
    ) -> Option<impl Iterator<Item = u32> + use<'d>> {
        let sparse = accessor.sparse.as_ref()?;
        let component = sparse.indices.component_type;
        let size = component.size();
        let start = sparse.indices.byte_offset.0;
        let end = start.checked_add(sparse.count.0.checked_mul(size)?)?;
        let bytes = self.view(root, sparse.indices.buffer_view.0)?.get(start..end)?;
        Some(bytes.chunks_exact(size).map(move |b| match component {
            Component::U8 | Component::I8 => u32::from(b[0]),
            Component::U16 | Component::I16 => u32::from(u16::get(b)),
            Component::U32 | Component::F32 => u32::get(b),
        }))
    }
}

/// Bytes of one element: the columns of matrices of small numbers start at multiples of 4.
pub(crate) fn element_size(accessor: &Accessor) -> usize {
    let size = accessor.component_type.size();
    match (accessor.kind, size) {
        (Kind::Mat2, 1) => 8,
        (Kind::Mat3, 1) => 12,
        (Kind::Mat3, 2) => 24,
        (kind, size) => kind.numbers() * size,
    }
}

/// A number as it lies in a buffer.
pub(crate) trait Raw: Copy + PartialOrd {
    const SIZE: usize;
    /// Reads the first bytes of `bytes`.
    fn get(bytes: &[u8]) -> Self;
    /// As it is.
    fn plain(self) -> f32;
    /// As a fraction of the type's largest.
    fn fraction(self) -> f32;
    fn wide(self) -> f64;
    fn is_finite(self) -> bool {
        true
    }
}

macro_rules! raw {
    ($type:ty, $fraction:expr) => {
        impl Raw for $type {
            const SIZE: usize = size_of::<$type>();
            fn get(bytes: &[u8]) -> Self {
                match bytes.first_chunk() {
                    Some(&bytes) => <$type>::from_le_bytes(bytes),
                    None => 0 as $type,
                }
            }
            fn plain(self) -> f32 {
                self as f32
            }
            fn fraction(self) -> f32 {
                $fraction(self as f32)
            }
            fn wide(self) -> f64 {
                self as f64
            }
        }
    };
}

raw!(i8, |c: f32| (c / 127.0).max(-1.0));
raw!(u8, |c: f32| c / 255.0);
raw!(i16, |c: f32| (c / 32767.0).max(-1.0));
raw!(u16, |c: f32| c / 65535.0);
raw!(u32, |c: f32| c / u32::MAX as f32);

impl Raw for f32 {
    const SIZE: usize = 4;
    fn get(bytes: &[u8]) -> Self {
        bytes.first_chunk().map_or(0.0, |&b| Self::from_le_bytes(b))
    }
    fn plain(self) -> f32 {
        self
    }
    fn fraction(self) -> f32 {
        self
    }
    fn wide(self) -> f64 {
        f64::from(self)
    }
    fn is_finite(self) -> bool {
        f32::is_finite(self)
    }
}

/// The elements of an accessor.
#[derive(Debug, Clone)]
pub(crate) struct Elements<'d> {
    bytes: Cow<'d, [u8]>,
    /// Bytes from one element to the next; 0 where all are the same.
    stride: usize,
    pub(crate) count: usize,
    pub(crate) component: Component,
    pub(crate) kind: Kind,
    normalized: bool,
}

/// Calls `$work` with the Rust type of a component.
macro_rules! by_component {
    ($component:expr, $raw:ident => $work:expr) => {
        match $component {
            Component::I8 => {
                type $raw = i8;
                $work
            }
            Component::U8 => {
                type $raw = u8;
                $work
            }
            Component::I16 => {
                type $raw = i16;
                $work
            }
            Component::U16 => {
                type $raw = u16;
                $work
            }
            Component::U32 => {
                type $raw = u32;
                $work
            }
            Component::F32 => {
                type $raw = f32;
                $work
            }
        }
    };
}

impl Elements<'_> {
    /// Whether the numbers are integers.
    pub(crate) fn is_whole(&self) -> bool {
        self.component != Component::F32
    }

    /// The first `N` numbers of every element, as they lie there.
    pub(crate) fn rows<R: Raw, const N: usize>(&self) -> impl Iterator<Item = [R; N]> {
        let mut rest = &self.bytes[..];
        iter::repeat_with(move || {
            let row: [R; N] = match rest.get(..N * R::SIZE) {
                Some(row) => std::array::from_fn(|k| R::get(&row[k * R::SIZE..])),
                None => std::array::from_fn(|_| R::get(&[])),
            };
            rest = rest.get(self.stride..).unwrap_or(&[]);
            row
        })
        .take(self.count)
    }

    /// Calls `work` with the first `N` numbers of every element, as they lie there, in order.
    pub(crate) fn each_row<R: Raw, const N: usize>(&self, mut work: impl FnMut([R; N])) {
        if self.stride == N * R::SIZE {
            // The usual case, in a form that compiles to straight copies.
            for row in self.bytes.chunks_exact(N * R::SIZE) {
                work(std::array::from_fn(|k| R::get(&row[k * R::SIZE..])));
            }
        } else {
            self.rows().for_each(work);
        }
    }

    /// Calls `work` with the first `N` numbers of every element, in order.
    pub(crate) fn for_each<const N: usize>(&self, mut work: impl FnMut([f32; N])) {
        by_component!(self.component, R => if self.normalized {
            self.each_row::<R, N>(|row| work(row.map(R::fraction)))
        } else {
            self.each_row::<R, N>(|row| work(row.map(R::plain)))
        })
    }

    /// The first `N` numbers of every element.
    pub(crate) fn vectors<const N: usize>(&self) -> Vec<[f32; N]> {
        let mut out = Vec::with_capacity(self.count);
        self.for_each(|row| out.push(row));
        out
    }

    /// All numbers of all elements, one after the other. Not for matrices.
    pub(crate) fn numbers(&self) -> Vec<f32> {
        match self.kind {
            Kind::Scalar => self.vectors::<1>().into_flattened(),
            Kind::Vec2 => self.vectors::<2>().into_flattened(),
            Kind::Vec3 => self.vectors::<3>().into_flattened(),
            Kind::Vec4 | Kind::Mat2 => self.vectors::<4>().into_flattened(),
            Kind::Mat3 => self.vectors::<9>().into_flattened(),
            Kind::Mat4 => self.vectors::<16>().into_flattened(),
        }
    }

    /// Whole numbers: indices and joints.
    pub(crate) fn wholes<const N: usize>(&self) -> Vec<[u32; N]> {
        let mut out = Vec::with_capacity(self.count);
        match self.component {
            Component::U8 => self.each_row::<u8, N>(|row| out.push(row.map(u32::from))),
            Component::U16 => self.each_row::<u16, N>(|row| out.push(row.map(u32::from))),
            _ => self.each_row::<u32, N>(|row| out.push(row)),
        }
        out
    }

    /// Smallest and largest of each number of the elements, and the first element with a number that is not finite.
    pub(crate) fn bounds(&self) -> Bounds {
        by_component!(self.component, R => match self.kind {
            Kind::Scalar => self.bounds_of::<R, 1>(),
            Kind::Vec2 => self.bounds_of::<R, 2>(),
            Kind::Vec3 => self.bounds_of::<R, 3>(),
            Kind::Vec4 | Kind::Mat2 => self.bounds_of::<R, 4>(),
            Kind::Mat3 => self.bounds_of::<R, 9>(),
            Kind::Mat4 => self.bounds_of::<R, 16>(),
        })
    }

    fn bounds_of<R: Raw, const N: usize>(&self) -> Bounds {
        let mut bounds = Bounds { low: [0.0; 16], high: [0.0; 16], not_finite: None };
        let Some(first) = self.rows::<R, N>().next() else { return bounds };
        let (mut low, mut high, mut finite) = (first, first, true);
        self.each_row::<R, N>(|row| {
            for k in 0..N {
                low[k] = if row[k] < low[k] { row[k] } else { low[k] };
                high[k] = if row[k] > high[k] { row[k] } else { high[k] };
                finite &= row[k].is_finite();
            }
        });
        if !finite {
            bounds.not_finite = self.rows::<R, N>().position(|row| row.iter().any(|c| !c.is_finite()));
        }
        bounds.low[..N].copy_from_slice(&low.map(R::wide));
        bounds.high[..N].copy_from_slice(&high.map(R::wide));
        bounds
    }
}

/// What [`Elements::bounds`] finds.
pub(crate) struct Bounds {
    pub(crate) low: [f64; 16],
    pub(crate) high: [f64; 16],
    pub(crate) not_finite: Option<usize>,
}

#[cfg(test)]
mod tests {
    use super::super::{buffers, glb};
    use super::*;
    use crate::files::Folder;
    use glam::Vec3;

    /// Cubes in every compression mode and filter: after decoding all are cubes, with faces that look along their
    /// normals.
    #[test]
    fn compressed_cubes_are_cubes() {
        let Some(data) = crate::data::data() else { return };
        let path = data.join("gltf/MeshoptCubeTest/MeshoptCubeTest.gltf");
        let file = std::fs::read(&path).unwrap();
        let (mut problems, mut warnings) = (Vec::new(), Vec::new());
        let container = glb::split(&file, &mut warnings).unwrap();
        let root: Root<'_> = serde_json::from_slice(&file).unwrap();
        let loaded = buffers::load(&root, &container, &Folder::of(&path), &mut problems, &mut warnings);
        let raw = Store { file: &file, buffers: &loaded, decoded: &[] };
        let decoded = buffers::decompress(&root, file.len(), |b| raw.buffer(b), &mut problems);
        assert_eq!(problems, []);
        assert!(decoded.iter().flatten().count() >= 60);
        let store = Store { decoded: &decoded, ..raw };
        let mut cubes = 0;
        for mesh in root.meshes.iter() {
            let primitive = &mesh.primitives[0];
            // The labels beside the cubes are quads.
            if mesh.name.as_deref().is_some_and(|n| n.contains("Label")) {
                continue;
            }
            let vectors = |name: &str| -> Vec<Vec3> {
                let index = primitive.attributes.get(name).unwrap().0;
                store
                    .elements(&root, index)
                    .unwrap()
                    .vectors::<3>()
                    .into_iter()
                    .map(Vec3::from_array)
                    .collect()
            };
            let (positions, normals) = (vectors("POSITION"), vectors("NORMAL"));
            let low = positions.iter().copied().reduce(Vec3::min).unwrap();
            let high = positions.iter().copied().reduce(Vec3::max).unwrap();
            let half = (high - low) / 2.0;
            let at = |v: u32| (positions[v as usize] - low - half) / half;
            let indices = store.elements(&root, primitive.indices.unwrap().0).unwrap().wholes::<1>();
            assert_eq!((positions.len(), indices.len()), (24, 36));
            for triangle in indices.as_chunks::<3>().0 {
                let [a, b, c] = triangle.map(|[v]| at(v));
                let facing = (b - a).cross(c - a).normalize();
                for [v] in triangle {
                    assert!(at(*v).abs().distance(Vec3::ONE) < 0.02, "{:?}", mesh.name);
                    let normal = normals[*v as usize];
                    assert!(normal.distance(facing) < 0.02, "{:?}: {normal} {facing}", mesh.name);
                }
            }
            cubes += 1;
        }
        assert_eq!(cubes, 25);
    }
}
