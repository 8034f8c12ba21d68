// What commands that begin an experiment share: names, prices, and what they say of the files that they wrote.

package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/entrorouter/entrorouter/harness/starting"
)

// prices are the values of --price by model.
type prices map[string]starting.Price

func (p prices) String() string { return "" }

// Set reads NAME=IN,OUT. A name may hold an equals sign.
func (p prices) Set(text string) error {
	at := strings.LastIndexByte(text, '=')
	in, out, ok := strings.Cut(text[at+1:], ",")
	var price starting.Price
	var errIn, errOut error
	price.In, errIn = strconv.ParseFloat(in, 64)
	price.Out, errOut = strconv.ParseFloat(out, 64)
	if at < 1 || !ok || errIn != nil || errOut != nil || !(price.In >= 0 && price.In <= 1e6 && price.Out >= 0 && price.Out <= 1e6) {
		return errors.New("want a model and its dollars per million tokens, in and out, as in small=0.1,0.4")
	}
	if _, twice := p[text[:at]]; twice {
		return fmt.Errorf("the price of %s is given twice", text[:at])
	}
	p[text[:at]] = price
	return nil
}

func nameFlag() cli.Flag {
	return &cli.StringFlag{Name: "name", DefaultText: "that of the folder", Usage: "name of the experiment and of its files"}
}

func priceFlag() cli.Flag {
	return &cli.GenericFlag{Name: "price", Value: prices{}, Usage: "what a model costs, `NAME=IN,OUT`: dollars per million tokens read and written; repeat it for each model"}
}

// begun says what was written for outcomes, and what is to be done with it.
func begun(c *cli.Context, folder, name string, b starting.Beginning) error {
	written(c, folder, b.Files)
	if b.Left != "" {
		fmt.Fprintf(c.App.Writer, "left out: %s\n", b.Left)
	}
	if len(b.Uncounted) > 0 {
		fmt.Fprintf(c.App.Writer, "no answer of %s has output tokens, so that no dollar will be of what they wrote; give output_tokens in %s if somebody counted them\n", strings.Join(b.Uncounted, ", "), filepath.Join(folder, starting.Outcomes))
	}
	if len(b.Priceless) > 0 {
		again := "entrorouter init " + shellWord(folder)
		if c.IsSet("name") {
			again += " --name " + name
		}
		for _, model := range b.Priceless {
			again += " --price " + shellWord(model+"=IN,OUT")
		}
		fmt.Fprintf(c.App.Writer, "fill in what %s cost, in %s or by: %s\n", strings.Join(b.Priceless, ", "), filepath.Join(folder, "prices", name+".yaml"), again)
	}
	_, err := fmt.Fprintf(c.App.Writer, "then: entrorouter run %s --data %s\n", shellWord(filepath.Join(folder, name+".yaml")), shellWord(folder))
	return err
}

// written says which files were.
func written(c *cli.Context, folder string, files []starting.File) {
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
	}
	fmt.Fprintf(c.App.Writer, "written to %s: %s\n", folder, strings.Join(names, " "))
}
