// The command gpu-check: whether an accelerator computes what the Go backend computes, and how fast it trains.

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/entrorouter/entrorouter/harness/gpucheck"
	"github.com/entrorouter/entrorouter/harness/policy"
	"github.com/entrorouter/entrorouter/harness/workload"
)

func gpuCheckCommand() *cli.Command {
	return &cli.Command{
		Name:  "gpu-check",
		Usage: "compare XLA with the Go backend, and say how fast it trains a decoder",
		Description: "Needs a program built with 'make build-xla' and a PJRT plugin: a name that can be found, or the absolute path\n" +
			"of the library. The compact policy and a tiny decoder are trained on both backends, with TF32 off. go-xla makes other code\n" +
			"for plugins with cuda in their name, so a plugin given by its path is run under both kinds of name. Then a training step of\n" +
			"Qwen3's shapes is timed, and one of PyTorch if --python has it. Exit code 1 if numbers differ by more than is allowed.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "plugin", Usage: "PJRT plugin, e.g. cuda or /path/xla_cuda_plugin.so"},
			&cli.IntFlag{Name: "steps", Value: 3, Usage: "steps of each training that is compared"},
			&cli.StringSliceFlag{Name: "shapes", Value: cli.NewStringSlice("tiny"), Usage: "Qwen3's sizes to be timed: tiny, 0.6b, 1.7b, 4b"},
			&cli.StringFlag{Name: "tune", Value: "adapters", Usage: "what the timed step trains: adapters on bfloat16, or all weights in float32"},
			&cli.IntFlag{Name: "rows", Value: 4, Usage: "texts of a timed step"},
			&cli.IntFlag{Name: "tokens", Value: 1024, Usage: "tokens of each text of a timed step"},
			&cli.StringFlag{Name: "python", Value: "python3", Usage: "Python whose PyTorch is timed, too; empty: none"},
		},
		Action: func(c *cli.Context) error {
			if err := noArguments(c, ""); err != nil {
				return err
			}
			switch {
			case c.Int("steps") < 1 || c.Int("rows") < 1 || c.Int("tokens") < 1:
				return usageError{errors.New("--steps, --rows and --tokens are at least 1")}
			case c.String("tune") != "adapters" && c.String("tune") != "all":
				return usageError{fmt.Errorf("--tune %s: want adapters or all", c.String("tune"))}
			case c.String("plugin") == "":
				return usageError{errors.New("gpu-check needs --plugin: a name such as cuda, or the path of a PJRT library")}
			}
			var steps []timed
			for _, size := range c.StringSlice("shapes") {
				config, err := workload.Qwen3(size)
				if err != nil {
					return usageError{fmt.Errorf("--shapes: %w", err)}
				}
				step := workload.Adapted
				if c.String("tune") == "all" {
					step = workload.Full
				}
				steps = append(steps, timed{size, step(config, c.Int("rows"), c.Int("tokens"))})
			}
			return gpuCheck(c.Context, c.App.Writer, c.String("plugin"), c.String("python"), c.Int("steps"), steps)
		},
	}
}

// timed is a training step to be timed.
type timed struct {
	size string
	step workload.Step
}

func gpuCheck(ctx context.Context, out io.Writer, plugin, python string, steps int, shapes []timed) error {
	xla, err := policy.OpenBackend("xla:" + plugin)
	if err != nil {
		return err
	}
	defer xla.Finalize()
	card, isCard := gpucheck.FirstCard(ctx)
	isCard = isCard && gpucheck.CUDA(plugin)
	fmt.Fprintf(out, "plugin:  %s\ndevice:  %s\n", xla.Description(), xla.DeviceDescription(0))
	if isCard {
		fmt.Fprintf(out, "card:    %s, driver %s\n", card.Name, card.Driver)
	}
	pure, err := policy.OpenBackend("go")
	if err != nil {
		return err
	}
	defer pure.Finalize()
	agree, err := agreements(ctx, out, xla, pure, plugin, steps)
	if err != nil {
		return err
	}
	if plugin[0] == os.PathSeparator {
		other, remove, err := gpucheck.Renamed(plugin)
		if err != nil {
			return err
		}
		defer remove()
		second, err := policy.OpenBackend("xla:" + other)
		if err != nil {
			return err
		}
		defer second.Finalize()
		too, err := agreements(ctx, out, second, pure, other, steps)
		switch {
		case err != nil && gpucheck.CUDA(plugin): // no card need compute what is made for other devices
			fmt.Fprintf(out, "refused: %v\n", firstLine(err))
		case err != nil:
			return err
		default:
			agree = agree && too
		}
	}
	if err := speeds(ctx, out, xla, isCard, python, shapes); err != nil {
		return err
	}
	if !agree {
		return errors.New("numbers differ by more than is allowed, see above")
	}
	return nil
}

