//! Rows of tokens ↔ the packed form in which attention reads queries: H × blocks × d_h × lanes.
//!
//! Element c of head h of row m lies at `((h·blocks + m / lanes)·d_h + c)·lanes + m % lanes`.

/// Sizes of a packed array.
#[derive(Clone, Copy, Debug)]
pub struct Packing {
    /// Heads H.
    pub n_heads: usize,
    /// Width of one head d_h.
    pub d_head: usize,
    /// Queries per block, the lanes of a vector.
    pub lanes: usize,
    /// Rows M.
    pub n_rows: usize,
}

impl Packing {
    /// Blocks per head.
    pub fn n_blocks(&self) -> usize {
        self.n_rows.div_ceil(self.lanes)
    }

    /// Length of an array with one value per query and head: H × blocks × lanes.
    pub fn statistics_len(&self) -> usize {
        self.n_heads * self.n_blocks() * self.lanes
    }

    /// Length of a packed array.
    pub fn len(&self) -> usize {
        self.statistics_len() * self.d_head
    }

    /// Place of element 0 of head `h` of row `m`; element c is `c · lanes` further.
    fn place(&self, h: usize, m: usize) -> usize {
        (h * self.n_blocks() + m / self.lanes) * self.d_head * self.lanes + m % self.lanes
    }

    /// rows (M×d) × `scale` → packed, unused lanes 0.
    pub fn pack(&self, rows: &[f32], scale: f32, packed: &mut [f32]) {
        packed.fill(0.0);
        for (m, row) in rows.chunks_exact(self.n_heads * self.d_head).enumerate() {
            for (h, head) in row.chunks_exact(self.d_head).enumerate() {
                let to = &mut packed[self.place(h, m)..];
                for (c, &x) in head.iter().enumerate() {
                    to[c * self.lanes] = scale * x;
                }
            }
        }
    }

    /// packed × `scale` → rows (M×d).
    pub fn unpack(&self, packed: &[f32], scale: f32, rows: &mut [f32]) {
        for (m, row) in rows.chunks_exact_mut(self.n_heads * self.d_head).enumerate() {
            for (h, head) in row.chunks_exact_mut(self.d_head).enumerate() {
                let from = &packed[self.place(h, m)..];
                for (c, x) in head.iter_mut().enumerate() {
                    *x = scale * from[c * self.lanes];
                }
            }
        }
    }
}
