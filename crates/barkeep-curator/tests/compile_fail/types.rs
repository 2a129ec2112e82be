//! Must not compile: whatever would let a record, a sum, a secret or a second budget out.

use barkeep_curator::insecure::SharedTable;
use barkeep_curator::partials::{Partial, Shard};
use barkeep_curator::{Ask, Budget, Curator, Gate, NoiseRng, PrivacyModel, Secret, Table, TableBuilder};
use barkeep_data::{Admission, Block};
use serde::{Serialize, Serializer};
use std::sync::Arc;

pub mod tables {
    use super::*;

    pub fn held(table: &Table) {
        let _ = &table.held; //~ error[E0616]: field `held` of struct `barkeep_curator::Table` is private
    }

    pub fn count(table: &Table) -> usize {
        table.sweep().records() //~ error[E0624]: method `sweep` is private
    }

    pub fn compare(one: &Table, other: &Table) -> bool {
        one == other //~ error[E0369]: binary operation `==` cannot be applied to type `&barkeep_curator::Table`
    }

    pub fn copy(table: &Table) -> Table {
        table.clone() //~ error[E0308]: mismatched types
    }

    pub fn print(records: &Table) {
        println!("{:?}", records); //~ error[E0277]: `barkeep_curator::Table` doesn't implement `Debug`
    }

    pub fn print_builder(records: &TableBuilder) {
        println!("{:?}", records); //~ error[E0277]: `barkeep_curator::TableBuilder` doesn't implement `Debug`
    }

    pub fn print_admission(records: &Admission) {
        println!("{:?}", records); //~ error[E0277]: `barkeep_data::Admission` doesn't implement `Debug`
    }

    pub fn print_block(records: &Block<'_>) {
        println!("{:?}", records); //~ error[E0277]: `barkeep_data::Block<'_>` doesn't implement `Debug`
    }

    pub fn serialise<Format: Serializer>(records: &Table, format: Format) {
        let _ = Serialize::serialize(records, format); //~ error[E0277]: the trait bound `barkeep_curator::Table: serde::Serialize` is not satisfied
    }

    pub fn serialise_builder<Format: Serializer>(records: &TableBuilder, format: Format) {
        let _ = Serialize::serialize(records, format); //~ error[E0277]: the trait bound `barkeep_curator::TableBuilder: serde::Serialize` is not satisfied
    }

    pub fn serialise_block<Format: Serializer>(records: &Block<'_>, format: Format) {
        let _ = Serialize::serialize(records, format); //~ error[E0277]: the trait bound `barkeep_data::Block<'_>: serde::Serialize` is not satisfied
    }
}

pub mod partials {
    use super::*;

    pub fn clone(partial: &Partial) -> Partial {
        Clone::clone(partial) //~ error[E0277]: the trait bound `barkeep_curator::partials::Partial: Clone` is not satisfied
    }

    pub fn compare(one: Partial, other: Partial) -> bool {
        one == other //~ error[E0369]: binary operation `==` cannot be applied to type `barkeep_curator::partials::Partial`
    }

    pub fn print(partial: &Partial) {
        println!("{:?}", partial); //~ error[E0277]: `barkeep_curator::partials::Partial` doesn't implement `Debug`
    }

    pub fn print_shard(shard: &Shard) {
        println!("{:?}", shard); //~ error[E0277]: `barkeep_curator::partials::Shard` doesn't implement `Debug`
    }

    pub fn serialise<Format: Serializer>(partial: &Partial, format: Format) {
        let _ = Serialize::serialize(partial, format); //~ error[E0277]: the trait bound `barkeep_curator::partials::Partial: serde::Serialize` is not satisfied
    }

    pub fn table(shard: &Shard) -> &Table {
        &shard.table //~ error[E0616]: field `table` of struct `barkeep_curator::partials::Shard` is private
    }
}

pub mod secrets {
    use super::*;

    pub fn clone(secret: &Secret<i64>) -> Secret<i64> {
        Clone::clone(secret) //~ error[E0277]: the trait bound `barkeep_curator::Secret<i64>: Clone` is not satisfied
    }

