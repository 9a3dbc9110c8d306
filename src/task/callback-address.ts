/** Where an upstream calls back: an address of one task, secret by its token. `publicUrl` without a slash at the end. */
export function callbackAddress(publicUrl: string, task: string, token: string): string {
  return `${publicUrl}/callbacks/upstream/${task}/${token}`;
}
