export interface Field {
  name: string;
  label: string;
  isOptional?: boolean;
  /** Shown in a collapsed section below the other fields. */
  isRare?: boolean;
  value?: string;
  /** Pairs of value and title. */
  choices?: readonly (readonly string[])[];
  /** Like `choices`, but allows multiple selections. The value is a comma-separated list. */
  picks?: readonly (readonly string[])[];
  /** The API parameter that this field sets, if its name differs. */
  param?: string;
}
