export interface Field {
  name: string;
  label: string;
  isOptional?: boolean;
  /** Shown in a fold below the other fields. */
  isRare?: boolean;
  value?: string;
  /** Pairs of value and title. */
  choices?: readonly (readonly string[])[];
  /** Like `choices`, but several can be selected. The value is a comma-separated list. */
  picks?: readonly (readonly string[])[];
  /** The API parameter that this field sets, if its name differs. */
  param?: string;
}
