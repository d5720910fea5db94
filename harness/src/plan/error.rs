//! A mistake in a scenario or plan file, with its place and what was meant.

use std::ops::Range;
use std::sync::Arc;

use miette::{Diagnostic, NamedSource, SourceSpan};

/// A mistake in a scenario or plan file: what is wrong, where, and what was meant. Exit code 64.
#[derive(Debug, Clone, thiserror::Error, Diagnostic)]
#[error("{message}")]
pub struct PlanError {
    message: String,
    #[help]
    help: Option<String>,
    #[source_code]
    source_code: Option<Arc<NamedSource<String>>>,
    #[label("{label}")]
    span: Option<SourceSpan>,
    label: &'static str,
}

impl PlanError {
    /// A mistake somewhere in this file.
    pub(super) fn new(name: &str, source: &str, message: impl Into<String>) -> Self {
        let named = NamedSource::new(name, source.to_owned()).with_language("toml");
        Self {
            source_code: Some(Arc::new(named)),
            ..Self::without_source(message)
        }
    }

    /// A mistake that no file can show, such as a file that cannot be read.
    pub(super) fn without_source(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: None,
            source_code: None,
            span: None,
            label: "here",
        }
    }

    /// Says where.
    pub(super) fn at(self, span: Option<Range<usize>>, label: &'static str) -> Self {
        Self {
            span: span.map(SourceSpan::from),
            label,
            ..self
        }
    }

    /// Says what was meant.
    pub(super) fn help(self, help: impl Into<String>) -> Self {
        Self {
            help: Some(help.into()),
            ..self
        }
    }

    /// What was meant, if that can be told.
    #[must_use]
    pub fn meant(&self) -> Option<&str> {
        self.help.as_deref()
    }

    /// The line of the mistake, from 1, if it has a place.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        let before = self
            .source_code
            .as_ref()?
            .inner()
            .get(..self.span?.offset())?;
        Some(before.matches('\n').count() + 1)
    }

    /// The text that the label underlines, if the mistake has a place.
    #[must_use]
    pub fn underlined(&self) -> Option<&str> {
        let (source, span) = (self.source_code.as_ref()?, self.span?);
        source
            .inner()
            .get(span.offset()..span.offset() + span.len())
    }
}
