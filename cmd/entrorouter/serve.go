// The command serve: puts simulated experts behind the protocol that clients of vLLM speak.

package main

import (
	"fmt"
	"net"

	"github.com/urfave/cli/v2"

	"github.com/entrorouter/entrorouter/harness"
)

func serveCommand() *cli.Command {
	return &cli.Command{
		Name:      "serve",
		Usage:     "serve the simulated experts of an experiment as an OpenAI-compatible server",
		ArgsUsage: "SPEC",
		Description: "The server answers about the generated problems of SPEC and no others, with the responses that\n" +
			"'run' gets. It speaks POST /v1/chat/completions, GET /v1/models and GET /health.",
		Flags: append(storeFlags(), verboseFlag(), &cli.StringFlag{Name: "listen", Value: "127.0.0.1:8000", Usage: "address to listen on; it has no authentication"}),
		Action: func(c *cli.Context) error {
			r, err := load(c)
			if err != nil {
				return err
			}
			l, err := net.Listen("tcp", c.String("listen"))
			if err != nil {
				return fmt.Errorf("cannot listen on %s: %w; choose another address with --listen", c.String("listen"), err)
			}
			o := options(c)
			return harness.Serve(c.Context, r, o, l, func(models []string) {
				fmt.Fprintf(c.App.Writer, "listening on http://%s/v1 for models %v\n", l.Addr(), models)
			})
		},
	}
}
