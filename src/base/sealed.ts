/** Every field that holds sealed values, by what they are for. */
export const sealedFields = {
  'root-key': { collection: 'secrets', field: 'sealed' },
  configuration: { collection: 'configuration', field: 'sealed' },
  'webhook-secret': { collection: 'accounts', field: 'webhookSecrets' },
  'alert-address': { collection: 'account_alerts', field: 'sealed' },
  request: { collection: 'requests', field: 'sealed' },
  /** One value for each thing that was said. */
  'upstream-words': { collection: 'tasks', field: 'words' },
} as const;

/** No two purposes share key material. */
export type SealPurpose = keyof typeof sealedFields;

export const sealPurposes = Object.keys(sealedFields).filter(isPurpose);

function isPurpose(name: string): name is SealPurpose {
  return Object.hasOwn(sealedFields, name);
}

/** Where a sealed value lies: it opens nowhere else. */
export interface SealedAt {
  readonly purpose: SealPurpose;
  /** Of its record. */
  readonly id: string;
  /** Which value of the field, where the field has names for them. */
  readonly part?: string;
}

/** A text as it is stored: encrypted, with the id of the key that opens it. */
export interface Sealed {
  readonly keyId: string;
  readonly data: Uint8Array;
}
