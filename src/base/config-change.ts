export interface ConfigChange {
  /**
   * For example, `models.clip.price.lines[3].price`. List entries are named by id, or by index if they have none. The
   * index of a removed entry refers to the old list, and any other index to the new list.
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
