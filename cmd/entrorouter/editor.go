// The commands schema and completion: what editors and shells complete.

package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/entrorouter/entrorouter/experiments"
	"github.com/entrorouter/entrorouter/harness/imports"
	"github.com/entrorouter/entrorouter/harness/methods"
	"github.com/entrorouter/entrorouter/harness/present"
	"github.com/entrorouter/entrorouter/harness/spec"
)

// schemaKinds are the files that there is a schema of.
var schemaKinds = []string{"spec", "pool", "prices"}

func schemaCommand() *cli.Command {
	return &cli.Command{
		Name:      "schema",
		Usage:     "print the JSON Schema of specs, for editors",
		ArgsUsage: "[spec|pool|prices]",
		Description: "For editors that check YAML by a schema (yaml-language-server and what is built on it). The first line of a spec names the schema:\n\n" +
			"   # yaml-language-server: $schema=spec.schema.json\n\n" +
			"The schema has the names, types, ranges and meanings of knobs. 'entrorouter plan SPEC' also finds what a schema cannot say.",
		Action: func(c *cli.Context) error {
			if c.NArg() > 1 {
				return usageError{fmt.Errorf("schema takes at most one kind of file, got %d arguments; known: %s", c.NArg(), strings.Join(schemaKinds, ", "))}
			}
			kind := cmp.Or(c.Args().First(), "spec")
			s, err := schema(kind)
			if err != nil {
				return err
			}
			enc := jsonLines(c.App.Writer)
			enc.SetIndent("", "  ")
			return enc.Encode(s)
		},
	}
}

// schema is the schema of a kind of file.
func schema(kind string) (map[string]any, error) {
	known := spec.Known{Methods: methods.Kinds(), Outputs: present.Kinds()}
	switch kind {
	case "spec":
		return spec.Schema(spec.Experiment{}, known)
	case "pool":
		return spec.Schema(spec.Pool{}, known)
	case "prices":
		return spec.Schema(spec.Prices{}, known)
	}
	return nil, usageError{fmt.Errorf("there is no schema of %q%s", kind, spec.Options(kind, schemaKinds))}
}

var shells = []string{"bash", "zsh", "fish", "powershell"}

func completionCommand() *cli.Command {
	return &cli.Command{
		Name:      "completion",
		Usage:     "print a script that makes a shell complete commands, flags and specs",
		ArgsUsage: strings.Join(shells, "|"),
		Description: "   source <(entrorouter completion bash)       in ~/.bashrc; zsh alike, in ~/.zshrc\n" +
			"   entrorouter completion fish | source        in ~/.config/fish/config.fish\n" +
			"   entrorouter completion powershell | Out-String | Invoke-Expression        in the file $PROFILE",
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return usageError{fmt.Errorf("completion takes one shell, got %d arguments; known: %s", c.NArg(), strings.Join(shells, ", "))}
			}
			words, valued := wordsOf(c.App.Commands)
			switch shell := c.Args().First(); shell {
			case "bash":
				return writeBash(c.App.Writer, words, valued)
			case "zsh":
				if _, err := io.WriteString(c.App.Writer, "autoload -U +X compinit bashcompinit && compinit && bashcompinit\n"); err != nil {
					return err
				}
				return writeBash(c.App.Writer, words, valued)
			case "fish":
				return writeFish(c.App.Writer, c.App.Commands, words, valued)
			case "powershell":
				return writePowerShell(c.App.Writer, words, valued)
			default:
				return usageError{fmt.Errorf("there is no completion of %q%s", shell, spec.Options(shell, shells))}
			}
		},
	}
}