    pub fn compare(one: Secret<i64>, other: Secret<i64>) -> bool {
        one == other //~ error[E0369]: binary operation `==` cannot be applied to type `barkeep_curator::Secret<i64>`
    }

    pub fn debug(secret: Secret<i64>) -> String {
        format!("{:?}", secret) //~ error[E0277]: `barkeep_curator::Secret<i64>` doesn't implement `Debug`
    }

    pub fn dereference(secret: Secret<i64>) -> i64 {
        *secret //~ error[E0614]: type `barkeep_curator::Secret<i64>` cannot be dereferenced
    }

    pub fn display(secret: Secret<i64>) {
        println!("{}", secret); //~ error[E0277]: `barkeep_curator::Secret<i64>` doesn't implement `std::fmt::Display`
    }

    pub fn field(secret: Secret<i64>) -> i64 {
        secret.0 //~ error[E0616]: field `0` of struct `barkeep_curator::Secret` is private
    }

    pub fn open(secret: Secret<i64>) -> i64 {
        secret.open() //~ error[E0624]: method `open` is private
    }

    pub fn serialise(secret: Secret<i64>) {
        fn write(_: impl Serialize) {}
        write(secret); //~ error[E0277]: the trait bound `barkeep_curator::Secret<i64>: serde::Serialize` is not satisfied
    }
}

pub mod gates {
    use super::*;

    pub fn table(curator: &Curator) -> &Table {
        &curator.table //~ error[E0616]: field `table` of struct `barkeep_curator::Curator` is private
    }

    pub fn candidates() {
        let _ = Curator::candidates; //~ error[E0624]: method `candidates` is private
    }

    pub fn curator(gate: &mut Gate) -> &Curator {
        &gate.curator //~ error[E0616]: field `curator` of struct `barkeep_curator::Gate` is private
    }

    pub fn randomness(gate: &mut Gate) -> u64 {
        gate.rng.next_u64() //~ error[E0616]: field `rng` of struct `barkeep_curator::Gate` is private
    }

    pub fn sampler_downcast(ask: &mut dyn Ask) -> Option<&mut Gate> {
        let any: &mut dyn std::any::Any = ask; //~ error[E0308]: mismatched types
        any.downcast_mut()
    }

    pub fn sampler_randomness(ask: &mut dyn Ask) -> u64 {
        ask.rng.next_u64() //~ error[E0609]: no field `rng` on type `&mut dyn barkeep_curator::Ask`
    }

    pub fn sampler_records(ask: &mut dyn Ask) {
        let _ = ask.curator.table.blocks(); //~ error[E0609]: no field `curator` on type `&mut dyn barkeep_curator::Ask`
    }
}

pub mod budgets {
    use super::*;

    pub fn account(budget: &Budget) {
        let _ = budget.account.lock(); //~ error[E0616]: field `account` of struct `barkeep_curator::Budget` is private
    }

    pub fn of_a_curator(curator: &Curator) -> &Budget {
        curator.budget() //~ error[E0624]: method `budget` is private
    }

    pub fn put_back(curator: &mut Curator, budget: Budget) {
        curator.budget = budget; //~ error[E0616]: field `budget` of struct `barkeep_curator::Curator` is private
    }

    pub fn beside(table: SharedTable, model: PrivacyModel, budget: Budget) {
        let _ = Curator::new(table, model, budget); //~ error[E0308]: mismatched types
    }

    pub fn twin(table: Arc<Table>, model: PrivacyModel, budget: Budget) {
        let _ = Curator::over(table, model, budget); //~ error[E0624]: associated function `over` is private
    }

    pub fn table(shared: &SharedTable) -> &Table {
        &shared.table //~ error[E0616]: field `table` of struct `barkeep_curator::insecure::SharedTable` is private
    }

    pub fn seeded(key: [u8; 32]) -> NoiseRng {
        NoiseRng::of_known_key(key) //~ error[E0624]: associated function `of_known_key` is private
    }
}
