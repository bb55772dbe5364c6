/** A value of a row as every database here has it. */
export type Value = string | number | null;
export type Row = Readonly<Record<string, Value>>;
