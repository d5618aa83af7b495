import type { UiHint } from "capstan";
import type { CallView, EntryView, SessionView } from "capstan/client";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { Widget } from "../../widgets/widget.tsx";
import { getReplies } from "./get-replies.ts";
import { Replies } from "./replies.tsx";

const createTable = (replies?: unknown): UiHint => ({
  kind: "table",
  props: { rows: [{ gate: "A15" }], ...(replies !== undefined && { replies: replies as string[] }) },
});

const createCall = (ui?: UiHint): CallView => ({
  id: "c",
  name: "t",
  input: {},
  state: "ok",
  ...(ui && { ui }),
});

const createTurn = (runId: string, text: string, ...calls: CallView[]): EntryView => ({
  ...{
    type: "assistant",
    runId,
    seq: 1,
    agent: "a",
    turn: 1,
    text,
    reasoning: "",
    citations: [],
    media: [],
    calls,
  },
});

const createDoneView = (...entries: readonly EntryView[]) =>
  ({ status: "done", runId: "r2", entries }) as const;

describe("suggested replies", () => {
  it("come from the last turn with a widget, without duplicates", () => {
    const first = createTurn("r2", "", createCall(createTable(["All of them"])));
    const second = createTurn(
      "r2",
      "",
      createCall(createTable(["A15", "D15"])),
      createCall(createTable(["D15", "Neither"])),
    );
    expect(getReplies(createDoneView(first, second, createTurn("r2", "Which one?")))).toEqual([
      "A15",
      "D15",
      "Neither",
    ]);
    const third = createTurn("r2", "", createCall(createTable()));
    expect(getReplies(createDoneView(first, second, third, createTurn("r2", "Here it is.")))).toEqual([]);
  });

  it("are shown only after a run, and never for an older run", () => {
    const asked = createTurn("r2", "Which one?", createCall(createTable(["A15"])));
    for (const status of ["running", "waiting", "failed", "cancelled"] as const)
      expect(getReplies({ ...createDoneView(asked), status } satisfies Partial<SessionView>)).toEqual([]);
    expect(
      getReplies(
        createDoneView(
          createTurn("r1", "Which one?", createCall(createTable(["A15"]))),
          createTurn("r2", "Good."),
        ),
      ),
    ).toEqual([]);
  });

  it("are ignored when the props are invalid, and the widget shows why", () => {
    const wrong = [
      [Array.from({ length: 7 }, (_, at) => `Reply ${at}`), "props.replies has more than 6 items"],
      [["x".repeat(81)], "props.replies[0] is longer than 80 characters"],
      [[" "], "props.replies[0] must be one non-empty line"],
      [["yes\nno"], "props.replies[0] must be one non-empty line"],
      [[7], "props.replies[0] must be text"],
      ["yes", "props.replies must be a list"],
    ] as const;
    for (const [replies, problem] of wrong) {
      expect(
        getReplies(createDoneView(createTurn("r2", "Which?", createCall(createTable(replies))))),
      ).toEqual([]);
      expect(renderToStaticMarkup(<Widget hint={createTable(replies)} />)).toContain(problem);
    }
    const unknown = { kind: "hologram", props: { replies: ["Yes"] } };
    expect(getReplies(createDoneView(createTurn("r2", "Which?", createCall(unknown))))).toEqual([]);
  });

  it("send their label, and hostile ones are text (A74)", () => {
    const replies = ["<img src=x onerror=alert(1)>", "safe\u202egnp.exe"];
    const view = createDoneView(createTurn("r2", "Which?", createCall(createTable(replies))));
    const shown = renderToStaticMarkup(<Replies view={view} onSend={async () => undefined} />);
    expect(shown).toContain("&lt;img src=x onerror=alert(1)&gt;");
    expect(shown).not.toContain("<img");
    expect(shown).toContain("safe\\u{202e}gnp.exe");
  });

  it("escape invisible characters in the text they send (A71)", () => {
    const tags = [..."delete all"].map((one) => String.fromCodePoint(0xe0000 + one.charCodeAt(0))).join("");
    const view = createDoneView(
      createTurn("r2", "Which?", createCall(createTable([`yes \u{1f600}${tags}`, "no\u200b\u2064"]))),
    );
    const shown = renderToStaticMarkup(<Replies view={view} onSend={async () => undefined} />);
    expect(shown).toContain("\\u{e0064}\\u{e0065}");
    expect(shown).toContain("no\\u{200b}\\u{2064}");
  });
});
