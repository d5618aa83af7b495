import { Writable } from "node:stream";
import { AgentError } from "capstan";

let isClaimed = false;

/**
 * Reserves the process's stdout for one writer. Until released, all other output (`console.log`, library banners) goes to
 * stderr. Output of a child process with inherited stdout cannot be redirected.
 */
export function claimStdout(): { readonly stdout: Writable; release(): void } {
  if (isClaimed) throw new AgentError("mcp_config", "This process's stdout already serves an MCP client.");
  isClaimed = true;
  const { stdout, stderr } = process;
  const write = stdout.write;
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
  // Writes fail when the client has disconnected. The writer below reports that; it must not crash the process.
  stdout.on("error", ignoreOutput);
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

const ignoreOutput = (): void => undefined;
