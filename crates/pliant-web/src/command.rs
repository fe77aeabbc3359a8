//! What the page can ask. One JSON object a command: `{"do": "seek", "clip": 0, "seconds": 0.5}`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A command.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Command {
    /// Reads a character from files that were put before.
    Open {
        /// Which.
        source: Source,
        /// A recording to be put on it as one more clip.
        #[serde(default)]
        recording: Option<Recording>,
        /// Settings, key by key.
        #[serde(default)]
        settings: Value,
    },
    /// Makes a method ready for it.
    Prepare {
        /// Settings, key by key; the method among them.
        #[serde(default)]
        settings: Value,
    },
    /// Says what frames carry beside the skin.
    Show(Show),
    /// To a moment of a clip.
    Seek {
        /// Which; the default pose where none.
        clip: Option<usize>,
        /// From the clip's start.
        seconds: f64,
    },
    /// Plays on.
    Play {
        /// Which; the default pose where none.
        clip: Option<usize>,
        /// From the clip's start, beyond its end where it starts again.
        seconds: f64,
        /// Whether it starts again.
        #[serde(rename = "loop")]
        cycles: bool,
    },
    /// Holds the pose with joints turned by hand, and lets time pass.
    Pose {
        /// Which joints, and by how much.
        turns: Vec<Turn>,
        /// How much time.
        seconds: f64,
    },
    /// Takes other numbers from the next frame on.
    Tune {
        /// Settings, key by key.
        settings: Value,
    },
    /// How a heat map is to be read.
    HeatScale {
        /// Which.
        heat: Heat,
    },
    /// The numbers of a vertex.
    Vertex {
        /// Which.
        index: usize,
    },
    /// Bakes a clip to a file.
    Bake {
        /// Which; the default pose where none.
        clip: Option<usize>,
        /// To what.
        format: Format,
        /// Frames a second.
        #[serde(default)]
        fps: Option<f64>,
    },
    /// The hash of the skin as it is.
    Hash {},
    /// A settings file to settings key by key.
    ReadSettings {
        /// Its text.
        toml: String,
    },
    /// And back.
    WriteSettings {
        /// Key by key.
        settings: Value,
    },
    /// The built-in characters.
    Samples {},
}

/// What to open.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Source {
    /// A built-in character.
    Sample {
        /// Its name.
        sample: String,
    },
    /// A file, and those of an OBJ.
    File {
        /// Its name.
        main: String,
        /// Of an OBJ.
        #[serde(default)]
        skeleton: Option<String>,
        /// Of an OBJ.
        #[serde(default)]
        weights: Option<String>,
    },
}

/// A recording by the names of its files.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recording {
    /// The `.bvh`.
    pub file: String,
    /// A joint map.
    #[serde(default)]
    pub map: Option<String>,
}

/// What frames carry beside the skin.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Show {
    /// Colours.
    pub heat: Option<Heat>,
    /// What is drawn.
    pub drawing: Option<DrawingKind>,
    /// Share of the body's volume that is cut away.
    pub cut: f64,
    /// Towards the eye.
    pub eye: [f64; 3],
}

/// Colours over the skin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Heat {
    /// Of edges.
    Stretch,
    /// Of the flesh below.
    Volume,
    /// As regions have it.
    Softness,
    /// Of the tet below.
    Residual,
}

/// What may be drawn within or over the skin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DrawingKind {
    /// The body, cut open.
    Tets,
    /// The same, coloured by layers around the bones.
    Layers,
    /// What bones hold.
    Pins,
    /// The axes of the flesh.
    Frames,
    /// The balls that fill it.
    Balls,
}

/// A joint turned by hand.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// Which.
    pub joint: usize,
    /// In its own axes: x, y, z, w.
    pub quaternion: [f64; 4],
}

/// What a bake is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// One GLB.
    Glb,
    /// A point cache for each mesh.
    Pc2,
}
