// Java's ZipFile and ZipInputStream as readers of contradictions; read.py says what they print.
// java Read.java file|stream FOLDER

import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import java.util.stream.*;
import java.util.zip.*;

class Read {
    static void show(ZipEntry entry, InputStream content) throws IOException {
        CRC32 sum = new CRC32();
        sum.update(content.readAllBytes());
        StringBuilder name = new StringBuilder();
        for (byte one : entry.getName().getBytes(StandardCharsets.UTF_8)) name.append(String.format("%02x", one));
        if (name.length() == 0) name.append('-');
        System.out.printf("%s %s %08x%n", name, entry.isDirectory() ? "d" : "?", sum.getValue());
    }

    public static void main(String[] words) throws IOException {
        List<Path> paths;
        try (Stream<Path> all = Files.list(Path.of(words[1]))) {
            paths = all.sorted().collect(Collectors.toList());
        }
        for (Path path : paths) {
            System.out.println("= " + path.getFileName());
            try {
                if (words[0].equals("stream")) {
                    try (ZipInputStream archive = new ZipInputStream(Files.newInputStream(path))) {
                        int count = 0;
                        for (ZipEntry entry; (entry = archive.getNextEntry()) != null; count++) show(entry, archive);
                        if (count == 0) throw new IOException("no entries");
                    }
                } else {
                    try (ZipFile archive = new ZipFile(path.toFile())) {
                        for (ZipEntry entry : Collections.list(archive.entries())) {
                            try (InputStream content = archive.getInputStream(entry)) {
                                show(entry, content);
                            }
                        }
                    }
                }
                System.out.println("ok");
            } catch (Exception error) {
                System.out.println("refused");
            }
        }
    }
}
