/** The output of a command: both ends, if it is long. */
export type CommandOutput = {
  readonly text: string;
  /** Everything that the command wrote. */
  readonly bytes: number;
  readonly isTruncated: boolean;
  readonly isBinary: boolean;
};

export interface OutputBuffer {
  add(chunk: Buffer): void;
  readonly bytes: number;
  finish(): CommandOutput;
}

/** Keeps the first and the last `maxBytes / 2` of an output of any length. */
export function createOutputBuffer(maxBytes: number): OutputBuffer {
  const half = Math.ceil(maxBytes / 2);
  let head = Buffer.alloc(0);
  let tail = Buffer.alloc(0);
  let bytes = 0;
  return {
    get bytes() {
      return bytes;
    },
    add(chunk) {
      bytes += chunk.length;
      const room = half - head.length;
      if (room > 0) head = Buffer.concat([head, chunk.subarray(0, room)]);
      if (chunk.length > room)
        tail = Buffer.concat([tail, chunk.subarray(Math.max(0, room))]).subarray(-half);
    },
    finish() {
      const isBinary = head.includes(0) || tail.includes(0);
      const omitted = bytes - head.length - tail.length;
      const text = isBinary
        ? `(binary output of ${bytes} bytes, not shown)`
        : omitted > 0
          ? `${decode(trimEnd(head))}\n[… ${omitted} bytes omitted …]\n${decode(trimStart(tail))}`
          : decode(Buffer.concat([head, tail]));
      return { text, bytes, isTruncated: omitted > 0, isBinary };
    },
  };
}

/** Replaces invalid UTF-8 with U+FFFD. */
function decode(bytes: Buffer): string {
  return new TextDecoder().decode(bytes);
}

/** Removes a character that the cut has split at the end. */
function trimEnd(bytes: Buffer): Buffer {
  for (let length = 1; length <= Math.min(4, bytes.length); length++) {
    const byte = bytes[bytes.length - length] ?? 0;
    if (byte < 0x80) return bytes;
    // The lead byte of a sequence says how long it is.
    if (byte >= 0xc0)
      return (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) > length ? bytes.subarray(0, -length) : bytes;
  }
  return bytes;
}

/** Removes the rest of a character that the cut has split at the start. */
function trimStart(bytes: Buffer): Buffer {
  let start = 0;
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
  return bytes.subarray(start);
}
