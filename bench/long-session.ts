import { defaultPolicy, type Store } from "capstan";

export type LongSession = Parameters<Store["append"]>[0];

/** Returns the facts of a session: turns with one call and some text each, which are two entries. */
export function createLongSession(sessionId: string, turns: number): LongSession {
  const runId = `run_of_${sessionId}`;
  const place = { sessionId, runId, agent: "guide" };
  const usage = { inputTokens: 1000, outputTokens: 60 };
  const bodies: object[] = [
    {
      type: "run_start",
      input: [{ type: "user", content: "Walk on." }],
      policy: defaultPolicy,
      timeZone: "UTC",
    },
  ];
  for (let turn = 1; turn <= turns; turn++) {
    const id = `call_${turn}`;
    const text = `Step **${turn}**: I look at the next page, and note \`what\` is there.\n\n- one\n- two`;
    const call = { type: "call", id, name: "read_page", input: { page: turn } };
    bodies.push(
      {
        type: "turn_start",
        turn,
        maxTurns: "unlimited",
        messageCount: turn * 2,
        tools: "offered",
        chain: "main",
        notes: [],
      },
      {
        type: "message",
        entry: { type: "assistant", parts: [{ type: "text", text }, call] },
        model: "test/guide",
        usage,
        ms: 800,
        finish: "tool_calls",
      },
      { type: "tool_call_start", id, name: "read_page", arguments: { page: turn }, attempt: 1 },
      {
        type: "tool_call_result",
        id,
        name: "read_page",
        result: "A page of words. ".repeat(8),
        is_error: false,
        status: "ok",
        attempts: 1,
        ms: 120,
      },
      { type: "turn_end", turn, usage },
    );
  }
  bodies.push({ type: "done", status: "done", text: "The end.", usage, cost: 0, grounded: true });
  let turn = 0;
  return bodies.map((body, at) => {
    if ("turn" in body) turn = Number(body.turn);
    return {
      id: `${runId}.${at}`,
      turn,
      at: 1_760_000_000_000 + at * 200,
      ...body,
      ...place,
    } as unknown as LongSession[number];
  });
}
