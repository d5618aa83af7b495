import { describeThrown, type ErrorCode, type ErrorData } from "../../base/errors.ts";
import type { ErrorSource, Io } from "../io.ts";
import { getRunId } from "../state.ts";

/** What was thrown, by its description: descriptions are stored and sent, a stack is neither. */
const thrownValues = new WeakMap<ErrorData, unknown>();

/** Returns what was thrown, masked, if it was thrown in this process. */
export function findThrown(error: ErrorData): unknown {
  return thrownValues.get(error);
}

/** Returns the description with another message. */
export function withMessage(error: ErrorData, message: string): ErrorData {
  const changed = { ...error, message };
  if (thrownValues.has(error)) thrownValues.set(changed, thrownValues.get(error));
  return changed;
}

/** Describes what was thrown, for facts and for the model. */
export type DescribeThrown = (thrown: unknown) => ErrorData;

type ReportContext = Pick<Io, "state"> & Partial<Pick<Io, "hooks" | "maskError">>;
type LocalSource = Pick<ErrorSource, "type" | "agent" | "name" | "callId">;

const fallbackCodes: Readonly<Record<ErrorSource["type"], ErrorCode>> = {
  tool: "tool_failed",
  model: "model_failed",
};

/** Returns a function that passes what was thrown to the `onError` hook and describes it. */
export function createThrownReport(io: ReportContext, source: LocalSource): DescribeThrown {
  return (thrown) => {
    const error = io.maskError ? io.maskError(thrown) : thrown;
    callHook(io, { ...source, runId: getRunId(io.state), sessionId: io.state.sessionId }, error);
    const data = describeThrown(error, fallbackCodes[source.type]);
    thrownValues.set(data, error);
    return data;
  };
}

function callHook({ hooks }: ReportContext, source: ErrorSource, error: unknown): void {
  try {
    const returned: unknown = hooks?.onError?.(error, source);
    if (returned instanceof Promise) returned.catch(() => undefined);
  } catch {
    // A hook that only reports must not change the run.
  }
}
