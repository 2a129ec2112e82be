//! Adds integer sums over all records up, wherever the records are: the one way from a charged question to a secret sum.

use crate::Refused;
use crate::records::faults::FaultSums;
use crate::records::stored::Stored;
use crate::sums::passes::{Rows, Worker, first_sums};
use crate::sums::programs::{add_choices, add_ratios, add_terms};
use crate::sums::terms::{Summed, reads, takes_levels};
use barkeep_data::Unit;

/// Records that can be asked, in whatever way they are kept.
///
/// **Privacy.** What [`add`](Sweep::add) leaves in the workers is a secret, and so is the number of records where neighbours add
/// or remove one. Whether it fails must not depend on what records say.
pub(crate) trait Sweep: Send + Sync {
    /// What a neighbouring data set differs in.
    fn unit(&self) -> Unit;

    /// The number of records, or of persons.
    fn records(&self) -> usize;

    /// The number of rows in this machine's memory at a time: what is worth sharing out among threads.
    fn rows(&self) -> usize;

    /// How many sums of faults there are, where they were counted.
    fn faults(&self) -> Option<usize>;

    /// Whether single records can be asked.
    fn takes_batches(&self) -> bool;

    /// Adds what every asked record, or person, contributes to the workers' sums or moments: exact integers, the same in
    /// total however records and workers are divided.
    ///
    /// # Errors
    /// [`Refused::Unasked`] if not every record could be asked; what was added up then means nothing.
    fn add(
        &self,
        summed: Summed<'_>,
        positions: Option<&[u32]>,
        workers: &mut [Worker],
    ) -> Result<(), Refused>;
}

/// Records in memory, shared out among threads.
impl Sweep for Stored {
    fn unit(&self) -> Unit {
        self.unit()
    }

    fn records(&self) -> usize {
        self.records()
    }

    fn rows(&self) -> usize {
        self.rows()
    }

    fn faults(&self) -> Option<usize> {
        self.faults().map(FaultSums::width)
    }

    fn takes_batches(&self) -> bool {
        true
    }

    fn add(
        &self,
        summed: Summed<'_>,
        positions: Option<&[u32]>,
        workers: &mut [Worker],
    ) -> Result<(), Refused> {
        if let (Summed::Faults, Some(counted)) = (summed, self.faults()) {
            counted.add_to(first_sums(workers));
        }
        let (blocks, persons, programs) = (self.blocks(), self.persons(), summed.programs());
        let columns = programs.iter().map(reads).max().unwrap_or(0);
        let by_index =
            programs.iter().all(|program| takes_levels(program, |column| blocks.levels(column as usize)));
        let rows = Rows { blocks, persons, positions, columns, by_index };
        match summed {
            Summed::Term { asked, clip } => add_terms(rows, self.unit(), asked, clip, workers)?,
            Summed::Ratio { program, clip } => add_ratios(rows, program, clip, workers),
            Summed::Choices { programs, centre, clip } => {
                add_choices(rows, programs, centre, clip, workers);
            }
            Summed::Faults => {}
        }
        Ok(())
    }
}
