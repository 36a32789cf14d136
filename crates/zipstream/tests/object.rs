//! Archives in object stores: whole or not at all, never over another one, and never of two versions.

use std::sync::Arc;

use object_store::memory::InMemory;
use object_store::{ObjectStoreExt as _, PutPayload};
use tokio::io::AsyncWriteExt as _;
use zipstream::combine::{Combination, CombineOptions};
use zipstream::object::{
    Create, Object, ObjectError, ObjectReader, ObjectWriter, Parts, Path, UploadOptions, combine,
};
use zipstream::tokio::{AsyncArchiveReader, AsyncArchiveWriter};
use zipstream::{EntryOptions, Method, ReadOptions};

use crate::common::sample;

fn store() -> Arc<InMemory> {
    Arc::new(InMemory::new())
}

fn object(store: &Arc<InMemory>, path: &str) -> Object {
    Object::new(Arc::clone(store) as Arc<_>, path)
}

/// Small parts, so that few bytes make several.
fn small() -> UploadOptions {
    UploadOptions::default()
        .part_bytes(10_000)
        .parts_in_flight(2)
}

async fn paths(store: &InMemory) -> Vec<String> {
    let listed = object_store::ObjectStore::list_with_delimiter(store, None).await;
    let objects = listed.expect("listed").objects;
    objects
        .iter()
        .map(|meta| meta.location.to_string())
        .collect()
}

async fn content(store: &InMemory, path: &str) -> Vec<u8> {
    let got = store.get(&Path::from(path)).await.expect("there");
    got.bytes().await.expect("read").to_vec()
}

async fn write(object: Object, names: &[&str], bytes: usize) {
    let mut writer = AsyncArchiveWriter::new(ObjectWriter::new(object, small()));
    for name in names {
        let options = EntryOptions::new(Method::Deflate).size_hint(bytes as u64);
        let content = sample(name.len() as u32, bytes);
        writer
            .add(name, &options, &mut &content[..])
            .await
            .expect("added");
    }
    let (writer, totals) = writer.finish().await.expect("finished");
    let uploaded = writer.complete().await.expect("complete");
    assert_eq!(uploaded.sent_bytes, totals.archive_bytes);
}

#[tokio::test]
async fn an_archive_goes_in_parts_and_one_entry_is_read_of_it() {
    let store = store();
    write(object(&store, "a.zip"), &["a", "bb", "ccc"], 2_000_000).await;
    let reader = ObjectReader::open(object(&store, "a.zip"))
        .await
        .expect("there");
    let size = reader.size();
    let mut reader = AsyncArchiveReader::open(reader).await.expect("opened");
    let directory = reader.directory();
    let entry = directory.find("bb").expect("found").expect("there");
    assert!(reader.read(&entry).await.expect("read") == sample(2, 2_000_000));
    let fetched = reader.into_source().fetched_bytes();
    // A store in memory, which answers at once, is read in pieces, and so a little ahead.
    assert!(fetched < size * 3 / 4, "{fetched} of {size}");
}

#[tokio::test]
async fn nothing_is_replaced_that_must_not_be() {
    for bytes in [100, 55_000] {
        let store = store();
        let create = small().create(Create::IfAbsent);
        let mut first = ObjectWriter::new(object(&store, "o"), create);
        let mut second = ObjectWriter::new(object(&store, "o"), create);
        first.write_all(&sample(1, bytes)).await.expect("taken");
        second.write_all(&sample(2, bytes)).await.expect("taken");
        first.complete().await.expect("it is the first");
        let refused = second.complete().await;
        assert!(matches!(refused, Err(ObjectError::Exists)), "{refused:?}");
        assert_eq!(paths(&store).await, ["o"]);
        assert!(content(&store, "o").await == sample(1, bytes));
        // Unless it may be.
        let mut third = ObjectWriter::new(object(&store, "o"), small());
        third.write_all(b"third").await.expect("taken");
        third.shutdown().await.expect("complete");
        assert_eq!(content(&store, "o").await, b"third");
    }
}

#[tokio::test]
async fn what_is_given_up_leaves_nothing() {
    let store = store();
    for create in [Create::Replace, Create::IfAbsent] {
        let mut writer = ObjectWriter::new(object(&store, "o"), small().create(create));
        writer.write_all(&sample(1, 55_000)).await.expect("taken");
        drop(writer);
        let mut writer = ObjectWriter::new(object(&store, "o"), small().create(create));
        writer.write_all(&sample(1, 55_000)).await.expect("taken");
        writer.abort().await;
    }
    assert!(paths(&store).await.is_empty());
}

#[tokio::test]
async fn nothing_is_taken_after_the_end() {
    let store = store();
    let mut writer = ObjectWriter::new(object(&store, "o"), small());
    writer.write_all(b"content").await.expect("taken");
    writer.shutdown().await.expect("complete");
    writer.shutdown().await.expect("once is enough");
    let error = writer.write_all(b"more").await.expect_err("it has ended");
    assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
}

#[tokio::test]
async fn a_replaced_object_is_no_mixture() {
    let store = store();
    write(object(&store, "a.zip"), &["a", "bb"], 2_000_000).await;
    let reader = ObjectReader::open(object(&store, "a.zip"))
        .await
        .expect("there");
    let mut reader = AsyncArchiveReader::open(reader).await.expect("opened");
    let other = PutPayload::from(vec![0; 5_000_000]);
    store
        .put(&Path::from("a.zip"), other)
        .await
        .expect("replaced");
    let directory = reader.directory();
    let entry = directory.find("a").expect("found").expect("there");
    let error = reader.read(&entry).await.expect_err("it is another one");
    assert!(
        error.to_string().contains("replaced while it was read"),
        "{error}"
    );
}

#[tokio::test]
async fn a_missing_object_is_not_found() {
    let missing = ObjectReader::open(object(&store(), "none")).await;
    let error = std::io::Error::from(missing.expect_err("missing"));
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
}

#[tokio::test]
async fn archives_are_merged_through_this_machine_where_the_store_cannot() {
    let store = store();
    let mut combination = Combination::new(CombineOptions::default());
    let mut sources = Vec::new();
    for number in 0..20 {
        let path = format!("{number}.zip");
        let name = format!("entry {number}");
        write(object(&store, &path), &[&name], 30_000).await;
        let reader = ObjectReader::open(object(&store, &path))
            .await
            .expect("there");
        let archive = AsyncArchiveReader::open(reader).await.expect("opened");
        combination.add(archive.directory()).expect("added");
        sources.push(archive.into_source());
    }
    let new = combination.finish().expect("planned");
    let create = small().create(Create::IfAbsent);
    let mut parts = Parts::new(object(&store, "merged.zip"), create);
    let uploaded = combine(&new[0], &sources, &mut parts)
        .await
        .expect("merged");
    assert_eq!(uploaded.sent_bytes, new[0].totals().archive_bytes);
    assert_eq!(uploaded.copied_bytes, 0);
    let merged = ObjectReader::open(object(&store, "merged.zip"))
        .await
        .expect("there");
    let strict = ReadOptions::strict();
    let mut merged = AsyncArchiveReader::open_with(merged, &strict)
        .await
        .expect("strict");
    let directory = merged.directory();
    let entry = directory.find("entry 7").expect("found").expect("there");
    assert!(merged.read(&entry).await.expect("read") == sample(7, 30_000));
    assert_eq!(merged.len(), 20);
}
