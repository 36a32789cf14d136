//! The crate zip as a peer of `cargo xtask peers zip-interop`:
//! `zip-peer extract FILE DIRECTORY`, `print FILE` or `write DIRECTORY FILE METHOD`.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::Path;

use zip::read::ZipFile;
use zip::result::ZipResult;
use zip::write::SimpleFileOptions;
use zip::{AesMode, CompressionMethod, ZipArchive, ZipWriter};

const PASSWORD: &str = "right";

/// One entry, whether it is encrypted or not.
fn entry<R: Read + Seek>(archive: &mut ZipArchive<R>, index: usize) -> ZipResult<ZipFile<'_, R>> {
    let encrypted = archive.by_index_raw(index)?.encrypted();
    match encrypted {
        true => archive.by_index_decrypt(index, PASSWORD.as_bytes()),
        false => archive.by_index(index),
    }
}

fn read(path: &str, folder: Option<&Path>) -> ZipResult<()> {
    let mut archive = ZipArchive::new(BufReader::new(File::open(path)?))?;
    for index in 0..archive.len() {
        let mut entry = entry(&mut archive, index)?;
        let Some(folder) = folder else {
            io::copy(&mut entry, &mut io::stdout().lock())?;
            continue;
        };
        let name = entry.enclosed_name().expect("a name that stays inside");
        let path = folder.join(name);
        if entry.is_dir() {
            std::fs::create_dir_all(path)?;
            continue;
        }
        std::fs::create_dir_all(path.parent().expect("it is inside"))?;
        let mut content = Vec::new();
        entry.read_to_end(&mut content)?;
        std::fs::write(path, content)?;
    }
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<String>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), files)?;
        } else if entry.file_type()?.is_file() {
            files.push(entry.path().to_str().expect("UTF-8").to_owned());
        }
    }
    Ok(())
}

fn write(folder: &str, path: &str, method: &str) -> ZipResult<()> {
    let mut files = Vec::new();
    collect(Path::new(folder), &mut files)?;
    files.sort();
    let compression = match method {
        "zstd" => CompressionMethod::Zstd,
        "bzip2" => CompressionMethod::Bzip2,
        "xz" => CompressionMethod::Xz,
        _ => CompressionMethod::Deflated,
    };
    let options = SimpleFileOptions::default().compression_method(compression);
    let mut writer = ZipWriter::new(BufWriter::new(File::create(path)?));
    for name in files {
        let options = match method {
            "aes256" => options.with_aes_encryption(AesMode::Aes256, PASSWORD),
            _ => options,
        };
        writer.start_file(&name, options)?;
        writer.write_all(&std::fs::read(&name)?)?;
    }
    writer.finish()?.flush()?;
    Ok(())
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["extract", file, folder] => read(file, Some(Path::new(folder))),
        ["print", file] => read(file, None),
        ["write", folder, file, method] => write(folder, file, method),
        _ => panic!("zip-peer extract FILE DIRECTORY | print FILE | write DIRECTORY FILE METHOD"),
    };
    if let Err(error) = done {
        eprintln!("{error}");
        std::process::exit(1);
    }
}
