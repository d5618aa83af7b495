/** Cuts bytes into lines. A line above the limit is a throw, before it fills the memory. */
export function lines(maxBytes: number): (bytes: Buffer) => string[] {
  let pieces: Buffer[] = [];
  let length = 0;
  const grow = (more: number) => {
    length += more;
    if (length <= maxBytes) return;
    pieces = [];
    length = 0;
    throw new RangeError(`A line is longer than ${maxBytes} bytes.`);
  };
  return (bytes) => {
    const found: string[] = [];
    let from = 0;
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, from)) {
      grow(end - from);
      pieces.push(bytes.subarray(from, end));
      found.push(Buffer.concat(pieces).toString("utf8"));
      pieces = [];
      length = 0;
      from = end + 1;
    }
    if (from < bytes.length) pieces.push(bytes.subarray(from));
    grow(bytes.length - from);
    return found;
  };
}
