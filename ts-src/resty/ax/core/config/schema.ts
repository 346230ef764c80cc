import type { Problems } from "./problems";

/**
 * How configuration fields are described. Validation (validate.ts), defaults and the reference page
 * all come from these records, so none of them can disagree with the others.
 */
export type FieldSchema =
  NumberField | BooleanField | StringField | EnumField | MapField | ListField | ObjectField | AnyField;

/** What every field has. */
interface FieldBase {
  /** One or two sentences for operators. Goes into the reference page as it stands. */
  doc: string;
  /** Why the default is what it is. Goes into the reference page. */
  reason?: string;
  /** What is needed, in words, for messages: "a list of nodes, …". Made from the kind when absent. */
  expected?: string;
}

/** The unit is the last part of the field's name: `_s` or `_ms`. */
export interface NumberField extends FieldBase {
  kind: "number";
  min: number;
  max: number;
  integer?: boolean;
  /** 0 is allowed beside the range: it switches something off. */
  or_zero?: boolean;
  default?: number;
}

export interface BooleanField extends FieldBase {
  kind: "boolean";
  default?: boolean;
}

export interface StringField extends FieldBase {
  kind: "string";
  default?: string;
  required?: boolean;
  check?: StringCheck;
}

export interface EnumField extends FieldBase {
  kind: "enum";
  values: string[];
  default?: string;
}

/** Any names, values of one kind. */
export interface MapField extends FieldBase {
  kind: "map";
  of: FieldSchema;
  required?: boolean;
  non_empty?: boolean;
  /** Absent means empty, not absent. */
  default_empty?: boolean;
  /** What the keys are, for the reference page. */
  key_doc?: string;
  key_check?: StringCheck;
}

export interface ListField extends FieldBase {
  kind: "list";
  of: FieldSchema;
  required?: boolean;
  non_empty?: boolean;
}

/** Known names, each with its own schema. */
export interface ObjectField extends FieldBase {
  kind: "object";
  fields: Record<string, FieldSchema>;
  /** Absent means absent; without it, absent means every field's default. */
  optional?: boolean;
  /** Runs after the fields: rules that concern several of them. */
  check?: ObjectCheck;
}

/** Passed through untouched. */
export interface AnyField extends FieldBase {
  kind: "any";
}

/** @returns what is wrong with the text, to be read after the quoted text; undefined when nothing is */
export type StringCheck = (this: void, text: string) => string | undefined;

/**
 * @param record the fields that are valid, defaults filled in; fields with a problem are absent.
 *   May be completed by the check.
 * @param raw what the user gave
 * @param path full path of the object
 */
export type ObjectCheck = (
  this: void,
  record: Record<string, unknown>,
  raw: Record<string, unknown>,
  path: string,
  problems: Problems,
) => void;