// wordsOf are, by command, the words that may follow it: flags, specs, and what else it takes one of. valued are the flags of all that a
// value follows.
func wordsOf(commands []*cli.Command) (words map[string][]string, valued []string) {
	words = map[string][]string{}
	for _, c := range commands {
		var of []string
		for _, f := range c.Flags {
			if f == cli.HelpFlag {
				continue // which the command that is running has
			}
			flag := "--" + f.Names()[0]
			of = append(of, flag)
			if _, alone := f.(*cli.BoolFlag); !alone {
				valued = appendNew(valued, flag)
			}
		}
		for arg := range strings.FieldsFuncSeq(c.ArgsUsage, func(r rune) bool { return strings.ContainsRune(" |[]", r) }) {
			one := []string{arg}
			switch strings.TrimSuffix(arg, "...") {
			case "SPEC":
				one = spec.Names(experiments.FS)
			case "FORMAT":
				one = nil
				for _, f := range imports.Formats() {
					one = append(one, f.Name)
				}
			}
			for _, word := range one {
				if word == strings.ToLower(word) { // what is written so is to be typed as it stands
					of = appendNew(of, word)
				}
			}
		}
		words[c.Name] = of
	}
	return words, valued
}

// writeBash writes the script of bash, and of zsh with bashcompinit. What is no word of a command is a file, and so is a value of a flag.
// Flags are for who has begun one.
func writeBash(w io.Writer, words map[string][]string, valued []string) error {
	names := slices.Sorted(maps.Keys(words))
	var cases strings.Builder
	for _, name := range names {
		fmt.Fprintf(&cases, "  %s) words=%q ;;\n", name, strings.Join(words[name], " "))
	}
	_, err := fmt.Fprintf(w, `_entrorouter() {
  local words="" current="${COMP_WORDS[COMP_CWORD]}" but='-*'
  if [ "$COMP_CWORD" -eq 1 ]; then
    words=%q
  else case "${COMP_WORDS[1]}" in
%s  esac; fi
  case "${COMP_WORDS[COMP_CWORD-1]}" in %s) words="" ;; esac
  case "$current" in -*) but="" ;; esac
  COMPREPLY=($(compgen -W "$words" -X "$but" -- "$current"))
}
complete -o default -F _entrorouter entrorouter
`, strings.Join(names, " "), cases.String(), strings.Join(append(valued, "="), "|"))
	return err
}

// writeFish writes the script of fish.
func writeFish(w io.Writer, commands []*cli.Command, words map[string][]string, valued []string) error {
	var b strings.Builder
	quote := func(s string) string { return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'" }
	for _, c := range commands {
		fmt.Fprintf(&b, "complete -c entrorouter -n __fish_use_subcommand -f -a %s -d %s\n", c.Name, quote(c.Usage))
		for _, word := range words[c.Name] {
			if flag, ok := strings.CutPrefix(word, "--"); ok {
				value := ""
				if slices.Contains(valued, word) {
					value = " -r"
				}
				fmt.Fprintf(&b, "complete -c entrorouter -n '__fish_seen_subcommand_from %s' -l %s%s\n", c.Name, flag, value)
			} else {
				fmt.Fprintf(&b, "complete -c entrorouter -n '__fish_seen_subcommand_from %s' -a %s\n", c.Name, word)
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writePowerShell writes the script of PowerShell, as that of bash. Where nothing matches it completes files.
func writePowerShell(w io.Writer, words map[string][]string, valued []string) error {
	quoted := func(list []string) string {
		if len(list) == 0 {
			return "@()"
		}
		return "'" + strings.Join(list, "', '") + "'" // flags, names of specs and the like have no quotes
	}
	names := slices.Sorted(maps.Keys(words))
	var table strings.Builder
	for _, name := range names {
		fmt.Fprintf(&table, "    '%s' = %s\n", name, quoted(words[name]))
	}
	_, err := fmt.Fprintf(w, `Register-ArgumentCompleter -Native -CommandName entrorouter -ScriptBlock {
  param($word, $line, $cursor)
  $words = @{
%s  }
  $before = @($line.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursor } | ForEach-Object { $_.ToString() })
  if (%s -contains $before[-1]) { return }
  $list = if ($before.Count -gt 1) { $words[$before[1]] } else { %s }
  $list | Where-Object { $_ -like "$word*" -and ($word -or $_ -notlike '-*') } | ForEach-Object { [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_) }
}
`, table.String(), "@("+quoted(valued)+")", quoted(names))
	return err
}
