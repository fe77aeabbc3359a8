//! What only those know to whom the address was given.

use anyhow::{Result, anyhow};
use std::fmt;

/// 128 bits of the system's randomness in hexadecimal digits, new in every run.
pub(crate) struct Token(String);

impl Token {
    pub(crate) fn random() -> Result<Self> {
        let mut bits = [0; 16];
        getrandom::fill(&mut bits).map_err(|e| anyhow!("the system has no random numbers: {e}"))?;
        Ok(Self(bits.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// Takes the same time however much of a guess is right.
    pub(super) fn is(&self, guess: &str) -> bool {
        let differ = self.0.bytes().zip(guess.bytes()).fold(0, |differ, (a, b)| differ | (a ^ b));
        self.0.len() == guess.len() && std::hint::black_box(differ) == 0
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_token_is_the_token() {
        let (token, other) = (Token::random().unwrap(), Token::random().unwrap());
        let text = token.to_string();
        assert_eq!(text.len(), 32);
        assert!(text.bytes().all(|b| b.is_ascii_hexdigit()));
        assert!(token.is(&text) && !token.is(&other.to_string()));
        for wrong in ["", &text[1..], &format!("{text}0"), &format!("{}x", &text[..31])] {
            assert!(!token.is(wrong), "{wrong}");
        }
    }
}
