// Package multiround plays routers that talk to experts over several turns before they answer: Router-R1 (Zhang et al.
// 2025) in Tags and xRouter (Qian et al. 2025, arXiv 2510.08439) in Tools. The policy is any model behind an
// OpenAI-compatible server. The engine drives the turns, parses, asks the experts, grades, and keeps every trajectory for
// a trainer outside this program; it trains nothing. Package theory trains a small policy on the same rewards.
//
// Prompts are ours: they say what the sources' prompts say, in other words. What the sources leave open or what a chat
// protocol cannot do as they do is marked "here:" in the comments.
//
// # Trajectories
//
// trajectories.jsonl has one JSON object per line, in the order of the queries:
//
//	schema    1
//	protocol  "tags" or "tools"
//	problem   id of the problem; run: the run of the query, so that the runs of a problem are a group
//	messages  the conversation: role (system, user, assistant, information or tool), content, and for tools
//	          tool_calls and tool_call_id. The policy wrote the messages of role assistant and nothing else: mask the
//	          rest. Under "tags" the contents from the second message on, joined, are the transcript that is judged.
//	turns     generations of the policy; usage: its tokens, in and out
//	calls     expert calls in order: turn (from 1), expert, system (tools), prompt, temperature, response (what the
//	          policy was shown, before it was cut), finish, in and out tokens, and failed: why there is no response
//	invalid   actions that the engine could not carry out: turn and reason
//	ending    how it ended, one of the constants of type Ending; from: the expert whose response was handed over
//	format    faults of the format, tags only; empty: none
//	answer    what was graded; bare: it is an answer and nothing else; finish: of the message that holds it
//	verdict   bucket of the grade (package routing); correct: 1 or 0
//	cost      in the unit of the reward; reward: of the protocol
//
// Numbers are as Go writes them, strings are UTF-8, absent fields are empty.
package multiround
