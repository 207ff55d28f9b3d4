//! Objects of an HDF5 file: the messages of an object header, and the members of a group.
//!
//! Object headers of versions 1 and 2; groups with symbol tables or with links in their header. Not
//! read: groups that keep their links in a heap (written when asked for the latest format and there
//! are many).

use super::file::{Fields, File, UNDEFINED};
use crate::error::Result;

const OBJECT: &str = "object header";
const GROUP: &str = "group";

/// Kinds of messages.
pub(super) mod kind {
    pub const DATASPACE: u64 = 0x01;
    pub const LINK_INFO: u64 = 0x02;
    pub const DATATYPE: u64 = 0x03;
    pub const LINK: u64 = 0x06;
    pub const LAYOUT: u64 = 0x08;
    pub const FILTERS: u64 = 0x0b;
    pub const ATTRIBUTE: u64 = 0x0c;
    pub const CONTINUATION: u64 = 0x10;
    pub const SYMBOL_TABLE: u64 = 0x11;
}

/// One message of an object header.
pub(super) struct Message {
    pub kind: u64,
    pub shared: bool,
    pub bytes: Vec<u8>,
}

/// The messages of the object at an address.
pub(super) fn messages(file: &mut File, address: u64) -> Result<Vec<Message>> {
    let start = file.bytes(address, 16, OBJECT)?;
    let mut found = Vec::new();
    let mut blocks: Vec<(u64, u64)> = Vec::new();
    if start.starts_with(b"OHDR") {
        let flags = u64::from(start[5]);
        let before =
            6 + if flags & 0x20 != 0 { 16 } else { 0 } + if flags & 0x10 != 0 { 4 } else { 0 };
        let width = 1 << (flags & 3);
        let size = file.bytes(address.saturating_add(before), width, OBJECT)?;
        let size = Fields::new(&size).number(width as usize).unwrap_or(0);
        blocks.push((address.saturating_add(before + width), size));
        while let Some((at, size)) = blocks.pop() {
            let bytes = file.bytes(at, size, OBJECT)?;
            parse(file, &bytes, Some(flags), &mut found, &mut blocks)?;
        }
    } else if start[0] == 1 {
        let size = Fields::new(&start[8..]).number(4).unwrap_or(0);
        blocks.push((address.saturating_add(16), size));
        while let Some((at, size)) = blocks.pop() {
            let bytes = file.bytes(at, size, OBJECT)?;
            parse(file, &bytes, None, &mut found, &mut blocks)?;
        }
    } else {
        return Err(file.damaged(OBJECT, "version 1 or 2", format!("version {}", start[0])));
    }
    Ok(found)
}

/// Messages of one block; `flags` are those of a header of version 2.
fn parse(
    file: &File,
    bytes: &[u8],
    flags: Option<u64>,
    found: &mut Vec<Message>,
    blocks: &mut Vec<(u64, u64)>,
) -> Result<()> {
    let mut fields = Fields::new(bytes);
    loop {
        let head = match flags {
            None => (|| {
                let head = (fields.number(2)?, fields.number(2)?, fields.number(1)?);
                fields.take(3)?;
                Some(head)
            })(),
            Some(flags) => (|| {
                let head = (fields.number(1)?, fields.number(2)?, fields.number(1)?);
                if flags & 0x04 != 0 {
                    fields.take(2)?;
                }
                Some(head)
            })(),
        };
        let Some((kind, size, message_flags)) = head else {
            return Ok(());
        };
        let Some(bytes) = fields.take(size as usize) else {
            // Version 2 may leave a gap at the end that is too small for a message.
            return match flags {
                Some(_) => Ok(()),
                None => {
                    Err(file.damaged(OBJECT, "messages inside their header", "one that is longer"))
                }
            };
        };
        if kind == kind::CONTINUATION {
            let mut fields = Fields::new(bytes);
            let place = fields.number(8).zip(fields.number(8));
            let (mut at, mut size) = place.ok_or_else(|| {
                file.damaged(OBJECT, "the place of a continuation", "fewer bytes")
            })?;
            if flags.is_some() {
                // A signature before the messages, a checksum after them.
                (at, size) = (at.saturating_add(4), size.saturating_sub(8));
            }
            blocks.push((at, size));
            continue;
        }
        found.push(Message {
            kind,
            shared: message_flags & 0x02 != 0,
            bytes: bytes.to_vec(),
        });
    }
}

