// Java's readers and writer as peers of `cargo xtask peers zip-interop`.
//
// java Peer.java stream|file extract FILE DIRECTORY | stream|file print FILE | stream write DIRECTORY
//
// `stream` is ZipInputStream over standard input, and ZipOutputStream onto standard output; `file` is
// ZipFile.

import java.io.*;
import java.nio.file.*;
import java.util.*;
import java.util.stream.*;
import java.util.zip.*;

class Peer {
    static void place(ZipEntry entry, InputStream content, Path folder) throws IOException {
        if (folder == null) {
            content.transferTo(System.out);
            return;
        }
        Path path = folder.resolve(entry.getName()).normalize();
        if (!path.startsWith(folder)) throw new IOException("leads out: " + entry.getName());
        if (entry.isDirectory()) {
            Files.createDirectories(path);
            return;
        }
        Files.createDirectories(path.getParent());
        Files.copy(content, path);
    }

    static void write(String folder) throws IOException {
        List<Path> paths;
        try (Stream<Path> walk = Files.walk(Path.of(folder))) {
            paths = walk.filter(Files::isRegularFile).sorted().collect(Collectors.toList());
        }
        try (ZipOutputStream out = new ZipOutputStream(System.out)) {
            for (Path path : paths) {
                out.putNextEntry(new ZipEntry(path.toString()));
                Files.copy(path, out);
                out.closeEntry();
            }
        }
    }

    public static void main(String[] words) throws IOException {
        if (words[1].equals("write")) {
            write(words[2]);
            return;
        }
        Path folder = words[1].equals("extract") ? Path.of(words[3]) : null;
        if (words[0].equals("stream")) {
            InputStream input = new BufferedInputStream(System.in, 1 << 16);
            try (ZipInputStream archive = new ZipInputStream(input)) {
                int count = 0;
                for (ZipEntry entry; (entry = archive.getNextEntry()) != null; count++) {
                    place(entry, archive, folder);
                }
                if (count == 0) throw new IOException("no entries");
            }
        } else {
            try (ZipFile archive = new ZipFile(words[2])) {
                for (ZipEntry entry : Collections.list(archive.entries())) {
                    place(entry, archive.getInputStream(entry), folder);
                }
            }
        }
        System.out.flush();
    }
}
