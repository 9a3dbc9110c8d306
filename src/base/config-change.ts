export interface ConfigChange {
  /**
   * An example is `models.clip.price.lines[3].price`. List entries appear by id, or by index if they have no id. The
   * index refers to the old list for a removed entry, and to the new list otherwise.
   */
  readonly path: string;
  readonly kind: 'added' | 'removed' | 'changed';
  /** Truncated JSON. Undefined if the value was missing, is a whole entry, or may be a secret. */
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

export function changeText({
  path,
  kind,
  before,
  after,
}: Omit<ConfigChange, 'before' | 'after'> & {
  readonly before?: string | null | undefined;
  readonly after?: string | null | undefined;
}): string {
  const [was, is] = [before ?? undefined, after ?? undefined];
  if (kind === 'changed')
    return was === undefined || is === undefined ? `${path} changed` : `${path}: ${was} → ${is}`;
  const value = kind === 'added' ? is : was;
  return `${path} ${kind}${value === undefined ? '' : `: ${value}`}`;
}
