import { Writable } from "node:stream";
import { AgentError } from "capstan";

let isClaimed = false;

/**
 * Takes the process's stdout for one writer. Until it is released, what anything else writes there (`console.log`, a
 * library that greets) goes to stderr. What a child process with inherited stdout writes cannot be caught.
 */
export function claimStdout(): { readonly stdout: Writable; release(): void } {
  if (isClaimed) throw new AgentError("mcp_config", "This process's stdout already serves an MCP client.");
  isClaimed = true;
  const { stdout, stderr } = process;
  const write = stdout.write;
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
  // A client that is gone makes writes fail, which the writer below hears of; it must not end the process.
  stdout.on("error", ignore);
  return {
    stdout: new Writable({
      decodeStrings: false,
      write: (chunk, encoding, done) => void write.call(stdout, chunk, encoding, done),
    }),
    release() {
      if (!isClaimed) return;
      isClaimed = false;
      stdout.write = write;
    },
  };
}

const ignore = (): void => undefined;
