/** How one configuration field is described: validation, defaults and the reference page all come from it. */
export type FieldSchema =
  | NumberField
  | { kind: "boolean"; doc: string; default?: boolean }
  | { kind: "string"; doc: string; default?: string; required?: boolean; pattern?: string; pattern_doc?: string }
  | { kind: "enum"; doc: string; values: string[]; default?: string }
  | { kind: "map"; doc: string; of: FieldSchema; required?: boolean; non_empty?: boolean; key_doc?: string }
  | { kind: "list"; doc: string; of: FieldSchema; required?: boolean; non_empty?: boolean }
  | { kind: "object"; doc: string; fields: Record<string, FieldSchema> }
  | { kind: "any"; doc: string };

export interface NumberField {
  kind: "number";
  doc: string;
  min: number;
  max: number;
  integer?: boolean;
  default?: number;
}
