// A parser for tests of `parseInWorker` that does what its input says.

const kept: unknown[] = [];
let calls = 0;

export async function parse(input: string): Promise<unknown> {
  calls += 1;
  if (input === "loop") for (;;) kept.length = 0;
  if (input === "heap") for (;;) kept.push(Array.from({ length: 1000 }, Math.random));
  if (input === "buffers") for (;;) kept.push(Buffer.alloc(1_000_000, 1));
  if (input === "wait") return new Promise((resolve) => setTimeout(resolve, 1e9));
  if (input === "recurse") recurse();
  if (input === "throw") throw new Error("Unexpected end of file.");
  if (input === "exit") process.exit(3);
  if (input === "environment") return Object.keys(process.env);
  if (input === "print") process.stdout.write("printed\n".repeat(1000));
  if (input === "count") return { calls };
  return { input, map: new Map([["key", new Uint8Array([1])]]) };
}

function recurse(): number {
  return 1 + recurse();
}
