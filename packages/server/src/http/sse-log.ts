/** A debug log of the events sent to clients, one line each. */
export type SseLog = (line: string) => void;

/** Logs every event in the frames, and returns the frames. */
export function logFrames(frames: string, log: SseLog | undefined): string {
  if (log)
    for (const [, event, data] of frames.matchAll(/^event: (.*)\ndata: (.*)$/gm))
      log(`event: ${event} | data: ${data}`);
  return frames;
}
