/** Where `${VAR}` gets its value from. */
export type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Fills in `${VAR}` and `${VAR:-default}` in every text below a value. What a variable holds is not looked into again. A
 * variable that is not set, or is empty where there is a default, takes the default; without one `refuse` is told.
 */
export function expand(value: unknown, variables: Variables, refuse: (problem: string) => never): unknown {
  if (typeof value === "string")
    return value.replaceAll(
      /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g,
      (_, name: string, fallback?: string) => {
        const found = Object.hasOwn(variables, name) ? variables[name] : undefined;
        const filled = found === undefined || (found === "" && fallback !== undefined) ? fallback : found;
        return filled ?? refuse(`needs the environment variable ${name}, which is not set`);
      },
    );
  if (Array.isArray(value)) return value.map((item) => expand(item, variables, refuse));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, expand(item, variables, refuse)]),
  );
}
