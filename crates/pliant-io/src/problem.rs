use std::fmt;

/// One thing that is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where in the file: a JSON path such as `accessors[3].count`, or a line.
    pub place: String,
    /// What is wrong there.
    pub what: String,
    /// What the user can do about it; may be empty.
    pub hint: String,
}

impl Problem {
    /// A problem at a place.
    pub fn new(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self { place: place.into(), what: what.into(), hint: String::new() }
    }

    /// Adds what the user can do.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        f.write_str(&self.what)?;
        if !self.hint.is_empty() {
            write!(f, "; {}", self.hint)?;
        }
        Ok(())
    }
}

/// Why a file cannot be used: every problem that was found, at least one, the gravest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadError {
    problems: Vec<Problem>,
}

impl ReadError {
    /// All problems.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// An error if there is any problem.
    pub fn check(problems: Vec<Problem>) -> Result<(), Self> {
        if problems.is_empty() { Ok(()) } else { Err(Self { problems }) }
    }
}

impl From<Problem> for ReadError {
    fn from(problem: Problem) -> Self {
        Self { problems: vec![problem] }
    }
}

/// One line: the first problem, and how many more there are.
impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(first) = self.problems.first() {
            write!(f, "{first}")?;
        }
        if self.problems.len() > 1 {
            write!(f, " (and {} more)", self.problems.len() - 1)?;
        }
        Ok(())
    }
}

impl std::error::Error for ReadError {}

/// Something odd that was mended or passed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// Where in the file.
    pub place: String,
    /// What is odd, and what was done about it.
    pub what: String,
    /// How many elements it concerns.
    pub count: usize,
}

impl Warning {
    /// A warning at a place that concerns `count` elements.
    pub fn new(place: impl Into<String>, what: impl Into<String>, count: usize) -> Self {
        Self { place: place.into(), what: what.into(), count }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        f.write_str(&self.what)?;
        if self.count > 1 {
            write!(f, " ({} times)", self.count)?;
        }
        Ok(())
    }
}
