//! What an experiment found: claims beside figures, tables, pictures.

use serde::{Deserialize, Serialize};

/// What became of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    /// The claim, or the goal, holds here.
    Holds,
    /// It does not; what is seen instead stands beside it.
    DoesNot,
    /// Nothing to hold it against: a figure for the reader.
    Shown,
    /// What it needs is not on this machine.
    NotRun,
}

impl Verdict {
    pub(crate) fn of(holds: bool) -> Self {
        if holds { Self::Holds } else { Self::DoesNot }
    }

    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::DoesNot => "**does not hold**",
            Self::Shown => "shown",
            Self::NotRun => "not run",
        }
    }
}

/// A claim, what was published or asked for, and what came out.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Finding {
    pub(crate) claim: String,
    pub(crate) published: String,
    pub(crate) ours: String,
    /// The published figure over ours, where both are times: above 1 is faster.
    pub(crate) ratio: Option<f64>,
    pub(crate) verdict: Verdict,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Table {
    pub(crate) title: String,
    pub(crate) head: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

/// Pictures beside each other: a label and a file, from the results' folder.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Figure {
    pub(crate) caption: String,
    pub(crate) pictures: Vec<(String, String)>,
}

/// All that an experiment found.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Results {
    pub(crate) findings: Vec<Finding>,
    pub(crate) tables: Vec<Table>,
    pub(crate) figures: Vec<Figure>,
    pub(crate) notes: Vec<String>,
}

impl Results {
    pub(crate) fn claim(
        &mut self,
        claim: impl Into<String>,
        published: impl Into<String>,
        ours: impl Into<String>,
        holds: bool,
    ) {
        self.find(claim, published, ours, None, Verdict::of(holds));
    }

    /// A figure that nobody has published.
    pub(crate) fn show(&mut self, claim: impl Into<String>, ours: impl Into<String>) {
        self.find(claim, "", ours, None, Verdict::Shown);
    }

    pub(crate) fn find(
        &mut self,
        claim: impl Into<String>,
        published: impl Into<String>,
        ours: impl Into<String>,
        ratio: Option<f64>,
        verdict: Verdict,
    ) {
        let (claim, published, ours) = (claim.into(), published.into(), ours.into());
        self.findings.push(Finding { claim, published, ours, ratio, verdict });
    }

    pub(crate) fn table(&mut self, title: impl Into<String>, head: &[&str], rows: Vec<Vec<String>>) {
        let head = head.iter().map(|h| (*h).to_owned()).collect();
        self.tables.push(Table { title: title.into(), head, rows });
    }

    pub(crate) fn figure(&mut self, caption: impl Into<String>, pictures: Vec<(String, String)>) {
        self.figures.push(Figure { caption: caption.into(), pictures });
    }

    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }
}

/// What was found, by which code and where.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) id: String,
    pub(crate) stamp: Stamp,
    pub(crate) machine: String,
    pub(crate) date: String,
    pub(crate) seconds: f64,
    pub(crate) results: Results,
}

/// Of the code that a result depends on: while it stays the same, so does the result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    pub(crate) engine: String,
    pub(crate) experiment: String,
}