// agreements prints how the backends agree and says whether they do.
func agreements(ctx context.Context, out io.Writer, xla, pure policy.Backend, plugin string, steps int) (bool, error) {
	code := "for devices that are no CUDA cards"
	if gpucheck.CUDA(plugin) {
		code = "for CUDA cards"
	}
	fmt.Fprintf(out, "\nXLA beside the Go backend, with go-xla's code %s:\n", code)
	const line = "%-32s  %-15s  %5v  %19s  %7s  %s\n" // one at a time: whoever stops the command early keeps what was said
	fmt.Fprintf(out, line, "training", "number", "count", "greatest difference", "allowed", "")
	all := true
	for _, compared := range []func(context.Context, policy.Backend, policy.Backend, int) ([]gpucheck.Agreement, error){gpucheck.Compact, gpucheck.Decoder} {
		found, err := compared(ctx, xla, pure, steps)
		if err != nil {
			return false, err
		}
		for _, a := range found {
			verdict := ""
			if !a.Holds() {
				verdict, all = "DIFFERS", false
			}
			fmt.Fprintf(out, line, a.Training, a.What, a.Numbers, fmt.Sprintf("%.1e", a.Worst), fmt.Sprintf("%.0e", a.Allowed), verdict)
		}
	}
	return all, nil
}

// speeds prints how fast steps are, beside the backend's own products and PyTorch. A step that does not fit into memory ends the list.
func speeds(ctx context.Context, out io.Writer, xla policy.Backend, isCard bool, python string, shapes []timed) error {
	fmt.Fprintln(out, "\nProducts of square matrices, the fastest:")
	peaks, err := gpucheck.Peaks(ctx, xla)
	if err != nil {
		return err
	}
	fastest := map[string]float64{}
	for _, p := range peaks {
		fastest[p.Type] = p.Rate
		fmt.Fprintf(out, "%s %.3g TFLOP/s\n", p.Type, p.Rate/1e12)
	}
	const times = 5
	fmt.Fprintln(out, "\nA training step (median of 5; share: of the fastest products in the type it computes in):")
	for _, s := range shapes {
		name := fmt.Sprintf("qwen3 %s, %d x %d tokens", s.size, s.step.B, s.step.T)
		speed, err := gpucheck.Measure(ctx, xla, s.step, times)
		if err != nil {
			fmt.Fprintf(out, "%s: XLA: %v\n", name, firstLine(err))
			break
		}
		memory := gpucheck.HostMemory() + " of host memory at the peak of this process"
		if card, ok := gpucheck.FirstCard(ctx); ok && isCard {
			memory = card.Memory + " of the card"
		}
		fmt.Fprintf(out, "%s: XLA: %s a step, %.0f tokens/s, share %.0f %%, first step %s, %s\n", name, speed.Step.Round(speed.Step/1000+1), speed.Tokens,
			100*speed.Rate/fastest[s.step.Decoder.Compute.String()], speed.First.Round(speed.First/100+1), memory)
		if python == "" {
			continue
		}
		torch, err := gpucheck.MeasureTorch(ctx, python, s.step, times)
		switch {
		case errors.Is(err, gpucheck.ErrNoTorch):
			fmt.Fprintf(out, "%v: nothing beside it\n", err)
			python = ""
		case err != nil:
			fmt.Fprintf(out, "%s: %v\n", name, firstLine(err))
		default:
			fmt.Fprintf(out, "%s: PyTorch %s on %s: %s a step, %.0f tokens/s", name, torch.Version, torch.Device, torch.Step.Round(torch.Step/1000+1), float64(s.step.B*s.step.T)/torch.Step.Seconds())
			if torch.Memory > 0 {
				fmt.Fprintf(out, ", %.2f GiB at the peak", float64(torch.Memory)/(1<<30))
			}
			fmt.Fprintln(out)
		}
	}
	return nil
}

// firstLine is what an error says, without the stack that GoMLX adds.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
