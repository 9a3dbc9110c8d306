type Defined<Value extends object> = {
  [Name in keyof Value as undefined extends Value[Name] ? never : Name]: Value[Name];
} & {
  [Name in keyof Value as undefined extends Value[Name] ? Name : never]?: Exclude<Value[Name], undefined>;
};

export function defined<Value extends object>(value: Value): Defined<Value>;
export function defined(value: Readonly<Record<string, unknown>>): object {
  const kept: Record<string, unknown> = {};
  for (const name in value) {
    const field = value[name];
    if (field !== undefined) kept[name] = field;
  }
  return kept;
}
