// Go's archive/zip as a peer of `cargo xtask peers zip-interop`:
// peer extract FILE DIRECTORY | print FILE | write DIRECTORY (onto standard output)
package main

import (
	"archive/zip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func place(file *zip.File, folder string) {
	path := filepath.Join(folder, filepath.FromSlash(file.Name))
	if file.FileInfo().IsDir() {
		must(os.MkdirAll(path, 0o755))
		return
	}
	must(os.MkdirAll(filepath.Dir(path), 0o755))
	content, err := file.Open()
	must(err)
	out, err := os.Create(path)
	must(err)
	_, err = io.Copy(out, content)
	must(err)
	must(out.Close())
}

func write(folder string) {
	writer := zip.NewWriter(os.Stdout)
	must(filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		out, err := writer.Create(filepath.ToSlash(path))
		must(err)
		file, err := os.Open(path)
		must(err)
		_, err = io.Copy(out, file)
		must(err)
		return file.Close()
	}))
	must(writer.Close())
}

func main() {
	verb := os.Args[1]
	if verb == "write" {
		write(os.Args[2])
		return
	}
	reader, err := zip.OpenReader(os.Args[2])
	must(err)
	for _, file := range reader.File {
		if verb == "extract" {
			place(file, os.Args[3])
			continue
		}
		content, err := file.Open()
		must(err)
		_, err = io.Copy(os.Stdout, content)
		must(err)
	}
}
