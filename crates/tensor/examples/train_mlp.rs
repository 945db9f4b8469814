//! Trains a small network on two interleaved spirals with the lazy tensor:
//! `cargo run --release -p cairn-tensor --example train_mlp`.

#[path = "train_mlp/spirals.rs"]
mod spirals;

use spirals::{Trainer, TrainerError};

fn main() -> Result<(), TrainerError> {
    let mut trainer = Trainer::new(&cairn_tensor::Context::cpu()?, 1234)?;
    for step in 0..=1000 {
        let loss = trainer.step()?;
        if step % 100 == 0 {
            println!("step {step:>4}  loss {loss:.4}");
        }
    }
    println!("accuracy {:.1} %", 100.0 * trainer.accuracy()?);
    let counters = trainer.context().counters();
    println!(
        "{} programs compiled, {} runs",
        counters.compiled, counters.runs
    );
    Ok(())
}
