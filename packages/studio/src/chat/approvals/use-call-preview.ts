import type { Json } from "capstan";
import type { CallPreview } from "capstan/client";
import { useEffect, useRef, useState } from "react";
import { client } from "../../data/client.ts";

const typingPauseMs = 400;

type PreviewResult = { readonly key: string; readonly preview?: CallPreview; readonly problem?: string };

/** Checks changed arguments on the server, while the user edits them. */
type CallPreviews = {
  /** Why the server refuses the last arguments. */
  readonly problem: string | undefined;
  /** What makes the last arguments suspicious. */
  readonly warning: string | undefined;
  /** Checks arguments when the user stops typing. */
  readonly schedule: (input: Json) => void;
  /** Checks arguments now. Resolves to undefined if the server refuses them. */
  readonly check: (input: Json) => Promise<CallPreview | undefined>;
  /** Whether the user has seen the check of these arguments. */
  readonly isShown: (input: Json) => boolean;
};

type CallPreviewOptions = {
  readonly runId: string;
  readonly callId: string;
  readonly onPreview: (preview: CallPreview) => void;
};

/** Whether the gate has a reason to warn of a call. */
export function isSuspicious({ because = [], leaks = [] }: Pick<CallPreview, "because" | "leaks">): boolean {
  return because.length > 0 || leaks.length > 0;
}

export function useCallPreview({ runId, callId, onPreview }: CallPreviewOptions): CallPreviews {
  const [result, setResult] = useState<PreviewResult>();
  const latest = useRef("");
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);

  async function check(input: Json): Promise<CallPreview | undefined> {
    clearTimeout(timer.current);
    const key = JSON.stringify(input);
    latest.current = key;
    try {
      const preview = await client.runs.previewCall(runId, callId, input);
      if (latest.current !== key) return undefined; // a later edit is being checked
      setResult({ key, preview });
      onPreview(preview);
      return preview;
    } catch (thrown) {
      const problem = thrown instanceof Error ? thrown.message : String(thrown);
      if (latest.current === key) setResult({ key, problem });
      return undefined;
    }
  }
  return {
    problem: result?.problem,
    warning: result?.preview && isSuspicious(result.preview) ? result.preview.reason : undefined,
    check,
    isShown: (input) => result?.preview !== undefined && result.key === JSON.stringify(input),
    schedule(input) {
      clearTimeout(timer.current);
      latest.current = JSON.stringify(input);
      if (result?.key === latest.current) return;
      timer.current = setTimeout(() => void check(input), typingPauseMs);
    },
  };
}
