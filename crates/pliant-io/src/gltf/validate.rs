//! What a file must keep to before any of its numbers are looked at: references, formats, sizes, the node tree.

use super::accessor::element_size;
use super::buffers::{NAME, shorten};
use super::schema::{Accessor, Component, Kind, Primitive, Root};
use super::tree::Tree;
use crate::{Problem, Warning};
use pliant::method::SOFTNESS;

/// What the standard calls buffer view targets.
const VERTEX_TARGET: usize = 34962;
const INDEX_TARGET: usize = 34963;

/// Attributes of one primitive: 32 sets of joints and weights and more.
const MAX_ATTRIBUTES: usize = 256;

/// What accessors are used for.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Uses {
    /// Positions, normals, joints, weights, softness, and morphs of them.
    pub(crate) shape: bool,
    /// Texture coordinates, colours, tangents and attributes of the file's own.
    pub(crate) decor: bool,
    pub(crate) color: bool,
    pub(crate) index: bool,
    pub(crate) time: bool,
    pub(crate) rotation: bool,
    pub(crate) output: bool,
    pub(crate) bind: bool,
}

impl Uses {
    /// Nothing that moves depends on it.
    pub(crate) fn only_decor(self) -> bool {
        self.decor && !(self.shape || self.index || self.time || self.output || self.bind)
    }
}

/// What the check of the structure found.
pub(crate) struct Findings {
    /// What makes the file wrong.
    pub(crate) problems: Vec<Problem>,
    /// What is odd.
    pub(crate) warnings: Vec<Warning>,
    /// What is right, but cannot be deformed here.
    pub(crate) blockers: Vec<Problem>,
    /// For each accessor.
    pub(crate) uses: Vec<Uses>,
}

#[derive(Clone, Copy, PartialEq)]
enum ViewUse {
    Vertex,
    Index,
}

pub(super) struct Check<'r, 'a> {
    pub(super) root: &'r Root<'a>,
    pub(super) found: Findings,
    view_uses: Vec<Option<ViewUse>>,
}

/// Checks everything but the numbers in buffers.
pub(crate) fn structure(root: &Root<'_>, tree: &Tree) -> Findings {
    let view_use = |target| match target {
        VERTEX_TARGET => Some(ViewUse::Vertex),
        INDEX_TARGET => Some(ViewUse::Index),
        _ => None,
    };
    let mut check = Check {
        root,
        found: Findings {
            problems: Vec::new(),
            warnings: Vec::new(),
            blockers: Vec::new(),
            uses: vec![Uses::default(); root.accessors.len()],
        },
        view_uses: root.buffer_views.iter().map(|v| v.target.and_then(|t| view_use(t.0))).collect(),
    };
    check.asset();
    check.empty_lists();
    check.views();
    check.accessors();
    check.scenes();
    check.nodes(tree);
    check.meshes();
    check.skins(tree);
    check.animations();
    check.textures();
    check.found
}

/// Whether a name is `PREFIX_n` with a plain number.
fn numbered(name: &str, prefix: &str) -> Option<usize> {
    let digits = name.strip_prefix(prefix)?.strip_prefix('_')?;
    let plain = !digits.is_empty() && digits.len() < 10 && digits.bytes().all(|b| b.is_ascii_digit());
    (plain && (digits == "0" || !digits.starts_with('0'))).then(|| digits.parse().ok())?
}

impl Check<'_, '_> {
    pub(super) fn problem(&mut self, place: String, what: impl Into<String>) {
        self.found.problems.push(Problem::new(place, what));
    }

    pub(super) fn warn(&mut self, place: String, what: impl Into<String>) {
        self.found.warnings.push(Warning::new(place, what, 1));
    }

    /// Reports a reference to nothing. Whether it is sound.
    pub(super) fn refers(
        &mut self,
        place: impl Fn() -> String,
        kind: &str,
        index: usize,
        count: usize,
    ) -> bool {
        if index >= count {
            self.problem(place(), format!("there is no {kind} {index}: the file has {count}"));
        }
        index < count
    }

