//! What is set: by the user, and by the character itself.

use crate::host::Host;
use crate::input::{Input, Request};
use anyhow::{Context, Result};
use pliant::asset::Character;
use pliant::body::Fineness;
use pliant::method::{Place, Settings, SettingsError};
use pliant::rig::retarget::Named;
use pliant::rig::weights::WeightKind;
use pliant_io::Warning;
use pliant_io::settings::SettingsFile;
use std::path::PathBuf;

/// What deforms where nobody says.
const DEFAULT_METHOD: &str = "lbs";

/// Methods that nothing weighs in.
const RIGID: [&str; 4] = ["lbs", "dqs", "smooth", "volume"];

/// How tall people are, in metres.
const BODY_HEIGHT: f64 = 1.7;

/// Metres to a unit of a file that does not say, and why.
fn unit(character: &Character) -> (f64, &'static str) {
    let surface = character.surface();
    let corners = surface.triangles().iter().flatten();
    let points = corners.map(|&v| surface.positions()[v as usize].as_dvec3());
    match Named::new(character.skeleton()).height(points) {
        Some(height) => (BODY_HEIGHT / height, "the body is taken to be 1.7 m tall"),
        None => (1.0, "the file does not say what its units are"),
    }
}

/// What the user has set, before the character is known.
pub struct Wishes {
    /// All of it.
    pub settings: Settings,
    /// The file that it came from, to name lines by.
    pub file: Option<(PathBuf, SettingsFile)>,
}

/// A character, and what is to be done with it.
pub struct Task {
    /// The character.
    pub input: Input,
    /// What is set, with what the character brings.
    pub settings: Settings,
    /// The method by name.
    pub method: String,
}

impl Wishes {
    /// How fine the body is to be.
    pub fn fineness(&self) -> Fineness {
        let body = &self.settings.body;
        body.cell.map(Fineness::Cell).or(body.tets.map(Fineness::Tets)).unwrap_or_default()
    }

    /// Reads the character. One without weights gets those that the method is made for.
    pub fn open(self, args: &Request, host: &dyn Host) -> Result<Task> {
        let method = self.settings.method.clone().unwrap_or_else(|| DEFAULT_METHOD.to_owned());
        let (input, settings) = self.open_for(&[&method], args, host)?;
        Ok(Task { input, settings, method })
    }

    /// The same for several methods: one character with one set of weights for all, and what is set.
    pub fn open_for(self, methods: &[&str], args: &Request, host: &dyn Host) -> Result<(Input, Settings)> {
        let is_smooth = methods.iter().all(|m| *m == "smooth");
        let usual_weights = is_smooth.then_some(WeightKind::Angle);
        let input = Input::open(&Request { usual_weights, ..args.clone() }, host)?;
        self.on(input, methods)
    }

    /// What is set for a character, with what it brings itself. Paint that regions name is put on it; what there is to say
    /// goes to its warnings.
    fn on(self, input: Input, methods: &[&str]) -> Result<(Input, Settings)> {
        let mut input = self.painted(input)?;
        self.settings.check_on(&input.character).map_err(|e| self.refuse(e))?;
        let Self { mut settings, .. } = self;
        let notes = settings.add_regions_of(&input.character, input.regions.clone());
        input.warnings.extend(notes.into_iter().map(|note| Warning::new("soft regions", note, 1)));
        if settings.simulation.metres_per_unit.is_none() && input.is_unitless {
            let (metres, why) = unit(&input.character);
            settings.simulation.metres_per_unit = Some(metres);
            if !methods.iter().all(|m| RIGID.contains(m)) {
                let what = format!("{why}: a unit is {metres:.3} m; --metres-per-unit says otherwise");
                input.warnings.push(Warning::new("units", what, 1));
            }
        }
        Ok((input, settings))
    }

    /// What is wrong, with the line of the file where there is one.
    fn refuse(&self, error: SettingsError) -> anyhow::Error {
        match &self.file {
            Some((path, file)) => anyhow::Error::from(file.refuse(error)).context(path.display().to_string()),
            None => error.into(),
        }
    }

    /// Fetches the painted attributes that regions and `smooth` name; all there are where one of them is missing, so that the error
    /// can list them.
    fn painted(&self, mut input: Input) -> Result<Input> {
        if !self.settings.paints.is_empty() {
            let mut raw = input.character.into_raw();
            self.settings.paint(&mut raw).map_err(|e| self.refuse(e))?;
            input.character = Character::new(raw)?;
        }
        let regions = self.settings.regions.iter().filter_map(|r| wanted(&r.on));
        let methods = self.settings.smooth.painted().chain(self.settings.volume.painted.as_deref());
        let wanted: Vec<&str> = regions.chain(methods).collect();
        let there: Vec<&str> = input.character.paint().iter().map(|p| &p.name[..]).collect();
        let missing = wanted.iter().any(|w| !there.contains(w) && !input.paintable.iter().any(|p| p == w));
        let fetched = input
            .paintable
            .iter()
            .filter(|name| !there.contains(&&name[..]) && (missing || wanted.contains(&&name[..])));
        let mut paint = Vec::new();
        for name in fetched {
            paint
                .extend(input.document.paint(name, &mut input.warnings).with_context(|| input.name.clone())?);
        }
        input.add_paint(paint)
    }
}

/// The painted attribute that a region is on.
fn wanted(place: &Place) -> Option<&str> {
    match place {
        Place::Painted(name) => Some(name),
        _ => None,
    }
}
