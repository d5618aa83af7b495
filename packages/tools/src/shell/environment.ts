const inheritedNames = ["PATH", "LANG", "LANGUAGE", "TZ"];

export type EnvironmentOptions = {
  /** Variables of this process that commands inherit, besides PATH and the locale. */
  readonly inherit?: readonly string[];
  /** Variables that commands get in addition. */
  readonly env?: Readonly<Record<string, string>>;
};

/** Builds the environment of a command from an allow-list: no key of this process gets through by accident. */
export function buildEnvironment(
  { inherit = [], env = {} }: EnvironmentOptions,
  home: string,
): Record<string, string> {
  const names = [...inheritedNames, ...Object.keys(process.env).filter((name) => name.startsWith("LC_"))];
  const inherited = [...names, ...inherit].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  // Without colors and pagers: the reader is a model.
  const terminal = { TERM: "dumb", NO_COLOR: "1", PAGER: "cat", GIT_PAGER: "cat", CI: "1" };
  return { ...terminal, ...Object.fromEntries(inherited), HOME: home, TMPDIR: home, ...env };
}
