import { AgentError } from "../base/errors.ts";

/** Options for executing each call of a tool in a separate process. */
export type Isolation = {
  /** The module that defines the tool when it is imported. Default: the module that calls `defineTool`. */
  readonly module?: string;
  /** Heap limit of that process. Default: 256. */
  readonly memoryMb?: number;
};

/** Where the process finds the tool. `name` is the name in the definition, even for a renamed copy of the tool. */
export type ToolLocation = { readonly module: string; readonly name: string; readonly memoryMb: number };

const defaultMemoryMb = 256;

type GetBuiltin = typeof process.getBuiltinModule;

/** Returns Node's module loader, so that browser bundles do not contain Node modules. Throws outside Node. */
export function getBuiltinLoader(): GetBuiltin {
  const load = (globalThis as { process?: { getBuiltinModule?: GetBuiltin } }).process?.getBuiltinModule;
  if (load) return load;
  const message = "Isolated tools require Node, which starts a separate process for each call.";
  throw new AgentError("invalid_definition", message);
}

/** Locates a tool for its process. Must be called by `defineTool` itself, whose caller it looks up. */
export function locateTool(name: string, isolate: true | Isolation): ToolLocation {
  const { module = findCallingModule(), memoryMb = defaultMemoryMb } = isolate === true ? {} : isolate;
  if (module) return { module, name, memoryMb };
  const message = `The module of the isolated tool "${name}" cannot be found. Write \`isolate: { module: import.meta.url }\`.`;
  throw new AgentError("invalid_definition", message);
}

/** The frames are: this function, `locateTool`, `defineTool`, and its caller. */
function findCallingModule(): string | undefined {
  // Other runtimes that have Node's modules lack this function.
  const callSites = getBuiltinLoader()("util").getCallSites?.(4, { sourceMap: false });
  const { scriptName = "" } = callSites?.[3] ?? {};
  if (/^[\\/]|^[a-z]:[\\/]/i.test(scriptName))
    return new URL(`file://${scriptName.replaceAll("\\", "/")}`).href;
  return scriptName.startsWith("file:") ? scriptName : undefined;
}

/** Executes a tool in its process. */
export type IsolatedExecute = (input: unknown, context: never) => unknown;

const registryKey: unique symbol = Symbol.for("capstan.isolatedTools");

type Registry = Map<string, IsolatedExecute>;

/** The tools that the modules of this process have defined; undefined outside of the process of an isolated call. */
export function getIsolatedTools(): Registry | undefined {
  return (globalThis as { [registryKey]?: Registry })[registryKey];
}

/** Makes this the process of an isolated call. Global, because modules may import another copy of this package. */
export function openIsolatedTools(): Registry {
  const registry: Registry = new Map();
  (globalThis as { [registryKey]?: Registry })[registryKey] = registry;
  return registry;
}
