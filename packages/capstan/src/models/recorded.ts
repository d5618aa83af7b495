// A recording is a file of JSON lines, one per finished answer:
//   {"request":{"instructions":…,"history":[…],"tools":[…],"toolChoice":…,"output":…},"answer":[[chunk,…],…]}
// The answer keeps its batches. URLs and headers are not recorded, so no key is. Lines are only appended; for the same
// request the last answer counts. Failed answers are not recorded.
import { AgentError } from "../base/errors.ts";
import { isRecord, type Json, toCanonicalJson } from "../base/json.ts";
import { type Chunk, type Model, type ModelRequest, toStopReason } from "../kernel/model.ts";
import { describeDifference, findNearest } from "./recorded/request-difference.ts";

export type RecordedOptions = {
  /**
   * `auto` (default) replays recorded answers and records new ones; `replay` never calls the model, so a test needs
   * no key; `record` always calls the model.
   */
  readonly mode?: "auto" | "replay" | "record";
};

type Answer = readonly (readonly Chunk[])[];

/** Answers by the canonical JSON of their request. */
type Recording = Map<string, Answer>;

/** Records the answers of a model in a file and replays them for the same requests. */
export function recorded(model: Model | undefined, file: string, options: RecordedOptions = {}): Model {
  const { mode = "auto" } = options;
  let loading: Promise<Recording> | undefined;
  return {
    id: model?.id ?? "recorded",
    checkSettings: (settings) => model?.checkSettings?.(settings) ?? [],
    async *stream(request, streaming) {
      const { signal } = streaming;
      signal.throwIfAborted();
      // Serialized first: the history may grow while the answer streams.
      const serializedRequest = serializeRequest(request);
      loading ??= loadRecording(file);
      const recording = await loading;
      const recordedAnswer = mode === "record" ? undefined : recording.get(serializedRequest);
      if (recordedAnswer) {
        for (const batch of recordedAnswer) {
          signal.throwIfAborted();
          yield batch;
        }
        return;
      }
      if (!model || mode === "replay") throw createMissingError(serializedRequest, recording, file);
      const answer: (readonly Chunk[])[] = [];
      for await (const batch of model.stream(request, streaming)) {
        answer.push([...batch]);
        yield batch;
      }
      if (!isFinished(answer)) return;
      recording.set(serializedRequest, answer);
      await appendLine(file, `{"request":${serializedRequest},"answer":${JSON.stringify(answer)}}\n`);
    },
  };
}

function serializeRequest(request: ModelRequest): string {
  const { instructions, history, tools, hosted, toolChoice, settings, output } = request;
  const specs = tools.map(({ name, description, input }) => ({ name, description, input }));
  const serializedRequest = { instructions, history, tools: specs, hosted, toolChoice, settings, output };
  // Round-tripped through JSON, which drops undefined fields, to match what is read back.
  return toCanonicalJson(JSON.parse(JSON.stringify(serializedRequest)) as Json);
}

function isFinished(answer: Answer): boolean {
  const last = answer.flat().findLast(({ type }) => type === "finish" || type === "restart");
  return last?.type === "finish" && toStopReason(last.reason) !== "other";
}

async function loadRecording(file: string): Promise<Recording> {
  const { readFile } = await import("node:fs/promises");
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    if (isRecord(error) && error.code === "ENOENT") return "";
    throw error;
  });
  const recording: Recording = new Map();
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const { request, answer } = parseLine(line, `${file}:${index + 1}`);
    recording.set(toCanonicalJson(request), answer);
  }
  return recording;
}

function parseLine(line: string, location: string): { readonly request: Json; readonly answer: Answer } {
  let cause: unknown;
  try {
    const parsed: unknown = JSON.parse(line);
    if (isRecord(parsed) && isRecord(parsed.request) && Array.isArray(parsed.answer))
      return parsed as { readonly request: Json; readonly answer: Answer };
  } catch (thrown) {
    cause = thrown;
  }
  const message = `${location} is not a recorded answer. Remove the line, or delete the file to record again.`;
  throw new AgentError("model_failed", message, { retryable: false, ...(cause !== undefined && { cause }) });
}

async function appendLine(file: string, line: string): Promise<void> {
  const { appendFile, mkdir } = await import("node:fs/promises");
  const { dirname } = await import("node:path");
  await mkdir(dirname(file), { recursive: true });
  await appendFile(file, line);
}

function createMissingError(serializedRequest: string, recording: Recording, file: string): AgentError {
  const nearest = findNearest(serializedRequest, recording.keys());
  const reason =
    nearest === undefined
      ? "the file has no answers."
      : `the nearest recorded request differs at ${describeDifference(JSON.parse(nearest), JSON.parse(serializedRequest))}.`;
  return new AgentError(
    "model_failed",
    `No recorded answer for this request in ${file}: ${reason} Record it with a model and mode "auto".`,
    { retryable: false },
  );
}
