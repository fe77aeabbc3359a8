/// Sets that are joined. The root of a set is its lowest member, whatever the order of joins.
#[derive(Debug, Clone)]
pub(crate) struct Union {
    parent: Vec<u32>,
}

impl Union {
    pub(crate) fn new(count: usize) -> Self {
        Self { parent: (0..count as u32).collect() }
    }

    pub(crate) fn root(&mut self, mut item: u32) -> u32 {
        while self.parent[item as usize] != item {
            let above = self.parent[self.parent[item as usize] as usize];
            self.parent[item as usize] = above;
            item = above;
        }
        item
    }

    pub(crate) fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b) as usize] = a.min(b);
    }
}
