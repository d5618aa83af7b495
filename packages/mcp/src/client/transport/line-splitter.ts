/** Splits bytes into lines. Throws for a line above the limit before it fills the memory. */
export function createLineSplitter(maxBytes: number): (bytes: Buffer) => string[] {
  let pieces: Buffer[] = [];
  let length = 0;
  const addLength = (more: number) => {
    length += more;
    if (length <= maxBytes) return;
    pieces = [];
    length = 0;
    throw new RangeError(`A line is longer than ${maxBytes} bytes.`);
  };
  return (bytes) => {
    const lines: string[] = [];
    let from = 0;
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, from)) {
      addLength(end - from);
      pieces.push(bytes.subarray(from, end));
      lines.push(Buffer.concat(pieces).toString("utf8"));
      pieces = [];
      length = 0;
      from = end + 1;
    }
    if (from < bytes.length) pieces.push(bytes.subarray(from));
    addLength(bytes.length - from);
    return lines;
  };
}