/// Names and addresses of the members of a group; `None` when the object is no group.
pub(super) fn members(file: &mut File, messages: &[Message]) -> Result<Option<Vec<(String, u64)>>> {
    let mut found = Vec::new();
    let mut is_group = false;
    for message in messages {
        let mut fields = Fields::new(&message.bytes);
        match message.kind {
            kind::SYMBOL_TABLE => {
                is_group = true;
                let place = fields.number(8).zip(fields.number(8));
                let (tree, heap) =
                    place.ok_or_else(|| file.damaged(GROUP, "a symbol table", "fewer bytes"))?;
                let names = local_heap(file, heap)?;
                symbols(file, tree, u64::MAX, &names, &mut found)?;
            }
            kind::LINK => {
                is_group = true;
                found.extend(link(&message.bytes));
            }
            kind::LINK_INFO => {
                is_group = true;
                let flags = fields.take(1).and_then(|_| fields.number(1)).unwrap_or(0);
                if flags & 1 != 0 {
                    fields.take(8);
                }
                if fields.number(8).is_some_and(|heap| heap != UNDEFINED) {
                    return Err(file.unsupported(
                        GROUP,
                        "links in the header of the group",
                        "links in a heap",
                    ));
                }
            }
            _ => {}
        }
    }
    Ok(is_group.then_some(found))
}

fn local_heap(file: &mut File, address: u64) -> Result<Vec<u8>> {
    let head = file.bytes(address, 32, GROUP)?;
    if !head.starts_with(b"HEAP") {
        return Err(file.damaged(GROUP, "a heap of names", "other bytes"));
    }
    let mut fields = Fields::new(&head[8..]);
    let size = fields.number(8).unwrap_or(0);
    let at = fields
        .take(8)
        .and_then(|_| fields.number(8))
        .unwrap_or(UNDEFINED);
    file.bytes(at, size, "names of a group")
}

/// Walks the tree of symbol tables; `level_above` is that of the node above.
fn symbols(
    file: &mut File,
    address: u64,
    level_above: u64,
    names: &[u8],
    found: &mut Vec<(String, u64)>,
) -> Result<()> {
    let (level, entries) = node(file, address, level_above, 0, 8)?;
    let mut fields = Fields::new(&entries);
    let mut children = Vec::new();
    while let Some(child) = fields.take(8).and_then(|_| fields.number(8)) {
        children.push(child);
    }
    for child in children {
        if level > 0 {
            symbols(file, child, level, names, found)?;
            continue;
        }
        let head = file.bytes(child, 8, GROUP)?;
        if !head.starts_with(b"SNOD") {
            return Err(file.damaged(GROUP, "a table of symbols", "other bytes"));
        }
        let count = u64::from(u16::from_le_bytes([head[6], head[7]]));
        let entries = file.bytes(child.saturating_add(8), 40 * count, GROUP)?;
        for entry in entries.chunks_exact(40) {
            let mut fields = Fields::new(entry);
            let place = fields.number(8).zip(fields.number(8));
            let name = place.and_then(|(name, _)| names.get(usize::try_from(name).ok()?..));
            if let (Some((_, object)), Some(name)) = (place, name) {
                found.push((until_zero(name), object));
            }
        }
    }
    Ok(())
}

/// Level and entries (key, child, key, child, …) of a node of a version 1 tree.
pub(super) fn node(
    file: &mut File,
    address: u64,
    level_above: u64,
    expected_kind: u8,
    key_size: u64,
) -> Result<(u64, Vec<u8>)> {
    const TREE: &str = "B-tree";
    let head = file.bytes(address, 24, TREE)?;
    let level = u64::from(head[5]);
    if !head.starts_with(b"TREE") || head[4] != expected_kind {
        return Err(file.damaged(TREE, "a node", "other bytes"));
    }
    if level >= level_above {
        return Err(file.damaged(
            TREE,
            "levels that fall",
            format!("level {level} below {level_above}"),
        ));
    }
    let count = u64::from(u16::from_le_bytes([head[6], head[7]]));
    let entries = file.bytes(address.saturating_add(24), count * (key_size + 8), TREE)?;
    Ok((level, entries))
}

/// A hard link of a link message.
fn link(bytes: &[u8]) -> Option<(String, u64)> {
    let mut fields = Fields::new(bytes);
    fields.take(1)?;
    let flags = fields.number(1)?;
    let is_hard = match flags & 0x08 {
        0 => true,
        _ => fields.number(1)? == 0,
    };
    if flags & 0x04 != 0 {
        fields.take(8)?;
    }
    if flags & 0x10 != 0 {
        fields.take(1)?;
    }
    let length = fields.number(1 << (flags & 3))?;
    let name = fields.take(usize::try_from(length).ok()?)?;
    let address = fields.number(8)?;
    is_hard.then(|| (String::from_utf8_lossy(name).into_owned(), address))
}

pub(super) fn until_zero(bytes: &[u8]) -> String {
    let end = bytes
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}
