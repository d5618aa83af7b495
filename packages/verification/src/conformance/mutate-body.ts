type Path = readonly (string | number)[];

/** Fields whose values are free JSON: schemas, arguments, results, and what the types of the SDK leave open. */
const freeFields = new Set(
  "input_schema schema parameters parametersJsonSchema responseJsonSchema input args response codeExecution".split(
    " ",
  ),
);

/** Lists the objects of a body whose fields the API defines. */
function listObjects(value: unknown, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [];
  const inner = Object.entries(value).flatMap(([key, member]) =>
    freeFields.has(key) && !Array.isArray(member)
      ? []
      : listObjects(member, [...path, Array.isArray(value) ? Number(key) : key]),
  );
  return Array.isArray(value) ? inner : [path, ...inner];
}

/** Returns copies of a body, each with a field that does not exist in one of its objects. */
export function addUnknownFields(body: object): { readonly path: string; readonly body: object }[] {
  return listObjects(body).map((path) => {
    const copy = structuredClone(body);
    const owner = path.reduce<unknown>((at, key) => Reflect.get(at as object, key), copy) as object;
    Reflect.set(owner, "made_up_field", 1);
    return { path: path.join("."), body: copy };
  });
}
