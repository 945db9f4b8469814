//! Text from the model: greedy or drawn from the softmax of the logits.

use cairn_formats::{Philox, scope_hash};
use cairn_nn::decode::decode;
use cairn_tensor::{HostTensor, TensorError, TensorType};

use super::Engine;

/// How the next token is chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// 0 takes the likeliest token each time.
    pub temperature: f64,
    /// Draw among this many likeliest tokens; none means among all.
    pub top_k: Option<usize>,
    /// Key of the draws.
    pub seed: u64,
}

/// Up to `count` tokens after `prompt`, ending early after `end`.
///
/// Keys and values of earlier tokens are kept in a cache, so each new token
/// costs one token's forward pass.
///
/// # Errors
/// When a kernel fails or memory runs out.
pub fn generate(
    engine: &mut Engine,
    prompt: &[u32],
    count: usize,
    end: Option<u32>,
    sampling: &Sampling,
) -> Result<Vec<u32>, TensorError> {
    let mut made: Vec<u32> = Vec::new();
    let Some(last_prompt) = prompt.len().checked_sub(1) else {
        return Ok(made);
    };
    let max_len = (prompt.len() + count).next_multiple_of(64);
    let precision = engine.step.precision;
    let mut read = None;
    if last_prompt > 0 {
        let mut program =
            engine.compile(decode(&engine.model, precision, prompt.len(), max_len)?)?;
        read = Some(run(engine, &mut program, prompt, 0)?);
    }
    let mut program = engine.compile(decode(&engine.model, precision, 1, max_len)?)?;
    let stream = Philox::new(sampling.seed).stream(0, scope_hash("sample"));
    for index in 0..count {
        let logits = match read.take() {
            Some(logits) => logits,
            None => {
                let token = made.last().copied().unwrap_or(prompt[last_prompt]);
                run(engine, &mut program, &[token], last_prompt + index)?
            }
        };
        let token = choose(&logits, sampling, stream.uniform(index as u64));
        made.push(token);
        if Some(token) == end {
            break;
        }
    }
    Ok(made)
}

/// Logits after `tokens`, which follow `position` earlier ones.
fn run(
    engine: &mut Engine,
    program: &mut cairn_tensor::Program,
    tokens: &[u32],
    position: usize,
) -> Result<Vec<f32>, TensorError> {
    let tokens: Vec<i32> = tokens.iter().map(|token| token.cast_signed()).collect();
    // The training batch has another shape: what was there is put back after.
    let kept = engine.store.ty("tokens").cloned();
    engine
        .store
        .insert("tokens", HostTensor::new([1, tokens.len()], &tokens)?);
    engine
        .store
        .insert("position", HostTensor::new([], &[position as i32])?);
    let states: Vec<(String, TensorType)> = {
        let graph = program.graph();
        graph
            .leaves("state")
            .map(|(name, value)| (name.to_owned(), graph.ty(value).clone()))
            .collect()
    };
    for (name, ty) in states {
        engine.store.ensure(&name, &ty)?;
    }
    program.run(&mut engine.store, &engine.pool)?;
    let logits = program
        .output(&engine.store, "logits")?
        .as_slice::<f32>()?
        .to_vec();
    if let Some(ty) = kept {
        engine.store.insert("tokens", HostTensor::zeros(ty)?);
    }
    Ok(logits)
}

/// The chosen token for a uniform number in `0..1`.
fn choose(logits: &[f32], sampling: &Sampling, uniform: f32) -> u32 {
    let mut order: Vec<usize> = (0..logits.len()).collect();
    // Likeliest first; ties by index, so that the order is total.
    order.sort_by(|a, b| logits[*b].total_cmp(&logits[*a]).then(a.cmp(b)));
    if sampling.temperature <= 0.0 {
        return order.first().map_or(0, |token| *token as u32);
    }
    order.truncate(sampling.top_k.unwrap_or(order.len()).max(1));
    let top = f64::from(order.first().map_or(0.0, |token| logits[*token]));
    let weights: Vec<f64> = order
        .iter()
        .map(|token| ((f64::from(logits[*token]) - top) / sampling.temperature).exp())
        .collect();
    let mut left = f64::from(uniform) * weights.iter().sum::<f64>();
    for (token, weight) in order.iter().zip(&weights) {
        left -= weight;
        if left < 0.0 {
            return *token as u32;
        }
    }
    order.last().map_or(0, |token| *token as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampling(temperature: f64, top_k: Option<usize>) -> Sampling {
        Sampling {
            temperature,
            top_k,
            seed: 0,
        }
    }

    #[test]
    fn zero_temperature_takes_the_likeliest() {
        assert_eq!(choose(&[0.0, 3.0, 1.0], &sampling(0.0, None), 0.99), 1);
        assert_eq!(choose(&[2.0, 2.0], &sampling(0.0, None), 0.99), 0);
    }

    #[test]
    fn draws_follow_the_softmax() {
        let logits = [0.0, 2.0_f32.ln(), 5.0_f32.ln()];
        let mut counts = [0; 3];
        for index in 0..8000 {
            let uniform = (index as f32 + 0.5) / 8000.0;
            counts[choose(&logits, &sampling(1.0, None), uniform) as usize] += 1;
        }
        assert_eq!(counts, [1000, 2000, 5000]);
    }

    #[test]
    fn top_k_leaves_out_the_rest() {
        let logits = [0.0, 1.0, 2.0];
        for index in 0..100 {
            assert_ne!(
                choose(&logits, &sampling(1.0, Some(2)), index as f32 / 100.0),
                0
            );
        }
    }
}
