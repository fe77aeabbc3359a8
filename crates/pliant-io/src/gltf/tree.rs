//! The node tree: parents, depths, and whether it is a tree at all.

use super::schema::Root;
use crate::Problem;
use std::ops::Range;

/// Parents and depths of the nodes.
pub(crate) struct Tree {
    pub(crate) parent: Vec<Option<usize>>,
    /// Steps to the topmost node; meaningless where there are problems.
    pub(crate) depth: Vec<usize>,
    /// All nodes, parents first, in the file's order of roots and children. Empty where there are problems.
    pub(crate) order: Vec<usize>,
    /// The topmost node above each; empty where there are problems.
    top: Vec<usize>,
    /// Where in `order` a node and all under it are.
    span: Vec<Range<usize>>,
    /// Whether a scene shows the node.
    pub(crate) in_scene: Vec<bool>,
    pub(crate) problems: Vec<Problem>,
}

impl Tree {
    pub(crate) fn new(root: &Root<'_>) -> Self {
        let count = root.nodes.len();
        let mut parent = vec![None; count];
        let mut problems = Vec::new();
        for (i, node) in root.nodes.iter().enumerate() {
            for (k, child) in node.children.iter().enumerate() {
                let place = || format!("nodes[{i}].children[{k}]");
                match parent.get_mut(child.0) {
                    None => {
                        let what = format!("there is no node {}: the file has {count}", child.0);
                        problems.push(Problem::new(place(), what));
                    }
                    Some(slot @ None) => *slot = Some(i),
                    Some(Some(other)) => {
                        let what = format!("node {} has a parent already: node {other}", child.0);
                        problems.push(Problem::new(place(), what));
                    }
                }
            }
        }
        // Walks up from every node to one whose depth is known; coming back to the same walk is a loop.
        const UNKNOWN: usize = usize::MAX;
        let mut depth = vec![UNKNOWN; count];
        let mut walk_of = vec![UNKNOWN; count];
        for start in 0..count {
            let mut path = Vec::new();
            let mut at = start;
            let base = loop {
                if depth[at] != UNKNOWN {
                    break depth[at] + 1;
                }
                if walk_of[at] == start {
                    problems.push(Problem::new(format!("nodes[{at}]"), "is its own ancestor"));
                    break 0;
                }
                walk_of[at] = start;
                path.push(at);
                match parent[at] {
                    Some(up) => at = up,
                    None => break 0,
                }
            };
            for (k, &node) in path.iter().rev().enumerate() {
                depth[node] = base + k;
            }
        }
        let mut tree = Self {
            parent,
            depth,
            order: Vec::new(),
            top: Vec::new(),
            span: vec![0..0; count],
            in_scene: vec![false; count],
            problems,
        };
        if tree.problems.is_empty() {
            tree.number(root);
        }
        tree
    }

    /// Orders the nodes parents first, so that all that is under a node is one range.
    fn number(&mut self, root: &Root<'_>) {
        let mut stack: Vec<usize> =
            (0..self.parent.len()).rev().filter(|&n| self.parent[n].is_none()).collect();
        while let Some(node) = stack.pop() {
            self.span[node] = self.order.len()..self.order.len() + 1;
            self.order.push(node);
            stack.extend(root.nodes[node].children.iter().rev().map(|c| c.0));
        }
        self.top = (0..self.parent.len()).collect();
        for &node in &self.order {
            if let Some(parent) = self.parent[node] {
                self.top[node] = self.top[parent];
            }
        }
        for &node in self.order.iter().rev() {
            if let Some(parent) = self.parent[node] {
                self.span[parent].end = self.span[parent].end.max(self.span[node].end);
            }
        }
        for node in root.scenes.iter().flat_map(|s| s.nodes.iter()) {
            if let Some(mark) = self.in_scene.get_mut(node.0) {
                *mark = true;
            }
        }
        for &node in &self.order {
            self.in_scene[node] |= self.parent[node].is_some_and(|p| self.in_scene[p]);
        }
    }

    /// Whether `node` is `above` or under it.
    pub(crate) fn is_under(&self, node: usize, above: usize) -> bool {
        self.span[above].contains(&self.span[node].start)
    }

    /// A node and all under it, itself first. Nothing where there are problems.
    pub(crate) fn under(&self, node: usize) -> &[usize] {
        self.order.get(self.span[node].clone()).unwrap_or(&[])
    }

    /// Whether the nodes are all in one tree.
    pub(crate) fn are_together(&self, mut nodes: impl Iterator<Item = usize>) -> bool {
        let Some(first) = nodes.next() else { return true };
        nodes.all(|n| self.top[n] == self.top[first])
    }
}
