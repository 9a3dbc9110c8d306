interface WithData<Data> {
  readonly url?: string | undefined;
  readonly base64?: Data | undefined;
}

type Base64Data = string | { readonly bytes: number };

export function unlinkedData<Data>(images: readonly WithData<Data>[]): Data[] {
  return images.flatMap(({ url, base64 }) => (url === undefined && base64 !== undefined ? [base64] : []));
}

export function dataOf<Data>(images: readonly WithData<Data>[]): Data[] {
  return images.flatMap(({ base64 }) => (base64 === undefined ? [] : [base64]));
}

export function base64Bytes(data: Base64Data): number {
  return typeof data === 'string' ? data.length : data.bytes;
}

export function totalBytes(data: readonly Base64Data[]): number {
  return data.reduce((sum, one) => sum + base64Bytes(one), 0);
}
