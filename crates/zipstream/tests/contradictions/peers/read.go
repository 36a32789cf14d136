// Go's archive/zip as a reader of contradictions; read.py says what it prints.
package main

import (
	"archive/zip"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
)

func show(path string) error {
	reader, err := zip.OpenReader(path)
	if err != nil {
		return err
	}
	defer reader.Close()
	for _, file := range reader.File {
		content, err := file.Open()
		if err != nil {
			return err
		}
		bytes, err := io.ReadAll(content)
		if err != nil {
			return err
		}
		kind := "?"
		if file.FileInfo().IsDir() {
			kind = "d"
		}
		name := fmt.Sprintf("%x", file.Name)
		if name == "" {
			name = "-"
		}
		fmt.Printf("%s %s %08x\n", name, kind, crc32.ChecksumIEEE(bytes))
	}
	return nil
}

func main() {
	files, _ := os.ReadDir(os.Args[1])
	for _, file := range files {
		fmt.Println("=", file.Name())
		if err := show(filepath.Join(os.Args[1], file.Name())); err != nil {
			fmt.Println("refused")
		} else {
			fmt.Println("ok")
		}
	}
}
