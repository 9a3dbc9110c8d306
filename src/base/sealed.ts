/** Every field that holds sealed values, keyed by the purpose of the values. */
export const sealedFields = {
  'root-key': { collection: 'secrets', field: 'sealed' },
  configuration: { collection: 'configuration', field: 'sealed' },
  'replaced-configuration': { collection: 'replaced_configurations', field: 'sealed' },
  draft: { collection: 'configuration_drafts', field: 'sealed' },
  'configured-secret': { collection: 'configured_secrets', field: 'sealed' },
  'webhook-secret': { collection: 'accounts', field: 'webhookSecrets' },
  'alert-address': { collection: 'account_alerts', field: 'sealed' },
  request: { collection: 'requests', field: 'sealed' },
  /** Each message is a value of its own. */
  'upstream-words': { collection: 'tasks', field: 'words', parts: true },
  /** The links of each result are sealed as one value. */
  'result-links': { collection: 'tasks', field: 'links', parts: true },
  'file-name': { collection: 'files', field: 'filename' },
  'upload-link': { collection: 'file_uploads', field: 'url' },
  answer: { collection: 'image_result_bodies', field: 'sealed' },
} as const;

/** No two purposes share key material. */
export type SealPurpose = keyof typeof sealedFields;

export const sealPurposes = Object.keys(sealedFields).filter(isPurpose);

function isPurpose(name: string): name is SealPurpose {
  return Object.hasOwn(sealedFields, name);
}

/** Where a sealed value is stored. It cannot be opened anywhere else. */
export interface SealedAt {
  readonly purpose: SealPurpose;
  /** The id of the record that holds the value. */
  readonly id: string;
  /** The name of the value, if the field holds several. */
  readonly part?: string;
}

/** A text as it is stored: encrypted, with the id of the key that opens it. */
export interface Sealed {
  readonly keyId: string;
  readonly data: Uint8Array;
}
