interface WithData<Data> {
  readonly url?: string | undefined;
  readonly base64?: Data | undefined;
}

/** Base64 text, or a stand-in with its bytes. */
type Base64Data = string | { readonly bytes: number };

/** Returns the data of images without a link, in order. */
export function unlinkedData<Data>(images: readonly WithData<Data>[]): Data[] {
  return images.flatMap(({ url, base64 }) => (url === undefined && base64 !== undefined ? [base64] : []));
}

export function base64Bytes(data: Base64Data): number {
  return typeof data === 'string' ? data.length : data.bytes;
}

/** Returns the total length of the base64 texts, in bytes. */
export function totalBytes(data: readonly Base64Data[]): number {
  return data.reduce((sum, one) => sum + base64Bytes(one), 0);
}
