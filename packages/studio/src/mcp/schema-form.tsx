import type { Json } from "capstan";
import { Plus, X } from "lucide-react";
import type { ReactNode } from "react";
import { Button, IconButton } from "../ui/button.tsx";
import { escapeInvisible } from "../ui/escape-text.ts";
import { getInitialValue, getSchemaField, maxDepth } from "./schema-field.ts";
import {
  BooleanField,
  Description,
  type FieldProps,
  JsonInput,
  Labelled,
  Name,
  type SchemaFormProps,
  SimpleInput,
} from "./schema-inputs.tsx";

/** A field for a value of a JSON Schema, with fields inside for lists and groups. */
export function SchemaForm(props: SchemaFormProps): ReactNode {
  const { schema, root, depth = 0 } = props;
  const field = depth > maxDepth ? ({ kind: "json" } as const) : getSchemaField(schema, root);
  switch (field.kind) {
    case "group":
      return <GroupField {...props} field={field} />;
    case "list":
      return <ListField {...props} field={field} />;
    case "json":
      return (
        <Labelled {...props} field={field}>
          {(id) => (
            <JsonInput id={id} value={props.value} onValue={props.onValue} isRequired={props.isRequired} />
          )}
        </Labelled>
      );
    case "boolean":
      return <BooleanField {...props} field={field} />;
    default:
      return (
        <Labelled {...props} field={field}>
          {(id) => <SimpleInput {...props} id={id} field={field} />}
        </Labelled>
      );
  }
}

function ListField({
  schema: _,
  root,
  name,
  value,
  onValue,
  isRequired,
  depth = 0,
  field,
}: FieldProps): ReactNode {
  const items: readonly Json[] = Array.isArray(value) ? value : [];
  const itemSchema = field.kind === "list" ? field.items : undefined;
  const replace = (index: number, item: Json | undefined) =>
    onValue(items.map((old, at) => (at === index ? (item ?? null) : old)));
  return (
    <fieldset className="grid min-w-0 gap-2 rounded-md border px-3 pb-3 pt-1">
      <legend className="flex gap-2 px-1 text-sm">
        <Name name={name} isRequired={isRequired} />
      </legend>
      <Description field={field} />
      {items.map((item, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: items have no identity, and are only added at the end
        <div key={`${items.length}/${index}`} className="flex items-start gap-1">
          <div className="min-w-0 flex-1">
            <SchemaForm
              {...{ schema: itemSchema, root, depth: depth + 1, name: `${name} ${index + 1}` }}
              value={item ?? undefined}
              onValue={(next) => replace(index, next)}
              isRequired
            />
          </div>
          <IconButton
            label={`Remove ${escapeInvisible(name)} ${index + 1}`}
            onClick={() => onValue(items.filter((__, at) => at !== index))}
          >
            <X size={15} />
          </IconButton>
        </div>
      ))}
      <Button
        size="small"
        className="justify-self-start"
        onClick={() => onValue([...items, getInitialValue(itemSchema, root) ?? null])}
      >
        <Plus size={14} aria-hidden="true" />
        Add<span className="sr-only"> an item to {escapeInvisible(name)}</span>
      </Button>
    </fieldset>
  );
}

function GroupField(props: FieldProps): ReactNode {
  const { schema, root, name, value, onValue, isRequired, depth = 0, field } = props;
  const label = escapeInvisible(name);
  if (field.kind !== "group") return null;
  // An optional group is empty until it is added, so that a recursive schema ends.
  if (value === undefined && depth > 0)
    return (
      <div className="grid gap-1">
        <div className="flex flex-wrap items-center gap-2">
          <Name name={name} isRequired={isRequired} />
          <Button size="small" onClick={() => onValue(getInitialValue(schema, root) ?? {})}>
            <Plus size={14} aria-hidden="true" />
            Add<span className="sr-only"> {label}</span>
          </Button>
        </div>
        <Description field={field} />
      </div>
    );
  const members = toMembers(value);
  const body = (
    <>
      {field.members.map((member) => (
        <SchemaForm
          key={member.name}
          {...{ schema: member.schema, root, depth: depth + 1 }}
          name={member.name}
          isRequired={member.isRequired}
          value={Object.hasOwn(members, member.name) ? members[member.name] : undefined}
          onValue={(next) => onValue(withMember(members, member.name, next))}
        />
      ))}
      {field.omitted > 0 && (
        <p className="text-sm text-quiet">{field.omitted} more fields: enter them as JSON.</p>
      )}
    </>
  );
  if (depth === 0) return <div className="grid gap-4">{body}</div>;
  return (
    <fieldset className="grid min-w-0 gap-3 rounded-md border px-3 pb-3 pt-1">
      <legend className="flex items-center gap-2 px-1 text-sm">
        <Name name={name} isRequired={isRequired} />
        {!isRequired && (
          <IconButton label={`Remove ${label}`} className="size-6!" onClick={() => onValue(undefined)}>
            <X size={13} />
          </IconButton>
        )}
      </legend>
      <Description field={field} />
      {body}
    </fieldset>
  );
}

function toMembers(value: Json | undefined): { readonly [name: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as { readonly [name: string]: Json })
    : {};
}

/** A computed key, because an assignment to `__proto__` would set the prototype. */
function withMember(
  members: { readonly [name: string]: Json },
  name: string,
  value: Json | undefined,
): { readonly [name: string]: Json } {
  const entries = Object.entries(members).filter(([key]) => key !== name);
  return Object.fromEntries(value === undefined ? entries : [...entries, [name, value]]);
}
