import { Writable } from "node:stream";

/**
 * Takes the process's stdout for one writer, for good: whatever else is written there, such as by a configuration that
 * greets when it is imported, goes to stderr.
 */
export function claimStdout(): Writable {
  const { stdout, stderr } = process;
  const write = stdout.write;
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
  return new Writable({
    decodeStrings: false,
    write: (chunk, encoding, done) => void write.call(stdout, chunk, encoding, done),
  });
}
