export interface ConfigChange {
  /** For example, `models.clip.price.unit`. List entries appear by id rather than index. */
  readonly path: string;
  readonly kind: 'added' | 'removed' | 'changed';
  /** Truncated JSON. Undefined if there was no value, if the value is a whole entry, or if it may be a secret. */
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}
