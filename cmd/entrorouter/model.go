// The command model: language models as files.

package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/entrorouter/entrorouter/harness/gguf"
	"github.com/entrorouter/entrorouter/harness/gguf/convert"
)

func modelCommand() *cli.Command {
	return &cli.Command{
		Name:      "model",
		Usage:     "make a Hugging Face folder from a GGUF file",
		ArgsUsage: "import FILE.gguf",
		Description: "Reads a Llama or Qwen3 model in F32, F16, BF16, Q8_0, Q4_0 or Q4_1 and writes a folder that this program\n" +
			"and transformers load: config.json, model.safetensors, the tokenizer, the chat template. If anything in the\n" +
			"file is not understood, an error names it.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "out", Usage: "write the folder `DIR`, which must be empty or not there yet; by default it is the name of the file without .gguf"},
			dtypeFlag(),
		},
		Action: func(c *cli.Context) error {
			if c.Args().First() != "import" || c.Args().Len() != 2 {
				return usageError{errors.New("model takes import and one FILE.gguf")}
			}
			path := c.Args().Get(1)
			dtype, err := dtypeOf(c)
			if err != nil {
				return err
			}
			dir := c.String("out")
			if dir == "" {
				if dir = strings.TrimSuffix(path, ".gguf"); dir == path {
					return usageError{fmt.Errorf("%s does not end in .gguf: say with --out which folder to write", path)}
				}
			}
			file, err := gguf.Open(path)
			if err != nil {
				return err
			}
			defer file.Close()
			made, err := convert.Folder(file, dir, dtype)
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			fmt.Fprintf(c.App.Writer, "%s: %s model of %d weights as %s, %d tokens\n", dir, made.Architecture, made.Weights, c.String("dtype"), made.Tokens)
			return nil
		},
	}
}
