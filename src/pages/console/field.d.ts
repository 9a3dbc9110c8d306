/** A field of a dialog. */
export interface Field {
  name: string;
  label: string;
  isOptional?: boolean;
  /** The initial value. */
  value?: string;
  /** The value and title of each choice. */
  choices?: readonly (readonly string[])[];
  /** Like `choices`, but several may be picked. The values are separated by commas. */
  picks?: readonly (readonly string[])[];
  /** The API's name for the field, if it differs from `name`. */
  param?: string;
}
