// Runs vitest next to four busy loops: npm run test:busy -- packages/mcp
// A test that passes alone and fails here depends on the speed of the machine.
import { type ChildProcess, spawn } from "node:child_process";

const busyLoops = 4;
/** Ends by itself when this process is killed without a chance to clean up. */
const burn = "const parent = process.ppid; while (process.ppid === parent);";

const children: ChildProcess[] = [];
const stopChildren = () => {
  for (const child of children) child.kill("SIGKILL");
};
process.once("exit", stopChildren);

for (let index = 0; index < busyLoops; index += 1) {
  children.push(spawn(process.execPath, ["--eval", burn], { stdio: "ignore" }));
}

const vitest = spawn("vitest", ["run", ...process.argv.slice(2)], { stdio: "inherit" });
// A terminal sends Ctrl-C to vitest as well; a signal to this process alone is passed on. Either way vitest ends first.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => vitest.kill(signal));
vitest.once("error", (error) => {
  console.error(`vitest did not start: ${error.message}. Use npm run test:busy.`);
  process.exit(1);
});
vitest.once("exit", (code) => process.exit(code ?? 1));
