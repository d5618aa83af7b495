/** Values for `${VAR}`. */
export type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Expands `${VAR}` and `${VAR:-default}` in every string of a value. The value of a variable is not expanded again. The
 * default applies if the variable is unset or empty; without a default, an unset variable calls `fail`.
 */
export function expandVariables(
  value: unknown,
  variables: Variables,
  fail: (problem: string) => never,
): unknown {
  if (typeof value === "string")
    return value.replaceAll(
      /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g,
      (_, name: string, fallback?: string) => {
        const variable = Object.hasOwn(variables, name) ? variables[name] : undefined;
        const expanded =
          variable === undefined || (variable === "" && fallback !== undefined) ? fallback : variable;
        return expanded ?? fail(`needs the environment variable ${name}, which is not set`);
      },
    );
  if (Array.isArray(value)) return value.map((item) => expandVariables(item, variables, fail));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, expandVariables(item, variables, fail)]),
  );
}
