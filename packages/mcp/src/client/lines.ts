/** Cuts bytes into lines. A line above the limit is a throw, before it fills the memory. */
export function lines(maxBytes: number): (bytes: Buffer) => string[] {
  let pieces: Buffer[] = [];
  let length = 0;
  return (bytes) => {
    const found: string[] = [];
    let from = 0;
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, from)) {
      pieces.push(bytes.subarray(from, end));
      found.push(Buffer.concat(pieces).toString("utf8"));
      pieces = [];
      length = 0;
      from = end + 1;
    }
    if (from < bytes.length) pieces.push(bytes.subarray(from));
    length += bytes.length - from;
    if (length > maxBytes) {
      pieces = [];
      throw new RangeError(`A line is longer than ${maxBytes} bytes.`);
    }
    return found;
  };
}
