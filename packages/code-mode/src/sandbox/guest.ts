/** The part of the sandbox that runs inside the interpreter. Only numbers and strings cross the border. */
export type Guest = {
  start(program: () => Promise<unknown>): void;
  /** Settles a call with JSON: its value, or its error. */
  settle(index: number, isOk: boolean, reply: string): void;
  /** Returns the calls since the last time, as JSON. */
  takeCalls(): string;
  getState(): "running" | "done" | "failed";
  /** Returns the program's value as text. Throws if JSON cannot express it. */
  formatValue(): string;
  getLog(): string;
  /** Describes why the program failed, or the value that is passed, as JSON. */
  describe(...thrown: readonly unknown[]): string;
};

type GuestConsole = Pick<Guest, "getLog"> & {
  write(...values: readonly unknown[]): void;
  format(value: unknown): string;
};

// The interpreter executes the text of these functions before the program, so they use nothing but each other. They keep
// the built-in functions that they need, because the program may replace them.

function createConsole(maxLogSize: number): GuestConsole {
  const { stringify } = JSON;
  const NativeString = String;
  let log = "";
  function format(value: unknown): string {
    if (typeof value === "string") return value;
    try {
      return stringify(value) ?? NativeString(value);
    } catch {
      return "[a value that JSON cannot express]";
    }
  }
  function write(...values: readonly unknown[]): void {
    let line = "";
    for (const value of values) line += `${line === "" ? "" : " "}${format(value)}`;
    if (log.length < maxLogSize) log += `${line}\n`;
  }
  return { write, format, getLog: () => log };
}

function createCalls(): Pick<Guest, "settle" | "takeCalls"> & {
  request(name: string, input: unknown): Promise<unknown>;
} {
  type OpenCall = {
    resolve(value: unknown): void;
    reject(error: unknown): void;
    readonly text: string;
    readonly stack: string | undefined;
  };
  const { parse, stringify } = JSON;
  const { create, defineProperty } = Object;
  const [NativeError, NativePromise, NativeTypeError] = [Error, Promise, TypeError];
  const open: { [index: number]: OpenCall } = create(null);
  let [requested, reported] = [0, 0];
  return {
    request(name, input) {
      const text = stringify(input === undefined ? {} : input);
      if (typeof text !== "string" || text[0] !== "{")
        throw new NativeTypeError(`tools.${name} takes one object with its arguments.`);
      const { stack } = new NativeError();
      const json = `{"name":${stringify(name)},"input":${text}}`;
      return new NativePromise((resolve, reject) => {
        open[requested] = { resolve, reject, text: json, stack };
        requested += 1;
      });
    },
    settle(index, isOk, reply) {
      const { resolve, reject, stack } = open[index] as OpenCall;
      delete open[index];
      const value = parse(reply);
      if (isOk) return resolve(value);
      const error = new NativeError(value.message);
      error.name = "ToolError";
      // The error is created here, so it gets the place of the call.
      defineProperty(error, "stack", { value: stack });
      reject(defineProperty(error, "code", { value: value.code, enumerable: true }));
    },
    takeCalls() {
      let text = "";
      for (; reported < requested; reported++) text += `${text === "" ? "" : ","}${open[reported]?.text}`;
      return `[${text}]`;
    },
  };
}

function createToolProxy(
  names: readonly string[],
  request: (name: string, input: unknown) => unknown,
): object {
  const { create, freeze } = Object;
  const NativeError = Error;
  const list = names.join(", ");
  const tools: { [name: string | symbol]: unknown } = create(null);
  for (const name of names) tools[name] = freeze((input: unknown) => request(name, input));
  return new Proxy(freeze(tools), {
    get(target, name) {
      if (typeof name !== "string" || name in target || name === "then") return target[name];
      throw new NativeError(`Unknown tool "${name}". The tools are: ${list}`);
    },
  });
}

function createGuest(toolNames: string, maxLogSize: number): Guest {
  const { parse, stringify } = JSON;
  const { defineProperty, freeze } = Object;
  const [NativeError, NativeString] = [Error, String];
  const { write, format, getLog } = createConsole(maxLogSize);
  const { request, settle, takeCalls } = createCalls();
  const console = freeze({ log: write, info: write, warn: write, error: write, debug: write });
  const globals = { tools: createToolProxy(parse(toolNames), request), console };
  for (const name of ["tools", "console"] as const)
    defineProperty(globalThis, name, { value: globals[name], enumerable: true });
  let state: ReturnType<Guest["getState"]> = "running";
  let outcome: unknown;

  async function executeProgram(program: () => Promise<unknown>): Promise<void> {
    try {
      outcome = await program();
      state = "done";
    } catch (thrown) {
      outcome = thrown;
      state = "failed";
    }
  }
  return {
    start: (program) => void executeProgram(program),
    settle,
    takeCalls,
    getState: () => state,
    formatValue: () => (typeof outcome === "string" ? outcome : (stringify(outcome) ?? "")),
    getLog,
    describe(...thrown) {
      const error = thrown.length > 0 ? thrown[0] : outcome;
      try {
        if (!(error instanceof NativeError)) return stringify({ message: `${format(error)} was thrown` });
        const { name, message, stack } = error;
        return stringify({ message: `${name}: ${message}`, stack: NativeString(stack) });
      } catch {
        return '{"message":"An error that cannot be read was thrown"}';
      }
    },
  };
}

/** An expression for the interpreter whose value is `createGuest(toolNames, maxLogSize)`. */
export const guestSource: string = `(() => {
${createConsole}
${createCalls}
${createToolProxy}
return ${createGuest};
})()`;
