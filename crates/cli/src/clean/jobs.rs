//! Which recordings are to be cleaned, how they are read and where they go: those of the run, read
//! as the run did, or others that were named. Refuses to write over anything unasked. Nothing is
//! read but headers.

use super::Clean;
use super::names::{default_name, ending};
use crate::failure::{Failure, Outcome};
use crate::inputs::files;
use crate::outs::{refuse_shared, refuse_without_folder};
use crate::preparing::as_the_run_did;
use std::path::{Path, PathBuf};
use strt_io::{Prepare, ReadOptions, check_writable};
use strt_runs::results::summary::Input;
use strt_runs::results::together::FileOfRun;
use strtransformer::Separation;

/// One recording that is to be cleaned.
pub struct Job {
    pub path: PathBuf,
    pub options: ReadOptions,
    pub whose: Whose,
    pub out: PathBuf,
}

/// Whose a recording is.
pub enum Whose {
    /// That of the run.
    Run,
    /// One of several of the run.
    Piece(FileOfRun),
    /// Another one, or it was named.
    Others,
}

impl Clean {
    /// The recordings that are to be cleaned, and where each goes.
    pub(super) fn jobs(&self, input: &Input, model: &Separation) -> Outcome<Vec<Job>> {
        let named = self.named(input, model)?;
        let folder = match &self.out_dir {
            Some(folder) => folder.clone(),
            None if input.options.bids => self.run.parent().unwrap_or(Path::new("")).to_owned(),
            None => PathBuf::new(),
        };
        let paths: Vec<PathBuf> = named.iter().map(|(path, ..)| path.clone()).collect();
        let outs: Vec<PathBuf> = match &self.out {
            Some(out) => vec![out.clone()],
            None => {
                let name = |path: &PathBuf| default_name(path, input.options.bids);
                paths.iter().map(|path| folder.join(name(path))).collect()
            }
        };
        refuse_shared(&paths, &outs)?;
        let jobs = named.into_iter().zip(outs);
        let job = |((path, options, whose), out)| Job {
            path,
            options,
            whose,
            out,
        };
        Ok(jobs.map(job).collect())
    }

    /// The files, how they are read and whose they are: those of the run, or others.
    fn named(
        &self,
        input: &Input,
        model: &Separation,
    ) -> Outcome<Vec<(PathBuf, ReadOptions, Whose)>> {
        if !self.recordings.is_empty() {
            let found = files(&self.recordings)?.into_iter();
            let other = |path: PathBuf| {
                let options = self.options_for(&path, input, model)?;
                Ok((path, options, Whose::Others))
            };
            return found.map(other).collect();
        }
        if self.reading != ReadOptions::default() {
            return Err(Failure::Usage(
                "reading the recording: expected a RECORDING with these arguments, found none; \
                 that of the run is read as the run did"
                    .into(),
            ));
        }
        let options = &input.options;
        let Some(together) = &input.together else {
            let path = self.recording_of_run(&input.path, &input.format)?;
            return Ok(vec![(path, options.clone(), Whose::Run)]);
        };
        let files = together.files.iter().map(|file| {
            let path = self.recording_of_run(&file.path, &input.format)?;
            Ok((path, options.clone(), Whose::Piece(file.clone())))
        });
        files.collect()
    }

    /// How another file with the channels of the run is read: in full.
    fn options_for(
        &self,
        recording: &Path,
        input: &Input,
        model: &Separation,
    ) -> Outcome<ReadOptions> {
        let (own, there) = (self.reading.clone(), &input.options);
        let options = ReadOptions {
            rate: own.rate.or(there.rate),
            channels: own.channels.or_else(|| there.channels.clone()),
            variable: own.variable.or_else(|| there.variable.clone()),
            // Another file may lie another way round: the channels of the model tell.
            transpose: own.transpose,
            delimiter: own.delimiter.or(there.delimiter),
            header: own.header.or(there.header),
            time_column: own.time_column.or_else(|| there.time_column.clone()),
            start: own.start,
            stop: own.stop,
            bids: own.bids,
            prepare: Prepare::default(),
        };
        as_the_run_did(input, model, recording, options)
    }

    /// A file that the run has read, from the current folder or from that of the run.
    fn recording_of_run(&self, path: &str, format: &str) -> Outcome<PathBuf> {
        let path = Path::new(path);
        let beside = self.run.parent().map(|parent| parent.join(path));
        let places = [Some(path.to_owned()), beside];
        let found = places.into_iter().flatten().find(|path| path.exists());
        let of_memory = format == "memory";
        found.filter(|_| !of_memory).ok_or_else(|| {
            let found = if of_memory {
                "data that were in memory".to_string()
            } else {
                format!("no file {}", path.display())
            };
            Failure::Failed(format!(
                "{}: expected the recording that it was made from, found {found}; give the \
                 RECORDING that is to be cleaned",
                self.run.display()
            ))
        })
    }

    /// Refuses to write over anything unasked, and over the recording in any case.
    pub(super) fn check_out(&self, out: &Path, input: &Path) -> Outcome {
        if let (Ok(out), Ok(input)) = (out.canonicalize(), input.canonicalize())
            && out == input
        {
            return Err(Failure::Failed(format!(
                "{}: expected another file than the recording, which is kept; choose another --out",
                out.display()
            )));
        }
        // The numbers of an EEGLAB data set may be in a file of their own, those of BrainVision
        // always are.
        let others: &[&str] = match ending(out).as_str() {
            "set" => &["fdt"],
            "vhdr" | "vmrk" | "eeg" => &["vhdr", "vmrk", "eeg"],
            _ => &[],
        };
        let beside = others.iter().map(|other| out.with_extension(other));
        for file in std::iter::once(out.to_owned()).chain(beside) {
            if file.exists() && !self.overwrite {
                return Err(Failure::Failed(format!(
                    "{}: the file exists; choose another --out, or replace it with --overwrite",
                    file.display()
                )));
            }
        }
        refuse_without_folder(out)?;
        Ok(check_writable(out)?)
    }
}
