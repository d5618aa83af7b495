import { Writable } from "node:stream";

/**
 * Reserves the process's stdout for the returned stream, permanently. Other output, for example of a config that prints
 * when imported, goes to stderr.
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