    fn asset(&mut self) {
        let version = |text: &str| -> Option<(u32, u32)> {
            let (major, minor) = text.split_once('.')?;
            let digits = |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit());
            (digits(major) && digits(minor)).then_some(())?;
            Some((major.parse().ok()?, minor.parse().ok()?))
        };
        let asset = &self.root.asset;
        match version(&asset.version) {
            Some((2, 0)) => {}
            Some((2, minor)) => {
                self.warn("asset.version".into(), format!("glTF 2.{minor} is read as glTF 2.0"))
            }
            _ => self.found.problems.push(
                Problem::new("asset.version", format!("\"{}\" is not glTF 2", shorten(&asset.version, NAME)))
                    .hint("convert it to glTF 2.0"),
            ),
        }
        if let Some(least) = &asset.min_version {
            match version(least) {
                Some((2, 0)) => {}
                Some((2, _)) => self.warn(
                    "asset.minVersion".into(),
                    format!("the file asks for glTF {}", shorten(least, NAME)),
                ),
                _ => self.problem("asset.minVersion".into(), "is not glTF 2"),
            }
        }
        let lists = [
            ("extensionsUsed", &self.root.extensions_used),
            ("extensionsRequired", &self.root.extensions_required),
        ];
        for (list, names) in lists {
            let mut sorted: Vec<&str> = names.iter().map(|n| &**n).collect();
            sorted.sort_unstable();
            for pair in sorted.windows(2).filter(|w| w[0] == w[1]) {
                self.problem(list.into(), format!("\"{}\" stands there twice", shorten(pair[0], NAME)));
            }
        }
        const KNOWN: [&str; 6] = [
            "KHR_mesh_quantization",
            "KHR_meshopt_compression",
            "EXT_meshopt_compression",
            "VRM",
            "VRMC_vrm",
            "KHR_animation_pointer",
        ];
        // Looks of things, which are passed on as they are.
        const LOOKS: [&str; 9] = [
            "KHR_materials_",
            "EXT_materials_",
            "KHR_texture_",
            "EXT_texture_",
            "MSFT_texture_",
            "KHR_lights_",
            "EXT_lights_",
            "VRMC_",
            "KHR_xmp",
        ];
        for (i, name) in self.root.extensions_required.iter().enumerate() {
            let place = format!("extensionsRequired[{i}]");
            if &**name == "KHR_draco_mesh_compression" {
                self.found.blockers.push(draco(place));
            } else if !KNOWN.contains(&&**name) && !LOOKS.iter().any(|l| name.starts_with(l)) {
                let what = format!("the extension {} is required, but not known here", shorten(name, NAME));
                self.found.blockers.push(Problem::new(place, what).hint("export without it"));
            }
        }
    }

    fn empty_lists(&mut self) {
        let root = self.root;
        let lists = [
            ("scenes", root.scenes.is_hollow()),
            ("nodes", root.nodes.is_hollow()),
            ("meshes", root.meshes.is_hollow()),
            ("skins", root.skins.is_hollow()),
            ("animations", root.animations.is_hollow()),
            ("accessors", root.accessors.is_hollow()),
            ("bufferViews", root.buffer_views.is_hollow()),
            ("buffers", root.buffers.is_hollow()),
        ];
        for (name, hollow) in lists {
            if hollow {
                self.problem(name.into(), "is empty: leave it out");
            }
        }
    }

    fn views(&mut self) {
        for (i, view) in self.root.buffer_views.iter().enumerate() {
            let place = |part: &str| format!("bufferViews[{i}]{part}");
            if !self.refers(|| place(".buffer"), "buffer", view.buffer.0, self.root.buffers.len()) {
                continue;
            }
            let length = self.root.buffers[view.buffer.0].byte_length.0;
            if view.byte_length.0 == 0 {
                self.problem(place(".byteLength"), "must not be 0");
            }
            if view.byte_offset.0.checked_add(view.byte_length.0).is_none_or(|end| end > length) {
                let what = format!(
                    "{} bytes from byte {} do not fit into buffer {} of {length} bytes",
                    view.byte_length.0, view.byte_offset.0, view.buffer.0
                );
                self.problem(place(".byteLength"), what);
            }
            if let Some(stride) = view.byte_stride {
                if !(4..=252).contains(&stride.0) || stride.0 % 4 != 0 {
                    self.problem(
                        place(".byteStride"),
                        format!("{} is not a multiple of 4 from 4 to 252", stride.0),
                    );
                }
                if view.target.is_some_and(|t| t.0 == INDEX_TARGET) {
                    self.problem(place(".byteStride"), "only vertex data may have a stride");
                }
            }
            if view.target.is_some_and(|t| t.0 != VERTEX_TARGET && t.0 != INDEX_TARGET) {
                self.warn(place(".target"), "is neither vertices nor indices");
            }
        }
    }

    fn accessors(&mut self) {
        for (i, accessor) in self.root.accessors.iter().enumerate() {
            let place = |part: &str| format!("accessors[{i}]{part}");
            let size = element_size(accessor);
            if accessor.count.0 == 0 {
                self.problem(place(".count"), "must not be 0");
                continue;
            }
            let numbers = accessor.kind.numbers();
            for (name, bound) in [("min", &accessor.min), ("max", &accessor.max)] {
                if bound.as_ref().is_some_and(|b| b.len() != numbers) {
                    self.problem(place(&format!(".{name}")), format!("needs {numbers} numbers"));
                }
            }
            if accessor.normalized && matches!(accessor.component_type, Component::F32 | Component::U32) {
                self.problem(place(".normalized"), "only 8 and 16 bit numbers can be normalised");
            }
            let Some(view) = accessor.buffer_view else {
                if accessor.byte_offset.0 != 0 {
                    self.problem(place(".byteOffset"), "needs a bufferView");
                }
                self.sparse(i, accessor, size);
                continue;
            };
            if self.refers(|| place(".bufferView"), "buffer view", view.0, self.root.buffer_views.len()) {
                let stride = self.root.buffer_views[view.0].byte_stride.map_or(size, |s| s.0);
                if stride < size {
                    self.problem(
                        place(""),
                        format!("elements of {size} bytes overlap at a stride of {stride}"),
                    );
                }
                let component = accessor.component_type.size();
                let (offset, count) = (accessor.byte_offset.0, accessor.count.0);
                self.span(|| place(""), view.0, offset, stride, size, count, component);
            }
            self.sparse(i, accessor, size);
        }
    }

    /// Checks that elements fit into a view and are aligned.
    fn span(
        &mut self,
        place: impl Fn() -> String,
        view: usize,
        offset: usize,
        stride: usize,
        size: usize,
        count: usize,
        component: usize,
    ) {
        let about = &self.root.buffer_views[view];
        let end = (count - 1)
            .checked_mul(stride)
            .and_then(|n| n.checked_add(size))
            .and_then(|n| n.checked_add(offset));
        if end.is_none_or(|end| end > about.byte_length.0) {
            let what = format!(
                "{count} elements from byte {offset} do not fit into buffer view {view} of {} bytes",
                about.byte_length.0
            );
            self.problem(place(), what);
        }
        // A decompressed view starts wherever it likes.
        let start = if about.meshopt().is_some() { 0 } else { about.byte_offset.0 % 8 };
        if !(start + offset % 8).is_multiple_of(component) {
            self.problem(place(), format!("does not start at a multiple of {component} bytes"));
        }
    }

    fn sparse(&mut self, i: usize, accessor: &Accessor, size: usize) {
        let Some(sparse) = &accessor.sparse else { return };
        let place = |part: &str| format!("accessors[{i}].sparse{part}");
        let count = sparse.count.0;
        if count == 0 || count > accessor.count.0 {
            self.problem(
                place(".count"),
                format!("{count} of {} elements cannot be replaced", accessor.count.0),
            );
            return;
        }
        let component = sparse.indices.component_type;
        if !matches!(component, Component::U8 | Component::U16 | Component::U32) {
            self.problem(place(".indices.componentType"), "must be an unsigned integer");
            return;
        }
        let parts = [
            (
                ".indices",
                sparse.indices.buffer_view.0,
                sparse.indices.byte_offset.0,
                component.size(),
                component.size(),
            ),
            (
                ".values",
                sparse.values.buffer_view.0,
                sparse.values.byte_offset.0,
                size,
                accessor.component_type.size(),
            ),
        ];
        for (part, view, offset, size, component) in parts {
            let view_place = || format!("{}.bufferView", place(part));
            if self.refers(view_place, "buffer view", view, self.root.buffer_views.len()) {
                let about = &self.root.buffer_views[view];
                if about.byte_stride.is_some() || about.target.is_some() {
                    self.problem(view_place(), "must have neither stride nor target");
                }
                self.span(|| place(part), view, offset, size, size, count, component);
            }
        }
    }

    fn scenes(&mut self) {
        let nodes = self.root.nodes.len();
        if let Some(scene) = self.root.scene {
            self.refers(|| "scene".into(), "scene", scene.0, self.root.scenes.len());
        }
        for (i, scene) in self.root.scenes.iter().enumerate() {
            if scene.nodes.is_hollow() {
                self.warn(format!("scenes[{i}].nodes"), "the scene is empty");
            }
            for (k, node) in scene.nodes.iter().enumerate() {
                self.refers(|| format!("scenes[{i}].nodes[{k}]"), "node", node.0, nodes);
            }
        }
    }

    fn nodes(&mut self, tree: &Tree) {
        self.found.problems.extend(tree.problems.iter().cloned());
        let root = self.root;
        for (i, node) in root.nodes.iter().enumerate() {
            let place = |part: &str| format!("nodes[{i}]{part}");
            if node.children.is_hollow() {
                self.problem(place(".children"), "is empty: leave it out");
            }
            if node.matrix.is_some()
                && (node.translation.is_some() || node.rotation.is_some() || node.scale.is_some())
            {
                self.problem(
                    place(".matrix"),
                    "a node has either a matrix or translation, rotation and scale",
                );
            }
            if let Some(m) = &node.matrix
                && ([m[3], m[7], m[11]].iter().any(|c| c.abs() > 1e-6) || (m[15] - 1.0).abs() > 1e-6)
            {
                self.problem(place(".matrix"), "the last row is not 0 0 0 1");
            }
            if let Some(q) = node.rotation {
                let length = q.iter().map(|c| c * c).sum::<f64>().sqrt();
                if (length - 1.0).abs() > super::UNIT_TOLERANCE {
                    self.problem(
                        place(".rotation"),
                        format!("is not a unit quaternion: its length is {length}"),
                    );
                }
            }
            if let Some(camera) = node.camera {
                self.refers(|| place(".camera"), "camera", camera.0, root.cameras.len());
            }
            if let Some(skin) = node.skin {
                self.refers(|| place(".skin"), "skin", skin.0, root.skins.len());
                if node.mesh.is_none() {
                    self.problem(place(".skin"), "a skin needs a mesh on the same node");
                }
            }
            let Some(mesh) = node.mesh else {
                if node.weights.is_some() {
                    self.problem(place(".weights"), "morph weights need a mesh on the same node");
                }
                continue;
            };
            if !self.refers(|| place(".mesh"), "mesh", mesh.0, root.meshes.len()) {
                continue;
            }
            let primitives = &root.meshes[mesh.0].primitives;
            let targets = primitives.first().map_or(0, |p| p.targets.len());
            if node.weights.as_ref().is_some_and(|w| w.len() != targets) {
                self.problem(place(".weights"), format!("mesh {} has {targets} morph targets", mesh.0));
            }
            if node.skin.is_none() && primitives.iter().any(|p| p.attributes.get("JOINTS_0").is_some()) {
                self.warn(
                    place(""),
                    format!("mesh {} has joints, but the node has no skin: it stays rigid", mesh.0),
                );
            }
            if node.skin.is_some() && !tree.in_scene[i] && !root.scenes.is_empty() {
                self.warn(place(""), "the skinned node is in no scene");
            }
        }
    }

    fn meshes(&mut self) {
        for (m, mesh) in self.root.meshes.iter().enumerate() {
            if mesh.primitives.is_hollow() {
                self.problem(format!("meshes[{m}].primitives"), "is empty");
            }
            let targets = mesh.primitives.first().map_or(0, |p| p.targets.len());
            if mesh.weights.as_ref().is_some_and(|w| w.len() != targets) {
                self.problem(format!("meshes[{m}].weights"), format!("the mesh has {targets} morph targets"));
            }
            for (p, primitive) in mesh.primitives.iter().enumerate() {
                let place = format!("meshes[{m}].primitives[{p}]");
                if primitive.targets.is_hollow() {
                    self.problem(format!("{place}.targets"), "is empty: leave it out");
                }
                if primitive.targets.len() != targets {
                    let found = primitive.targets.len();
                    let what = format!("{found} morph targets, but the mesh's first primitive has {targets}");
                    self.problem(format!("{place}.targets"), what);
                }
                self.primitive(&place, primitive);
            }
        }
    }

    fn quantized(&self) -> bool {
        self.root.extensions_used.iter().any(|e| &**e == "KHR_mesh_quantization")
    }

    /// The accessor of an attribute, if it is there and may be one.
    fn attribute(&mut self, place: &str, index: usize, shape: bool) -> Option<usize> {
        if !self.refers(|| place.into(), "accessor", index, self.root.accessors.len()) {
            return None;
        }
        let uses = &mut self.found.uses[index];
        if shape {
            uses.shape = true;
        } else {
            uses.decor = true;
        }
        let accessor = &self.root.accessors[index];
        if accessor.component_type == Component::U32 {
            self.problem(place.into(), "attributes cannot be 32 bit integers");
        }
        self.use_view(place, accessor.buffer_view.map(|v| v.0), ViewUse::Vertex);
        Some(index)
    }

    fn use_view(&mut self, place: &str, view: Option<usize>, to: ViewUse) {
        let Some(slot) = view.and_then(|v| self.view_uses.get_mut(v)) else { return };
        if *slot.get_or_insert(to) != to {
            self.problem(place.into(), "its buffer view is used for vertices and for indices");
        }
    }

    fn format(&mut self, place: &str, index: usize, kind: Kind, allowed: &[(Component, bool)]) {
        let a = &self.root.accessors[index];
        let found = (a.component_type, a.normalized);
        if a.kind != kind || !allowed.contains(&found) {
            let normalized = if a.normalized { " normalised" } else { "" };
            let what = format!("{:?} of {:?}{normalized} cannot be this attribute", a.kind, a.component_type);
            self.problem(place.into(), what);
        }
    }

    fn primitive(&mut self, place: &str, primitive: &Primitive<'_>) {
        use Component::{F32, I8, I16, U8, U16};
        let root = self.root;
        let quantized = self.quantized();
        let attributes = &primitive.attributes.0;
        let (mut count, mut joints, mut weights, mut uvs) = (None, 0usize, 0usize, 0usize);
        let mut highest = 0;
        if attributes.is_empty() || attributes.len() > MAX_ATTRIBUTES {
            self.problem(format!("{place}.attributes"), format!("{} attributes", attributes.len()));
            return;
        }
        for (k, (name, index)) in attributes.iter().enumerate() {
            let place = format!("{place}.attributes.{}", shorten(name, NAME));
            if attributes[..k].iter().any(|e| e.0 == *name) {
                self.problem(place.clone(), "stands there twice");
                continue;
            }
            let skinning = numbered(name, "JOINTS").or(numbered(name, "WEIGHTS"));
            let scalar = root.accessors.get(index.0).is_some_and(|a| a.kind == Kind::Scalar);
            let shape = matches!(&**name, "POSITION" | "NORMAL")
                || skinning.is_some()
                || (&**name == SOFTNESS && scalar);
            let known = shape
                || &**name == "TANGENT"
                || name.starts_with('_')
                || numbered(name, "TEXCOORD").is_some()
                || numbered(name, "COLOR").is_some();
            if !known {
                self.problem(
                    place.clone(),
                    "is not an attribute of glTF 2.0; names of one's own start with _",
                );
            }
            let Some(index) = self.attribute(&place, index.0, shape) else { continue };
            let found = root.accessors[index].count.0;
            if *count.get_or_insert(found) != found {
                self.problem(
                    place.clone(),
                    format!("has {found} elements, other attributes {}", count.unwrap_or(0)),
                );
            }
            let plain = [
                (F32, false),
                (I8, false),
                (I8, true),
                (U8, false),
                (U8, true),
                (I16, false),
                (I16, true),
                (U16, false),
                (U16, true),
            ];
            let units = [(F32, false), (I8, true), (I16, true)];
            match &**name {
                "POSITION" => {
                    self.format(&place, index, Kind::Vec3, if quantized { &plain } else { &plain[..1] })
                }
                "NORMAL" => {
                    self.format(&place, index, Kind::Vec3, if quantized { &units } else { &units[..1] })
                }
                n if n.starts_with("JOINTS_") => {
                    joints += 1;
                    highest = highest.max(skinning.unwrap_or(0));
                    self.format(&place, index, Kind::Vec4, &[(U8, false), (U16, false)]);
                }
                n if n.starts_with("WEIGHTS_") => {
                    weights += 1;
                    highest = highest.max(skinning.unwrap_or(0));
                    self.format(&place, index, Kind::Vec4, &[(F32, false), (U8, true), (U16, true)]);
                }
                n if n.starts_with("TEXCOORD_") => uvs += 1,
                n if n.starts_with("COLOR_") => self.found.uses[index].color = true,
                _ => {}
            }
        }
        if joints != weights || (joints > 0 && highest + 1 != joints) {
            let what = format!(
                "{joints} sets of joints and {weights} of weights: they must be numbered alike from 0"
            );
            self.problem(format!("{place}.attributes"), what);
        }
        if primitive.attributes.get("POSITION").is_none() {
            self.warn(format!("{place}.attributes"), "there is no POSITION: the primitive is passed over");
        } else if let Some(a) = primitive.attributes.get("POSITION").and_then(|i| root.accessors.get(i.0))
            && (a.min.is_none() || a.max.is_none())
        {
            self.warn(format!("{place}.attributes.POSITION"), "the accessor has no min and max");
        }
        if primitive.mode.is_some_and(|m| m.0 > 6) {
            self.problem(format!("{place}.mode"), "is not a kind of primitive");
        }
        if let Some(indices) = primitive.indices {
            let place = format!("{place}.indices");
            if self.refers(|| place.clone(), "accessor", indices.0, root.accessors.len()) {
                self.found.uses[indices.0].index = true;
                let accessor = &root.accessors[indices.0];
                let allowed = [(Component::U8, false), (Component::U16, false), (Component::U32, false)];
                self.format(&place, indices.0, Kind::Scalar, &allowed);
                self.use_view(&place, accessor.buffer_view.map(|v| v.0), ViewUse::Index);
                self.no_stride(|| place.clone(), accessor);
            }
        }
        if primitive.extensions.draco.is_some()
            && !root.extensions_required.iter().any(|e| &**e == "KHR_draco_mesh_compression")
            && primitive
                .attributes
                .get("POSITION")
                .is_some_and(|a| root.accessors.get(a.0).is_some_and(|a| a.buffer_view.is_none()))
        {
            self.found.blockers.push(draco(format!("{place}.extensions")));
        }
        self.targets(place, primitive, count, quantized);
        if let Some(material) = primitive.material
            && self.refers(|| format!("{place}.material"), "material", material.0, root.materials.len())
            && let Some(texture) = &root.materials[material.0].pbr_metallic_roughness.base_color_texture
            && texture.tex_coord.0 >= uvs
        {
            let set = texture.tex_coord.0;
            self.warn(
                format!("{place}.material"),
                format!("its texture needs TEXCOORD_{set}, which is not there"),
            );
        }
    }

    fn targets(&mut self, place: &str, primitive: &Primitive<'_>, count: Option<usize>, quantized: bool) {
        use Component::{F32, I8, I16};
        for (t, target) in primitive.targets.iter().enumerate() {
            for (name, index) in &target.0 {
                let place = format!("{place}.targets[{t}].{}", shorten(name, NAME));
                let shape = matches!(&**name, "POSITION" | "NORMAL");
                let known = shape
                    || &**name == "TANGENT"
                    || name.starts_with('_')
                    || numbered(name, "TEXCOORD").is_some()
                    || numbered(name, "COLOR").is_some();
                if !known {
                    self.problem(place.clone(), "is not an attribute that can be morphed");
                }
                let Some(index) = self.attribute(&place, index.0, shape) else { continue };
                if primitive.attributes.get(name).is_none() {
                    self.problem(place.clone(), "the primitive has no such attribute to morph");
                }
                let found = self.root.accessors[index].count.0;
                if count.is_some_and(|c| c != found) {
                    self.problem(
                        place.clone(),
                        format!("has {found} elements, the primitive {}", count.unwrap_or(0)),
                    );
                }
                if shape {
                    let plain = [(F32, false), (I8, false), (I8, true), (I16, false), (I16, true)];
                    self.format(&place, index, Kind::Vec3, if quantized { &plain } else { &plain[..1] });
                }
            }
        }
    }

    pub(super) fn no_stride(&mut self, place: impl Fn() -> String, accessor: &Accessor) {
        let view = accessor.buffer_view.and_then(|v| self.root.buffer_views.get(v.0));
        if view.is_some_and(|v| v.byte_stride.is_some()) {
            self.problem(place(), "its buffer view must not have a stride");
        }
    }

    fn skins(&mut self, tree: &Tree) {
        let root = self.root;
        for (s, skin) in root.skins.iter().enumerate() {
            let place = |part: &str| format!("skins[{s}]{part}");
            if skin.joints.is_empty() {
                self.problem(place(".joints"), "is empty");
            }
            let mut sound = tree.problems.is_empty();
            for (k, joint) in skin.joints.iter().enumerate() {
                sound &= self.refers(|| format!("skins[{s}].joints[{k}]"), "node", joint.0, root.nodes.len());
            }
            let mut joints: Vec<usize> = skin.joints.iter().map(|j| j.0).collect();
            joints.sort_unstable();
            if let Some(pair) = joints.windows(2).find(|w| w[0] == w[1]) {
                self.problem(place(".joints"), format!("node {} stands there twice", pair[0]));
            }
            if sound && !tree.are_together(skin.joints.iter().map(|j| j.0)) {
                self.problem(place(".joints"), "the joints have no common root");
            }
            if let Some(skeleton) = skin.skeleton
                && self.refers(|| place(".skeleton"), "node", skeleton.0, root.nodes.len())
                && sound
                && !skin.joints.iter().all(|j| tree.is_under(j.0, skeleton.0))
            {
                self.warn(place(".skeleton"), "SKIN_SKELETON_INVALID: is not above all joints; passed over");
            }
            let Some(bind) = skin.inverse_bind_matrices else { continue };
            let bind_place = place(".inverseBindMatrices");
            if self.refers(|| bind_place.clone(), "accessor", bind.0, root.accessors.len()) {
                self.found.uses[bind.0].bind = true;
                let accessor = &root.accessors[bind.0];
                self.format(&bind_place, bind.0, Kind::Mat4, &[(Component::F32, false)]);
                self.no_stride(|| bind_place.clone(), accessor);
                if accessor.count.0 < skin.joints.len() {
                    let what = format!("{} matrices for {} joints", accessor.count.0, skin.joints.len());
                    self.problem(bind_place, what);
                }
            }
        }
    }

    fn textures(&mut self) {
        let root = self.root;
        for (i, material) in root.materials.iter().enumerate() {
            if let Some(texture) = &material.pbr_metallic_roughness.base_color_texture {
                let place = || format!("materials[{i}].pbrMetallicRoughness.baseColorTexture.index");
                self.refers(place, "texture", texture.index.0, root.textures.len());
            }
        }
        for (i, texture) in root.textures.iter().enumerate() {
            if let Some(image) = texture.source {
                self.refers(|| format!("textures[{i}].source"), "image", image.0, root.images.len());
            }
        }
        for (i, image) in root.images.iter().enumerate() {
            if let Some(view) = image.buffer_view {
                self.refers(
                    || format!("images[{i}].bufferView"),
                    "buffer view",
                    view.0,
                    root.buffer_views.len(),
                );
            }
        }
    }
}

fn draco(place: String) -> Problem {
    Problem::new(place, "the meshes are compressed with Draco (KHR_draco_mesh_compression), which is not read here").hint(
        "convert the file first: `gltf-transform copy in.glb out.glb` decompresses it, or export from Blender without compression",
    )
}
