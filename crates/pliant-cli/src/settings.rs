//! What is set: by a file, on the command line, and by the character itself.

use crate::args::SettingsArgs;
use crate::load::Input;
use anyhow::{Context, Result};
use pliant::method::{Place, Settings};
use pliant_io::files::read_limited;
use pliant_io::settings::{self, SettingsFile};
use pliant_io::Warning;
use std::path::PathBuf;

/// What the user has set, before the character is known.
pub(crate) struct Wishes {
    settings: Settings,
    /// The file that it came from, to name lines by.
    file: Option<(PathBuf, SettingsFile)>,
}

impl Wishes {
    /// Reads the settings file; the command line counts more.
    pub(crate) fn read(args: &SettingsArgs) -> Result<Self> {
        let file = match &args.config {
            None => None,
            Some(path) => {
                let named = || path.display().to_string();
                let bytes = read_limited(path, settings::MAX_BYTES).with_context(|| format!("{}: cannot read it", named()))?;
                Some((path.clone(), settings::read(&bytes).with_context(named)?))
            }
        };
        let mut settings = file.as_ref().map_or_else(Settings::default, |(_, file)| file.settings.clone());
        if let Some(preset) = args.preset {
            settings.preset = Some(preset.into());
        }
        Ok(Self { settings, file })
    }

    /// The method: as the command line says, else as the file does.
    pub(crate) fn method(&self, asked: Option<&str>) -> String {
        asked.or(self.settings.method.as_deref()).unwrap_or(DEFAULT_METHOD).to_owned()
    }

    /// The settings for a character, with what it brings itself. Paint that they name is put on it; what there is to
    /// say goes to its warnings.
    pub(crate) fn on(mut self, input: &mut Input) -> Result<Settings> {
        self.paint(input)?;
        if let Err(error) = self.settings.check_on(&input.character) {
            return match &self.file {
                Some((path, file)) => Err(file.refuse(error)).with_context(|| path.display().to_string()),
                None => Err(error.into()),
            };
        }
        let notes = self.settings.add_regions_of(&input.character, input.regions.clone());
        let said = notes.into_iter().map(|note| Warning::new("soft regions", note, 1));
        input.warnings.extend(said);
        Ok(self.settings)
    }

    /// Fetches the painted attributes that regions name; all of them where one is not there, for the list of what is.
    fn paint(&self, input: &mut Input) -> Result<()> {
        let wanted = self.settings.regions.iter().filter_map(|region| match &region.on {
            Place::Painted(name) => Some(name),
            _ => None,
        });
        let is_there = |name: &String| {
            input.paintable.contains(name) || input.character.paint().iter().any(|p| p.name == *name)
        };
        let missing = wanted.clone().any(|name| !is_there(name));
        let mut names: Vec<&String> = input.paintable.iter().collect();
        names.retain(|name| missing || wanted.clone().any(|w| w == *name));
        names.retain(|name| input.character.paint().iter().all(|p| p.name != **name));
        let mut raw = None;
        for name in names {
            if let Some(painted) = input.document.paint(name, &mut input.warnings)? {
                raw.get_or_insert_with(Vec::new).push(painted);
            }
        }
        input.add_paint(raw.unwrap_or_default())
    }
}

/// What deforms where nobody says.
const DEFAULT_METHOD: &str = "lbs";
