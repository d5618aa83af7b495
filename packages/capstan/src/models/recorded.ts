// A recording is a file of JSON lines, one per finished answer:
//   {"request":{"instructions":…,"history":[…],"tools":[…],"toolChoice":…,"output":…},"answer":[[chunk,…],…]}
// The answer keeps the batches in which it was read. Addresses and headers are not part of it, so no key is. Lines are
// only added; of two answers to the same request the later one counts. Answers that failed are not kept.
import { AgentError } from "../errors.ts";
import { isRecord, type Json, toCanonicalJson } from "../json.ts";
import type { Chunk, Model, ModelRequest } from "../model.ts";
import { firstDifference, nearestTo } from "./recorded/request-difference.ts";

export type RecordedOptions = {
  /**
   * `auto` (the default) replays what is in the file and records the rest; `replay` never asks the model, so a test
   * needs no key; `record` asks the model for everything anew.
   */
  readonly mode?: "auto" | "replay" | "record";
};

type Answer = readonly (readonly Chunk[])[];

/** Answers by the canonical text of their request. */
type Recording = Map<string, Answer>;

/** A model whose answers are kept in a file and given again when it is asked the same. */
export function recorded(model: Model | undefined, file: string, options: RecordedOptions = {}): Model {
  const { mode = "auto" } = options;
  let loading: Promise<Recording> | undefined;
  return {
    id: model?.id ?? "recorded",
    async *stream(request, { signal }) {
      signal.throwIfAborted();
      // Taken at once: the history may grow while the answer is read.
      const asked = canonicalRequest(request);
      loading ??= load(file);
      const recording = await loading;
      const known = mode === "record" ? undefined : recording.get(asked);
      if (known) {
        for (const batch of known) {
          signal.throwIfAborted();
          yield batch;
        }
        return;
      }
      if (!model || mode === "replay") throw missing(asked, recording, file);
      const answer: (readonly Chunk[])[] = [];
      for await (const batch of model.stream(request, { signal })) {
        answer.push([...batch]);
        yield batch;
      }
      if (!isFinished(answer)) return;
      recording.set(asked, answer);
      await append(file, `{"request":${asked},"answer":${JSON.stringify(answer)}}\n`);
    },
  };
}

function canonicalRequest({ instructions, history, tools, toolChoice, output }: ModelRequest): string {
  const offered = tools.map(({ name, description, input }) => ({ name, description, input }));
  const asked = { instructions, history, tools: offered, toolChoice, output };
  // Through JSON, as it will be read back: what is undefined is left out.
  return toCanonicalJson(JSON.parse(JSON.stringify(asked)) as Json);
}

function isFinished(answer: Answer): boolean {
  return answer.flat().findLast(({ type }) => type === "finish" || type === "restart")?.type === "finish";
}

async function load(file: string): Promise<Recording> {
  const { readFile } = await import("node:fs/promises");
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    if (isRecord(error) && error.code === "ENOENT") return "";
    throw error;
  });
  const recording: Recording = new Map();
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const { request, answer } = parsedLine(line, `${file}:${index + 1}`);
    recording.set(toCanonicalJson(request), answer);
  }
  return recording;
}

function parsedLine(line: string, place: string): { readonly request: Json; readonly answer: Answer } {
  let cause: unknown;
  try {
    const parsed: unknown = JSON.parse(line);
    if (isRecord(parsed) && isRecord(parsed.request) && Array.isArray(parsed.answer))
      return parsed as { readonly request: Json; readonly answer: Answer };
  } catch (thrown) {
    cause = thrown;
  }
  const message = `${place} is not a recorded answer: remove the line, or the file to record anew.`;
  throw new AgentError("model_failed", message, { retryable: false, ...(cause !== undefined && { cause }) });
}

async function append(file: string, line: string): Promise<void> {
  const { appendFile, mkdir } = await import("node:fs/promises");
  const { dirname } = await import("node:path");
  await mkdir(dirname(file), { recursive: true });
  await appendFile(file, line);
}

function missing(asked: string, recording: Recording, file: string): AgentError {
  const nearest = nearestTo(asked, recording.keys());
  const why =
    nearest === undefined
      ? "it holds no answers."
      : `the nearest request in it differs at ${firstDifference(JSON.parse(nearest), JSON.parse(asked))}.`;
  return new AgentError(
    "model_failed",
    `No answer to this request is recorded in ${file}: ${why} Record it with a model and the mode "auto".`,
    { retryable: false },
  );
}
