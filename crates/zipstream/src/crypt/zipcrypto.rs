//! ZipCrypto, the cipher of the first ZIP programs. It is broken, so it is read and never written.

/// Bytes before the content; the last of them checks the password.
pub(crate) const HEADER_BYTES: usize = 12;

/// Three keys, updated with every byte.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Keys([u32; 3]);

/// CRC-32 of single bytes.
const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut at = 0;
    while at < 256 {
        let mut sum = at as u32;
        let mut bit = 0;
        while bit < 8 {
            sum = (sum >> 1) ^ if sum & 1 == 1 { 0xedb8_8320 } else { 0 };
            bit += 1;
        }
        table[at] = sum;
        at += 1;
    }
    table
};

fn crc(sum: u32, byte: u8) -> u32 {
    (sum >> 8) ^ TABLE[((sum ^ u32::from(byte)) & 0xff) as usize]
}

impl Keys {
    pub(crate) fn new(password: &[u8]) -> Self {
        let mut keys = Self([0x1234_5678, 0x2345_6789, 0x3456_7890]);
        password.iter().for_each(|byte| keys.update(*byte));
        keys
    }

    fn update(&mut self, byte: u8) {
        let [a, b, c] = &mut self.0;
        *a = crc(*a, byte);
        let sum = b.wrapping_add(*a & 0xff);
        *b = sum.wrapping_mul(134_775_813).wrapping_add(1);
        *c = crc(*c, (*b >> 24) as u8);
    }

    /// Decrypts in place.
    pub(crate) fn decrypt(&mut self, data: &mut [u8]) {
        for byte in data {
            let key = (self.0[2] | 2) as u16;
            *byte ^= (key.wrapping_mul(key ^ 1) >> 8) as u8;
            self.update(*byte);
        }
    }

    #[cfg(test)]
    pub(crate) fn encrypt(&mut self, data: &mut [u8]) {
        for byte in data {
            let key = (self.0[2] | 2) as u16;
            let plain = *byte;
            *byte ^= (key.wrapping_mul(key ^ 1) >> 8) as u8;
            self.update(plain);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encrypted_is_decrypted() {
        let mut data = *b"some content";
        Keys::new(b"pass").encrypt(&mut data);
        assert_ne!(&data, b"some content");
        let mut keys = Keys::new(b"pass");
        keys.decrypt(&mut data[..5]);
        keys.decrypt(&mut data[5..]);
        assert_eq!(&data, b"some content");
    }
}
