import { StreamResponse, Task } from "@a2a-js/sdk";
import { type Event, type Fact, isFact } from "capstan";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { randomScript, runRandomScript } from "../../testing/random-run.ts";
import { a2aMapping, createTaskProjection } from "./task.ts";
import type { A2aFrame, A2aPart, A2aTask } from "./wire.ts";

const place = { taskId: "run_1", contextId: "ses_1" };
const createProjection = () => createTaskProjection(place, ({ code, message }) => ({ code, message }));

function applyEvents(events: readonly Event[]): { frames: readonly A2aFrame[]; task: A2aTask } {
  const projection = createProjection();
  const frames = events.flatMap((event) => projection.apply(event));
  return { frames, task: projection.getTask() };
}

/** Applies frames as a client must. */
function applyFrames(frames: readonly A2aFrame[]): { text: string; data: unknown[]; states: string[] } {
  let parts: readonly A2aPart[] = [];
  const data: unknown[] = [];
  const states: string[] = [];
  for (const frame of frames) {
    if ("artifactUpdate" in frame) {
      const { append, artifact } = frame.artifactUpdate;
      parts = append ? [...parts, ...artifact.parts] : artifact.parts;
    }
    if (!("statusUpdate" in frame)) continue;
    states.push(frame.statusUpdate.status.state);
    for (const part of frame.statusUpdate.status.message?.parts ?? [])
      if ("data" in part) data.push(part.data);
  }
  return { text: joinText(parts), data, states };
}

const joinText = (parts: readonly A2aPart[]) =>
  parts.map((part) => ("text" in part ? part.text : "")).join("");

/** Drops values that Protobuf omits. */
const withoutDefaults = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, member) =>
      member === false || (Array.isArray(member) && member.length === 0) ? undefined : member,
    ),
  );

const filterData = (data: readonly unknown[], type: string) =>
  (data as { type: string; id: string; name: string; arguments?: unknown }[]).filter(
    (one) => one.type === type,
  );

describe("the projection", () => {
  it("is complete for the protocol's own codec, and reads back as the same text and calls (F81)", async () => {
    await fc.assert(
      fc.asyncProperty(randomScript, async (script) => {
        const { events, result } = await runRandomScript(script);
        const { frames, task } = applyEvents(events);
        for (const frame of frames)
          expect(withoutDefaults(StreamResponse.toJSON(StreamResponse.fromJSON(frame)))).toEqual(
            withoutDefaults(frame),
          );
        expect(withoutDefaults(Task.toJSON(Task.fromJSON(task)))).toEqual(withoutDefaults(task));
        const { text, data, states } = applyFrames(frames);
        expect(text.trim()).toBe(result.text.trim());
        expect(joinText(task.artifacts?.[0]?.parts ?? [])).toBe(text);
        expect(states.at(-1)).toBe("TASK_STATE_COMPLETED");
        const ids = result.toolCalls.map(({ id }) => id);
        expect(new Set(filterData(data, "tool_call").map(({ id }) => id))).toEqual(new Set(ids));
        expect(
          filterData(data, "tool_result")
            .map(({ id }) => id)
            .toSorted(),
        ).toEqual(ids.toSorted());
      }),
      { numRuns: 60 },
    );
  });

  it("is the same task for a live reader and for a reader of the stored facts (F81)", async () => {
    await fc.assert(
      fc.asyncProperty(randomScript, async (script) => {
        const { events } = await runRandomScript(script);
        expect(applyEvents(events).task).toEqual(applyEvents(events.filter(isFact)).task);
      }),
      { numRuns: 30 },
    );
  });

  it("restarts a message when the model does", () => {
    const origin = { runId: "run_1", sessionId: "ses_1", agent: "a", turn: 1 };
    const say = (delta: string): Event => ({ ...origin, type: "content_delta", delta });
    const again: Event = { ...origin, type: "message_restart", reason: "cut off" };
    const { text } = applyFrames(applyEvents([say("Hel"), say("p"), again, say("Hel"), say("lo")]).frames);
    expect(text).toBe("Hello");
  });

  it("tells a refusal from a failure, and shows no more of an error than it may", () => {
    const ends = (code: string) => {
      const projection = createTaskProjection(place, (error) => ({ ...error, message: "hidden" }));
      const done = {
        type: "done",
        status: "failed",
        text: "secret",
        usage: {},
        cost: 0,
        at: 5,
        seq: 1,
        id: "d",
      };
      const fact = { ...done, runId: "run_1", error: { code, message: "secret", retryable: false } };
      projection.apply(fact as unknown as Fact);
      expect(JSON.stringify(projection.getTask())).not.toContain("secret");
      return projection.getTask().status.state;
    };
    expect(ends("content_filter")).toBe("TASK_STATE_REJECTED");
    expect(ends("model_failed")).toBe("TASK_STATE_FAILED");
    expect(Object.keys(a2aMapping).length).toBeLessThanOrEqual(20);
  });
});
